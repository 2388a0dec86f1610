"""The test-based calibration error: recorded cases, the paper's table, and an oracle."""

import math
import pickle
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from scipy.special import expit, logit

from monitor.metrics.binned.binning import Bins, pava, pava_bc, quantile_bins, uniform_bins
from monitor.metrics.binomial.acceptance import (
    UNDECIDED,
    acceptance,
    accepted_intervals,
    significance,
)
from monitor.metrics.binomial.binomial import binomial_pvalues
from monitor.metrics.core.grid import Floats, Ints
from monitor.metrics.core.tally import Tally, tally
from monitor.metrics.test_based.tce import (
    FEW_GROUPS,
    RELATIVE_DOUBT,
    count_rejected,
    rejected_per_bin,
    tce,
)
from tests.support.cases import a_fifth
from tests.support.recorded import bins_at, gaussian_scores, read_golden

# Large data sets are generated again from their seed.
GOLDEN = read_golden("tce_cases")


def recorded_sample(name: str) -> tuple[Floats, Ints]:
    """Give the scores and outcomes of a recorded data set."""
    recipes = GOLDEN["gaussian_datasets"]
    if name in recipes:
        scores, outcomes = gaussian_scores(recipes[name])
        # A different stream would make every comparison below meaningless.
        assert outcomes.sum() == recipes[name]["positives"]
        assert math.fsum(scores) == pytest.approx(recipes[name]["sum_p"], abs=1e-8)
        return scores, outcomes
    data = GOLDEN["datasets"][name]
    return np.array(data["p"]), np.array(list(data["y"]), int)


def recorded_bins(t: Tally, case: dict[str, Any]) -> Bins:
    """Bin as the case did."""
    if case["strategy"] == "pavabc":
        return pava_bc(t, min_size=case["n_min"], max_size=case["n_max"], tail="reference")
    if case["strategy"] == "pava":
        return pava(t)
    if case["strategy"] == "quantile":
        return quantile_bins(t, case["n_bin"])
    # Its borders are those of np.linspace, of which that at 0.3 lies above 0.3; ours are decimals.
    borders = np.linspace(0.0, 1.0, case["n_bin"] + 1)[:-1]
    return bins_at(t, np.searchsorted(t.scores, borders))


def reject_one_by_one(t: Tally, bins: Bins, alpha: float) -> Ints:
    """Test every prediction of every bin: the plain oracle."""
    return np.array(
        [
            int(t.counts[a:b][binomial_pvalues(k, n, t.scores[a:b]) <= alpha].sum())
            for a, b, k, n in zip(
                bins.starts[:-1], bins.starts[1:], bins.positives, bins.counts, strict=True
            )
        ]
    )


class TestRecordedCases:
    """Outputs of the reference program on our data."""

    @pytest.mark.parametrize("case", GOLDEN["cases"], ids=lambda case: str(case["id"]))
    def test_case(self, case: dict[str, Any]) -> None:
        """A case without ties in the scores is reproduced, bin by bin, as exact integers.

        Uniform bins without a prediction, which the reference lists with mean null, are dropped
        here. With ties the reference may split equal scores between bins and we never do;
        then the bins that both have in common must reject the same number, and
        every decision must be that of the test.
        """
        scores, outcomes = recorded_sample(case["dataset"])
        t = tally(outcomes, scores)
        bins = recorded_bins(t, case)
        out = case["out"]
        filled = np.array(out["n"]) > 0
        theirs = {key: np.array(out[key])[filled] for key in ("n", "k", "rejects")}

        got = tce(t, bins, alpha=case["alpha"])

        np.testing.assert_array_equal(got.rejected, reject_one_by_one(t, bins, case["alpha"]))
        assert got.value == got.rejected.sum() / t.total
        if t.scores.size == t.total or case["strategy"] == "uniform":
            np.testing.assert_array_equal(bins.counts, theirs["n"])
            np.testing.assert_array_equal(bins.positives, theirs["k"])
            np.testing.assert_array_equal(got.rejected, theirs["rejects"])
            assert 100 * got.value == pytest.approx(out["tce"], rel=1e-12, abs=1e-12)
            for key, ours in (("mean_p", bins.mean_scores), ("mean_y", bins.rates)):
                if key in out:
                    expected = np.array(out[key], float)[filled]
                    np.testing.assert_allclose(ours, expected, rtol=0, atol=1e-12)
        else:
            ours = spans(bins.counts, bins.positives, got.rejected)
            assert all(
                rejected == ours.get(span, rejected)
                for span, rejected in spans(*theirs.values()).items()
            )

    def test_paper_tail(self) -> None:
        """With the paper's own tail the bins are those of a literal Algorithm 2, as integers."""
        rows = read_golden("tce_paper_tail")["rows"]

        assert len(rows) == 3
        for row in rows:
            t = tally(*recorded_sample(row["dataset"])[::-1])
            bins = pava_bc(t, min_size=row["n_min"], max_size=row["n_max"], tail="paper")
            assert bins.counts.tolist() == row["n"]
            assert bins.positives.tolist() == row["k"]


def spans(
    counts: npt.ArrayLike, positives: npt.ArrayLike, rejected: npt.ArrayLike
) -> dict[tuple[int, int, int], int]:
    """Index rejected counts by what identifies a bin: its first and last prediction, positives."""
    ends = np.cumsum(counts).tolist()
    firsts = [0, *ends[:-1]]
    keys = zip(firsts, ends, np.asarray(positives).tolist(), strict=True)
    return dict(zip(keys, np.asarray(rejected).tolist(), strict=True))


def piece_boundaries(k: int, n: int) -> Floats:
    """Give every probability where the p-value of k of n jumps, from cumulated logs."""

    def above(k: int) -> Floats:
        i = np.arange(k + 1, n + 1)
        return expit((np.cumsum(np.log(i / (n - i + 1))) + math.log1p(1e-7)) / (i - k))

    return np.concatenate([above(k), 1.0 - above(n - k)])


def beside(places: Floats) -> Floats:
    """Put scores on, and ever closer below and above, the given places."""
    steps = np.array([0.0, 1e-15, 1e-12, 0.9e-9, 1.1e-9, 1e-6])
    moved = (places[:, None] * (1 + np.concatenate([-steps, steps]))).ravel()
    scores = np.concatenate([moved, np.nextafter(places, 0.0), np.nextafter(places, 1.0)])
    return np.unique(np.clip(scores, 0.0, 1.0))


def rejected_in_one_bin(scores: Floats, counts: Ints, k: int, n: int, alpha: float) -> int:
    """Run the compiled count on one bin whose k and n need not be those of its scores."""
    starts = np.array([0, scores.size])
    one = rejected_per_bin(scores, counts, starts, np.array([n]), np.array([k]), alpha)
    return int(one[0])


class TestDecisions:
    """Every decision is that of the test, wherever the scores lie."""

    @settings(max_examples=a_fifth(400), deadline=None)
    @given(data=st.data(), n=st.integers(1, 3000), seed=st.integers(0, 2**32 - 1))
    def test_adversarial_scores(self, data: st.DataObject, n: int, seed: int) -> None:
        """Scores at and beside bounds and jumps, at 0, 1 and k/n, alone or in any company."""
        k = data.draw(st.integers(0, n) | st.integers(0, min(n, 4)))
        alpha = data.draw(
            st.sampled_from([0.05, 0.01, 0.1, 0.001, 0.5, 0.95, 1e-12]) | st.floats(1e-6, 0.9999)
        )
        rng = np.random.default_rng(seed)
        jumps = piece_boundaries(k, n)
        bounds = accepted_intervals(k, n, alpha=alpha).ravel()
        near_bounds = jumps[np.abs(jumps[:, None] - bounds).argmin(axis=0)]
        places = np.concatenate([bounds, near_bounds, rng.choice(jumps, 5), [k / n, 0.0, 1.0]])
        pool = np.union1d(beside(places), rng.random(10))
        low, high = np.sort(rng.choice(pool, 2))
        for scores in (pool, pool[(pool >= low) & (pool <= high)], rng.choice(pool, 1)):
            counts = rng.integers(0, 4, scores.size)  # resampling leaves some groups empty
            rejects = binomial_pvalues(k, n, scores) <= alpha

            found = rejected_in_one_bin(scores, counts, k, n, alpha)

            assert found == counts[rejects].sum()

    @pytest.mark.parametrize("distance", [0.0, 1e-15, -1e-15, 5e-10, -5e-10, 2e-9, -2e-9])
    def test_alpha_touches_a_piece(self, distance: float) -> None:
        """A level at the very bottom of a tooth of the saw is left to the test itself."""
        k, n = 1, 30
        bottom = minimize_scalar(
            lambda q: float(binomial_pvalues(k, n, q)), bounds=(0.1633, 0.177), method="bounded",
            options={"xatol": 1e-10},
        )  # fmt: skip
        alpha = bottom.fun * (1 + distance)
        scores = np.unique(np.concatenate([np.linspace(0.16, 0.18, 2001), beside(bottom.x[None])]))
        rejects = binomial_pvalues(k, n, scores) <= alpha
        _, verdicts = acceptance(k, n, significance(alpha, RELATIVE_DOUBT), 0.0, 1.0)

        found = rejected_in_one_bin(scores, np.ones(scores.size, np.int64), k, n, alpha)

        assert (UNDECIDED in verdicts) == (abs(distance) < 1e-9)
        assert found == rejects.sum()

    @settings(max_examples=a_fifth(150), deadline=None)
    @given(
        seed=st.integers(0, 2**32 - 1),
        total=st.integers(1, 400),
        decimals=st.sampled_from([1, 2, 10]),
        alpha=st.sampled_from([0.05, 0.3, 0.001, 0.99]),
        shift=st.floats(-8, 8),
    )
    def test_any_tally_and_bins(
        self, seed: int, total: int, decimals: int, alpha: float, shift: float
    ) -> None:
        """Tied or not, rare or common: every way to bin gives the oracle's counts."""
        rng = np.random.default_rng(seed)
        scores = np.round(expit(rng.normal(shift, 1.5, total)), decimals)
        t = tally(rng.random(total) < 0.8 * scores + 0.05, scores)
        small = rng.integers(0, total + 1)
        for bins in (
            pava(t),
            pava_bc(t, min_size=small, max_size=small + rng.integers(0, total)),
            quantile_bins(t, 7),
            uniform_bins(t, 7),
        ):
            expected = reject_one_by_one(t, bins, alpha)
            got = tce(t, bins, alpha=alpha)
            np.testing.assert_array_equal(got.rejected, expected)
            np.testing.assert_array_equal(
                count_rejected(t.scores, t.counts, t.positives, bins.starts, alpha), expected
            )

    @settings(max_examples=a_fifth(60), deadline=None)
    @given(
        seed=st.integers(0, 2**32 - 1),
        total=st.integers(1, 1_000),
        decimals=st.sampled_from([1, 2, 4, 17]),
        alpha=st.sampled_from([0.05, 0.3, 0.001]),
        shift=st.floats(-8, 8),
    )
    def test_rows_are_their_tally(
        self, seed: int, total: int, decimals: int, alpha: float, shift: float
    ) -> None:
        """Tied or not, in bins of any sizes: rows decide as their tally does, bit for bit."""
        rng = np.random.default_rng(seed)
        scores = np.round(expit(rng.normal(shift, 1.5, total)), decimals)
        outcomes = rng.random(total) < 0.8 * scores + 0.05
        smallest = int(rng.integers(0, total + 1) * rng.random() ** 4)
        limits = smallest, int(smallest + rng.integers(0, total))
        t = tally(outcomes, scores)
        bins = pava_bc(t, min_size=limits[0], max_size=limits[1])

        expected = tce(t, bins, alpha=alpha)

        for sample in (t, (outcomes, scores)):
            found = tce(sample, sizes=lambda _: limits, alpha=alpha)
            assert found.value == expected.value
            np.testing.assert_array_equal(found.rejected, expected.rejected)
            for here, there in zip(found.accepted, expected.accepted, strict=True):
                np.testing.assert_array_equal(here, there)

    def test_large_bins(self) -> None:
        """A hundred thousand scores in bins of thousands decide like the oracle."""
        rng = np.random.default_rng(3)
        for location in (0.0, -6.0):
            scores = expit(rng.normal(location, 1.0, 100_000))
            t = tally(rng.random(scores.size) < 1.05 * scores, scores)
            bins = pava_bc(t, min_size=5_000, max_size=20_000)

            expected = reject_one_by_one(t, bins, 0.05)

            assert 0 < expected.sum() < t.total
            np.testing.assert_array_equal(tce(t, bins).rejected, expected)

    @settings(max_examples=a_fifth(150), deadline=None)
    @given(
        seed=st.integers(0, 2**32 - 1),
        groups=st.integers(1, FEW_GROUPS + 2),
        rows=st.integers(2, 2_000_000),
        level_logit=st.floats(-7, 7),
        spread=st.floats(0.01, 6),
    )
    def test_few_groups_of_many_rows(
        self, seed: int, groups: int, rows: int, level_logit: float, spread: float
    ) -> None:
        """A bin of a stored tally: few scores, so many rows that bounds decide most of them."""
        rng = np.random.default_rng(seed)
        k = int(rng.binomial(rows, expit(level_logit)))
        deviation = 1 / math.sqrt(max(k * (1 - k / rows), 1.0))  # of the observed logit, about
        middle = logit((k + 0.5) / (rows + 1))
        scores = np.unique(expit(middle + deviation * rng.normal(0, spread, groups)))
        counts = rng.integers(0, 4, scores.size)
        rejects = binomial_pvalues(k, rows, scores) <= 0.05

        assert rejected_in_one_bin(scores, counts, k, rows, 0.05) == counts[rejects].sum()


class TestTce:
    """The result and its border."""

    def test_accepted_belong_to_bins(self) -> None:
        """There is one set of intervals for each bin, and scores outside it are the rejected."""
        t = tally(*recorded_sample("short_tail_n1200")[::-1])
        bins = quantile_bins(t, 7)

        got = tce(t, bins, alpha=0.1)

        assert len(got.accepted) == 7
        for b, intervals in enumerate(got.accepted):
            scores = t.scores[bins.starts[b] : bins.starts[b + 1]]
            inside = np.zeros(scores.size, bool)
            for low, high in intervals:
                inside |= (scores >= low) & (scores <= high)
            assert np.count_nonzero(~inside) == got.rejected[b]

    def test_p_equal_to_alpha_rejects(self) -> None:
        """The level is inclusive: one failure in one trial at q = 3/4 has p = 1/4 exactly."""
        t = Tally(np.array([0.75]), np.array([1]), np.array([0]))
        bins = quantile_bins(t, 1)

        assert tce(t, bins, alpha=0.25).value == 1.0
        assert tce(t, bins, alpha=0.2499).value == 0.0

    def test_empty_bins_of_resampling(self) -> None:
        """The compiled count passes over bins whose predictions were all resampled away."""
        found = count_rejected(
            np.array([0.1, 0.2, 0.9]),
            np.array([0, 0, 30]),
            np.array([0, 0, 0]),
            np.array([0, 2, 3]),
            0.05,
        )

        assert found.tolist() == [0, 30]

    @pytest.mark.parametrize("alpha", [0.0, 1.0, -0.1, math.nan])
    def test_refuses_alpha(self, alpha: float) -> None:
        """A level outside (0, 1) is refused with its value."""
        t = tally([1], [0.5])

        with pytest.raises(ValueError, match=f"alpha must be in .* got {alpha}"):
            tce(t, quantile_bins(t, 1), alpha=alpha)

    def test_refuses_an_empty_sample(self) -> None:
        """Without a prediction there is nothing to average."""
        one = tally([1], [0.5])

        with pytest.raises(ValueError, match="empty tally"):
            tce(tally([], []), quantile_bins(one, 1))
        with pytest.raises(ValueError, match="empty tally"):
            tce([], [])

    def test_refuses_sizes_out_of_order(self) -> None:
        """Rows and tally refuse them with the same words."""
        for sample in (([0, 1], [0.2, 0.5]), tally([0, 1], [0.2, 0.5])):
            with pytest.raises(ValueError, match="min_size <= max_size, got 2 and 1"):
                tce(sample, sizes=lambda _: (2, 1))

    def test_result_can_be_pickled(self) -> None:
        """The intervals are found late, in another process too."""
        result = tce([0, 1, 1], [0.2, 0.5, 0.7])

        again = pickle.loads(pickle.dumps(result))  # noqa: S301 - written on the line above

        np.testing.assert_array_equal(again.accepted, result.accepted)
