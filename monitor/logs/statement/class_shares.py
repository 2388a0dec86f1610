"""The vectors of a day, read in batches: here, or of a large day in tasks of Spark.

Rule: what is counted of a share can be added to that of any other. So it does not matter how the
rows are divided, and only counts leave a task.
"""

import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol, TypeVar

import numpy as np
import pyarrow as pa

from monitor.logs.checks.checks import Status
from monitor.logs.engines.spark import ignore_warnings
from monitor.logs.statement.statement import Query
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
    moves : tuple of callable
        What happens to a batch, in this order.
    """

    frame: Any
    classes: int
    moves: tuple[Move, ...] = ()

    def each(self, of: Callable[[Iterable[Batches]], T]) -> list[T]:
        """Count each partition of the frame in a task."""
        ignore_warnings()
        work = partial(_of_share, of, self.classes, self.moves)
        rows = self.frame.mapInArrow(work, f"{RESULT} binary").collect()
        return [of([]), *(pickle.loads(row[0]) for row in rows)]  # noqa: S301 - of our own tasks

    def through(self, move: Move) -> "RowsInSpark":
        """Let the tasks move the rows."""
        return RowsInSpark(self.frame, self.classes, (*self.moves, move))


@contextmanager
def matched_rows(query: Query, classes: int) -> Iterator[Shares]:
    """Choose the rows of a day whose outcome is known, each with its part and its codes.

    Parameters
    ----------
    query : Query
        Of a day of a model with classes.
    classes : int
        The length of a vector.
    """
    columns = ", ".join(("vector", "label", "part", *query.logs.codes))
    chosen = f"SELECT {columns} FROM rows_of_day WHERE status = {int(Status.MATCHED)}"
    native = query.logs.begin(chosen, query.steps)
    if query.logs.session.spark is None:
        yield RowsHere(_remembered(lambda: _read(native, classes)))
        return
    kept = native.persist()
    try:
        if kept.count() * classes > VALUES_KEPT:
            yield RowsInSpark(kept, classes)
        else:  # then one task is faster than one for each step
            batches = [_batch(batch, classes) for batch in kept.toArrow().to_batches()]
            yield RowsHere(lambda: batches)
    finally:
        kept.unpersist()


def _of_share(
    of: Callable[[Iterable[Batches]], object],
    classes: int,
    moves: Sequence[Move],
    batches: Iterable[pa.RecordBatch],
) -> Iterator[pa.RecordBatch]:
    """Count a share of the rows in a task of Spark."""
    rows: Iterator[Batches] = (_batch(batch, classes) for batch in batches)
    for move in moves:
        rows = map(move, rows)
    yield pa.record_batch({RESULT: pa.array([pickle.dumps(of(rows))], pa.binary())})


def _read(relation: Any, classes: int) -> Iterator[Batches]:
    for batch in relation.to_arrow_reader(max(1, VALUES_AT_A_TIME // classes)):
        yield _batch(batch, classes)


def _batch(batch: pa.RecordBatch, classes: int) -> Batches:
    vectors: Any = batch.column("vector")
    values = vectors.flatten().to_numpy(zero_copy_only=False)
    labels, *positions = (
        np.asarray(column.to_numpy(zero_copy_only=False).astype(np.int64))
        for column in batch.columns[1:]
    )
    return values.astype(np.float64).reshape(-1, classes), labels, np.stack(positions)


def _remembered(read: Callable[[], Iterator[Batches]]) -> Callable[[], Iterable[Batches]]:
    """Keep what is read, unless it is too much."""
    kept, values = list[Batches](), 0
    for batch in read():
        kept.append(batch)
        values += batch[0].size
        if values > VALUES_KEPT:
            return read
    return lambda: kept
