"""A query of a database becomes a log whose days are known; numbers that need a cast get one."""

import re
from dataclasses import replace

import pyarrow as pa
from pydantic import ValidationError

from monitor.base.errors import ConfigError, DataError
from monitor.logs.discovery.roles import candidates as roles
from monitor.logs.discovery.roles.candidates import words
from monitor.logs.discovery.samples.columns import columns_of
from monitor.logs.discovery.samples.naming import Pattern
from monitor.logs.discovery.samples.reading import Log, known_source, sample_of
from monitor.logs.discovery.samples.rows import Source, open_rows, table_of
from monitor.logs.engines.conversions import quoted
from monitor.logs.engines.session import Session
from monitor.logs.sources.queries import ask
from monitor.logs.sources.query_days import days_of_query
from monitor.logs.sources.tables import CASTS, ROWS, Table
from monitor.logs.sources.times import Dating

BEGINS = re.compile(r"\s*(SELECT|WITH|VALUES|TABLE)\b", re.IGNORECASE)
LOOKED_AT = 1000  # rows that say which column dates them
CHANGED = ("updated", "modified", "changed")
TYPES_OF_DAYS = pa.types.is_date, pa.types.is_timestamp
OF_CASTS = "rows_with_casts"  # what a query is called within the one that casts its columns


def is_query(text: str) -> bool:
    """Tell whether a text is a query and no path.

    Examples
    --------
    >>> is_query("select * from scores"), is_query("logs/selected")
    (True, False)
    """
    return bool(BEGINS.match(text))


def open_query(session: Session, sql: str, connection: str, table: str) -> Log:
    """Read a sample of the rows of a query.

    Raises
    ------
    ConfigError
        If the query or the name of the variable cannot be used.
    DataError
        If the database refuses the query, or no column dates the rows.
    """
    opened = _checked(sql, connection)
    source = Source(_with_casts(opened), "sql", connection)
    opened = table_of(source)
    days_in = [f.name for f in opened.schema if any(fits(f.type) for fits in TYPES_OF_DAYS)]
    few = open_rows(session, source, None, most=LOOKED_AT)
    assert few is not None  # a query has rows, if only none
    few.create("few_rows")
    dating = [
        t for t in roles.times(columns_of(session.connection, "few_rows")) if t.column in days_in
    ]
    session.connection.execute("DROP TABLE few_rows")
    if not dating:
        msg = (
            f"the query of the database in {connection} gives no date and no timestamp, so nothing "
            f"dates its rows; add one to {sql!r}, such as created_at::timestamptz AS created_at."
        )
        raise DataError(msg)
    source = known_source(session, replace(source, dated_by=dating[0].column), ())
    counted = days_of_query(table_of(source), Dating(dating[0].column, None, "UTC"))
    days = tuple(sorted(day for day in counted if day))
    return sample_of(session, source, Pattern("a query", True, (), ()), days, table)


def changed_by(log: Log) -> str | None:
    """Name the column of a query that says when a row was last changed, if there is one."""
    return next(
        (
            c.name
            for c in log.columns
            if c.kind == "time" and not c.nulls and {*CHANGED} & {*words(c.name)}
        ),
        None,
    )


def _checked(sql: str, connection: str) -> Table:
    """Open a query; a name of a variable that is none may be an address, and is not said."""
    try:
        return table_of(Source(sql, "sql", connection))
    except ValidationError as error:
        key, why = error.errors()[0]["loc"][-1:], error.errors()[0]["msg"]
        what = "--connection" if key == ("connection",) else repr(sql)
    msg = f"{what}: {why.removeprefix('Value error, ')}; correct it."
    raise ConfigError(msg)


def _with_casts(opened: Table) -> str:
    """Write a query whose columns arrive as numbers, which numeric and money do not."""
    sql = f"{opened.log.sql}"
    if not opened.unfit:
        return sql
    names = [field.name for field in opened.schema]
    numbers = [n for n in names if n in opened.unfit and opened.unfit[n].native in CASTS]
    whole = {n: f"bool_and(({quoted(n)})::numeric % 1 = 0)" for n in numbers}
    asked = ", ".join(f"{test} AS {quoted(name)}" for name, test in whole.items())
    are_whole = (
        ask(
            f"{opened.log.connection}",
            opened.snapshot,
            f"SELECT {asked} FROM (\n{sql}\n) AS {ROWS}",
        )
        if asked
        else [{}]
    )[0]
    listed = ", ".join(f"{quoted(name)}{_cast(name, opened, are_whole)}" for name in names)
    return f"SELECT {listed} FROM ({sql}) AS {OF_CASTS}"


def _cast(name: str, opened: Table, is_whole: dict[str, bool | None]) -> str:
    if name not in opened.unfit:
        return ""
    kind = "text"
    if name in is_whole:
        kind = "numeric::bigint" if is_whole[name] else "numeric::double precision"
    return f"::{kind} AS {quoted(name)}"
