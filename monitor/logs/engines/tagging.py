"""Rows of several days, put below one another with numbers that say which day they are of."""

from collections.abc import Sequence
from functools import reduce
from typing import Any

import duckdb


def tag(rows: Any, **numbers: int) -> Any:
    """Add columns of whole numbers that are the same in every row."""
    # The join stores some of them beside every outcome, so they are no larger than they must be.
    if not isinstance(rows, duckdb.DuckDBPyRelation):
        values = (f"CAST({number} AS BIGINT) AS {name}" for name, number in numbers.items())
        return rows.selectExpr("*", *values)
    values = (f"CAST({number} AS INTEGER) AS {name}" for name, number in numbers.items())
    return rows.select(", ".join(["*", *values]))


def union(parts: Sequence[Any]) -> Any:
    """Put rows below one another; a column that a frame of Spark lacks is null there.

    DuckDB looks at all the files of a union when it is written. A chain of n unions would make it
    look at n²/2 files, so it is one of two halves.
    """
    if not isinstance(parts[0], duckdb.DuckDBPyRelation):
        return reduce(lambda a, b: a.unionByName(b, allowMissingColumns=True), parts)
    middle = len(parts) // 2
    return parts[0] if not middle else union(parts[:middle]).union(union(parts[middle:]))
