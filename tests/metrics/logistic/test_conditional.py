"""Evidence for a distortion, given how many outcomes were positive: against exact sums."""

from itertools import combinations
from math import exp

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit

from monitor.metrics.core.grid import Floats, Ints
from monitor.metrics.logistic.conditional import (
    adjusted_profile,
    conditional_log_ratio,
    exact_moments,
    log_sets,
    score_directions,
    weigh_directions,
)
from monitor.metrics.logistic.intercept import solve_factor

DISTORTIONS = {
    "flatter": lambda x: -0.2 * x,
    "steeper": lambda x: 0.25 * x,
    "bent": lambda x: 0.2 * (x**2 - 1),
    "top": lambda x: np.where(x > 1.28, -0.4, 0.0),
}
groups = st.lists(
    st.tuples(st.floats(-8, 8), st.integers(0, 30), st.floats(0, 1), st.floats(-1, 1)),
    min_size=2,
    max_size=12,
)


def log_elementary(odds: Floats, hits: int) -> float:
    """Sum the products of all choices of `hits` odds; every term is positive, so all digits hold.

    ``e_k(x_1..x_n) = e_k(x_1..x_(n-1)) + x_n e_(k-1)(x_1..x_(n-1))``.
    """
    scale = odds.mean()
    sums = np.zeros(hits + 1)
    sums[0] = 1.0
    for x in odds / scale:
        sums[1:] += x * sums[:-1]
    return float(np.log(sums[hits]) + hits * np.log(scale))


def exact(eta: Floats, hit: np.ndarray, h: Floats) -> float:
    """Give the log ratio of exact likelihoods given the number of hits; one row a group."""
    hits = int(hit.sum())
    common = log_elementary(np.exp(eta + h), hits) - log_elementary(np.exp(eta), hits)
    return float(h[hit].sum()) - common


def unpack(rows: list[tuple[float, int, float, float]]) -> tuple[Floats, Ints, Ints, Floats]:
    """Turn generated rows into curve, counts, positives and distortion."""
    curve, counts, shares, h = (np.array(column) for column in zip(*rows, strict=True))
    return curve.astype(float), counts, np.rint(shares * counts).astype(np.int64), h.astype(float)


@pytest.mark.parametrize("name", DISTORTIONS)
@pytest.mark.parametrize("hits", [1, 2, 5, 20, 380, 399])
@pytest.mark.parametrize("middle", [-6.0, -3.0, 0.0])
def test_ratio_equals_elementary_symmetric_polynomials(name: str, hits: int, middle: float) -> None:
    """Among 400 rows the ratio is the exact one within 1e-3, wherever the positives lie."""
    rng = np.random.default_rng(1)
    unit = np.sort(rng.normal(size=400))
    eta, h = middle + 1.2 * unit, DISTORTIONS[name](unit)
    for _ in range(5):
        # Gumbel noise draws without replacement in proportion to the odds, nearly as outcomes do.
        hit = np.zeros(400, bool)
        hit[np.argsort(eta + rng.gumbel(size=400))[-hits:]] = True

        found = conditional_log_ratio(eta, np.ones(400, int), hit, h)

        assert found == pytest.approx(exact(eta, hit, h), abs=1e-3)


@given(groups, st.floats(-30, 30), st.floats(-3, 3))
def test_no_prior_enters(
    rows: list[tuple[float, int, float, float]], prior: float, constant: float
) -> None:
    """A constant added to the curve, to the distortion or to both changes nothing, to 1e-8."""
    curve, counts, positives, h = unpack(rows)
    expected = conditional_log_ratio(curve, counts, positives, h)

    moved = conditional_log_ratio(curve + prior, counts, positives, h + constant)

    assert moved == pytest.approx(expected, abs=1e-8)


def test_weights_are_differences_of_ratios() -> None:
    """Down and up each direction: evidence for the effect less that for the tolerance."""
    rng = np.random.default_rng(3)
    curve, counts = np.linspace(-3, 1, 30), rng.integers(0, 40, 30)
    positives = rng.binomial(counts, expit(curve))
    directions, near, far = rng.normal(size=(2, 30)), np.array([0.03, 0.05]), np.array([0.1, 0.4])

    found = weigh_directions(curve, counts, positives, directions, near, far)

    for (j, side), value in np.ndenumerate(found):
        sign = (-1, 1)[side]
        expected = conditional_log_ratio(
            curve, counts, positives, sign * far[j] * directions[j]
        ) - conditional_log_ratio(curve, counts, positives, sign * near[j] * directions[j])
        assert value == pytest.approx(expected, abs=1e-10)


def test_scores_are_slopes_of_the_profile() -> None:
    """Score and information are first and second derivative of the profile log-likelihood."""
    rng = np.random.default_rng(4)
    curve, counts = np.linspace(-3, 1, 30), rng.integers(200, 400, 30)
    positives = rng.binomial(counts, expit(curve))
    h, step = rng.normal(size=30), 1e-3

    def profile(size: float) -> float:
        eta = curve + size * h
        factor, _ = solve_factor(np.exp(eta), counts, positives.sum())
        z = eta + np.log(factor)
        return float((positives * z - counts * np.logaddexp(0, z)).sum())

    before, here, after = profile(-step), profile(0.0), profile(step)
    (score,), (information,) = score_directions(curve, counts, positives, h[None])

    # Central differences err by the square of the step times a third derivative of some 1e3.
    assert score == pytest.approx((after - before) / (2 * step), abs=1e-2)
    assert information == pytest.approx(-(after - 2 * here + before) / step**2, rel=2e-5)


@pytest.mark.parametrize(("rows", "hits"), [(2, 1), (4, 2), (8, 1), (8, 4), (8, 7), (12, 5)])
@pytest.mark.parametrize("spread", [0.0, 0.5, 3.0])
def test_few_rows_have_the_moments_of_an_enumeration(rows: int, hits: int, spread: float) -> None:
    """Over all ways to choose who was positive, each as likely as its odds: to rounding.

    Mean and variance of a sum, the normalising sum itself, and what scores are made of. With
    independent outcomes instead, two of which one is positive would know half of what they do.
    """
    rng = np.random.default_rng(rows)
    ones, h, eta = np.ones(rows, np.int64), rng.normal(size=rows), spread * rng.normal(size=rows)
    who = np.array(list(combinations(range(rows), hits)))
    chosen = np.zeros((len(who), rows))
    np.put_along_axis(chosen, who, 1.0, axis=1)
    likelihoods = np.exp(chosen @ eta)
    weights, sums = likelihoods / likelihoods.sum(), chosen @ h
    mean = (weights * sums).sum()
    variance = (weights * (sums - mean) ** 2).sum()

    found = exact_moments(np.exp(eta), ones, hits, h)
    (score,), (information,) = score_directions(eta, ones, chosen[0].astype(int), h[None])

    assert found == pytest.approx((mean, variance), rel=1e-9, abs=1e-12)
    assert log_sets(np.exp(eta), ones, hits) == pytest.approx(np.log(likelihoods.sum()), abs=1e-10)
    assert score == pytest.approx(sums[0] - mean, abs=1e-9)
    assert information == pytest.approx(variance, rel=1e-6)


def test_equal_scores_are_rows_one_by_one() -> None:
    """Counts of 3 give the moments and the sum of three rows each, also below, to rounding."""
    rng = np.random.default_rng(7)
    odds, h, counts = np.exp(rng.normal(size=6)), rng.normal(size=6), np.array([3, 0, 1, 5, 2, 4])
    single, along = np.repeat(odds, counts), np.repeat(h, counts)
    ones = np.ones(single.size, np.int64)

    for hits in (1, 7, 14):
        found = exact_moments(odds, counts, hits, h)

        assert found == pytest.approx(exact_moments(single, ones, hits, along), rel=1e-9)
        assert log_sets(odds, counts, hits) == pytest.approx(log_elementary(single, hits), abs=1e-9)


@pytest.mark.parametrize("far", [5.0, 40.0, 300.0])
def test_rows_that_scores_separate_overflow_nothing(far: float) -> None:
    """The product of the odds of 36 sure rows has hundreds of digits; only one set is likely."""
    eta, counts = np.array([-far, far]), np.array([12, 36])
    h = np.array([-1.0, 2.0])

    mean, variance = exact_moments(np.exp(eta), counts, 36, h)

    # One row of 36 may change places with one of 12: the sum is 3 less, with these odds.
    changed = 12 * 36 * exp(-2 * far)
    # Two places are changed as rarely as `changed` squared; 72 has an error of rounding.
    assert 72.0 - mean == pytest.approx(3 * changed, rel=0.05, abs=1e-11)
    assert variance == pytest.approx(9 * changed, rel=0.05, abs=1e-11)
    assert log_sets(np.exp(eta), counts, 36) == pytest.approx(36 * far + changed, rel=1e-5)


def test_extreme_curves_stay_finite() -> None:
    """Logits at both ends of the grid, where p underflows to 0 and 1, give finite evidence."""
    curve, counts = np.array([-16.0, -15.0, 15.0, 16.0]), np.array([10**6, 1, 1, 10**6])
    for positives in ([0, 0, 0, 1], [1, 0, 0, 0], [10**6, 1, 1, 10**6 - 1]):
        found = conditional_log_ratio(curve, counts, positives, 0.2 * curve)

        assert np.isfinite(found)
        assert np.isfinite(adjusted_profile(curve, counts, np.array(positives)))
