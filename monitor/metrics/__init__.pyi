from monitor.metrics.beyond_binary.class_maps import ClassMap, apply_class_map, fit_class_map
from monitor.metrics.beyond_binary.kernel_density_classes import kernel_density_class_error
from monitor.metrics.beyond_binary.multiclass import (
    Classwise,
    classwise,
    classwise_calibration_error,
    classwise_tallies,
    top_label_calibration_error,
    top_label_tally,
)
from monitor.metrics.beyond_binary.regression import (
    dawid_sebastiani,
    squared_error_ratio,
    squared_error_ratio_interval,
)
from monitor.metrics.beyond_binary.variance_scaling import (
    VarianceScaling,
    fit_variance_scaling,
    scale_variances,
)
from monitor.metrics.binned.binning import (
    Bins,
    monitor_sizes,
    paper_sizes,
    pava,
    pava_bc,
    quantile_bins,
    uniform_bins,
)
from monitor.metrics.binned.ece import (
    WidestGap,
    ace,
    debiased_mean_squared_gap,
    debiased_root_mean_squared_gap,
    ece,
    mce,
    mean_squared_gap,
    root_mean_squared_gap,
)
from monitor.metrics.binned.estimation_error import EstimationError, estimation_error
from monitor.metrics.binned.grade_tests import GradeTest, grade_tests
from monitor.metrics.binned.hosmer_lemeshow import HosmerLemeshow, hosmer_lemeshow
from monitor.metrics.binomial.acceptance import accepted_intervals
from monitor.metrics.binomial.binomial import binomial_pvalues
from monitor.metrics.core.coarse import Coarse, coarsen
from monitor.metrics.core.estimate import Estimate
from monitor.metrics.core.tally import Cells, Tally, from_cells, merge, shift, tally, tally_on_grid
from monitor.metrics.intervals.actual_over_expected import (
    actual_over_expected,
    actual_over_expected_by_bin,
)
from monitor.metrics.intervals.bands import Band, confidence_band, consistency_band
from monitor.metrics.intervals.bootstrap import bootstrap_interval, bootstrap_intervals
from monitor.metrics.intervals.ece_interval import ece_interval
from monitor.metrics.intervals.intervals import (
    auc_interval,
    brier_interval,
    log_score_interval,
    mean_score_interval,
    normal_interval,
    prevalence_interval,
    rbs_interval,
    tjur_interval,
    uncertainty_interval,
)
from monitor.metrics.logistic.conditional import conditional_log_ratio, fit_slope
from monitor.metrics.logistic.cox import Cox, fit_cox, slope_z
from monitor.metrics.logistic.intercept import Intercept, fit_intercept, has_intercept
from monitor.metrics.logistic.level import Level, Lift, combine_lifts, compare_levels, fit_level
from monitor.metrics.logistic.optimism import FittedScore, fitted_score
from monitor.metrics.logistic.recalibration_maps import NestedMaps, fit_nested_maps
from monitor.metrics.logistic.remaining_error import (
    RemainingError,
    information_bins,
    remaining_error,
)
from monitor.metrics.scores.bounds import CalibrationBounds, calibration_bounds, improvement
from monitor.metrics.scores.brier import brier, rbs
from monitor.metrics.scores.brier_skill import brier_skill
from monitor.metrics.scores.corp import Corp, corp
from monitor.metrics.scores.discrimination import Auc, auc, tjur_r2
from monitor.metrics.scores.log_score import log_score
from monitor.metrics.scores.net_benefit import net_benefit
from monitor.metrics.scores.spiegelhalter import Spiegelhalter, spiegelhalter
from monitor.metrics.smooth.cumulative import CumulativeDifferences, cumulative_differences
from monitor.metrics.smooth.kernel_density import KernelDensityError, kernel_density_error
from monitor.metrics.smooth.skce import SKCE, skce
from monitor.metrics.smooth.smooth_ece import smooth_ece, smooth_ece_at
from monitor.metrics.test_based.null_reference import NullReference, tce_null_reference
from monitor.metrics.test_based.t_test import tce_t
from monitor.metrics.test_based.tce import Tce, tce
from monitor.metrics.test_based.tce_at_size import TceAtSize, standard_size, tce_at_size

__all__ = [
    "SKCE", "Auc", "Band", "Bins", "CalibrationBounds", "Cells", "ClassMap", "Classwise",
    "Coarse", "Corp", "Cox", "CumulativeDifferences", "Estimate", "EstimationError",
    "FittedScore", "GradeTest", "HosmerLemeshow", "Intercept", "KernelDensityError", "Level",
    "Lift", "NestedMaps", "NullReference", "RemainingError", "Spiegelhalter", "Tally", "Tce",
    "TceAtSize", "VarianceScaling", "WidestGap", "accepted_intervals", "ace",
    "actual_over_expected", "actual_over_expected_by_bin", "apply_class_map", "auc",
    "auc_interval", "binomial_pvalues", "bootstrap_interval", "bootstrap_intervals", "brier",
    "brier_interval", "brier_skill", "calibration_bounds", "classwise",
    "classwise_calibration_error", "classwise_tallies", "coarsen", "combine_lifts",
    "compare_levels", "conditional_log_ratio", "confidence_band", "consistency_band", "corp",
    "cumulative_differences", "dawid_sebastiani", "debiased_mean_squared_gap",
    "debiased_root_mean_squared_gap", "ece", "ece_interval", "estimation_error",
    "fit_class_map", "fit_cox", "fit_intercept", "fit_level", "fit_nested_maps", "fit_slope",
    "fit_variance_scaling", "fitted_score", "from_cells", "grade_tests", "has_intercept",
    "hosmer_lemeshow", "improvement", "information_bins", "kernel_density_class_error",
    "kernel_density_error", "log_score", "log_score_interval", "mce", "mean_score_interval",
    "mean_squared_gap", "merge", "monitor_sizes", "net_benefit", "normal_interval",
    "paper_sizes", "pava", "pava_bc", "prevalence_interval", "quantile_bins", "rbs",
    "rbs_interval", "remaining_error", "root_mean_squared_gap", "scale_variances", "shift",
    "skce", "slope_z", "smooth_ece", "smooth_ece_at", "spiegelhalter", "squared_error_ratio",
    "squared_error_ratio_interval", "standard_size", "tally", "tally_on_grid", "tce",
    "tce_at_size", "tce_null_reference", "tce_t", "tjur_interval", "tjur_r2",
    "top_label_calibration_error", "top_label_tally", "uncertainty_interval", "uniform_bins",
]  # fmt: skip
