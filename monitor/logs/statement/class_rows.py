"""The vectors of a day become counts by class: read here, or of a large day in tasks of Spark.

Rule: what is counted of a share can be added to that of any other. So it does not matter how the
rows are divided, and only counts leave a task.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa

from monitor.config import Classes
from monitor.days.summary import CodedRows
from monitor.logs.checks.checks import Status
from monitor.logs.columns.class_columns import OF_OUTCOME
from monitor.logs.engines.session import Session
from monitor.logs.statement.statement import Query
from monitor.metrics.beyond_binary.class_counts import (
    MOST_WATCHED,
    Batch,
    ClassCounts,
    Ranks,
    Sums,
    count_classes,
    count_ranks,
    first_choices,
    merge_class_counts,
    most_frequent,
    only_highest,
    score_sums,
    vector_scores,
    with_parts,
)
from monitor.metrics.beyond_binary.class_pairs import (
    rank_classes,
    rows_of_pairs,
    sampled_vectors,
    with_first,
)
from monitor.metrics.beyond_binary.class_parts import (
    ClassPart,
    PartSums,
    PlacedBatch,
    parts_of_sums,
    sum_parts,
)
from monitor.metrics.beyond_binary.class_priors import ScoreSums, solve_class_weights, sum_scores
from monitor.metrics.core.grid import Floats, Ints
from monitor.metrics.core.tally import Tally, merge
from monitor.metrics.maps.vector_map import VectorMap, apply_vector_map

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
    classes : Classes
        The configured classes.
    kept : sequence of tuple, optional
        The rows, in batches.
    moves : tuple of callable
        What happens to a batch, in this order.
    """

    query: Query
    classes: Classes
    kept: Sequence[Batches] | None = None
    moves: tuple[Move, ...] = ()

    @property
    def count(self) -> int:
        """The length of a vector."""
        return len(self.classes.names)

    @property
    def log_offsets(self) -> Floats | None:
        """The logarithms of the rates at which the rows of each class were kept."""
        return -np.log(np.array(self.classes.weights)) if self.classes.weights else None

    def each(self, of: Callable[[Iterable[Batches]], T]) -> list[T]:
        """Give what a function of a module makes of each share of the rows."""
        if self.kept is not None:
            return [of(self.kept)]
        columns = ", ".join(("vector", "label", "part", *self.query.logs.codes))
        chosen = f"SELECT {columns} FROM rows_of_day WHERE status = {int(Status.MATCHED)}"
        return self.query.rows.each(chosen, partial(_of_share, of, self.count, self.moves))

    def through(self, move: Move) -> "Shares":
        """Move the rows of every batch, each once if they are in memory."""
        if self.kept is not None:
            return replace(self, kept=[*map(move, self.kept)])
        return replace(self, moves=(*self.moves, move))


def matched_rows(query: Query, classes: Classes) -> Shares:
    """Choose the rows of a day whose outcome is known, each with its part and its codes."""
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


def count_day(
    query: Query,
    classes: Classes,
    parts: Sequence[tuple[str, str]] = (),
    sizes: Sequence[int] = (),
) -> tuple[ClassCounts, list[list[ClassPart]]]:
    """Count the rows of a day whose outcome is known, and their pairs by the code of each column.

    Parameters
    ----------
    query : Query
        Of a day of a model with classes.
    classes : Classes
        The configured classes.
    parts : sequence of (str, str)
        Segment and stratum of each part; none if the traffic is not divided.
    sizes : sequence of int
        How many codes each watched column has.
    """
    rows = matched_rows(query, classes)
    counts = _count(rows, parts)
    of_codes = [_parts(rows, at, size) for at, size in enumerate(sizes, 1)]
    if classes.top:
        counts = only_highest(counts, _vector_scores(query) if classes.top.outcome else None)
    return counts, of_codes


def count_mapped_day(
    query: Query,
    classes: Classes,
    vector_map: VectorMap,
    parts: Sequence[tuple[str, str]] = (),
) -> tuple[Ints, ClassCounts, list[Tally]]:
    """Count the rows of a day through a map; first the sums of what was logged, as in `count_day`.

    Last come the first choices of each part.

    Parameters
    ----------
    query, classes, parts
        As for `count_day`.
    vector_map : VectorMap
        The map.
    """
    rows = matched_rows(query, classes)
    logged = np.sum(rows.each(partial(_score_sums, rows.log_offsets, rows.count)), axis=0)
    mapped = rows.through(partial(_mapped, vector_map))
    tops = mapped.each(partial(_first_choices, rows.log_offsets, len(parts))) if parts else []
    counts = _count(mapped, parts)
    return logged, counts, [merge(of_part) for of_part in zip(*tops, strict=True)]


def _count(rows: Shares, parts: Sequence[tuple[str, str]]) -> ClassCounts:
    classes, count, offsets = rows.classes, rows.count, rows.log_offsets
    watched, pairs, third = most_frequent(rows.each(partial(_ranks, count)), count, classes.watched)
    weights = None
    if not classes.top:  # which has no scores of the other classes to weigh
        weights = solve_class_weights(
            lambda at: rows.each(partial(_sums_of_scores, offsets, at)), count
        )
    if parts:  # which count pairs themselves
        pairs, third = [], []
    chosen = partial(_classes, offsets, classes.names, weights)
    counted = rows.each(partial(chosen, watched=watched, pairs=pairs, third=third))
    counts = replace(merge_class_counts(counted), weights=classes.weights)
    if not parts:
        return counts
    often = sorted(watched, key=lambda k: (-int(counts.outcomes[k]), k))[:MOST_WATCHED]
    of_parts = _parts(rows, 0, len(parts), sorted(often))
    return with_parts(counts, dict(zip(parts, of_parts, strict=True)))


def _parts(rows: Shares, place: int, size: int, watched: Sequence[int] = ()) -> list[ClassPart]:
    """Count pairs, and classes against the rest, by one of the parts of each row."""
    sums = partial(_sums_of_parts, rows.log_offsets, rows.count, place, size, watched)
    return parts_of_sums(rows.each(sums))


# What is counted of a share. Tasks of Spark run these, so each is a function of this module.


def _ranks(classes: int, rows: Iterable[Batches]) -> Ranks:
    return count_ranks(_unplaced(rows), classes)


def _sums_of_scores(
    log_offsets: Floats | None, log_weights: Floats, rows: Iterable[Batches]
) -> ScoreSums:
    return sum_scores(_unplaced(_sampled(log_offsets, rows)), log_weights)


def _classes(
    log_offsets: Floats | None,
    names: Sequence[str],
    log_weights: Floats | None,
    rows: Iterable[Batches],
    **chosen: Any,
) -> ClassCounts:
    return count_classes(names, _unplaced(rows), log_weights, log_offsets=log_offsets, **chosen)


def _sums_of_parts(
    log_offsets: Floats | None,
    classes: int,
    place: int,
    size: int,
    watched: Sequence[int],
    rows: Iterable[Batches],
) -> PartSums:
    return sum_parts(_placed(rows, place), classes, size, log_offsets, watched)


def _score_sums(log_offsets: Floats | None, classes: int, rows: Iterable[Batches]) -> Ints:
    sums = (score_sums(vectors) for vectors, *_ in _sampled(log_offsets, rows))
    return sum(sums, np.zeros(classes, np.int64))


def _first_choices(log_offsets: Floats | None, parts: int, rows: Iterable[Batches]) -> list[Tally]:
    return first_choices(_placed(_sampled(log_offsets, rows), 0), parts)


def _sampled(log_offsets: Floats | None, rows: Iterable[Batches]) -> Iterator[Batches]:
    """Move the vectors so that they are right for the log, if it is a sample by class."""
    return (
        (sampled_vectors(vectors, log_offsets), labels, places) for vectors, labels, places in rows
    )


def _mapped(vector_map: VectorMap, rows: Batches) -> Batches:
    vectors, labels, part_of_row = rows
    return apply_vector_map(vectors, vector_map), labels, part_of_row


def _unplaced(rows: Iterable[Batches]) -> Iterator[Batch]:
    return ((vectors, labels) for vectors, labels, _ in rows)


def _placed(rows: Iterable[Batches], place: int) -> Iterator[PlacedBatch]:
    """Take one of the parts of each row."""
    return ((vectors, labels, part_of_row[place]) for vectors, labels, part_of_row in rows)


def _vector_scores(query: Query) -> tuple[Sums, Sums]:
    """Sum Brier and log scores up, of what the log says of whole vectors."""
    matched = f"FROM rows_of_day WHERE status = {int(Status.MATCHED)}"
    table = query.rows.fetch(f"SELECT {', '.join(OF_OUTCOME)} {matched}")
    return vector_scores(*(table[name].to_numpy() for name in OF_OUTCOME))


def read_matched(query: Query, classes: Classes) -> Batch:
    """Read the vectors of the rows of a day whose outcome is known, and the labels, in any order.

    Parameters
    ----------
    query, classes
        As for `count_day`.
    """
    matched = matched_rows(query, classes)
    shares = matched.each(partial(_together, matched.count))
    vectors, labels = (np.concatenate(of) for of in zip(*shares, strict=True))
    return vectors, labels


def read_pairs(query: Query, classes: Classes, rank: int) -> CodedRows:
    """Read the rows whose outcome is one of their pair, in any order, with their codes.

    Parameters
    ----------
    query, classes
        As for `count_day`.
    rank : int
        Of the score that makes a pair with the highest one.
    """
    rows, none = matched_rows(query, classes), np.zeros(0, np.int64)
    codes: Any = np.zeros((len(query.logs.codes), 0), np.uint16)
    read = [CodedRows(none, none > 0, codes, none)]
    for share in rows.each(partial(_pairs, rows.log_offsets, rows.count, rank)):
        read += share
    return CodedRows(
        np.concatenate([of.cells for of in read]),
        np.concatenate([of.hits for of in read]),
        np.concatenate([of.codes for of in read], axis=1),
        np.concatenate([none if of.pairs is None else of.pairs for of in read]),
    )


def _pairs(
    log_offsets: Floats | None, classes: int, rank: int, rows: Iterable[Batches]
) -> list[CodedRows]:
    read = list[CodedRows]()
    for vectors, labels, places in rows:
        low, high = with_first(rank_classes(vectors), rank)
        moved = sampled_vectors(vectors, log_offsets)
        kept, cells = rows_of_pairs(moved, labels, low, high)
        pairs = (low * classes + high)[kept]
        codes: Any = places[1:, kept].astype(np.uint16)  # of which there are many
        read.append(CodedRows(cells, (labels == low)[kept], codes, pairs))
    return read


def _together(classes: int, rows: Iterable[Batches]) -> Batch:
    read = [*_unplaced(rows)]
    return (
        np.concatenate([np.zeros((0, classes)), *(vectors for vectors, _ in read)]),
        np.concatenate([np.zeros(0, np.int64), *(labels for _, labels in read)]),
    )
