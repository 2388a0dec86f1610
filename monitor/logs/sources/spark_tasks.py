"""Rows that need a conversion, read by tasks of Spark with DuckDB.

Rule: what DuckDB converts on one machine, DuckDB converts on a cluster. Spark reads a text, a time
or the quotes of CSV in another way, so a task of Spark runs the SQL of `opening` on its share of
the log: a file, or some hours of a table. The machines that run tasks need this package.
"""

import gc
import json
import pickle
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from functools import cache, partial
from itertools import chain
from typing import Any

import duckdb
import pyarrow as pa
from fsspec.implementations.local import LocalFileSystem

from monitor.base.errors import ConfigError, DataError
from monitor.base.temporary import sweep_folders
from monitor.config import Engine
from monitor.days.files import open_filesystem
from monitor.logs.engines.conversions import Wanted, quoted
from monitor.logs.engines.databases import Databases
from monitor.logs.engines.session import Session, open_session
from monitor.logs.engines.spark import TOLD, ignore_warnings
from monitor.logs.sources.opening import OpenLog

ROWS_AT_A_TIME = 50_000
HOURS = 24  # the most pieces of a day
# Spark has neither unsigned integers nor nanoseconds.
AS_SPARK = {
    "UTINYINT": "SMALLINT",
    "USMALLINT": "INTEGER",
    "UINTEGER": "BIGINT",
    "UBIGINT": "DECIMAL(20, 0)",
    "TIMESTAMP_S": "TIMESTAMP",
    "TIMESTAMP_MS": "TIMESTAMP",
    "TIMESTAMP_NS": "TIMESTAMP",
}


@dataclass(frozen=True)
class Work:
    """What is the same for all tasks: model and days for messages, the filter, the values."""

    what: str
    row_filter: str | None
    sql: Mapping[str, tuple[tuple[str, ...], str]]

    @property
    def wanted(self) -> dict[str, Wanted]:
        """The values by their names, each with its SQL."""
        return {name: Wanted(c, partial(_as_written, sql)) for name, (c, sql) in self.sql.items()}


def read_in_tasks(
    log: OpenLog, files: Sequence[str], row_filter: str | None, wanted: Mapping[str, Wanted]
) -> Any:
    """Read columns of the chosen rows of files with equal columns, as `OpenLog.read`."""
    types = log.files[files[0]]
    rows = _for_spark(log.without_rows(types, row_filter, wanted))
    work = Work(
        log.session.what,
        row_filter,
        {name: (w.columns, w.sql(types)) for name, w in wanted.items()},
    )
    shares = pa.table({"share": [pickle.dumps(_fields(share)) for share in _shares(log, files)]})
    ignore_warnings()
    frame = log.session.spark.createDataFrame(
        shares
    )  # rows of Python would need tasks of their own
    return frame.mapInArrow(partial(read_shares, work), _schema(rows))


def as_frame(spark: Any, rows: duckdb.DuckDBPyRelation) -> Any:
    """Make a frame of Spark without rows, with the columns of a relation."""
    return spark.createDataFrame([], _schema(_for_spark(rows)))


def read_shares(work: Work, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Read shares of a log in a task of Spark."""
    for share in chain.from_iterable(batch.column(0) for batch in batches):
        with _telling(), open_session(work.what, _databases()) as session:
            log = OpenLog(session, **pickle.loads(share.as_py()))  # noqa: S301 - of the driver
            yield from _read(log, work, session)
    _keep_what_is_loaded()


@cache
def _databases() -> Databases:
    """Start DuckDB once in this process, which Spark gives one task after another."""
    sweep_folders()
    return Databases(Engine(threads=1))


@cache
def _keep_what_is_loaded() -> None:
    """Leave out what this process has loaded where Spark collects garbage: after every task."""
    gc.freeze()


def _read(log: OpenLog, work: Work, session: Session) -> Iterator[pa.RecordBatch]:
    types = next(iter(log.files.values()))
    if log.table:
        in_rows = log.used(types, work.row_filter, work.wanted.values())[1]
        scanned = session.connection.from_arrow(log.scan(log.table, in_rows))
        rows = log.choose(scanned, types, work.row_filter, work.wanted)
    else:
        filesystem, _ = open_filesystem(next(iter(log.files)))
        if not isinstance(filesystem, LocalFileSystem):
            session.reach(filesystem, [*log.files], log.form)
        session.lay_out(log.files, log.layout)
        rows = log.read(work.row_filter, **work.wanted)
    yield from _for_spark(rows).arrow(ROWS_AT_A_TIME)


def _shares(log: OpenLog, files: Sequence[str]) -> Iterator[OpenLog]:
    """Divide files, or the hours of the days of a table, among tasks."""
    if not (log.table and log.dating and log.days):
        yield from (replace(log, files={file: log.files[file]}) for file in files)
        return
    pieces = 1
    if log.dating.can_be_cut(log.type_of(log.dating.column)):
        wanted = int(log.session.spark.conf.get("spark.sql.shuffle.partitions"))
        pieces = max(1, min(HOURS, wanted // len(log.days)))
    for day in log.days:
        for piece in range(pieces):
            dating = replace(log.dating, piece=piece, pieces=pieces)
            yield replace(log, days=[day], dating=dating)


def _fields(log: OpenLog) -> dict[str, Any]:
    """Return what a task needs to open the log again: all but the session."""
    names = "kind", "form", "files", "dating", "days", "table", "layout", "exploded"
    return {name: getattr(log, name) for name in names}


def _for_spark(rows: duckdb.DuckDBPyRelation) -> duckdb.DuckDBPyRelation:
    """Convert the columns whose types Spark does not have."""
    return rows.select(
        *(
            duckdb.SQLExpression(f"CAST({quoted(name)} AS {other})").alias(name)
            if (other := _other(str(sql_type)))
            else duckdb.SQLExpression(quoted(name)).alias(name)
            for name, sql_type in zip(rows.columns, rows.types, strict=True)
        )
    )


def _other(sql_type: str) -> str | None:
    return "VARCHAR" if sql_type.startswith("ENUM") else AS_SPARK.get(sql_type)


def _schema(rows: duckdb.DuckDBPyRelation) -> Any:
    from pyspark.sql.pandas.types import from_arrow_schema

    schema = rows.limit(0).to_arrow_table().schema
    return from_arrow_schema(schema, prefer_timestamp_ntz=True)


def _as_written(sql: str, _: Mapping[str, Any]) -> str:
    return sql


@contextmanager
def _telling() -> Iterator[None]:
    """Write our own errors so that the driver finds them in the error of Spark."""
    try:
        yield
    except (ConfigError, DataError) as error:
        fault = getattr(error, "fault", None)
        told = json.dumps([str(error), asdict(fault) if fault else None])
        raise RuntimeError(TOLD + told) from None
