"""A value that the reference does not know, and that is broken: it is named, and how new it is."""

from datetime import date
from pathlib import Path

import numpy as np
from scipy.special import expit

from monitor.config import load_config
from monitor.drift.records.places import Condition
from monitor.pipeline.verdicts.asked_where import answer_where
from tests.support.drawn_days import configured, days_of, judge_drawn_days, write_rows

REFERENCE, SOUND, LATER, ROWS = 14, 2, 7, 8_000
DAYS = days_of(REFERENCE + SOUND + LATER)
APPEARED = DAYS[REFERENCE + SOUND]
CONFIG = configured(
    {"bids": ("{column: system, values: [ios, web], primary: true}", "{column: version, top: 20}")}
)


def write_day(folder: Path, day: date) -> None:
    """Draw a day; later a fifth of the rows has a new version, with a slope of 0.4."""
    rng = np.random.default_rng(day.toordinal())
    logits = rng.normal(-0.5, 1.3, ROWS)
    version = rng.choice(["v16", "v17", "v18"], ROWS)
    version = np.where((rng.random(ROWS) < 0.2) & (day >= APPEARED), "v19", version)
    slopes = np.where(version == "v19", 0.4, 1.0)
    table = {
        "score": expit(logits),
        "system": rng.choice(["ios", "web"], ROWS),
        "version": version,
        "outcome": (rng.random(ROWS) < expit(slopes * logits)).astype(np.int8),
    }
    write_rows(folder, day, table)


def test_it_is_named_with_its_first_day(tmp_path: Path) -> None:
    """It has no past of its own, but the rest is as before without it."""
    store = judge_drawn_days(tmp_path, CONFIG, DAYS, write_day)
    whole = store.read_verdicts("bids", DAYS[-1])[0][0]

    (named,) = whole.explanation.conditions
    assert (named, named.first) == (Condition("version", "v19"), APPEARED)
    assert whole.explanation.slope.low < 0.4 < whole.explanation.slope.high
    assert not whole.explanation.in_segments  # version is watched, and has no verdicts of its own
    assert ", in version = v19, scores are too extreme" in whole.reasons[0]
    new = f" version = v19 is new since {APPEARED}, so its outcomes"
    assert any(new in reason for reason in whole.reasons)
    config = load_config(tmp_path / "monitor.yaml")
    assert answer_where(config, "bids").where.explanation == whole.explanation
