"""The report pages in a real browser: drawn, chosen, sorted, filtered, printed and accessible."""

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path

import pytest
import yaml
from playwright.sync_api import Browser, Locator, Page

from monitor.base.segment_names import WHOLE
from monitor.export.http.app import Exporter
from monitor.export.http.server import serve
from monitor.report.page.html import index_html
from monitor.report.page.index import Entry, Index
from monitor.store.store import Store
from tests.conftest import Project, run_command
from tests.support.browser import PHONE, accessibility_faults, boxes, chromium, opened
from tests.support.exporting import DAY, HARD, VERDICT, fill, write_day

# Of every chart: the marks that hold its data, the fewest there may be, and how much of the
# drawing they must span together, from left to right and from top to bottom.
CHARTS = {
    "plot-prevalence": (".line", 3, 0.6, 0.1),
    "plot-shift": (".line, .band", 2, 0.5, 0.3),
    "plot-evidence": (".bar", 10, 0.4, 0.3),
    "plot-slope": (".line, .band", 2, 0.5, 0.3),
    "plot-causes": (".bar", 10, 0.5, 0.3),
    "plot-counts": (".bar", 40, 0.7, 0.5),
    "plot-bins": (".bin .range", 5, 0.5, 0.2),
}
# What a bin says.
TOLD = (
    r"Scores [\d.]+ % to [\d.]+ %, mean [\d.]+ %: [\d,]+ predictions, "
    r"[\d,]+ came true \([\d.]+ %\)\. "
    r"These outcomes accept [\d.]+ % to [\d.]+ %; ([\d,]+|no) predictions rejected\."
)
EMPTY = "(marks) => document.querySelectorAll(marks).forEach((mark) => mark.remove())"
SHRINK = """
(marks) => document.querySelectorAll(marks).forEach((m) => m.setAttribute("transform", "scale(0)"))
"""
HOSTILE = "<script>alert(1)</script>"
MODELS = 300


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Start one browser for all tests of this file."""
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def pages(two_models: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the pages of the two models and their index."""
    folder = tmp_path_factory.mktemp("pages")
    done = run_command("report", "--config", two_models / "monitor.yaml", "--out", folder)
    assert done.code == 0, done.err
    return folder


@pytest.fixture(scope="module")
def fraud(pages: Path) -> Path:
    """Name the page of the model that drifts."""
    return pages / "models" / "fraud.html"


@pytest.fixture
def page(browser: Browser, fraud: Path) -> Iterator[Page]:
    """Open the page of the model that drifts."""
    with opened(browser, fraud) as found:
        yield found.page


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write an index of 300 models, of which every hundredth drifts."""
    words = ["calibration drift" if i % 100 == 0 else "ok" for i in range(MODELS)]
    entries = [
        Entry(
            (f"model-{i}", word, "", *["1"] * 6, f"team-{i % 7}"), f"models/model-{i}.html", 0, ""
        )
        for i, word in enumerate(words)
    ]
    path = tmp_path_factory.mktemp("index") / "index.html"
    path.write_text(index_html(Index(entries, [("calibration drift", 3), ("ok", 297)])))
    return path


def undrawn(page: Page, chart: str) -> str:
    """Say what is wrong with a chart: too few marks, or marks without an extent; empty if fine."""
    marks, least, wide, tall = CHARTS[chart]
    found = [
        box for box in boxes(page, f"#{chart} svg", marks) if box[0] < box[2] or box[1] < box[3]
    ]
    if len(found) < least:
        return f"{chart}: {len(found)} of at least {least} marks"
    left, top, right, bottom = (
        pick(of) for pick, of in zip((min, min, max, max), zip(*found, strict=True), strict=True)
    )
    if right - left < wide or bottom - top < tall:
        return f"{chart}: {right - left:.2f} wide and {bottom - top:.2f} tall"
    return "" if min(left, top) > -0.02 and max(right, bottom) < 1.02 else f"{chart}: marks outside"


def texts(of: Locator) -> list[str]:
    """Give the texts of some elements."""
    return [text.strip() for text in of.all_text_contents()]


def verdict_on(folder: Path, day: str) -> list[str]:
    """Read the sentences of a verdict from the store."""
    verdicts = Store(str(folder / "store")).read_verdicts("fraud", date.fromisoformat(day))[0]
    return [*next(v.reasons for v in verdicts if v.segment == WHOLE)]


@pytest.mark.parametrize("colours", ["light", "dark"])
@pytest.mark.parametrize("name", ["models/fraud.html", "models/ads.html", "index.html"])
def test_loads_alone_and_passes_axe(browser: Browser, pages: Path, name: str, colours: str) -> None:
    """A page asks for nothing but itself, complains about nothing, and has contrast and labels."""
    with opened(browser, pages / name, colours=colours) as found:  # type: ignore[arg-type]
        assert found.asked == [(pages / name).as_uri()]
        assert found.complaints == []
        assert accessibility_faults(found.page) == []


@pytest.mark.parametrize("name", ["models/fraud.html", "index.html"])
def test_fits_on_a_phone(browser: Browser, pages: Path, name: str) -> None:
    """On 360 pixels nothing scrolls sideways but tables, and every chart is drawn."""
    with opened(browser, pages / name, size=PHONE) as found:
        wide = found.page.evaluate("document.documentElement.scrollWidth")
        charts = CHARTS if "fraud" in name else ()

        assert wide <= PHONE[0]
        assert [fault for chart in charts if (fault := undrawn(found.page, chart))] == []


def test_without_a_script_it_is_a_document(browser: Browser, fraud: Path) -> None:
    """Evidence and bins are drawn, every sentence stands, and nothing shown can do nothing."""
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(fraud.as_uri())
    stills = page.locator("svg.still")

    assert stills.count() == 3  # bins, evidence and repair
    assert all(stills.nth(i).is_visible() for i in range(3))
    assert stills.nth(0).locator(".range").count() >= 5
    assert stills.nth(1).locator(".bar.k-drift").count() >= 1
    controls = page.locator("#days, #newest, #earlier, input, summary:has(+ .scroll #bin-table)")
    assert controls.count() > 4
    assert not any(controls.nth(i).is_visible() for i in range(controls.count()))
    assert page.locator("button:visible").count() == 0
    empty = page.locator("figure:visible")
    assert all(empty.nth(i).locator("svg").count() for i in range(empty.count()))
    context.close()


def test_every_chart_is_drawn(page: Page) -> None:
    """Every chart has marks, and they span it; a chart without them would be noticed."""
    assert [fault for chart in CHARTS if (fault := undrawn(page, chart))] == []

    page.evaluate(EMPTY, "#plot-slope .line, #plot-slope .band")
    page.evaluate(SHRINK, "#plot-bins .range")
    assert undrawn(page, "plot-slope") == "plot-slope: 0 of at least 2 marks"
    assert undrawn(page, "plot-bins")


def test_a_day_is_chosen_by_key(page: Page, two_models: Path, today: date) -> None:
    """Arrow keys, Home and End move the day; verdict, segments and diagram are those of the day."""
    bar = page.locator("#days")
    bar.focus()
    opened_with = page.locator("#day-label b").inner_text()
    for _ in range(16):
        page.keyboard.press("ArrowLeft")
    day = page.locator("#day-label b").inner_text()

    assert date.fromisoformat(day) == date.fromisoformat(opened_with) - timedelta(days=16)
    assert bar.get_attribute("aria-valuetext") == f"{day}: prior shift"
    assert page.locator("#title").inner_text().endswith("The prior moved")
    assert texts(page.locator("#story p"))[: len(verdict_on(two_models, day))] == verdict_on(
        two_models, day
    )
    assert page.locator("#segments-day").inner_text() == day
    assert day in page.locator("#bin-readout").inner_text()
    assert page.url.endswith(f"#{day}")

    page.keyboard.press("Home")
    first = f"{today - timedelta(days=48)}"
    assert page.locator("#day-label b").inner_text() == first
    page.keyboard.press("End")
    assert page.locator("#day-label b").inner_text() == f"{today - timedelta(days=1)}"


def test_a_day_is_chosen_by_click_and_by_address(browser: Browser, fraud: Path, page: Page) -> None:
    """A click on a chart or on the bar chooses the day at that place, and its address is kept."""
    newest = page.locator("#day-label b").inner_text()
    for place in ("#plot-slope svg", "#days"):
        box = page.locator(place).bounding_box()
        assert box is not None
        page.locator(place).click(position={"x": box["width"] * 0.7, "y": box["height"] / 2})
        assert page.locator("#day-label b").inner_text() < newest
        page.locator("#newest").click()
        assert page.locator("#day-label b").inner_text() == newest
    page.locator("#earlier").click()
    before = page.locator("#day-label b").inner_text()

    with opened(browser, f"{fraud.as_uri()}#{before}") as found:
        assert found.page.locator("#eyebrow").inner_text() == f"Verdict of {before}"


def test_a_bin_says_its_numbers(page: Page) -> None:
    """Pointing at a bin and reaching it by Tab give counts, share and accepted interval."""
    readout, bins = page.locator("#bin-readout"), page.locator("#plot-bins .bin")
    resting = readout.inner_text()
    bins.nth(3).hover()
    pointed = readout.inner_text()
    bins.nth(4).focus()
    focused = readout.inner_text()

    assert re.fullmatch(TOLD, pointed)
    assert re.fullmatch(TOLD, focused)
    assert len({resting, pointed, focused}) == 3
    assert bins.nth(3).get_attribute("aria-label") == pointed


def test_scores_and_axes_can_be_switched(page: Page) -> None:
    """The diagram shows the scores as logged or without the prior shift, on either axis."""
    places = {}
    for scores in ("raw", "prior"):
        for axes in ("probability", "logit"):
            page.locator(f"input[value={scores}]").check()
            page.locator(f"input[value={axes}]").check()
            places[scores, axes] = boxes(page, "#plot-bins svg", ".bin .range")
            assert undrawn(page, "plot-bins") == ""

    assert len({tuple(found) for found in places.values()}) == 4


def test_it_prints_on_a4(browser: Browser, fraud: Path) -> None:
    """The page prints on a few A4 sheets, on white and without buttons, also from a dark screen."""
    with opened(browser, fraud, colours="dark") as found:
        printed = found.page.pdf(prefer_css_page_size=True, print_background=True)
        found.page.emulate_media(media="print", color_scheme="dark")
        paper = found.page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert paper == "rgb(255, 255, 255)"
        assert not found.page.locator("#earlier").is_visible()
        assert found.page.locator("#plot-bins svg").is_visible()
    sheets = re.findall(rb"/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]", printed)

    assert 3 <= len(sheets) <= 8
    for width, height in sheets:  # points; Chromium rounds to whole pixels of 0.75
        assert abs(float(width) - 595.3) < 1
        assert abs(float(height) - 841.9) < 1


def test_the_index_of_300_models_is_filtered_and_sorted(browser: Browser, index: Path) -> None:
    """Every word of the filter must be in the row; sorting by verdict brings drifts to the top."""
    with opened(browser, index) as found:
        rows = found.page.locator("#models tbody tr:visible")
        assert rows.count() == MODELS
        found.page.locator("#filter").fill("team-3 model-1")
        few = rows.count()
        found.page.locator("#filter").fill("drift")
        drifting = texts(rows.locator("th"))
        found.page.locator("#filter").fill("no such model")
        nothing = rows.count(), found.page.locator("#nothing").is_visible()
        found.page.locator("#filter").fill("")
        found.page.locator("thead button", has_text="verdict").click()

        assert few == len([i for i in range(MODELS) if i % 7 == 3 and f"{i}".startswith("1")])
        assert drifting == ["model-0", "model-100", "model-200"]
        assert nothing == (0, True)
        assert texts(rows.locator("th"))[:3] == drifting
        assert found.page.locator("#models a").first.get_attribute("href") == "models/model-0.html"
        assert found.complaints == []


def test_text_from_logs_is_shown_as_text(browser: Browser, tmp_path: Path) -> None:
    """A segment, an owner and a reason with markup in them are shown, and run nothing."""
    folder = fill(tmp_path)
    config = folder / "monitor.yaml"
    hostile = replace(HARD, segment=HOSTILE, rejected={})
    write_day(folder, HARD, replace(HARD, window_days=1), hostile, replace(hostile, window_days=1))
    verdict = replace(VERDICT, reasons=(f"</script>{HOSTILE}<b>bold</b>",))
    Store(str(folder / "store")).write_verdicts(
        "fraud", DAY, [verdict, replace(verdict, segment=HOSTILE)], basis=""
    )
    done = run_command(
        "report", "--config", config, "--model", "fraud", "--out", folder / "one.html"
    )
    assert done.code == 0, done.err

    with opened(browser, folder / "one.html") as found:
        assert texts(found.page.locator("#segment-table tbody th")) == [HOSTILE]
        assert texts(found.page.locator("#story .lead")) == [f"</script>{HOSTILE}<b>bold</b>"]
        found.page.locator("#earlier").click()  # the script writes the same texts again
        found.page.locator("#later").click()
        assert texts(found.page.locator("#segment-table tbody th")) == [HOSTILE]
        assert found.page.locator("script").count() == 2
        assert found.page.locator("#story b").count() == 0
        assert found.complaints == []


def test_a_page_of_few_days_draws_what_there_is(browser: Browser, project: Project) -> None:
    """Two days without a reference have a diagram and counts, and nothing else fails."""
    page = project.folder / "ctr.html"
    assert run_command("report", "--model", "ctr", "--out", page).code == 0

    with opened(browser, page) as found:
        assert found.page.locator("#title").inner_text().endswith("Not judged")
        assert found.page.locator("#plot-bins .bin").count() > 1
        assert found.page.locator("#plot-counts .bar").count() == 2
        for chart in ("plot-shift", "plot-evidence", "plot-slope"):
            said = found.page.locator(f"#{chart}").inner_text()
            assert said == "None of these days is compared with a reference."
            assert found.page.locator(f"#{chart} ~ .readout:visible").count() == 0
        assert found.page.locator("figure svg:visible").count() == 4  # what is known is drawn
        assert found.complaints == []
        assert accessibility_faults(found.page) == []


def test_the_links_of_served_pages_work(
    browser: Browser, two_models: Path, pages: Path, tmp_path: Path
) -> None:
    """Under the policies of server and page, the index leads to a model, and its page back."""
    content = yaml.safe_load((two_models / "monitor.yaml").read_text())
    content |= {"store": str(two_models / "store"), "report": {"path": str(pages)}}
    (tmp_path / "monitor.yaml").write_text(yaml.safe_dump(content))
    server, _ = serve(Exporter(tmp_path / "monitor.yaml"), address="127.0.0.1", port=0)
    try:
        with opened(browser, f"{server.url}/reports") as found:
            found.page.locator("#models a", has_text="fraud").click()
            assert "Calibration drift" in found.page.locator("h1").inner_text()
            assert undrawn(found.page, "plot-counts") == ""
            found.page.locator("a.home").click()
            assert found.page.locator("h1").inner_text() == "2 models"
            assert found.complaints == []
            assert {url.split("/")[2] for url in found.asked} == {server.url.split("/")[2]}
    finally:
        server.shutdown()
        server.server_close()
