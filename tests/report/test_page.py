"""The report pages as files: what they hold, where they go, and that the store alone makes them."""

import json
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path

import fsspec
import pytest

from monitor.base.errors import ConfigError, DataError
from monitor.base.segment_names import WHOLE
from monitor.config import load_config
from monitor.pipeline.verdicts.references import read_references
from monitor.report.page.assemble import DAYS_SHOWN, model_page
from monitor.report.page.content import DayOnPage, Page
from monitor.report.page.html import model_html
from monitor.report.page.index import index_of
from monitor.store.store import Store
from tests.conftest import Project, run_command
from tests.support.exporting import DAY, DRIFTING, HARD, VERDICT, fill, write_day
from tests.support.page_data import data_of

MOST_BYTES = 2_000_000  # of a page
MOST_SEGMENTS = 51  # that a configuration may have, with `other`


@pytest.fixture(scope="module")
def page(two_models: Path) -> Page:
    """Assemble the page of the model that drifts."""
    config = load_config(two_models / "monitor.yaml")
    return model_page(config, "fraud", read_references(config, "fraud").fitted)


def test_the_same_store_gives_the_same_bytes(two_models: Path, tmp_path: Path) -> None:
    """Two calls write the same pages, byte for byte, and so does a page of an earlier day."""
    config = two_models / "monitor.yaml"
    for folder in ("first", "second"):
        assert run_command("report", "--config", config, "--out", tmp_path / folder).code == 0
    first, second = (
        {path.relative_to(root): path.read_bytes() for path in root.rglob("*.html")}
        for root in (tmp_path / "first", tmp_path / "second")
    )

    assert first == second
    assert sorted(map(str, first)) == ["index.html", "models/ads.html", "models/fraud.html"]


def test_the_diagram_rejects_what_the_stored_tce_rejects(two_models: Path, page: Page) -> None:
    """The rejected share of the bins is the TCE of the week, as logged and without the prior."""
    store = Store(str(two_models / "store"))
    compared = 0
    for day in page.days:
        if not day.reliability:
            continue
        (week,) = (
            e
            for e in store.read_evaluations("fraud", day.day)[0]
            if (e.segment, e.window_days) == (WHOLE, page.window_days)
        )
        bins, total = day.reliability.bins, day.reliability.total
        assert week.raw is not None
        assert week.prior is not None
        assert total == week.matched
        assert sum(b.rejected for b in bins) / total == week.raw.tce_published
        assert sum(b.adjusted_rejected for b in bins) / total == week.prior.tce_published
        assert sum(b.count for b in bins) == total
        compared += 1
    assert compared == len(page.days)


def test_it_opens_with_the_newest_day_that_was_judged(page: Page, today: date) -> None:
    """Later days, whose outcomes are still arriving, are listed with what to expect."""
    assert page.day.day == today - timedelta(days=3)
    assert page.day.state == "calibration_drift"
    assert [row[0] for row in page.waiting.rows] == [f"{d.day}" for d in page.days[-2:]]
    assert [day.whole.alone and not day.whole.alone.final for day in page.days[-3:]] == [
        False,
        True,
        True,
    ]
    assert page.rejected.rows == [("outcome_orphan", "1", "7", "48")]


def test_a_page_of_an_earlier_day_ends_there(two_models: Path, today: date) -> None:
    """With --day, nothing later is on the page, and no drift that was found later."""
    config, day = load_config(two_models / "monitor.yaml"), today - timedelta(days=20)
    earlier = model_page(config, "fraud", read_references(config, "fraud").fitted, day=day)

    assert earlier.day.day == earlier.days[-1].day == day
    assert earlier.incidents.rows == []
    with pytest.raises(DataError, match="nothing is stored of"):
        model_page(config, "fraud", (), day=today + timedelta(days=9))


def test_a_page_of_many_segments_stays_small(page: Page) -> None:
    """With every segment that may be configured, on every day, a page is below 2 MB."""
    row = page.day.segments[0]
    segments = [(f"a-rather-long-name-of-segment-{i}", *row[1:]) for i in range(MOST_SEGMENTS)]
    full = [replace(page.day, segments=segments)] * DAYS_SHOWN

    assert len(model_html(replace(page, days=full, chosen=0)).encode()) < MOST_BYTES


def test_no_text_ends_the_script_tag(page: Page) -> None:
    """Texts arrive in the data as people see them, and appear nowhere unescaped."""
    text = "</script><script>alert('x')</script><!-- & \u2028"
    day = DayOnPage(date(2026, 3, 1), reasons=(text,), segments=((text, "ok", *["1"] * 10),))
    html = model_html(replace(page, days=[day], chosen=0, owner=text))

    (found,) = data_of(html)["days"]  # type: ignore[misc]
    assert found["reasons"] == [text.replace("\u2028", r"\u2028")]
    assert html.count("<script") == html.count("</script>") == 2
    assert "alert('x')" not in html.replace("\\u003cscript\\u003ealert('x')", "")


def test_the_index_has_the_worst_first(tmp_path: Path) -> None:
    """Drifts come first, by evidence; then the others; models without results come last."""
    folder = fill(tmp_path)
    config = json.loads((folder / "monitor.yaml").read_text())
    config["models"] |= {"worse": config["models"]["new"], "broken": {"owner": "b"}}
    (folder / "monitor.yaml").write_text(json.dumps(config))
    incident = DRIFTING.detector.incident
    assert incident
    worse = replace(DRIFTING.detector, incident=replace(incident, evidence=9.0))
    store = Store(str(folder / "store"))
    store.write_verdicts("well", DAY, [replace(VERDICT, model="well")], basis="")
    store.write_verdicts("fraud", DAY, [DRIFTING], basis="")
    store.write_verdicts("worse", DAY, [replace(DRIFTING, model="worse", detector=worse)], basis="")
    write_day(folder, replace(HARD, window_days=1))
    index = index_of(load_config(folder / "monitor.yaml"))

    assert [entry.cells[0] for entry in index.entries] == [
        "worse",
        "fraud",
        "well",
        "broken",
        "new",
    ]
    assert index.entries[0].cells[2:4] == (
        f"too timid since {DAY}, found at 10^9\u00a0to\u00a01",
        "32,000\u00a0to\u00a01",
    )
    assert index.entries[3].cells[2].startswith("invalid configuration: ")
    assert index.counts == [("calibration drift", 2), ("ok", 1), ("no result", 2)]

    (folder / "store" / "verdicts" / "well" / f"{DAY}.arrows.zst").write_bytes(b"PAR1")
    damaged = index_of(load_config(folder / "monitor.yaml"))
    assert [entry.cells[:2] for entry in damaged.entries[1:3]] == [
        ("fraud", "calibration drift"),
        ("well", "unreadable"),
    ]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ((), "there is no place for the pages; add --out FOLDER"),
        (("--model", "ctx", "--out", "x"), "there is no model 'ctx'"),
    ],
)
def test_a_wrong_call_is_explained(project: Project, call: tuple[str, ...], message: str) -> None:
    """Each message says what to do."""
    ended = run_command("report", *call)

    assert ended.code == 2
    assert message in ended.err
    assert not (project.folder / "x").exists()


def test_the_daily_run_writes_the_pages(project: Project) -> None:
    """With report.path, run, backfill and evaluate write the page of the model and the index."""
    project.configure("models:", "report: {path: pages}\nmodels:")
    span = ("--model", "ctr", "--from", "2026-03-01", "--to", "2026-03-02")
    pages = project.folder / "pages"
    for call in (("run",), ("backfill", *span), ("evaluate", *span)):
        ended = run_command(*call, "--json")
        assert ended.code == 0, ended.err
        assert {p.name for p in pages.rglob("*.html")} == {"index.html", "ctr.html"}
        (pages / "models" / "ctr.html").unlink()


def test_a_run_whose_pages_fail_keeps_its_results(project: Project) -> None:
    """A place that cannot be written is an error of the command, and the results are stored."""
    project.configure("models:", "report: {path: monitor.yaml/pages}\nmodels:")
    for path in (project.folder / "store" / "verdicts" / "ctr").iterdir():
        path.unlink()
    ended = run_command("run")

    assert ended.code == 3
    assert "pages/index.html: cannot be written" in ended.err or "ctr.html" in ended.err
    assert list((project.folder / "store" / "verdicts" / "ctr").iterdir())


@pytest.mark.usefixtures("project")
def test_pages_go_to_an_object_store() -> None:
    """A place may be a URL."""
    ended = run_command("report", "--out", "memory://bucket/pages")
    files = fsspec.filesystem("memory")

    assert ended.code == 0, ended.err
    assert files.cat_file("/bucket/pages/index.html").startswith(b"<!doctype html>")
    assert files.exists("/bucket/pages/models/ctr.html")


def test_links_lead_to_the_page_of_each_model(project: Project) -> None:
    """report.url gives every model its link; an address of its own is refused."""
    project.configure("models:", "report: {path: pages, url: 'https://r.test/pages/'}\nmodels:")
    linked = load_config(project.folder / "monitor.yaml")
    project.configure("windows: [1, 3]", "windows: [1, 3]\n    report_url: https://own.test/ctr")
    own = load_config(project.folder / "monitor.yaml")

    assert linked.model("ctr").report_url == "https://r.test/pages/models/ctr.html"
    with pytest.raises(ConfigError, match=r"report_url: is gone; write the address of all pages"):
        own.model("ctr")
    assert linked.report
    assert linked.report.path == str(project.folder / "pages")
    project.configure("https://r.test/pages/", "r.test")
    with pytest.raises(ConfigError, match=r"report\.url: must be a web address"):
        load_config(project.folder / "monitor.yaml")
