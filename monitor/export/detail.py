"""How much of a model is exported: for a fleet, what alerts need may be enough. Pure.

Rule: where an alert looks back in time, a series that it looks for has to go on with 0 instead of
ending with 1. So in the smallest detail a drift that has ended still has its kinds for a while.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Literal

from monitor.drift.records.verdict import DRIFTING, SHIFTS, Verdict
from monitor.measures.gauges import CATALOGUE, Gauge, Sample
from monitor.measures.snapshot import Snapshot
from monitor.measures.verdict_scopes import lately_open

Detail = Literal["verdict", "measures", "full"]

# What alerts say of a drift or a shift; without one there is nothing to say.
OF_NEWS = frozenset(
    [
        "calibration_drift_slope",
        "calibration_level_change_logit",
        "calibration_prior_shift_logit",
        "calibration_reference_prevalence_ratio",
    ]
)
# What the alerts of the whole model and of its segments with an open drift rest on, except the
# alert on unusually many rejected rows, whose gauges have a series for each window and reason.
OF_VERDICTS = OF_NEWS | frozenset(
    [
        "calibration_acknowledged_timestamp_seconds",
        "calibration_acknowledged_until_timestamp_seconds",
        "calibration_awaited_reference_date_seconds",
        "calibration_blind_info",
        "calibration_budget_burn_ratio",
        "calibration_budget_burn_ratio_low",
        "calibration_budget_page_limit_ratio",
        "calibration_budget_ticket_limit_ratio",
        "calibration_build_info",
        "calibration_class_level_change_logit",
        "calibration_data_error_limit_seconds",
        "calibration_drift_class_info",
        "calibration_drift_explained_ratio",
        "calibration_drift_in_segments",
        "calibration_drift_kind",
        "calibration_drift_labels_ratio",
        "calibration_drift_started_date_seconds",
        "calibration_drift_started_timestamp_seconds",
        "calibration_drift_slope_before",
        "calibration_drift_undecided",
        "calibration_drift_unexplained_logit",
        "calibration_drift_urgent",
        "calibration_drift_worsenings",
        "calibration_ended_drift_date_seconds",
        "calibration_ended_drift_duration_seconds",
        "calibration_failed_checked_rows",
        "calibration_failed_day_date_seconds",
        "calibration_failed_rows",
        "calibration_failed_value",
        "calibration_failing_since_timestamp_seconds",
        "calibration_false_alert_interval_seconds",
        "calibration_known_drift_review_date_seconds",
        "calibration_last_run_timestamp_seconds",
        "calibration_last_success_timestamp_seconds",
        "calibration_map_recent_log_loss_removed_high",
        "calibration_model_config_valid",
        "calibration_model_info",
        "calibration_model_results_readable",
        "calibration_moved_share_ratio",
        "calibration_reference_changed_date_seconds",
        "calibration_not_comparable_date_seconds",
        "calibration_one_day_date_seconds",
        "calibration_outcome_coverage_limit_ratio",
        "calibration_outcome_coverage_ratio",
        "calibration_outcomes_info",
        "calibration_report_info",
        "calibration_run_late_limit_seconds",
        "calibration_run_overdue_limit_seconds",
        "calibration_shift_started_date_seconds",
        "calibration_value_drift_started_date_seconds",
        "calibration_value_evidence_log10",
        "calibration_value_flagged",
        "calibration_values_flagged",
        "calibration_verdict",
        "calibration_verdict_date_seconds",
        "calibration_verdict_timestamp_seconds",
    ]
)
NEWS = SHIFTS | DRIFTING | {"acknowledged"}
# Alerts look back at these states; of the others only the present one decides.
LOOKED_BACK_AT = frozenset(["data_error", "insufficient_data"])


def gauges_of(detail: Detail) -> tuple[Gauge, ...]:
    """List the gauges of a detail, in the order of the catalogue."""
    if detail != "verdict":
        return CATALOGUE
    return tuple(_of_verdicts(gauge) for gauge in CATALOGUE if gauge.name in OF_VERDICTS)


def _of_verdicts(gauge: Gauge) -> Gauge:
    """Leave out the samples that no alert needs."""

    def of_news(snapshot: Snapshot) -> Iterable[Sample]:
        return gauge.samples(replace(snapshot, verdicts=[*filter(_has_news, snapshot.verdicts)]))

    def of_states(snapshot: Snapshot) -> Iterable[Sample]:
        for labels, value in gauge.samples(snapshot):
            if value or LOOKED_BACK_AT.intersection(labels[2:]):  # after model and segment
                yield labels, value

    if gauge.name == "calibration_verdict":
        return replace(gauge, samples=of_states)
    return replace(gauge, samples=of_news) if gauge.name in OF_NEWS else gauge


def _has_news(verdict: Verdict) -> bool:
    return verdict.state in NEWS or lately_open(verdict)


def segments_of(detail: Detail, most: int) -> int:
    """Say how many segments besides `all` are exported; an open drift is in every detail."""
    return most if detail == "full" else 0
