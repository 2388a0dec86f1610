r"""One DAG for each configured model: a schedule that passes dates to `monitor.pipeline.run.run`.

Set the environment variable CALIBRATION_MONITOR_CONFIG to the configuration, a file or a folder,
for the dag-processor and for the workers. docs/airflow.md explains schedules, waiting, retries,
backfills, assets and Slack messages.

An error in the keys of one model does not affect the other DAGs: the DAG of that model stays, and
its task `run` fails with the message. An error in the keys that all models share is the import
error of this file.
"""

import logging
import os
import re
import shlex
import subprocess
from datetime import UTC, date, datetime, timedelta
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from airflow.sdk import (
    DAG,
    Asset,
    Context,
    CronDataIntervalTimetable,
    Param,
    get_current_context,
    task,
)
from airflow.sdk.exceptions import (
    AirflowFailException,
    AirflowSkipException,
    AirflowTimetableInvalid,
)
from airflow.sdk.types import DagRunProtocol

from monitor.config import Config, Model, load_config
from monitor.errors import ConfigError, DataError

if TYPE_CHECKING:
    from monitor.pipeline.beginning import Beginning

VARIABLE = "CALIBRATION_MONITOR_CONFIG"
SLACK = "CALIBRATION_MONITOR_SLACK_CONNECTION"
RUNBOOK = "CALIBRATION_MONITOR_RUNBOOK"
SUBMIT = "CALIBRATION_MONITOR_SUBMIT"
PREFIX = "calibration_"
ABOUT = """\
Can you still trust the probabilities of **{name}**?

Each run reads the logs of the days that have settled, joins predictions to outcomes, and gives a
verdict, as `calibration-monitor run` does. You can run it again safely: the same logs give the
same results.

* `wait_for_logs` waits for missing logs, up to the deadline in the configuration.
* `run` processes the settled days. It retries after a crash, and while logs are damaged. While no
  day of a new model has settled, it is skipped and says when the first one will be.
* `run_unsettled` processes later days, whose outcomes are still arriving, and reports the
  prevalence to expect.
* `write_report` writes the report page, if the configuration has a place for it.
* To process one day, trigger the DAG and enter the `day`.
* A successful run updates the asset `{asset}`.
"""
ABOUT_SUBMITTED = """\
Can you still trust the probabilities of **{name}**?

Each run reads the logs of the days that have settled, joins predictions to outcomes, and gives a
verdict, as `calibration-monitor run` does. The work is done on a cluster. You can run it again
safely: the same logs give the same results.

* `wait_for_logs` waits for missing logs, up to the deadline in the configuration.
* `submit` hands the days to the cluster. It retries if the cluster does not take them.
* `run` waits for the result in the store and fails if a day failed. To try again, clear `submit`.
* `write_report` writes the report page, if the configuration has a place for it.
* To process one day, trigger the DAG and enter the `day`.
* A successful run updates the asset `{asset}`.
"""
ABOUT_INVALID = """\
**The configuration of {name} is invalid.** Its runs fail until you correct it:

    {message}
"""
DAY = """\
The day of predictions to process, such as 2026-03-01. Always enter a day in a manual run. Without a
day, a run with a logical date processes the newest settled day, whatever its logical date is, and a
run without a logical date fails."""


def configuration() -> Config:
    """Load the configuration that the environment names."""
    path = os.environ.get(VARIABLE)
    if not path:
        msg = (
            f"{VARIABLE} is not set; set it to the path of the configuration, here and on the "
            f"workers."
        )
        raise ConfigError(msg)
    return load_config(Path(path))


def timetable(name: str, model: Model) -> CronDataIntervalTimetable:
    """Turn the schedule of a model into intervals in the time zone of the model."""
    intervals = CronDataIntervalTimetable(model.schedule, timezone=model.time_zone)
    try:
        intervals.validate()
    except AirflowTimetableInvalid as error:
        where = f"{os.environ[VARIABLE]}: models.{name}.schedule"
        why = str(error).rstrip(".")
        msg = f"{where}: {why}, got {model.schedule!r}; write five fields, such as '0 6 * * *'."
        raise ConfigError(msg) from None
    return intervals


def valid_model(name: str) -> Model:
    """Find a model, or raise ConfigError with what is wrong with its configuration."""
    model = CONFIG.model(name)
    timetable(name, model)
    return model


def settled_model(name: str) -> Model:
    """Find a model as `valid_model` does, with the number of days that it takes to settle."""
    from monitor.pipeline.settling import settle  # noqa: PLC0415 - as in `process`

    model = valid_model(name)
    if not model.settles_by_itself:
        return model
    return settle(CONFIG, name, as_of=date.max, look=False).model(name)


def local(moment: datetime, model: Model) -> date:
    """Find the day in the time zone of a model."""
    return moment.astimezone(ZoneInfo(model.time_zone)).date()


def days_to_process(
    model: Model, day: str | None, dag_run: DagRunProtocol
) -> tuple[date, date, date]:
    """Find the first and the last day of a run, and the first day whose outcomes are not read."""
    if day:
        asked = date.fromisoformat(day)
        return asked, asked, local(dag_run.run_after, model)
    if not dag_run.data_interval_start or not dag_run.data_interval_end:
        msg = f"{dag_run.run_id}: has no interval; trigger it with a day, such as 2026-03-01."
        raise ConfigError(msg)
    start, end = (
        local(moment, model) for moment in (dag_run.data_interval_start, dag_run.data_interval_end)
    )
    last = end - timedelta(days=1 + model.settled_after)
    # Within one day nothing settles: with several runs a day, each repeats the newest settled day.
    return min(start - timedelta(days=model.settled_after), last), last, end


def is_closed(model: Model, day: date) -> bool:
    """Return whether the calendar says that the model does not score on a day."""
    return model.calendar is not None and not model.calendar.has(day)


def beginning_of(name: str, as_of: date) -> "Beginning | None":
    """Describe a model whose first day has not settled; None if one could have settled."""
    from monitor.pipeline.beginning import beginning  # noqa: PLC0415 - as in `process`

    return beginning(CONFIG, name, as_of=as_of)


def missing_logs(name: str, model: Model, first: date, last: date, *, as_of: date) -> str | None:
    """Say which log of a range of days is missing; None if none is."""
    from monitor.logs import check_logs_exist, has_day  # noqa: PLC0415 - as in `process`

    try:
        for number in range((last - first).days + 1):
            day = first + timedelta(days=number)
            if has_day(model, "predictions", day) or not is_closed(model, day):
                check_logs_exist(name, model, day, as_of=as_of)
    except DataError as error:
        return str(error)
    return None


def tell_slack(context: Context) -> None:
    """Tell Slack that a run has finally failed: which model and day, why, and what to do.

    This is a function because Airflow renders the template fields of a notifier in place on one
    shared object, so a message could contain the text of another run.
    """
    connection = os.environ.get(SLACK)
    if not connection:
        return
    from airflow.providers.slack.hooks.slack_webhook import (  # noqa: PLC0415 - needs the extra slack
        SlackWebhookHook,
    )

    (name,), error = context["task"].op_args, context.get("exception")
    try:
        first, last, _ = days_to_process(
            valid_model(name), context["params"]["day"], context["dag_run"]
        )
        days = f"{first}" if first == last else f"{first} to {last}"
    except ConfigError:
        days = "no day"
    of_data = isinstance(error, DataError) or isinstance(
        getattr(error, "__cause__", None), DataError
    )
    heading = "calibrationdataerror" if of_data else "calibrationevaluationmissing"
    book = os.environ.get(RUNBOOK)
    SlackWebhookHook(slack_webhook_conn_id=connection).send_text(
        f"*{name}*, {days}: the run has failed.\n"
        f"{escape(str(error), quote=False)}" + (f"\n<{book}#{heading}|Runbook>" if book else "")
    )


# In the mode `reschedule` the task occupies no worker between two looks at the logs.
@task.sensor(
    mode="reschedule",
    poke_interval=300,
    timeout=timedelta(days=8),  # longer than any deadline
    retries=3,
    retry_delay=timedelta(minutes=2),
)
def wait_for_logs(name: str) -> bool:
    """Wait until the logs of this run are there, or the deadline has passed."""
    context = get_current_context()
    try:
        model = settled_model(name)
        first, last, as_of = days_to_process(model, context["params"]["day"], context["dag_run"])
    except ConfigError:
        return True  # `run` fails with the message
    if not context["params"]["day"] and beginning_of(name, as_of):
        return True  # `run` says when the first day settles
    missing = missing_logs(name, model, first, last, as_of=as_of)
    deadline = context["dag_run"].run_after + timedelta(hours=model.log_deadline_hours)
    if missing:
        logging.getLogger(__name__).info("%s The deadline is %s.", missing, deadline)
    return not missing or datetime.now(UTC) >= deadline


@task(
    on_failure_callback=tell_slack,
    trigger_rule="all_done",  # whatever became of the waiting
    # A task that was killed runs again within minutes; damaged logs are tried for some hours.
    retries=7,
    retry_delay=timedelta(minutes=2),
    retry_exponential_backoff=2,
    max_retry_delay=timedelta(hours=2),
    # Runs of one model take turns, also those of a backfill, which has limits of its own.
    max_active_tis_per_dag=1,
)
def run(name: str) -> None:
    """Process the days of this run, and missing days before it whose logs have arrived."""
    context = get_current_context()
    day, dag_run = context["params"]["day"], context["dag_run"]
    try:
        model = settled_model(name)
        first, last, as_of = days_to_process(model, day, dag_run)
        if not day and (new := beginning_of(name, as_of)):
            raise AirflowSkipException(str(new))
        try:
            days = process(
                name,
                first,
                last,
                as_of=as_of,
                # A backfill leaves the days before it alone, and so does a run of one day.
                catch_up=not day and dag_run.run_type != "backfill",
                must_settle=not day,
            )
        except DataError as error:
            if missing_logs(name, model, first, last, as_of=as_of):  # the deadline has passed
                raise AirflowFailException(str(error)) from error
            raise
    except ConfigError as error:
        raise AirflowFailException(str(error)) from error
    event = context["outlet_events"][Asset(dag_id(name))]
    event.extra = {"days": [str(day) for day in days]}


@task(
    on_failure_callback=tell_slack,
    trigger_rule="all_done",  # whatever became of the waiting
    retries=3,
    retry_delay=timedelta(minutes=2),
    max_active_tis_per_dag=1,
)
def submit(name: str) -> None:
    """Hand the days of this run to a cluster with the command that the environment names."""
    context = get_current_context()
    day, dag_run = context["params"]["day"], context["dag_run"]
    try:
        words = words_of_run(name, day, dag_run)
        *_, as_of = days_to_process(settled_model(name), day, dag_run)
        if not day and (new := beginning_of(name, as_of)):
            raise AirflowSkipException(str(new))
    except ConfigError as error:
        raise AirflowFailException(str(error)) from error
    log = logging.getLogger(__name__)
    log.info("Submitting calibration-monitor %s", shlex.join(words))
    command = [*shlex.split(os.environ[SUBMIT]), *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    log.info("%s%s", done.stdout, done.stderr)
    if done.returncode:
        last = (done.stderr.strip() or done.stdout.strip()).splitlines()[-1:]
        msg = f"{name}: {SUBMIT} ended with exit code {done.returncode}: {' '.join(last)}"
        raise RuntimeError(msg)


def words_of_run(name: str, day: str | None, dag_run: DagRunProtocol) -> list[str]:
    """Write the call of calibration-monitor that does what `run` and `run_unsettled` do."""
    first, last, as_of = days_to_process(settled_model(name), day, dag_run)
    began = local(dag_run.start_date, CONFIG.model(name)) if dag_run.start_date else None
    if day:
        words = ["run", "--day", f"{last}"]
    elif first != last or dag_run.run_type == "backfill":
        words = ["backfill", "--from", f"{first}", "--to", f"{last}"]
    else:
        words = ["run", *(["--unsettled"] if began == as_of else [])]
    return [*words, "--as-of", f"{as_of}", "--model", name, "--config", os.environ[VARIABLE]]


# The process that submitted the work has ended: no worker is occupied between two looks.
@task.sensor(
    task_id="run",
    mode="reschedule",
    poke_interval=60,
    timeout=timedelta(days=1),
    on_failure_callback=tell_slack,
)
def wait_for_run(name: str) -> bool:
    """Wait for the record of the run that was submitted, and fail if one of its days failed."""
    from monitor.store.store import Store  # noqa: PLC0415 - as in `process`

    context = get_current_context()
    dag_run = context["dag_run"]
    record = Store(CONFIG.store).read_run(name)
    if not record or not dag_run.start_date or record.started < dag_run.start_date:
        return False
    if record.failed:
        fault = record.failed.fault
        why = f" ({fault.log}: {fault.complaint})" if fault else ""
        msg = f"{name}: {record.failed.day} failed{why}; the log of the driver has the message."
        raise AirflowFailException(msg)
    first, last, _ = days_to_process(settled_model(name), context["params"]["day"], dag_run)
    days = (first + timedelta(days=number) for number in range((last - first).days + 1))
    event = context["outlet_events"][Asset(dag_id(name))]
    event.extra = {"days": [str(day) for day in days]}
    return True


# The next run processes these days again, so nothing needs to wait for a retry.
@task(retries=0, max_active_tis_per_dag=1)
def run_unsettled(name: str) -> None:
    """Process later days too, whose outcomes are still arriving, if this is the run of today.

    It checks the days of `run` again and skips them if they are done, so the record of the last
    run covers all days and hides no failure.
    """
    from monitor.logs import newest_day  # noqa: PLC0415 - as in `process`

    context, model = get_current_context(), settled_model(name)
    day, dag_run = context["params"]["day"], context["dag_run"]
    first, last, as_of = days_to_process(model, day, dag_run)
    began = local(dag_run.start_date, model) if dag_run.start_date else None
    if day or began != as_of:
        msg = f"{name}: this run is for {day or f'the past, as of {as_of}'}; today's run does it."
        raise AirflowSkipException(msg)
    newest = newest_day(model, as_of=as_of)
    if newest <= last:
        msg = f"{name}: as of {as_of} there are no predictions after {last}."
        raise AirflowSkipException(msg)
    if new := beginning_of(name, as_of):
        first = new.first
    process(name, first, newest, as_of=as_of, skip_unchanged=True)


@task(retries=1, retry_delay=timedelta(minutes=2), max_active_tis_per_dag=1)
def write_report(name: str) -> None:
    """Write the report page of the model, and the index of all models."""
    from monitor.pipeline.references import read_references  # noqa: PLC0415 - as in `process`
    from monitor.report.page.write import write_index, write_model  # noqa: PLC0415

    if CONFIG.report:  # without it there is no such task
        references = read_references(CONFIG, name).fitted
        write_model(CONFIG, name, references, CONFIG.report.path)
        write_index(CONFIG, CONFIG.report.path)


def process(
    name: str,
    first: date,
    last: date,
    *,
    as_of: date,
    catch_up: bool = False,
    must_settle: bool = False,
    skip_unchanged: bool = False,
) -> tuple[date, ...]:
    """Pass the dates to the pipeline, give the days that it processed, and fail if one failed."""
    # The parser of DAGs need not load the mathematics.
    from monitor.pipeline.catch_up import days_to_catch_up  # noqa: PLC0415
    from monitor.pipeline.grouping import grouped  # noqa: PLC0415
    from monitor.pipeline.run import run as run_days  # noqa: PLC0415

    log = logging.getLogger(__name__)
    report = run_days(
        CONFIG,
        name,
        first,
        last,
        as_of=as_of,
        clock=lambda: datetime.now(UTC),
        catch_up=days_to_catch_up(CONFIG, name, first, as_of=as_of) if catch_up else (),
        must_settle=must_settle,
        skip_unchanged=skip_unchanged,
    )
    for message in grouped(name, report.still_missing):
        log.warning("Still missing: %s", message)
    if report.failures:
        raise DataError("\n".join(grouped(name, report.failures)))
    done = ", ".join(map(str, report.summarised)) or "no day"
    log.info("%s: processed %s, evaluated %d days", name, done, len(report.evaluated))
    return report.summarised


def dag_id(name: str) -> str:
    """Name the DAG of a model, and its asset; the name of an invalid model may have any sign."""
    return PREFIX + re.sub(r"[^A-Za-z0-9_.-]", "_", name)


def make_dag(name: str) -> None:
    """Make the DAG of a model; the one of an invalid model has only a task that fails."""
    shown = CONFIG.shown(name)
    asset = Asset(dag_id(name))
    submitted = bool(os.environ.get(SUBMIT))
    about = (ABOUT_SUBMITTED if submitted else ABOUT).format(name=name, asset=asset.name)
    try:
        schedule, valid = timetable(name, valid_model(name)), True
    except ConfigError as error:
        about = ABOUT_INVALID.format(name=name, message=str(error).replace("\n", "\n    "))
        schedule, valid = CronDataIntervalTimetable("0 6 * * *", timezone=shown.time_zone), False
    with DAG(
        dag_id(name),
        schedule=schedule,
        catchup=False,
        default_args={"owner": shown.owner or "airflow"},
        params={
            "day": Param(None, type=["string", "null"], format="date", title="Day", description=DAY)
        },
        tags=["calibration", shown.severity, *([] if valid else ["invalid configuration"])],
        description=f"Can you still trust the probabilities of {name}?",
        doc_md=about,
    ):
        if valid and submitted:
            # `run` of the command processes later days too.
            last = wait_for_run.override(outlets=[asset])(name)
            wait_for_logs(name) >> submit(name) >> last
        else:
            last = done = run.override(outlets=[asset])(name)
        if valid and not submitted:
            # A teardown runs whatever became of `run`, and does not affect the state of the run.
            last = run_unsettled(name).as_teardown()
            wait_for_logs(name) >> done >> last
        if valid and CONFIG.report:
            last >> write_report(name).as_teardown()


CONFIG = configuration()
# Of two names that give the same DAG, which only an invalid name can, the first one gets it.
for each in {dag_id(name): name for name in reversed(CONFIG.names)}.values():
    make_dag(each)
