"""Binned calibration errors: other programs, the paper's tables, plain loops, invariants."""

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.metrics.binned.binning import pava, pava_bc, quantile_bins, uniform_bins
from monitor.metrics.binned.ece import (
    debiased_mean_squared_gap,
    debiased_root_mean_squared_gap,
    ece,
    mce,
    mean_squared_gap,
)
from monitor.metrics.binned.estimation_error import estimation_error
from monitor.metrics.core.tally import Tally, tally
from tests.support.cases import few_examples
from tests.support.paths import GOLDEN
from tests.support.recorded import bins_at, gaussian_scores, paper_quantile_bins

RECORDED_VALUES = json.loads((GOLDEN / "binned_measures.json").read_text())
SAMPLES = json.loads((GOLDEN / "tce_cases.json").read_text())

tallies = st.lists(
    st.tuples(st.sampled_from([i / 16 for i in range(17)]), st.booleans()), min_size=1, max_size=60
).map(lambda rows: tally([y for _, y in rows], [s for s, _ in rows]))


def recorded_tally(name: str) -> Tally:
    """Give a recorded sample of the reference program."""
    if name in SAMPLES["datasets"]:
        data = SAMPLES["datasets"][name]
        return tally(list(map(int, data["y"])), data["p"])
    return tally(*gaussian_scores(SAMPLES["gaussian_datasets"][name])[::-1])


class TestReferences:
    """Numbers of other programs and of the paper."""

    @pytest.mark.parametrize(
        "row", RECORDED_VALUES["scalar_metrics"], ids=lambda row: f"{row['dataset']}-{row['n_bin']}"
    )
    def test_reference_program(self, row: dict[str, Any]) -> None:
        """ECE, MCE and their mean squares agree to 1e-12; over quantile bins if nothing is tied.

        With ties the reference program splits equal scores between quantile bins; we never do. Its
        borders of equal width are those of np.linspace, of which that at 0.3 lies above 0.3, and
        ours are decimals: they are the same bins where no score is a border.
        """
        t = recorded_tally(row["dataset"])
        borders = np.linspace(0.0, 1.0, row["n_bin"] + 1)[:-1]
        sliced = bins_at(t, np.searchsorted(t.scores, borders))
        if not np.isin(t.scores, [b / row["n_bin"] for b in range(1, row["n_bin"])]).any():
            assert uniform_bins(t, row["n_bin"]).starts.tolist() == sliced.starts.tolist()
        found = {"ece": ece(sliced), "mce": mce(sliced).value, "ece_l2": mean_squared_gap(sliced)}
        if t.scores.size == t.total:
            cut = paper_quantile_bins(t, row["n_bin"])
            found |= {"ace": ece(cut), "mce_q": mce(cut).value, "ace_l2": mean_squared_gap(cut)}

        assert found == pytest.approx({key: row[key] for key in found}, abs=1e-12)


@few_examples
@given(tallies)
def test_measures_equal_plain_loops(t: Tally) -> None:
    """Loops over rows of bins give the same values; 60 rows, so a few roundings."""
    for bins in (uniform_bins(t, 7), quantile_bins(t, 5), pava_bc(t, min_size=3, max_size=9)):
        gaps, sizes, noises, variances = [], [], [], []
        for first, last in zip(bins.starts[:-1], bins.starts[1:], strict=True):
            n, k = t.counts[first:last].sum(), t.positives[first:last].sum()
            outcomes = np.repeat([1.0, 0.0], [k, n - k])
            scores = np.repeat(t.scores[first:last], t.counts[first:last])
            gaps.append(abs(outcomes.mean() - scores.mean()))
            sizes.append(n)
            noises.append(outcomes.var(ddof=1) / n if n > 1 else np.nan)
            variances.append(outcomes.var())
        debiased = [(n, g * g - v) for n, g, v in zip(sizes, gaps, noises, strict=True) if n > 1]

        assert ece(bins) == pytest.approx(np.average(gaps, weights=sizes), abs=1e-14)
        assert mce(bins).value == pytest.approx(max(gaps), abs=1e-14)
        assert mce(bins).size in sizes
        squared = np.average(np.square(gaps), weights=sizes)
        assert mean_squared_gap(bins) == pytest.approx(squared, abs=1e-14)
        if debiased:
            weights, terms = zip(*debiased, strict=True)
            expected = np.average(terms, weights=weights)
            assert debiased_mean_squared_gap(bins) == pytest.approx(expected, abs=1e-14)
        error = estimation_error(bins)
        assert error.total == pytest.approx(np.average(variances, weights=sizes), abs=1e-14)
        assert error.within_bin == pytest.approx(np.mean(variances), abs=1e-14)


def test_less_error_than_chance_gives_is_none() -> None:
    """Where the debiased mean square is negative, its root is 0."""
    bins = uniform_bins(tally([0, 1, 0, 1], [0.5, 0.5, 0.5, 0.5]), 10)

    assert debiased_mean_squared_gap(bins) < 0.0
    assert debiased_root_mean_squared_gap(bins) == 0.0


def test_single_predictions_are_left_out_of_debiased_errors() -> None:
    """A bin of one changes nothing, and bins of one only are refused."""
    t = tally([0] * 8 + [1, 0], [0.2] * 9 + [0.9])

    assert debiased_mean_squared_gap(uniform_bins(t, 2)) == debiased_mean_squared_gap(
        uniform_bins(tally([0] * 8 + [1], [0.2] * 9), 2)
    )
    with pytest.raises(ValueError, match=r"^a debiased error .* got 2 of one each: make fewer"):
        debiased_mean_squared_gap(uniform_bins(tally([0, 1], [0.2, 0.9]), 2))


def test_widest_gap_of_equals_is_the_largest_bin() -> None:
    """Equal gaps are reported with the most predictions that show one."""
    t = tally([0] * 2 + [1] * 8, [0.25] * 2 + [0.75] * 8)

    assert mce(uniform_bins(t, 2)).size == 8


@few_examples
@given(
    st.lists(
        st.integers(1, 4).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n))),
        min_size=1,
        max_size=9,
    )
)
def test_pava_minimises_the_total_error(groups: list[tuple[int, int]]) -> None:
    """No way to cut into bins of rates that do not fall is below PAVA [TCE, Proposition 1]."""
    counts, positives = np.array(groups).T
    t = Tally(np.arange(len(groups)) / 10, counts, positives)
    totals = []
    for cuts in range(2 ** (len(groups) - 1)):
        starts = [0, *(i + 1 for i in range(len(groups) - 1) if cuts >> i & 1)]
        bins = bins_at(t, starts)
        if not bins.inversions:
            totals.append(estimation_error(bins).total)

    assert estimation_error(pava(t)).total == pytest.approx(min(totals), abs=1e-15)
