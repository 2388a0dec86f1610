"""What a calibration map does to the buckets of a day, and that they reach the verdict."""

from dataclasses import replace
from datetime import UTC, date, datetime

import numpy as np
import pytest

from monitor.days.summary import Segment, Summary
from monitor.drift.fold.inputs import inputs_of
from monitor.evaluation.shadow import DayGain, Shadow, map_gain, map_summary
from monitor.metrics.core.buckets import BIN_CENTRES, BIN_COUNT, BUCKETS, add_up_buckets
from monitor.metrics.core.tally import tally_on_grid
from monitor.metrics.maps.calibration_map import CalibrationMap

SLOPE, LEVEL = 0.6, 0.3
MAP = CalibrationMap("platt", parameters=(SLOPE,), level=LEVEL)
RNG = np.random.default_rng(4)
ROWS = 500
BUCKET, BIN = RNG.integers(0, BUCKETS, ROWS), RNG.integers(0, BIN_COUNT, ROWS)
OUTCOME, ONE = RNG.integers(0, 2, ROWS), np.ones(ROWS, np.int64)


def summary() -> Summary:
    """Make a day of two segments with the same buckets."""
    part = Segment(tally_on_grid([0, 1], [0.2, 0.7]), 2)
    counts = add_up_buckets(BUCKET, BIN, ONE, OUTCOME)
    known = datetime(2026, 3, 3, tzinfo=UTC)
    made = Summary(
        "m", (date(2026, 3, 2),), {"DE": part, "FR": part}, {}, final=True, known_at=known
    )
    return replace(made, entities={("DE", "all"): counts, ("FR", "all"): counts})


@pytest.mark.parametrize("segment", ["all", "DE"])
@pytest.mark.parametrize("weights", [(1.0, 1.0), (4.0, 1.0)])
def test_buckets_move_with_their_scores(segment: str, weights: tuple[float, float]) -> None:
    """To the bin of their mapped centre, in the population; a segment without a map stays."""
    day = replace(summary(), class_weights=weights)
    offset = np.log(weights[0] / weights[1])
    moved = SLOPE * (BIN_CENTRES - offset) + LEVEL + offset
    bins = np.clip(np.floor((moved + 16) * 4), 0, BIN_COUNT - 1).astype(np.int64)
    expected = vars(add_up_buckets(BUCKET, bins[BIN], ONE, OUTCOME))

    mapped = map_summary(day, Shadow(MAP, segment)).entities

    for name in ("DE", "FR"):
        wanted = expected if segment in ("all", name) else vars(day.entities[name, "all"])
        assert all(np.array_equal(vars(mapped[name, "all"])[key], wanted[key]) for key in wanted)


def test_a_day_of_the_verdict_has_the_buckets_of_its_summary() -> None:
    """By segment and stratum, as its parts."""
    day = inputs_of(summary())

    assert day.entities.keys() == day.parts.keys() == {("DE", "all"), ("FR", "all")}
    assert int(day.entities["DE", "all"].counts.sum()) == ROWS


def test_days_and_entities_both_widen_a_gain() -> None:
    """Where days and buckets each have a gain of their own, the variance is that of both means."""
    rng = np.random.default_rng(4)
    of_days, of_buckets = rng.normal(0.0, 0.2, 40), rng.normal(0.0, 0.3, BUCKETS)
    gains, ones = of_days[:, None] + of_buckets, np.ones(BUCKETS)
    days = [DayGain(BUCKETS, g.sum(), g.sum(), np.array([ones, g, g])) for g in gains]

    variance = of_days.var(ddof=1) / 40 + of_buckets.var(ddof=1) / BUCKETS

    # What is taken away twice is that of single cells, 1 % of it.
    assert map_gain(days).log_loss.standard_error ** 2 == pytest.approx(variance, rel=0.05)
