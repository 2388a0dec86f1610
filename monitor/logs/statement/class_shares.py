"""The vectors of a day, read in batches: here, or of a large day in tasks of Spark.

Rule: what is counted of a share can be added to that of any other. So it does not matter how the
rows are divided, and only counts leave a task.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa

from monitor.logs.checks.checks import Status
from monitor.logs.engines.session import Session
from monitor.logs.statement.statement import Query
from monitor.metrics.core.grid import Floats, Ints

T = TypeVar("T")
# Vectors, the classes that came true, and of shape (k, n) the part and the codes of each row.
Batches = tuple[Floats, Ints, Ints]
Move = Callable[[Batches], Batches]
VALUES_AT_A_TIME = 2**21
VALUES_KEPT = 2**25  # probabilities: 256 MB


@dataclass(frozen=True, eq=False)
class Shares:
    """The rows of a day whose outcome is known: of a small day in memory, else read for each step.

    Attributes
    ----------
    query : Query
        Of a day of a model with classes.
    classes : int
        The length of a vector.
    kept : sequence of tuple, optional
        The rows, in batches.
    moves : tuple of callable
        What happens to a batch, in this order.
    """

    query: Query
    classes: int
    kept: Sequence[Batches] | None = None
    moves: tuple[Move, ...] = ()

    def each(self, of: Callable[[Iterable[Batches]], T]) -> list[T]:
        """Give what a function of a module makes of each share of the rows."""
        if self.kept is not None:
            return [of(self.kept)]
        columns = ", ".join(("vector", "label", "part", *self.query.logs.codes))
        chosen = f"SELECT {columns} FROM rows_of_day WHERE status = {int(Status.MATCHED)}"
        return self.query.each(chosen, partial(_of_share, of, self.classes, self.moves))

    def through(self, move: Move) -> "Shares":
        """Move the rows of every batch, each once if they are in memory."""
        if self.kept is not None:
            return replace(self, kept=[*map(move, self.kept)])
        return replace(self, moves=(*self.moves, move))


def matched_rows(query: Query, classes: int) -> Shares:
    """Choose the rows of a day whose outcome is known, each with its part and its codes.

    Parameters
    ----------
    query : Query
        Of a day of a model with classes.
    classes : int
        The length of a vector.
    """
    shares = Shares(query, classes)
    read = shares.each(partial(_if_few, VALUES_KEPT))
    kept = [batch for share in read for batch in share or ()]
    few = None not in read and sum(vectors.size for vectors, *_ in kept) <= VALUES_KEPT
    return replace(shares, kept=kept) if few else shares


def _if_few(most: int, rows: Iterable[Batches]) -> list[Batches] | None:
    """Keep the rows of a share, unless there are too many values."""
    kept, values = list[Batches](), 0
    for batch in rows:
        kept.append(batch)
        values += batch[0].size
        if values > most:
            return None
    return kept


def _of_share(
    of: Callable[[Iterable[Batches]], T],
    classes: int,
    moves: Sequence[Move],
    _: Session,
    rows: Any,
) -> T:
    """Count a share of the rows."""
    read = rows.to_arrow_reader(max(1, VALUES_AT_A_TIME // classes))
    batches: Iterator[Batches] = (_batch(batch, classes) for batch in read)
    for move in moves:
        batches = map(move, batches)
    return of(batches)


def _batch(batch: pa.RecordBatch, classes: int) -> Batches:
    vectors: Any = batch.column("vector")
    values = vectors.flatten().to_numpy(zero_copy_only=False)
    labels, *positions = (
        np.asarray(column.to_numpy(zero_copy_only=False).astype(np.int64))
        for column in batch.columns[1:]
    )
    return values.astype(np.float64).reshape(-1, classes), labels, np.stack(positions)
