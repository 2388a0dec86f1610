"""A drift of the whole that comes from one of four segments: everything speaks of that segment."""

from datetime import date
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from scipy.special import expit

from monitor.config import load_config
from monitor.drift.records.places import Condition
from monitor.drift.records.verdict import Verdict
from monitor.export.snapshot_reader import Reader
from monitor.export.text import exposition, lines
from monitor.pipeline.verdicts.asked_where import answer_where
from monitor.pipeline.verdicts.judging import judge_days
from monitor.pipeline.verdicts.references import read_references
from monitor.report.where import repair_of, where_document
from monitor.store.store import Store
from monitor.words.trust import trust
from monitor.words.verdict import in_short
from tests.support.drawn_days import configured, days_of, judge_drawn_days, write_rows

REFERENCE, LATER, ROWS = 28, 8, 12_000
DAYS = days_of(REFERENCE + LATER)
SYSTEMS = {"ios": (0.25, -1.2), "android": (0.35, 0.0), "web": (0.3, 0.3), "tv": (0.1, 0.8)}
CONFIG = configured({"bids": ("{column: system, values: [ios, android, web, tv]}",)}, 28)


def write_day(folder: Path, day: date, *, lost: float = 0.0, default: float = 0.0) -> None:
    """Draw a day; after the reference the logits of ios are 1.7 times what they should be.

    Or else a share of the positive outcomes of web is lost, or has the score 0.
    """
    rng = np.random.default_rng(day.toordinal())
    system = rng.choice(list(SYSTEMS), ROWS, p=[share for share, _ in SYSTEMS.values()])
    centre = np.array([SYSTEMS[name][1] for name in system])
    true = rng.normal(centre, 1.1)
    of_web = lost or default
    broken = (system == ("web" if of_web else "ios")) & (day >= DAYS[REFERENCE])
    kept = rng.random(ROWS) >= lost * broken if lost else True
    score = expit(np.where(broken & (not of_web), 1.7 * true, true))
    table = {
        "score": np.where(broken & (rng.random(ROWS) < default), 0.0, score) if default else score,
        "system": system,
        "outcome": ((rng.random(ROWS) < expit(true)) & kept).astype(np.int8),
    }
    write_rows(folder, day, table)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the logs, and store summaries and verdicts."""
    path = tmp_path_factory.mktemp("explained")
    judge_drawn_days(path, CONFIG, DAYS, write_day)
    return path


@pytest.fixture(scope="module")
def wholes(folder: Path) -> list[Verdict]:
    """Read the verdicts of the whole on the days of its drift."""
    store = Store(load_config(folder / "monitor.yaml").store)
    verdicts = [store.read_verdicts("bids", day)[0][0] for day in DAYS]
    return [verdict for verdict in verdicts if verdict.incident]


def test_the_verdict_is_about_the_segment_at_once_and_for_good(wholes: list[Verdict]) -> None:
    """Every day, in its sentences and in its short form; 1 / 1.7 lies within the interval."""
    for verdict in wholes:
        assert verdict.explanation.conditions == (Condition("system", "ios"),)
        assert verdict.explanation.in_segments
        assert ", in system = ios, scores are too extreme: " in verdict.reasons[0]
        assert "comes from system = ios" in verdict.reasons[-1]
        assert in_short(verdict).startswith("system = ios: too extreme since 2026-01-29, ")
    slope = wholes[-1].headline(wholes[-1].incident).slope if wholes[-1].incident else None
    assert slope.low < 1 / 1.7 < slope.high


def test_show_and_gauges_speak_of_it(folder: Path, wholes: list[Verdict]) -> None:
    """The answer of `show`, and the kind, slope and names that alerts and dashboards ask for."""
    exported = exposition([lines(Reader(load_config(folder / "monitor.yaml")).snapshot("bids"))])
    found = dict(line.rsplit(" ", 1) for line in exported.decode().splitlines() if line[0] != "#")

    assert trust(wholes[-1]).answer.startswith("No: system = ios: too extreme since 2026-01-29, ")
    whole = 'model="bids",segment="all"'
    assert found[f'calibration_drift_kind{{kind="too_extreme",{whole}}}'] == "1.0"
    assert found[f"calibration_drift_in_segments{{{whole}}}"] == "1.0"
    assert found['calibration_drift_explained_ratio{model="bids",values="system = ios"}']
    slope = wholes[-1].explanation and wholes[-1].explanation.slope
    assert float(found[f"calibration_drift_slope{{{whole}}}"]) == slope.value


def test_one_call_or_several_say_the_same(folder: Path) -> None:
    """What was named on the day before is read from the store, or was just said."""
    config = load_config(folder / "monitor.yaml")
    store, references = Store(config.store), read_references(config, "bids")
    before = [store.content("verdicts", "bids", day) for day in DAYS]
    judge_days(config, "bids", references, DAYS[-3])

    assert [store.content("verdicts", "bids", day) for day in DAYS] == before


def test_labels_that_one_segment_lost_are_named_with_their_share(tmp_path: Path) -> None:
    """All rows together look like a bent curve; those of the segment, which explains it, do not."""
    store = judge_drawn_days(tmp_path, CONFIG, DAYS, partial(write_day, lost=0.4))
    whole, *segments = store.read_verdicts("bids", DAYS[-1])[0]
    answer = answer_where(load_config(tmp_path / "monitor.yaml"), "bids")

    assert whole.explanation.conditions == (Condition("system", "web"),)
    assert {v.segment for v in segments if v.incident} == {"web"}
    assert {v.state for v in (whole, *segments) if v.incident} == {"labels_lost"}
    assert whole.labels.share.low < 0.4 < whole.labels.share.high
    assert trust(whole).answer.startswith("Not the outcomes: system = web: labels lost, as if ")
    document = where_document(answer, repair_of("bids", answer))
    assert document["sentence"].startswith("In system = web the outcomes look as if ")
    assert document["repair"] == []


def test_no_map_is_offered_for_a_default_score(tmp_path: Path) -> None:
    """Its rows cannot be told from others with that score; the segment that has them is named."""
    store = judge_drawn_days(tmp_path, CONFIG, DAYS, partial(write_day, default=0.3))
    whole = store.read_verdicts("bids", DAYS[-1])[0][0]
    answer = answer_where(load_config(tmp_path / "monitor.yaml"), "bids")

    assert whole.incident.kind == "place"
    assert answer.where.explanation.conditions == (Condition("system", "web"),)
    assert repair_of("bids", answer) == []
