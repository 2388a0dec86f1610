"""Where the rows of a day lie: which days a log has, and what tells that one has changed."""

from collections.abc import Sequence
from datetime import date, timedelta
from typing import Any

from monitor.config import Model
from monitor.errors import DataError, Fault
from monitor.files import describe_files, list_days, list_files
from monitor.logs.calendars import Calendar, check_dated, read_calendar
from monitor.logs.opening import Kind, OpenLog, log_of, open_files
from monitor.logs.session import Session
from monitor.summary import days_between

MISSING = {
    log: Fault(log, "missing_day", "a day of the log is missing")
    for log in ("predictions", "outcomes")
}


def days_of(model: Model, kind: Kind) -> list[date]:
    """List the days of a log, in order.

    Outcomes that are a column of the predictions have the days of the predictions.
    """
    log = log_of(model, kind)
    return list(_calendar(model, kind).days) if log.day else list_days(log.path)


def has_day(model: Model, kind: Kind, day: date) -> bool:
    """Tell whether a log has a day."""
    log = log_of(model, kind)
    return day in _calendar(model, kind).days if log.day else bool(list_files(log.path, day))


def open_log(session: Session, model: Model, kind: Kind, days: Sequence[date]) -> OpenLog:
    """Open some days of a log.

    Raises
    ------
    DataError
        If a day is missing, or a file is not readable.
    """
    log = log_of(model, kind)
    names = list[str]()
    if log.day and days:
        names = list_files(log.path, days[0])
        calendar = _calendar(model, kind)
    for day in days:
        of_day = names if log.day and day in calendar.days else []
        if not log.day:
            of_day = list_files(log.path, day)
            names += of_day
        if not of_day:
            raise DataError(no_partition(session.what, model, kind, day), MISSING[kind])
    return open_files(session, model, kind, names, days)


def _calendar(model: Model, kind: Kind) -> Calendar:
    described = describe_files(log_of(model, kind).path, date.min)
    names = tuple(list_files(log_of(model, kind).path, date.min))
    calendar = read_calendar(model, kind, names, str(described))
    check_dated(model, kind, calendar)
    return calendar


def describe_inputs(model: Model, day: date, partitions: Sequence[date]) -> list[list[Any]]:
    """Describe all that the summary of a day is made of, so that a change of it is noticed.

    Parameters
    ----------
    model : Model
        Where the logs are.
    day : date
        Day of the predictions.
    partitions : sequence of date
        The days whose outcomes belong to it.
    """
    if model.outcomes.in_predictions:
        return [_describe(model, "predictions", day), [str(d) for d in partitions]]
    asked = days_between(day - timedelta(days=model.settled_after), day)
    return [
        [_describe(model, "predictions", d) for d in asked],
        [_describe(model, "outcomes", d) for d in partitions],
    ]


def _describe(model: Model, kind: Kind, day: date) -> list[list[str]]:
    return describe_files(log_of(model, kind).path, day)


def place_of(model: Model, kind: Kind, day: date | None = None) -> str:
    """Name the place of a log, or of one of its days, for messages."""
    template = log_of(model, kind).path
    return template.format(day=day) if day else template


def no_partition(what: str, model: Model, kind: Kind, day: date) -> str:
    """Word that a day has no file."""
    present = days_of(model, kind)
    range_ = (
        f"there are days {present[0]} to {present[-1]}" if present else "there are no days at all"
    )
    return (
        f"{what}: no {kind} of {day} at {place_of(model, kind, day)}; {range_}. "
        f"Wait for the log, or correct {kind}.path in the configuration."
    )
