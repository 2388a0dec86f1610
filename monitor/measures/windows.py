"""The measures of windows."""

from math import nan

from monitor.evaluation.evaluation import Expectation
from monitor.measures import units
from monitor.measures import window_scopes as of
from monitor.measures.measure import Measure, Panel, Unit, unexported
from monitor.metrics.core.estimate import Estimate

NO_OUTCOMES = "without outcomes"
CALIBRATED_TCE = 0.12  # at the fixed size, whatever the volume and the prevalence


def around(value: float, interval: Estimate | Expectation | None) -> Estimate:
    """Join a value and its interval; the ends are nan, so without samples, if there is none."""
    return Estimate(value, interval.low, interval.high) if interval else Estimate(value, nan, nan)


OF_WINDOWS = (
    Measure(
        "tce_ratio",
        of.ERRORS,
        "TCE at a fixed number of predictions: share of predictions that the outcomes of their "
        "bin reject. About 0.12 for calibrated scores, at any volume and prevalence.",
        units.RATIO,
        lambda errors: errors.tce,
        absent="with fewer predictions than the fixed number, or before there is a reference",
        row="tce",
        panel=Panel(
            "TCE at a fixed size",
            "The share of predictions that the outcomes reject, in samples of one fixed size, so "
            f"that quiet and busy days compare. About {100 * CALIBRATED_TCE:.0f} % (dashed) is "
            "what a calibrated model shows.",
            calibrated=CALIBRATED_TCE,
        ),
        of_segments=False,
    ),
    Measure(
        "tce_published_ratio",
        of.ERRORS,
        "Share of predictions that the outcomes of their bin reject, with the published bin "
        "sizes. Far from 0 even for calibrated scores, so compare it with what chance gives.",
        units.RATIO,
        lambda errors: errors.tce_published,
        heading="TCE {adjusted}",
        row="tce_published",
        exported=False,
    ),
    Measure(
        "ece_ratio",
        of.ERRORS,
        "Expected calibration error: mean gap between score and outcome over bins.",
        units.RATIO,
        lambda errors: around(errors.ece, errors.ece_interval),
        heading="ECE {adjusted}",
        row="ece",
        panel=Panel(
            "ECE",
            "The mean gap between score and outcome: 2 % means that scores are 2 points off on "
            "average.",
        ),
    ),
    Measure(
        "rbs",
        of.ERRORS,
        "Root Brier score: square root of the mean squared gap between score and outcome.",
        units.SCORE,
        lambda errors: around(errors.rbs, errors.rbs_interval),
        row="rbs",
        panel=Panel(
            "Root Brier score",
            "The root of the mean squared gap between score and outcome. Its level follows the "
            "base rate and is no alarm; the gap between raw and prior is what the base rate costs.",
            unit="short",
            decimals=3,
        ),
        of_segments=False,
    ),
    Measure(
        "slope",
        of.WINDOW,
        "Slope of the outcomes on the scores' log-odds; below 1 the scores are too extreme.",
        units.SLOPE,
        lambda e: e.slope,
        absent="while outcomes or scores are all equal, or the scores separate the outcomes",
        interval=True,
        heading="slope",
        row="slope",
    ),
    Measure(
        "map_slope",
        of.WINDOW,
        "The slope of the scores that a calibration map in the shadow makes; 1 is right.",
        units.SLOPE,
        lambda e: e.map_slope,
        absent="as `calibration_slope`; also without a `map` in the configuration, before its "
        "`since` and from its `deploy` on; windows that begin before `since` have none; of a model "
        "with segments, if the map is of values of another column",
        interval=True,
        row="slope",
        adjusted="map",
    ),
    Measure(
        "map_log_loss_removed",
        of.MAP_GAIN,
        "Log loss per prediction that a calibration map in the shadow removed, over all days on "
        "which it was compared; of all predictions with `label_rate`.",
        units.NATS,
        lambda gain: gain.log_loss,
        interval=True,
        row="map_log_loss_gain",
        adjusted="map",
    ),
    Measure(
        "map_squared_error_removed",
        of.MAP_GAIN,
        "Squared error per prediction that a calibration map in the shadow removed, over all days "
        "on which it was compared; of all predictions with `label_rate`.",
        units.SQUARED,
        lambda gain: gain.brier,
        row="map_brier_gain",
        adjusted="map",
        exported=False,
    ),
    Measure(
        "map_recent_log_loss_removed",
        of.MAP_GAIN,
        "Log loss per prediction that a calibration map in the shadow removed, over at most the "
        "last 28 compared days; if even its upper end is below 0, the map harms. Of all "
        "predictions with `label_rate`.",
        units.NATS,
        lambda gain: gain.recent,
        interval=True,
        row="map_recent_gain",
        adjusted="map",
    ),
    Measure(
        "log_loss_explained",
        of.CAUSES,
        "Part of the calibration error of the raw scores that a cause explains, in nats of log "
        "loss; of all predictions with `label_rate`.",
        units.NATS,
        lambda explained: explained("log_loss"),
        row="log_loss_of_{cause}",
        adjusted="raw",
        of_segments=False,
    ),
    Measure(
        "squared_error_explained",
        of.CAUSES,
        "Part of the calibration error of the raw scores that a cause explains, in squared "
        "probability; of all predictions with `label_rate`.",
        units.SQUARED,
        lambda explained: explained("squared_error"),
        row="squared_error_of_{cause}",
        adjusted="raw",
        exported=False,
    ),
    Measure(
        "intercept_logit",
        of.WINDOW,
        "Constant that makes the scores right on average when added to the logit of each.",
        units.LOGIT,
        lambda e: e.shift,
        absent="while all outcomes are equal",
        interval=True,
        heading="prior shift",
        row="shift",
        of_segments=False,
    ),
    Measure(
        "intercept_log_loss_removed",
        of.CORRECTION,
        "Log loss per prediction that adding calibration_intercept_logit to the logit of every "
        "score would remove; with `label_rate` of all predictions, by their intercept.",
        units.NATS,
        lambda correction: correction.log_loss,
        interval=True,
        row="correction_log_loss",
        of_segments=False,
    ),
    Measure(
        "intercept_squared_error_removed",
        of.CORRECTION,
        "Squared error per prediction that adding calibration_intercept_logit to the logit of "
        "every score would remove; with `label_rate` of all predictions, by their intercept.",
        units.SQUARED,
        lambda correction: correction.squared_error,
        row="correction_squared_error",
        exported=False,
    ),
)
COUNTS = (
    Measure(
        "prevalence_ratio",
        of.WINDOW,
        "Share of the known outcomes that are 1.",
        units.RATIO,
        lambda e: e.prevalence,
        absent=NO_OUTCOMES,
        heading="prevalence",
        row="prevalence",
    ),
    Measure(
        "mean_score_ratio",
        of.WINDOW,
        "Mean score of the predictions whose outcome is known.",
        units.RATIO,
        lambda e: e.mean_score,
        absent=NO_OUTCOMES,
        heading="mean score",
        row="mean_score",
    ),
    Measure(
        "window_predictions",
        of.WINDOW,
        "Valid predictions in the window.",
        units.PREDICTIONS,
        lambda e: e.predicted,
        heading="predictions",
        row="predicted",
        of_segments=False,
    ),
    Measure(
        "window_outcomes",
        of.WINDOW,
        "Predictions in the window whose outcome is known.",
        units.PREDICTIONS,
        lambda e: e.matched,
        heading="outcomes",
        row="matched",
        of_segments=False,
    ),
    Measure(
        "window_acted_on_predictions",
        of.WINDOW,
        "Predictions in the window that were acted on, so that their outcomes do not count.",
        units.PREDICTIONS,
        lambda e: e.acted,
        row="acted_on",
        absent="without `action` in the configuration, or if a day of the window was read without",
        of_segments=False,
    ),
    Measure(
        "window_present_ratio",
        of.WINDOW,
        "Share of the window's days that are in the store.",
        Unit("ratio, above 0 to 1", 0.0, 1.0),
        lambda e: e.days_present / e.window_days,
        of_segments=False,
    ),
    Measure(
        "outcome_coverage_ratio",
        of.WINDOW,
        "Share of the window's predictions whose outcome is known.",
        units.RATIO,
        lambda e: e.coverage,
        absent="without valid predictions",
        heading="coverage",
        row="coverage",
        of_segments=False,
    ),
    Measure(
        "rejected_rows",
        of.REJECTED,
        "Rows of the logs that the window leaves out, by the check that they failed.",
        units.ROWS,
    ),
)
OF_WORTH = (
    Measure(
        "value_lost",
        of.LOST,
        "What miscalibration cost per prediction, by cause and in all (cause `all`), in the unit "
        "of `value` or `decision`.",
        units.WORTH,
        interval=True,
        row="value_lost_of_{cause}",
        adjusted="raw",
        of_segments=False,
    ),
    Measure(
        "budget_burn_ratio",
        of.BURN,
        "What miscalibration cost per prediction, as a multiple of what the budget allows; at 1 "
        "the budget of 28 days lasts 28 days.",
        units.BURN,
        interval=True,
    ),
)
OF_POPULATION = (
    Measure(
        "population_prevalence_ratio",
        of.POPULATION,
        "Prevalence of all predictions, estimated from those that were chosen by score to get an "
        "outcome.",
        units.RATIO,
        lambda population: population.prevalence,
        interval=True,
        row="prevalence",
        adjusted="population",
    ),
    Measure(
        "population_mean_score_ratio",
        of.POPULATION,
        "Mean score of all predictions at whose scores there are outcomes.",
        units.RATIO,
        lambda population: population.mean_score,
        interval=True,
        row="mean_score",
        adjusted="population",
    ),
    Measure(
        "population_reached_ratio",
        of.POPULATION,
        "Share of all predictions at whose scores there are outcomes, so that they can be "
        "estimated.",
        units.RATIO,
        lambda population: population.reached,
        row="reached",
        adjusted="population",
    ),
)
NOT_EXPORTED = (
    unexported(
        "positives",
        of.WINDOW,
        "Known outcomes that are 1.",
        units.ROWS,
        lambda e: e.positives,
    ),
    unexported(
        "rejected_{reason}",
        of.LEFT_OUT,
        "Rows left out by the check that they failed.",
        units.ROWS,
    ),
    unexported(
        "tce_published_by_chance_{quantile}",
        of.CHANCE,
        "Mean and quantiles of TCE as published if the prior-adjusted scores were calibrated.",
        units.RATIO,
        adjusted="prior",
    ),
    unexported(
        "design_effect",
        of.WINDOW,
        "By how much the variance of the number of positives is larger because rows of one entity "
        "hang together.",
        units.MULTIPLE,
        lambda e: e.design_effect,
    ),
    unexported(
        "correction_delta",
        of.CORRECTION,
        "The intercept whose gain the other numbers of the correction are.",
        units.LOGIT,
        lambda correction: correction.delta,
    ),
    unexported(
        "log_loss",
        of.CORRECTION,
        "Log loss per prediction before that correction.",
        units.LOSS,
        lambda correction: correction.log_loss_before,
        adjusted="raw",
    ),
    unexported(
        "map_days",
        of.MAP_GAIN,
        "Days on which the calibration map in the shadow was compared.",
        units.DAYS,
        lambda gain: gain.days,
        adjusted="map",
    ),
    unexported(
        "expected_unshifted",
        of.EXPECTED,
        "Prevalence if every score comes true as often as in the reference.",
        units.RATIO,
        lambda expected: Estimate.normal(expected.unshifted, expected.unshifted_error),
    ),
)
OF_EXPECTATIONS = (
    Measure(
        "expected_prevalence_ratio",
        of.EXPECTED,
        "Expected prevalence of the newest day whose outcomes are still arriving, if only the "
        "prior changes.",
        units.RATIO,
        lambda expected: around(expected.prevalence, expected),
        interval=True,
        row="expected_prevalence",
        of_segments=False,
    ),
    Measure(
        "expected_shift_logit",
        of.EXPECTED_SHIFT,
        "How far the log-odds of calibration_expected_prevalence_ratio are from those of the "
        "reference's prevalence: what a map could follow before outcomes arrive.",
        units.LOGIT,
        of_segments=False,
    ),
    Measure(
        "expected_prevalence_fit_log10_p",
        of.EXPECTED,
        "Probability, log10, of scores this unlike the reference's if only the prior changes.",
        units.LOG10_P,
        lambda expected: expected.fit_log10_p,
        row="expected_fit_log10_p",
        of_segments=False,
    ),
)
