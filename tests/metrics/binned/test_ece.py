"""Binned calibration errors: other programs, the paper's tables, plain loops, invariants."""

import json
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit

from monitor.metrics.binned.binning import (
    Bins,
    pava,
    pava_bc,
    quantile_bins,
    uniform_bins,
)
from monitor.metrics.binned.ece import (
    ace,
    debiased_mean_squared_gap,
    debiased_root_mean_squared_gap,
    ece,
    mce,
    mean_squared_gap,
    root_mean_squared_gap,
)
from monitor.metrics.binned.estimation_error import estimation_error
from monitor.metrics.core.tally import Tally, tally
from tests.support.cases import few_examples
from tests.support.paths import GOLDEN
from tests.support.recorded import (
    Recorded,
    bins_above,
    bins_at,
    gaussian,
    gaussian_scores,
    paper_quantile_bins,
)

RECORDED_VALUES = json.loads((GOLDEN / "binned_measures.json").read_text())
SAMPLES = json.loads((GOLDEN / "tce_cases.json").read_text())
MASS_CASES = [case for case in RECORDED_VALUES["binned"] if case["bins"] == "mass_15"]
MEASURES = {
    "ece": ece,
    "root_mean_squared_gap": root_mean_squared_gap,
    "debiased_mean_squared_gap": debiased_mean_squared_gap,
    "debiased_root_mean_squared_gap": debiased_root_mean_squared_gap,
}

tallies = st.lists(
    st.tuples(st.sampled_from([i / 16 for i in range(17)]), st.booleans()), min_size=1, max_size=60
).map(lambda rows: tally([y for _, y in rows], [s for s, _ in rows]))


def recorded_bins(case: dict[str, Any]) -> Bins:
    """Give the bins of a golden case, whose rows are not kept."""
    counts = np.array(case["counts"])
    sums = np.array(case["score_sums"])
    return Bins(np.arange(counts.size + 1), counts, np.array(case["positives"]), sums)


def paper_tally(train: float, test: float) -> Tally:
    """Fit the paper's logistic model and score its test data.

    scikit-learn's default penalises the squared slope with weight 1/2; ten Newton steps are
    exact where its own solver stops early, and change no printed digit.
    """
    train_x, train_outcomes, x, outcomes = gaussian(train, test)
    features, beta = np.column_stack([np.ones_like(train_x), train_x]), np.zeros(2)
    for _ in range(10):
        p = expit(features @ beta)
        gradient = features.T @ (train_outcomes - p) - [0.0, beta[1]]
        hessian = features.T @ (features * (p * (1 - p))[:, None]) + np.diag([0.0, 1.0])
        beta = beta + np.linalg.solve(hessian, gradient)
    return tally(outcomes, expit(beta[0] + beta[1] * x))


def row_id(row: dict[str, Any]) -> str:
    """Name a row of a published table."""
    return "-".join(f"{row[key]:g}" for key in ("train", "test", "n_bin") if key in row)


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

    @pytest.mark.parametrize("case", MASS_CASES, ids=lambda case: case["dataset"])
    def test_uncertainty_calibration(self, case: dict[str, Any]) -> None:
        """ECE, plug-in and debiased L2 error over bins of equal mass agree to 1e-12."""
        bins = recorded_bins(case)
        found = {name: measure(bins) for name, measure in MEASURES.items()}

        assert found == pytest.approx(case["expected"], abs=1e-12)

    def test_full_reference(self, reference: list[Recorded]) -> None:
        """From the rows: equal mass and equal width, the rows of all bins being their own.

        The first bins of equal mass are one row larger than the last, and edges half-way between
        rows belong to the bin below.
        """
        for data in reference:
            t, values = data.t, data.values
            parts = np.array_split(np.sort(data.scores), 15)
            mass = bins_above(t, [-1.0, *((a[-1] + b[0]) / 2 for a, b in pairwise(parts))])
            l2 = values["l2_ce_equal_mass_15"]
            expected = {
                "ece": values["ece_equal_mass_15"]["uncertainty_calibration"],
                "root_mean_squared_gap": l2["plugin"],
                "debiased_mean_squared_gap": l2["debiased_signed_square"],
                "debiased_root_mean_squared_gap": l2["debiased_clipped_root"],
            }
            found = {name: measure(mass) for name, measure in MEASURES.items()}
            assert found == pytest.approx(expected, abs=1e-12)

            width = values["l2_ce_equal_width_100"]["plugin"]
            assert root_mean_squared_gap(uniform_bins(t, 100)) == pytest.approx(width, abs=1e-12)
            if l2["treated_as_discrete"]:  # that program then makes each score a bin
                each = bins_at(t, np.arange(t.scores.size))
                assert debiased_root_mean_squared_gap(each) == pytest.approx(
                    l2["get_calibration_error_default"], abs=1e-12
                )

    @pytest.mark.parametrize(
        "row", RECORDED_VALUES["paper_table2"] + RECORDED_VALUES["paper_table13"], ids=row_id
    )
    def test_paper_tables_2_and_13(self, row: dict[str, Any]) -> None:
        """ECE, ACE, MCE and MCE(Q) come out to the four printed digits."""
        t = paper_tally(row["train"], row["test"])
        sliced, cut = uniform_bins(t, 10), quantile_bins(t, 10)
        found = [ece(sliced), ace(t, 10), mce(sliced).value, mce(cut).value]

        assert [round(value, 4) for value in found[: len(row["values"])]] == row["values"]

    @pytest.mark.parametrize("row", RECORDED_VALUES["paper_table6"], ids=row_id)
    def test_paper_table_6(self, row: dict[str, Any]) -> None:
        """With 1,000 bins down to 1 the same four come out to the printed digits.

        So many bins feel the sixth digit of the model: its recorded coefficients are used.
        """
        t = recorded_tally(f"gda_{100 * row['train']:.0f}_{100 * row['test']:.0f}")
        sliced, cut = uniform_bins(t, row["n_bin"]), paper_quantile_bins(t, row["n_bin"])
        found = [ece(sliced), ece(cut), mce(sliced).value, mce(cut).value]

        assert [round(value, 4) for value in found] == row["values"]

    def test_one_row_makes_a_maximum(self) -> None:
        """The paper's MCE of .8767 for a calibrated model is the gap of a single prediction."""
        found = mce(uniform_bins(paper_tally(0.5, 0.5), 100))

        assert (round(found.value, 4), found.size) == (0.8767, 1)


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


def test_empty_tally_is_refused() -> None:
    """Nothing has no bins and no error; nor has it with no bin."""
    with pytest.raises(ValueError, match=r"^an empty sample has no bins"):
        ace(tally([], []), 10)
    with pytest.raises(ValueError, match=r"^the number of bins must be at least 1, got 0"):
        ace(tally([1], [0.5]), 0)
