"""What the columns of a sample contain: the facts that every guess rests on."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from math import inf
from typing import Any

import duckdb

from monitor.logs.engines.conversions import quoted
from monitor.metrics.core.grid import END_TOLERANCE

MOST_VALUES = 60  # distinct values that are counted one by one
INTEGERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER")
KINDS = {
    **dict.fromkeys((*INTEGERS, "UBIGINT", "HUGEINT", "UHUGEINT"), "integer"),
    **dict.fromkeys(("FLOAT", "DOUBLE"), "real"),
    "BOOLEAN": "boolean",
    "VARCHAR": "text",
    "UUID": "uuid",
    "BLOB": "binary",
    "DATE": "date",
}
NUMBERS = ("integer", "real")
EXACT = {"FLOAT": 2**24, "DOUBLE": 2**53}  # up to which they hold integers one by one
IN_RANGE = f"BETWEEN {-END_TOLERANCE} AND {1 + END_TOLERANCE}"
LEAST_GRADES, MOST_GRADES = 3, 20  # different values
DATE = re.compile(r"\d{1,2}(?P<sign>[/.-])\d{1,2}(?P=sign)\d{4}(?!\d)")
CLOCKS = {1: " %H:%M", 2: " %H:%M:%S"}  # by the colons in it
PLAIN = re.compile(r"[a-z_][a-z0-9_]*")


@dataclass(frozen=True)
class Column:
    """What a sample shows of one column.

    Attributes
    ----------
    name, type : str
        As the log has them.
    kind : str
        `integer`, `real`, `boolean`, `text`, `uuid`, `binary`, `time`, `date` or `other`.
    rows, nulls, distinct : int
        Rows of the sample, those without a value, and different values.
    least, greatest, mean : float
        Of the numbers; nan for others.
    within : float
        Share of the numbers in [0, 1].
    first, last : datetime or None
        Of times and dates, and of texts that are ISO times.
    values : mapping of str to int
        Rows of each value, the most frequent first; empty if there are too many.
    mark : str
        Of texts that all are numbers with a fraction the decimal mark, a point or a comma; a
        percent sign of those that end with it.
    form : str
        Of texts that all are dates or times in another order than ISO: how they are written, such
        as `%d/%m/%Y %H:%M`.
    is_whole : bool
        Whether it has floating-point numbers that all are whole, as pandas makes of integers.
    not_numbers : int
        The rows without a value that have nan in its place.
    lost : bool
        Whether they are so large that each stands for several integers.
    """

    name: str
    type: str
    kind: str
    rows: int
    nulls: int
    distinct: int
    least: float = float("nan")
    greatest: float = float("nan")
    mean: float = float("nan")
    within: float = float("nan")
    first: datetime | None = None
    last: datetime | None = None
    values: Mapping[str, int] = field(default_factory=dict)
    mark: str = ""
    form: str = ""
    is_whole: bool = False
    lost: bool = False
    not_numbers: int = 0

    @property
    def has_grades(self) -> bool:
        """Whether it has a few whole numbers, such as grades from 1 to 10, or a few texts."""
        if not LEAST_GRADES <= self.distinct <= MOST_GRADES or not self.values:
            return False
        numbers = self.kind in NUMBERS and all(float(v).is_integer() for v in self.values)
        return self.kind == "text" or (numbers and 0 <= self.least <= self.greatest <= MOST_GRADES)

    @property
    def uniqueness(self) -> float:
        """Return the share of different values in the rows that have one."""
        return self.distinct / max(1, self.rows - self.nulls)


def in_sql(name: str) -> str:
    """Write a name in SQL for people, in quotes only if it needs them.

    Examples
    --------
    >>> in_sql("score"), in_sql("Score"), in_sql("select")
    ('score', '"Score"', '"select"')
    """
    return name if PLAIN.fullmatch(name) and name not in _reserved() else quoted(name)


@lru_cache(maxsize=1)
def _reserved() -> frozenset[str]:
    """List the words that no name can be without quotes."""
    asked = "SELECT keyword_name FROM duckdb_keywords() WHERE keyword_category = 'reserved'"
    with duckdb.connect() as connection:
        return frozenset(word for (word,) in connection.execute(asked).fetchall())


def number_in(sql: str, mark: str) -> str:
    """Write the number that a text has, with a decimal point or comma, or a percent sign.

    Examples
    --------
    >>> number_in("score", ",")
    "CAST(replace(score, ',', '.') AS DOUBLE)"
    """
    with_point = {",": f"replace({sql}, ',', '.')", "%": f"replace({sql}, '%', '')"}.get(mark, sql)
    return f"CAST({with_point} AS DOUBLE)"


def columns_of(
    connection: duckdb.DuckDBPyConnection, table: str, *, textual: bool = False
) -> list[Column]:
    """Describe every column of a table.

    Parameters
    ----------
    connection : DuckDBPyConnection
        Has the table.
    table : str
        Its name.
    textual : bool
        Whether the log has no types, as CSV: then numbers and booleans are recognised in texts.
    """
    described = connection.table(table)
    return [
        _column(connection, table, name, str(native), textual=textual)
        for name, native in zip(described.columns, described.types, strict=True)
    ]


def _column(
    connection: duckdb.DuckDBPyConnection, table: str, name: str, native: str, *, textual: bool
) -> Column:
    column = quoted(name)

    def ask(*expressions: str) -> tuple[Any, ...]:
        (row,) = connection.sql(f"SELECT {', '.join(expressions)} FROM {table}").fetchall()
        return tuple(row)

    rows, filled, distinct = ask("count(*)", f"count({column})", f"count(DISTINCT {column})")
    counted: dict[str, Any] = {"rows": rows, "nulls": rows - filled, "distinct": distinct}
    counted["is_whole"] = False
    kind = _kind(native)
    if textual and kind == "text" and filled:
        kind = _kind_of_text(ask, column)
    if kind == "real" and filled:
        number = f"try_cast({column} AS DOUBLE)"
        known = f"FILTER (NOT isnan({number}))"  # the logs may write a missing number as nan
        filled, counted["distinct"], is_whole = ask(
            f"count({column}) {known}",
            f"count(DISTINCT {column}) {known}",
            f"bool_and({number} = floor({number})) {known}",
        )
        counted["not_numbers"] = rows - filled - counted["nulls"]
        counted["nulls"] = rows - filled
        counted["is_whole"] = bool(is_whole)
    if kind == "text" and filled:
        counted["mark"] = _decimal_mark(ask, column, filled)
    if (kind in NUMBERS or counted.get("mark")) and filled:
        number = f"try_{number_in(column, counted.get('mark', ''))}"
        counted["least"], counted["greatest"], counted["mean"], counted["within"] = ask(
            f"min({number}) FILTER (NOT isnan({number}))",
            f"max({number}) FILTER (NOT isnan({number}))",
            f"avg({number}) FILTER (isfinite({number}))",
            f"count(*) FILTER ({number} {IN_RANGE}) / {filled}",
        )
        most = max(-counted["least"], counted["greatest"])
        counted["lost"] = counted["is_whole"] and most > EXACT.get(native, inf) < inf
        counted["is_whole"] = counted["is_whole"] and most <= EXACT.get(native, 0)
    if kind in ("time", "date", "text") and filled:
        counted["first"], counted["last"] = _times(ask, column)
    if kind == "text" and filled and counted["first"] is None:
        counted["form"] = form = _form_of_dates(ask, column, filled)
        if form:
            written = f"try_strptime({column}::VARCHAR, '{form}')"
            counted["first"], counted["last"] = ask(f"min({written})", f"max({written})")
    if 0 < distinct <= MOST_VALUES and kind != "other":
        counted["values"] = _values(connection, table, column, is_real=kind == "real")
    return Column(name, native, kind, **counted)


def _kind(native: str) -> str:
    if native.startswith("TIMESTAMP"):
        return "time"
    if native.startswith("DECIMAL"):
        return "integer" if native.endswith(",0)") else "real"  # as warehouses write integers
    return "text" if native.startswith("ENUM") else KINDS.get(native, "other")


def _kind_of_text(ask: Callable[..., tuple[Any, ...]], column: str) -> str:
    """Recognise numbers and booleans; 007 stays a text, because it is an id."""
    reals, integers, padded, booleans, filled = ask(
        f"count(try_cast({column} AS DOUBLE))",
        f"count(*) FILTER (regexp_full_match({column}, '-?\\d{{1,38}}'))",
        f"count(*) FILTER (regexp_matches({column}, '^-?0\\d'))",
        f"count(*) FILTER (lower({column}) IN ('true', 'false'))",
        f"count({column})",
    )
    if booleans == filled:
        return "boolean"
    if padded or reals < filled:
        return "text"
    return "integer" if integers == filled else "real"


def _decimal_mark(ask: Callable[..., tuple[Any, ...]], column: str, filled: int) -> str:
    number = r"'-?\d*[{mark}]\d+([eE]-?\d+)?'"
    percent = r"'\s*\d*\.?\d+\s*%\s*'"
    marks = {".": number.format(mark="."), ",": number.format(mark=","), "%": percent}
    for mark, pattern in marks.items():
        (numbers,) = ask(f"count(*) FILTER (regexp_full_match({column}::VARCHAR, {pattern}))")
        if numbers == filled:
            return mark
    return ""


def _times(
    ask: Callable[..., tuple[Any, ...]], column: str
) -> tuple[datetime | None, datetime | None]:
    """Return the first and the last time; none if a text is not an ISO time with a date."""
    text = f"{column}::VARCHAR"
    time = f"try_cast({text} AS TIMESTAMPTZ)"
    dated = f"regexp_matches({text}, '^\\d{{4}}-\\d\\d-\\d\\d')"
    failed, first, last = ask(
        f"count({column}) FILTER ({time} IS NULL OR NOT {dated})",
        f"strftime(min({time}), '%Y-%m-%dT%H:%M:%S')",
        f"strftime(max({time}), '%Y-%m-%dT%H:%M:%S')",
    )
    if failed or first is None:
        return None, None
    return datetime.fromisoformat(first), datetime.fromisoformat(last)


def _form_of_dates(ask: Callable[..., tuple[Any, ...]], column: str, filled: int) -> str:
    """Find how texts write dates; none if two orders are possible, such as of 01/02/2026."""
    (sample,) = ask(f"min({column}::VARCHAR)")
    signs = DATE.match(f"{sample}")
    if not signs:
        return ""
    sign, clock = signs["sign"], CLOCKS.get(f"{sample}".count(":"), "")
    forms = [f"{sign.join(order)}{clock}" for order in (("%d", "%m", "%Y"), ("%m", "%d", "%Y"))]
    fits = ask(*(f"count(try_strptime({column}::VARCHAR, '{form}'))" for form in forms))
    suitable = [form for form, count in zip(forms, fits, strict=True) if count == filled]
    return suitable[0] if len(suitable) == 1 else ""


def _values(
    connection: duckdb.DuckDBPyConnection, table: str, column: str, *, is_real: bool
) -> dict[str, int]:
    known = f"{column} IS NOT NULL" + f" AND NOT isnan(try_cast({column} AS DOUBLE))" * is_real
    rows = connection.sql(
        f"SELECT {column}::VARCHAR AS value, count(*) AS rows FROM {table} "
        f"WHERE {known} GROUP BY 1 ORDER BY 2 DESC, 1"
    )
    return dict(rows.fetchall())
