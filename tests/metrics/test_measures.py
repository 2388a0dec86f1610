"""ECE, root Brier score, intercept and null reference against plain formulas and references."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.special import expit, logit
from scipy.stats import binom, chi2

from monitor.metrics.binned.binning import paper_sizes, pava_bc
from monitor.metrics.core.tally import Tally, shift, tally
from monitor.metrics.logistic.intercept import fit_intercept, has_intercept
from monitor.metrics.test_based.null_reference import QUANTILES, tce_null_reference
from monitor.metrics.test_based.tce import tce
from monitor.metrics.test_based.worlds import draw_worlds

inner = st.floats(0.001, 0.999)
tallies = st.lists(st.tuples(inner, st.booleans()), min_size=1, max_size=60).map(
    lambda rows: tally([y for _, y in rows], [s for s, _ in rows])
)


def calibrated(size: int, *, seed: int, delta: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """Draw scores and outcomes of a model that is right but for a prior shift of `delta`."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(-1.0, 1.2, size)
    return expit(logits), rng.random(size) < expit(logits + delta)


@given(tallies, st.floats(-3, 3))
def test_intercept_makes_the_mean_right(t: Tally, delta: float) -> None:
    """After the fitted shift the scores add up to the positives; a bracketing search agrees."""
    moved = shift(t, delta)
    if not has_intercept(moved):
        return
    found = fit_intercept(moved)

    expected = brentq(
        lambda d: moved.counts @ expit(logit(moved.scores) + d) - moved.total_positives, -60, 60
    )
    # The solver stops at steps of 1e-12 in logit; brentq at 2e-12.
    assert found.delta == pytest.approx(expected, abs=1e-10)
    p = shift(moved, found.delta)
    assert p.counts @ p.scores == pytest.approx(moved.total_positives, abs=1e-9)
    information = p.counts @ (p.scores * (1 - p.scores))
    assert found.standard_error == pytest.approx(information**-0.5, rel=1e-9)


@pytest.mark.parametrize(
    ("scores", "outcomes"),
    [([0.2, 0.4], [0, 0]), ([0.2, 0.4], [1, 1]), ([0.0, 1.0], [0, 1]), ([0.3, 1.0], [0, 1])],
)
def test_one_class_has_no_intercept(scores: list[float], outcomes: list[int]) -> None:
    """With one class among the scores inside (0, 1) there is no finite intercept."""
    t = tally(outcomes, scores)

    assert not has_intercept(t)
    with pytest.raises(ValueError, match=r"^a finite intercept needs both outcomes"):
        fit_intercept(t)


few_rows = tally(*calibrated(300, seed=3)[::-1])
many_rows = tally(*calibrated(6_000, seed=3)[::-1])
large_groups = tally(np.zeros(1_600), np.repeat(np.linspace(0.05, 0.95, 40), 40))


@pytest.mark.parametrize("scored", [few_rows, many_rows, large_groups])
def test_null_reference_equals_a_naive_simulation(scored: Tally) -> None:
    """Mean and median agree with worlds drawn, refitted, binned and tested one by one.

    Two independent simulations of 400 worlds: means within four standard errors of their
    difference.
    """
    t = shift(scored, 0.3)
    smallest, largest = paper_sizes(t.total)
    rng = np.random.default_rng(4)
    values = []
    for _ in range(400):
        world = Tally(t.scores, t.counts, rng.binomial(t.counts, t.scores))
        moved = shift(world, fit_intercept(world).delta)
        values.append(tce(moved, pava_bc(moved, min_size=smallest, max_size=largest)).value)

    null = tce_null_reference(
        t, min_size=smallest, max_size=largest, replicates=400, rng=np.random.default_rng(5)
    )

    error = np.std(values) * np.sqrt(2 / 400)
    assert abs(null.mean - np.mean(values)) < 4 * error
    assert abs(null.quantiles[1] - np.median(values)) < 6 * error
    assert list(null.quantiles) == sorted(null.quantiles)
    assert len(null.quantiles) == len(QUANTILES)


@pytest.mark.parametrize(
    ("n", "score"),
    [(1, 0.3), (7, 0.99), (40, 0.4), (41, 0.5), (3_000, 0.9935), (6_500, 0.18), (10**11, 0.5)],
)
def test_drawn_outcomes_are_binomial(n: int, score: float) -> None:
    """The counts of 50,000 worlds follow the binomial distribution, by a chi-squared test.

    The last group is too large to be tabulated. The seed is fixed; a right program fails with
    probability 1e-4 for each case.
    """
    rng, worlds = np.random.default_rng(8), 50_000

    drawn = draw_worlds(rng, np.array([score]), np.array([n]), worlds)[:, 0]

    middle, away = n * score, 8.0 * np.sqrt(n * score * (1.0 - score)) + 8.0
    cuts = np.unique(np.round(np.linspace(middle - away, middle + away, 100)))
    expected = worlds * np.diff(binom.cdf(cuts, n, score), prepend=0.0, append=1.0)
    found = np.bincount(np.searchsorted(cuts, drawn), minlength=cuts.size + 1)
    common = expected > 10
    rare = np.array([found[~common].sum(), max(expected[~common].sum(), 1e-9)])
    statistic = ((found - expected)[common] ** 2 / expected[common]).sum()
    statistic += (rare[0] - rare[1]) ** 2 / rare[1]
    assert chi2.sf(statistic, common.sum()) > 1e-4


def test_certain_outcomes_are_drawn_as_they_are() -> None:
    """A score of 0 never comes true and a score of 1 always, in groups of any size."""
    scores, counts = np.array([0.0, 0.0, 1.0, 1.0]), np.array([1, 10**7, 1, 10**7])

    drawn = draw_worlds(np.random.default_rng(8), scores, counts, 3)

    np.testing.assert_array_equal(drawn, [[0, 0, 1, 10**7]] * 3)
