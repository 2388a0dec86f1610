"""Level of a curve: its intercept, its variance, and what a shift of the prior leaves of it."""

from math import log, sqrt

import numpy as np
import pytest
from scipy.special import expit, logit

from monitor.metrics.core.coarse import CENTRES, Coarse, coarsen
from monitor.metrics.core.tally import tally_on_grid
from monitor.metrics.logistic.intercept import fit_intercept
from monitor.metrics.logistic.level import combine_lifts, compare_levels, fit_level
from studies.drift.worlds import World, centre, draw_day, shares

WORLD = World(0.05, 20_000)
WEIGHTS = shares(centre(WORLD.prevalence))


def expected_day(prior: float, lift: float, rows: float = 1e12) -> Coarse:
    """Give the outcomes of a day without chance, but for rounding to whole rows."""
    moved = WEIGHTS * (1.0 + np.expm1(prior) * expit(CENTRES))
    counts = np.rint(rows * moved / moved.sum()).astype(np.int64)
    positives = np.rint(counts * expit(CENTRES + prior + lift)).astype(np.int64)
    return Coarse(counts, positives)


def test_intercept_is_that_of_the_scores() -> None:
    """On the scores' own logits it is the intercept of the tally, to half a coarse cell."""
    rng = np.random.default_rng(1)
    x = rng.normal(-2, 1.2, 5_000)
    t = tally_on_grid(rng.random(5_000) < expit(x + 0.4), expit(x))

    found, reference = fit_level(CENTRES, coarsen(t)), fit_intercept(t)

    assert found.delta == pytest.approx(reference.delta, abs=1e-3)  # cells average out
    assert sqrt(found.delta_variance) == pytest.approx(reference.standard_error, rel=1e-3)
    assert found.prevalence == t.prevalence
    assert found.log_odds == pytest.approx(logit(t.prevalence), abs=1e-12)


def test_variance_is_the_sum_of_squared_influences() -> None:
    """The variance of the difference equals its formula, written out row by row."""
    day = draw_day(np.random.default_rng(2), WEIGHTS, 3_000, 0.0, 0.0)
    found = fit_level(CENTRES, day)

    p = expit(CENTRES + found.delta)
    total, rate = day.counts.sum(), day.positives.sum() / day.counts.sum()
    weight = (day.counts * p * (1 - p)).sum() / total
    squares = day.positives * ((1 - p) / weight - 1 / rate) ** 2
    squares += (day.counts - day.positives) * (-p / weight + 1 / (1 - rate)) ** 2
    assert found.difference_variance == pytest.approx(squares.sum() / total**2, rel=1e-9)
    assert found.delta_variance == pytest.approx(1 / (weight * total), rel=1e-9)


@pytest.mark.parametrize("prior", [log(1 / 5), log(2), log(5)])
def test_kappa_is_zero_under_a_shift_of_the_prior(prior: float) -> None:
    """Without chance the intercept moves by the shift, and kappa stays 0, to 1e-6."""
    before = fit_level(CENTRES, expected_day(0.0, 0.0))

    found = compare_levels(fit_level(CENTRES, expected_day(prior, 0.0)), before)

    assert found.shift == pytest.approx(prior, abs=1e-6)
    assert found.kappa == pytest.approx(0.0, abs=1e-6)


def test_kappa_moves_when_the_curve_is_lifted() -> None:
    """With scores as before and all log-odds 0.3 higher, kappa is what the prevalence lacks."""
    before = fit_level(CENTRES, expected_day(0.0, 0.0))
    lifted = fit_level(CENTRES, expected_day(0.0, 0.3))

    found = compare_levels(lifted, before)

    risen = logit((WEIGHTS * expit(CENTRES + 0.3)).sum()) - logit((WEIGHTS * expit(CENTRES)).sum())
    assert found.shift == pytest.approx(0.3, abs=1e-6)
    assert found.kappa == pytest.approx(0.3 - risen, abs=1e-6)
    assert found.kappa > 0.02


def test_errors_of_both_periods_add_up() -> None:
    """Variances of now and of the reference add; a longer period has a smaller error."""
    rng = np.random.default_rng(4)
    now = fit_level(CENTRES, draw_day(rng, WEIGHTS, 20_000, 0.0, 0.0))
    long = fit_level(CENTRES, draw_day(rng, WEIGHTS, 80_000, 0.0, 0.0))

    found = compare_levels(now, long)

    assert found.shift_error**2 == pytest.approx(now.delta_variance + long.delta_variance)
    assert found.kappa_error**2 == pytest.approx(now.difference_variance + long.difference_variance)
    assert long.delta_variance == pytest.approx(now.delta_variance / 4, rel=0.1)


def test_billions_of_outcomes_have_a_variance() -> None:
    """The variance falls with the number of outcomes, also where its square exceeds 64 bits."""
    few, many = (fit_level(CENTRES, expected_day(0.0, 0.0, rows)) for rows in (1e8, 1e10))

    assert many.difference_variance == pytest.approx(few.difference_variance / 100, rel=1e-3)
    assert many.delta_variance == pytest.approx(few.delta_variance / 100, rel=1e-3)


def test_a_lift_of_all_parts_is_that_lift() -> None:
    """Parts of other scores, separations and sizes, all lifted by 0.3: the average is 0.3."""
    parts = []
    for prior, rows in ((-1.0, 1e10), (0.0, 1e12), (1.5, 1e11)):
        before = fit_level(CENTRES, expected_day(prior, 0.0, rows))
        parts.append(compare_levels(fit_level(CENTRES, expected_day(prior, 0.3, rows)), before))

    found = combine_lifts(parts)

    assert found.shift == pytest.approx(0.3, abs=1e-6)
    assert found.lift == pytest.approx(0.3, abs=0.03)  # R2 itself moves a little with the lift
    assert found.kappa_error < min(part.kappa_error for part in parts)
