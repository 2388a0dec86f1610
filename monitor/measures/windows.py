"""The measures of windows."""

from math import nan

from monitor.evaluation.expected_prevalence import Expectation
from monitor.measures.measure import INTERVAL, Interval, Measure, Unit, as_is
from monitor.measures.units import (
    LOG10_P,
    LOGIT,
    NATS,
    PREDICTIONS,
    RATIO,
    ROWS,
    SCORE,
    SLOPE,
    SQUARED,
    TIME,
)
from monitor.measures.window_scopes import (
    CAUSES,
    CORRECTION,
    ERRORS,
    EXPECTED,
    EXPECTED_SHIFT,
    MAP_GAIN,
    QUANTILES,
    REJECTED,
    WINDOW,
    WINDOW_END,
)
from monitor.metrics.core.estimate import Estimate

NO_OUTCOMES = "without outcomes"


def around(value: float, interval: Estimate | Expectation | None) -> Estimate:
    """Join a value and its interval; the ends are nan, so without samples, if there is none."""
    return Estimate(value, interval.low, interval.high) if interval else Estimate(value, nan, nan)


OF_WINDOWS = (
    Measure(
        "tce_ratio",
        ERRORS,
        lambda errors: errors.tce,
        "TCE at a fixed number of predictions: share of predictions that the outcomes of their "
        "bin reject. About 0.12 for calibrated scores, at any volume and prevalence.",
        RATIO,
        "with fewer predictions than the fixed number, or before there is a reference",
        interval=INTERVAL,
        row="tce",
    ),
    Measure(
        "tce_published_ratio",
        ERRORS,
        lambda errors: errors.tce_published,
        "Share of predictions that the outcomes of their bin reject, with the published bin "
        "sizes. Far from 0 even for calibrated scores, so compare it with "
        "calibration_tce_null_ratio.",
        RATIO,
        row="tce_published",
        checked=True,
    ),
    Measure(
        "tce_null_ratio",
        QUANTILES,
        as_is,
        "Quantile of calibration_tce_published_ratio if the prior-adjusted scores were calibrated.",
        RATIO,
    ),
    Measure(
        "ece_ratio",
        ERRORS,
        lambda errors: around(errors.ece, errors.ece_interval),
        "Expected calibration error: mean gap between score and outcome over bins.",
        RATIO,
        interval=Interval(
            "the error behind ",
            absent="as `calibration_ece_ratio`; also for segments other than `all`, for windows of "
            "less than 28 days, and while outcomes of the window can still arrive",
        ),
        row="ece",
        checked=True,
    ),
    Measure(
        "rbs",
        ERRORS,
        lambda errors: around(errors.rbs, errors.rbs_interval),
        "Root Brier score: square root of the mean squared gap between score and outcome.",
        SCORE,
        interval=INTERVAL,
        row="rbs",
        checked=True,
    ),
    Measure(
        "slope",
        WINDOW,
        lambda e: e.slope,
        "Slope of the outcomes on the scores' log-odds; below 1 the scores are too extreme.",
        SLOPE,
        "while outcomes or scores are all equal, or the scores separate the outcomes",
        interval=INTERVAL,
        row="slope",
        checked=True,
    ),
    Measure(
        "map_slope",
        WINDOW,
        lambda e: e.map_slope,
        "The slope of the scores that a calibration map in the shadow makes; 1 is right.",
        SLOPE,
        "as `calibration_slope`; also without a `map` in the configuration, before its `since` and "
        "from its `deploy` on; windows that begin before `since` have none",
        interval=INTERVAL,
        row="slope",
        adjusted="map",
    ),
    Measure(
        "map_log_loss_removed",
        MAP_GAIN,
        lambda gain: gain.log_loss,
        "Log loss per prediction that a calibration map in the shadow removed, over all days on "
        "which it was compared.",
        NATS,
        interval=INTERVAL,
        row="map_log_loss_gain",
        adjusted="map",
    ),
    Measure(
        "map_squared_error_removed",
        MAP_GAIN,
        lambda gain: gain.brier,
        "Squared error per prediction that a calibration map in the shadow removed, over all days "
        "on which it was compared.",
        SQUARED,
        interval=INTERVAL,
        row="map_brier_gain",
        adjusted="map",
    ),
    Measure(
        "map_recent_log_loss_removed",
        MAP_GAIN,
        lambda gain: gain.recent,
        "Log loss per prediction that a calibration map in the shadow removed, over at most the "
        "last 28 compared days; if even its upper end is below 0, the map harms.",
        NATS,
        interval=INTERVAL,
        row="map_recent_gain",
        adjusted="map",
    ),
    Measure(
        "log_loss_explained",
        CAUSES,
        lambda of_rules: of_rules["log_loss"],
        "Part of the calibration error of the raw scores that a cause explains, in nats of log "
        "loss.",
        NATS,
        row="log_loss_of_{cause}",
        adjusted="raw",
    ),
    Measure(
        "squared_error_explained",
        CAUSES,
        lambda of_rules: of_rules["squared_error"],
        "Part of the calibration error of the raw scores that a cause explains, in squared "
        "probability.",
        SQUARED,
        row="squared_error_of_{cause}",
        adjusted="raw",
    ),
    Measure(
        "intercept_logit",
        WINDOW,
        lambda e: e.shift,
        "Constant that makes the scores right on average when added to the logit of each.",
        LOGIT,
        "while all outcomes are equal",
        interval=INTERVAL,
        row="shift",
        checked=True,
    ),
    Measure(
        "intercept_log_loss_removed",
        CORRECTION,
        lambda correction: correction.log_loss,
        "Log loss per prediction that adding calibration_intercept_logit to the logit of every "
        "score would remove.",
        NATS,
        interval=INTERVAL,
        row="correction_log_loss",
    ),
    Measure(
        "intercept_squared_error_removed",
        CORRECTION,
        lambda correction: correction.squared_error,
        "Squared error per prediction that adding calibration_intercept_logit to the logit of "
        "every score would remove.",
        SQUARED,
        interval=INTERVAL,
        row="correction_squared_error",
    ),
)
COUNTS = (
    Measure(
        "prevalence_ratio",
        WINDOW,
        lambda e: e.prevalence,
        "Share of the known outcomes that are 1.",
        RATIO,
        NO_OUTCOMES,
        row="prevalence",
        checked=True,
    ),
    Measure(
        "mean_score_ratio",
        WINDOW,
        lambda e: e.mean_score,
        "Mean score of the predictions whose outcome is known.",
        RATIO,
        NO_OUTCOMES,
        row="mean_score",
        checked=True,
    ),
    Measure(
        "window_predictions",
        WINDOW,
        lambda e: e.predicted,
        "Valid predictions in the window.",
        PREDICTIONS,
        row="predicted",
        checked=True,
    ),
    Measure(
        "window_outcomes",
        WINDOW,
        lambda e: e.matched,
        "Predictions in the window whose outcome is known.",
        PREDICTIONS,
        row="matched",
        checked=True,
    ),
    Measure(
        "window_present_ratio",
        WINDOW,
        lambda e: e.days_present / e.window_days,
        "Share of the window's days that are in the store.",
        Unit("ratio, above 0 to 1", 0.0, 1.0),
    ),
    Measure(
        "outcome_coverage_ratio",
        WINDOW,
        lambda e: e.coverage,
        "Share of the window's predictions whose outcome is known.",
        RATIO,
        "without valid predictions",
        row="coverage",
        checked=True,
    ),
    Measure(
        "rejected_rows",
        REJECTED,
        as_is,
        "Rows of the logs that the window leaves out, by the check that they failed.",
        ROWS,
    ),
    Measure(
        "window_end_timestamp_seconds",
        WINDOW_END,
        as_is,
        "When the last day of the window ended, in the model's time zone.",
        TIME,
    ),
)
OF_EXPECTATIONS = (
    Measure(
        "expected_prevalence_ratio",
        EXPECTED,
        lambda expected: around(expected.prevalence, expected),
        "Expected prevalence of the newest day whose outcomes are still arriving, if only the "
        "prior changes.",
        RATIO,
        interval=INTERVAL,
        row="expected_prevalence",
    ),
    Measure(
        "expected_shift_logit",
        EXPECTED_SHIFT,
        as_is,
        "How far the log-odds of calibration_expected_prevalence_ratio are from those of the "
        "reference's prevalence: what a map could follow before outcomes arrive.",
        LOGIT,
        interval=INTERVAL,
    ),
    Measure(
        "expected_prevalence_fit_log10_p",
        EXPECTED,
        lambda expected: expected.fit_log10_p,
        "Probability, log10, of scores this unlike the reference's if only the prior changes.",
        LOG10_P,
        row="expected_fit_log10_p",
    ),
)
