"""Runs that a scheduler starts, such as Airflow: from an interval to a plan, and what they left.

Rule: what depends on the scheduler itself is not here; only plain dates and moments come in.
"""

import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from statistics import median
from zoneinfo import ZoneInfo

from monitor.base.errors import ConfigError, DataError
from monitor.config import Config
from monitor.days.settling import Settling
from monitor.days.summary import days_between, whole
from monitor.logs import (
    Again,
    check_logs_exist,
    delivered_again,
    has_day,
    is_counted_there,
    open_databases,
)
from monitor.pipeline.days.task import Task
from monitor.pipeline.runs.grouping import grouped
from monitor.pipeline.runs.morning import Call, Morning, beginning, plan_morning
from monitor.pipeline.runs.run import run
from monitor.store.store import Store
from monitor.words.advice import changed_logs

LARGE = 1.2  # times the predictions of the median day
log = logging.getLogger(__name__)


def delivered_in(config: Config, name: str, days: Sequence[date]) -> tuple[Again, ...]:
    """Look at the newest of the days that were read, and at those that are much larger than usual.

    Each look reads the ids of two days, so not every day of a backfill gets one, and none whose
    rows stay where they are.

    Parameters
    ----------
    config, name : Config, str
        The model.
    days : sequence of date
        Days that the store has a summary of, in order.
    """
    model, store = config.model(name), Store(config.store)
    if not days or is_counted_there(model, config.engine):
        return ()
    rows = {day: whole(store.read_summary(name, day)[0]).predicted for day in days}
    usual = median(rows.values())
    chosen = [day for day in days if day == days[-1] or rows[day] > LARGE * usual]
    found = list[Again]()
    with open_databases(config.engine) as databases:
        for day in chosen:
            with suppress(DataError):  # the day before may be damaged, and says so itself
                again = delivered_again(name, model, day, rows=rows[day], engine=databases)
                found += [again] if again else []
    return tuple(found)


@dataclass(frozen=True)
class Scheduled:
    """A run of a model, as its scheduler knows it.

    Attributes
    ----------
    config, model : Config, str
        The model.
    label : str
        The scheduler's name of the run, for messages.
    due : datetime
        When the run was due: the deadline of its logs is `log_deadline_hours` later.
    began : datetime or None
        When it began.
    interval : tuple of (datetime, datetime) or None
        It processes the days that settled between these moments.
    day : date or None
        The day that a person asked for, whatever the interval is.
    is_backfill : bool
        Whether it is one of many for the past, and leaves the days before its own alone.
    begin : bool
        Whether a person asked it to begin a store where there is none; a backfill always does.
    """

    config: Config
    model: str
    label: str
    due: datetime
    began: datetime | None = None
    interval: tuple[datetime, datetime] | None = None
    day: date | None = None
    is_backfill: bool = False
    begin: bool = False

    @property
    def begins(self) -> bool:
        """Whether it begins a store where there is none, as the command of its name does."""
        return self.begin or self.is_backfill

    def local(self, moment: datetime) -> date:
        """Find the day of a moment in the time zone of the model."""
        return moment.astimezone(ZoneInfo(self.config.model(self.model).time_zone)).date()

    @property
    def is_of_today(self) -> bool:
        """Whether it began on the day on which its interval ended."""
        end = self.interval[1] if self.interval else self.due
        return self.began is not None and self.local(self.began) == self.local(end)


def span_of(scheduled: Scheduled) -> tuple[date, date, date]:
    """Find the first and the last day of a run, and the first day whose outcomes are not read.

    Raises
    ------
    ConfigError
        If it has neither a day nor an interval.
    """
    if scheduled.day:
        return scheduled.day, scheduled.day, scheduled.local(scheduled.due)
    if not scheduled.interval:
        msg = f"{scheduled.label}: has no interval; trigger it with a day, such as 2026-03-01."
        raise ConfigError(msg)
    start, end = map(scheduled.local, scheduled.interval)
    settling = Settling(scheduled.config.model(scheduled.model))
    last = settling.newest(end)
    # Within one day nothing settles: with several runs a day, each repeats the newest settled day.
    return min(settling.read_by(start)[0], last), last, end


def plan_run(scheduled: Scheduled, *, unsettled: bool = False) -> Morning:
    """Plan the days that have settled and missing days before them, or with unsettled ones."""
    first, last, as_of = span_of(scheduled)
    call = Call(
        as_of,
        day=scheduled.day,
        due=None if scheduled.day else (first, last),
        unsettled=unsettled,
        catch_up=not (unsettled or scheduled.is_backfill),
    )
    return plan_morning(scheduled.config, scheduled.model, call)


def awaited_log(scheduled: Scheduled, *, now: datetime) -> str | None:
    """Say which log a run waits for, and until when; None if it can begin.

    A new model of which no day has settled waits for nothing: its run says when the first one will.
    """
    *_, as_of = span_of(scheduled)
    if not scheduled.day and beginning(scheduled.config, scheduled.model, as_of=as_of):
        return None
    model = scheduled.config.model(scheduled.model)
    deadline = scheduled.due + timedelta(hours=model.log_deadline_hours)
    missing = missing_log(scheduled)
    return f"{missing} The deadline is {deadline}." if missing and now < deadline else None


def missing_log(scheduled: Scheduled) -> str | None:
    """Say which log of the days of a run is missing; None if none is.

    A day outside the calendar of the model lacks nothing while it has no predictions.
    """
    first, last, as_of = span_of(scheduled)
    model = scheduled.config.model(scheduled.model)
    try:
        for day in days_between(first, last):
            closed = model.calendar is not None and not model.calendar.has(day)
            if not closed or has_day(model, "predictions", day):
                check_logs_exist(scheduled.model, model, day, as_of=as_of)
    except DataError as error:
        return str(error)
    return None


def plan_later_days(scheduled: Scheduled) -> Task | str:
    """Plan the later days too, whose outcomes are still arriving, or say why there are none.

    The settled days are checked again and skipped if they are done, so the record of the last run
    covers all days and hides no failure.
    """
    name, (_, last, as_of) = scheduled.model, span_of(scheduled)
    if scheduled.day or not scheduled.is_of_today:
        past = scheduled.day or f"the past, as of {as_of}"
        return f"{name}: this run is for {past}; today's run does it."
    task = plan_run(scheduled, unsettled=True).task
    if not task or task.last <= last:
        return f"{name}: as of {as_of} there are no predictions after {last}."
    return replace(task, skip_unchanged=True)


def process(
    config: Config,
    task: Task,
    *,
    clock: Callable[[], datetime],
    wait: bool = True,
    begins: bool = False,
) -> tuple[date, ...]:
    """Run a task, log what it did, and give the days that it summarised.

    Raises
    ------
    ConfigError, DataError
        As `run`, if a day failed, and if there is no store, unless the task begins one.
    """
    store = Store(config.store)
    if not begins:
        store.must_be_there()
    elif store.begin(clock()):
        log.info("store: %s is new, and begins here", config.store)
    name, report = task.model, run(config, task, clock=clock, wait=wait)
    for message in grouped(name, report.still_missing):
        log.warning("Still missing: %s", message)
    if report.failures:
        raise DataError("\n".join(grouped(name, report.failures)))
    if report.changed:
        log.warning("%s: %s", name, changed_logs(name, report.changed))
    for again in delivered_in(config, name, report.summarised):
        log.warning("%s: %s", name, again)
    done = ", ".join(map(str, report.summarised)) or "no day"
    log.info("%s: processed %s, evaluated %d days", name, done, len(report.evaluated))
    return report.summarised


def command_of(scheduled: Scheduled) -> list[str]:
    """Write the call of calibration-monitor that does the settled days and, today, later ones."""
    first, last, as_of = span_of(scheduled)
    if scheduled.day:
        words = ["run", "--day", f"{last}"]
    elif first != last or scheduled.is_backfill:
        words = ["backfill", "--from", f"{first}", "--to", f"{last}"]
    else:
        words = ["run", *(["--unsettled"] if scheduled.is_of_today else [])]
    if scheduled.begins and words[0] == "run":
        words.append("--begin")
    return [*words, "--as-of", f"{as_of}", "--model", scheduled.model]


def submitted_days(scheduled: Scheduled, *, now: datetime) -> list[date] | str:
    """List the days of a run that was submitted elsewhere and is done, or say what it is doing.

    Raises
    ------
    DataError
        If one of its days failed, a log of its last day is missing, or it ended without a result.
    """
    name, began, store = scheduled.model, scheduled.began, Store(scheduled.config.store)
    # In this order: a run that was not at work any more when we looked has left its record.
    begun = store.read_begin(name)
    is_at_work = store.is_locked(name, now=now)
    record = store.read_run(name)
    if not record or not began or record.started < began:
        if not begun or not began or begun[0] < began:
            return "not begun yet"
        if is_at_work:
            return "at work"
        msg = (
            f"{name}: the submitted run ({begun[1]}) ended without a result: it was killed, or "
            f"stopped with an error. The log of its driver says why; the log of the task `submit` "
            f"says what the cluster calls it. The days that are done are kept. Clear `submit` to "
            f"run the others."
        )
        raise DataError(msg)
    if record.failed:
        fault = record.failed.fault
        why = f" ({fault.log}: {fault.complaint})" if fault else ""
        msg = f"{name}: {record.failed.day} failed{why}; the log of the driver has the message."
        raise DataError(msg)
    days = processed_days(scheduled)
    # The command does the newest day whose logs are there, which may be one before.
    if span_of(scheduled)[1] not in days and (missing := missing_log(scheduled)):
        raise DataError(missing)
    return days


def processed_days(scheduled: Scheduled) -> list[date]:
    """List the days of a run that the store has.

    Raises
    ------
    DataError
        If the last run of the model failed, or began before this one.
    """
    name, store = scheduled.model, Store(scheduled.config.store)
    record = store.read_run(name)
    if not record or record.failed or not scheduled.began or record.started < scheduled.began:
        msg = f"{name}: has not succeeded since {scheduled.label} began; look at its runs."
        raise DataError(msg)
    first, last, _ = span_of(scheduled)
    return [day for day in store.days("summaries", name) if first <= day <= last]
