"""The bucket of the entity of a row: the same with every engine, on every day, for ever.

It is made of the first eight hexadecimal digits of the MD5 of the entity as text, modulo 64, so an
id has one bucket, whether a log writes it as an integer or as text. Of several columns it is the
MD5 of their MD5s one after the other: those have one length, so no separator can be part of a
value. An entity that is null, or has a part that is null, has no bucket of its own.
"""

from collections.abc import Mapping
from typing import Any

from monitor.config import PredictionLog
from monitor.logs.columns.rows import LARGEST_EXACT
from monitor.logs.engines.conversions import Wanted, quoted
from monitor.metrics.core.buckets import BUCKETS


def entity_columns(log: PredictionLog) -> tuple[str, ...]:
    """List the columns that together say whom or what a row is about; none without the key."""
    named = log.entity
    return () if named is None else (named,) if isinstance(named, str) else named


def bucket_of(columns: tuple[str, ...]) -> Wanted:
    """Read the bucket of the entity that columns name; null without one."""

    def write(types: Mapping[str, Any]) -> str:
        # Of the first eight digits, these two matter modulo 64.
        digits = f"'0x' || substr({_digest_sql(columns, types)}, 7, 2)"
        return f"CAST(CAST({digits} AS INTEGER) % {BUCKETS} AS TINYINT)"

    return Wanted(columns, write)


def digest_of(columns: tuple[str, ...]) -> Wanted:
    """Read the whole digest of the entity that columns name; null without one."""
    return Wanted(columns, lambda types: _digest_sql(columns, types))


def _digest_sql(columns: tuple[str, ...], types: Mapping[str, Any]) -> str:
    digests = [f"md5({_text_sql(quoted(column), types[column])})" for column in columns]
    return digests[0] if len(digests) == 1 else f"md5({' || '.join(digests)})"


def _text_sql(column: str, type_: Any) -> str:
    """Write an id as text; a whole floating-point number, as pandas makes of ids with gaps."""
    if not type_.is_float:
        return f"CAST({column} AS VARCHAR)"
    whole = f"{column} = floor({column}) AND abs({column}) <= {LARGEST_EXACT}"
    return f"CASE WHEN {whole} THEN CAST(CAST({column} AS BIGINT) AS VARCHAR) END"
