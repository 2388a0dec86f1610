"""Whole incidents in simulated streams: they last as long as the drift does."""

from functools import partial

import numpy as np
import pytest

from monitor.drift.curve.reference import fit_reference
from studies.drift.rules import Opening, follow_detector
from studies.drift.worlds import Truth, World, stream, tilted
from tests.support.cases import some


def followed(world: World, truth: Truth, seed: int, days: int) -> list[Opening]:
    """Watch a stream whose drift begins right after its reference."""
    drawn = list(stream(world, truth, seed, days=days))
    return follow_detector(fit_reference(drawn[:28]), drawn[28:])


def test_no_incident_closes_while_the_drift_lasts() -> None:
    """Slope 0.66 for good, 1,000 predictions a day: one incident in each stream, for years.

    At most 5 % may close within two years; none of three does.
    """
    for seed in some(range(3), 3):
        (only,) = followed(World(0.5, 1_000), Truth(tilted(0.66)), seed, 730)

        assert only.day <= 10
        assert only.day + only.lasted == 730
        assert only.later == "too_extreme"


def test_an_incident_closes_within_days_of_the_recovery() -> None:
    """Slope 0.8 for 40 days at 5 %, 20k: it closes at most 5 days after them, in each stream."""
    for seed in some(range(6), 3):
        (only,) = followed(World(0.05, 20_000), Truth(tilted(0.8), lasts=40), seed, 60)

        assert only.day <= 3
        assert 0 <= only.day + only.lasted - 40 <= 5


@pytest.mark.parametrize(("slope", "kind"), [(0.8, "too_extreme"), (1.25, "too_timid")])
def test_the_start_is_dated(slope: float, kind: str) -> None:
    """In all of 12 streams of a drift after 30 days: to two days in the median.

    In two thirds it has its name a week later: of 5,000 rows a day, a slope and a top tenth look
    alike for some days. As many of the 90 % intervals hold the first day; a binomial number is
    lower once in 60, of six streams.
    """
    seeds = some(range(12), 2)
    draw = partial(stream, World(0.05, 5_000), Truth(tilted(slope)), days=55, start=30)
    off, held, named = [], 0, 0
    for seed in seeds:
        days = list(draw(seed))
        found = follow_detector(fit_reference(days[:28]), days[28:])[0]

        named += found.later == kind
        off.append(abs(found.started - 30))
        held += found.start_low <= 30 <= found.start_high

    assert np.median(off) <= 2
    assert held >= 2 * len(seeds) / 3
    assert named >= 2 * len(seeds) / 3
