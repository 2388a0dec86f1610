"""Rows that tasks of Spark read and count, each task its share with DuckDB.

Rule: the rows of one id are all in one share, and what is counted of a share can be added to that
of any other. So Spark only moves rows, packed in batches whose columns it does not see, and every
statement is DuckDB's. The machines that run tasks need this package.
"""

import gc
import json
import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import cache, partial
from itertools import chain, pairwise
from typing import Any, Protocol, TypeVar

import duckdb
import numpy as np
import pyarrow as pa

from monitor.base.errors import ConfigError, DataError
from monitor.base.temporary import sweep_folders
from monitor.config import Engine
from monitor.logs.engines.conversions import quoted
from monitor.logs.engines.databases import Databases
from monitor.logs.engines.session import Session, open_session
from monitor.logs.engines.spark import OF_TASK, ignore_warnings

T = TypeVar("T")
KEYS = "id", "outcome_id", "entity"  # the first of them that rows have is what shares are made by
ROWS_AT_A_TIME = 500_000
PACKED = "place int, log int, rows binary"


class Part(Protocol):
    """A part of a log, which one task reads."""

    def read(self, session: Session) -> duckdb.DuckDBPyRelation:
        """Read its rows."""


@dataclass(frozen=True, eq=False)
class Spread:
    """The rows of a log, in parts that tasks read.

    Attributes
    ----------
    empty : DuckDBPyRelation
        Their columns, without a row.
    parts : tuple of (Part, tuple of (str, str))
        What tasks read, each with what is done to its rows: the method of a relation and its text.
    """

    empty: duckdb.DuckDBPyRelation
    parts: tuple[tuple[Part, tuple[tuple[str, str], ...]], ...]

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return self.empty.columns

    @property
    def types(self) -> Sequence[Any]:
        """Their types."""
        return self.empty.types

    def project(self, text: str) -> "Spread":
        """Take values of every row."""
        return self._and("project", text)

    def filter(self, text: str) -> "Spread":
        """Take the rows that meet a condition."""
        return self._and("filter", text)

    def union(self, other: "Spread") -> "Spread":
        """Put the rows of another below these."""
        return Spread(self.empty.union(other.empty), (*self.parts, *other.parts))

    def _and(self, do: str, text: str) -> "Spread":
        parts = tuple((part, (*steps, (do, text))) for part, steps in self.parts)
        return Spread(getattr(self.empty, do)(text), parts)

    def each_in_tasks(
        self,
        session: Session,
        query: str,
        of: Callable[[Session, Any], T],
        rows: tuple["Spread | None", ...],
    ) -> list[T]:
        """Give what a function makes of a query over each share of the rows of both logs.

        Of rows without an id every part is a share. Other shares stay in the memory and on the
        disks of the cluster until the session ends.
        """
        ignore_warnings()
        parts = [(log, *part) for log, each in enumerate(rows) if each for part in each.parts]
        if not parts:
            return [of(session, session.over(query, *(each and each.empty for each in rows)))]
        packed = pa.table({"part": pa.array([pickle.dumps(part) for part in parts], pa.binary())})
        # Rows of Python would need tasks of their own.
        frame, work = (
            session.spark.createDataFrame(packed),
            partial(_count_parts, session.what, query, of),
        )
        if any({*KEYS}.intersection(each.columns) for each in rows if each):
            places = int(session.spark.conf.get("spark.sql.shuffle.partitions"))
            pack = partial(_pack, session.what, places)
            if rows not in session.frames:
                shares = frame.mapInArrow(pack, PACKED).repartition(places, "place")
                session.frames[rows] = shares.persist()
            frame = session.frames[rows]
            logs = [
                dict(zip(each.columns, map(str, each.types), strict=True)) if each else None
                for each in rows
            ]
            work = partial(_count, session.what, query, of, logs)
        counted = frame.mapInArrow(work, "result binary").collect()
        return [pickle.loads(row[0]) for row in counted]  # noqa: S301 - of our own tasks


@contextmanager
def _reading(what: str, packed: Any) -> Iterator[tuple[Session, int, duckdb.DuckDBPyRelation]]:
    """Read a part of a log in a task; give the number of the log, too."""
    log, part, steps = pickle.loads(packed)  # noqa: S301 - of the driver
    with _own_errors_as_text(), open_session(what, _databases()) as session:
        rows = part.read(session)
        for do, text in steps:
            rows = getattr(rows, do)(text)
        yield session, log, rows


def _pack(what: str, places: int, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Read parts of the logs in a task, and pack the rows by their place."""
    for packed in chain.from_iterable(batch.column(0).to_pylist() for batch in batches):
        with _reading(what, packed) as (_, log, rows):
            key = next(name for name in KEYS if name in rows.columns)
            place = f"CAST(hash(CAST({key} AS VARCHAR)) % {places} AS INTEGER)"
            in_order = rows.project(f"*, {place} AS place").order("place")
            for batch in in_order.to_arrow_reader(ROWS_AT_A_TIME):
                yield from _by_place(log, batch)
    _keep_what_is_loaded()


def _count_parts(
    what: str, query: str, of: Callable[[Session, Any], Any], batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Count parts of a log in a task, each by itself."""
    for packed in chain.from_iterable(batch.column(0).to_pylist() for batch in batches):
        with _reading(what, packed) as (session, log, rows):
            both = [rows if number == log else None for number in range(2)]
            result = of(session, session.over(query, *both))
        yield _result(result)
    _keep_what_is_loaded()


def _result(of: Any) -> pa.RecordBatch:
    return pa.record_batch([pa.array([pickle.dumps(of)], pa.binary())], names=["result"])


def _by_place(log: int, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """Cut rows in the order of their places, and pack each piece."""
    place: Any = batch.column("place").to_numpy()
    rows = batch.drop_columns(["place"])
    for first, end in pairwise([0, *(np.flatnonzero(np.diff(place)) + 1), len(place)]):
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, rows.schema) as stream:
            stream.write_batch(rows.slice(first, end - first))
        yield pa.record_batch(
            {
                "place": pa.array([place[first]], pa.int32()),
                "log": pa.array([log], pa.int32()),
                "rows": pa.array([sink.getvalue().to_pybytes()], pa.binary()),
            }
        )


def _count(
    what: str,
    query: str,
    of: Callable[[Session, Any], Any],
    logs: Sequence[Mapping[str, str] | None],
    batches: Iterable[pa.RecordBatch],
) -> Iterator[pa.RecordBatch]:
    """Count a share of the rows in a task."""
    with _own_errors_as_text(), open_session(what, _databases()) as session:
        tables = [
            types and _table(session, f"share_{log}", types) for log, types in enumerate(logs)
        ]
        for batch in batches:
            for log, rows in zip(*map(batch.column, ("log", "rows")), strict=True):
                packed = pa.ipc.open_stream(rows.as_buffer()).read_all()
                session.connection.from_arrow(packed).insert_into(f"share_{log.as_py()}")
        result = of(session, session.over(query, *tables))
    yield _result(result)


def _table(session: Session, name: str, types: Mapping[str, str]) -> duckdb.DuckDBPyRelation:
    """Make a table for the rows of a log."""
    # Packed, JSON is text, and so is a text that DuckDB took for it.
    texts = {column: type_.replace("JSON", "VARCHAR") for column, type_ in types.items()}
    columns = ", ".join(f"{quoted(column)} {type_}" for column, type_ in texts.items())
    session.connection.execute(f"CREATE TABLE {name} ({columns})")
    return session.connection.table(name)


@cache
def _databases() -> Databases:
    """Start DuckDB once in this process, which Spark gives one task after another."""
    sweep_folders()
    return Databases(Engine(threads=1))


@cache
def _keep_what_is_loaded() -> None:
    """Leave out what this process has loaded where Spark collects garbage: after every task."""
    gc.freeze()


@contextmanager
def _own_errors_as_text() -> Iterator[None]:
    """Write our own errors so that the driver finds them in the error of Spark."""
    try:
        yield
    except (ConfigError, DataError) as error:
        fault = getattr(error, "fault", None)
        written = json.dumps([str(error), asdict(fault) if fault else None])
        raise RuntimeError(OF_TASK + written) from None
