"""Tilts of regions: the same as bending the curve there, and fair bets given the positives."""

from itertools import product
from math import exp

import numpy as np
import pytest

from monitor.metrics.core.grid import Floats, Ints
from monitor.metrics.logistic.conditional import adjusted_profile, project_directions
from monitor.metrics.logistic.regions import tilt_regions

FIRSTS, ENDS = np.array([0, 2, 5]), np.array([2, 5, 6])
INSIDE = (FIRSTS[:, None] <= np.arange(8)) & (np.arange(8) < ENDS[:, None])
MASKS = INSIDE.astype(np.float64)


def drawn(most: int, seed: int) -> tuple[Floats, Ints, Ints]:
    """Draw eight groups of at most so many rows."""
    rng = np.random.default_rng(seed)
    eta = np.sort(rng.normal(-1.0, 1.2, 8))
    counts = rng.integers(0, most, 8)
    return eta, counts, rng.binomial(counts, 1.0 / (1.0 + np.exp(-eta)))


@pytest.mark.parametrize("most", [5, 40, 4_000])
def test_a_tilt_is_a_bent_curve(most: int) -> None:
    """Profiles, scores and informations are those of the plain functions, to 1e-8.

    Five rows are weighed exactly, 4,000 by the saddlepoint approximation.
    """
    rng = np.random.default_rng(most)
    for seed in range(10):
        day, tilts = drawn(most, seed), rng.normal(0.0, 1.0, (3, 4))

        scores, informations, profiles = tilt_regions(*day, FIRSTS, ENDS, tilts)

        eta, *outcomes = day
        bent = [
            [
                adjusted_profile(eta + tilt * mask, *outcomes) - adjusted_profile(eta, *outcomes)
                for tilt in of_region
            ]
            for mask, of_region in zip(MASKS, tilts, strict=True)
        ]
        pulls, crosses = project_directions(*day, MASKS, MASKS[:0])
        assert profiles == pytest.approx(np.array(bent), abs=1e-8)
        assert scores == pytest.approx(pulls, abs=1e-8)
        assert informations == pytest.approx(crosses[:, 0], abs=1e-8)


@pytest.mark.parametrize("true", [-0.3, 0.0, 0.3])
def test_the_ratio_is_a_fair_bet_under_every_tolerated_tilt(true: float) -> None:
    """Given the positives, 10 rows: the ratio of 1 to 0.3 has a mean of 1 at 0.3, below it less."""
    eta = np.linspace(-2.0, 1.0, 10)
    ones, region = np.ones(10, np.int64), (np.array([6]), np.array([9]))
    inside = np.arange(10)
    truth = eta + true * ((inside >= 6) & (inside < 9))
    masses, ratios = [], []
    for outcomes in product((0, 1), repeat=10):
        if sum(outcomes) == 4:
            hits = np.array(outcomes)
            profile = tilt_regions(eta, ones, hits, *region, np.array([[0.3, 1.0]]))[2][0]
            masses.append(exp(float((truth * hits).sum())))
            ratios.append(exp(profile[1] - profile[0]))

    mean = np.average(ratios, weights=masses)

    assert mean == pytest.approx(1.0, abs=1e-9) if true == 0.3 else mean < 1.0


def test_equal_outcomes_say_nothing() -> None:
    """All positive or none: everything is 0."""
    eta, counts, _ = drawn(50, 2)
    for positives in (counts, np.zeros_like(counts)):
        for said in tilt_regions(eta, counts, positives, FIRSTS, ENDS, np.ones((3, 1))):
            assert not said.any()
