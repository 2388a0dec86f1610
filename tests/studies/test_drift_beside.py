"""The rules that the detector is compared with: what they say, by plain computations."""

from math import inf

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import expit
from scipy.stats import chisquare, norm

from monitor.drift.curve.reference import fit_reference
from monitor.metrics.core.coarse import CENTRES, Coarse
from studies.drift.beside import _pit_counts, _profile, delays, page_hinkley, slope_z
from studies.drift.rules import _slope_p, pool
from studies.drift.worlds import Truth, World, stream

WORLD = World(0.3, 2_000)


def days_of(seed: int, number: int) -> list[Coarse]:
    """Draw days without a drift."""
    return [pool(day) for day in stream(WORLD, Truth(), seed, reference=number, days=0)]


def test_a_delay_counts_from_one_and_streams_on_alarm_are_left_out() -> None:
    """The first day of the drift is the 61st: found on it is 1, never is infinite."""
    found = np.zeros((4, 100))
    found[0, 60], found[1, 63], found[2, 59] = 2.0, 2.0, 2.0

    assert list(delays(list(found), 1.5)) == [1.0, 4.0, inf]


def test_transforms_of_calibrated_days_are_uniform() -> None:
    """None is lost; of 28 days whose prior stays, on the curve of these days."""
    rng = np.random.default_rng(1)
    cells = rng.integers(300, 700, (28, 4_000))
    drawn = [np.bincount(of, minlength=CENTRES.size) for of in cells]
    days = [Coarse(n, rng.binomial(n, expit(CENTRES))) for n in drawn]
    reference = fit_reference([{"all": day} for day in days])

    counts = [_pit_counts(reference, day, rng) for day in days]

    assert [count.sum() for count in counts] == [4_000.0] * 28
    assert chisquare(np.sum(counts, axis=0)).pvalue > 0.01  # one draw of a fixed seed


def test_the_likelihood_of_the_oracle_is_the_largest_over_intercepts() -> None:
    """Compared with a search; a constant on top of the curve is left out of both."""
    day, other = days_of(3, 14)[:2]
    curve = 0.8 * CENTRES

    def lost(intercept: float, of: Coarse) -> float:
        p = expit(curve + intercept)
        return float(-(of.positives @ np.log(p) + (of.counts - of.positives) @ np.log1p(-p)))

    for of in (day, other):
        best = minimize_scalar(lost, bounds=(-8, 8), method="bounded", args=(of,)).fun
        assert _profile(curve, of) == pytest.approx(-best, abs=1e-3)  # of the search


def test_the_z_test_of_one_day_is_the_usual_slope_test() -> None:
    """And that of seven days adds up scores and informations, those of the reference first."""
    days = days_of(4, 40)
    reference = fit_reference([{"all": day} for day in days[:28]])
    daily = slope_z(reference, days[:28], days[28:], 1)

    assert 2.0 * norm.sf(daily) == pytest.approx([_slope_p(reference, day) for day in days[28:]])
    assert slope_z(reference, days[:28], days[28:], 7).shape == (12,)
    merged = slope_z(reference, days[:28], [days[27]], 7)
    assert slope_z(reference, days[:21], days[21:28], 7)[-1] != merged[0]
    assert slope_z(reference, days[:27], [days[27]], 7)[0] == pytest.approx(
        slope_z(reference, days[:21], days[21:28], 7)[-1]
    )


def test_losses_like_those_of_the_reference_add_up_to_nothing() -> None:
    """Page and Hinkley's sum goes back to 0; a day that is three deviations off stays in it."""
    days = days_of(5, 30)
    reference = fit_reference([{"all": day} for day in days[:28]])
    worst = Coarse(days[0].counts, days[0].counts - days[0].positives)

    calm = page_hinkley(reference, days[:28], days[:28])
    broken = page_hinkley(reference, days[:28], [*days[:28], worst])

    assert (calm >= 0.0).all()
    assert calm.min() == 0.0
    assert broken[-1] > calm[-1] + 3.0
