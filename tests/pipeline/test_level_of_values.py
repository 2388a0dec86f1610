"""Scores of one value that are too high, seen from the whole: what is named, and what is not."""

from datetime import date
from pathlib import Path

import numpy as np
import pytest
from scipy.special import expit

from monitor.config import load_config
from monitor.drift.records.verdict import Verdict
from monitor.export.snapshot_reader import Reader
from monitor.export.text import exposition, lines
from monitor.pipeline.verdicts.asked_where import answer_where
from monitor.report.where import where_document
from monitor.store.store import Store
from monitor.words.trust import trust
from monitor.words.verdict import sentences
from tests.support.drawn_days import configured, days_of, judge_drawn_days, write_rows

REFERENCE, LATER, ROWS = 14, 3, 3_000
DAYS = days_of(REFERENCE + LATER)
COUNTRIES, DEVICES = np.array(["DE", "FR", "US"]), np.array(["tv", "web", "car"])
SEGMENTS = (
    "{column: country, values: [DE, FR, US], primary: true}",
    "{column: device, values: [tv, web, car]}",
)
CONFIG = configured({"bids": SEGMENTS})


def judged(folder: Path, column: str) -> list[Verdict]:
    """Write and judge days; after the reference 1.5 is added to the log-odds of FR, or of web."""

    def write_day(folder: Path, day: date) -> None:
        rng = np.random.default_rng(day.toordinal())
        logits, device = rng.normal(-0.5, 1.3, ROWS), rng.integers(0, 3, ROWS)
        country = rng.choice(3, ROWS, p=[0.5, 0.3, 0.2])
        hits = rng.random(ROWS) < expit(logits)
        lifted = (country if column == "country" else device) == 1
        table = {
            "score": expit(logits + 1.5 * (lifted & (day >= DAYS[REFERENCE]))),
            "country": COUNTRIES[country],
            "device": DEVICES[device],
            "outcome": hits.astype(np.int8),
        }
        write_rows(folder, day, table)

    store = judge_drawn_days(folder, CONFIG, DAYS, write_day)
    return store.read_verdicts("bids", DAYS[-1])[0]


def gauges(folder: Path) -> str:
    """Write what an exporter gives."""
    config = load_config(folder / "monitor.yaml")
    return exposition([lines(Reader(config).snapshot("bids"))]).decode()


def test_a_segment_explains_the_level_of_the_whole(tmp_path: Path) -> None:
    """The whole names it with its size, and only the segment's own alert is sent."""
    whole, *segments = judged(tmp_path, "country")

    assert {v.segment for v in segments if v.level_incident} == {"FR"}
    assert whole.state == "level_drift"
    assert whole.explanation.in_segments
    assert whole.explanation.size == pytest.approx(-1.5, abs=0.15)  # of 3,600 rows
    assert trust(whole).answer.startswith("No: country = FR: scores 4")
    assert "--part 'country = FR'" in trust(whole).step
    first = sentences(whole)[0]
    assert "the scores of country = FR are 4" in first
    assert "those of all outcomes -0." in first
    assert 'calibration_drift_in_segments{model="bids",segment="all"} 1.0' in gauges(tmp_path)


def test_the_level_of_a_value_that_bends_the_curve_of_all_rows_is_named(tmp_path: Path) -> None:
    """Pooled they look too extreme, in every country; within each device the curve is as before."""
    whole, *_ = judged(tmp_path, "device")
    where = answer_where(load_config(tmp_path / "monitor.yaml"), "bids")
    document = where_document(where)

    assert whole.distortion.kind == "too_extreme"
    assert whole.headline(whole.distortion).kind == "scores_too_high"
    assert trust(whole).answer.startswith("No: device = web: scores 4")
    assert (
        "within the values of device, each with a level of its own, the curve"
        in (sentences(whole)[0])
    )
    assert document["kind"] == "scores_too_high"
    assert "comes from device = web" in document["sentence"]
    assert [(i.value, i.kind) for i in whole.values.incidents] == [("web", "scores_too_high")]
    text = gauges(tmp_path)
    assert 'calibration_drift_kind{kind="scores_too_high",model="bids",segment="all"} 1.0' in text
    assert 'values="device = web"' in text
    stored = Store(load_config(tmp_path / "monitor.yaml").store)
    assert stored.read_verdicts("bids", DAYS[-1])[0][0].explanation == whole.explanation
