"""The vectors of a day, read in batches: here, or of a large day in tasks of Spark.

Rule: what is counted of a share can be added to that of any other. So it does not matter how the
rows are divided, and only counts leave a task.
"""

import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol, TypeVar

import narwhals as nw
import numpy as np
import pyarrow as pa

from monitor.logs.checks import Status
from monitor.logs.session import Frame, Session
from monitor.logs.spark import ignore_warnings
from monitor.metrics.core.grid import Floats, Ints

T = TypeVar("T")
# Vectors, the classes that came true, and of shape (k, n) the part and the codes of each row.
Batches = tuple[Floats, Ints, Ints]
Move = Callable[[Batches], Batches]
VALUES_AT_A_TIME = 2**21
VALUES_KEPT = 2**25  # probabilities: 256 MB
RESULT = "result"


class Shares(Protocol):
    """The rows of a day whose outcome is known."""

    def each(self, of: Callable[[Iterable[Batches]], T]) -> list[T]:
        """Give what a function makes of each share of the rows; there is at least one."""
        ...

    def through(self, move: Move) -> "Shares":
        """Move the rows of every batch."""
        ...


@dataclass(frozen=True)
class RowsHere:
    """Rows that are read here: a small day is kept in memory, a large one is read for each step."""

    read: Callable[[], Iterable[Batches]]

    def each(self, of: Callable[[Iterable[Batches]], T]) -> list[T]:
        """Count the one share."""
        return [of(self.read())]

    def through(self, move: Move) -> "RowsHere":
        """Keep the moved rows too, so that each is moved once."""
        return RowsHere(_remembered(lambda: map(move, self.read())))


@dataclass(frozen=True)
class RowsInSpark:
    """Rows of a frame of Spark, which keeps them.

    Attributes
    ----------
    frame : DataFrame
        As `matched` selects it.
    classes : int
        The length of a vector.
    names : mapping of str to sequence of str
        Of each column with labels, the names of the codes from 1 on.
    moves : tuple of callable
        What happens to a batch, in this order.
    """

    frame: Any
    classes: int
    names: Mapping[str, Sequence[str]]
    moves: tuple[Move, ...] = ()

    def each(self, of: Callable[[Iterable[Batches]], T]) -> list[T]:
        """Count each partition of the frame in a task."""
        ignore_warnings()
        work = partial(_of_share, of, self.classes, self.names, self.moves)
        rows = self.frame.mapInArrow(work, f"{RESULT} binary").collect()
        return [of([]), *(pickle.loads(row[0]) for row in rows)]  # noqa: S301 - of our own tasks

    def through(self, move: Move) -> "RowsInSpark":
        """Let the tasks move the rows."""
        return RowsInSpark(self.frame, self.classes, self.names, (*self.moves, move))


@contextmanager
def matched_rows(
    session: Session,
    joined: Frame,
    classes: int,
    codes: Sequence[str] = (),
    labels: Mapping[str, tuple[nw.Expr, Sequence[str]]] | None = None,
) -> Iterator[Shares]:
    """Choose the rows of a day whose outcome is known.

    Parameters
    ----------
    session : Session
        The one that reads the day.
    joined : LazyFrame
        The join of a day, with `status`, `vector`, `label` and `part`.
    classes : int
        The length of a vector.
    codes : sequence of str
        The columns of a join of DuckDB that hold codes of watched columns.
    labels : mapping of str to (Expr, sequence of str)
        Of a join of Spark instead: the label of a row in each watched column, and the names of the
        codes from 1 on.
    """
    labels = labels or {}
    with session.drafting():
        rows = joined.filter(nw.col("status") == int(Status.MATCHED)).select(
            *("vector", "label", "part", *codes), **{name: of for name, (of, _) in labels.items()}
        )
    native: Any = rows.to_native()
    if not rows.implementation.is_spark_like():
        yield RowsHere(_remembered(lambda: _read(native, classes)))
        return
    names, kept = {name: of for name, (_, of) in labels.items()}, native.persist()
    try:
        if kept.count() * classes > VALUES_KEPT:
            yield RowsInSpark(kept, classes, names)
        else:  # then one task is faster than one for each step
            table: Any = nw.from_native(kept).collect(backend="pyarrow").to_native()
            batches = [_batch(batch, classes, names) for batch in table.to_batches()]
            yield RowsHere(lambda: batches)
    finally:
        kept.unpersist()


def _of_share(
    of: Callable[[Iterable[Batches]], object],
    classes: int,
    names: Mapping[str, Sequence[str]],
    moves: Sequence[Move],
    batches: Iterable[pa.RecordBatch],
) -> Iterator[pa.RecordBatch]:
    """Count a share of the rows in a task of Spark."""
    rows: Iterator[Batches] = (_batch(batch, classes, names) for batch in batches)
    for move in moves:
        rows = map(move, rows)
    yield pa.record_batch({RESULT: pa.array([pickle.dumps(of(rows))], pa.binary())})


def _read(relation: Any, classes: int) -> Iterator[Batches]:
    for batch in relation.to_arrow_reader(max(1, VALUES_AT_A_TIME // classes)):
        yield _batch(batch, classes, {})


def _batch(batch: pa.RecordBatch, classes: int, names: Mapping[str, Sequence[str]]) -> Batches:
    vectors: Any = batch.column("vector")
    values = vectors.flatten().to_numpy(zero_copy_only=False)
    labels, *positions = (
        _whole(column, names.get(name))
        for name, column in zip(batch.schema.names[1:], batch.columns[1:], strict=True)
    )
    return values.astype(np.float64).reshape(-1, classes), labels, np.stack(positions)


def _whole(column: Any, names: Sequence[str] | None) -> Ints:
    """Read whole numbers, or the codes of labels: their positions in the names, from 1; else 0."""
    if names is not None:
        import pyarrow.compute as pc  # noqa: PLC0415 - takes long to load, and only labels need it

        positions = pc.call_function(
            "index_in", [column], pc.SetLookupOptions(pa.array(names, column.type))
        )
        or_none = pc.call_function("coalesce", [positions, pa.scalar(-1, pa.int32())])
        column = pc.call_function("add", [or_none, pa.scalar(1, pa.int32())])
    return np.asarray(column.to_numpy(zero_copy_only=False).astype(np.int64))


def _remembered(read: Callable[[], Iterator[Batches]]) -> Callable[[], Iterable[Batches]]:
    """Keep what is read, unless it is too much."""
    kept, values = list[Batches](), 0
    for batch in read():
        kept.append(batch)
        values += batch[0].size
        if values > VALUES_KEPT:
            return read
    return lambda: kept
