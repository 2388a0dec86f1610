"""The logs of many days as Spark frames: tagged with their days, and put together."""

from collections.abc import Sequence
from functools import reduce
from typing import Any


def tag(rows: Any, **numbers: int) -> Any:
    """Add columns of whole numbers that are the same in every row."""
    from pyspark.sql import functions as f

    return rows.select("*", *(f.lit(n).cast("bigint").alias(name) for name, n in numbers.items()))


def union(frames: Sequence[Any]) -> Any:
    """Put the rows of frames together; a column that one of them lacks is null there."""
    return reduce(lambda a, b: a.unionByName(b, allowMissingColumns=True), frames)
