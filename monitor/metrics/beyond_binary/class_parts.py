"""Pairs of classes by part of the traffic: integers that add, no more than the rows make. Pure.

Parts are segments and strata; each has priors of its own, so its pairs are counted by themselves.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from monitor.metrics.beyond_binary.class_pairs import (
    SECOND,
    THIRD,
    Pairs,
    rank_classes,
    ranks,
    rows_of_pairs,
    sampled_vectors,
    sum_of_pairs,
    with_first,
)
from monitor.metrics.core.coarse import CELLS_IN_ONE, COARSE_COUNT, Coarse, sum_of
from monitor.metrics.core.grid import Floats, Ints, locate

MOST_OF_PARTS = 2_000  # pairs of all parts whose tallies are kept, those of most rows
PlacedBatch = tuple[Floats, Ints, Ints]  # vectors, the classes that came true, and the parts


@dataclass(frozen=True, eq=False)
class ClassPart:
    """What is counted of the vectors in one part.

    Attributes
    ----------
    outcomes : ndarray of shape (c,)
        Rows by the class that came true.
    pairs, third : mapping of (int, int) to Coarse
        As in `monitor.metrics.beyond_binary.class_counts.ClassCounts`; those with rows.
    by_class : mapping of int to Coarse
        Each watched class against the rest, if the part has rows.
    """

    outcomes: Ints
    pairs: Pairs
    third: Pairs
    by_class: Mapping[int, Coarse] = field(default_factory=dict)

    @property
    def judged(self) -> int:
        """Rows of the pairs: those that a verdict rests on."""
        return sum(int(pair.counts.sum()) for pair in self.pairs.values())


def count_parts(
    batches: Iterable[PlacedBatch],
    classes: int,
    parts: int,
    log_offsets: Floats | None = None,
    watched: Sequence[int] = (),
) -> list[ClassPart]:
    """Count the pairs of every part.

    Parameters
    ----------
    batches : iterable of (ndarray of shape (n, c), ndarray of shape (n,), ndarray of shape (n,))
        Vectors, the classes that came true, and the number of the part of each row.
    classes, parts : int
        Their numbers, c and p.
    log_offsets : ndarray of shape (c,), optional
        As for `monitor.metrics.beyond_binary.class_counts.count_classes`.
    watched : sequence of int
        The classes that are counted against the rest.

    Returns
    -------
    list of ClassPart
        Of each part; the same for the same rows in any order and in batches of any size. Of all
        parts together the 2,000 pairs with most rows are kept; which they are rests on the scores
        alone.

    Examples
    --------
    >>> rows = np.array([[0.7, 0.2, 0.1], [0.3, 0.6, 0.1]]), np.array([0, 0]), np.array([1, 1])
    >>> empty, counted = count_parts([rows], 3, 2)
    >>> empty.judged, counted.judged, counted.outcomes
    (0, 2, array([2, 0, 0]))
    """
    return parts_of_sums([sum_parts(batches, classes, parts, log_offsets, watched)])


def sum_parts(
    batches: Iterable[PlacedBatch],
    classes: int,
    parts: int,
    log_offsets: Floats | None = None,
    watched: Sequence[int] = (),
) -> "PartSums":
    """Sum all pairs of a share of the rows up, of which `parts_of_sums` keeps the most frequent.

    Parameters
    ----------
    batches, classes, parts, log_offsets, watched
        As for `count_parts`.

    Examples
    --------
    >>> rows = np.array([[0.7, 0.2, 0.1]]), np.array([0]), np.array([1])
    >>> sum_parts([rows], 3, 2).outcomes.tolist()
    [[0, 0, 0], [1, 0, 0]]
    """
    families, rest = {rank: _Family(classes) for rank in ranks(classes)}, _Sums(2)
    outcomes = np.zeros((parts, classes), np.int64)
    for vectors, labels, part_of_row in batches:
        np.add.at(outcomes, (part_of_row, labels), 1)
        ranked, moved = rank_classes(vectors), sampled_vectors(vectors, log_offsets)
        for rank, family in families.items():
            family.add(moved, labels, part_of_row, *with_first(ranked, rank))
        for k in watched:
            cells, hits = locate(moved[:, k])[0] // CELLS_IN_ONE, (labels == k).astype(np.int64)
            keys = (part_of_row * classes + k) * COARSE_COUNT + cells
            rest.add(keys, np.stack([np.ones_like(hits), hits]))
    return PartSums(outcomes, families, rest)


def parts_of_sums(shares: Sequence["PartSums"]) -> list[ClassPart]:
    """Give what `count_parts` gives, from sums over shares of the rows; at least one.

    Examples
    --------
    >>> rows = np.array([[0.7, 0.2, 0.1]]), np.array([0]), np.array([0])
    >>> (part,) = parts_of_sums([sum_parts([rows], 3, 1), sum_parts([rows], 3, 1)])
    >>> part.judged
    2
    """
    first, *others = shares
    for other in others:
        for rank, family in first.families.items():
            family.merge(other.families[rank])
        first.rest.add(other.rest.keys, other.rest.values)
    by_rank = {rank: family.by_place() for rank, family in first.families.items()}
    outcomes = np.sum([share.outcomes for share in shares], axis=0)
    by_class = dict[int, dict[int, Coarse]]()
    for code, counted in _coarse_of(first.rest):
        place, k = divmod(code, outcomes.shape[1])
        by_class.setdefault(place, {})[k] = counted
    pairs, third = by_rank[SECOND], by_rank.get(THIRD, {})
    return [
        ClassPart(of, pairs.get(place, {}), third.get(place, {}), by_class.get(place, {}))
        for place, of in enumerate(outcomes)
    ]


def sum_of_parts(parts: Sequence[ClassPart]) -> ClassPart:
    """Add counts of a part up; at least one.

    Examples
    --------
    >>> rows = np.array([[0.7, 0.2, 0.1]]), np.array([0]), np.array([0])
    >>> (part,) = count_parts([rows], 3, 1)
    >>> sum_of_parts([part, part]).judged
    2
    """
    return ClassPart(
        np.sum([part.outcomes for part in parts], axis=0),
        sum_of_pairs([part.pairs for part in parts]),
        sum_of_pairs([part.third for part in parts]),
        sum_of_classes(parts),
    )


def sum_of_classes(parts: Sequence[ClassPart]) -> dict[int, Coarse]:
    """Add up the classes against the rest that all parts with rows count.

    Examples
    --------
    >>> rows = np.array([[0.7, 0.3]]), np.array([0]), np.array([0])
    >>> (part,) = count_parts([rows], 2, 1, watched=[0])
    >>> int(sum_of_classes([part, part])[0].positives.sum())
    2
    """
    counted = [part.by_class for part in parts if part.outcomes.any()]
    alike = [k for k in counted[0] if all(k in of for of in counted)] if counted else []
    return {k: sum_of([of[k] for of in counted]) for k in alike}


class _Sums:
    """Sums by key, of the keys that occur."""

    def __init__(self, columns: int) -> None:
        self.keys, self.values = np.zeros(0, np.int64), np.zeros((columns, 0), np.int64)

    def add(self, keys: Ints, values: Ints) -> None:
        """Add values of shape (columns, n) to those of their keys."""
        together = np.concatenate([self.values, values], axis=1)
        self.keys, place = np.unique(np.concatenate([self.keys, keys]), return_inverse=True)
        self.values = np.zeros((len(together), self.keys.size), np.int64)
        for sums, column in zip(self.values, together, strict=True):
            np.add.at(sums, place, column)


class _Family:
    """The pairs of the highest score and that of one rank."""

    def __init__(self, classes: int) -> None:
        self.classes, self.rows, self.cells = classes, _Sums(1), _Sums(2)

    def add(self, vectors: Floats, labels: Ints, part_of_row: Ints, low: Ints, high: Ints) -> None:
        code = (part_of_row * self.classes + low) * self.classes + high
        self.rows.add(code, np.ones((1, len(code)), np.int64))
        kept, cells = rows_of_pairs(vectors, labels, low, high)
        hits = (labels == low)[kept].astype(np.int64)
        self.cells.add(code[kept] * COARSE_COUNT + cells, np.stack([np.ones_like(hits), hits]))

    def merge(self, other: "_Family") -> None:
        """Add what another one has summed up."""
        self.rows.add(other.rows.keys, other.rows.values)
        self.cells.add(other.cells.keys, other.cells.values)

    def by_place(self) -> dict[int, dict[tuple[int, int], Coarse]]:
        """Give the pairs of each part that are kept."""
        most = np.argsort(-self.rows.values[0], kind="stable")[:MOST_OF_PARTS]
        kept, by_part = {*self.rows.keys[most].tolist()}, dict[int, dict[tuple[int, int], Coarse]]()
        for code, counted in _coarse_of(self.cells):
            if code in kept:
                place, pair = divmod(code, self.classes**2)
                by_part.setdefault(place, {})[divmod(pair, self.classes)] = counted
        return by_part


def _coarse_of(sums: _Sums) -> Iterator[tuple[int, Coarse]]:
    """Give the cells of each code, of sums of rows and positives by code and cell."""
    codes, cells = np.divmod(sums.keys, COARSE_COUNT)
    for code in np.unique(codes).tolist():
        first, last = np.searchsorted(codes, [code, code + 1])
        counts = np.zeros((2, COARSE_COUNT), np.int64)
        counts[:, cells[first:last]] = sums.values[:, first:last]
        yield code, Coarse(*counts)


@dataclass(frozen=True, eq=False)
class PartSums:
    """The sums of a share of the rows: outcomes of shape (p, c), and all pairs by rank.

    `rest` are the classes against the rest.
    """

    outcomes: Ints
    families: Mapping[int, _Family]
    rest: _Sums
