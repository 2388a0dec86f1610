"""The expectation of the prevalence against worlds of known truth and the EM algorithm."""

import math
from dataclasses import astuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit, logit
from scipy.stats import chi2, norm

from monitor.evaluation.evaluation import Expectation
from monitor.evaluation.expected_prevalence import expect_prevalence, log10_chi_square_tail
from monitor.metrics.core.dispersion import DesignEffects
from monitor.metrics.core.grid import Floats, Ints
from monitor.metrics.core.tally import Tally
from monitor.metrics.logistic.recalibration_maps import fit_nested_maps
from tests.support.cases import ALL

PLACES = np.arange(-256, 257) / 32  # what the model sees
SAMPLES = 500 if ALL else 120


def classes() -> tuple[Floats, Floats]:
    """Give the distributions of both classes, whose true log-odds are a parabola."""
    negative, positive = norm.pdf(PLACES, -0.5, 1.0), norm.pdf(PLACES, 1.0, 1.1)
    return positive / positive.sum(), negative / negative.sum()


def scores(prevalence: float) -> Floats:
    """Give a model's scores: increasing, and not calibrated."""
    return np.asarray(expit(1.2 * PLACES + logit(prevalence) - 0.3))


def reference(prevalence: float, size: int, rng: np.random.Generator) -> Tally:
    """Draw a labelled reference."""
    positive, negative = classes()
    hits = rng.multinomial(round(prevalence * size), positive)
    counts = hits + rng.multinomial(size - hits.sum(), negative)
    seen = counts > 0
    return Tally(scores(prevalence)[seen], counts[seen], hits[seen])


def day(shares: Floats, known: Floats, size: int, rng: np.random.Generator) -> tuple[Floats, Ints]:
    """Draw a day without outcomes."""
    counts = rng.multinomial(size, shares)
    return known[counts > 0], counts[counts > 0]


def expected(t: Tally, known: Floats, counts: Ints) -> Expectation:
    """Expect what can be expected."""
    found = expect_prevalence(t, known, counts)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("before", "after", "labelled", "size"),
    [
        (0.05, 0.08, 100_000, 5_000),
        (0.05, 0.15, 6_000, 20_000),  # 300 positives: the reference's own error is half of all
        (0.5, 0.8, 2_000, 2_000),
        (0.005, 0.01, 200_000, 20_000),
    ],
)
def test_interval_and_fit_under_a_prior_shift(
    before: float, after: float, labelled: int, size: int
) -> None:
    """The 95 % interval holds the truth in 90 to 97 of 100; at 5 % the fit is refused in 5.

    Within four Monte-Carlo errors; and the estimate is right on average.
    """
    rng = np.random.default_rng(31)
    positive, negative = classes()
    mixture = after * positive + (1 - after) * negative
    found = [
        expected(reference(before, labelled, rng), *day(mixture, scores(before), size, rng))
        for _ in range(SAMPLES)
    ]

    covered = np.mean([one.low <= after <= one.high for one in found])
    refused = np.mean([one.fit_log10_p < math.log10(0.05) for one in found])
    estimates = np.array([one.prevalence for one in found])
    monte_carlo = math.sqrt(0.05 * 0.95 / SAMPLES)
    assert 0.90 < covered < 0.97 + monte_carlo
    assert refused == pytest.approx(0.05, abs=4 * monte_carlo)
    # The estimate is unbiased in logit rather than here: a tenth of its error is allowed.
    assert estimates.mean() == pytest.approx(after, abs=0.28 * estimates.std())


@pytest.mark.parametrize("before", [0.05, 0.5])
def test_a_covariate_shift_is_refused(before: float) -> None:
    """Where P(y|s) stays and P(s) narrows, p < 1e-4 in most days, and `unshifted` holds it."""
    rng = np.random.default_rng(32)
    positive, negative = classes()
    mixture = before * positive + (1 - before) * negative
    rates = before * positive / mixture
    moved = mixture * np.exp(-0.1 * (PLACES - 1) ** 2)
    moved /= moved.sum()
    truth = float((moved * rates).sum())
    found = [
        expected(reference(before, 50_000, rng), *day(moved, scores(before), 5_000, rng))
        for _ in range(100)
    ]

    assert np.mean([one.fit_log10_p < -4 for one in found]) > 0.95
    covered = [abs(one.unshifted - truth) < 1.96 * one.unshifted_error for one in found]
    assert 0.86 < np.mean(covered) <= 1
    assert not any(one.low <= truth <= one.high for one in found)


def test_estimate_is_the_fixed_point_of_em() -> None:
    """Two thousand steps of Saerens' EM end at the same prevalence, to 1e-9."""
    rng = np.random.default_rng(33)
    positive, negative = classes()
    t = reference(0.2, 20_000, rng)
    maps = fit_nested_maps(t)
    shares = (0.3 * positive + 0.7 * negative)[np.isin(scores(0.2), t.scores)]
    counts = rng.multinomial(4_000, shares / shares.sum())
    kept = counts > 0
    rates, pi, prior = expit(maps.logits[3]), 0.5, t.prevalence
    for _ in range(2_000):
        hit, miss = rates * pi / prior, (1 - rates) * (1 - pi) / (1 - prior)
        pi = float((counts * hit / (hit + miss)).sum() / counts.sum())

    found = expected(t, t.scores[kept], counts[kept])
    assert found.prevalence == pytest.approx(pi, abs=1e-9)
    assert found.unshifted == pytest.approx((counts * rates).sum() / counts.sum(), abs=1e-12)


def test_scores_beyond_the_reference_go_to_the_ends() -> None:
    """Only lower or only higher scores than any: prevalence 0 or 1, and no fit."""
    t = reference(0.3, 5_000, np.random.default_rng(35))
    low = expected(t, np.array([1e-9, 1e-6]), np.array([50, 50]))
    high = expected(t, np.array([1 - 1e-6, 1 - 1e-9]), np.array([50, 50]))

    assert (low.low, low.prevalence, low.high) == (0.0, 0.0, 0.0)
    assert (high.prevalence, high.high) == (1.0, 1.0)
    assert max(low.fit_log10_p, high.fit_log10_p) < -100


@pytest.mark.parametrize("times", [3, 24])
def test_rows_that_repeat_count_once(times: int) -> None:
    """Every row written several times, with that design effect: interval and fit of the rows once.

    To 1e-9, of sums that are rounded elsewhere.
    """
    rng = np.random.default_rng(37)
    t = reference(0.3, 20_000, rng)
    positive, negative = classes()
    known, counts = day(0.4 * positive + 0.6 * negative, scores(0.3), 3_000, rng)
    repeated = Tally(t.scores, t.counts * times, t.positives * times)
    effects = DesignEffects(times, times, times)
    once = expected(t, known, counts)
    naive = expected(repeated, known, counts * times)
    found = expect_prevalence(repeated, known, counts * times, effects=effects)

    assert found is not None
    assert astuple(found) == pytest.approx(astuple(once), rel=1e-9)
    assert once.high - once.low == pytest.approx(
        math.sqrt(times) * (naive.high - naive.low), rel=0.05
    )


groups = st.tuples(st.floats(0.0, 1.0), st.integers(1, 10**6), st.floats(0, 1))
cells = st.lists(groups, min_size=1, max_size=20, unique_by=lambda group: group[0])


@given(cells, cells)
def test_any_day_is_expected_or_none(
    labelled: list[tuple[float, int, float]], asked: list[tuple[float, int, float]]
) -> None:
    """Whatever reference and day: None or numbers in [0, 1], never an exception."""
    labelled.sort()
    counts = np.array([n for _, n, _ in labelled])
    positives = np.round(counts * [share for *_, share in labelled]).astype(np.int64)
    t = Tally(np.array([s for s, *_ in labelled]), counts, positives)
    found = expect_prevalence(
        t, np.array([s for s, *_ in asked]), np.array([n for _, n, _ in asked])
    )

    if found is not None:
        assert 0 <= found.unshifted <= 1
        assert math.isnan(found.prevalence) or 0 <= found.prevalence <= 1
        assert math.isnan(found.low) or found.low <= found.prevalence <= found.high
        assert math.isnan(found.fit_log10_p) or found.fit_log10_p <= 0


@pytest.mark.parametrize(("statistic", "freedom"), [(0.0, 3), (20.0, 18), (1_000.0, 28)])
def test_tail_equals_scipy(statistic: float, freedom: int) -> None:
    """The logarithm of the chi-square's tail, to 1e-12."""
    other = chi2.logsf(statistic, freedom) / math.log(10)
    assert log10_chi_square_tail(statistic, freedom) == pytest.approx(other, rel=1e-12)
