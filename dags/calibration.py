"""Schedules that give dates to `monitor.pipeline.runs.scheduled`: a DAG for a model or a fleet.

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
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from functools import partial
from hashlib import sha256
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from airflow.sdk import (
    DAG,
    Asset,
    AssetAlias,
    Context,
    CronDataIntervalTimetable,
    Param,
    get_current_context,
    get_parsing_context,
    task,
    task_group,
)
from airflow.sdk.exceptions import (
    AirflowFailException,
    AirflowSkipException,
    AirflowTimetableInvalid,
)

from monitor.base.deadline import within
from monitor.base.errors import ConfigError, DataError
from monitor.config import Config, Model, load_config

if TYPE_CHECKING:
    from monitor.pipeline.runs.fleet import Batch
    from monitor.pipeline.runs.scheduled import Scheduled

VARIABLE = "CALIBRATION_MONITOR_CONFIG"
SLACK = "CALIBRATION_MONITOR_SLACK_CONNECTION"
RUNBOOK = "CALIBRATION_MONITOR_RUNBOOK"
SUBMIT = "CALIBRATION_MONITOR_SUBMIT"
FLEET = "CALIBRATION_MONITOR_FLEET"
BATCH = "CALIBRATION_MONITOR_BATCH"
PREFIX = "calibration_"
UPDATED = AssetAlias("calibration_models")  # which asset of it a batch updates depends on the run
MOST_IN_BATCH = 1000
SLACK_SECONDS = 30
MOST_MESSAGES = 10  # of the models of a batch; the log has the others
# Of a sensor, in seconds.
LONGER_THAN_ANY_DEADLINE = timedelta(days=8).total_seconds()
ABOUT = """\
Can you still trust the probabilities of **{name}**?

Each run reads the logs of the days that have settled, joins predictions to outcomes, and gives a
verdict, as `calibration-monitor run` does.{where} You can run it again safely: the same logs give
the same results.

* `wait_for_logs` waits for missing logs, up to the deadline in the configuration.
{tasks}\
* `write_report` writes the report page, if the configuration has a place for it.
* To process one day, trigger the DAG and enter the `day`.
* The first run needs `begin`, or a backfill: any other begins no store.
* A successful run updates the asset `{asset}`.
"""
TASKS = """\
* `run` processes the settled days. It retries after a crash, and while logs are damaged. While no
  day of a new model has settled, it is skipped and says when the first one will be.
* `run_unsettled` processes later days, whose outcomes are still arriving, and reports the
  prevalence to expect.
"""
TASKS_SUBMITTED = """\
* `submit` hands the days to the cluster. It retries if the cluster does not take them.
* `run` waits for the result in the store. It fails if a day failed, or if the work on the cluster
  died. To try again, clear `submit`.
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
* The first run needs `begin`, or a backfill: any other begins no store.
"""
ABOUT_INVALID = """\
**The configuration of {name} is invalid.** Its runs fail until you correct it:

    {message}
"""
DAY = """\
The day of predictions to process, such as 2026-03-01. Always enter a day in a manual run. Without a
day, a run with a logical date processes the newest settled day, whatever its logical date is, and a
run without a logical date fails."""


BEGIN = """\
Whether to begin a new store if there is none at the place of `store`. A backfill does so by itself.
Any other run without a store fails, because a volume that is not mounted looks the same."""


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


def check_schedule(name: str, model: Model) -> None:
    """Raise ConfigError for a schedule that Airflow does not accept."""
    try:
        CronDataIntervalTimetable(model.schedule, timezone=model.time_zone).validate()
    except AirflowTimetableInvalid as error:
        setting = f"{os.environ[VARIABLE]}: models.{name}.schedule"
        why = str(error).rstrip(".")
        msg = f"{setting}: {why}, got {model.schedule!r}; write five fields, such as '0 6 * * *'."
        raise ConfigError(msg) from None


def run_of(name: str, context: Context) -> "Scheduled":
    """Describe the run of a model to the pipeline."""
    # The parser of DAGs need not load the mathematics; so it is with all imports in functions.
    from monitor.pipeline.runs.scheduled import Scheduled

    check_schedule(name, CONFIG.model(name))
    day, dag_run = context["params"]["day"], context["dag_run"]
    start, end = dag_run.data_interval_start, dag_run.data_interval_end
    return Scheduled(
        *(CONFIG, name, dag_run.run_id),
        due=dag_run.run_after,
        began=dag_run.start_date,
        interval=(start, end) if start and end else None,
        day=date.fromisoformat(day) if day else None,
        is_backfill=dag_run.run_type == "backfill",
        begin=bool(context["params"].get("begin")),
    )


def tell_slack(context: Context) -> None:
    """Tell Slack that a run of a model has finally failed: which day, why, and what to do."""
    from monitor.pipeline.runs.scheduled import span_of

    (name,) = getattr(context["task"], "op_args")  # noqa: B009 - only a task of a function has them
    try:
        first, last, _ = span_of(run_of(name, context))
        days = f"{first}" if first == last else f"{first} to {last}"
    except (ConfigError, DataError):
        days = "no day"
    report = CONFIG.shown(name).report_url
    send_to_slack(f"*{name}*, {days}: the run has failed.", context, report=report)


def tell_slack_of_batch(context: Context) -> None:
    """Tell Slack that a batch has finally failed: which models, why, and what to do."""
    send_to_slack(f"*{context['dag_run'].dag_id}*: a batch has failed.", context)


def send_to_slack(what: str, context: Context, *, report: str = "") -> None:
    """Send a message with the error of a task and links to runbook, log and report page.

    This is a function because Airflow renders the template fields of a notifier in place on one
    shared object, so a message could contain the text of another run.
    """
    connection = os.environ.get(SLACK)
    if not connection:
        return
    from airflow.configuration import conf
    from airflow.providers.slack.hooks.slack_webhook import SlackWebhookHook  # an extra

    error = context.get("exception")
    of_data = isinstance(error, DataError) or isinstance(
        getattr(error, "__cause__", None), DataError
    )
    heading = "calibrationdataerror" if of_data else "calibrationevaluationmissing"
    book = os.environ.get(RUNBOOK)
    log = getattr(context["ti"], "log_url", "") if conf.get("api", "base_url", fallback="") else ""
    addresses = {"Runbook": book and f"{book}#{heading}", "Log": log, "Report": report}
    links = [f"<{escape(url)}|{name}>" for name, url in addresses.items() if url]
    text = f"{what}\n{escape(str(error), quote=False)}\n{' · '.join(links)}".rstrip()
    hook = SlackWebhookHook(slack_webhook_conn_id=connection)
    within(SLACK_SECONDS, lambda: hook.send_text(text))


def awaited_log(name: str, context: Context) -> str | None:
    """Say which log to wait for; None if none is missing, or the deadline has passed."""
    from monitor.pipeline.runs import scheduled

    try:
        return scheduled.awaited_log(run_of(name, context), now=now())
    except ConfigError:
        return None  # `run` fails with the message


# In the mode `reschedule` the task occupies no worker between two looks at the logs.
@task.sensor(
    mode="reschedule",
    poke_interval=300,
    timeout=LONGER_THAN_ANY_DEADLINE,
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
    update_asset(name, context, days)


def update_asset(name: str, context: Context, days: Sequence[date]) -> None:
    """Say with the asset of a model which days this run has processed."""
    event = context["outlet_events"][Asset(dag_id(name))]
    event.extra = {"days": [str(day) for day in days]}


def run_model(name: str, context: Context, *, of_batch: bool = False) -> tuple[date, ...]:
    """Process the days of this run and missing days before it, and give those processed."""
    from monitor.pipeline.runs.scheduled import plan_run, process

    this_run = run_of(name, context)
    plan = plan_run(this_run)
    if not plan.task:
        raise AirflowSkipException(str(plan.begun))
    # A batch begins again for one of its models, and waits for none of them.
    task = replace(plan.task, skip_unchanged=of_batch)
    begins = this_run.begins
    return process(CONFIG, task, clock=now, wait=not of_batch, begins=begins)


def is_overdue(name: str, context: Context) -> bool:
    """Say whether logs of this run are missing, which is asked when the deadline has passed."""
    from monitor.pipeline.runs.scheduled import missing_log

    return bool(missing_log(run_of(name, context)))


@task(
    on_failure_callback=tell_slack,
    trigger_rule="all_done",  # whatever became of the waiting
    retries=3,
    retry_delay=timedelta(minutes=2),
    max_active_tis_per_dag=1,
)
def submit(name: str) -> None:
    """Hand the days of this run to a cluster with the command that the environment names."""
    from monitor.pipeline.runs.scheduled import command_of, plan_run

    try:
        this_run = run_of(name, get_current_context())
        words = [*command_of(this_run), "--config", os.environ[VARIABLE]]
        plan = plan_run(this_run)
    except ConfigError as error:
        raise AirflowFailException(str(error)) from error
    if not plan.task:
        raise AirflowSkipException(str(plan.begun))
    log = logging.getLogger(__name__)
    log.info("Submitting calibration-monitor %s", shlex.join(words))
    command = [*shlex.split(os.environ[SUBMIT]), *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    log.info("%s%s", done.stdout, done.stderr)
    if done.returncode:
        last = (done.stderr.strip() or done.stdout.strip()).splitlines()[-1:]
        msg = f"{name}: {SUBMIT} ended with exit code {done.returncode}: {' '.join(last)}"
        raise RuntimeError(msg)


# The process that submitted the work has ended: no worker is occupied between two looks.
@task.sensor(
    task_id="run",
    mode="reschedule",
    poke_interval=60,
    timeout=timedelta(days=1).total_seconds(),
    on_failure_callback=tell_slack,
)
def wait_for_run(name: str) -> bool:
    """Wait for the record of the run that was submitted; fail if a day failed or the run died."""
    from monitor.pipeline.runs.scheduled import submitted_days

    context = get_current_context()
    try:
        days = submitted_days(run_of(name, context), now=now())
    except DataError as error:
        raise AirflowFailException(str(error)) from None
    if isinstance(days, str):
        logging.getLogger(__name__).info("%s", days)
        return False
    update_asset(name, context, days)
    return True


# The next run processes these days again, so nothing needs to wait for a retry.
@task(retries=0, max_active_tis_per_dag=1)
def run_unsettled(name: str) -> None:
    """Process later days too, whose outcomes are still arriving, if this is the run of today."""
    run_model_unsettled(name, get_current_context())


def run_model_unsettled(name: str, context: Context) -> None:
    """Process later days of a model."""
    from monitor.pipeline.runs.scheduled import plan_later_days, process

    task = plan_later_days(run_of(name, context))
    if isinstance(task, str):
        raise AirflowSkipException(task)
    process(CONFIG, task, clock=now)


@task(retries=1, retry_delay=timedelta(minutes=2), max_active_tis_per_dag=1)
def write_report(name: str) -> None:
    """Write the report page of the model, and the index of all models."""
    from monitor.report.page.write import write_configured_index, write_configured_model

    write_configured_model(CONFIG, name)
    write_configured_index(CONFIG)


# The task `run` of a fleet. It looks every five minutes, and processes what is there.
@task.sensor(
    task_id="run",
    mode="reschedule",
    poke_interval=300,
    timeout=LONGER_THAN_ANY_DEADLINE,
    on_failure_callback=tell_slack_of_batch,
    **RETRIES,
)
def run_batch(names: Sequence[str]) -> bool:
    """Process the days of this run for the models of a batch; fail once no other is to be done."""
    context = get_current_context()
    awaited = {name: log for name in names if (log := awaited_log(name, context))}
    ready = [name for name in names if name not in awaited]
    batch = of_batch(ready, lambda name: run_model(name, context, of_batch=True))
    if awaited:
        logging.getLogger(__name__).info("Waiting: %s", "\n".join(awaited.values()))
        return False
    for name in batch.errors:  # not overdue if the log has come meanwhile: then a retry reads it
        if not isinstance(batch.errors[name], ConfigError) and not is_overdue(name, context):
            raise DataError(batch.what_failed)
    if batch.errors:
        of_data = [error for error in batch.errors.values() if isinstance(error, DataError)]
        raise AirflowFailException(batch.what_failed) from next(iter(of_data), None)
    skip_if_all_are(batch)
    return True


def skip_if_all_are(batch: "Batch") -> None:
    """Skip a task that has skipped each of its models."""
    if len(batch.skipped) == len(batch.names):
        raise AirflowSkipException("\n".join(batch.skipped[:MOST_MESSAGES]))


@task(task_id="update_assets", retries=1, outlets=[UPDATED])
def update_assets(names: Sequence[str]) -> None:
    """Update the asset of each model whose days this run has processed."""
    from monitor.pipeline.runs.scheduled import processed_days

    context = get_current_context()
    for name in names:
        with suppress(ConfigError, DataError):  # then it has not succeeded
            extra: dict[str, Any] = {"days": [*map(str, processed_days(run_of(name, context)))]}
            context["outlet_events"][UPDATED].add(Asset(dag_id(name)), extra=extra)


@task(task_id="run_unsettled", retries=0)
def run_batch_unsettled(names: Sequence[str]) -> None:
    """Process later days of the models of a batch, if this is the run of today."""
    context = get_current_context()
    batch = of_batch(names, lambda name: run_model_unsettled(name, context))
    if batch.errors:
        raise DataError(batch.what_failed)
    skip_if_all_are(batch)


@task(task_id="write_report", retries=1, retry_delay=timedelta(minutes=2))
def write_pages(names: Sequence[str]) -> None:
    """Write the report pages of a batch."""
    from monitor.report.page.write import write_configured_model

    batch = of_batch(names, partial(write_configured_model, CONFIG))
    if batch.errors:
        raise DataError(batch.what_failed)


@task(retries=1, retry_delay=timedelta(minutes=2))
def write_index() -> None:
    """Write the index of all report pages."""
    from monitor.report.page.write import write_configured_index

    write_configured_index(CONFIG)


def of_batch(names: Sequence[str], do: Callable[[str], object]) -> "Batch":
    """Call `do` for each model of a batch.

    Every second try begins at the other end. So a model with which the process dies stops itself
    alone: those before it are done in one try, those after it in the next.
    """
    from monitor.pipeline.runs.fleet import process_batch

    def why_skipped(name: str) -> str | None:
        try:
            do(name)
        except AirflowSkipException as reason:
            return str(reason)
        return None

    backwards = get_current_context()["ti"].try_number % 2 == 0
    return process_batch(CONFIG, names, why_skipped, backwards=backwards)


def now() -> datetime:
    """Read the clock."""
    return datetime.now(UTC)


def dag_id(name: str) -> str:
    """Name the DAG of a model, and its asset; the name of an invalid model may have any sign."""
    return PREFIX + re.sub(r"[^A-Za-z0-9_.-]", "_", name)


def run_params() -> dict[str, Param]:
    """Give the form in which a person enters a day, and asks for a new store."""
    form = Param(None, type=["string", "null"], format="date", title="Day", description=DAY)
    begin = Param(False, type="boolean", title="Begin a store", description=BEGIN)
    return {"day": form, "begin": begin}


def make_dag(name: str) -> None:
    """Make the DAG of a model; the one of an invalid model has only a task that fails."""
    shown = CONFIG.shown(name)
    asset = Asset(dag_id(name))
    submitted = bool(os.environ.get(SUBMIT))
    where, tasks = (
        (" The work is done on a cluster.", TASKS_SUBMITTED) if submitted else ("", TASKS)
    )
    about = ABOUT.format(name=name, asset=asset.name, where=where, tasks=tasks)
    if shown.report_url:
        about += f"* Read the [report page](<{shown.report_url}>) of the model.\n"
    schedule, valid = shown.schedule, True
    try:
        check_schedule(name, CONFIG.model(name))
    except ConfigError as error:
        about = ABOUT_INVALID.format(name=name, message=str(error).replace("\n", "\n    "))
        schedule, valid = DEFAULT_SCHEDULE, False
    with DAG(
        dag_id(name),
        schedule=CronDataIntervalTimetable(schedule, timezone=shown.time_zone),
        catchup=False,
        default_args={"owner": shown.owner or "airflow"},
        params=run_params(),
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
            last = run_unsettled(name)
            wait_for_logs(name) >> done >> last.as_teardown()
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
        check_schedule(name, CONFIG.shown(name))
    except ConfigError:
        return False
    return True


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
    if CONFIG.report and CONFIG.report.url:
        index = f"{CONFIG.report.url.rstrip('/')}/index.html"
        about += f"* Read the [report pages](<{index}>) of all models.\n"
    for name in invalid[:MOST_MESSAGES]:
        message = str(CONFIG.invalid[name].message).replace("\n", "\n    ")
        about += "\n" + ABOUT_INVALID.format(name=name, message=message)
    with DAG(
        fleet_dag_id(*group),
        schedule=CronDataIntervalTimetable(schedule, timezone=time_zone),
        catchup=False,
        default_args={"owner": owner or "airflow"},
        params=run_params(),
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
    DAGS = {dag_id(name): name for name in reversed(CONFIG.names)}
    # A task that starts asks for its own DAG only.
    asked = get_parsing_context().dag_id
    for name in [DAGS[asked]] if asked in DAGS else DAGS.values():
        make_dag(name)
