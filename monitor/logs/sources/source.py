"""One source of rows for each log, whatever it is: its days, their versions, and its rows.

`source_of` alone decides what a log is: a file for each day, files or a table whose rows a column
dates, or a query of a database. All that follows asks for days, versions and rows.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import lru_cache
from typing import Any

from monitor.base.errors import ConfigError, DataError, Fault
from monitor.config import EARLIEST, LATEST, TABLES, Engine, Model, OutcomeLog, PredictionLog, named
from monitor.days.files import describe_files, list_days, list_files
from monitor.days.settling import Settling
from monitor.days.summary import days_between
from monitor.logs.engines.conversions import Wanted, as_it_is, columns_in
from monitor.logs.engines.session import Session, open_session
from monitor.logs.sources.exploding import ADDED
from monitor.logs.sources.opening import (
    KINDS,
    Kind,
    OpenLog,
    log_of,
    open_files,
    open_table_of,
    raise_all,
)
from monitor.logs.sources.query_days import days_of_query, describe_days, without_day
from monitor.logs.sources.shares import spread
from monitor.logs.sources.tables import Table, open_table, table_around
from monitor.logs.sources.times import Dating, dating_of

MISSING = {log: Fault(log, "missing_day", "a day of the log is missing") for log in KINDS}
CALENDARS_KEPT = 100
HERE_ONLY = "sql", "counts"  # formats that tasks of Spark do not read
Counted = tuple[dict[date | None, Any], OpenLog]  # rows by day, and where those without one are


@dataclass(frozen=True)
class Source(ABC):
    """A log of a model, `predictions` or `outcomes`, of which a sample has fewer files of a day."""

    model: Model
    kind: Kind
    most: int | None = None

    @property
    def log(self) -> PredictionLog | OutcomeLog:
        """What the configuration says of it."""
        return log_of(self.model, self.kind)

    @abstractmethod
    def days(self) -> Sequence[date]:
        """List its days, in order; those of outcomes in predictions are those of predictions."""

    @abstractmethod
    def present(self, days: Sequence[date]) -> list[date]:
        """List which of some days it has."""

    @abstractmethod
    def versions(self, days: Sequence[date]) -> list[Any]:
        """Describe some days, so that a change of what they hold is noticed."""

    @abstractmethod
    def relation(self, session: Session, days: Sequence[date] | None) -> OpenLog:
        """Open the rows of some days, which it has, or of all if it is None."""

    def refuse(self, what: str, names: Sequence[str] = ()) -> None:
        """Raise DataError for files of a table, some of whose rows do not count any more."""
        table = table_around(self.log.path.format(day=date.min), names)
        if not table:
            return
        folder, said, form = table
        remedy = (
            f"set {self.kind}.format to {form}, {self.kind}.path to {folder} and {self.kind}.day "
            f"to the column that dates its rows"
            if form
            else "write its current rows to files of their own"
        )
        msg = (
            f"{what}: the {self.kind} at {self.log.path} are files of {said}, {folder}, which "
            f"keeps rows that were deleted or replaced; {remedy}, then rerun this day."
        )
        fault = Fault(self.kind, "unreadable", "files of a table cannot be read one by one")
        raise DataError(msg, fault)


class DailyFiles(Source):
    """Files that name their day in the path."""

    def days(self) -> Sequence[date]:
        """List the days in the names."""
        return list_days(self.log.path)

    def present(self, days: Sequence[date]) -> list[date]:
        """List the days that have a file."""
        return [day for day in days if list_files(self.log.path, day)]

    def versions(self, days: Sequence[date]) -> list[Any]:
        """Describe the files of each day."""
        return [describe_files(self.log.path, day) for day in days]

    def relation(self, session: Session, days: Sequence[date] | None) -> OpenLog:
        """Open the files of the days."""
        days = self.days() if days is None else days
        names = [name for day in days for name in list_files(self.log.path, day)][: self.most]
        self.refuse(session.what, names)
        return open_files(session, self.model, self.kind, names, days)


class Dated(Source):
    """Rows that a column dates, all of them at one place."""

    def days(self) -> Sequence[date]:
        """List the days of the rows.

        Outcomes have every day from the first to the last: a day without outcomes has no row.
        """
        days, undated = self.calendar()
        if undated:
            msg = (
                f"{undated:,} rows of the {self.kind} at {self.log.path} have no day, because "
                f"column '{named(f'{self.log.day}')}' is null, cannot be read as a date or time, "
                f"or lies outside the years {EARLIEST.year} to {LATEST.year}; correct the log, or "
                f"{self.kind}.day or {self.kind}.where in the configuration, then rerun this day."
            )
            raise DataError(msg, Fault(self.kind, "column", "rows have no day", undated))
        return [*days]

    def present(self, days: Sequence[date]) -> list[date]:
        """List the days that have rows."""
        dated = set(self.days()) if days else set()
        return [day for day in days if day in dated]

    @abstractmethod
    def calendar(self) -> tuple[Sequence[date], int]:
        """List the days of all rows, and count the rows without one that need one."""

    def count(self, log: OpenLog, dating: Dating) -> Counted:
        """Count the rows of each day."""
        rows = _records(log, dating).read(day=dating.day()).aggregate("day, count(*)")
        return dict(rows.fetchall()), log


class DatedFiles(Dated):
    """Files with the rows of many days."""

    def versions(self, days: Sequence[date]) -> list[Any]:
        """Describe all files."""
        return [describe_files(self.log.path, date.min), [str(day) for day in days]]

    def relation(self, session: Session, days: Sequence[date] | None) -> OpenLog:
        """Open all files."""
        names = list_files(self.log.path, date.min) if days or days is None else []
        self.refuse(session.what, names)
        return open_files(session, self.model, self.kind, names, days)

    def calendar(self) -> tuple[Sequence[date], int]:
        """Read the days of these versions of the files."""
        self.refuse(self.kind)
        names = tuple(list_files(self.log.path, date.min))
        version = names, str(describe_files(self.log.path, date.min))
        return _calendar(self, version)


class Lake(Dated):
    """A table that says which rows count."""

    def refuse(self, what: str, names: Sequence[str] = ()) -> None:
        """Take it as it is."""

    def versions(self, days: Sequence[date]) -> list[Any]:
        """Name the version of the table."""
        return [open_table(self.log).version, [str(day) for day in days]]

    def relation(self, session: Session, days: Sequence[date] | None) -> OpenLog:
        """Open the newest version."""
        return open_table_of(session, self.model, self.kind, open_table(self.log), days)

    def calendar(self) -> tuple[Sequence[date], int]:
        """Read the days of this version."""
        return _calendar(self, open_table(self.log))


class Query(Lake):
    """A query of a database, which counts the rows of its days itself."""

    def versions(self, days: Sequence[date]) -> list[Any]:
        """Describe the rows of each day."""
        return describe_days(open_table(self.log), dating_of(self.log, self.model.time_zone), days)

    def count(self, log: OpenLog, dating: Dating) -> Counted:
        """Ask for the rows of each day."""
        counted = days_of_query(log.table, dating) if log.table else {}
        missing = log.table if None in counted else None
        return {**counted}, replace(log, table=without_day(missing, dating)) if missing else log


def source_of(model: Model, kind: Kind) -> Source:
    """Decide what a log is."""
    log = log_of(model, kind)
    if not log.day:
        return DailyFiles(model, kind)
    if log.stored_as not in TABLES:
        return DatedFiles(model, kind)
    return (Query if log.sql else Lake)(model, kind)


def days_of(model: Model, kind: Kind) -> list[date]:
    """List the days of a log, in order."""
    return [*source_of(model, kind).days()]


def present_days(model: Model, kind: Kind, days: Sequence[date]) -> list[date]:
    """List which of some days a log has."""
    return source_of(model, kind).present(days)


def has_day(model: Model, kind: Kind, day: date) -> bool:
    """Return whether a log has a day."""
    return bool(present_days(model, kind, [day]))


def has_files_of_days(model: Model) -> bool:
    """Return whether the place of each log names the day."""
    one, two = date(2026, 1, 1), date(2026, 1, 2)
    own = KINDS[:1] if model.outcomes.in_predictions else KINDS
    return all(place_of(model, kind, one) != place_of(model, kind, two) for kind in own)


def open_log(session: Session, model: Model, kind: Kind, days: Sequence[date]) -> OpenLog:
    """Open some days of a log.

    Raises
    ------
    DataError
        If a day is missing, a file is not readable, or belongs to a table.
    """
    source = source_of(model, kind)
    if missing := sorted(set(days).difference(source.present(days))):
        source.refuse(session.what)
        raise DataError(no_partition(session.what, model, kind, missing[0]), MISSING[kind])
    if session.spark is None:
        return source.relation(session, days)
    if source.log.format in HERE_ONLY:
        msg = (
            f"{session.what}: format: {source.log.format} is read by DuckDB only; set engine.kind "
            f"to duckdb in the configuration."
        )
        raise ConfigError(msg)
    return replace(source.relation(session, days), spread=spread)


@lru_cache(CALENDARS_KEPT)
def _calendar(source: Dated, version: Any) -> tuple[Sequence[date], int]:
    """Read the days of all rows, once for each version of the files or the table."""
    model, kind = source.model, source.kind
    with open_session(f"{kind} at {source.log.path}", Engine()) as session:
        log = (
            open_table_of(session, model, kind, version, None)
            if isinstance(version, Table)
            else open_files(session, model, kind, version[0], None)
        )
        raise_all(log)
        if not (log.dating and log.files):
            return (), 0
        rows_by_day, log = source.count(log, log.dating)
        missing = rows_by_day.pop(None, 0) and log.dating
        undated = _count_undated(log, model, missing.day()) if missing else 0
    days = sorted(filter(None, rows_by_day))
    if kind == "outcomes" and days:
        days = days_between(days[0], days[-1])
    return tuple(days), undated


def _records(log: OpenLog, dating: Dating) -> OpenLog:
    """Leave the lists in the records of a log whole, unless their elements say the day."""
    by_record = {*columns_in(dating.column)}.isdisjoint(ADDED)
    return replace(log, exploded=None) if by_record else log


def _count_undated(log: OpenLog, model: Model, day: Wanted) -> int:
    """Count the rows that lack a day though they need one; an unknown outcome needs none."""
    needed = {"day": day}
    column = model.outcomes.outcome if log.kind == "outcomes" else None
    if column:
        log.check(column, "outcomes.outcome")
        needed["outcome"] = as_it_is(column)
    row_filter = log_of(model, log.kind).where
    if row_filter:
        log.check_filter(row_filter)
    raise_all(log)
    rows = log.read(row_filter, **needed).filter("day IS NULL")
    if column:
        rows = rows.filter("outcome IS NOT NULL")
    return len(rows)


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
    scored = source_of(model, "predictions")
    if model.outcomes.in_predictions:
        return [scored.versions([day]), [str(d) for d in partitions]]
    asked = Settling(model).read_by(day)
    return [scored.versions(asked), source_of(model, "outcomes").versions(partitions)]


def versions_of_tables(model: Model) -> dict[str, str]:
    """Name the newest version of each log that is a table: where it is, and what identifies it."""
    sources = [source_of(model, kind) for kind in KINDS]
    own = sources[:1] if model.outcomes.in_predictions else sources
    return {of.kind: open_table(of.log).version for of in own if isinstance(of, Lake)}


def place_of(model: Model, kind: Kind, day: date | None = None) -> str:
    """Name the place of a log, or of one of its days, for messages."""
    template = log_of(model, kind).path
    return template.format(day=day) if day else template


def place_key(model: Model, kind: Kind) -> str:
    """Name the key of the configuration that says where a log is."""
    return f"{kind}.{'sql' if log_of(model, kind).sql else 'path'}"


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
