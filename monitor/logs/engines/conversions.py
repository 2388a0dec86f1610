"""Columns to read as SQL: their types, as they are, or text that becomes numbers, times and ids.

CSV and JSON lines have no types, or fewer than Parquet has. Guessing them from the values of a file
would read 007 as 7 in one file and as text in another. So every column is read as text, and only a
column with a setting is converted. A value that cannot be converted stops the day.
"""

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import duckdb

from monitor.base.sql_text import text_in_sql
from monitor.config import FIELD, expression_of, named
from monitor.config.filters import columns_of_filter

MISFIT = "does not fit: "  # begins our own message inside an error of DuckDB
TRUE_OR_FALSE = {"true": "1", "false": "0"}  # as DuckDB, pandas and JSON write booleans
SIGNED = "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT"
INTEGERS = frozenset([*SIGNED, *(f"U{name}" for name in SIGNED)])
FLOATS = frozenset(["FLOAT", "DOUBLE"])
TEXTS = frozenset(["VARCHAR", "JSON"])
WITH_ZONE = "TIMESTAMP WITH TIME ZONE"
TEMPORAL = "TIMESTAMP", "DATE", "TIME", "INTERVAL"
LARGEST_EXACT = 2**53  # of the integers that a DOUBLE holds
INTEGER = re.compile(r"-?\d+")


@dataclass(frozen=True)
class Wanted:
    """A value of each row: the columns that it is made of, and how, given their types.

    Attributes
    ----------
    columns : tuple of str
        The columns.
    sql : callable
        Writes the value in SQL, given the types of the columns.
    """

    columns: tuple[str, ...]
    sql: Callable[[Mapping[str, Any]], str]


def quoted(column: str) -> str:
    """Write the name of a column, of a field of a column, or an expression, in SQL.

    Examples
    --------
    >>> print(quoted('the "best" id'))
    "the ""best"" id"
    >>> print(quoted("prediction" + FIELD + "score"))
    struct_extract("prediction", 'score')
    """
    if expression := expression_of(column):
        return f"({expression})"
    whole, _, field = column.partition(FIELD)
    name = '"' + whole.replace('"', '""') + '"'
    return f"struct_extract({name}, {text_in_sql(field)})" if field else name


def columns_in(column: str) -> list[str]:
    """List the columns of the log that a name or an expression needs.

    Examples
    --------
    >>> from monitor.config import EXPRESSION
    >>> columns_in("a.b"), columns_in(EXPRESSION + "a.b + c")
    (['a.b'], ['a', 'c'])
    """
    expression = expression_of(column)
    return columns_of_filter(expression) if expression else [column]


def as_it_is(column: str) -> Wanted:
    """Read a column without any conversion."""
    return Wanted((column,), lambda _: quoted(column))


def label(column: str, listed: Collection[str] = ()) -> Wanted:
    """Read what makes a segment; NaN is how a column of floating-point numbers lacks a value.

    Where integers are listed, and no value like 1.0, whole numbers are read as integers: pandas
    writes integers as floating-point numbers on a day on which one is missing.
    """
    are_whole = any(map(INTEGER.fullmatch, listed)) and not any(v.endswith(".0") for v in listed)

    def write(types: Mapping[str, Any]) -> str:
        value = quoted(column)
        if not types[column].is_float:
            return value
        cases = f"WHEN isnan({value}) THEN NULL"
        if not are_whole:
            return f"CASE {cases} ELSE {value} END"
        whole = f"{value} = floor({value}) AND abs({value}) <= {LARGEST_EXACT}"
        integer = f"CAST(CAST({value} AS BIGINT) AS VARCHAR)"
        return f"CASE {cases} WHEN {whole} THEN {integer} ELSE CAST({value} AS VARCHAR) END"

    return Wanted((column,), write)


def one() -> Wanted:
    """Give every row a 1."""
    return Wanted((), lambda _: "CAST(1 AS TINYINT)")


def number(column: str, setting: str) -> Wanted:
    """Read text as floating point."""
    return Wanted((column,), lambda _: _cast(column, "DOUBLE", "a number", setting))


def outcome(column: str, setting: str) -> Wanted:
    """Read text as a number; true and false are 1 and 0."""
    cases = " ".join(f"WHEN '{word}' THEN '{digit}'" for word, digit in TRUE_OR_FALSE.items())
    name = quoted(column)
    if expression_of(column):  # of text it may make a number, or a boolean
        name = f"CAST({name} AS VARCHAR)"
    value = f"CASE lower({name}) {cases} ELSE {name} END"
    kind = "a number, true or false"
    return Wanted((column,), lambda _: _cast(column, "DOUBLE", kind, setting, value=value))


def number_or_text(column: str, of_text: Wanted) -> Wanted:
    """Read a column as it is, and as `of_text` says in files that have it as text."""

    def write(types: Mapping[str, Any]) -> str:
        has_text = types[column].is_text
        return of_text.sql(types) if has_text else quoted(column)

    return Wanted((column,), write)


def as_type(column: str, sql_type: str, setting: str) -> str:
    """Write text as a type that another log has."""
    return _cast(column, sql_type, f"of type {sql_type} as in the other log", setting)


def _cast(column: str, sql_type: str, kind: str, setting: str, value: str = "") -> str:
    return or_misfit(column, f"TRY_CAST({value or quoted(column)} AS {sql_type})", kind, setting)


def or_misfit(column: str, converted: str, kind: str, setting: str) -> str:
    """Write a converted column that is null for misfits, so that the first of them is an error."""
    wrong = misfit(column, kind, setting)
    return (
        f"CASE WHEN {quoted(column)} IS NOT NULL AND {converted} IS NULL "
        f"THEN {wrong} ELSE {converted} END"
    )


def misfit(column: str, kind: str, setting: str) -> str:
    """Write the error of a value that is not of its kind."""
    begin = text_in_sql(f"{MISFIT}column '{named(column)}' contains '")
    end = text_in_sql(f"', which is not {kind}; correct the log, or {setting} in the configuration")
    return f"error({begin} || CAST({quoted(column)} AS VARCHAR) || {end})"


@dataclass(frozen=True)
class Type:
    """The type of a column, and where it is if not under its own name.

    Attributes
    ----------
    name : str
        As DuckDB writes it, also in messages.
    in_path : bool
        Whether it stands only in the path.
    written : tuple of str
        What the file calls it, if it was renamed; the first of these that is not null counts.

    Examples
    --------
    >>> Type("DECIMAL(10,2)").is_number, Type("VARCHAR").is_number
    (True, False)
    >>> Type("STRUCT(score DOUBLE, day DATE)").fields["score"].is_float
    True
    """

    name: str
    in_path: bool = False
    written: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.name

    @property
    def is_integer(self) -> bool:
        """Whether its values are integers."""
        return self.name in INTEGERS

    @property
    def is_float(self) -> bool:
        """Whether its values are floating-point numbers."""
        return self.name in FLOATS

    @property
    def is_decimal(self) -> bool:
        """Whether its values are decimals."""
        return self.name.startswith("DECIMAL") and not self.is_list

    @property
    def is_real(self) -> bool:
        """Whether its values may have a fraction."""
        return self.is_float or self.is_decimal

    @property
    def is_number(self) -> bool:
        """Whether its values are numbers."""
        return self.is_integer or self.is_real

    @property
    def is_boolean(self) -> bool:
        """Whether its values are true and false."""
        return self.name == "BOOLEAN"

    @property
    def can_be_outcome(self) -> bool:
        """Whether its values can be 0 and 1 as they are."""
        return self.is_number or self.is_boolean

    @property
    def is_text(self) -> bool:
        """Whether its values are texts."""
        return self.name in TEXTS

    @property
    def is_date(self) -> bool:
        """Whether its values are days."""
        return self.name == "DATE"

    @property
    def is_time(self) -> bool:
        """Whether its values are times with a date."""
        return self.name.startswith("TIMESTAMP") and not self.is_list

    @property
    def has_zone(self) -> bool:
        """Whether its values are times with a time zone."""
        return self.name == WITH_ZONE

    @property
    def is_list(self) -> bool:
        """Whether its values are lists."""
        return self.name.endswith("]")

    @property
    def is_struct(self) -> bool:
        """Whether its values are structs."""
        return self.name.startswith("STRUCT(") and not self.is_list

    @property
    def is_map(self) -> bool:
        """Whether its values are maps."""
        return self.name.startswith("MAP(") and not self.is_list

    @property
    def is_nested(self) -> bool:
        """Whether its values have values within."""
        return self.is_list or self.is_struct or self.is_map

    @property
    def is_temporal(self) -> bool:
        """Whether its values are times, dates or spans of time."""
        return self.name.startswith(TEMPORAL) and not self.is_list

    @property
    def fields(self) -> "dict[str, Type]":
        """The fields of a struct."""
        return {name: Type(str(native)) for name, native in _native(self.name).children}

    @property
    def inner(self) -> "Type":
        """The type of the elements of a list."""
        return Type(str(dict(_native(self.name).children)["child"]))


@lru_cache(1000)
def _native(name: str) -> Any:
    return duckdb.sqltype(name)
