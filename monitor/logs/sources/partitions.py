"""Where the rows of a day lie: which days a log has, and what tells that one has changed."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from typing import Any

from monitor.base.errors import ConfigError, DataError, Fault
from monitor.config import TABLES, Model
from monitor.days.files import describe_files, list_days, list_files
from monitor.days.settling import Settling
from monitor.logs.engines.session import Session
from monitor.logs.sources.calendars import Calendar, check_dated, read_calendar
from monitor.logs.sources.opening import KINDS, Kind, OpenLog, log_of, open_files, open_table_of
from monitor.logs.sources.query_days import describe_days
from monitor.logs.sources.shares import spread
from monitor.logs.sources.tables import open_table, table_around
from monitor.logs.sources.times import dating_of

MISSING = {log: Fault(log, "missing_day", "a day of the log is missing") for log in KINDS}


def days_of(model: Model, kind: Kind) -> list[date]:
    """List the days of a log, in order.

    Outcomes that are a column of the predictions have the days of the predictions.
    """
    log = log_of(model, kind)
    return list(_calendar(model, kind).days) if log.day else list_days(log.path)


def present_days(model: Model, kind: Kind, days: Sequence[date]) -> list[date]:
    """List which of some days a log has."""
    log = log_of(model, kind)
    if not log.day:
        return [day for day in days if list_files(log.path, day)]
    dated = set(_calendar(model, kind).days) if days else set()
    return [day for day in days if day in dated]


def has_day(model: Model, kind: Kind, day: date) -> bool:
    """Tell whether a log has a day."""
    return bool(present_days(model, kind, [day]))


def open_log(session: Session, model: Model, kind: Kind, days: Sequence[date]) -> OpenLog:
    """Open some days of a log.

    Raises
    ------
    DataError
        If a day is missing, a file is not readable, or belongs to a table.
    """
    log = log_of(model, kind)
    if missing := sorted(set(days).difference(present_days(model, kind, days))):
        _refuse_table(session.what, model, kind, [])
        raise DataError(no_partition(session.what, model, kind, missing[0]), MISSING[kind])
    if log.format in ("sql", "counts") and session.spark is not None:
        msg = (
            f"{session.what}: format: {log.format} is read by DuckDB only; set engine.kind to "
            f"duckdb in the configuration."
        )
        raise ConfigError(msg)
    if log.stored_as in TABLES:
        return _readable(open_table_of(session, model, kind, open_table(log), days))
    dated = days[:1] if log.day else days  # every day has the same files
    names = [name for day in dated for name in list_files(log.path, day)]
    _refuse_table(session.what, model, kind, names)
    return _readable(open_files(session, model, kind, names, days))


def _readable(log: OpenLog) -> OpenLog:
    """Hand a log the reader that its session needs."""
    return log if log.session.spark is None else replace(log, spread=spread)


def _refuse_table(what: str, model: Model, kind: Kind, names: Sequence[str]) -> None:
    """Raise DataError for files of a table, some of whose rows do not count any more."""
    log = log_of(model, kind)
    table = None if log.stored_as in TABLES else table_around(log.path.format(day=date.min), names)
    if not table:
        return
    folder, said, form = table
    remedy = (
        f"set {kind}.format to {form}, {kind}.path to {folder} and {kind}.day to the column that "
        f"dates its rows"
        if form
        else "write its current rows to files of their own"
    )
    msg = (
        f"{what}: the {kind} at {log.path} are files of {said}, {folder}, which keeps rows that "
        f"were deleted or replaced; {remedy}, then rerun this day."
    )
    raise DataError(msg, Fault(kind, "unreadable", "files of a table cannot be read one by one"))


def _calendar(model: Model, kind: Kind) -> Calendar:
    log = log_of(model, kind)
    if log.stored_as in TABLES:
        calendar = read_calendar(model, kind, (), open_table(log))
    else:
        _refuse_table(kind, model, kind, [])
        names = tuple(list_files(log.path, date.min))
        version = str(describe_files(log.path, date.min))
        calendar = read_calendar(model, kind, names, version)
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
        return [_describe(model, "predictions", [day]), [str(d) for d in partitions]]
    asked = Settling(model).read_by(day)
    return [_describe(model, "predictions", asked), _describe(model, "outcomes", partitions)]


def _describe(model: Model, kind: Kind, days: Sequence[date]) -> list[Any]:
    log = log_of(model, kind)
    dating = dating_of(model, kind)
    if log.stored_as == "sql" and dating:
        return describe_days(open_table(log), dating, days)
    if log.stored_as in TABLES:
        return [open_table(log).version, [str(day) for day in days]]
    if log.day:
        return [describe_files(log.path, date.min), [str(day) for day in days]]
    return [describe_files(log.path, day) for day in days]


def versions_of_tables(model: Model) -> dict[str, str]:
    """Name the newest version of each log that is a table: where it is, and what identifies it."""
    logs = {kind: log_of(model, kind) for kind in KINDS}
    if model.outcomes.in_predictions:
        del logs["outcomes"]
    return {kind: open_table(log).version for kind, log in logs.items() if log.stored_as in TABLES}


def place_of(model: Model, kind: Kind, day: date | None = None) -> str:
    """Name the place of a log, or of one of its days, for messages."""
    template = log_of(model, kind).path
    return template.format(day=day) if day else template


def place_key(model: Model, kind: Kind) -> str:
    """Name the key of the configuration that says where a log is."""
    return f"{kind}.{'sql' if log_of(model, kind).stored_as == 'sql' else 'path'}"


def no_partition(what: str, model: Model, kind: Kind, day: date) -> str:
    """Word that a day has no file."""
    present = days_of(model, kind)
    range_ = (
        f"there are days {present[0]} to {present[-1]}" if present else "there are no days at all"
    )
    return (
        f"{what}: no {kind} of {day} at {place_of(model, kind, day)}; {range_}. "
        f"Wait for the log, or correct {place_key(model, kind)} in the configuration."
    )
