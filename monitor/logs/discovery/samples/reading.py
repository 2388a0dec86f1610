"""The logs that were found, each with a sample of its rows, which the reader of runs reads."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import reduce
from typing import Any

import duckdb
import pyarrow as pa
from fsspec.implementations.local import LocalFileSystem

from monitor.base.errors import DataError
from monitor.base.files import open_filesystem
from monitor.base.sql_text import text_in_sql
from monitor.config import EXPRESSION, FIELD, TABLES, Model
from monitor.days.files import list_files
from monitor.logs.discovery.samples.profile import Column, profile
from monitor.logs.discovery.samples.within import Few, Leaf, beside, leaves_in, lists_in
from monitor.logs.engines.conversions import Wanted, as_it_is, columns_in, quoted
from monitor.logs.engines.session import (
    DAMAGE,
    FORMAT_NAMES,
    NESTED,
    Layout,
    Session,
    damage_of,
    first_line,
    readable,
    remedy_of,
)
from monitor.logs.sources.opening import OpenLog
from monitor.logs.sources.source import source_of
from monitor.logs.sources.tables import Scan
from monitor.words.guesses import say

ROWS_PER_DAY = 20_000  # of each sampled day
UNDATED_ROWS = 60_000  # of a log whose path does not name the day
SAMPLED_DAYS = (0.2, 0.5, 0.8)  # where in the range of days; the ends are often incomplete
TRIED_DAYS = 5  # where a day has no rows
FILES_PER_DAY = 4  # for the sample
LOOKED_AT = 100  # rows that say what columns hold
PARTITION = "day of the partition"  # a column added to samples
TEXTUAL = ("csv", "json")  # formats without types
# Files of CSV without a header.
NULL_TEXT = r"\N"  # of databases that unload a table
AS_LINES = (
    "header = false, all_varchar = true, quote = '\"', escape = '\"', hive_partitioning = false"
)
IS_VALUE = r"regexp_full_match(c, '-?\d*\.\d+') OR try_cast(c AS TIMESTAMP) IS NOT NULL"
IS_WHOLE = "try_cast(c AS BIGINT) IS NOT NULL"


@dataclass(frozen=True)
class Log:
    """Rows that are read as one log, and what a sample of them contains.

    Attributes
    ----------
    settings : mapping of str to object
        Where it is and how it is laid out, as the configuration says it.
    days : tuple of date
        The days that the path or a query names; none if neither does.
    sampled : tuple of date
        The days that the sample is from.
    table : str
        The table with the sample.
    leaves : tuple of Leaf
        What columns hold.
    columns : tuple of Column
        What the sample contains.
    nested : tuple of (str, str)
        The columns that are not in the sample, because others are made of them, with their types.
    span : tuple of (date, date), or None
        The first and the last day, where a column dates the rows.
    doubts : tuple of str
        What is unsure about it.
    question : str
        The question whose answers it has, if they are those of a decision model.
    twins : tuple of str
        The columns that are not read, because their names differ only in case.
    """

    settings: Mapping[str, Any]
    days: tuple[date, ...] = ()
    sampled: tuple[date, ...] = ()
    table: str = ""
    leaves: tuple[Leaf, ...] = ()
    columns: tuple[Column, ...] = ()
    nested: tuple[tuple[str, str], ...] = ()
    span: tuple[date, date] | None = None
    doubts: tuple[str, ...] = ()
    question: str = ""
    twins: tuple[str, ...] = ()

    @property
    def place(self) -> str:
        """Where it is: a path template, the folder of a table, or a query."""
        return str(self.settings.get("path") or self.settings.get("sql"))

    @property
    def format(self) -> str:
        """Such as `parquet`."""
        return str(self.settings["format"])

    @property
    def ends(self) -> tuple[date, date] | None:
        """The first and the last day, as far as they are known."""
        return (self.days[0], self.days[-1]) if self.days else self.span

    @property
    def where(self) -> str | None:
        """The filter of the rows that are counted."""
        return self.settings.get("where")

    def column(self, name: str) -> Column:
        """Return the facts about a column."""
        return next(column for column in self.columns if column.name == name)


def open_rows(
    session: Session,
    log: Log,
    day: date | None,
    *,
    files: int | None = None,
    most: int | None = None,
) -> OpenLog:
    """Open the rows of a day, or all, with the reader of runs."""
    settings = {"day": "-", **log.settings} if "{day" not in log.place else log.settings
    together = {"in_predictions": True}
    model = Model.model_validate({"predictions": settings, "outcomes": together})
    source = replace(source_of(model, "predictions"), most=files)
    opened = source.relation(session, [day] if day else None)
    table = opened.table
    if table and most:
        opened = replace(opened, table=replace(table, scan=_at_most(table.scan, most)))
    named = {
        file: {name: of for name, of in types.items() if name not in _unread(opened, file)}
        for file, types in opened.files.items()
    }
    return replace(opened, files=named) if day else replace(opened, files=named, dating=None)


def _unread(opened: OpenLog, file: str) -> set[str]:
    """Name the columns of unfit types, and those with fields that only case tells apart."""
    twins = opened.session.twins.get(file, ())
    unfit = opened.table.unfit if opened.table else ()
    return {*unfit, *(twin.partition(FIELD)[0] for twin in twins if FIELD in twin)}


def _at_most(scan: Scan, most: int) -> Scan:
    """Stop reading a table once it has given so many rows."""

    def until(rows: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        given = 0
        for batch in rows:
            yield batch
            given += batch.num_rows
            if given >= most:
                return

    def begin(*asked: Any) -> pa.RecordBatchReader:
        rows = scan(*asked)
        return pa.RecordBatchReader.from_batches(rows.schema, until(rows))

    return begin


def files_of(log: Log, day: date | None) -> list[str]:
    """List the files of a day as DuckDB names them; none of a table."""
    if log.format in TABLES:
        return []
    # A place without {day} is a template too: any day gives its files.
    names = list_files(log.place, day or date.min)
    local = bool(names) and isinstance(open_filesystem(names[0])[0], LocalFileSystem)
    return [name.removeprefix("file://") for name in names] if local else names


def _read(
    session: Session,
    log: Log,
    day: date | None,
    columns: Sequence[str] | None,
    limits: tuple[int | None, int | None],
) -> duckdb.DuckDBPyRelation:
    """Read columns of a day, or of all days, and what they hold."""
    most, files = limits
    opened = open_rows(session, log, day, files=files, most=most)
    if not opened.files:
        msg = f"{log.place}: has no files that can be read; name others."
        raise DataError(msg)
    inside = {leaf.name: leaf.sql for leaf in log.leaves}
    wholes = {leaf.whole for leaf in log.leaves}
    nested = {name for name, _ in log.nested}
    known = dict.fromkeys(n for types in opened.files.values() for n in types)
    listed = [*(n for n in known if n not in nested and n not in wholes), *inside]
    names = [n for n in (listed if columns is None else columns) if n in known or n in inside]
    parts = list[duckdb.DuckDBPyRelation]()
    for types in {tuple(of.items()): of for of in opened.files.values()}.values():
        wanted = {f"c{n}": _wanted(inside.get(name), name, types) for n, name in enumerate(names)}
        alike = {file: of for file, of in opened.files.items() if of == types}
        parts.append(replace(opened, files=alike).read(log.where, **wanted))
    rows = reduce(duckdb.DuckDBPyRelation.union, parts)
    rows = rows.select(", ".join(f"c{n} AS {quoted(name)}" for n, name in enumerate(names)))
    # Parquet counts its rows in the footer, and a limit keeps threads from the files.
    few = log.format == "parquet" and most and not log.where and len(rows) <= most
    return rows if few or most is None else rows.limit(most)


def _wanted(sql: str | None, name: str, types: Mapping[str, Any]) -> Wanted:
    """Read a column, or a value within one; null where a file has not the columns."""
    needed = columns_in(EXPRESSION + sql) if sql else [name]
    known = {of.lower() for of in types}
    if any(one.lower() not in known for one in needed):
        return Wanted((), lambda _: "NULL")
    if sql is None:
        return as_it_is(name)
    return Wanted((EXPRESSION + sql,), lambda _: f"TRY({sql})")


def keep(
    session: Session,
    log: Log,
    day: date | None,
    table: str,
    query: str = "SELECT * FROM some_rows",
    columns: Sequence[str] | None = None,
    *,
    most: int | None = None,
    files: int | None = None,
) -> int:
    """Add what a query makes of the rows of a day to a table, without files that are damaged.

    Parameters
    ----------
    session, log : Session, Log
        Reads it.
    day : date or None
        None if neither a path nor a query tells days apart.
    table, query : str
        Where to add them, and a query of `some_rows`, which also have the day of the partition.
    columns : sequence of str, optional
        Names of columns of the sample; of them those that the day has. By default all that is
        plain.
    most, files : int, optional
        At most so many rows, and so many files of a day.

    Returns
    -------
    int
        How many rows were added.

    Raises
    ------
    DataError
        If there are no files, or they cannot be read for another reason than damage.
    """
    before = size_of(session, table)
    try:
        rows = _read(session, log, day, columns, (most, files))
        dated = f"DATE '{day}'" if day else "NULL::DATE"
        rows.select(f"*, {dated} AS {quoted(PARTITION)}").create_view("some_rows", replace=True)
        add(session, query, table)
    except (DataError, *DAMAGE):
        if not _refuse_damaged(session, log, day):
            raise
        return keep(session, log, day, table, query, columns, most=most, files=files)
    return size_of(session, table) - before


def _refuse_damaged(session: Session, log: Log, day: date | None) -> bool:
    """Note which opened files of a day cannot be read, and why; none if another thing is wrong."""
    found = False
    for file in files_of(log, day):
        known = session.files.get(file)
        if known and file not in session.refused and (why := damage_of(session, file)):
            session.refused[file] = (
                f"{file}: cannot be read as {FORMAT_NAMES[known]} ({first_line(why)}); "
                f"{remedy_of(why, known)}, or name other files."
            )
            found = True
    return found


def sample(session: Session, log: Log) -> Log:
    """Read rows of some days of a log, or of all if nothing tells days apart, into its table.

    Raises
    ------
    DataError
        If none of the chosen days can be read, or they have no rows.
    """
    drop(session, log.table)
    log = known(session, log)
    failures, done = list[str](), list[date]()
    for day in _chosen(log.days) or (None,):
        for tried in [None] if day is None else log.days[log.days.index(day) :][:TRIED_DAYS]:
            try:
                rows = add_day(session, log, tried)
            except (DataError, *DAMAGE) as error:  # which is worded for a run
                said = f"{error}".removeprefix(f"{session.what}: ")
                failures += [
                    session.refused[f] for f in files_of(log, tried) if f in session.refused
                ]
                failures.append(said.replace("then rerun this day", "then run init again"))
                continue
            if rows:
                done += [tried] if tried and tried not in done else []
                break
    if not has_table(session, log.table):
        raise DataError(failures[0])
    if not size_of(session, log.table):
        msg = f"{log.place}: the sampled files have no rows; name files that have some."
        raise DataError(msg)
    log = described(session, replace(log, sampled=tuple(done)))
    if len(done) > 1 and log.format != "json" and any(column.nulls for column in log.columns):
        log = _with_columns_of_newest(session, log)
    files = (name for day in done or (None,) for name in files_of(log, day))
    twins = tuple(dict.fromkeys(twin for file in files for twin in session.twins.get(file, ())))
    listed = ", ".join(f"`{name}`" for name in readable(twins))
    about = [say("twins", names=listed)] if twins else []
    return replace(log, twins=twins, doubts=(*log.doubts, *about))


def known(session: Session, log: Log) -> Log:
    """Look for a header, and what columns hold; damaged files are for later."""
    day = (_chosen(log.days) or (None,))[0]
    try:
        if log.format == "csv" and "columns" not in log.settings:
            log = _with_layout(session, log, day)
        few = few_rows(session, log, day)
        found = leaves_in(few)
        if "explode" in log.settings:
            found += beside(few, _list_of(log.settings["explode"]))
    except (*DAMAGE, DataError):
        return log
    once = {leaf.name.lower(): leaf for leaf in reversed(found)}
    leaves = tuple(leaf for leaf in dict.fromkeys(found) if once[leaf.name.lower()] is leaf)
    native = ((leaf.name, native) for leaf, native in few.columns())
    nested = tuple((name, f"{of}") for name, of in native if of.id in NESTED)
    return replace(log, leaves=leaves, nested=nested)


def _list_of(explode: str | dict[str, str]) -> str:
    return explode if isinstance(explode, str) else explode["list"]


def few_rows(session: Session, log: Log, day: date | None) -> Few:
    """Keep some rows of a log with all columns as they are."""
    drop(session, "few_rows")
    plain = replace(log, leaves=(), nested=())
    keep(session, plain, day, "few_rows", most=LOOKED_AT, files=1)
    rows = session.connection.table("few_rows")
    plain_rows = rows.select(*(duckdb.ColumnExpression(c) for c in rows.columns[:-1]))
    return Few(plain_rows, textual=log.format in TEXTUAL)


def exploded(session: Session, log: Log) -> Iterator[Log]:
    """Sample a log once for each list in its records, of which each element becomes a row."""
    day = log.sampled[0] if log.sampled else None
    for number, listed in enumerate(lists_in(few_rows(session, log, day))):
        settings = {**log.settings, "explode": listed}
        yield sample(session, replace(log, settings=settings, table=f"{log.table}_of_{number}"))


def only(session: Session, log: Log, where: str, suffix: str, *, doubt: str = "") -> Log:
    """Sample the rows of a log again that meet a condition."""
    both = " AND ".join(filter(None, (log.where, where)))
    doubts = (*log.doubts, doubt) if doubt else log.doubts
    again = replace(log, settings={**log.settings, "where": both}, table=f"{log.table}_{suffix}")
    drop(session, again.table)
    for day in log.sampled or (None,):
        add_day(session, again, day)
    return replace(described(session, again), doubts=doubts)


def described(session: Session, log: Log) -> Log:
    """Describe the columns of a sample."""
    within = {leaf.name: leaf.sql for leaf in log.leaves}
    textual = log.format in TEXTUAL
    columns = profile(session.connection, log.table, within, textual=textual)
    return replace(log, columns=tuple(column for column in columns if column.name != PARTITION))


def add_day(session: Session, log: Log, day: date | None) -> int:
    """Add the rows of a day to the sample of a log, and return how many."""
    most = ROWS_PER_DAY if day else UNDATED_ROWS
    return keep(session, log, day, log.table, most=most, files=FILES_PER_DAY)


def size_of(session: Session, table: str) -> int:
    """Count the rows of a table, which may not be there."""
    return int(ask(session, f"SELECT count(*) FROM {table}")[0]) if has_table(session, table) else 0


def _with_columns_of_newest(session: Session, log: Log) -> Log:
    """Where columns went and others came, keep the days that have all columns of the newest."""
    opened = {day: open_rows(session, log, day, files=1) for day in log.sampled}
    columns = {d: {*n} for d, of in opened.items() for n in list(of.files.values())[:1]}
    today = columns[max(columns)]
    older = [day for day in columns if not columns[day] >= today]
    gone = set.union(*columns.values()) - today
    if not older or not gone:
        return log
    listed = ", ".join(f"DATE '{day}'" for day in older)
    session.connection.execute(f"DELETE FROM {log.table} WHERE {quoted(PARTITION)} IN ({listed})")
    for name in gone:
        session.connection.execute(f"ALTER TABLE {log.table} DROP COLUMN IF EXISTS {quoted(name)}")
    kept = tuple(day for day in log.sampled if day not in older)
    return described(session, replace(log, sampled=kept))


def _with_layout(session: Session, log: Log, day: date | None) -> Log:
    """Name the columns of files of CSV that have no header; others stay as they are.

    A header has neither fractions nor times. Where it has whole numbers, as of columns that have
    no names, the files of all days begin with the same.
    """
    names = files_of(log, day)[:1] + (files_of(log, log.days[-1])[-1:] if log.days else [])
    if not names:
        return log
    first = _first_line(session, names[0])
    cells = ", ".join(map(text_in_sql, first))
    tests = f"coalesce(bool_or({IS_VALUE}), false), coalesce(bool_or({IS_WHOLE}), false)"
    has_value, has_whole = ask(session, f"SELECT {tests} FROM (SELECT unnest([{cells}]) AS c)")
    if not (has_value or (has_whole and _first_line(session, names[-1]) != first)):
        return log
    place = f"{text_in_sql(names[0])}, {AS_LINES}"
    (separator,) = ask(session, f"SELECT Delimiter FROM sniff_csv({place})")
    columns = [f"column_{number}" for number in range(1, len(first) + 1)]
    session.types.pop(names[0], None)
    session.lay_out(names[:1], Layout(tuple(columns), separator))
    rows = session.read(names[:1], "csv").limit(10 * LOOKED_AT)
    is_null = " OR ".join(f"{quoted(name)} = {text_in_sql(NULL_TEXT)}" for name in columns)
    ((has_null,),) = rows.aggregate(f"coalesce(bool_or({is_null}), false)").fetchall()
    told = {"columns": columns, "separator": separator} | (
        {"null_text": NULL_TEXT} if has_null else {}
    )
    return replace(log, settings={**log.settings, **told})


def _first_line(session: Session, name: str) -> list[str]:
    """Return the cells of the first line of a file."""
    query = f"SELECT * FROM read_csv({text_in_sql(name)}, {AS_LINES}) LIMIT 1"
    rows = session.connection.execute(query).fetchall()
    return [f"{cell}" for row in rows for cell in row if cell is not None]


def _chosen(days: Sequence[date]) -> tuple[date, ...]:
    """Choose the days that are sampled."""
    return tuple(dict.fromkeys(days[int(part * (len(days) - 1))] for part in SAMPLED_DAYS if days))


def ask(session: Session, query: str) -> tuple[Any, ...]:
    """Return the only row of a query."""
    (row,) = session.connection.execute(query).fetchall()
    return tuple(row)


def has_table(session: Session, name: str) -> bool:
    """Say whether the connection has a table; what is attached may have one of its name."""
    here = "database_name = current_database() AND schema_name = current_schema()"
    found = f"SELECT count(*) FROM duckdb_tables() WHERE {here} AND table_name = ?"
    return session.connection.execute(found, [name]).fetchall() == [(1,)]


def drop(session: Session, *tables: str) -> None:
    """Drop tables that may be there."""
    for table in tables:
        session.connection.execute(f"DROP TABLE IF EXISTS {table}")


def add(session: Session, query: str, table: str) -> None:
    """Add rows to a table, in which a column that some of them lack is null."""
    connection = session.connection
    if not has_table(session, table):
        connection.execute(f"CREATE TABLE {table} AS {query}")
    elif set(connection.sql(query).columns) <= set(connection.table(table).columns):
        connection.execute(f"INSERT INTO {table} BY NAME {query}")
    else:
        both = f"SELECT * FROM {table} UNION ALL BY NAME ({query})"
        connection.execute(f"CREATE OR REPLACE TABLE {table} AS {both}")
