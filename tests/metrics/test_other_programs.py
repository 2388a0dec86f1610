"""Values of other programs on thousands of rows: what they call ours, and where they differ.

Not compared, because they are no measures of ours: biased SKCE and kernel density estimates of
calibration errors, measures of rows with case weights, log-likelihoods of Cox's fits, their
joint test and ICI, scikit-learn's D2. And `mcgrad_adaptive`, whose bins we could not find out: it
differs from our ECE over 15 quantile bins by 5 % at most.
"""

from dataclasses import replace
from math import ceil

import numpy as np
import pytest
from scipy.special import expit, logit

from monitor.metrics.beyond_binary.multiclass import (
    classwise_calibration_error,
    top_label_calibration_error,
    top_label_tally,
)
from monitor.metrics.binned.binning import Bins, pava, uniform_bins
from monitor.metrics.binned.ece import debiased_root_mean_squared_gap, ece, root_mean_squared_gap
from monitor.metrics.binned.hosmer_lemeshow import hosmer_lemeshow
from monitor.metrics.core.grid import Floats
from monitor.metrics.core.tally import Tally
from monitor.metrics.intervals.intervals import normal_interval
from monitor.metrics.logistic.cox import fit_cox
from monitor.metrics.scores.bounds import improvement
from monitor.metrics.scores.brier import brier
from monitor.metrics.smooth.cumulative import cumulative_differences
from tests.support.recorded import TIED, Recorded, bins_above

BELOW = -1.0  # an edge below every score


def both_classes(data: Recorded) -> Floats:
    """Give the probabilities of both classes, a row for each prediction."""
    return np.column_stack([1.0 - data.scores, data.scores])


def through_logits(rows: Floats) -> Floats:
    """Do as the program of [RBS] does, which takes logits: a softmax of the logarithms.

    That parts some equal scores by a rounding.
    """
    with np.errstate(divide="ignore"):
        powers = np.exp(np.log(rows) - np.log(rows).max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


def closed_above(t: Tally, n: int) -> Bins:
    """Cut into slices of equal width that hold their upper edge; the first holds 0 too."""
    return bins_above(t, [BELOW, *(i / n for i in range(1, n + 1))])


def chunks(t: Tally, n: int) -> Bins:
    """Cut into n parts of ceil(N/n) rows, the last one smaller, at edges half-way between rows."""
    rows = np.repeat(t.scores, t.counts)
    size = ceil(rows.size / n)
    ends = range(size, rows.size, size)
    return bins_above(t, [BELOW, *((rows[i - 1] + rows[i]) / 2 for i in ends)])


def open_quantiles(t: Tally, n: int) -> Bins:
    """Cut as calzone does, at interpolated quantiles and above the first: the least is dropped."""
    rows = np.repeat(t.scores, t.counts)
    return bins_above(t, np.unique(np.quantile(rows, np.linspace(0, 1, n + 1))))


def clipped(bins: Bins) -> Bins:
    """Keep rates 1e-7 away from 0 and 1, as calzone does."""
    rates = np.clip(bins.rates, 1e-7, 1 - 1e-7)
    return replace(bins, positives=rates * bins.counts)


def test_brier_scores_are_those_of_scikit_learn(reference: list[Recorded]) -> None:
    """Of one probability and of both classes, to 1e-12."""
    for data in reference:
        expected = data.values["brier"]
        assert brier(data.t) == pytest.approx(expected["sklearn_one"], abs=1e-12)
        found = brier(data.t, convention="two_class")
        assert found == pytest.approx(expected["sklearn_two"], abs=1e-12)


def test_ece_over_slices_is_everybodys(reference: list[Recorded]) -> None:
    """Nine values of seven programs, to 1e-12: slices hold their lower or their upper edge.

    With 15 as its number of *edges*, mapie makes 14 slices.
    """
    closed_below = ("own_left_closed", "netcal", "relplot_binnedECE", "mcgrad", "torchmetrics")
    for data in reference:
        expected, t = data.values["ece_equal_width_15"], data.t
        for program in closed_below:
            assert ece(uniform_bins(t, 15)) == pytest.approx(expected[program], abs=1e-12)
        for program in ("own_right_closed", "uncertainty_calibration", "mapie_num_bins_16"):
            assert ece(closed_above(t, 15)) == pytest.approx(expected[program], abs=1e-12)
            if data.name != TIED:
                assert ece(uniform_bins(t, 15)) == pytest.approx(expected[program], abs=1e-12)
        fewer = expected["mapie_num_bins_15_is_14_bins"]
        assert ece(closed_above(t, 14)) == pytest.approx(fewer, abs=1e-12)


def test_top_label_errors_are_the_rbs_programs(reference: list[Recorded]) -> None:
    """Definition C.1 for both orders over slices, and KS, to 1e-12 where no score is tied.

    With ties three things differ: its slices hold their upper edge, its scores went through
    logits, and its KS looks inside a run of equal scores. ECE over 15 slices is the same anyway.
    """
    for data in reference:
        rows, expected = both_classes(data), data.values["reference_repo"]["top_label"]
        first = top_label_calibration_error(data.outcomes, rows, lambda t: uniform_bins(t, 15))
        assert first == pytest.approx(expected["ECE_15"], abs=1e-12)
        if data.name == TIED:
            parted = bins_above(
                top_label_tally(data.outcomes, through_logits(rows)),
                [BELOW, *(i / 100 for i in range(1, 101))],
            )
            assert root_mean_squared_gap(parted) == pytest.approx(expected["TCE2_100"], abs=1e-12)
            continue
        second = top_label_calibration_error(
            data.outcomes, rows, lambda t: uniform_bins(t, 100), order=2
        )
        assert second == pytest.approx(expected["TCE2_100"], abs=1e-12)
        found = cumulative_differences(top_label_tally(data.outcomes, rows)).ks
        assert found == pytest.approx(expected["KS"], abs=1e-12)


@pytest.mark.parametrize("n", [15, 100])
def test_classwise_errors_are_the_rbs_programs(reference: list[Recorded], n: int) -> None:
    """Definition C.1 for p = 2, summed over both classes, to 1e-12.

    With ties its slices hold their upper edge, which of 15 matters and of 100 does not.
    """
    for data in reference:
        rows, expected = both_classes(data), data.values["reference_repo"]["top_label"]
        theirs = expected[f"CWCE2_{n}_both_classes_summed"]
        cuts = [lambda t: closed_above(t, n)]
        if data.name != TIED or n == 100:
            cuts.append(lambda t: uniform_bins(t, n))
        for cut in cuts:
            found = classwise_calibration_error(data.outcomes, rows, cut, order=2)
            assert found == pytest.approx(theirs, abs=1e-12)


def test_errors_of_one_class_are_the_rbs_programs(reference: list[Recorded]) -> None:
    """CE_2 over 15 and 100 slices to 1e-12, those of 15 with their upper edges where it matters."""
    for data in reference:
        expected, t = data.values["reference_repo"]["one_dim_positive_class"], data.t
        found = root_mean_squared_gap(uniform_bins(t, 100))
        assert found == pytest.approx(expected["L2_100_equal_width"], abs=1e-12)
        found = root_mean_squared_gap(closed_above(t, 15))
        assert found == pytest.approx(expected["L2_15_equal_width"], abs=1e-12)
        if data.name != TIED:
            found = root_mean_squared_gap(uniform_bins(t, 15))
            assert found == pytest.approx(expected["L2_15_equal_width"], abs=1e-12)


def test_debiased_errors_are_the_rbs_programs(reference: list[Recorded]) -> None:
    """To 1e-12 over its bins of equal mass, which are none of ours: all but the last ceil(N/15)."""
    for data in reference:
        expected, rows = data.values["reference_repo"], both_classes(data)
        theirs = expected["one_dim_positive_class"]["L2_15_equal_mass_debiased"]
        found = debiased_root_mean_squared_gap(chunks(data.t, 15))
        assert found == pytest.approx(theirs, abs=1e-12)
        top = top_label_tally(data.outcomes, through_logits(rows))
        theirs = expected["top_label"]["debiased_TCE2_15_equal_mass"]
        assert debiased_root_mean_squared_gap(chunks(top, 15)) == pytest.approx(theirs, abs=1e-12)


def test_improvement_is_the_recorded_change_of_the_brier_score(reference: list[Recorded]) -> None:
    """For a prior that was plugged in: the change and its error, of a fixed map, to 1e-12."""
    for data in reference:
        expected, t = data.values["prior_shift"]["prevalence_plugin"], data.t
        found = improvement(t, expit(logit(t.scores) + np.log(expected["odds_factor"])))

        assert found.value == pytest.approx(expected["delta_brier"], abs=1e-12)
        assert found.standard_error == pytest.approx(expected["se_fixed"], abs=1e-12)


def test_kuiper_is_mcgrads(reference: list[Recorded]) -> None:
    """Value, to 1e-12, and ratio to its deviation, relatively; its ties keep their order."""
    for data in reference:
        if data.name != TIED:
            found, expected = cumulative_differences(data.t), data.values["cumulative"]
            assert found.kuiper == pytest.approx(expected["ecce_mcgrad"], abs=1e-12)
            ratio = found.kuiper / found.deviation
            assert ratio == pytest.approx(expected["ecce_sigma_mcgrad"], rel=1e-12)


def test_ece_is_calzones(reference: list[Recorded]) -> None:
    """Over slices, ours where no score is tied, and over quantiles, never ours: to 1e-12.

    Its borders are those of np.linspace, of which that at 0.3 lies above 0.3; ours are decimals. No
    score of these samples is a border.

    Its bins are open below, so the least score (quantiles) or a score of 0 (slices) is in none, and
    it averages over the rest; its quantiles are interpolated.
    """
    for data in reference:
        expected, t = data.values["calzone_10_bins"], data.t
        top = top_label_tally(data.outcomes, both_classes(data))
        for name, one in (("", t), (" topclass", top)):
            sliced, cut = bins_above(one, np.linspace(0, 1, 11)), open_quantiles(one, 10)
            assert ece(sliced) == pytest.approx(expected[f"ECE-H{name}"], abs=1e-12)
            assert ece(cut) == pytest.approx(expected[f"ECE-C{name}"], abs=1e-12)
            if data.name != TIED:
                found = ece(uniform_bins(one, 10))
                assert found == pytest.approx(expected[f"ECE-H{name}"], abs=1e-12)


def test_hosmer_lemeshow_is_calzones(reference: list[Recorded]) -> None:
    """Over its slices and quantiles; p with two degrees lost, which it takes as 1 - cdf.

    One bin alone leaves it no degree and no p.
    """
    for data in reference:
        expected = data.values["calzone_10_bins"]
        for name, bins in (
            ("HL-H", bins_above(data.t, np.linspace(0, 1, 11))),
            ("HL-C", open_quantiles(data.t, 10)),
        ):
            theirs = float(expected[f"{name} p-value"])
            lost = 0 if np.isnan(theirs) else 2
            found = hosmer_lemeshow(clipped(bins), degrees_lost=lost)
            assert found.statistic == pytest.approx(expected[f"{name} score"], rel=1e-12)
            if lost:
                assert 10**found.log10_p == pytest.approx(theirs, rel=1e-10, abs=1e-15)


def test_cox_intervals_are_calzones(reference: list[Recorded]) -> None:
    """Both coefficients and the ends of their intervals, to 1e-12.

    It clips scores to 1e-7 from 0 and 1, which then count; ours do not.
    """
    for data in reference:
        expected = data.values["calzone_10_bins"]
        t = data.t
        found = fit_cox(Tally(np.clip(t.scores, 1e-7, 1 - 1e-7), t.counts, t.positives))
        for name, value, error in (
            ("COX coef", found.slope, found.slope_standard_error),
            ("COX intercept", found.intercept, found.intercept_standard_error),
        ):
            ends = normal_interval(value, error)
            assert value == pytest.approx(expected[name], abs=1e-12)
            assert ends.low == pytest.approx(expected[f"{name} lowerci"], abs=1e-12)
            assert ends.high == pytest.approx(expected[f"{name} upperci"], abs=1e-12)


def test_isotonic_blocks_are_those_recorded(reference: list[Recorded]) -> None:
    """As many as SciPy finds, less one where two neighbours have the same rate, which ours join."""
    for data in reference:
        blocks = data.values["corp_brier"]["own"]["blocks"]
        apart = 1 if data.name == "calibrated" else 0  # 14 of 28 beside 31 of 62
        found = pava(data.t)
        assert found.counts.size == blocks - apart
        assert (90 in found.counts[found.rates == 0.5]) == bool(apart)
