"""How much of a model is exported: for a fleet, what alerts need may be enough. Pure."""

from typing import Literal

from monitor.export.gauges import CATALOGUE

Detail = Literal["verdict", "measures", "full"]

# What the alerts of the whole model and of its segments with an open drift rest on, except the
# alert on unusually many rejected rows, whose gauges have a series for each window and reason.
OF_VERDICTS = frozenset(
    [
        "calibration_build_info",
        "calibration_data_error_limit_seconds",
        "calibration_drift_explained_ratio",
        "calibration_drift_kind",
        "calibration_drift_slope",
        "calibration_drift_started_date_seconds",
        "calibration_drift_started_timestamp_seconds",
        "calibration_ended_drift_date_seconds",
        "calibration_ended_drift_duration_seconds",
        "calibration_failed_checked_rows",
        "calibration_failed_day_date_seconds",
        "calibration_failed_rows",
        "calibration_failed_value",
        "calibration_failing_since_timestamp_seconds",
        "calibration_false_alert_interval_seconds",
        "calibration_last_run_timestamp_seconds",
        "calibration_last_success_timestamp_seconds",
        "calibration_level_change_logit",
        "calibration_map_recent_log_loss_removed_high",
        "calibration_model_config_valid",
        "calibration_model_info",
        "calibration_model_results_readable",
        "calibration_outcome_coverage_limit_ratio",
        "calibration_outcome_coverage_ratio",
        "calibration_prior_shift_logit",
        "calibration_reference_prevalence_ratio",
        "calibration_report_info",
        "calibration_run_late_limit_seconds",
        "calibration_run_overdue_limit_seconds",
        "calibration_segments_left_out",
        "calibration_value_evidence_log10",
        "calibration_value_flagged",
        "calibration_values_flagged",
        "calibration_values_left_out",
        "calibration_verdict",
        "calibration_verdict_date_seconds",
        "calibration_verdict_timestamp_seconds",
    ]
)


def gauges_of(detail: Detail) -> frozenset[str]:
    """Name the gauges of a detail."""
    return OF_VERDICTS if detail == "verdict" else frozenset(gauge.name for gauge in CATALOGUE)


def segments_of(detail: Detail, most: int) -> int:
    """Say how many segments besides `all` are exported; an open drift is in every detail."""
    return most if detail == "full" else 0
