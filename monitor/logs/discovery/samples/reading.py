"""A sample of the rows of a log, in a table of a DuckDB connection."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date

import duckdb

from monitor.base.errors import DataError
from monitor.config import literal
from monitor.days.files import list_days
from monitor.logs.discovery.samples.columns import Column, columns_of, in_sql
from monitor.logs.discovery.samples.headers import with_layout
from monitor.logs.discovery.samples.listing import Survey
from monitor.logs.discovery.samples.naming import Pattern
from monitor.logs.discovery.samples.rows import (
    LOOKED_AT,
    TEXTUAL,
    Source,
    add,
    ask,
    files_of,
    has_table,
    leaves_of,
    look_into,
    open_rows,
)
from monitor.logs.engines.conversions import quoted
from monitor.logs.engines.session import DAMAGE, Session, damage_of, first_line, readable, remedy_of

ROWS_PER_DAY = 20_000  # of each sampled day
UNDATED_ROWS = 60_000  # of a log whose path does not name the day
SAMPLED_DAYS = (0.2, 0.5, 0.8)  # where in the range of days; the ends are often incomplete
TRIED_DAYS = 5  # where a day has no rows
NESTED = re.compile(r"^(STRUCT|MAP|UNION)|\]$")
FILES_PER_DAY = 4  # for the sample
# DuckDB raises these for sound files that it cannot read.
SOUND = (duckdb.BinderException, duckdb.NotImplementedException, duckdb.OutOfMemoryException)
WRITE_AGAIN = "write the files again, or name other files, then run again."
PARTITION = "day of the partition"  # a column added to samples


@dataclass(frozen=True)
class Log:
    """Files that are read as one log, and what a sample of them contains.

    Attributes
    ----------
    source : Source
        Where its rows are; of files an absolute path template.
    pattern : Pattern
        What its names have in common.
    days : tuple of date
        The days that the path names; none if it names none.
    span : tuple of (date, date), or None
        The first and the last day, where a column dates the rows.
    sampled : tuple of date
        The days that the sample is from.
    table : str
        The table with the sample.
    columns : tuple of Column
        What the sample contains.
    nested : tuple of (str, str)
        The columns that are structs, maps or lists, with their types; the sample is without them.
    inner : mapping of str to str
        The columns that are within others, such as fields of structs, with the expressions that the
        configuration needs for them.
    row_filter : str or None
        The filter in SQL of the rows that are counted, in the names of the sample.
    doubts : tuple of str
        What is unsure about it.
    question : str
        The question whose answers it has, if they are those of a decision model.
    twins : tuple of str
        The columns that are not read, because their names differ only in case.
    """

    source: Source
    pattern: Pattern
    days: tuple[date, ...]
    sampled: tuple[date, ...]
    table: str
    columns: tuple[Column, ...]
    span: tuple[date, date] | None = None
    nested: tuple[tuple[str, str], ...] = ()
    inner: Mapping[str, str] = field(default_factory=dict)
    row_filter: str | None = None
    doubts: tuple[str, ...] = ()
    question: str = ""
    twins: tuple[str, ...] = ()

    @property
    def place(self) -> str:
        """Where it is."""
        return self.source.place

    @property
    def format(self) -> str:
        """Such as `parquet`."""
        return self.source.format

    def column(self, name: str) -> Column:
        """Return the facts about a column."""
        return next(column for column in self.columns if column.name == name)


def open_log(session: Session, survey: Survey, pattern: Pattern, table: str) -> Log:
    """Read a sample of a log into a table.

    Raises
    ------
    DataError
        If none of the chosen days can be read, or they have no rows.
    """
    place = f"{literal(survey.root)}/{pattern.template}".rstrip("/")
    format_ = survey.format_of(pattern.files[0])
    days = tuple(list_days(place)) if pattern.dated else ()
    source = known_source(session, Source(place, format_), days)
    return sample_of(session, source, pattern, days, table)


def sample_of(
    session: Session, source: Source, pattern: Pattern, days: tuple[date, ...], table: str
) -> Log:
    """Read rows of some days of a log, or of all if nothing tells days apart, into a table.

    Raises
    ------
    DataError
        If none of the chosen days can be read, or they have no rows.
    """
    place, format_ = source.place, source.format
    sampled = _chosen(days)
    failures = list[str]()
    read = list[date]()
    for day in sampled or (None,):
        for tried in _from(days, day):
            try:
                rows = _sample(session, source, tried, table)
            except DataError as error:  # which is worded for a run
                said = f"{error}".removeprefix(f"{session.what}: ")
                failures.append(said.replace("then rerun this day", "then run init again"))
                continue
            except DAMAGE as error:
                failures.append(_why_unreadable(session, source, tried, error))
                continue
            if rows:
                read += [tried] if tried and tried not in read else []
                break
    if not has_table(session, table):
        raise DataError(failures[0])
    columns = columns_of(session.connection, table, textual=format_ in TEXTUAL)
    doubts: tuple[str, ...] = ()
    if len(read) > 1 and format_ != "json" and any(column.nulls for column in columns):
        read, doubts = _with_columns_of_newest(session, source, table, read)
        columns = (
            columns_of(session.connection, table, textual=format_ in TEXTUAL) if doubts else columns
        )
    named = tuple(column for column in columns if column.name != PARTITION)
    (rows,) = ask(session, f"SELECT count(*) FROM {table}")
    if not rows:
        msg = f"{place}: the sampled files have no rows; name files that have some."
        raise DataError(msg)
    nested, inner = _nested(session, source, read[0] if read else None)
    whole = Log(source, pattern, days, tuple(read), table, named, None, nested, inner)
    twins = _twins_in(session, source, read)
    return replace(whole, twins=twins, doubts=(*doubts, *about_twins(twins)))


def _twins_in(session: Session, source: Source, read: Sequence[date]) -> tuple[str, ...]:
    """List the columns of the sampled files whose names differ only in case."""
    files = (name for day in read or (None,) for name in files_of(source, day))
    return tuple(dict.fromkeys(twin for file in files for twin in session.twins.get(file, ())))


def about_twins(twins: Sequence[str]) -> list[str]:
    """Say which columns are not read because of their names, and what to do.

    Examples
    --------
    >>> about_twins(["Score", "score"])
    ['upper and lower case do not differ in names, so none of `Score`, `score` is read; rename all \
but one in the log']
    """
    if not twins:
        return []
    listed = ", ".join(f"`{name}`" for name in readable(twins))
    doubt = (
        f"upper and lower case do not differ in names, so none of {listed} is read; rename all but "
        f"one in the log"
    )
    return [doubt]


def _chosen(days: Sequence[date]) -> tuple[date, ...]:
    """Choose the days that are sampled."""
    return tuple(dict.fromkeys(days[int(part * (len(days) - 1))] for part in SAMPLED_DAYS if days))


def _with_columns_of_newest(
    session: Session, source: Source, table: str, read: list[date]
) -> tuple[list[date], tuple[str, ...]]:
    """Where columns went and others came, keep the days that have all columns of the newest.

    Returns
    -------
    tuple of (list of date, tuple of str)
        The days whose rows are kept, and what is unsure about the others.
    """
    columns = {
        day: set(rows.columns) for day in read if (rows := open_rows(session, source, day, files=1))
    }
    today = columns[max(read)]
    older = [day for day in read if not columns[day] >= today]
    gone = sorted(set.union(*columns.values()) - today)
    if not older or not gone:
        return read, ()
    listed = ", ".join(f"DATE '{day}'" for day in older)
    session.connection.execute(f"DELETE FROM {table} WHERE {quoted(PARTITION)} IN ({listed})")
    for name in gone:
        session.connection.execute(f"ALTER TABLE {table} DROP COLUMN IF EXISTS {quoted(name)}")
    new = sorted(today - columns[older[-1]])
    names, others = (", ".join(f"`{name}`" for name in each) for each in (new, gone))
    doubt = (
        f"the files of {older[-1]} have no {names}, but {others}; if only a name changed, set "
        f"renamed: {{{gone[0]}: {new[0]}}} for that log"
    )
    return [day for day in read if day not in older], (doubt,)


def _nested(
    session: Session, source: Source, day: date | None
) -> tuple[tuple[tuple[str, str], ...], dict[str, str]]:
    """List the nested columns with their types, and the expressions of what is within."""
    rows = open_rows(session, source, day, most=LOOKED_AT, files=1, nested=True)
    if rows is None:
        return (), {}
    types = zip(rows.columns, map(str, rows.types), strict=True)
    leaves = (*leaves_of(rows, source.format), *source.leaves)
    inner = {x.name: x.written for x in leaves}
    wholes = {name.partition("['")[0]: w.rpartition("['")[0] for name, w in inner.items()}
    maps = {name: w for name, w in wholes.items() if w.startswith("map")}
    nested = [t for t in types if NESTED.search(t[1])]
    return (*nested, *((name, "MAP(VARCHAR, DOUBLE)") for name in maps)), {**inner, **maps}


def known_source(session: Session, source: Source, days: Sequence[date]) -> Source:
    """Look for a header, and what maps and JSON in texts hold; damaged files are for later."""
    try:
        day = _chosen(days)[0] if days else None
        source = with_layout(session, source, [day, days[-1]] if day else ())
        rows = open_rows(session, source, day, most=LOOKED_AT, files=1, nested=True)
        leaves = tuple(look_into(rows, source.format)) if rows else ()
    except (*DAMAGE, DataError):
        return source
    return replace(source, leaves=leaves)


def value_of(name: str, log: Log) -> str | dict[str, str]:
    """Write how the configuration names a column of a log, which may be within another one."""
    return {"sql": log.inner[name]} if name in log.inner else name


def in_where(name: str, log: Log) -> str:
    """Write a column of a log in SQL for people, as a filter names it."""
    within = log.inner.get(name)
    return in_sql(name) if within is None else f"({within})" if "->>" in within else within


def filter_of(log: Log) -> str | None:
    """Write the filter of a log as the configuration needs it."""
    written = log.row_filter
    for column in log.columns if written else ():
        written = f"{written}".replace(quoted(column.name), in_where(column.name, log))
    return written


def _remedy(error: Exception, format_: str) -> str:
    """Say what to do about files that cannot be read."""
    if "permission denied" in str(error).lower():
        return "grant read permission, then run again."
    if format_ in TEXTUAL:
        return f"{remedy_of(str(error), format_)}, or name other files."
    if isinstance(error, (*SOUND, RecursionError)):
        return "name other files, or convert these to plain Parquet."
    return WRITE_AGAIN


def _why_unreadable(session: Session, source: Source, day: date | None, error: Exception) -> str:
    """Say which file of a day cannot be read, and why."""
    names = files_of(source, day)
    wrong = ((name, damage_of(session, name)) for name in names if name in session.files)
    place, why = next(((name, why) for name, why in wrong if why), (source.place, ""))
    remedy = _remedy(error, source.format)
    if why:
        remedy = f"{remedy_of(why, source.format)}, or name other files."
    return f"{place}: cannot be read as {source.format} ({first_line(why or error)}); {remedy}"


def _unreadable(source: Source, why: str, remedy: str) -> str:
    return f"{source.place}: cannot be read as {source.format} ({why}); {remedy}"


def _from(days: Sequence[date], day: date | None) -> Sequence[date | None]:
    """List a day and the few after it, which are tried if it has no rows."""
    return [None] if day is None else days[days.index(day) :][:TRIED_DAYS]


def add_day(session: Session, log: Log, day: date) -> None:
    """Add the rows of a further day to the sample of a log."""
    _sample(session, log.source, day, log.table, log.row_filter)


def _sample(
    session: Session,
    source: Source,
    day: date | None,
    table: str,
    row_filter: str | None = None,
) -> int:
    """Add rows to the table of a sample, and return how many; nested columns are left out."""
    most = ROWS_PER_DAY if day else UNDATED_ROWS
    rows = open_rows(session, source, day, most=most, files=FILES_PER_DAY)
    if rows is None:
        raise DataError(_unreadable(source, "there are no files", WRITE_AGAIN))
    plain = [
        quoted(name)
        for name, native in zip(rows.columns, rows.types, strict=True)
        if not NESTED.search(str(native))
    ]
    dated = f"DATE '{day}'" if day else "NULL::DATE"
    partition = f"{dated} AS {quoted(PARTITION)}"
    rows.select(", ".join([*plain, partition])).create_view("some_rows", replace=True)
    add(session, f"SELECT * FROM some_rows WHERE {row_filter or 'true'}", table)
    return int(ask(session, "SELECT count(*) FROM some_rows")[0])
