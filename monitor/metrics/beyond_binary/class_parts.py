"""Pairs of classes by part of the traffic: integers that add, no more than the rows make. Pure.

Parts are segments and strata; each has priors of its own, so its pairs are counted by themselves.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

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
from monitor.metrics.core.coarse import COARSE_COUNT, Coarse
from monitor.metrics.core.grid import Floats, Ints

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
    """

    outcomes: Ints
    pairs: Pairs
    third: Pairs

    @property
    def judged(self) -> int:
        """Rows of the pairs: those that a verdict rests on."""
        return sum(int(pair.counts.sum()) for pair in self.pairs.values())


def count_parts(
    batches: Iterable[PlacedBatch],
    classes: int,
    parts: int,
    log_offsets: Floats | None = None,
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
    return parts_of_sums([sum_parts(batches, classes, parts, log_offsets)])


def sum_parts(
    batches: Iterable[PlacedBatch],
    classes: int,
    parts: int,
    log_offsets: Floats | None = None,
) -> "PartSums":
    """Sum all pairs of a share of the rows up, of which `parts_of_sums` keeps the most frequent.

    Parameters
    ----------
    batches, classes, parts, log_offsets
        As for `count_parts`.

    Examples
    --------
    >>> rows = np.array([[0.7, 0.2, 0.1]]), np.array([0]), np.array([1])
    >>> sum_parts([rows], 3, 2).outcomes.tolist()
    [[0, 0, 0], [1, 0, 0]]
    """
    families = {rank: _Family(classes) for rank in ranks(classes)}
    outcomes = np.zeros((parts, classes), np.int64)
    for vectors, labels, part_of_row in batches:
        np.add.at(outcomes, (part_of_row, labels), 1)
        ranked, moved = rank_classes(vectors), sampled_vectors(vectors, log_offsets)
        for rank, family in families.items():
            family.add(moved, labels, part_of_row, *with_first(ranked, rank))
    return PartSums(outcomes, families)


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
    by_rank = {rank: family.by_place() for rank, family in first.families.items()}
    return [
        ClassPart(of, *(by_rank.get(rank, {}).get(place, {}) for rank in (SECOND, THIRD)))
        for place, of in enumerate(np.sum([share.outcomes for share in shares], axis=0))
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
    )


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
        codes, cells = np.divmod(self.cells.keys, COARSE_COUNT)
        by_part = dict[int, dict[tuple[int, int], Coarse]]()
        for code in np.intersect1d(self.rows.keys[most], codes).tolist():
            first, last = np.searchsorted(codes, [code, code + 1])
            counts = np.zeros((2, COARSE_COUNT), np.int64)
            counts[:, cells[first:last]] = self.cells.values[:, first:last]
            place, pair = divmod(code, self.classes**2)
            by_part.setdefault(place, {})[divmod(pair, self.classes)] = Coarse(*counts)
        return by_part


@dataclass(frozen=True, eq=False)
class PartSums:
    """The sums of a share of the rows: outcomes of shape (p, c), and all pairs by rank."""

    outcomes: Ints
    families: Mapping[int, _Family]
