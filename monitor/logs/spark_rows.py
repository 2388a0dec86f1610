"""The rows of Parquet files as a Spark frame with the names that the query expects."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from monitor.config.filters import columns_of_filter
from monitor.errors import ConfigError, DataError, Fault
from monitor.logs.conversions import Wanted, quoted

if TYPE_CHECKING:
    from monitor.logs.opening import OpenLog

NULL_IN_PATH = "__HIVE_DEFAULT_PARTITION__"
GLOB_SIGN = re.compile(r"([*?\[\]{}\\])")
SQL_TOKEN = re.compile(r"""('(?:[^']|'')*')|"((?:[^"]|"")*)\"""")


def read_with_spark(
    log: "OpenLog", groups: Iterable[Sequence[str]], where: str | None, wanted: Mapping[str, Wanted]
) -> Any:
    """Read columns of the chosen rows, as `OpenLog.read`.

    Parameters
    ----------
    log : OpenLog
        Parquet files, whose columns are checked already.
    groups : iterable of sequence of str
        Files with equal columns.
    where, wanted
        The filter, and the values by their new names.

    Raises
    ------
    ConfigError
        If a setting needs a conversion that only DuckDB makes.
    """
    if log.form != "parquet":
        raise _only_duckdb(log, f"{log.kind}.format: {log.form}")
    parts = [
        _part(log, of_value, where, wanted)
        for files in groups
        for of_value in _by_path(log, files, where, wanted)
    ]
    whole = {field.dataType.typeName() for part in parts for field in part.schema.fields}
    if "boolean" in whole and "outcome" in wanted:
        parts = [_as_numbers(part) for part in parts] if _mixed(parts) else parts
    return reduce(lambda a, b: a.union(b), parts)


def _part(
    log: "OpenLog", files: Sequence[str], where: str | None, wanted: Mapping[str, Wanted]
) -> Any:
    """Read files with equal columns and equal values in their paths."""
    from pyspark.sql import functions as f

    types = log.files[files[0]]
    rows = log.session.spark.read.parquet(*map(_as_url, files))
    for column in _used(log, where, wanted):
        if types[column].in_path:
            rows = rows.withColumn(column, f.lit(_value_in_path(files[0], column)))
    if log.dating and log.days is not None:
        ranges = log.dating.ranges(log.days, types[log.dating.column])
        if not ranges and log.days:
            raise _only_duckdb(log, f"{log.kind}.day: {log.dating.column} of text")
        at = _column(log.dating.column)
        chosen = [(at >= f.lit(first)) & (at < f.lit(end)) for first, end in ranges]
        rows = rows.filter(reduce(lambda a, b: a | b, chosen))
    if where:
        rows = rows.filter(_bound(log, rows, where))
    return rows.select(*(_value(log, name, w, types).alias(name) for name, w in wanted.items()))


def _used(log: "OpenLog", where: str | None, wanted: Mapping[str, Wanted]) -> list[str]:
    filtered = map(log.same_name, columns_of_filter(where) if where else ())
    return [*dict.fromkeys([*(c for w in wanted.values() for c in w.columns), *filtered])]


def _value(log: "OpenLog", name: str, wanted: Wanted, types: Mapping[str, Any]) -> Any:
    """Translate a value to read: a column as it is, or a key of several columns."""
    from pyspark.sql import functions as f

    sql = wanted.sql(types)
    columns = [_column(column) for column in wanted.columns]
    if len(columns) == 1 and sql == quoted(wanted.columns[0]):
        return columns[0]
    if name in {"id", "outcome_id"} and "CAST(" not in sql and len(columns) > 1:
        complete = reduce(lambda a, b: a & b, (column.isNotNull() for column in columns))
        parts = (column.alias(f"key{place}") for place, column in enumerate(columns))
        return f.when(complete, f.struct(*parts))
    raise _only_duckdb(log, f"the conversion of {', '.join(wanted.columns)}")


def _bound(log: "OpenLog", rows: Any, where: str) -> Any:
    """Translate a filter, and check its type with the columns that it meets."""
    from pyspark.errors import AnalysisException, ParseException
    from pyspark.sql import functions as f

    condition = f.expr(SQL_TOKEN.sub(_translated, where))
    try:
        found = rows.select(condition).schema.fields[0].dataType.typeName()
    except (AnalysisException, ParseException) as error:
        wrong = f"cannot be applied ({str(error).splitlines()[0]})"
    else:
        if found == "boolean":
            return condition
        wrong = f"gives {found.upper()}, not true or false"
    msg = (
        f"{log.session.what}: {log.kind}.where {wrong}: {where}; correct it in the "
        f"configuration, then rerun this day."
    )
    raise DataError(msg, Fault(log.kind, "column", "the filter does not suit the columns"))


def _translated(token: re.Match[str]) -> str:
    """Write a quoted name or a text as Spark does, in which a backslash escapes."""
    text, name = token.groups()
    if text is not None:
        return "'" + text[1:-1].replace("\\", "\\\\").replace("''", "\\'") + "'"
    return "`" + name.replace('""', '"').replace("`", "``") + "`"


def _by_path(
    log: "OpenLog", files: Sequence[str], where: str | None, wanted: Mapping[str, Wanted]
) -> list[list[str]]:
    """Divide files by the values of columns that stand in their paths."""
    types = log.files[files[0]]
    in_path = [column for column in _used(log, where, wanted) if types[column].in_path]
    found = defaultdict[tuple[str | None, ...], list[str]](list)
    for file in files:
        found[tuple(_value_in_path(file, column) for column in in_path)].append(file)
    return [*found.values()]


def _value_in_path(file: str, column: str) -> str | None:
    found = re.search(f"/{re.escape(column)}=([^/]*)/", "/" + file)
    value = found[1] if found else NULL_IN_PATH
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

    return f.col("`" + name.replace("`", "``") + "`")


def _as_url(file: str) -> str:
    """Name a file as Spark does, which reads some signs as wildcards."""
    named = GLOB_SIGN.sub(r"\\\1", file)
    if file.startswith("s3://"):
        return "s3a" + named.removeprefix("s3")
    return named if "://" in file else f"file://{named}"


def _only_duckdb(log: "OpenLog", setting: str) -> ConfigError:
    msg = (
        f"{log.session.what}: Spark cannot read {setting}; set engine.kind to duckdb, or write the "
        f"log as Parquet with columns of the types that docs/logs.md names."
    )
    return ConfigError(msg)
