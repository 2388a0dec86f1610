"""Tables of report pages in a real browser: none is wider than its column, whatever they hold."""

from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser
from playwright.sync_api import Page as Tab

from monitor.config import load_config
from monitor.pipeline.verdicts.references import read_references
from monitor.report.classes import COLUMNS
from monitor.report.incidents import OF_VALUES
from monitor.report.page.assemble import model_page
from monitor.report.page.content import Page, Table
from monitor.report.page.day import SEGMENT_COLUMNS
from monitor.report.page.html import index_html, model_html
from monitor.report.page.index import INDEX_COLUMNS, Entry, Index
from monitor.report.page.tables import INCIDENTS, SENSITIVITY, WAITING, WHERE
from monitor.report.page.words import STATES
from tests.support.browser import BROKEN_DATES, DESKTOP, PAPER, PHONE, chromium, opened
from tests.support.cases import some

COLUMNS_OF = {
    "waiting": WAITING,
    "classes": COLUMNS,
    "places": WHERE,
    "values": OF_VALUES,
    "incidents": INCIDENTS,
    "sensitivity": SENSITIVITY,
    "rejected": ("check", "2026-03-01", "7 days", "90 days"),
}
CELLS = (
    *(
        "0.010",
        "\u22120.20",
        "1,100\u00a0to\u00a01",
        "10^123\u00a0to\u00a01",
        "2026-03-01",
        "\u2013",
    ),
    *("100.0 %", "123,456,789", "0.46 (0.38 to 0.54)", "2026-05-13 to 2026-06-05"),
    *("", "too extreme", "still open", "above 0.40", "ends underpredicted"),
)
NAMES = (
    *(
        "DE",
        "WWW MMM",
        "EWR",
        "a-rather-long-name-of-segment",
        "\u5e83\u544a\u30e2\u30c7\u30eb" * 3,
    ),
    *("country x device = FR x tv", "x" * 90, "premium customers, first order", "MOBILE_WEB_APP"),
)
# Regions whose table is cut, by name, and cells that a reader cannot see whole.
CUT = """() => [...document.querySelectorAll('.scroll')]
  .filter((t) => t.clientWidth && t.scrollWidth > t.clientWidth)
  .map((t) => `${t.getAttribute('aria-label')}: ${t.scrollWidth - t.clientWidth} px`)"""
STACKED = """() => [...document.querySelectorAll('.scroll table')]
  .filter((t) => t.offsetWidth && getComputedStyle(t).display === 'block').length"""
UNNAMED = """() => [...document.querySelectorAll('.scroll tbody td')].filter((td) => {
  const head = td.closest('table').tHead.rows[0].cells[td.cellIndex];
  return td.dataset.label !== head.textContent;
}).length"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Start one browser for all tests of this file."""
    with chromium() as started:
        yield started


@pytest.fixture(scope="module")
def page(two_models: Path) -> Page:
    """Assemble the page of the model that drifts."""
    config = load_config(two_models / "monitor.yaml")
    return model_page(config, "fraud", read_references(config, "fraud").fitted)


def drawn_table(columns: tuple[str, ...], rng: np.random.Generator) -> Table:
    """Draw rows of all kinds of cells under the headings of a real table."""
    rows = [
        (NAMES[rng.integers(len(NAMES))], *(CELLS[rng.integers(len(CELLS))] for _ in columns[1:]))
        for _ in range(rng.integers(1, 6))
    ]
    return Table(columns, rows, meanings={columns[-1]: "What it means."})


def drawn_segments(rng: np.random.Generator) -> list[tuple[str, ...]]:
    """Draw lines of the table of segments, each with a verdict."""
    drawn = drawn_table(SEGMENT_COLUMNS, rng).rows
    return [(row[0], [*STATES.values()][rng.integers(len(STATES))].word, *row[2:]) for row in drawn]


def drawn_page(page: Page, rng: np.random.Generator) -> Page:
    """Fill every table of a page with drawn cells, and every day with drawn segments."""
    tables: dict[str, Any] = {
        name: drawn_table(columns, rng) for name, columns in COLUMNS_OF.items()
    }
    assert {f.name for f in fields(Page) if isinstance(getattr(page, f.name), Table)} == {*tables}
    tables["classes"] = replace(tables["classes"], notes=("A note.",))
    days = [replace(day, segments=drawn_segments(rng)) for day in page.days]
    return replace(page, days=days, **tables)


def faults(tab: Tab, widths: list[int]) -> list[str]:
    """Name tables that are cut and dates that are broken, by width, and pages wider than it."""
    tab.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
    cut = []
    for width in widths:
        tab.set_viewport_size({"width": width, "height": 900})
        cut += [f"{width}: {found}" for of in (CUT, BROKEN_DATES) for found in tab.evaluate(of)]
        if (wide := tab.evaluate("document.documentElement.scrollWidth")) > width:
            cut.append(f"{width}: the page is {wide} px wide")
    return cut


def drawn_widths(rng: np.random.Generator) -> list[int]:
    """Draw widths of windows from a phone to a large screen, with both ends."""
    return [360, *map(int, rng.integers(361, 1920, 6)), 1920]


@pytest.mark.parametrize("seed", some(range(2), 2))
def test_no_table_is_wider_than_its_column(
    browser: Browser, page: Page, tmp_path: Path, seed: int
) -> None:
    """At every drawn width, on every day, with a script and without, and on paper."""
    rng = np.random.default_rng(seed)
    path = tmp_path / "page.html"
    path.write_text(model_html(drawn_page(page, rng)))
    with opened(browser, path) as shown:
        assert faults(shown.page, drawn_widths(rng)) == []
        shown.page.locator("#days").focus()
        for key in ("Home", "PageDown"):
            shown.page.keyboard.press(key)
            assert faults(shown.page, [360, 1280]) == []
        assert shown.page.evaluate(UNNAMED) == 0
        shown.page.emulate_media(media="print")
        assert faults(shown.page, [PAPER]) == []
        assert shown.complaints == []
    still = browser.new_context(java_script_enabled=False)
    tab = still.new_page()
    tab.goto(path.as_uri())
    assert faults(tab, drawn_widths(rng)) == []
    assert tab.evaluate(UNNAMED) == 0
    still.close()


def test_an_index_is_no_wider_than_its_column(browser: Browser, tmp_path: Path) -> None:
    """Its rows are sorted and filtered where they are stacked, too."""
    rng = np.random.default_rng(0)
    entries = [
        Entry((row[0], "level drift", *row[2:]), "models/a.html", (0, 0.0, ""), "ok")
        for row in drawn_table(INDEX_COLUMNS, rng).rows
    ]
    path = tmp_path / "index.html"
    path.write_text(index_html(Index(entries, [("ok", 1)])))
    with opened(browser, path, size=PHONE) as shown:
        assert faults(shown.page, drawn_widths(rng)) == []
        shown.page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
        assert shown.page.evaluate(STACKED) == 1
        shown.page.locator("#filter").fill("no such model")
        assert shown.page.locator("#models tbody tr:visible").count() == 0
        shown.page.locator("#filter").fill("")
        shown.page.locator("thead button", has_text="model").click()
        names = shown.page.locator("#models tbody th").all_text_contents()
        assert names == sorted(names, key=str.casefold)


def test_a_real_page_keeps_its_lines_on_a_desktop(
    browser: Browser, page: Page, tmp_path: Path
) -> None:
    """Where there is room no table is stacked; on a phone those of many columns are."""
    path = tmp_path / "page.html"
    path.write_text(model_html(page))
    with opened(browser, path, size=DESKTOP) as shown:
        assert faults(shown.page, [1280, 1440, 1920]) == []
        assert shown.page.evaluate(STACKED) == 0
        assert faults(shown.page, [1024, 768, 360]) == []
        assert shown.page.evaluate(STACKED) > 5
