"""The tally bootstrap: exact draws, naive versions, and intervals that hold what they promise."""

from collections import Counter
from math import comb

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import beta, binom, chisquare, norm
from scipy.stats import t as student

from monitor.metrics.binned.binning import paper_sizes, pava_bc, uniform_bins
from monitor.metrics.binned.ece import ace, ece
from monitor.metrics.core.estimate import Estimate
from monitor.metrics.core.resampling import resamples
from monitor.metrics.core.tally import Tally
from monitor.metrics.intervals.bootstrap import Measure, Method, bootstrap_interval, choose_method
from monitor.metrics.intervals.inversion import height
from monitor.metrics.scores.brier import brier, rbs
from monitor.metrics.scores.corp import corp
from monitor.metrics.scores.discrimination import auc, tjur_r2
from monitor.metrics.smooth.skce import skce
from monitor.metrics.smooth.smooth_ece import smooth_ece
from monitor.metrics.test_based.tce import count_rejected


def prevalence(t: Tally) -> float:
    """Take the share of positives."""
    return t.prevalence


def ece_15(t: Tally) -> float:
    """Take ECE over 15 uniform bins."""
    return ece(uniform_bins(t, 15))


def ace_10(t: Tally) -> float:
    """Take ECE over 10 quantile bins."""
    return ace(t, 10)


def published_tce(t: Tally) -> float:
    """Take TCE with the paper's sizes."""
    smallest, largest = paper_sizes(t.total)
    starts = pava_bc(t, min_size=smallest, max_size=largest).starts
    return int(count_rejected(t.scores, t.counts, t.positives, starts, 0.05).sum()) / t.total


def sample(size: int, *, seed: int, slope: float = 1.0) -> Tally:
    """Draw scores whose logits are normal, rounded to 1/32, with outcomes of a given slope."""
    rng = np.random.default_rng(seed)
    places = np.round(rng.normal(0.0, 1.2, size) * 32).astype(np.int64)
    outcomes = rng.random(size) < expit(slope * (places / 32))
    first = places.min()
    counts, positives = (np.bincount(of, minlength=np.ptp(places) + 1)
                         for of in (places - first, places[outcomes] - first))  # fmt: skip
    seen = np.flatnonzero(counts)
    return Tally(expit((seen + first) / 32), counts[seen], positives[seen])


def probability_of(draw: tuple[int, ...], t: Tally, rates: np.ndarray) -> float:
    """Give the probability of (count, positives) of two groups: multinomial, then binomial."""
    n0, k0, k1 = draw
    total = t.total
    share = t.counts[0] / total
    groups = comb(total, n0) * share**n0 * (1 - share) ** (total - n0)
    return groups * binom.pmf(k0, n0, rates[0]) * binom.pmf(k1, total - n0, rates[1])


@pytest.mark.parametrize("counts", [[1, 2], [15, 20]], ids=["row by row", "group by group"])
def test_resamples_are_multinomial_then_binomial(counts: list[int]) -> None:
    """Every possible resample comes as often as it should: chi-square over 20,000 draws.

    Outcomes expected fewer than five times are counted together.
    """
    t = Tally(np.array([0.2, 0.7]), np.array(counts), np.array([1, 2]))
    rates, rng = np.array([0.3, 0.8]), np.random.default_rng(1)
    seen: Counter[tuple[int, ...]] = Counter()
    for drawn in resamples(t, rates, 20_000, rng=rng):
        n, k = np.zeros(2, int), np.zeros(2, int)
        place = np.searchsorted(t.scores, drawn.scores)
        n[place], k[place] = drawn.counts, drawn.positives
        seen[int(n[0]), int(k[0]), int(k[1])] += 1
        assert n.sum() == t.total

    draws = [
        (n0, k0, k1)
        for n0 in range(t.total + 1)
        for k0 in range(n0 + 1)
        for k1 in range(t.total - n0 + 1)
    ]
    expected = {draw: 20_000 * probability_of(draw, t, rates) for draw in draws}
    common = [draw for draw in draws if expected[draw] >= 5]
    observed = [seen[draw] for draw in common]
    shares = [expected[draw] for draw in common]
    rare = 20_000 - sum(shares)
    if rare > 1e-6:
        observed, shares = [*observed, 20_000 - sum(observed)], [*shares, rare]
    assert sum(observed) == 20_000
    assert chisquare(observed, np.array(shares) * 20_000 / sum(shares)).pvalue > 1e-3


@pytest.mark.parametrize(("n", "rate"), [(119, 0.3), (10_000, 0.9974), (10**6, 0.3)])
def test_outcomes_of_large_groups_are_nearly_binomial(n: int, rate: float) -> None:
    """Of 50,000 draws as many as should lie between 30 quantiles: a chi-squared test.

    The distribution function is off by at most 5.3e-4, which adds about 1 to a statistic of 29
    degrees of freedom. The seed is fixed; a right program fails with probability 1e-4.
    """
    t, rng = Tally(np.array([0.5]), np.array([n]), np.array([0])), np.random.default_rng(4)
    drawn = [int(one.positives[0]) for one in resamples(t, np.array([rate]), 50_000, rng=rng)]

    cuts = np.unique(binom.ppf(np.arange(1, 30) / 30, n, rate))
    expected = 50_000 * np.diff(binom.cdf(cuts, n, rate), prepend=0.0, append=1.0)
    found = np.bincount(np.searchsorted(cuts, drawn), minlength=cuts.size + 1)
    assert chisquare(found, expected).pvalue > 1e-4


def test_plain_intervals_equal_a_naive_version() -> None:
    """The same resamples, written out as a loop, give the same ends."""
    t = sample(500, seed=4)
    rng, rates = np.random.default_rng(4), t.positives / t.counts
    values = np.array([brier(next(resamples(t, rates, 1, rng=rng))) for _ in range(100)])
    centre, reach = 2 * brier(t) - values.mean(), norm.ppf(0.95) * values.std(ddof=1)

    def found(method: Method) -> Estimate:
        rng = np.random.default_rng(4)
        return bootstrap_interval(t, brier, level=0.9, replicates=100, method=method, rng=rng)

    low, high = np.quantile(values, [0.05, 0.95])
    percentile, corrected = found("percentile"), found("bias_corrected")
    assert percentile.low == pytest.approx(low, abs=1e-12)
    assert percentile.high == pytest.approx(high, abs=1e-12)
    assert corrected.low == pytest.approx(centre - reach, abs=1e-12)
    assert corrected.high == pytest.approx(centre + reach, abs=1e-12)


@pytest.mark.parametrize(("n", "k"), [(200, 90), (1_000, 350), (400, 20), (1_000_000, 350_000)])
def test_inversion_equals_clopper_and_pearson(n: int, k: int) -> None:
    """With one score, ECE is the distance of a rate, and inversion its exact interval.

    4,000 resamples: a tail of 2.5 % is known to a tenth, a limit to 3 % of its distance; between
    two worlds it is interpolated, which adds as much again, and rows are whole: 1/n. That is so
    however small the interval is beside the error: of a million rows, 1 part in 150.
    """
    t = Tally(np.array([0.2]), np.array([n]), np.array([k]))
    rng = np.random.default_rng(6)
    found = bootstrap_interval(t, ece_15, replicates=4_000, rng=rng)
    exact = beta.ppf(0.025, k, n - k + 1) - 0.2, beta.ppf(0.975, k + 1, n - k) - 0.2
    if k < 0.2 * n:
        exact = -exact[1], -exact[0]

    gap = abs(k / n - 0.2)
    assert found.low == pytest.approx(exact[0], abs=0.06 * (gap - exact[0]) + 1 / n)
    assert found.high == pytest.approx(exact[1], abs=0.06 * (exact[1] - gap) + 1 / n)


@pytest.mark.parametrize(
    ("measure", "method"),
    [
        (prevalence, "bias_corrected"),
        (brier, "bias_corrected"),
        (rbs, "bias_corrected"),
        (tjur_r2, "bias_corrected"),
        (lambda t: auc(t).value, "bias_corrected"),
        (lambda t: corp(t).discrimination, "bias_corrected"),
        (lambda t: corp(t).miscalibration, "inverted"),
        (ece_15, "inverted"),
        (ace_10, "inverted"),
        (smooth_ece, "inverted"),
        (lambda t: skce(t, bandwidth=0.2).value, "inverted"),
        (published_tce, "inverted_mean"),
    ],
)
@pytest.mark.parametrize("slope", [1.0, 0.7])
def test_the_method_suits_the_measure(measure: Measure, method: str, slope: float) -> None:
    """Errors are inverted, TCE by its mean, the rest corrected for bias; truth does not matter."""
    assert choose_method(sample(3_000, seed=8, slope=slope), measure) == method


def test_an_undefined_measure_is_not_hidden() -> None:
    """Where a resample has one class only, the measure's own error comes through."""
    t = Tally(np.array([0.1, 0.2]), np.array([50, 50]), np.array([0, 1]))
    with pytest.raises(ValueError, match=r"needs both outcomes"):
        bootstrap_interval(t, tjur_r2, method="percentile", rng=np.random.default_rng(1))


@pytest.mark.parametrize("resamples", [10, 20, 49])
def test_few_resamples_are_trusted_as_far_as_they_go(resamples: int) -> None:
    """A further value of the same world lies beyond the height of 2.5 % in 2.5 % of all draws.

    Of 8,000 draws that is 200, give or take 14: within four of these errors. The height is the
    normal quantile of Student's t, to 1 %, or 0.01 near 0.
    """
    drawn = np.random.default_rng(resamples).normal(3.0, 2.0, (8_000, resamples + 1))
    heights = np.array([height(values[1:], values[0]) for values in drawn])
    means, errors = drawn[:, 1:].mean(axis=1), drawn[:, 1:].std(axis=1, ddof=1)
    away = (means - drawn[:, 0]) / (errors * np.sqrt(1.0 + 1.0 / resamples))

    assert heights == pytest.approx(norm.ppf(student.cdf(away, resamples - 1)), rel=0.01, abs=0.01)
    for tail in (heights < norm.ppf(0.025), heights > norm.ppf(0.975)):
        assert abs(tail.sum() - 200) < 4 * 14
