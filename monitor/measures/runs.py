"""The measures of runs and configurations."""

from datetime import datetime

from monitor.measures import run_scopes as of
from monitor.measures import units
from monitor.measures.measure import Measure, Unit
from monitor.measures.snapshot import SECONDS_A_DAY, SECONDS_AN_HOUR

FAILED_ROWS = Unit("rows, from 1", 1.0)


def moment(at: datetime | None) -> float | None:
    """Take a moment, if there was one, as a Unix time."""
    return at.timestamp() if at else None


OF_RUNS = (
    Measure(
        "false_alert_interval_seconds",
        of.LIMITS,
        "Mean time between false alerts of calibration drift for the whole model: at least this "
        "long, or with `limit: calibrated` this long on average over references.",
        units.SECONDS,
        lambda limits: limits.false_alert_days * SECONDS_A_DAY,
    ),
    Measure(
        "segment_false_alert_interval_seconds",
        of.LIMITS,
        "Lower limit of the mean time between false alerts of calibration drift for all "
        "segments of the model together.",
        units.SECONDS,
        lambda limits: limits.segment_false_alert_days * SECONDS_A_DAY,
    ),
    Measure(
        "run_overdue_limit_seconds",
        of.LIMITS,
        "Time since the last run without a failed day after which the next run is overdue.",
        Unit("seconds, from 3600", 3600.0),
        lambda limits: limits.run_overdue_hours * SECONDS_AN_HOUR,
    ),
    Measure(
        "run_late_limit_seconds",
        of.LIMITS,
        "A run is not overdue while it is late by less than this, compared with a week before.",
        units.SECONDS,
        lambda limits: limits.run_late_hours * SECONDS_AN_HOUR,
    ),
    Measure(
        "data_error_limit_seconds",
        of.LIMITS,
        "Runs may fail for so long before it is a data error.",
        units.SECONDS,
        lambda limits: limits.data_error_hours * SECONDS_AN_HOUR,
    ),
    Measure(
        "outcome_coverage_limit_ratio",
        of.LIMITS,
        "Outcomes are missing if their coverage is below this share of its usual value.",
        units.RATIO,
        lambda limits: limits.outcome_coverage_limit,
    ),
    Measure(
        "rejected_rows_limit_ratio",
        of.LIMITS,
        "Rejected rows are unusual if their share is above this multiple of its usual value.",
        units.MULTIPLE,
        lambda limits: limits.rejected_rows_limit,
    ),
    Measure(
        "budget_page_limit_ratio",
        of.BUDGETS,
        "It pages if calibration_budget_burn_ratio is at least this, over 7 days and the last.",
        units.TIMES,
        lambda budget: budget.page,
    ),
    Measure(
        "budget_ticket_limit_ratio",
        of.BUDGETS,
        "A ticket if calibration_budget_burn_ratio is at least this, over 28 days and over 7.",
        units.TIMES,
        lambda budget: budget.ticket,
    ),
    Measure(
        "last_run_timestamp_seconds",
        of.RUN,
        "When the last run finished, with or without failed days.",
        units.TIME,
        lambda run: run.finished.timestamp(),
    ),
    Measure(
        "last_success_timestamp_seconds",
        of.RUN,
        "When the last run without a failed day finished.",
        units.TIME,
        lambda run: moment(run.succeeded),
        absent="before the first run without a failed day",
    ),
    Measure(
        "failing_since_timestamp_seconds",
        of.RUN,
        "When the first run with a failed day after the last success finished.",
        units.TIME,
        lambda run: moment(run.failing_since),
        absent="while the last run has no failed day",
    ),
    Measure(
        "failed_day_date_seconds",
        of.FAILED_DAY,
        "Newest failed day of the last run, and what is wrong with its logs: the Unix time of that "
        "date's midnight in UTC.",
        units.TIME,
    ),
    Measure(
        "failed_rows",
        of.FAULT,
        "Rows of that day and log that broke the check.",
        FAILED_ROWS,
        lambda fault: fault.rows if fault.of else None,
    ),
    Measure(
        "failed_checked_rows",
        of.FAULT,
        "Rows of that day and log to which the check applies.",
        FAILED_ROWS,
        lambda fault: fault.of or None,
    ),
    Measure(
        "failed_value",
        of.FAULT,
        "The first value that broke the check, if it is a number.",
        units.ANY,
        lambda fault: fault.value,
        absent=f"{of.NO_FAILURE}, and where the value is no number",
    ),
    Measure(
        "arrived_outcomes_ratio",
        of.ARRIVALS,
        "Share of the outcomes of complete days that had arrived by an age, in days, of those that "
        "arrive within 28 days after a day has settled. Below 0.95 at settled_after verdicts say "
        "that outcomes are incomplete.",
        units.RATIO,
    ),
    Measure(
        "run_duration_seconds",
        of.RUN,
        "Duration of the last run.",
        units.SECONDS,
        lambda run: (run.finished - run.started).total_seconds(),
    ),
    Measure(
        "reference_start_timestamp_seconds",
        of.REFERENCE_START,
        "Start of the first day of each reference that the configuration or rebase names, numbered "
        "from the oldest.",
        units.TIME,
    ),
    Measure(
        "map_deployed_timestamp_seconds",
        of.MAP_DEPLOYED,
        "Start of the first day of each deployed calibration map, numbered from the oldest.",
        units.TIME,
    ),
    Measure(
        "rebased_timestamp_seconds",
        of.REBASED,
        "When somebody last began a reference with rebase.",
        units.TIME,
    ),
    Measure(
        "model_info",
        of.MODEL,
        "A configured model, with its owner and severity; always 1.",
        units.INFO,
    ),
    Measure(
        "outcomes_info",
        of.OUTCOMES,
        "Who is responsible for the outcomes of a model, and hears that labels changed; always 1.",
        units.INFO,
    ),
    Measure(
        "model_config_valid",
        of.VALID,
        "Whether the configuration of the model is valid: 1 yes, 0 no.",
        units.FLAG,
    ),
    Measure(
        "model_results_readable",
        of.READABLE,
        "Whether the stored results of the model can be read: 1 yes, 0 no.",
        units.FLAG,
    ),
    Measure(
        "blind_info",
        of.BLIND,
        "How urgent it is that a model which pages has had no verdict for too long; always 1.",
        units.INFO,
    ),
    Measure(
        "known_drift_review_date_seconds",
        of.KNOWN_DRIFTS,
        "A month, 31 days, before the end of the last span of known_drifts: the Unix time of that "
        "date's midnight in UTC.",
        units.TIME,
    ),
    Measure(
        "report_info",
        of.REPORT,
        "The report page of a model, as configured; always 1.",
        units.INFO,
    ),
    Measure(
        "build_info",
        of.VERSION,
        "Version of the running calibration-monitor; always 1.",
        units.INFO,
    ),
)
