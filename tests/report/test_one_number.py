"""Every renderer shows the same number for what a day reached, on every stored verdict."""

import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from io import StringIO
from itertools import groupby
from math import log10, nan
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console, RenderableType
from scipy.special import expit

from monitor import open_store
from monitor.arrivals import Late
from monitor.config import Config, load_config
from monitor.drift.fold.inputs import inputs_of
from monitor.drift.records.verdict import Verdict
from monitor.drift.verdicts.judge import judge
from monitor.export.gauges import CATALOGUE
from monitor.export.openmetrics import openmetrics, past
from monitor.export.snapshot_reader import Reader
from monitor.metrics.core.tally import tally_on_grid
from monitor.pipeline.runs.evaluations import evaluate_days
from monitor.pipeline.verdicts.references import limits_of, read_references
from monitor.read.results import results_of
from monitor.report.diagrams import draw_evidence
from monitor.report.page.assemble import model_page
from monitor.report.page.day import SEGMENT_COLUMNS
from monitor.report.page.index import INDEX_COLUMNS, index_of
from monitor.report.recent import recent_text, recent_weeks, segment_table
from monitor.report.verdicts import verdict_table
from monitor.store.store import Store
from monitor.summary import Segment, Summary
from monitor.words.numbers import times
from tests.support.opened_once import opened_once
from tests.support.rules import must_answer_as_kept

FIRST, ROWS = date(2026, 1, 1), 2_000
DAYS = [FIRST + timedelta(days=i) for i in range(76)]
DRIFTS = (
    range(20, 32),
    range(44, 52),
    range(62, 70),
)  # two recover, one is late
LATE = range(58, 76)
CONFIG = """\
store: {store}
models:
  ctr:
    predictions: {{path: "logs/predictions/{{day}}.parquet"}}
    outcomes: {{path: "logs/outcomes/{{day}}.parquet"}}
    segments: {{column: country, values: [DE, FR]}}
    windows: [1]
    verdicts:
      references: [{{first: 2026-01-01, last: 2026-01-14}}]
"""
SEGMENTS = ("all", "DE", "FR")
WITHHELD, NOTHING = "withheld", "\u2013"


@dataclass(frozen=True)
class World:
    """A store with alarms, a recovery, and withheld evidence."""

    config: Config
    verdicts: dict[tuple[date, str], Verdict]

    def expected(self) -> dict[tuple[date, str], float]:
        """Give what each verdict says that was reached; nan for what is not a number."""
        return {key: nan if v.reached is None else v.reached for key, v in self.verdicts.items()}


def summary(place: int) -> Summary:
    """Draw a day of two segments, whose slope is 0.6 while they drift."""
    rng, parts = np.random.default_rng(place), {}
    tilt = 0.6 if any(place in drift for drift in DRIFTS) else 1.0
    for name, centre in (("DE", -1.0), ("FR", 0.0)):
        x = rng.normal(centre, 1.2, ROWS)
        outcomes = rng.random(ROWS) < expit(tilt * x + rng.normal(0.0, 0.5))
        parts[name] = Segment(tally_on_grid(outcomes, expit(x)), ROWS)
    known_at = datetime.combine(DAYS[place] + timedelta(days=4), datetime.min.time(), UTC)
    return Summary("ctr", (DAYS[place],), parts, {}, final=True, known_at=known_at)


@pytest.fixture(scope="module", autouse=True)
def tables() -> Iterator[None]:
    """Open each table once for all renderers."""
    with opened_once():
        yield


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    """Write the store: summaries, evaluations and verdicts."""
    folder = tmp_path_factory.mktemp("one-number")
    (folder / "monitor.yaml").write_text(CONFIG.format(store=folder / "store"))
    config = load_config(folder / "monitor.yaml")
    store, summaries = Store(config.store), [summary(place) for place in range(len(DAYS))]
    for found in summaries:
        store.write_summary(found)
    references = read_references(config, "ctr")
    evaluate_days(config, "ctr", references, DAYS[0], DAYS[-1])
    late = Late(3, 0.6, 0.05, 20)
    days = [
        replace(inputs_of(found), late=late if place in LATE else None)
        for place, found in enumerate(summaries)
    ]
    limits = limits_of(config.model("ctr"))
    for of_day in judge("ctr", days, references=references.fitted, limits=limits):
        store.write_verdicts("ctr", of_day[0].day, of_day, basis="")
    verdicts = [v for day in DAYS for v in store.read_verdicts("ctr", day)[0]]
    return World(config, {(v.day, v.segment): v for v in verdicts})


def printed(content: RenderableType) -> str:
    """Write what the terminal shows."""
    console = Console(width=200, record=True, file=StringIO())
    console.print(content)
    return console.export_text()


def cells(text: str, row: str) -> str:
    """Find what stands in the column of evidence of a row, in the terminal."""
    line = next(line for line in text.splitlines() if line.strip().startswith(row))
    found = re.search(r"(\d+\.\d of \d+\.\d)|withheld|(?<=\s)-(?=\s)", line)
    assert found, line
    return found[0]


def in_terminal(v: Verdict) -> str:
    """Say what a table of the terminal has to show."""
    if v.reached is None:
        return WITHHELD if v.withheld else "-"
    return f"{v.reached:.1f} of {v.limit:.1f}"


def on_page(v: Verdict) -> str:
    """Say what the page and the index have to show."""
    if v.reached is None:
        return WITHHELD if v.withheld else NOTHING
    return f"{float(f'{10**v.reached:.2g}'):,g}\u00a0to\u00a01"


def same(found: Any, expected: Any) -> bool:
    """Compare exactly; two missing numbers are the same."""
    return bool(np.array_equal(found, expected, equal_nan=True))


def test_the_world_holds_what_is_claimed(world: World) -> None:
    """Alarms of the whole and of segments, a recovery and a withheld drift."""
    found = world.verdicts.values()
    opened = [v for v in found if v.detector.incident and v.detector.incident.opened == v.day]

    assert {v.segment for v in opened} >= {"all", "DE"}
    assert all(v.reached is not None and v.reached >= v.limit for v in opened)
    assert any(v.detector.ended and v.detector.ended.reason == "recovered" for v in found)
    assert {"calibration_drift", "insufficient_data", "ok"} <= {v.state for v in found}
    assert len([v for v in found if v.withheld]) >= 3
    assert all(v.reached is None for v in found if v.day <= DAYS[13])


def test_the_rules_have_the_number_of_their_answers(world: World) -> None:
    """Also those of a drift that recovers, and of one that late outcomes could explain."""
    by_day = groupby(world.verdicts.values(), lambda verdict: verdict.day)
    must_answer_as_kept("one number", [[*of_day] for _, of_day in by_day])


def test_an_open_incident_knows_its_evidence(world: World) -> None:
    """What it was found with is what its first day reached."""
    for v in world.verdicts.values():
        if incident := v.detector.incident:
            assert world.verdicts[incident.opened, v.segment].reached == incident.evidence


def test_the_terminal_shows_it(world: World) -> None:
    """By day, as the newest day of the last weeks, and by segment."""
    results = results_of(world.config, "ctr", kept=True)
    by_day = {
        segment: printed(
            verdict_table("", [v for (_, name), v in world.verdicts.items() if name == segment])
        )
        for segment in SEGMENTS
    }
    for (day, segment), v in world.verdicts.items():
        recent = recent_weeks(results, segment, 7, day)
        assert recent
        assert cells(by_day[segment], f"{day}") == in_terminal(v)
        assert recent.days[-1].evidence == v.reached
        assert results.briefs(day) == [each.brief for each in results.verdicts(day)]
        line = next((t for t in printed(recent_text(recent)).splitlines() if "evidence" in t), "")
        if v.reached is not None:
            assert f"{times(v.reached)} to 1" in line
        elif v.withheld and line:
            assert WITHHELD in line
        if segment == "all":
            table = printed(segment_table("", recent))
            of_segments = {each["segment"]: each for each in recent.document["segments"]}
            for name in SEGMENTS[1:]:
                other = world.verdicts[day, name]
                assert cells(table, name) == in_terminal(other)
                assert of_segments[name]["evidence"] == other.reached
                assert of_segments[name]["withheld"] == other.withheld


def test_the_page_and_the_diagram_show_it(world: World) -> None:
    """The timeline, the key figure, the table of segments, and the line of the diagram."""
    references = read_references(world.config, "ctr").fitted
    page = model_page(world.config, "ctr", references)
    place = SEGMENT_COLUMNS.index("evidence")
    for of_day in page.days:
        whole = world.verdicts[of_day.day, "all"]
        assert of_day.whole.verdict
        assert of_day.whole.verdict.reached == whole.reached
        figures = {figure.label: figure.value for figure in of_day.figures}
        if "Evidence of a drift" in figures:
            assert figures["Evidence of a drift"] == on_page(whole)
        for row in of_day.segments:
            assert row[place] == on_page(world.verdicts[of_day.day, row[0]])
    expected = world.expected()
    for segment in SEGMENTS:
        of_segment = [v for (_, name), v in world.verdicts.items() if name == segment]
        line = draw_evidence(of_segment).lines[0]
        assert same(line.get_ydata(), [expected[v.day, segment] for v in of_segment])


def test_the_notebook_and_the_past_show_it(world: World) -> None:
    """The frame of verdicts, and the samples that are written for a Prometheus."""
    expected = world.expected()
    frame = open_store(world.config.store).verdicts()
    for row in frame.itertuples():
        assert same(row.evidence, expected[row.day.date(), row.segment]), row
    known = past(
        Reader(world.config), "ctr", DAYS[0], DAYS[-1], until=datetime(2027, 1, 1, tzinfo=UTC)
    )
    samples = {(segment, int(at)): float(value) for segment, value, at in evidence_lines(known)}
    for (day, segment), value in expected.items():
        at = int(world.verdicts[day, segment].known_at.timestamp())
        assert same(samples.get((segment, at), nan), value), (day, segment)


EVIDENCE = next(g for g in CATALOGUE if g.name == "calibration_evidence_log10")


def evidence_lines(known: Any) -> Iterator[tuple[str, str, str]]:
    """Read the samples of the evidence from a past, one each hour."""
    of_evidence = re.compile(r'calibration_evidence_log10\{.*segment="(\w+)".*\} (\S+) (\d+)')
    for line in openmetrics([known], repeat=3600):
        if found := of_evidence.match(line):
            yield found[1], found[2], found[3]


def test_the_exporter_and_the_index_show_the_newest(world: World, tmp_path: Path) -> None:
    """While the store grows back, day by day, from the newest to the first."""
    shutil.copytree(world.config.store, tmp_path / "store")
    config = world.config.model_copy(update={"store": str(tmp_path / "store")})
    expected, store = world.expected(), Store(config.store)
    for day in reversed(DAYS):
        of_gauge = dict(EVIDENCE.samples(Reader(config).snapshot("ctr")))
        (entry,) = index_of(config).entries
        for segment in SEGMENTS:
            value = of_gauge.get(("ctr", segment), nan)
            assert same(value, expected[day, segment]), (day, segment)
        assert entry.cells[INDEX_COLUMNS.index("evidence")] == on_page(world.verdicts[day, "all"])
        store.remove("verdicts", "ctr", [day])
        store.remove("evaluations", "ctr", [day])


def test_no_number_is_that_of_withheld_evidence(world: World) -> None:
    """The mark that the detector keeps, 12 in log10, is shown by nothing."""
    assert all(v.reached is None or v.reached < log10(1e11) for v in world.verdicts.values())
