"""The measures of runs and configurations."""

from datetime import datetime

from monitor.measures.measure import Measure, Unit, as_is
from monitor.measures.run_scopes import (
    ARRIVALS,
    FAILED_DAY,
    FAULT,
    LIMITS,
    MODEL,
    NO_FAILURE,
    READABLE,
    REFERENCE_START,
    REPORT,
    RUN,
    SEGMENTS_LEFT_OUT,
    VALID,
    VERSION,
)
from monitor.measures.snapshot import SECONDS_A_DAY, SECONDS_AN_HOUR
from monitor.measures.units import ANY, FLAG, INFO, MULTIPLE, RATIO, SECONDS, SEGMENTS, TIME

FAILED_ROWS = Unit("rows, from 1", 1.0)


def moment(at: datetime | None) -> float | None:
    """Take a moment, if there was one, as a Unix time."""
    return at.timestamp() if at else None


OF_RUNS = (
    Measure(
        "false_alert_interval_seconds",
        LIMITS,
        lambda limits: limits.false_alert_days * SECONDS_A_DAY,
        "Lower limit of the mean time between false alerts of calibration drift for the whole "
        "model.",
        SECONDS,
    ),
    Measure(
        "segment_false_alert_interval_seconds",
        LIMITS,
        lambda limits: limits.segment_false_alert_days * SECONDS_A_DAY,
        "Lower limit of the mean time between false alerts of calibration drift for all "
        "segments of the model together.",
        SECONDS,
    ),
    Measure(
        "run_overdue_limit_seconds",
        LIMITS,
        lambda limits: limits.run_overdue_hours * SECONDS_AN_HOUR,
        "Time since the last run without a failed day after which the next run is overdue.",
        Unit("seconds, from 3600", 3600.0),
    ),
    Measure(
        "run_late_limit_seconds",
        LIMITS,
        lambda limits: limits.run_late_hours * SECONDS_AN_HOUR,
        "A run is not overdue while it is late by less than this, compared with a week before.",
        SECONDS,
    ),
    Measure(
        "data_error_limit_seconds",
        LIMITS,
        lambda limits: limits.data_error_hours * SECONDS_AN_HOUR,
        "Runs may fail for so long before it is a data error.",
        SECONDS,
    ),
    Measure(
        "outcome_coverage_limit_ratio",
        LIMITS,
        lambda limits: limits.outcome_coverage_limit,
        "Outcomes are missing if their coverage is below this share of its usual value.",
        RATIO,
    ),
    Measure(
        "rejected_rows_limit_ratio",
        LIMITS,
        lambda limits: limits.rejected_rows_limit,
        "Rejected rows are unusual if their share is above this multiple of its usual value.",
        MULTIPLE,
    ),
    Measure(
        "segments_left_out",
        SEGMENTS_LEFT_OUT,
        as_is,
        "Segments for which only an open calibration drift is exported, because the model has "
        "more segments than the exporter's limit.",
        SEGMENTS,
    ),
    Measure(
        "last_run_timestamp_seconds",
        RUN,
        lambda run: run.finished.timestamp(),
        "When the last run finished, with or without failed days.",
        TIME,
    ),
    Measure(
        "last_success_timestamp_seconds",
        RUN,
        lambda run: moment(run.succeeded),
        "When the last run without a failed day finished.",
        TIME,
        "before the first run without a failed day",
    ),
    Measure(
        "failing_since_timestamp_seconds",
        RUN,
        lambda run: moment(run.failing_since),
        "When the first run with a failed day after the last success finished.",
        TIME,
        "while the last run has no failed day",
    ),
    Measure(
        "failed_day_date_seconds",
        FAILED_DAY,
        as_is,
        "Newest failed day of the last run, and what is wrong with its logs: the Unix time of that "
        "date's midnight in UTC.",
        TIME,
    ),
    Measure(
        "failed_rows",
        FAULT,
        lambda fault: fault.rows if fault.of else None,
        "Rows of that day and log that broke the check.",
        FAILED_ROWS,
    ),
    Measure(
        "failed_checked_rows",
        FAULT,
        lambda fault: fault.of or None,
        "Rows of that day and log to which the check applies.",
        FAILED_ROWS,
    ),
    Measure(
        "failed_value",
        FAULT,
        lambda fault: fault.value,
        "The first value that broke the check, if it is a number.",
        ANY,
        f"{NO_FAILURE}, and where the value is no number",
    ),
    Measure(
        "arrived_outcomes_ratio",
        ARRIVALS,
        as_is,
        "Share of the outcomes of complete days that had arrived by an age, in days, of those that "
        "arrive within 28 days after a day has settled. Below 0.95 at settled_after verdicts say "
        "that outcomes are incomplete.",
        RATIO,
    ),
    Measure(
        "run_duration_seconds",
        RUN,
        lambda run: (run.finished - run.started).total_seconds(),
        "Duration of the last run.",
        SECONDS,
    ),
    Measure(
        "reference_start_timestamp_seconds",
        REFERENCE_START,
        as_is,
        "Start of the first day of each configured reference, numbered from the oldest.",
        TIME,
    ),
    Measure(
        "model_info",
        MODEL,
        as_is,
        "A configured model, with its owner and severity; always 1.",
        INFO,
    ),
    Measure(
        "model_config_valid",
        VALID,
        as_is,
        "Whether the configuration of the model is valid: 1 yes, 0 no.",
        FLAG,
    ),
    Measure(
        "model_results_readable",
        READABLE,
        as_is,
        "Whether the stored results of the model can be read: 1 yes, 0 no.",
        FLAG,
    ),
    Measure(
        "report_info",
        REPORT,
        as_is,
        "The report page of a model, as configured; always 1.",
        INFO,
    ),
    Measure(
        "build_info",
        VERSION,
        as_is,
        "Version of the running calibration-monitor; always 1.",
        INFO,
    ),
)
