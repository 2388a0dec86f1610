"""The site: it builds without a warning, its links lead somewhere, and it asks no other host."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, NamedTuple
from urllib.parse import unquote, urlsplit

import pytest
from playwright.sync_api import Browser, Page
from typer.main import get_command

from monitor.base.public_names import homes_of
from monitor.cli import app
from tests.conftest import run_command
from tests.support.browser import (
    BROKEN_DATES,
    DESKTOP,
    PAPER,
    PHONE,
    accessibility_faults,
    chromium,
    opened,
    served,
)
from tests.support.cases import some
from tests.support.paths import ROOT
from tools.site.hooks import BROKEN

# Prose with tables and code, commands, formulas, and the page that is shown for a wrong address.
OF_EACH_KIND = (
    *("index.html", "notebook.html", "commands.html", "configuration.html"),
    *("concepts.html", "404.html"),
)
# The tables, formulas and blocks of code of a page that end beyond the room that they have.
CUT = """() => [...document.querySelectorAll(
  ".md-content .md-typeset__scrollwrap, .md-content .formula, pre > code")]
  .filter((e) => e.scrollWidth > e.clientWidth + 1)
  .map((e) => `${e.scrollWidth - e.clientWidth} px: ${e.textContent.trim().slice(0, 60)}`)"""
# Code inside a line that ends to the right of the text around it, by more than a rounded pixel.
OUTSIDE = """() => {
  const found = [];
  for (const code of document.querySelectorAll(".md-content :not(pre) > code")) {
    const around = code.closest("td, th, p, li, dt, dd, h1, h2, h3, h4, summary, div");
    const padding = parseFloat(getComputedStyle(around).paddingRight);
    const end = Math.max(...[...code.getClientRects()].map((box) => box.right));
    const more = end - (around.getBoundingClientRect().right - padding);
    if (more > 0.5) found.push(`${more.toFixed(1)} px: ${code.textContent}`);
  }
  return found;
}"""
# The width of a page that is wider than its screen.
WIDE = """() => {
  const wide = document.documentElement.scrollWidth;
  return wide > window.innerWidth ? [`${wide} px wide`] : [];
}"""


class Screen(NamedTuple):
    """On what a page is looked at, and for which faults."""

    width: int
    media: Literal["screen", "print"]
    faults: tuple[str, ...]


# The desktop first, because pages that become wider move for a moment.
SCREENS = {
    "desktop": Screen(DESKTOP[0], "screen", (WIDE, OUTSIDE, BROKEN_DATES)),
    "phone": Screen(PHONE[0], "screen", (WIDE, OUTSIDE, BROKEN_DATES)),
    "paper": Screen(PAPER, "print", (CUT, OUTSIDE, BROKEN_DATES)),
}
# Every page indexes the whole site for its search, which takes longer than to draw the page.
WITHOUT_SEARCH = """
window.Worker = class { postMessage() {} addEventListener() {} removeEventListener() {} };
"""
PAGES_WITH_FORMULAS = {"api-metrics.html", "concepts.html"}


class Reader(HTMLParser):
    """Collects what a page refers to, what it loads, its places and the levels of its headings."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.places: set[str] = set()
        self.levels: list[int] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note the addresses and ids of an element."""
        found = {name: value or "" for name, value in attrs}
        self.places |= {found[name] for name in ("id", "name") if name in found}
        if tag == "a" and "href" in found:
            self.links.append(found["href"])
        elif tag == "link" and found.get("rel") in {"stylesheet", "icon", "preconnect"}:
            self.loaded.append(found["href"])
        elif "src" in found:
            self.loaded.append(found["src"])
        elif re.fullmatch("h[1-6]", tag):
            self.levels.append(int(tag[1]))


@pytest.fixture(scope="module")
def reports(two_models: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write report pages, one of them under the name of the demo's broken model."""
    folder = tmp_path_factory.mktemp("reports")
    done = run_command("report", "--config", two_models / "monitor.yaml", "--out", folder)
    assert done.code == 0, done.err
    shutil.copy(folder / "models" / "fraud.html", folder / "models" / f"{BROKEN}.html")
    return folder


@pytest.fixture(scope="module")
def site(reports: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the site once, as `make docs` does."""
    folder = tmp_path_factory.mktemp("site")
    ended = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--site-dir", str(folder)],
        cwd=ROOT,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1", "DEMO_REPORTS": str(reports)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    assert "WARNING" not in ended.stderr
    return folder


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[str, Reader]:
    """Read every page of the site."""
    found = {}
    for path in sorted(site.rglob("*.html")):
        found[str(path.relative_to(site))] = reader = Reader()
        reader.feed(path.read_text())
    return found


def test_every_page_of_docs_is_in_the_site(pages: dict[str, Reader]) -> None:
    """No page is forgotten, and the pages from outside docs/ are there too."""
    written = {str(p.relative_to(ROOT / "docs")) for p in (ROOT / "docs").rglob("*.md")}
    expected = {name.removesuffix(".md").replace("README", "index") + ".html" for name in written}

    assert expected | {"index.html", "runbook.html", "changelog.html"} <= pages.keys()


def test_links_lead_somewhere(site: Path, pages: dict[str, Reader]) -> None:
    """Every link inside the site leads to a file, and to a place in it if it names one."""
    wrong = []
    for name, page in pages.items():
        if name == "404.html":  # its links are absolute, because it is shown at any address
            continue
        for link in [*page.links, *page.loaded]:
            parts = urlsplit(link)
            if parts.scheme:
                continue
            target = (site / name).parent / unquote(parts.path) if parts.path else site / name
            file = str(target.resolve().relative_to(site.resolve()))
            known = pages.get(file)
            if not target.exists() or (
                parts.fragment and known and (unquote(parts.fragment) not in known.places)
            ):
                wrong.append(f"{name}: {link}")

    assert wrong == []
    assert sum(len(page.links) for page in pages.values()) > 1_000


def test_headings_skip_no_level(pages: dict[str, Reader]) -> None:
    """Each part stands below its whole in the list of headings that a screen reader gives."""
    skipped = {
        name: [pair for pair in pairwise((0, *page.levels)) if pair[1] > pair[0] + 1]
        for name, page in pages.items()
    }
    assert {name: steps for name, steps in skipped.items() if steps} == {}


def test_nothing_is_loaded_from_elsewhere(pages: dict[str, Reader]) -> None:
    """No page names a script, style, font or picture of another host."""
    assert [
        (name, address)
        for name, page in pages.items()
        for address in page.loaded
        if urlsplit(address).scheme not in {"", "data"} or address.startswith("//")
    ] == []


def test_every_command_and_option_is_in_the_reference(site: Path, pages: dict[str, Reader]) -> None:
    """As the parser has them, so a command that is added is on the page by itself."""
    text, places = (site / "commands.html").read_text(), pages["commands.html"].places
    groups: list[tuple[str, Any]] = [("", get_command(app))]
    options: set[str] = set()
    commands: set[str] = set()
    while groups:
        before, group = groups.pop()
        for name, command in group.commands.items():
            if hasattr(command, "commands"):
                groups.append((f"{before}{name}-", command))
                continue
            commands.add(f"{before}{name}")
            options |= {option for p in command.params for option in p.opts if option[0] == "-"}

    assert {"where", "map-compose"} <= commands <= places
    assert [option for option in options if not re.search(rf"<code>[^<]*{option}\b", text)] == []


def test_every_public_name_is_in_the_reference(pages: dict[str, Reader]) -> None:
    """The reference has a place for each public name; formulas are drawn, not written as code."""
    python, measures = pages["api.html"].places, pages["api-metrics.html"].places

    assert {f"monitor.{name}" for name in homes_of("monitor")} <= python
    homes = homes_of("monitor.metrics")
    assert {f"{home}.{name}" for name, home in homes.items()} <= measures


def test_formulas_are_drawn(site: Path) -> None:
    """ECE is a sum and RBS a root; hundreds of formulas are drawn in the reference."""
    text = (site / "api-metrics.html").read_text()

    assert text.count("<math>") > 150
    assert "<mi>ECE</mi><mo>=</mo>" in text
    assert all("<math>" in (site / name).read_text() for name in PAGES_WITH_FORMULAS)
    assert [page.name for page in site.rglob("*.html") if "``" in page.read_text()] == []


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    """Serve the site on this machine."""
    with served(site) as found:
        yield found


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Start Chromium."""
    with chromium() as found:
        yield found


@dataclass(frozen=True)
class Visited:
    """What the browser found on all pages of the site.

    Attributes
    ----------
    asked, failed : list of str
        The addresses that pages asked for, and the errors of their scripts.
    faults : mapping of str to list of str
        By kind of screen: what is too wide, cut or broken, after the name of its page.
    """

    asked: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    faults: dict[str, list[str]] = field(default_factory=lambda: {name: [] for name in SCREENS})


@pytest.fixture(scope="module")
def visited(site: Path, address: str, browser: Browser) -> Visited:
    """Load every second page, and look at it on a desktop, on a phone and on paper."""
    found, page = Visited(), browser.new_page()
    page.add_init_script(WITHOUT_SEARCH)
    page.on("request", lambda request: found.asked.append(request.url))
    page.on("pageerror", lambda error: found.failed.append(str(error)))
    for path in some(sorted(site.rglob("*.html")), 2):
        show_on(SCREENS["desktop"], page)
        page.goto(address + str(path.relative_to(site)))
        for name, screen in SCREENS.items():
            show_on(screen, page)
            faults = [fault for look in screen.faults for fault in page.evaluate(look)]
            found.faults[name] += [f"{path.name}: {fault}" for fault in faults]
    page.close()
    return found


def show_on(screen: Screen, page: Page) -> None:
    """Show a page on a screen, or on paper."""
    page.emulate_media(media=screen.media)
    page.set_viewport_size({"width": screen.width, "height": 844})


def test_pages_ask_nobody(address: str, visited: Visited) -> None:
    """In a browser no page fails, or asks another host for anything."""
    ours = (address, "data:", "blob:")

    assert visited.failed == []
    assert [url for url in visited.asked if not url.startswith(ours)] == []
    assert any(url.startswith(address) for url in visited.asked)


@pytest.mark.parametrize("screen", SCREENS)
def test_pages_fit(visited: Visited, screen: str) -> None:
    """No page is wider than the screen, no code leaves its column, and no date is broken.

    On paper, tables are as wide as an A4 sheet between its margins, and long lines of code are
    wrapped.
    """
    assert visited.faults[screen] == []


def test_the_white_paper_has_eight_sheets(address: str, browser: Browser) -> None:
    """At most, of A4 with margins of 20 mm; with narrower fonts there may be fewer."""
    page = browser.new_page()
    page.goto(f"{address}white-paper.html")
    margins: Any = dict.fromkeys(("top", "bottom", "left", "right"), "20mm")
    printed = page.pdf(format="A4", margin=margins)
    page.close()

    assert len(re.findall(rb"/Type\s*/Page\b(?!s)", printed)) <= 8
    assert "in eight pages" in (ROOT / "docs" / "white-paper.md").read_text()


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_the_first_screen_is_a_verdict(
    address: str, browser: Browser, size: tuple[int, int]
) -> None:
    """Its sentence, its year as a picture, a line that installs, and the way to its report page."""
    page = browser.new_page(viewport={"width": size[0], "height": size[1]})
    page.goto(address)
    answer = page.locator(".first-screen .answer")
    shown = {
        "answer": answer,
        "year": page.locator(".first-screen img"),
        "install": page.locator(".first-screen pre", has_text="pip install"),
        "report": page.locator(".first-screen a", has_text="report page"),
    }
    ends = {
        name: box["y"] + box["height"] for name, of in shown.items() if (box := of.bounding_box())
    }
    assert ends.keys() == shown.keys()
    assert {name for name, end in ends.items() if end > size[1]} == set()
    assert (
        f"{BROKEN} on 2013-12-31: can it be trusted? No: too extreme since" in answer.inner_text()
    )
    assert shown["year"].evaluate("(img) => img.complete && img.naturalWidth > 0")
    shown["report"].click()
    assert "Calibration drift" in page.locator("h1").inner_text()
    assert page.url.endswith(f"/demo/models/{BROKEN}.html")
    page.close()


@pytest.mark.parametrize(
    ("colours", "names"), [("light", OF_EACH_KIND), ("dark", some(OF_EACH_KIND, 3))]
)
def test_axe_finds_nothing(
    address: str, browser: Browser, colours: Literal["light", "dark"], names: Sequence[str]
) -> None:
    """On the home page and one page of each kind; tools.accessibility takes all pages."""
    faults = []
    for name in names:
        where = f"{address}{name}"
        with opened(browser, where, colours=colours, script=WITHOUT_SEARCH) as shown:
            faults += [f"{name}: {fault}" for fault in accessibility_faults(shown.page)]
    assert faults == []


def test_the_search_finds_a_page(site: Path) -> None:
    """A search for "Shiryaev" finds the page on the verdict, in which it stands in brackets."""
    index = json.loads((site / "search" / "search_index.json").read_text())
    found = {
        one["location"].partition("#")[0] for one in index["docs"] if "Shiryaev" in one["text"]
    }

    assert "drift.html" in found
    assert [*site.rglob("workers/search*.js")]
