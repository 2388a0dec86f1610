"""Slow wander that all rows share."""

from collections import Counter
from datetime import UTC, date, datetime, timedelta

import numpy as np
import pytest

from monitor.drift.day_evidence import DIRECTIONS, DayEvidence
from monitor.drift.detecting import accumulate, new_detector
from monitor.drift.detector import Detector
from monitor.drift.evidence import day_evidence
from monitor.drift.inputs import Day, Limits, fit_model_reference
from monitor.drift.judge import judge
from monitor.drift.reference import Reference, fit_reference
from monitor.drift.wander import (
    HEADROOM,
    NO_WANDER,
    Wander,
    fit_wander,
    held_down_by_wander,
    wander_before,
)
from monitor.metrics.core.coarse import CENTRES, Coarse
from monitor.metrics.core.grid import Floats
from monitor.metrics.core.special import expit

FIRST, MOMENT = date(2026, 1, 5), datetime(2030, 1, 1, tzinfo=UTC)
ROWS = np.where(np.abs(CENTRES) < 3.0, 40, 0)
LIMIT = 3.0  # log10
Fold = tuple[Reference, Detector, DayEvidence]


def days_of(slopes: Floats, rng: np.random.Generator) -> list[dict[str, Coarse]]:
    """Draw a day for each slope."""
    return [{"all": Coarse(ROWS, rng.binomial(ROWS, expit(s * CENTRES)))} for s in slopes]


def fold(slopes: Floats, seed: int = 1) -> Fold:
    """Accumulate the days after a reference of 28 days of slope 1."""
    rng = np.random.default_rng(seed)
    reference = fit_reference(days_of(np.ones(28), rng))
    detector, none = new_detector(), np.zeros(len(DIRECTIONS))
    for t, parts in enumerate(days_of(slopes, rng)):
        evidence = day_evidence(reference, parts, none, detector.cross)
        detector = accumulate(detector, FIRST + timedelta(t), evidence, none)
    return reference, detector, evidence


def remembering(rng: np.random.Generator, days: int, spread: float, memory: float) -> Floats:
    """Draw an AR(1)."""
    kept = np.exp(-1.0 / memory)
    path = [rng.normal()]
    for _ in range(days - 1):
        path.append(kept * path[-1] + np.sqrt(1.0 - kept**2) * rng.normal())
    return spread * np.array(path)


@pytest.fixture(scope="module")
def wandering() -> Fold:
    """Fold half a year of a slope that wanders by 0.1."""
    path = remembering(np.random.default_rng(3), 182, 0.1, 43.0)
    return fold(1.0 + path)


class TestFitWander:
    """`fit_wander`."""

    def test_maximises_the_restricted_likelihood(self) -> None:
        """No other wander of the grid is likelier, by a computation with contrasts."""
        rng = np.random.default_rng(4)
        for _ in range(5):
            days = np.sort(rng.choice(400, 30, replace=False)).astype(float)
            variances = rng.uniform(1e-4, 1e-3, days.size)
            found = 0.2 * np.sin(days / 40 + rng.uniform(0, 6)) + 0.02 * rng.normal(size=days.size)
            fitted = fit_wander(days, found, variances)
            best = likelihood_of_contrasts(fitted, days, found, variances)
            for other in [NO_WANDER, Wander(0.07, 15.0), Wander(0.33, 130.0), Wander(0.15, 43.0)]:
                assert best >= likelihood_of_contrasts(other, days, found, variances) - 1e-9

    def test_a_level_is_no_wander(self) -> None:
        """A stream that is off by a constant has none; nor have five weeks."""
        found = 0.3 + 0.01 * np.random.default_rng(5).normal(size=40)

        assert fit_wander(7.0 * np.arange(40), found, np.full(40, 1e-4)) == NO_WANDER
        assert fit_wander(7.0 * np.arange(5), np.arange(5.0), np.full(5, 1e-4)) == NO_WANDER


def likelihood_of_contrasts(
    wander: Wander, days: Floats, found: Floats, variances: Floats
) -> float:
    """Give the likelihood of all differences from the first deviation: it has no level."""
    apart = np.abs(days[:, None] - days)
    covariance = np.diag(variances) + wander.spread**2 * np.exp(-apart / wander.memory)
    contrasts = np.eye(days.size)[1:] - np.eye(days.size)[0]
    covariance, found = contrasts @ covariance @ contrasts.T, contrasts @ found
    _, size = np.linalg.slogdet(covariance)
    return -0.5 * float(size + found @ np.linalg.solve(covariance, found))


class TestHeldDown:
    """`held_down_by_wander`."""

    def test_leaves_a_drift_of_a_stream_that_does_not_wander(self) -> None:
        """A drift that is new opens an incident as before; chance looks like wander at times."""
        slopes, found = np.append(np.ones(67), [0.7, 0.7, 0.7]), []
        for seed in range(4):
            reference, detector, evidence = fold(slopes, seed)
            found += [wander_before(reference, detector, j) for j in range(len(DIRECTIONS))]

            assert detector.evidence > LIMIT
            assert held_down_by_wander(detector, reference, evidence).evidence > LIMIT
        assert sum(wander == NO_WANDER for wander in found) >= 0.8 * len(found)

    def test_lowers_what_wander_explains(self, wandering: Fold) -> None:
        """The evidence of a slope that wanders falls; no kind gets more."""
        reference, detector, evidence = wandering
        held = held_down_by_wander(detector, reference, evidence)

        assert wander_before(reference, detector, 0).spread > 0.0
        assert held.sums[:2].max() < 0.1 * detector.sums[:2].max()
        assert np.all(held.sums <= detector.sums)

    def test_is_the_ratio_of_generalised_least_squares(self, wandering: Fold) -> None:
        """G of the slope equals one that inverts the covariance since each start by itself."""
        reference, detector, evidence = wandering
        wander, history = wander_before(reference, detector, 0), detector.history
        own = np.arange(28.0)
        error = wander.spread * np.sqrt(np.exp(-np.abs(own[:, None] - own) / wander.memory).mean())
        near = max(evidence.tolerances[0], 1.25 * error)
        far = max(evidence.effects[0], 6.0 * error, 2.0 * near)
        totals = np.zeros(2)
        for first in range(history.firsts.size):
            information = history.informations[first:, 0].astype(float)
            found = history.scores[first:, 0] / information
            middles = history.firsts[first:] + history.days[first:] / 2
            covariance = wander.spread**2 * np.exp(
                -np.abs(middles[:, None] - middles) / wander.memory
            ) + np.diag(1.0 / information)
            inverse = np.linalg.inv(covariance)
            pull, known = (inverse @ found).sum(), inverse.sum()
            gains = (far - near) * np.array([-pull, pull]) - 0.5 * (far**2 - near**2) * known
            totals += history.days[first] * np.exp(gains)
        held = held_down_by_wander(detector, reference, evidence)

        expected = np.minimum(detector.sums[:2], HEADROOM * totals)
        assert np.any(expected < detector.sums[:2])
        assert held.sums[:2] == pytest.approx(expected, rel=1e-6)  # two ways to solve the same


def test_a_wandering_stream_opens_fewer_drifts_where_wander_is_fitted() -> None:
    """Of two that wander, fewer days are in drift; a fold in two calls gives the same."""
    in_drift = Counter[bool]()
    for seed in range(2):
        path = 1.0 + remembering(np.random.default_rng(seed), 28 + 150, 0.1, 43.0)
        days = [
            Day(FIRST + timedelta(t), True, MOMENT, 1.0, {("all", "all"): parts["all"]})
            for t, parts in enumerate(days_of(path, np.random.default_rng([seed, 1])))
        ]
        for fitted in (False, True):
            limits = Limits(wander=fitted)
            known = {"references": [fit_model_reference(days[:28], limits)]}
            once = [v for v, *_ in judge("m", days[28:], limits=limits, **known)]
            half = 28 + 75
            begun = [v for v, *_ in judge("m", days[28:half], limits=limits, **known)]
            kept = {"detectors": {"all": begun[-1].detector}, "recent": days[half - 14 : half]}
            after = [v for v, *_ in judge("m", days[half:], limits=limits, **known, **kept)]
            assert [v.reached for v in once] == [v.reached for v in [*begun, *after]]
            assert [v.state for v in once] == [v.state for v in [*begun, *after]]
            in_drift[fitted] += sum(v.state == "calibration_drift" for v in once)

    assert in_drift[True] < 0.7 * in_drift[False]
