r"""One DAG for each configured model: a schedule that passes dates to `monitor.pipeline.run.run`.

The environment variable CALIBRATION_MONITOR_CONFIG names the configuration file, for the
dag-processor and for the workers alike.

A scheduled run does the days that became settled in its interval. With a daily schedule that is
one: the run for the interval [D, D + 1) does day D - settled_after. Outcomes of the day on which
the interval ends are not read, because they are still being written. To do a certain day::

    airflow dags trigger calibration_fraud --conf '{"day": "2026-03-01"}'

Give a manual run its day: without one it has no interval and is refused, or, triggered with
--logical-date, it takes the newest interval whatever that date is. To make up for the past, or
for a time in which no scheduler ran::

    airflow backfill create --dag-id calibration_fraud \
        --from-date 2026-03-02 --to-date 2026-03-31T23:59

The dates bound the beginnings of intervals, in UTC unless they carry an offset. Keep the T23:59: a
bare date is its midnight, which leaves the last interval out. An interval that has a run already
is left alone unless --reprocess-behavior completed is given.

Afterwards `run_unsettled` does the days that are not due yet, as `run --unsettled` does, so that
the prevalence to expect is known. What becomes of it never changes the state of the run, and Slack
is not told. It is skipped if a day was asked for, and in a run that did not begin on the day on
which its interval ended, as in a backfill or when an old run is cleared: later days may be settled
since, and would be read as they were then.

A run that has failed for good is told to Slack if CALIBRATION_MONITOR_SLACK_CONNECTION names a
connection of the type "Slack Incoming Webhook" (install calibration-monitor[slack]). The message
links to the runbook if CALIBRATION_MONITOR_RUNBOOK names the address of your alerts/runbook.md.
"""

import logging
import os
from datetime import UTC, date, datetime, timedelta
from html import escape
from pathlib import Path
from zoneinfo import ZoneInfo

from airflow.sdk import DAG, Context, CronDataIntervalTimetable, Param, get_current_context, task
from airflow.sdk.exceptions import (
    AirflowFailException,
    AirflowSkipException,
    AirflowTimetableInvalid,
)
from airflow.sdk.types import DagRunProtocol

from monitor.config import Config, Model, load_config
from monitor.errors import ConfigError, DataError

VARIABLE = "CALIBRATION_MONITOR_CONFIG"
SLACK = "CALIBRATION_MONITOR_SLACK_CONNECTION"
RUNBOOK = "CALIBRATION_MONITOR_RUNBOOK"
PREFIX = "calibration_"
ABOUT = """\
Can the probabilities of **{name}** still be trusted?

Reads the logs of the days that became settled, joins predictions to outcomes, and judges every
window that holds one of these days, as `calibration-monitor run` does. The same logs give the
same results, so running it again is harmless.

* `run` does these days. `run_unsettled` does the later ones, whose outcomes are awaited: their
  scores already tell what prevalence to expect.
* To do a certain day, trigger it with that `day`.
* Missing or broken logs are tried again for some hours; the message says what to mend.
* A wrong configuration or call fails at once: trying again would not help.
"""


def configuration() -> Config:
    """Load the file that the environment names."""
    path = os.environ.get(VARIABLE)
    if not path:
        msg = f"{VARIABLE} is not set; let it name the configuration file, here and on the workers."
        raise ConfigError(msg)
    return load_config(Path(path))


def timetable(name: str, model: Model) -> CronDataIntervalTimetable:
    """Turn a model's schedule into intervals that begin and end by its own clock."""
    intervals = CronDataIntervalTimetable(model.schedule, timezone=model.time_zone)
    try:
        intervals.validate()
    except AirflowTimetableInvalid as error:
        where = f"{os.environ[VARIABLE]}: models.{name}.schedule"
        why = str(error).rstrip(".")
        msg = f"{where}: {why}, got {model.schedule!r}; write five fields, like '0 6 * * *'."
        raise ConfigError(msg) from None
    return intervals


def local(moment: datetime, model: Model) -> date:
    """Find the day by a model's own clock."""
    return moment.astimezone(ZoneInfo(model.time_zone)).date()


def days_to_do(model: Model, day: str | None, dag_run: DagRunProtocol) -> tuple[date, date, date]:
    """Find the first and the last day of a run, and the day from which on no outcomes are read."""
    if day:
        asked = date.fromisoformat(day)
        return asked, asked, local(dag_run.run_after, model)
    if not dag_run.data_interval_start or not dag_run.data_interval_end:
        msg = f"{dag_run.run_id}: has no interval; trigger it with a day, like 2026-03-01."
        raise ConfigError(msg)
    start, end = (
        local(moment, model) for moment in (dag_run.data_interval_start, dag_run.data_interval_end)
    )
    last = end - timedelta(days=1 + model.settled_after)
    # Within one day nothing becomes settled: more than one run a day repeats the newest day.
    return min(start - timedelta(days=model.settled_after), last), last, end


def tell_slack(context: Context) -> None:
    """Tell Slack that a run has failed for good: which model and day, why, and what to do.

    A function, because a notifier's template fields are rendered in place on one shared object, and
    a message could carry the text of another run.
    """
    connection = os.environ.get(SLACK)
    if not connection:
        return
    from airflow.providers.slack.hooks.slack_webhook import (  # noqa: PLC0415 - needs the extra slack
        SlackWebhookHook,
    )

    name, error = context["dag"].dag_id.removeprefix(PREFIX), context.get("exception")
    try:
        first, last, _ = days_to_do(
            CONFIG.model(name), context["params"]["day"], context["dag_run"]
        )
        days = f"{first}" if first == last else f"{first} to {last}"
    except ConfigError:
        days = "no day"
    heading = (
        "calibrationdataerror" if isinstance(error, DataError) else "calibrationevaluationmissing"
    )
    book = os.environ.get(RUNBOOK)
    SlackWebhookHook(slack_webhook_conn_id=connection).send_text(
        f"*{name}*, {days}: the run has failed for good.\n"
        f"{escape(str(error), quote=False)}" + (f"\n<{book}#{heading}|Runbook>" if book else "")
    )


@task(
    on_failure_callback=tell_slack,
    retries=4,
    retry_delay=timedelta(minutes=15),
    retry_exponential_backoff=2,
    max_retry_delay=timedelta(hours=2),
    # A run rewrites later days too, and a backfill does not heed the DAG's max_active_runs.
    max_active_tis_per_dag=1,
)
def run(name: str) -> None:
    """Do the days of this run; a day with bad logs does not keep the others from being done."""
    context = get_current_context()
    try:
        first, last, as_of = days_to_do(
            CONFIG.model(name), context["params"]["day"], context["dag_run"]
        )
        do(name, first, last, as_of=as_of)
    except ConfigError as error:
        raise AirflowFailException(str(error)) from error


# The next run does these days again, and until then nobody waits for a retry.
@task(retries=0, max_active_tis_per_dag=1)
def run_unsettled(name: str) -> None:
    """Do the days too that are not due, if this run is of today.

    The days of `run` are looked at again and left alone if they were done, so that the record of
    the model's last run speaks of all days: one that failed is not covered up.
    """
    from monitor.logs import newest_day  # noqa: PLC0415 - as in `do`

    context, model = get_current_context(), CONFIG.model(name)
    day, dag_run = context["params"]["day"], context["dag_run"]
    first, last, as_of = days_to_do(model, day, dag_run)
    began = local(dag_run.start_date, model) if dag_run.start_date else None
    if day or began != as_of:
        msg = f"{name}: this run is of {day or f'the past, as of {as_of}'}; a run of today does it."
        raise AirflowSkipException(msg)
    newest = newest_day(model, as_of=as_of)
    if newest <= last:
        msg = f"{name}: as of {as_of} there are no predictions after {last}; nothing is awaited."
        raise AirflowSkipException(msg)
    do(name, first, newest, as_of=as_of, skip_unchanged=True)


def do(name: str, first: date, last: date, *, as_of: date, skip_unchanged: bool = False) -> None:
    """Hand the dates to the pipeline, and fail if a day did."""
    from monitor.pipeline import run as pipeline  # noqa: PLC0415 - the parser of DAGs need not load the mathematics

    report = pipeline.run(
        CONFIG,
        name,
        first,
        last,
        as_of=as_of,
        clock=lambda: datetime.now(UTC),
        skip_unchanged=skip_unchanged,
    )
    if report.failures:
        raise DataError("\n".join(failure.message for failure in report.failures))
    days = f"{first}" if first == last else f"{first} to {last}"
    logging.getLogger(__name__).info(
        "%s: did %s, judged %d days", name, days, len(report.evaluated)
    )


CONFIG = configuration()

for name, model in CONFIG.models.items():
    with DAG(
        f"{PREFIX}{name}",
        schedule=timetable(name, model),
        catchup=False,
        max_active_runs=1,
        default_args={"owner": model.owner or "airflow"},
        params={
            "day": Param(
                None,
                type=["string", "null"],
                format="date",
                title="Day",
                description="The day of predictions to do; empty: what the interval settled.",
            )
        },
        tags=["calibration", model.severity],
        description=f"Can the probabilities of {name} still be trusted?",
        doc_md=ABOUT.format(name=name),
    ):
        # A teardown is done whatever became of `run`, and has no say in the state of the DAG's run.
        run(name) >> run_unsettled(name).as_teardown()
