"""The type of a column, by the name that DuckDB gives it."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import duckdb

SIGNED = "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT"
INTEGERS = frozenset([*SIGNED, *(f"U{name}" for name in SIGNED)])
FLOATS = frozenset(["FLOAT", "DOUBLE"])
TEXTS = frozenset(["VARCHAR", "JSON"])
WITH_ZONE = "TIMESTAMP WITH TIME ZONE"
TEMPORAL = "TIMESTAMP", "DATE", "TIME", "INTERVAL"


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
