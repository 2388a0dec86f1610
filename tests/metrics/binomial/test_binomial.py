"""The exact binomial test and the probabilities it accepts, against five kinds of oracle."""

import math
from decimal import Decimal, getcontext, localcontext
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from scipy.special import ndtr
from scipy.stats import binom, binomtest

from monitor.metrics.binomial.acceptance import accepted_intervals
from monitor.metrics.binomial.binomial import (
    NEIGHBOURS_TIE,
    binomial_pvalues,
    pvalue,
    pvalue_bounds,
)
from monitor.metrics.binomial.pmf import MANY, deviance, log_pmf, lower_tail
from monitor.metrics.binomial.pvalue_curve import (
    boundary,
    ceiling,
    on_piece,
    tails,
    tie,
    turning_point,
)
from tests.support.cases import a_fifth, some
from tests.support.recorded import read_golden

ALPHAS = (0.05, 0.01, 0.1, 0.001, 1e-9, 0.5, 0.9, 0.999)


def golden(source: str) -> dict[str, Any]:
    """Read the reduced golden file or the full one."""
    return dict(read_golden({"reduced": "tce_cases", "full": "tce_reference"}[source]))


def exact_pvalue(k: int, n: int, q: float) -> float:
    """Sum the definition in rational numbers, which do not round."""
    q = Fraction(q)
    masses = [math.comb(n, x) * q**x * (1 - q) ** (n - x) for x in range(n + 1)]
    bound = masses[k] * (1 + Fraction(1, 10**7))
    return float(sum(mass for mass in masses if mass <= bound))


@pytest.mark.parametrize("source", ["reduced", "full"])
class TestGolden:
    """Numbers recorded from scipy and from an earlier program."""

    def test_pvalues(self, source: str) -> None:
        """All recorded p-values are reproduced to 1e-9 relative."""
        rows = golden(source)["pvalues"]["rows"]
        k, n, q, expected = map(np.array, zip(*rows, strict=True))

        assert len(rows) == 190
        np.testing.assert_allclose(binomial_pvalues(k, n, q), expected, rtol=1e-9, atol=0)

    def test_accepted_intervals(self, source: str) -> None:
        """All recorded acceptance sets have the same number of intervals and the same bounds."""
        rows = golden(source)["acceptance_sets"]["rows"]

        assert len(rows) == 31
        for row in rows:
            got = accepted_intervals(row["k"], row["n"], alpha=row["alpha"])
            np.testing.assert_allclose(got, row["accept"], rtol=1e-9, atol=0, err_msg=str(row))


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

    @settings(max_examples=a_fifth(200), deadline=None)
    @given(data=st.data(), n=st.integers(1, 10**6))
    def test_mirror_image(self, data: st.DataObject, n: int) -> None:
        """Swapping successes with failures and q with 1 - q changes nothing.

        The probability is a multiple of 2**-30, so that 1 - q is exact.
        """
        k = data.draw(st.integers(0, n))
        q = data.draw(st.integers(0, 2**30)) / 2**30

        mirrored = binomial_pvalues(n - k, n, 1 - q)

        assert binomial_pvalues(k, n, q) == pytest.approx(mirrored, rel=1e-11, abs=0)

    @settings(max_examples=a_fifth(100), deadline=None)
    @given(data=st.data(), n=st.integers(1, 10**8))
    def test_observed_rate_is_never_surprising(self, data: st.DataObject, n: int) -> None:
        """At q = k/n the observed count is the likeliest, so the p-value is exactly 1."""
        k = data.draw(st.integers(0, n) | st.integers(0, min(n, 5)))

        assert binomial_pvalues(k, n, k / n) == 1.0

    def test_extremes(self) -> None:
        """A probability of 0 or 1 explains one count only."""
        assert binomial_pvalues([0, 1, 4, 5], 5, 0.0).tolist() == [1, 0, 0, 0]
        assert binomial_pvalues([0, 1, 4, 5], 5, 1.0).tolist() == [0, 0, 0, 1]

    def test_symmetric_pair_ties(self) -> None:
        """At q = 1/2 the count n - k is as likely as k and always belongs to the tail."""
        for n in (7, 30, 1001, 100_001):
            k = n // 2 - int(math.sqrt(n)) // 2

            twice = 2 * binom.cdf(k, n, 0.5)

            assert binomial_pvalues(k, n, 0.5) == pytest.approx(twice, rel=1e-10)

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

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ((1.5, 3, 0.5), "successes must be integers"),
            ((1, 3.0, 0.5), "trials must be integers"),
            ((True, 3, 0.5), "successes must be integers"),
            ((0, 0, 0.5), "trials must be at least 1, got 0"),
            ((4, 3, 0.5), "successes must be between 0 and the trials, got 4"),
            ((-1, 3, 0.5), "successes must be between 0 and the trials, got -1"),
            ((1, 3, [0.5, 1.1]), r"probabilities .* got 1.1 \(1 of 2\)"),
            ((1, 3, -1e-9), "probabilities must be numbers in"),
            ((1, 3, math.nan), "probabilities .* got nan"),
        ],
    )
    def test_refuses(self, arguments: tuple[object, ...], message: str) -> None:
        """Impossible counts and probabilities are refused, and the message names the first."""
        with pytest.raises(ValueError, match=message):
            binomial_pvalues(*arguments)


class TestLogPmf:
    """The probabilities under the test."""

    def test_equals_rational_arithmetic(self) -> None:
        """Log probabilities are right to 1e-14 absolute on the scale of their own size."""
        for n in (1, 2, 11, 12, 13, 60):
            for q in (1e-6, 0.03, 0.3, 0.5, 0.75, 1 - 2.0**-20):
                for x in range(n + 1):
                    exact = math.comb(n, x) * Fraction(q) ** x * (1 - Fraction(q)) ** (n - x)
                    expected = math.log(exact.numerator) - math.log(exact.denominator)
                    scale = max(1.0, math.log(exact.denominator))

                    assert abs(log_pmf(x, n, q, 1 - q) - expected) < 1e-14 * scale


class TestTails:
    """The sums of probabilities under the test."""

    @pytest.mark.parametrize("q", [0.5, 0.03125, 0.96875])
    @pytest.mark.parametrize("n", [300, 2_000, 100_000, 5_000_000])
    def test_equals_forty_digits(self, n: int, q: float) -> None:
        """A tail over its last term is right to 2e-14, summed or by the fraction.

        Both are right to a few roundings times the mean number of terms; q and 1 - q are exact.
        """
        deviation = math.sqrt(n * q * (1 - q))
        for k in {max(int(n * q - z * deviation), 0) for z in (0.0, 0.5, 2.0, 6.0)}:
            with localcontext(getcontext(), prec=40):
                term = total = Decimal(1)
                for x in range(k, 0, -1):
                    term *= x * Decimal(1 - q) / (Decimal(n - x + 1) * Decimal(q))
                    total += term
                    if term < total * Decimal("1e-30"):
                        break

            found = lower_tail(k, n, q, 1 - q) / math.exp(log_pmf(k, n, q, 1 - q))

            assert found == pytest.approx(float(total), rel=2e-14)

    def test_sum_and_fraction_meet(self) -> None:
        """Where one way hands over to the other, the tail divided by its neighbour still agrees."""
        n, q = 10_000, 0.0625
        k = int(MANY / (1 - q))
        for last in (k, k + 1):
            expected = lower_tail(last - 1, n, q, 1 - q) + math.exp(log_pmf(last, n, q, 1 - q))

            assert lower_tail(last, n, q, 1 - q) == pytest.approx(expected, rel=1e-13)

    def test_deviance_bounds_the_tail(self) -> None:
        """The inequality by which probabilities are accepted holds: never more than the tail."""
        for n in (2, 3, 10, 41, 1_000):
            for q in (1e-6, 0.02, 0.3, 0.5, 0.75, 0.999):
                k = np.arange(1, math.ceil(n * q))
                deviances = np.array([deviance(x, n, q, 1 - q) for x in k.tolist()])

                assert (ndtr(-np.sqrt(2 * deviances)) <= binom.cdf(k, n, q) * (1 + 1e-12)).all()


class TestPvalueBounds:
    """What is known of a p-value without a sum."""

    def test_hold_for_every_small_count(self) -> None:
        """Each count of up to 40 trials, at probabilities all over and next to 0 and 1."""
        probabilities = [*np.linspace(0.004, 0.996, 125).tolist(), 1e-9, 1 - 1e-9, 0.0, 1.0]
        for n in (1, 2, 3, 5, 12, 40):
            for k in range(n + 1):
                for q in probabilities:
                    least, most = pvalue_bounds(k, n, q)

                    assert least * (1 - 1e-12) <= pvalue(k, n, q) <= most * (1 + 1e-12)

    @given(
        n=st.integers(50, NEIGHBOURS_TIE),
        q=st.floats(1e-7, 1 - 1e-7),
        away=st.floats(-8, 8),
    )
    def test_hold_and_close_in(self, n: int, q: float, away: float) -> None:
        """With many trials they lie as near as one more outcome moves a tail.

        One outcome is 1/d standard deviations; at z the logarithm of a normal tail falls by at
        most z + 1 for each of them, and each side has one, or two where it rounds.
        """
        deviation = math.sqrt(n * q * (1 - q))
        k = round(min(max(n * q + away * deviation, 0), n))

        least, most = pvalue_bounds(k, n, q)

        assert least * (1 - 1e-11) <= pvalue(k, n, q) <= most * (1 + 1e-11)
        if deviation > 100 and abs(k - n * q) / deviation > 1:
            assert math.log(most / least) < 4 * (abs(away) + 1) / deviation

    def test_say_nothing_where_nothing_is_known(self) -> None:
        """At the ends of the count, and with so many trials that neighbours tie."""
        assert pvalue_bounds(0, 50, 0.1) == (0.0, 1.0)
        assert pvalue_bounds(50, 50, 0.9) == (0.0, 1.0)
        assert pvalue_bounds(20, NEIGHBOURS_TIE + 1, 1e-6) == (0.0, 1.0)


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

    def test_share_of_gaps(self) -> None:
        """About 3 % of all counts up to n = 200 accept more than one interval at alpha = .05."""
        sets = [len(accepted_intervals(k, n)) for n in range(1, 201) for k in range(n + 1)]

        assert set(sets) == {1, 2}
        assert 0.025 < np.mean(np.array(sets) > 1) < 0.035

    @settings(max_examples=a_fifth(200), deadline=None)
    @given(data=st.data(), n=st.integers(1, 10**5), alpha=st.floats(1e-6, 0.999))
    def test_mirror_image(self, data: st.DataObject, n: int, alpha: float) -> None:
        """The set of n - k is the set of k reflected about 1/2."""
        k = data.draw(st.integers(0, n))

        mirrored = 1.0 - accepted_intervals(n - k, n, alpha=alpha)[::-1, ::-1]

        found = accepted_intervals(k, n, alpha=alpha)
        np.testing.assert_allclose(found, mirrored, rtol=0, atol=1e-11)

    @settings(max_examples=a_fifth(200), deadline=None)
    @given(data=st.data(), n=st.integers(1, 10**5), alpha=st.floats(1e-6, 0.5))
    def test_shrinks_as_alpha_grows(self, data: st.DataObject, n: int, alpha: float) -> None:
        """Intervals are sorted and disjoint, hold k/n, and a larger alpha accepts less."""
        k = data.draw(st.integers(0, n))
        wide = accepted_intervals(k, n, alpha=alpha)
        narrow = accepted_intervals(k, n, alpha=1.7 * alpha)

        assert (np.diff(wide.ravel()) > 0).all()
        for intervals in (wide, narrow):
            assert ((intervals[:, 0] <= k / n) & (k / n <= intervals[:, 1])).any()
        for low, high in narrow:
            assert ((wide[:, 0] <= low) & (high <= wide[:, 1])).any()

    def test_bounds_move_with_the_count(self) -> None:
        """One more success moves the outermost accepted probabilities up, never down."""
        for n in (9, 40, 117):
            sets = [accepted_intervals(k, n) for k in range(n + 1)]

            assert (np.diff([s[0, 0] for s in sets]) >= 0).all()
            assert (np.diff([s[-1, 1] for s in sets]) >= 0).all()

    def test_certain_counts_accept_certainty(self) -> None:
        """No success accepts 0 and only successes accept 1; any other count accepts neither."""
        for n in (1, 5, 300):
            ends = [accepted_intervals(k, n)[[0, -1], [0, 1]] for k in range(n + 1)]

            assert [low == 0.0 for low, _ in ends] == [k == 0 for k in range(n + 1)]
            assert [high == 1.0 for _, high in ends] == [k == n for k in range(n + 1)]

    @pytest.mark.parametrize(
        ("successes", "trials", "alpha", "message"),
        [
            (3, 2, 0.05, "got 3 of 2"),
            (-1, 2, 0.05, "got -1 of 2"),
            (0, 0, 0.05, "got 0 of 0"),
            (1, 2, 0.0, "alpha must be in"),
            (1, 2, 1.0, "alpha must be in"),
            (1, 2, math.nan, "alpha must be in"),
        ],
    )
    def test_refuses(self, successes: int, trials: int, alpha: float, message: str) -> None:
        """Impossible counts and levels are refused."""
        with pytest.raises(ValueError, match=message):
            accepted_intervals(successes, trials, alpha=alpha)

    def test_refuses_fractions(self) -> None:
        """A fractional count has no exact binomial test."""
        with pytest.raises(TypeError):
            accepted_intervals(1.5, 3)


class TestPieces:
    """The facts that make the search rigorous."""

    def test_boundaries_are_sums_of_logs(self) -> None:
        """Every boundary equals the cumulative mean of log(i/(n-i+1)), to 1e-12."""
        for k, n in [(0, 1), (0, 40), (7, 40), (39, 40), (3, 10_000), (5_000, 10_000)]:
            i = np.arange(k + 1, n + 1)
            means = (np.cumsum(np.log(i / (n - i + 1))) + math.log1p(1e-7)) / (i - k)

            found = [boundary(k, j, n) for j in range(k + 1, n + 1)]

            np.testing.assert_allclose(found, means, rtol=0, atol=1e-12)

    def test_turning_point_is_the_minimum(self) -> None:
        """On its piece's formula the p-value is least where the closed form says."""
        for k, j, n in [(0, 1, 9), (1, 8, 30), (1, 9, 30), (20, 61, 100), (98, 99, 100)]:
            turn = turning_point(k, j, n)
            low, high = turn - 3, turn + 3

            found = minimize_scalar(
                lambda theta, k=k, j=j, n=n: on_piece(k, j, n, theta), bounds=(low, high)
            )

            assert on_piece(k, j, n, turn) <= found.fun + 1e-14

    def test_floor_and_ceiling(self) -> None:
        """The floor falls from piece to piece, and the ceiling bounds everything after it."""
        for n in range(2, 41):
            for k in range(n):
                pieces = range(k + 1, n + 1)
                floors = [on_piece(k, j, n, turning_point(k, j, n)) for j in pieces]
                starts = [boundary(k, j, n) for j in pieces]
                ends = [on_piece(k, j, n, boundary(k, j + 1, n)) for j in pieces]
                nears = [tails(k, j, n, s)[0] for j, s in zip(pieces, starts, strict=True)]
                ties = [tie(k, n, s) for s in starts]
                tops = np.maximum(
                    ends, [on_piece(k, j, n, s) for j, s in zip(pieces, starts, strict=True)]
                )
                ceilings = [
                    ceiling(j, n, boundary(k, j + 1, n), near, tied)
                    for j, near, tied in zip(pieces, nears, ties, strict=True)
                ]
                rest = np.maximum.accumulate(tops[::-1])[::-1]

                assert (np.diff(floors) <= 1e-15).all()
                assert (np.diff(ceilings) <= 1e-15).all()
                assert (rest <= np.array(ceilings) * (1 + 1e-12)).all(), (k, n)
