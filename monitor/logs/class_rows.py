"""The vectors of a day, read in batches, become counts by class.

A small day is kept in memory; a large one is read again for each step, so memory does not grow
with the rows.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

import narwhals as nw
import numpy as np

from monitor.config import Classes
from monitor.logs.class_top import OF_OUTCOME
from monitor.logs.joining import Status
from monitor.logs.session import Frame
from monitor.metrics.beyond_binary.class_counts import (
    Batch,
    ClassCounts,
    Sums,
    choose_classes,
    count_classes,
    first_choices,
    only_highest,
    score_sums,
    vector_scores,
    with_parts,
)
from monitor.metrics.beyond_binary.class_parts import ClassPart, PlacedBatch, count_parts
from monitor.metrics.beyond_binary.class_priors import fit_class_weights
from monitor.metrics.core.grid import Floats, Ints
from monitor.metrics.core.tally import Tally
from monitor.metrics.maps.vector_map import VectorMap, apply_vector_map

# Vectors, the classes that came true, and of shape (k, n) the part and the codes of each row.
Batches = tuple[Floats, Ints, Ints]
NO_CODES: Mapping[str, int] = MappingProxyType({})
VALUES_AT_A_TIME = 2**21
VALUES_KEPT = 2**25  # probabilities: 256 MB


def count_day(
    joined: Frame,
    classes: Classes,
    parts: Sequence[tuple[str, str]] = (),
    codes: Mapping[str, int] = NO_CODES,
) -> tuple[ClassCounts, list[list[ClassPart]]]:
    """Count the rows of a day whose outcome is known, and their pairs by the code of each column.

    Parameters
    ----------
    joined : LazyFrame
        The join of a day, with `status`, `vector`, `label` and `part`.
    classes : Classes
        The configured classes.
    parts : sequence of (str, str)
        Segment and stratum of each part; none if the traffic is not divided.
    codes : mapping of str to int
        The columns of the join that hold codes of watched columns, and how many codes each has.
    """
    count = len(classes.names)
    read = _remembered(lambda: _batches(_matched(joined, [*codes]), count))
    counts = _count(read, classes, parts)
    if classes.top:
        counts = only_highest(counts, _vector_scores(joined) if classes.top.true_score else None)
    return counts, [
        count_parts(_placed(read(), place), count, size)
        for place, size in enumerate(codes.values(), 1)
    ]


def count_mapped_day(
    joined: Frame, classes: Classes, vector_map: VectorMap, parts: Sequence[tuple[str, str]] = ()
) -> tuple[Ints, ClassCounts, list[Tally]]:
    """Count the rows of a day through a map; first the sums of what was logged, as in `count_day`.

    Last come the first choices of each part.

    Parameters
    ----------
    joined, classes, parts
        As for `count_day`.
    vector_map : VectorMap
        The map.
    """
    count = len(classes.names)
    read = _remembered(lambda: _batches(_matched(joined), count))
    logged = sum((score_sums(vectors) for vectors, *_ in read()), np.zeros(count, np.int64))

    def mapped() -> Iterator[Batches]:
        return (
            (apply_vector_map(vectors, vector_map), labels, places)
            for vectors, labels, places in read()
        )

    again = _remembered(mapped)
    tops = first_choices(_placed(again(), 0), len(parts)) if parts else []
    return logged, _count(again, classes, parts), tops


def _count(
    placed: Callable[[], Iterable[Batches]],
    classes: Classes,
    parts: Sequence[tuple[str, str]] = (),
) -> ClassCounts:
    count = len(classes.names)

    def read() -> Iterator[Batch]:
        return ((vectors, labels) for vectors, labels, _ in placed())

    watched, pairs, third = choose_classes(read(), count, classes.watched)
    if classes.top:  # the others are not known, and those of one class against the rest neither
        watched, weights = [], np.zeros(count)
    else:
        weights = fit_class_weights(read, count)
    if not parts:
        return count_classes(
            classes.names, read(), weights, watched=watched, pairs=pairs, third=third
        )
    counts = count_classes(classes.names, read(), weights, watched=watched, pairs=())
    of_parts = count_parts(_placed(placed(), 0), count, len(parts))
    return with_parts(counts, dict(zip(parts, of_parts, strict=True)))


def _vector_scores(joined: Frame) -> tuple[Sums, Sums]:
    """Sum Brier and log scores up, of what the log says of whole vectors."""
    rows = joined.filter(nw.col("status") == int(Status.MATCHED)).select(*OF_OUTCOME)
    table = rows.collect(backend="pyarrow")
    return vector_scores(*(table[name].to_numpy() for name in OF_OUTCOME))


def read_matched(joined: Frame, classes: Classes) -> Batch:
    """Read the vectors of the rows of a day whose outcome is known, and the labels, in any order.

    Parameters
    ----------
    joined, classes
        As for `count_day`.
    """
    count = len(classes.names)
    parts = [*_batches(_matched(joined), count)]
    vectors = [np.zeros((0, count)), *(part[0] for part in parts)]
    labels = [np.zeros(0, np.int64), *(part[1] for part in parts)]
    return np.concatenate(vectors), np.concatenate(labels)


def _matched(joined: Frame, codes: Sequence[str] = ()) -> Frame:
    matched = joined.filter(nw.col("status") == int(Status.MATCHED))
    return matched.select("vector", "label", "part", *codes)


def _placed(batches: Iterable[Batches], place: int) -> Iterator[PlacedBatch]:
    """Take one of the places of each row."""
    return ((vectors, labels, places[place]) for vectors, labels, places in batches)


def _batches(rows: Frame, count: int) -> Iterator[Batches]:
    relation = rows.to_native()
    for batch in relation.to_arrow_reader(max(1, VALUES_AT_A_TIME // count)):
        values = batch.column("vector").flatten().to_numpy(zero_copy_only=False)
        labels, *places = (
            column.to_numpy(zero_copy_only=False).astype(np.int64) for column in batch.columns[1:]
        )
        yield values.astype(np.float64).reshape(-1, count), labels, np.stack(places)


def _remembered(read: Callable[[], Iterator[Batches]]) -> Callable[[], Iterable[Batches]]:
    """Keep what is read, unless it is too much."""
    kept, values = list[Batches](), 0
    for batch in read():
        kept.append(batch)
        values += batch[0].size
        if values > VALUES_KEPT:
            return read
    return lambda: kept
