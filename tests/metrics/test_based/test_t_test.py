"""TCE with the t-test: the published table and its slip, an oracle, bins without a t-test."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit
from scipy.stats import t as student
from scipy.stats import ttest_1samp

from monitor.metrics.binned.binning import Bins, pava, pava_bc, quantile_bins, uniform_bins
from monitor.metrics.core.grid import Floats
from monitor.metrics.core.tally import Tally, tally
from monitor.metrics.test_based.t_test import tce_t
from monitor.metrics.test_based.tce import tce
from tests.support.cases import a_fifth
from tests.support.recorded import gaussian_scores, read_golden

RECIPES = read_golden("tce_cases")["gaussian_datasets"]


def sample(name: str) -> Tally:
    """Draw the paper's two Gaussian classes again and score them with its logistic model."""
    return tally(*gaussian_scores(RECIPES[name])[::-1])


def published_percent(t: Tally, bins: Bins) -> float:
    """Do what Table 11 did: a variance where the standard deviation belongs, in percent."""
    rejected = 0
    for first, last, k, n in zip(
        bins.starts[:-1], bins.starts[1:], bins.positives, bins.counts, strict=True
    ):
        q, variance = t.scores[first:last], (k / n) * (1 - k / n)
        if variance == 0:  # a division by 0, and all of the bin was rejected
            rejected += n
            continue
        p = 2 * student.sf(np.abs(k / n - q) / (variance / np.sqrt(n)), n - 1)
        rejected += t.counts[first:last][p <= 0.05].sum()
    return 100 * rejected / t.total


def test_correct_figure() -> None:
    """The published 37.80 % is 7.35 % with a standard deviation, next to the binomial 7.28 %."""
    t = sample("gda_50_50")
    bins = pava_bc(t, min_size=300, max_size=1_200, tail="reference")

    assert round(published_percent(t, bins), 2) == 37.80
    assert round(100 * tce_t(t, bins).value, 2) == 7.35
    assert round(100 * tce(t, bins).value, 2) == 7.28


def pvalues(outcomes: Floats, scores: Floats) -> Floats:
    """Test every score: SciPy's t-test, or the tail of equal outcomes doubled."""
    if outcomes.min() == outcomes.max():
        same = scores if outcomes[0] == 1 else 1 - scores
        return np.minimum(1.0, 2 * same**outcomes.size)
    return np.array([ttest_1samp(outcomes, q).pvalue for q in scores])


@settings(deadline=None, max_examples=a_fifth(60))
@given(
    seed=st.integers(0, 2**32 - 1),
    total=st.integers(1, 120),
    decimals=st.sampled_from([1, 2, 10]),
    alpha=st.sampled_from([0.05, 0.3, 1e-3, 1e-9, 0.99]),
    shift=st.floats(-4, 4),
)
def test_equals_tests_one_by_one(
    seed: int, total: int, decimals: int, alpha: float, shift: float
) -> None:
    """Every group of every bin is judged as by a test of its own, but for p at alpha itself.

    Those within 1e-9 of alpha may fall either way by rounding.
    """
    rng = np.random.default_rng(seed)
    scores = np.round(expit(rng.normal(shift, 1.5, total)), decimals)
    t = tally(rng.random(total) < 0.8 * scores + 0.05, scores)
    for bins in (pava(t), pava_bc(t, min_size=5, max_size=20), uniform_bins(t, 7)):
        found = tce_t(t, bins, alpha=alpha)

        for b, (first, last) in enumerate(zip(bins.starts[:-1], bins.starts[1:], strict=True)):
            k, n, groups = bins.positives[b], bins.counts[b], t.scores[first:last]
            p = pvalues(np.repeat([1.0, 0.0], [k, n - k]), groups)
            counts = t.counts[first:last]
            surely = counts[p <= alpha * (1 - 1e-9)].sum()
            perhaps = counts[p <= alpha * (1 + 1e-9)].sum()
            (low, high), *more = found.accepted[b]

            assert surely <= found.rejected[b] <= perhaps
            assert 0.0 <= low <= k / n <= high <= 1.0
            assert not more
        assert found.value == found.rejected.sum() / t.total


def test_equal_outcomes_reject_what_makes_them_improbable() -> None:
    """100 negatives reject 1 - .025**(1/100) and above, not every score that is not 0."""
    bound = 1 - 0.025**0.01
    scores = np.array([0.0, 1e-6, bound - 1e-9, bound + 1e-9, 1.0])
    t = Tally(scores, np.full(5, 20), np.zeros(5, int))

    found = tce_t(t, quantile_bins(t, 1))

    assert found.rejected.tolist() == [40]
    np.testing.assert_allclose(found.accepted[0], [[0.0, bound]], rtol=1e-13)
