"""One profile of a log: what a sample shows of each column. Every guess rests on these facts."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache, reduce
from math import inf, nan
from typing import Any

import duckdb

from monitor.logs.engines.conversions import Type, quoted
from monitor.metrics.core.grid import END_TOLERANCE

MOST_VALUES = 60  # distinct values that are counted one by one
KINDS, OTHERS = ("integer", "boolean", "text", "date", "time"), {"UUID": "uuid", "BLOB": "binary"}
NUMBERS = ("integer", "real")
TIMED = ("text", "time", "date")
EXACT = {"FLOAT": 2**24, "DOUBLE": 2**53}  # up to which they hold integers one by one
LEAST_GRADES, MOST_GRADES = 3, 20  # different values
DATE = re.compile(r"\d{1,2}(?P<sign>[/.-])\d{1,2}(?P=sign)\d{4}(?!\d)")
CLOCKS = {1: " %H:%M", 2: " %H:%M:%S"}  # by the colons in it
PLAIN = re.compile(r"[a-z_][a-z0-9_]*")
ISO = "%Y-%m-%dT%H:%M:%S"
MOMENT = "try_cast({t} AS TIMESTAMPTZ)"
NUMBER = r"'-?\d*[{mark}]\d+([eE]-?\d+)?'"
PATTERNS = {  # of texts that all look alike
    "integer": r"'-?\d{1,38}'",
    ".": NUMBER.format(mark="."),
    ",": NUMBER.format(mark=","),
    "%": r"'\s*\d*\.?\d+\s*%\s*'",
    "boolean": "'(?i)(true|false)'",
}
# Facts of a column {c}, of its text {t}, and of the numbers {n} in it.
FACTS = {
    "filled": "count({c})",
    "distinct": "count(DISTINCT {c})",
    **{k: f"count_if(regexp_full_match({{t}}, {p}))" for k, p in PATTERNS.items()},
    "real": "count(try_cast({t} AS DOUBLE))",
    "padded": r"count_if(regexp_matches({t}, '^-?0\d'))",  # 007 is an id
    "sample": "min({t})",
    "timed": f"count_if({MOMENT} IS NOT NULL AND regexp_matches({{t}}, '^\\d{{4}}-\\d\\d-\\d\\d'))",
    "first": f"strftime(min({MOMENT}), '{ISO}')",
    "last": f"strftime(max({MOMENT}), '{ISO}')",
    "known": "count({n})",
    "least": "min({n})",
    "greatest": "max({n})",
    "mean": "avg({n}) FILTER (isfinite({n}))",
    "inside": f"count_if({{n}} BETWEEN {-END_TOLERANCE} AND {1 + END_TOLERANCE})",
    "whole": "bool_and({n} = floor({n}))",
    "values": f"CASE WHEN count(DISTINCT {{c}}) <= {MOST_VALUES} THEN histogram({{t}}) END",
}


@dataclass(frozen=True)
class Column:
    """What a sample shows of one column.

    Attributes
    ----------
    name, type : str
        As the log has them; of a value within a column a name for people.
    kind : str
        `integer`, `real`, `boolean`, `text`, `uuid`, `binary`, `time`, `date` or `other`.
    sql : str
        The expression that reads a value within a column; empty for a column.
    rows, nulls, distinct : int
        Rows of the sample, those without a value, and different values.
    least, greatest, mean, within : float
        Of the numbers, and the share of them in [0, 1]; nan for others.
    first, last : datetime or None
        Of times and dates, and of texts that are ISO times.
    values : mapping of str to int
        Rows of each value, the most frequent first; empty if there are too many.
    mark : str
        Of texts that all are numbers the decimal mark, or a percent sign.
    form : str
        Of texts that all are dates in another order than ISO: how they are written.
    is_whole, lost : bool
        Whether floating-point numbers all are whole, and so large that each stands for several.
    """

    name: str
    type: str
    kind: str
    rows: int
    nulls: int
    distinct: int
    sql: str = ""
    least: float = nan
    greatest: float = nan
    mean: float = nan
    within: float = nan
    first: datetime | None = None
    last: datetime | None = None
    values: Mapping[str, int] = field(default_factory=dict)
    mark: str = ""
    form: str = ""
    is_whole: bool = False
    lost: bool = False

    @property
    def setting(self) -> str | dict[str, str]:
        """How the configuration names it."""
        return {"sql": self.sql} if self.sql else self.name

    @property
    def written(self) -> str:
        """How SQL of the configuration names it."""
        return self.sql or in_sql(self.name)

    @property
    def is_number(self) -> bool:
        """Whether it has numbers."""
        return self.kind in NUMBERS

    @property
    def has_grades(self) -> bool:
        """Whether it has a few whole numbers, such as grades from 1 to 10, or a few texts."""
        if not LEAST_GRADES <= self.distinct <= MOST_GRADES or not self.values:
            return False
        whole = self.is_number and all(float(v).is_integer() for v in self.values)
        return self.kind == "text" or (whole and 0 <= self.least <= self.greatest <= MOST_GRADES)

    @property
    def uniqueness(self) -> float:
        """Return the share of different values in the rows that have one."""
        return self.distinct / max(1, self.rows - self.nulls)


def in_sql(name: str) -> str:
    """Write a name in SQL for people, in quotes only if it needs them.

    Examples
    --------
    >>> in_sql("score"), in_sql("Score"), in_sql("select"), in_sql("at")
    ('score', '"Score"', '"select"', '"at"')
    """
    return name if PLAIN.fullmatch(name) and name not in _reserved() else quoted(name)


@lru_cache(maxsize=1)
def _reserved() -> frozenset[str]:
    """List the words that no name can be without quotes."""
    known = "keyword_category IN ('reserved', 'type_function')"
    asked = f"SELECT keyword_name FROM duckdb_keywords() WHERE {known}"
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


def profile(
    connection: duckdb.DuckDBPyConnection,
    table: str,
    within: Mapping[str, str],
    *,
    textual: bool,
) -> tuple[Column, ...]:
    """Describe every column of a table.

    Parameters
    ----------
    connection : DuckDBPyConnection
        Has the table.
    table : str
        Its name.
    within : mapping of str to str
        The expressions of what is within a column.
    textual : bool
        Whether the log has no types, as CSV: then numbers and booleans are recognised in texts.
    """
    described = connection.table(table)
    columns = list[Column]()
    (rows,) = described.aggregate("count(*)").fetchall()[0]
    for name, native in zip(described.columns, map(str, described.types), strict=True):
        kind, mark, known = _kind(native), "", _known(quoted(name), native)
        text = f"({known})::VARCHAR"
        plain = known if kind in NUMBERS else f"replace(replace({text}, ',', '.'), '%', '')"
        number = f"try_cast({plain} AS DOUBLE)"
        of = _ask(connection, table, FACTS, c=known, t=text, n=number)
        if kind == "text" and of["filled"]:
            kind = _kind_of_text(of) if textual else "text"
            if kind == "text":
                mark = next((m for m in ".,%" if of[m] == of["filled"]), "")
        values = sorted((of["values"] or {}).items(), key=lambda one: (-one[1], one[0]))
        column = Column(
            name=name,
            type=native,
            kind=kind,
            rows=rows,
            nulls=rows - of["filled"],
            distinct=of["distinct"],
            sql=within.get(name, ""),
            mark=mark,
            values=dict(values) if kind != "other" else {},
            **(_of_numbers(of, native, kind) if kind in NUMBERS or mark else {}),
            **(_of_times(connection, table, text, of) if kind in TIMED else {}),
        )
        columns.append(column)
    return tuple(columns)


def _ask(
    connection: duckdb.DuckDBPyConnection, table: str, facts: Mapping[str, str], **names: str
) -> dict[str, Any]:
    """Ask several facts of a column, each of which is written in SQL, in one query."""
    asked = [
        reduce(lambda of, n: of.replace(f"{{{n}}}", names[n]), names, f) for f in facts.values()
    ]
    (row,) = connection.execute(f"SELECT {', '.join(asked)} FROM {table}").fetchall()
    return dict(zip(facts, row, strict=True))


def _known(column: str, native: str) -> str:
    """Write the value of a column; a missing one may be nan, or that as a text."""
    if native in EXACT:
        return f"nullif({column}, 'NaN'::{native})"
    return (
        f"CASE WHEN lower({column}) <> 'nan' THEN {column} END" if native == "VARCHAR" else column
    )


def _kind(native: str) -> str:
    """Name what a type is; warehouses write integers as decimals."""
    of = Type(native)
    if of.is_real:
        return "integer" if native.endswith(",0)") else "real"
    other = "text" if native.startswith("ENUM") else OTHERS.get(native, "other")
    return next((kind for kind in KINDS if getattr(of, f"is_{kind}")), other)


def _kind_of_text(of: Mapping[str, Any]) -> str:
    """Recognise numbers and booleans."""
    if of["boolean"] == of["filled"]:
        return "boolean"
    if of["padded"] or of["real"] < of["filled"]:
        return "text"
    return "integer" if of["integer"] == of["filled"] else "real"


def _of_numbers(of: Mapping[str, Any], native: str, kind: str) -> dict[str, Any]:
    if of["least"] is None:
        return {}
    found = {key: of[key] for key in ("least", "greatest", "mean")}
    found["within"] = of["inside"] / of["known"]
    if kind == "real":
        most = max(-of["least"], of["greatest"])
        found["lost"] = bool(of["whole"]) and most > EXACT.get(native, inf) < inf
        found["is_whole"] = bool(of["whole"]) and most <= EXACT.get(native, 0)
    return found


def _of_times(
    connection: duckdb.DuckDBPyConnection, table: str, text: str, of: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the first and the last time, and how dates in another order are written."""
    if not of["filled"]:
        return {}
    if of["timed"] == of["filled"]:
        return {key: datetime.fromisoformat(of[key]) for key in ("first", "last")}
    signs = DATE.match(f"{of.get('sample')}")
    if not signs:
        return {}
    sign, clock = signs["sign"], CLOCKS.get(f"{of['sample']}".count(":"), "")
    forms = [f"{sign.join(order)}{clock}" for order in (("%d", "%m", "%Y"), ("%m", "%d", "%Y"))]
    facts = {"n": "count({c})", "first": "min({c})", "last": "max({c})"}
    asked = {f: _ask(connection, table, facts, c=f"try_strptime({text}, '{f}')") for f in forms}
    fits = [{"form": f, **found} for f, found in asked.items() if found.pop("n") == of["filled"]]
    return fits[0] if len(fits) == 1 else {}  # both orders are possible of 01/02/2026
