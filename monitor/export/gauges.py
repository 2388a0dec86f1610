"""The catalogue of gauges. Pure.

Rule 1: every gauge is in the catalogue, with the words that rules, panels and docs/gauges.md use.
Ratios, not percent; base units; no label holds a date or a run id.
Rule 2: a number that does not exist has no sample, because panels and rules treat nan as a value.
"""

from dataclasses import dataclass
from math import nan

from monitor.evaluation.expected_prevalence import Expectation
from monitor.export import class_samples, verdict_samples, window_samples
from monitor.export.window_samples import SECONDS_A_DAY, SECONDS_AN_HOUR, Samples, seconds_of
from monitor.metrics.core.estimate import Estimate

WINDOW = ("model", "segment", "window", "maturity")
STREAM = ("model", "segment")
PLACE = ("model", "column", "value")


@dataclass(frozen=True)
class Gauge:
    """One gauge: its name, meaning and labels, and how to take its samples from a snapshot."""

    name: str
    meaning: str
    labels: tuple[str, ...]
    samples: Samples[float]


def _with_interval(
    name: str,
    meaning: str,
    labels: tuple[str, ...],
    estimates: Samples[Estimate],
    *,
    of: str = "",
) -> tuple[Gauge, Gauge, Gauge]:
    """Declare three gauges at once: an estimate and the ends of its 95 % interval."""
    return (
        Gauge(name, meaning, labels, _part(estimates, "value")),
        Gauge(
            f"{name}_low",
            f"Lower end of the 95 % interval of {of}{name}.",
            labels,
            _part(estimates, "low"),
        ),
        Gauge(
            f"{name}_high",
            f"Upper end of the 95 % interval of {of}{name}.",
            labels,
            _part(estimates, "high"),
        ),
    )


def _part(estimates: Samples[Estimate], name: str) -> Samples[float]:
    return lambda snapshot: [(labels, getattr(e, name)) for labels, e in estimates(snapshot)]


def _around(value: float, interval: Estimate | Expectation | None) -> Estimate:
    """Join a value and its interval; the ends are nan, so without samples, if there is none."""
    return Estimate(value, interval.low, interval.high) if interval else Estimate(value, nan, nan)


CATALOGUE = (
    *_with_interval(
        "calibration_tce_ratio",
        "TCE at a fixed number of predictions: share of predictions that the outcomes of their "
        "bin reject. About 0.12 for calibrated scores, at any volume and prevalence.",
        (*WINDOW, "adjusted"),
        window_samples.of_errors(lambda errors: errors.tce),
    ),
    Gauge(
        "calibration_tce_published_ratio",
        "Share of predictions that the outcomes of their bin reject, with the published bin "
        "sizes. Far from 0 even for calibrated scores, so compare it with "
        "calibration_tce_null_ratio.",
        (*WINDOW, "adjusted"),
        window_samples.of_errors(lambda errors: errors.tce_published),
    ),
    Gauge(
        "calibration_tce_null_ratio",
        "Quantile of calibration_tce_published_ratio if the prior-adjusted scores were calibrated.",
        (*WINDOW, "quantile"),
        window_samples.of_null,
    ),
    *_with_interval(
        "calibration_ece_ratio",
        "Expected calibration error: mean gap between score and outcome over bins.",
        (*WINDOW, "adjusted"),
        window_samples.of_errors(lambda errors: _around(errors.ece, errors.ece_interval)),
        of="the error behind ",
    ),
    *_with_interval(
        "calibration_rbs",
        "Root Brier score: square root of the mean squared gap between score and outcome.",
        (*WINDOW, "adjusted"),
        window_samples.of_errors(lambda errors: _around(errors.rbs, errors.rbs_interval)),
    ),
    *_with_interval(
        "calibration_slope",
        "Slope of the outcomes on the scores' log-odds; below 1 the scores are too extreme.",
        WINDOW,
        window_samples.of_window(lambda e: e.slope),
    ),
    *_with_interval(
        "calibration_map_slope",
        "The slope of the scores that a calibration map in the shadow makes; 1 is right.",
        WINDOW,
        window_samples.of_window(lambda e: e.map_slope),
    ),
    *_with_interval(
        "calibration_map_log_loss_removed",
        "Log loss per prediction that a calibration map in the shadow removed, over all days on "
        "which it was compared.",
        STREAM,
        window_samples.of_map(lambda gain: gain.log_loss),
    ),
    *_with_interval(
        "calibration_map_squared_error_removed",
        "Squared error per prediction that a calibration map in the shadow removed, over all days "
        "on which it was compared.",
        STREAM,
        window_samples.of_map(lambda gain: gain.brier),
    ),
    *_with_interval(
        "calibration_map_recent_log_loss_removed",
        "Log loss per prediction that a calibration map in the shadow removed, over at most the "
        "last 28 compared days; if even its upper end is below 0, the map harms.",
        STREAM,
        window_samples.of_map(lambda gain: gain.recent),
    ),
    Gauge(
        "calibration_log_loss_explained",
        "Part of the calibration error of the raw scores that a cause explains, in nats of log "
        "loss.",
        (*WINDOW, "cause"),
        window_samples.of_causes(lambda causes: causes.log_loss),
    ),
    Gauge(
        "calibration_squared_error_explained",
        "Part of the calibration error of the raw scores that a cause explains, in squared "
        "probability.",
        (*WINDOW, "cause"),
        window_samples.of_causes(lambda causes: causes.squared_error),
    ),
    *_with_interval(
        "calibration_intercept_logit",
        "Constant that makes the scores right on average when added to the logit of each.",
        WINDOW,
        window_samples.of_window(lambda e: e.shift),
    ),
    *_with_interval(
        "calibration_intercept_log_loss_removed",
        "Log loss per prediction that adding calibration_intercept_logit to the logit of every "
        "score would remove.",
        WINDOW,
        window_samples.of_window(lambda e: e.correction.log_loss if e.correction else None),
    ),
    *_with_interval(
        "calibration_intercept_squared_error_removed",
        "Squared error per prediction that adding calibration_intercept_logit to the logit of "
        "every score would remove.",
        WINDOW,
        window_samples.of_window(lambda e: e.correction.squared_error if e.correction else None),
    ),
    *_with_interval(
        "calibration_vector_rbs",
        "Root Brier score of vectors of class probabilities: square root of the mean of the "
        "squared gaps summed over all classes.",
        (*WINDOW, "adjusted"),
        class_samples.of_vectors(lambda errors: errors.rbs),
    ),
    *_with_interval(
        "calibration_vector_log_loss_nats",
        "Mean log loss of vectors of class probabilities: minus the logarithm of the probability "
        "of the class that came true.",
        (*WINDOW, "adjusted"),
        class_samples.of_vectors(lambda errors: errors.log_score),
    ),
    Gauge(
        "calibration_class_tce_ratio",
        "TCE at a fixed number of predictions of one class against the rest.",
        (*WINDOW, "class", "adjusted"),
        class_samples.of_class_errors(class_samples.tce_of),
    ),
    Gauge(
        "calibration_class_ece_ratio",
        "Expected calibration error of one class against the rest.",
        (*WINDOW, "class", "adjusted"),
        class_samples.of_class_errors(lambda errors: errors.ece),
    ),
    Gauge(
        "calibration_class_rbs",
        "Root Brier score of one class against the rest.",
        (*WINDOW, "class", "adjusted"),
        class_samples.of_class_errors(lambda errors: errors.rbs),
    ),
    Gauge(
        "calibration_class_prevalence_ratio",
        "Share of the known outcomes that are the class.",
        (*WINDOW, "class"),
        class_samples.of_class(lambda one: one.prevalence),
    ),
    Gauge(
        "calibration_class_mean_score_ratio",
        "Mean score of the class.",
        (*WINDOW, "class"),
        class_samples.of_class(lambda one: one.mean_score),
    ),
    Gauge(
        "calibration_classwise_tce_ratio",
        "Mean and largest calibration_class_tce_ratio over the watched classes.",
        (*WINDOW, "adjusted", "over"),
        class_samples.of_all_classes(class_samples.tce_of),
    ),
    Gauge(
        "calibration_classwise_ece_ratio",
        "Mean and largest calibration_class_ece_ratio over the watched classes.",
        (*WINDOW, "adjusted", "over"),
        class_samples.of_all_classes(lambda errors: errors.ece),
    ),
    Gauge(
        "calibration_classwise_rbs",
        "Mean and largest calibration_class_rbs over the watched classes.",
        (*WINDOW, "adjusted", "over"),
        class_samples.of_all_classes(lambda errors: errors.rbs),
    ),
    Gauge(
        "calibration_judged_outcomes_ratio",
        "Share of the known outcomes that the verdict of a model with classes rests on: one of the "
        "two classes with the highest scores came true.",
        WINDOW,
        class_samples.of_measures(lambda measures: measures.judged),
    ),
    Gauge(
        "calibration_classes_left_out",
        "Classes without gauges of their own, because they are not watched one by one or are more "
        "than the exporter's limit.",
        ("model",),
        class_samples.of_classes_left_out,
    ),
    Gauge(
        "calibration_pairs_left_out",
        "Pairs of classes without gauges of their own: they have no verdict of their own, or are "
        "more than the exporter's limit. They count in that of segment all.",
        ("model",),
        class_samples.of_pairs_left_out,
    ),
    Gauge(
        "calibration_prevalence_ratio",
        "Share of the known outcomes that are 1.",
        WINDOW,
        window_samples.of_window(lambda e: e.prevalence),
    ),
    Gauge(
        "calibration_mean_score_ratio",
        "Mean score of the predictions whose outcome is known.",
        WINDOW,
        window_samples.of_window(lambda e: e.mean_score),
    ),
    Gauge(
        "calibration_window_predictions",
        "Valid predictions in the window.",
        WINDOW,
        window_samples.of_window(lambda e: e.predicted),
    ),
    Gauge(
        "calibration_window_outcomes",
        "Predictions in the window whose outcome is known.",
        WINDOW,
        window_samples.of_window(lambda e: e.matched),
    ),
    Gauge(
        "calibration_window_present_ratio",
        "Share of the window's days that are in the store.",
        WINDOW,
        window_samples.of_window(lambda e: e.days_present / e.window_days),
    ),
    Gauge(
        "calibration_outcome_coverage_ratio",
        "Share of the window's predictions whose outcome is known.",
        WINDOW,
        window_samples.of_window(lambda e: e.coverage),
    ),
    Gauge(
        "calibration_rejected_rows",
        "Rows of the logs that the window leaves out, by the check that they failed.",
        (*WINDOW, "reason"),
        window_samples.of_rejected_rows,
    ),
    Gauge(
        "calibration_window_end_timestamp_seconds",
        "When the last day of the window ended, in the model's time zone.",
        WINDOW,
        window_samples.of_window_ends,
    ),
    Gauge(
        "calibration_verdict",
        "Verdict on the newest judged day: 1 for its state, 0 for the other states.",
        (*STREAM, "state"),
        verdict_samples.of_states,
    ),
    Gauge(
        "calibration_verdict_timestamp_seconds",
        "When the newest judged day ended, in the model's time zone.",
        STREAM,
        verdict_samples.of_judged_days,
    ),
    Gauge(
        "calibration_verdict_date_seconds",
        "The newest judged day: the Unix time of that date's midnight in UTC.",
        STREAM,
        verdict_samples.of_verdict(lambda v: seconds_of(v.day)),
    ),
    Gauge(
        "calibration_evidence_log10",
        "Evidence of a calibration drift that was reached, log10, over all kinds. A prior shift "
        "does not change it. A drift opens at calibration_evidence_limit_log10, and the evidence "
        "starts again from 0 on the day after.",
        STREAM,
        verdict_samples.of_evidence,
    ),
    Gauge(
        "calibration_kind_evidence_log10",
        "Accumulated evidence, log10, for one kind of distortion of the reference curve.",
        (*STREAM, "kind"),
        verdict_samples.of_kind_evidence,
    ),
    Gauge(
        "calibration_evidence_limit_log10",
        "Evidence, log10, at which the monitor reports a calibration drift. For a segment it "
        "depends on the other segments of that day.",
        STREAM,
        verdict_samples.of_verdict(lambda v: v.limit),
    ),
    Gauge(
        "calibration_drift_kind",
        "Kind of the open calibration drift: 1 for that kind, 0 for the others and while none is "
        "open.",
        (*STREAM, "kind"),
        verdict_samples.of_kinds,
    ),
    Gauge(
        "calibration_drift_evidence_log10",
        "Evidence, log10, with which the open calibration drift was found. It stays when the "
        "kind changes.",
        STREAM,
        verdict_samples.of_incident(lambda incident: incident.evidence),
    ),
    Gauge(
        "calibration_drift_started_timestamp_seconds",
        "Estimated start of the open calibration drift.",
        STREAM,
        verdict_samples.of_starts(lambda incident: incident.started),
    ),
    Gauge(
        "calibration_drift_started_low_timestamp_seconds",
        "First day of the 90 % interval of the start of the open calibration drift.",
        STREAM,
        verdict_samples.of_starts(lambda incident: incident.start_low),
    ),
    Gauge(
        "calibration_drift_started_high_timestamp_seconds",
        "Last day of the 90 % interval of the start of the open calibration drift.",
        STREAM,
        verdict_samples.of_starts(lambda incident: incident.start_high),
    ),
    Gauge(
        "calibration_tolerated_slope_change",
        "Changes of the slope below this are tolerated with this reference.",
        STREAM,
        verdict_samples.of_detectable(lambda found: found.tolerated),
    ),
    Gauge(
        "calibration_detectable_slope_change",
        "Changes of the slope above this are found with this reference.",
        STREAM,
        verdict_samples.of_detectable(lambda found: found.found),
    ),
    Gauge(
        "calibration_slope_detection_days",
        "Days that a slope of 0.8 takes to be found with the volume of the reference.",
        STREAM,
        verdict_samples.of_detectable(lambda found: found.days),
    ),
    Gauge(
        "calibration_unknown_scores_ratio",
        "Share of the scores of the judged day that lie where the reference does not know its "
        "curve. The verdict says nothing about them.",
        STREAM,
        verdict_samples.of_verdict(lambda v: v.evidence.unknown_share if v.evidence else None),
    ),
    *_with_interval(
        "calibration_reference_slope",
        "Slope of the outcomes of the reference on its own scores: 1 if they were calibrated, "
        "apart from the prior.",
        STREAM,
        verdict_samples.of_verdict(lambda v: v.reference_slope),
    ),
    *_with_interval(
        "calibration_reference_intercept_logit",
        "How far the log-odds of all scores of the reference were off on average: above 0 if more "
        "came true than expected.",
        STREAM,
        verdict_samples.of_verdict(lambda v: v.reference_intercept),
    ),
    Gauge(
        "calibration_drift_started_date_seconds",
        "First day of the open calibration drift: the Unix time of that date's midnight in UTC, "
        "whatever the model's time zone.",
        STREAM,
        verdict_samples.of_incident(lambda incident: seconds_of(incident.started)),
    ),
    Gauge(
        "calibration_drift_size_logit",
        "How far the log-odds are off where the open calibration drift is strongest; not of drifts "
        "that calibration_drift_slope measures.",
        STREAM,
        verdict_samples.of_sizes,
    ),
    Gauge(
        "calibration_ended_drift_date_seconds",
        "Day on which the last calibration drift closed, and why, until another one opens: the "
        "Unix time of that date's midnight in UTC.",
        (*STREAM, "ending"),
        verdict_samples.of_ends,
    ),
    Gauge(
        "calibration_ended_drift_duration_seconds",
        "How long the last calibration drift lasted, from its first day to the one on which it "
        "closed.",
        STREAM,
        verdict_samples.of_durations,
    ),
    *_with_interval(
        "calibration_drift_slope",
        "Slope of the outcomes on the reference curve since the open drift began, or over 7 "
        "days if none is open.",
        STREAM,
        verdict_samples.of_verdict(lambda v: v.slope),
    ),
    Gauge(
        "calibration_value_evidence_log10",
        "Evidence, log10, that the curve of a value of a column moved since the open calibration "
        "drift began, compared with itself in the reference.",
        PLACE,
        verdict_samples.of_places(lambda place: place.evidence),
    ),
    Gauge(
        "calibration_value_flagged",
        "Whether the value of a column is off beyond the tolerance: 1 yes, 0 no. At most one in 20 "
        "flagged values is flagged by chance, over all columns.",
        PLACE,
        verdict_samples.of_places(lambda place: place.flagged),
    ),
    Gauge(
        "calibration_value_slope",
        "Slope of the outcomes of a value of a column since the open calibration drift began, "
        "divided by its slope in the reference.",
        PLACE,
        verdict_samples.of_places(lambda place: place.slope.value if place.slope else None),
    ),
    Gauge(
        "calibration_value_error_ratio",
        "Share of the error of all values of a column that one value has, since the open "
        "calibration drift began.",
        PLACE,
        verdict_samples.of_places(lambda place: place.share),
    ),
    Gauge(
        "calibration_values_flagged",
        "Values of columns that are off beyond the tolerance, with or without gauges of their own.",
        ("model",),
        verdict_samples.of_flagged_places,
    ),
    Gauge(
        "calibration_drift_explained_ratio",
        "Share of the evidence of the open calibration drift that comes from few values of "
        "columns. Without them the rest is as before.",
        ("model", "values"),
        verdict_samples.of_explanations,
    ),
    Gauge(
        "calibration_values_left_out",
        "Values of columns that were compared, but have no gauges of their own because of the "
        "exporter's limit.",
        ("model",),
        verdict_samples.of_places_left_out,
    ),
    *_with_interval(
        "calibration_prior_shift_logit",
        "Shift of the reference curve, in logit, that makes it right on average over 7 days.",
        STREAM,
        verdict_samples.of_verdict(lambda v: v.shift),
    ),
    *_with_interval(
        "calibration_level_change_logit",
        "Change of the level, in logit over 7 days, that the change of the prevalence does not "
        "explain.",
        STREAM,
        verdict_samples.of_verdict(lambda v: v.level_change),
    ),
    Gauge(
        "calibration_reference_prevalence_ratio",
        "Share of outcomes that are 1 in the reference.",
        STREAM,
        verdict_samples.of_verdict(lambda v: v.reference_prevalence),
    ),
    *_with_interval(
        "calibration_expected_prevalence_ratio",
        "Expected prevalence of the newest day whose outcomes are still arriving, if only the "
        "prior changes.",
        STREAM,
        window_samples.of_expected(lambda expected: _around(expected.prevalence, expected)),
    ),
    *_with_interval(
        "calibration_expected_shift_logit",
        "How far the log-odds of calibration_expected_prevalence_ratio are from those of the "
        "reference's prevalence: what a map could follow before outcomes arrive.",
        STREAM,
        window_samples.of_expected_shift,
    ),
    Gauge(
        "calibration_expected_prevalence_fit_log10_p",
        "Probability, log10, of scores this unlike the reference's if only the prior changes.",
        STREAM,
        window_samples.of_expected(lambda expected: expected.fit_log10_p),
    ),
    Gauge(
        "calibration_false_alert_interval_seconds",
        "Lower limit of the mean time between false alerts of calibration drift for the whole "
        "model.",
        ("model",),
        window_samples.of_limit(lambda limits: limits.false_alert_days * SECONDS_A_DAY),
    ),
    Gauge(
        "calibration_segment_false_alert_interval_seconds",
        "Lower limit of the mean time between false alerts of calibration drift for all "
        "segments of the model together.",
        ("model",),
        window_samples.of_limit(lambda limits: limits.segment_false_alert_days * SECONDS_A_DAY),
    ),
    Gauge(
        "calibration_run_overdue_limit_seconds",
        "Time since the last run without a failed day after which the next run is overdue.",
        ("model",),
        window_samples.of_limit(lambda limits: limits.run_overdue_hours * SECONDS_AN_HOUR),
    ),
    Gauge(
        "calibration_run_late_limit_seconds",
        "A run is not overdue while it is late by less than this, compared with a week before.",
        ("model",),
        window_samples.of_limit(lambda limits: limits.run_late_hours * SECONDS_AN_HOUR),
    ),
    Gauge(
        "calibration_data_error_limit_seconds",
        "Runs may fail for so long before it is a data error.",
        ("model",),
        window_samples.of_limit(lambda limits: limits.data_error_hours * SECONDS_AN_HOUR),
    ),
    Gauge(
        "calibration_outcome_coverage_limit_ratio",
        "Outcomes are missing if their coverage is below this share of its usual value.",
        ("model",),
        window_samples.of_limit(lambda limits: limits.outcome_coverage_limit),
    ),
    Gauge(
        "calibration_rejected_rows_limit_ratio",
        "Rejected rows are unusual if their share is above this multiple of its usual value.",
        ("model",),
        window_samples.of_limit(lambda limits: limits.rejected_rows_limit),
    ),
    Gauge(
        "calibration_segments_left_out",
        "Segments for which only an open calibration drift is exported, because the model has "
        "more segments than the exporter's limit.",
        ("model",),
        window_samples.of_segments_left_out,
    ),
    Gauge(
        "calibration_last_run_timestamp_seconds",
        "When the last run finished, with or without failed days.",
        ("model",),
        window_samples.of_run(lambda run: run.finished.timestamp()),
    ),
    Gauge(
        "calibration_last_success_timestamp_seconds",
        "When the last run without a failed day finished.",
        ("model",),
        window_samples.of_successes,
    ),
    Gauge(
        "calibration_failing_since_timestamp_seconds",
        "When the first run with a failed day after the last success finished.",
        ("model",),
        window_samples.of_failing_runs,
    ),
    Gauge(
        "calibration_failed_day_date_seconds",
        "Newest failed day of the last run, and what is wrong with its logs: the Unix time of that "
        "date's midnight in UTC.",
        ("model", "log", "check", "complaint"),
        window_samples.of_failed_days,
    ),
    Gauge(
        "calibration_failed_rows",
        "Rows of that day and log that broke the check.",
        ("model",),
        window_samples.of_fault(lambda fault: fault.rows if fault.of else None),
    ),
    Gauge(
        "calibration_failed_checked_rows",
        "Rows of that day and log to which the check applies.",
        ("model",),
        window_samples.of_fault(lambda fault: fault.of or None),
    ),
    Gauge(
        "calibration_failed_value",
        "The first value that broke the check, if it is a number.",
        ("model",),
        window_samples.of_fault(lambda fault: fault.value),
    ),
    Gauge(
        "calibration_arrived_outcomes_ratio",
        "Share of the outcomes of complete days that had arrived by an age, in days, of those that "
        "arrive within 28 days after a day has settled. Below 0.95 at settled_after verdicts say "
        "that outcomes are incomplete.",
        ("model", "outcome", "age_days"),
        window_samples.of_arrivals,
    ),
    Gauge(
        "calibration_run_duration_seconds",
        "Duration of the last run.",
        ("model",),
        window_samples.of_run(lambda run: (run.finished - run.started).total_seconds()),
    ),
    Gauge(
        "calibration_reference_start_timestamp_seconds",
        "Start of the first day of each configured reference, numbered from the oldest.",
        ("model", "reference"),
        window_samples.of_reference_starts,
    ),
    Gauge(
        "calibration_model_info",
        "A configured model, with its owner and severity; always 1.",
        ("model", "owner", "severity"),
        window_samples.of_models,
    ),
    Gauge(
        "calibration_model_config_valid",
        "Whether the configuration of the model is valid: 1 yes, 0 no.",
        ("model",),
        window_samples.of_valid_configurations,
    ),
    Gauge(
        "calibration_model_results_readable",
        "Whether the stored results of the model can be read: 1 yes, 0 no.",
        ("model",),
        window_samples.of_readable_results,
    ),
    Gauge(
        "calibration_report_info",
        "The report page of a model, as configured; always 1.",
        ("model", "url"),
        window_samples.of_reports,
    ),
    Gauge(
        "calibration_build_info",
        "Version of the running calibration-monitor; always 1.",
        ("version",),
        window_samples.of_version,
    ),
)
