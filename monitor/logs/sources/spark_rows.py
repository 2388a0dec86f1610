"""The rows of a log as a Spark frame with the names that the query expects.

Spark itself reads Parquet files whose values need no conversion; `spark_tasks` reads the others.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from typing import Any
from urllib.parse import unquote

import duckdb

from monitor.config import FIELD, expression_of
from monitor.config.filters import needs_duckdb
from monitor.logs.engines.conversions import DIGITS, Wanted
from monitor.logs.sources.opening import NULL_IN_PATH, OpenLog
from monitor.logs.sources.spark_tasks import as_frame, read_in_tasks
from monitor.metrics.core.buckets import BUCKETS

UNKNOWN_TO_SPARK = {"TIMESTAMP_NS", "UUID"}  # types of DuckDB for those of Parquet
GLOB_SIGN = re.compile(r"([*?\[\]{}\\])")
SQL_TOKEN = re.compile(r"""('(?:[^']|'')*')|"((?:[^"]|"")*)\"""")


def rows(
    log: OpenLog,
    groups: Iterable[Sequence[str]],
    row_filter: str | None,
    wanted: Mapping[str, Wanted],
) -> Any:
    """Read columns of the chosen rows, as `OpenLog.read`.

    Parameters
    ----------
    log : OpenLog
        Whose columns are checked already.
    groups : iterable of sequence of str
        Files with equal columns.
    where, wanted
        The filter, and the values by their new names.
    """
    parts = [part for files in groups for part in _parts_of_group(log, files, row_filter, wanted)]
    whole = {field.dataType.typeName() for part in parts for field in part.schema.fields}
    if "boolean" in whole and "outcome" in wanted:
        parts = [_as_numbers(part) for part in parts] if _mixed(parts) else parts
    return reduce(lambda a, b: a.union(b), parts)


def nothing(log: OpenLog, empty: duckdb.DuckDBPyRelation) -> Any:
    """Make a frame without rows, with the columns of a relation."""
    return as_frame(log.session.spark, empty)


def _parts_of_group(
    log: OpenLog, files: Sequence[str], row_filter: str | None, wanted: Mapping[str, Wanted]
) -> list[Any]:
    """Read files with equal columns: Spark by itself, if no value is converted."""
    types = log.files[files[0]]
    of_duckdb = row_filter is not None and needs_duckdb(row_filter)
    if of_duckdb or log.exploded or not _is_plain(log, types, wanted):
        return [read_in_tasks(log, files, row_filter, wanted)]
    return [
        _part(log, alike, row_filter, wanted) for alike in _by_path(log, files, row_filter, wanted)
    ]


def _is_plain(log: OpenLog, types: Mapping[str, Any], wanted: Mapping[str, Wanted]) -> bool:
    """Return whether Spark can read files with these columns, and no value is converted."""
    dated = log.dating.column if log.dating and log.days is not None else None
    return (
        log.form == "parquet"
        and not any(type_.written for type_ in types.values())
        and not any(type_.name in UNKNOWN_TO_SPARK for type_ in types.values())
        and not (dated and (expression_of(dated) or types[dated].is_text))
        and all(_is_known_to_spark(value, types) for value in wanted.values())
    )


def _is_known_to_spark(value: Wanted, types: Mapping[str, Any]) -> bool:
    if any(map(expression_of, value.columns)):
        return False  # its dialect is another
    if value.is_bucket:
        kinds = [types[column] for column in value.columns]
        return all(kind.is_integer or kind.is_text for kind in kinds)
    as_they_are = not any(types[column].is_float for column in value.columns)
    return (bool(value.names) and as_they_are) or value.is_column(types)


def _part(
    log: OpenLog, files: Sequence[str], row_filter: str | None, wanted: Mapping[str, Wanted]
) -> Any:
    """Read files with equal columns and equal values in their paths."""
    from pyspark.sql import functions as f

    types = log.files[files[0]]
    rows = _read_parquet(log, files, types)
    for column in log.used(types, row_filter, wanted.values())[0]:
        rows = rows.withColumn(column, f.lit(_value_in_path(files[0], column)))
    if log.dating and log.days is not None:
        ranges = log.dating.ranges(log.days, types[log.dating.column])
        at = _column(log.dating.column)
        chosen = [(at >= f.lit(first)) & (at < f.lit(end)) for first, end in ranges]
        rows = rows.filter(reduce(lambda a, b: a | b, chosen))
    if row_filter:
        rows = rows.filter(_bound(log, rows, row_filter))
    return rows.select(*(_value(value).alias(name) for name, value in wanted.items()))


def _read_parquet(log: OpenLog, files: Sequence[str], types: Mapping[str, Any]) -> Any:
    """Read files with the schema of earlier ones of the same types, if it is known."""
    columns = tuple(types.items())
    schema = log.session.schemas.get(columns)
    reader = log.session.spark.read
    rows = (reader.schema(schema) if schema else reader).parquet(*map(_as_url, files))
    # To Spark, a time without zone may be one of two types.
    if all(type_.name != "TIMESTAMP" for type_ in types.values()):
        log.session.schemas[columns] = rows.schema
    return rows


def _value(wanted: Wanted) -> Any:
    """Translate a value to read: a column as it is, a key of several columns, or a bucket."""
    from pyspark.sql import functions as f

    columns = [_column(column) for column in wanted.columns]
    if wanted.is_bucket:
        return _bucket(columns)
    if not wanted.names:
        return columns[0]
    complete = reduce(lambda a, b: a & b, (column.isNotNull() for column in columns))
    fields = (c.alias(name) for c, name in zip(columns, wanted.names, strict=True))
    return f.when(complete, f.struct(*fields))


def _bucket(columns: Sequence[Any]) -> Any:
    """Write what `monitor.logs.columns.entities` does, of columns that are integers or text."""
    from pyspark.sql import functions as f

    digests = [f.md5(column.cast("string").cast("binary")) for column in columns]
    digest = digests[0] if len(digests) == 1 else f.md5(f.concat(*digests).cast("binary"))
    digits = f.conv(f.substring(digest, *DIGITS), 16, 10)
    return (digits.cast("int") % BUCKETS).cast("smallint")


def _bound(log: OpenLog, rows: Any, row_filter: str) -> Any:
    """Translate a filter, and check its type with the columns that it meets."""
    from pyspark.errors import AnalysisException, ParseException
    from pyspark.sql import functions as f

    condition = f.expr(SQL_TOKEN.sub(_translated, row_filter))
    try:
        type_name = rows.select(condition).schema.fields[0].dataType.typeName()
    except (AnalysisException, ParseException) as error:
        wrong = f"cannot be applied ({str(error).splitlines()[0]})"
    else:
        if type_name == "boolean":
            return condition
        wrong = f"gives {type_name.upper()}, not true or false"
    raise log.unsuitable(row_filter, wrong)


def _translated(token: re.Match[str]) -> str:
    """Write a quoted name or a text as Spark does, in which a backslash escapes."""
    text, name = token.groups()
    if text is not None:
        return "'" + text[1:-1].replace("\\", "\\\\").replace("''", "\\'") + "'"
    return "`" + name.replace('""', '"').replace("`", "``") + "`"


def _by_path(
    log: OpenLog, files: Sequence[str], row_filter: str | None, wanted: Mapping[str, Wanted]
) -> list[list[str]]:
    """Divide files by the values of columns that stand in their paths."""
    types = log.files[files[0]]
    in_path, _ = log.used(types, row_filter, wanted.values())
    by_values = defaultdict[tuple[str | None, ...], list[str]](list)
    for file in files:
        by_values[tuple(_value_in_path(file, column) for column in in_path)].append(file)
    return [*by_values.values()]


def _value_in_path(file: str, column: str) -> str | None:
    match = re.search(f"/{re.escape(column)}=([^/]*)/", "/" + file)
    value = match[1] if match else NULL_IN_PATH
    return None if value == NULL_IN_PATH else unquote(value)


def _mixed(parts: Sequence[Any]) -> bool:
    return len({dict(part.dtypes)["outcome"] for part in parts}) > 1


def _as_numbers(part: Any) -> Any:
    """Turn boolean outcomes into numbers, because other files have numbers."""
    from pyspark.sql import functions as f

    if dict(part.dtypes)["outcome"] != "boolean":
        return part
    return part.withColumn("outcome", f.col("outcome").cast("tinyint"))


def _column(name: str) -> Any:
    from pyspark.sql import functions as f

    parts = ("`" + part.replace("`", "``") + "`" for part in name.split(FIELD))
    return f.col(".".join(parts))


def _as_url(file: str) -> str:
    """Name a file as Spark does, which reads some signs as wildcards."""
    named = GLOB_SIGN.sub(r"\\\1", file)
    if file.startswith("s3://"):
        return "s3a" + named.removeprefix("s3")
    return named if "://" in file else f"file://{named}"
