"""The days of a log in a database: one query counts their rows and notices a change."""

from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import Any

import pyarrow as pa

from monitor.base.files import keep_while_looking
from monitor.base.sql_text import text_in_sql
from monitor.config import EARLIEST, LATEST
from monitor.logs.engines.conversions import quoted
from monitor.logs.sources.drivers import driver_of
from monitor.logs.sources.queries import ask
from monitor.logs.sources.tables import ROWS, Table, query_table
from monitor.logs.sources.times import Dating

Count = tuple[int, str, str]  # rows, the newest change, and a sum that every change moves


def days_of_query(table: Table, dating: Dating) -> Mapping[date | None, Count]:
    """Count the rows of every day, once for a run that looks once; None has those without a day."""

    def count(_: object = None) -> Mapping[date | None, Count]:
        if changed := table.log.changed:
            newest = f"max({driver_of(table.log.connection).quoted(changed)})::text"
            return _by_day(table, dating, newest, _total(table, changed))
        return _by_day(table, dating, "''", "''")

    kept = keep_while_looking(("days", table.log, dating), count)
    return count() if kept is None else kept


def describe_days(table: Table, dating: Dating, days: Sequence[date]) -> list[list[Any]]:
    """Describe what some days contain, so that a change of a row is noticed.

    Without a column that says when a row changed, whole rows are summed, of these days and all
    later ones at once: a run asks for its oldest day first.
    """
    counted = days_of_query(table, dating)
    kept = keep_while_looking(("sums", table.log, dating), lambda _: dict[date, str]())
    sums = {} if kept is None else kept
    if not table.log.changed and days and not sums.keys() >= set(days):
        first, last = min(days), max([*days, *filter(None, counted)])
        end = min([last + timedelta(days=1), *sums])
        by_day = _by_day(table, dating, "''", _total(table), (first, end))
        span = range((max(end, max(days) + timedelta(days=1)) - first).days)
        for day in (first + timedelta(days=i) for i in span):
            sums.setdefault(day, by_day[day][2] if day in by_day else "")
    return [[str(day), *counted.get(day, ()), sums.get(day, "")] for day in days]


def without_day(table: Table, dating: Dating) -> Table:
    """Open the rows whose day is null, or none that may have logs."""
    outside = f"{_day(table, dating)} BETWEEN '{EARLIEST}' AND '{LATEST}'"
    return query_table(table.log, f"NOT coalesce({outside}, FALSE)")


def _total(table: Table, column: str | None = None) -> str:
    """Write a value of the rows of a day that every change moves, of all columns or of one."""
    driver = driver_of(table.log.connection)
    if driver.names:
        return driver.total.format(f"{quoted(column) if column else ROWS}::text")
    return driver.total_of([column] if column else table.schema.names)


def _by_day(
    table: Table,
    dating: Dating,
    newest: str,
    total: str,
    span: tuple[date, date] | None = None,
) -> dict[date | None, Count]:
    """Aggregate the rows of each day, of all or of those from one day until before another."""
    column = driver_of(table.log.connection).quoted(dating.column)
    in_span = ""
    if span:
        margin = timedelta(days=2)  # for time zones; the first and last day are whole
        first, end = span[0] - margin, span[1] + margin
        in_span = f"WHERE {column} >= '{first}' AND {column} < '{end}'"
    rows = ask(
        f"{table.log.connection}",
        table.snapshot,
        f"SELECT {_day(table, dating)} AS {column}, count(*) AS number_of_rows, "
        f"{newest} AS newest_change, {total} AS sum_of_rows "
        f"FROM (\n{table.log.sql}\n) AS {ROWS} {in_span} GROUP BY 1",
    )
    counted = dict[date | None, Count]()
    for day, number, changed, value in rows:
        place = day if day and EARLIEST <= day <= LATEST else None
        before, *_ = counted.get(place, (0, "", ""))
        counted[place] = before + number, f"{changed or ''}", f"{value}"
    return counted


def _day(table: Table, dating: Dating) -> str:
    """Write the day of a row."""
    column = driver_of(table.log.connection).quoted(dating.column)
    kind = table.schema.field(dating.column).type
    if pa.types.is_date(kind):
        return column
    local = f"{column} AT TIME ZONE {text_in_sql(dating.zone)}" if kind.tz else column
    return f"({local})::date"
