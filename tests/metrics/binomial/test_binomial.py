"""The exact binomial test and the probabilities it accepts, against five kinds of oracle."""

import math
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from monitor.metrics.binomial.acceptance import accepted_intervals
from monitor.metrics.binomial.binomial import binomial_pvalues
from monitor.metrics.binomial.pmf import log_pmf
from tests.support.cases import a_fifth, some

ALPHAS = (0.05, 0.01, 0.1, 0.001, 1e-9, 0.5, 0.9, 0.999)


def exact_pvalue(k: int, n: int, q: float) -> float:
    """Sum the definition in rational numbers, which do not round."""
    q = Fraction(q)
    masses = [math.comb(n, x) * q**x * (1 - q) ** (n - x) for x in range(n + 1)]
    bound = masses[k] * (1 + Fraction(1, 10**7))
    return float(sum(mass for mass in masses if mass <= bound))


class TestPvalues:
    """The two-sided test itself."""

    @settings(max_examples=a_fifth(200), deadline=None)
    @given(data=st.data(), n=st.integers(1, 40))
    def test_equals_rational_arithmetic(self, data: st.DataObject, n: int) -> None:
        """The p-value is right to 1e-12 relative whatever the probability, however extreme."""
        k = data.draw(st.integers(0, n))
        q = data.draw(st.floats(1e-9, 1.0 - 1e-9) | st.integers(0, n).map(lambda i: i / n))

        assert binomial_pvalues(k, n, q) == pytest.approx(exact_pvalue(k, n, q), rel=1e-12, abs=0)

    @pytest.mark.parametrize("q", [1e-300, 1e-30, 1e-17, 2.0**-60])
    def test_close_to_zero(self, q: float) -> None:
        """Next to 0 nothing is lost: P(X >= 1) = 1 - (1-q)^n and P(X >= 2) ~ 45 q^2 for n = 10."""
        assert binomial_pvalues(1, 10, q) == pytest.approx(10 * q, rel=1e-13)
        assert binomial_pvalues(2, 10, q) == pytest.approx(45 * q * q, rel=1e-13)
        assert binomial_pvalues(0, 10, q) == 1.0

    @settings(max_examples=a_fifth(150), deadline=None)
    @given(data=st.data(), n=st.integers(1, 3000), alpha=st.sampled_from(ALPHAS))
    def test_decides_like_scipy(self, data: st.DataObject, n: int, alpha: float) -> None:
        """Decisions are scipy's, except where its own p-value is within 1e-9 of alpha.

        Probabilities lie anywhere and 1e-10 relative beside the bounds of the accepted set,
        where its saw teeth jump; between 0 and 1e-100 scipy overflows.
        """
        k = data.draw(st.integers(0, n))
        bounds = accepted_intervals(k, n, alpha=alpha).ravel()
        beside = np.concatenate([bounds * (1 - 1e-10), bounds * (1 + 1e-10)])
        anywhere = data.draw(st.lists(st.floats(1e-100, 1) | st.just(0.0), min_size=3, max_size=3))
        q = np.clip(np.concatenate([beside, anywhere]), 0.0, 1.0)
        theirs = np.array([binomtest(k, n, x).pvalue for x in q])
        clear = np.abs(theirs - alpha) > 1e-9 * alpha

        ours = binomial_pvalues(k, n, q)

        np.testing.assert_array_equal((ours <= alpha)[clear], (theirs <= alpha)[clear])

    def test_extremes(self) -> None:
        """A probability of 0 or 1 explains one count only."""
        assert binomial_pvalues([0, 1, 4, 5], 5, 0.0).tolist() == [1, 0, 0, 0]
        assert binomial_pvalues([0, 1, 4, 5], 5, 1.0).tolist() == [0, 0, 0, 1]

    def test_neighbours_that_tie_beyond_4e7_trials(self) -> None:
        """Where a neighbour of k is likelier by less than 1e-7, it still counts as a tie."""
        n, k = 4 * 10**9, 2 * 10**9
        q = (k + 10) / n  # P(k+1)/P(k) is about 1 + 10 * 4/n = 1 + 1e-8
        x = np.arange(k - 40, k + 60)
        log_ratio = np.array([log_pmf(int(i), n, q, 1 - q) for i in x]) - log_pmf(k, n, q, 1 - q)
        missing = np.exp(log_pmf(k, n, q, 1 - q) + log_ratio[log_ratio > math.log1p(1e-7)]).sum()

        assert binomial_pvalues(k, n, q) == pytest.approx(1.0 - missing, abs=1e-9)

    def test_ten_million_trials(self) -> None:
        """At ten million trials the p-value is scipy's to 1e-9 relative."""
        n, k, q = 10**7, 10**6, 0.1004

        assert binomial_pvalues(k, n, q) == pytest.approx(binomtest(k, n, q).pvalue, rel=1e-9)

    def test_broadcasts(self) -> None:
        """Arguments broadcast like numpy's, to the broadcast shape, and scalars give a scalar."""
        table = binomial_pvalues(np.arange(3)[:, None], 2, [0.1, 0.5])

        assert table.shape == (3, 2)
        assert binomial_pvalues(1, 2, 0.5).shape == ()
        assert table[1, 1] == binomial_pvalues(1, 2, 0.5)


@cache
def pvalues_on(n: int, places: int) -> np.ndarray:
    """Test every count of n trials on a grid of probabilities, once for all levels."""
    return np.asarray(binomial_pvalues(np.arange(n + 1)[:, None], n, np.linspace(0.0, 1.0, places)))


class TestAcceptedIntervals:
    """The inverted test."""

    @pytest.mark.parametrize("alpha", [0.05, 0.01, 0.3])
    def test_exhaustive_grid(self, alpha: float) -> None:
        """For counts of up to 60 trials the set agrees with the test on a grid and at its bounds.

        Grid points within 1e-9 relative of a bound are left out; at each inner bound the
        decision must differ between 2e-9 below and 2e-9 above.
        """
        grid = np.linspace(0.0, 1.0, 1009)
        for n in some(range(1, 61), 3):
            pvalues = pvalues_on(n, grid.size)
            for k in range(n + 1):
                found = accepted_intervals(k, n, alpha=alpha)
                bounds = found.ravel()
                inside = np.searchsorted(bounds, grid, side="right") % 2 == 1
                inside |= grid == bounds[-1]
                clear = np.abs(grid[:, None] - bounds).min(axis=1) > 1e-9 * grid
                np.testing.assert_array_equal((pvalues[k] > alpha)[clear], inside[clear])

                inner = bounds[(bounds > 0) & (bounds < 1)]
                below = binomial_pvalues(k, n, inner * (1 - 2e-9)) > alpha
                above = binomial_pvalues(k, n, inner * (1 + 2e-9)) > alpha
                assert (below != above).all(), (k, n)
