"""The days of a log whose rows are dated by a column."""

from dataclasses import dataclass, replace
from datetime import date
from functools import lru_cache
from typing import Any

from monitor.base.errors import DataError, Fault
from monitor.config import EARLIEST, LATEST, Engine, Model, named
from monitor.days.summary import days_between
from monitor.logs.engines.conversions import Wanted, as_it_is, columns_in
from monitor.logs.engines.session import open_session
from monitor.logs.sources.exploding import ADDED
from monitor.logs.sources.opening import Kind, OpenLog, log_of, open_files, open_table_of, raise_all
from monitor.logs.sources.query_days import days_of_query, without_day
from monitor.logs.sources.tables import Table

CALENDARS_KEPT = 100


@dataclass(frozen=True)
class Calendar:
    """The days of a log.

    Attributes
    ----------
    days : tuple of date
        Those of predictions have rows. Outcomes have every day from the first with rows to the
        last, because a day without outcomes has no row.
    undated : int
        Rows without a day. An outcome that is not known yet needs none.
    """

    days: tuple[date, ...]
    undated: int


@lru_cache(CALENDARS_KEPT)
def read_calendar(
    model: Model, kind: Kind, names: tuple[str, ...], version: str | Table
) -> Calendar:
    """Read the days of all rows, once for each version of the files or the table."""
    place = log_of(model, kind).path
    with open_session(f"{kind} at {place}", Engine()) as session:
        log = (
            open_table_of(session, model, kind, version, None)
            if isinstance(version, Table)
            else open_files(session, model, kind, names, None)
        )
        raise_all(log)
        if not (log.dating and log.files):
            return Calendar((), 0)
        day = log.dating.day()
        rows_by_day: dict[date | None, Any]
        if isinstance(version, Table) and version.log.stored_as == "sql":
            rows_by_day = {**days_of_query(version, log.dating)}
            if None in rows_by_day:
                log = replace(log, table=without_day(version, log.dating))
        else:
            rows_by_day = dict(_records(log).read(day=day).aggregate("day, count(*)").fetchall())
        undated = _count_undated(log, model, day) if rows_by_day.pop(None, 0) else 0
    days = sorted(filter(None, rows_by_day))
    if kind == "outcomes" and days:
        days = days_between(days[0], days[-1])
    return Calendar(tuple(days), undated)


def _records(log: OpenLog) -> OpenLog:
    """Leave the lists in the records of a log whole, unless their elements say the day."""
    by_record = log.dating and {*columns_in(log.dating.column)}.isdisjoint(ADDED)
    return replace(log, exploded=None) if by_record else log


def _count_undated(log: OpenLog, model: Model, day: Wanted) -> int:
    """Count the rows that lack a day though they need one."""
    needed = {"day": day}
    column = model.outcomes.outcome if log.kind == "outcomes" else None
    if column:
        log.check(column, "outcomes.outcome", lambda _: True, "of any type")
        needed["outcome"] = as_it_is(column)
    row_filter = log_of(model, log.kind).where
    log.check_filter(row_filter)
    raise_all(log)
    rows = log.read(row_filter, **needed).filter("day IS NULL")
    if column:
        rows = rows.filter("outcome IS NOT NULL")
    return len(rows)


def check_dated(model: Model, kind: Kind, calendar: Calendar) -> None:
    """Raise DataError if rows have no day, because no day would read them."""
    if calendar.undated:
        log = log_of(model, kind)
        msg = (
            f"{calendar.undated:,} rows of the {kind} at {log.path} have no day, because column "
            f"'{named(f'{log.day}')}' is null, cannot be read as a date or time, or lies outside "
            f"the years {EARLIEST.year} to {LATEST.year}; correct the log, or {kind}.day or "
            f"{kind}.where in the configuration, then rerun this day."
        )
        raise DataError(msg, Fault(kind, "column", "rows have no day", calendar.undated))
