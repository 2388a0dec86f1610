r"""Schedules that pass dates to `monitor.pipeline.run.run`: a DAG for each model, or for a fleet.

Set the environment variable CALIBRATION_MONITOR_CONFIG to the configuration, a file or a folder,
for the dag-processor and for the workers. Set CALIBRATION_MONITOR_FLEET to `all` or `owner` for one
DAG for all models or for those of each owner, in batches. docs/airflow.md explains schedules,
waiting, retries, backfills, assets and Slack messages.

An error in the keys of one model does not affect the other DAGs: the DAG of that model stays, and
its task `run` fails with the message. An error in the keys that all models share is the import
error of this file.
"""

import logging
import os
import re
import shlex
import subprocess
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from hashlib import sha256
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from airflow.sdk import (
    DAG,
    Asset,
    AssetAlias,
    Context,
    CronDataIntervalTimetable,
    Param,
    get_current_context,
    task,
    task_group,
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
FLEET = "CALIBRATION_MONITOR_FLEET"
BATCH = "CALIBRATION_MONITOR_BATCH"
PREFIX = "calibration_"
UPDATED = AssetAlias("calibration_models")  # which asset of it a batch updates depends on the run
MOST_IN_BATCH = 1000
MOST_MESSAGES = 10  # of the models of a batch that failed; the log has the others
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
* `run` waits for the result in the store. It fails if a day failed, or if the work on the cluster
  died. To try again, clear `submit`.
* `write_report` writes the report page, if the configuration has a place for it.
* To process one day, trigger the DAG and enter the `day`.
* A successful run updates the asset `{asset}`.
"""
ABOUT_FLEET = """\
Can you still trust the probabilities of the {count} models in this DAG?

Each run does for every model what `calibration-monitor run` does, in {batches} batches. You can run
it again safely: the same logs give the same results.

* `run` processes the settled days of the models of a batch. It waits for missing logs, up to the
  deadline of each model, without holding up the others. If models fail, the task fails once the
  others are done, and names them. A retry does what is not done.
* `update_assets` updates the asset `calibration_NAME` of each model that has succeeded.
* `run_unsettled` processes later days, whose outcomes are still arriving.
* `write_report` and `write_index` write the report pages, if the configuration has a place.
* To process one day, trigger the DAG and enter the `day`.
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
    """Tell Slack that a run of a model has finally failed: which day, why, and what to do."""
    (name,) = context["task"].op_args
    try:
        first, last, _ = days_to_process(
            valid_model(name), context["params"]["day"], context["dag_run"]
        )
        days = f"{first}" if first == last else f"{first} to {last}"
    except ConfigError:
        days = "no day"
    send_to_slack(f"*{name}*, {days}: the run has failed.", context)


def tell_slack_of_batch(context: Context) -> None:
    """Tell Slack that a batch has finally failed: which models, why, and what to do."""
    send_to_slack(f"*{context['dag_run'].dag_id}*: a batch has failed.", context)


def send_to_slack(what: str, context: Context) -> None:
    """Send a message with the error of a task and a link to the runbook.

    This is a function because Airflow renders the template fields of a notifier in place on one
    shared object, so a message could contain the text of another run.
    """
    connection = os.environ.get(SLACK)
    if not connection:
        return
    from airflow.providers.slack.hooks.slack_webhook import (  # noqa: PLC0415 - needs the extra slack
        SlackWebhookHook,
    )

    error = context.get("exception")
    of_data = isinstance(error, DataError) or isinstance(
        getattr(error, "__cause__", None), DataError
    )
    heading = "calibrationdataerror" if of_data else "calibrationevaluationmissing"
    book = os.environ.get(RUNBOOK)
    SlackWebhookHook(slack_webhook_conn_id=connection).send_text(
        f"{what}\n{escape(str(error), quote=False)}"
        + (f"\n<{book}#{heading}|Runbook>" if book else "")
    )


def awaited_log(name: str, context: Context) -> str:
    """Say which log to wait for; empty if none is missing, or the deadline has passed."""
    day, dag_run = context["params"]["day"], context["dag_run"]
    try:
        model = settled_model(name)
        first, last, as_of = days_to_process(model, day, dag_run)
    except ConfigError:
        return ""  # `run` fails with the message
    if not day and beginning_of(name, as_of):
        return ""  # `run` says when the first day settles
    missing = missing_logs(name, model, first, last, as_of=as_of)
    deadline = dag_run.run_after + timedelta(hours=model.log_deadline_hours)
    if not missing or datetime.now(UTC) >= deadline:
        return ""
    return f"{missing} The deadline is {deadline}."


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
    awaited = awaited_log(name, get_current_context())
    if awaited:
        logging.getLogger(__name__).info("%s", awaited)
    return not awaited


# A task that was killed runs again within minutes; damaged logs are tried for some hours.
RETRIES: Mapping[str, Any] = {
    "retries": 7,
    "retry_delay": timedelta(minutes=2),
    "retry_exponential_backoff": 2,
    "max_retry_delay": timedelta(hours=2),
}


@task(
    on_failure_callback=tell_slack,
    trigger_rule="all_done",  # whatever became of the waiting
    # Runs of one model take turns, also those of a backfill, which has limits of its own.
    max_active_tis_per_dag=1,
    **RETRIES,
)
def run(name: str) -> None:
    """Process the days of this run, and missing days before it whose logs have arrived."""
    context = get_current_context()
    try:
        days = run_model(name, context)
    except ConfigError as error:
        raise AirflowFailException(str(error)) from error
    except DataError as error:
        if is_overdue(name, context):
            raise AirflowFailException(str(error)) from error
        raise
    event = context["outlet_events"][Asset(dag_id(name))]
    event.extra = {"days": [str(day) for day in days]}


def run_model(name: str, context: Context, *, of_batch: bool = False) -> tuple[date, ...]:
    """Process the days of this run and missing days before it, and give those processed."""
    day, dag_run = context["params"]["day"], context["dag_run"]
    first, last, as_of = days_to_process(settled_model(name), day, dag_run)
    if not day and (new := beginning_of(name, as_of)):
        raise AirflowSkipException(str(new))
    return process(
        name,
        first,
        last,
        as_of=as_of,
        # A backfill leaves the days before it alone, and so does a run of one day.
        catch_up=not day and dag_run.run_type != "backfill",
        must_settle=not day,
        # A batch begins again for one of its models, and waits for none of them.
        skip_unchanged=of_batch,
        wait=not of_batch,
    )


def is_overdue(name: str, context: Context) -> bool:
    """Say whether logs of this run are missing, which is asked when the deadline has passed."""
    model = settled_model(name)
    first, last, as_of = days_to_process(model, context["params"]["day"], context["dag_run"])
    return bool(missing_logs(name, model, first, last, as_of=as_of))


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
    """Wait for the record of the run that was submitted; fail if a day failed or the run died."""
    from monitor.store.store import Store  # noqa: PLC0415 - as in `process`

    context = get_current_context()
    dag_run, store = context["dag_run"], Store(CONFIG.store)
    # In this order: a run that was not at work any more when we looked has left its record.
    begun = store.read_begin(name)
    is_at_work = store.is_locked(name, now=datetime.now(UTC))
    record = store.read_run(name)
    if not record or not dag_run.start_date or record.started < dag_run.start_date:
        what = what_died(name, begun, dag_run.start_date)
        if what and not is_at_work:
            raise AirflowFailException(what)
        logging.getLogger(__name__).info("%s", "at work" if what else "not begun yet")
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


def what_died(
    name: str, begun: tuple[datetime, str] | None, submitted: datetime | None
) -> str | None:
    """Say which run has died if none is at work; None if the submitted one has not begun."""
    if not begun or not submitted or begun[0] < submitted:
        return None
    return (
        f"{name}: the submitted run ({begun[1]}) ended without a result: it was killed, or stopped "
        f"with an error. The log of its driver says why; the log of the task `submit` says what "
        f"the cluster calls it. The days that are done are kept. Clear `submit` to run the others."
    )


# The next run processes these days again, so nothing needs to wait for a retry.
@task(retries=0, max_active_tis_per_dag=1)
def run_unsettled(name: str) -> None:
    """Process later days too, whose outcomes are still arriving, if this is the run of today."""
    run_model_unsettled(name, get_current_context())


def run_model_unsettled(name: str, context: Context) -> None:
    """Process later days of a model.

    It checks the days of `run` again and skips them if they are done, so the record of the last
    run covers all days and hides no failure.
    """
    from monitor.logs import newest_day  # noqa: PLC0415 - as in `process`

    model = settled_model(name)
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
    write_page(name)
    write_index_page()


def write_page(name: str) -> None:
    """Write the report page of a model."""
    from monitor.pipeline.references import read_references  # noqa: PLC0415 - as in `process`
    from monitor.report.page.write import write_model  # noqa: PLC0415

    if CONFIG.report:  # without it there is no such task
        write_model(CONFIG, name, read_references(CONFIG, name).fitted, CONFIG.report.path)


def write_index_page() -> None:
    """Write the index of all report pages."""
    from monitor.report.page.write import write_index  # noqa: PLC0415 - as in `process`

    if CONFIG.report:
        write_index(CONFIG, CONFIG.report.path)


# The task `run` of a fleet. It looks every five minutes, and processes what is there.
@task.sensor(
    task_id="run",
    mode="reschedule",
    poke_interval=300,
    timeout=timedelta(days=8),  # longer than any deadline
    on_failure_callback=tell_slack_of_batch,
    **RETRIES,
)
def run_batch(names: Sequence[str]) -> bool:
    """Process the days of this run for the models of a batch; fail once no other is to be done."""
    context = get_current_context()
    awaited = {name: log for name in names if (log := awaited_log(name, context))}
    ready = [name for name in names if name not in awaited]
    errors, skipped = of_batch(ready, lambda name: run_model(name, context, of_batch=True))
    if awaited:
        logging.getLogger(__name__).info("Waiting: %s", "\n".join(awaited.values()))
        return False
    for name in errors:  # not overdue if the log has come meanwhile: then a retry reads it
        if not isinstance(errors[name], ConfigError) and not is_overdue(name, context):
            raise DataError(what_failed(names, errors))
    if errors:
        of_data = [error for error in errors.values() if isinstance(error, DataError)]
        raise AirflowFailException(what_failed(names, errors)) from next(iter(of_data), None)
    if len(skipped) == len(names):
        raise AirflowSkipException("\n".join(skipped))
    return True


@task(task_id="update_assets", retries=1, outlets=[UPDATED])
def update_assets(names: Sequence[str]) -> None:
    """Update the asset of each model whose days this run has processed."""
    context = get_current_context()
    for name in names:
        days = processed_days(name, context)
        if days is not None:
            extra = {"days": [str(day) for day in days]}
            context["outlet_events"][UPDATED].add(Asset(dag_id(name)), extra=extra)


def processed_days(name: str, context: Context) -> list[date] | None:
    """Find the days of this run in the store; None if there was no run since, or it failed."""
    from monitor.store.store import Store  # noqa: PLC0415 - as in `process`

    day, dag_run = context["params"]["day"], context["dag_run"]
    store = Store(CONFIG.store)
    try:
        first, last, _ = days_to_process(settled_model(name), day, dag_run)
        record = store.read_run(name)
        begun = dag_run.start_date
        if not record or record.failed or not begun or record.started < begun:
            return None
        return [day for day in store.days("summaries", name) if first <= day <= last]
    except (ConfigError, DataError):
        return None


@task(task_id="run_unsettled", retries=0)
def run_batch_unsettled(names: Sequence[str]) -> None:
    """Process later days of the models of a batch, if this is the run of today."""
    context = get_current_context()
    errors, skipped = of_batch(names, lambda name: run_model_unsettled(name, context))
    if errors:
        raise DataError(what_failed(names, errors))
    if len(skipped) == len(names):
        raise AirflowSkipException("\n".join(skipped[:MOST_MESSAGES]))


@task(task_id="write_report", retries=1, retry_delay=timedelta(minutes=2))
def write_pages(names: Sequence[str]) -> None:
    """Write the report pages of a batch."""
    errors, _ = of_batch(names, write_page)
    if errors:
        raise DataError(what_failed(names, errors))


@task(retries=1, retry_delay=timedelta(minutes=2))
def write_index() -> None:
    """Write the index of all report pages."""
    write_index_page()


def of_batch(
    names: Sequence[str], do: Callable[[str], object]
) -> tuple[dict[str, ConfigError | DataError], list[str]]:
    """Call `do` for each model of a batch; give the errors, and why models were skipped.

    Every second try begins at the other end. So a model with which the process dies stops itself
    alone: those before it are done in one try, those after it in the next.
    """
    from monitor.pipeline.fleet import attempt  # noqa: PLC0415 - as in `process`

    errors, skipped = dict[str, ConfigError | DataError](), list[str]()
    backwards = get_current_context()["ti"].try_number % 2 == 0
    for name in reversed(names) if backwards else names:
        try:
            done = attempt(lambda _config, name, _jobs: do(name), CONFIG, name, 1)
        except AirflowSkipException as reason:
            skipped.append(str(reason))
            logging.getLogger(__name__).info("%s", reason)
            continue
        if done.error:
            errors[name] = done.error
            logging.getLogger(__name__).error("%s", done.error)
    return errors, skipped


def what_failed(names: Sequence[str], errors: Mapping[str, Exception]) -> str:
    """Name the models of a batch that failed, and say why the first ones did."""
    which = ", ".join(sorted(errors))
    messages = [str(error) for error in errors.values()]
    more = len(messages) - MOST_MESSAGES
    rest = [f"The log has the messages of {more} more models."] if more > 0 else []
    return "\n".join(
        [
            f"{len(errors)} of the {len(names)} models in this batch failed: {which}.",
            *messages[:MOST_MESSAGES],
            *rest,
        ]
    )


def process(
    name: str,
    first: date,
    last: date,
    *,
    as_of: date,
    catch_up: bool = False,
    must_settle: bool = False,
    skip_unchanged: bool = False,
    wait: bool = True,
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
        wait=wait,
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


def day_param() -> dict[str, Param]:
    """Give the form in which a person enters a day."""
    form = Param(None, type=["string", "null"], format="date", title="Day", description=DAY)
    return {"day": form}


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
        schedule, valid = (
            CronDataIntervalTimetable(DEFAULT_SCHEDULE, timezone=shown.time_zone),
            False,
        )
    with DAG(
        dag_id(name),
        schedule=schedule,
        catchup=False,
        default_args={"owner": shown.owner or "airflow"},
        params=day_param(),
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


def fleet() -> dict[tuple[str, str, str], list[str]]:
    """Group the models that share a DAG: by owner or not, by schedule, and by time zone."""
    by = os.environ.get(FLEET)
    if by not in {"all", "owner"}:
        msg = f"{FLEET}: must be all or owner, got {by!r}; unset it for a DAG for each model."
        raise ConfigError(msg)
    if os.environ.get(SUBMIT):
        msg = f"{SUBMIT} hands each model to a cluster by itself; unset it or {FLEET}."
        raise ConfigError(msg)
    groups = dict[tuple[str, str, str], list[str]]()
    for name in CONFIG.names:
        shown = CONFIG.shown(name)
        schedule = shown.schedule if is_schedule(name) else DEFAULT_SCHEDULE
        owner = shown.owner or "" if by == "owner" else ""
        groups.setdefault((owner, schedule, shown.time_zone), []).append(name)
    return groups


def is_schedule(name: str) -> bool:
    """Say whether Airflow accepts the schedule of a model; if not, its runs say so."""
    try:
        return bool(timetable(name, CONFIG.shown(name)))
    except ConfigError:
        return False


def batch_size() -> int:
    """Read how many models a batch has at most."""
    text = os.environ.get(BATCH, "50")
    if not text.isdecimal() or not 1 <= int(text) <= MOST_IN_BATCH:
        msg = f"{BATCH}: must be a number from 1 to {MOST_IN_BATCH}, got {text[:60]!r}."
        raise ConfigError(msg)
    return int(text)


def fleet_dag_id(owner: str, schedule: str, time_zone: str) -> str:
    """Name the DAG of a group; what is usual is left out, and no two groups have one name."""
    usual = {DEFAULT_SCHEDULE, DEFAULT_TIME_ZONE}
    parts = [owner, *(part for part in (schedule, time_zone) if part not in usual)]
    written = [re.sub(r"[^A-Za-z0-9_.-]+", "-", part).strip("-")[:60] for part in parts]
    if written != [owner]:  # only an owner that can be written is a name by itself
        written.append(sha256("\n".join(parts).encode()).hexdigest()[:6])
    return "_".join([f"{PREFIX}fleet", *(part for part in written if part)])


def make_fleet_dag(group: tuple[str, str, str], names: Sequence[str], size: int) -> None:
    """Make the DAG of a group: mapped tasks, one for each batch of its models."""
    owner, schedule, time_zone = group
    batches = [list(names[first : first + size]) for first in range(0, len(names), size)]
    invalid = [name for name in names if name in CONFIG.invalid]
    about = ABOUT_FLEET.format(count=len(names), batches=len(batches))
    for name in invalid[:MOST_MESSAGES]:
        message = str(CONFIG.invalid[name].message).replace("\n", "\n    ")
        about += "\n" + ABOUT_INVALID.format(name=name, message=message)
    with DAG(
        fleet_dag_id(*group),
        schedule=CronDataIntervalTimetable(schedule, timezone=time_zone),
        catchup=False,
        default_args={"owner": owner or "airflow"},
        params=day_param(),
        tags=["calibration", "fleet", *(["invalid configuration"] if invalid else [])],
        description="Can you still trust the probabilities of these models?",
        doc_md=about,
    ):
        pages = []

        @task_group
        def batch(names: Sequence[str]) -> None:
            # Teardowns run whatever became of `run`, and do not affect the state of the run.
            last = run_batch(names) >> update_assets(names).as_teardown()
            last = last >> run_batch_unsettled(names).as_teardown()
            if CONFIG.report:
                pages.append(write_pages(names).as_teardown())
                last >> pages[0]

        batch.expand(names=batches)
        if pages:
            pages[0] >> write_index().as_teardown()


CONFIG = configuration()
DEFAULT_SCHEDULE = Model.model_fields["schedule"].default
DEFAULT_TIME_ZONE = Model.model_fields["time_zone"].default
if os.environ.get(FLEET):
    for each, models in fleet().items():
        make_fleet_dag(each, models, batch_size())
else:
    # Of two names that give the same DAG, which only an invalid name can, the first one gets it.
    for name in {dag_id(name): name for name in reversed(CONFIG.names)}.values():
        make_dag(name)
