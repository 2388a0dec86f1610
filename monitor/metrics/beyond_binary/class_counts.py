"""The counts of vectors of class probabilities: integers that add, bounded by the classes.

Rule 1: every number is an integer, so neither the order of rows nor the size of a batch matters.
Rule 2: nothing grows with the rows. Each class that is watched has a tally against the rest, each
pair of classes a tally on the coarse grid; the vector scores are sums over all classes.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import chain

import numpy as np

from monitor.base.segment_names import AGAINST, WHOLE
from monitor.metrics.beyond_binary.class_pairs import (
    SECOND,
    THIRD,
    Pairs,
    adjusted_vectors,
    rank_classes,
    ranks,
    rows_of_pairs,
    sampled_vectors,
    sum_of_pairs,
    with_first,
)
from monitor.metrics.beyond_binary.class_parts import ClassPart, PlacedBatch, sum_of_parts
from monitor.metrics.core.coarse import COARSE_COUNT, Coarse
from monitor.metrics.core.grid import CELL_COUNT, Floats, Ints, locate
from monitor.metrics.core.tally import Cells, Tally, from_cells, merge

MOST_WATCHED = 20  # classes of a window that are measured one by one unless more are configured
MOST_TALLIED = 50  # classes of a day: those most frequent over a week are among them every day
MOST_PAIRS = 500  # pairs of classes whose tallies are kept, those of most rows
UNIT = 2.0**32  # of a fixed-point number
LEAST_SCORE = 1e-16  # in the log score, which would be infinite for a class of probability 0
Batch = tuple[Floats, Ints]  # vectors of shape (n, c), and the classes that came true


@dataclass(frozen=True)
class Sums:
    """A sum of numbers and that of their squares, fixed-point in units of 2**-32."""

    total: int
    squares: int


@dataclass(frozen=True, eq=False)
class Reading:
    """The counts of one version of the scores: as logged, or adjusted for the class priors.

    Attributes
    ----------
    top : Tally
        The score of the first choice, and whether it was right.
    by_class : mapping of int to Tally
        Each watched class against the rest.
    brier, log : Sums or None
        Of the vector: ``sum_k (p_k - y_k)**2``, and ``-log p_y``; None where the log does not say.
    """

    top: Tally
    by_class: Mapping[int, Tally]
    brier: Sums | None
    log: Sums | None


@dataclass(frozen=True, eq=False)
class ClassCounts:
    """What a span of days says of vectors of probabilities whose outcome is known.

    Attributes
    ----------
    names : tuple of str
        The classes, in the order of the vectors.
    outcomes : ndarray of shape (c,)
        Rows by the class that came true.
    score_sums : ndarray of shape (c,)
        Sums of the probabilities, fixed-point.
    raw, adjusted : Reading
        The scores as logged, and with each day's class weights, which make the mean of every class
        equal to its share of the outcomes. Of a log with the highest scores only, `score_sums` are
        0, the classes of `raw` have the score 0 where theirs was not logged, and `adjusted` is
        None.
    pairs : mapping of (int, int) to Coarse
        Of the rows whose two highest scores are those of classes a < b, and whose outcome is one of
        them: ``p_a / (p_a + p_b)``, positive where the outcome is a.
    third : mapping of (int, int) to Coarse
        The same of the classes of the highest and of the third highest score; empty of two classes.
    parts : mapping of (str, str) to ClassPart
        The same by segment and stratum, of a model that has any, also those without rows; then
        `pairs` and `third` are their sums.
    weights : tuple of float
        Of a log that is a sample by class, how many rows of the population a row of each class
        stands for; empty of other logs, and of days that differ in it.
    among, promised : int
        Rows whose outcome is one of the two classes with the highest scores, and the sum of these
        two scores, fixed-point; 0 in files of versions that did not count them.
    """

    names: tuple[str, ...]
    outcomes: Ints
    score_sums: Ints
    raw: Reading
    adjusted: Reading | None
    pairs: Pairs
    third: Pairs = field(default_factory=dict)
    parts: Mapping[tuple[str, str], ClassPart] = field(default_factory=dict)
    weights: tuple[float, ...] = ()
    among: int = 0
    promised: int = 0

    @property
    def total(self) -> int:
        """Rows with an outcome."""
        return int(self.outcomes.sum())

    @property
    def judged(self) -> int:
        """Rows of the pairs: those that a verdict rests on."""
        return sum(int(pair.counts.sum()) for pair in self.pairs.values())

    def pairs_of(self, segment: str) -> list[Pairs]:
        """List the pairs of each part of a segment, or of the whole."""
        if segment == WHOLE and not self.parts:
            return [self.pairs]
        return [part.pairs for key, part in self.parts.items() if segment in (WHOLE, key[0])]


@dataclass(frozen=True, eq=False)
class Ranks:
    """What is chosen from.

    Attributes
    ----------
    outcomes : ndarray of shape (c,)
        Rows by the class that came true.
    together : mapping of int to ndarray of shape (c * c,)
        By rank, the rows whose highest score and the one of that rank are those of each pair.
    """

    outcomes: Ints
    together: Mapping[int, Ints]


def pair_name(names: Sequence[str], pair: tuple[int, int]) -> str:
    """Name a pair for people.

    Examples
    --------
    >>> pair_name(["cat", "dog"], (0, 1))
    'cat against dog'
    """
    return AGAINST.join(names[k] for k in pair)


def count_classes(
    names: Sequence[str],
    batches: Iterable[Batch],
    log_weights: Floats | None,
    *,
    watched: Sequence[int],
    pairs: Sequence[tuple[int, int]],
    third: Sequence[tuple[int, int]] = (),
    log_offsets: Floats | None = None,
) -> ClassCounts:
    """Count vectors of class probabilities.

    Parameters
    ----------
    names : sequence of str
        The c classes.
    batches : iterable of (ndarray of shape (n, c), ndarray of shape (n,))
        Vectors that add up to 1, and the classes that came true.
    log_weights : ndarray of shape (c,), or None
        Of the adjusted reading; see `monitor.metrics.beyond_binary.class_priors.fit_class_weights`.
        None of a log with the highest scores only, which has no such reading.
    watched : sequence of int
        The classes that get a tally of their own.
    pairs, third : sequence of (int, int)
        The pairs that get one, each with the lower class first: of the two highest scores, and of
        the highest and the third highest.
    log_offsets : ndarray of shape (c,), optional
        Of a log that is a sample by class: natural logarithms of the rates at which the rows of
        each class were kept, by which the log-odds of its vectors are moved.

    Returns
    -------
    ClassCounts
        The same for the same rows in any order and in batches of any size.

    Examples
    --------
    >>> rows = np.array([[0.7, 0.2, 0.1], [0.3, 0.6, 0.1]]), np.array([0, 0])
    >>> counts = count_classes("abc", [rows], np.zeros(3), watched=[0], pairs=[(0, 1)])
    >>> counts.raw.top.total_positives, counts.judged, counts.outcomes
    (1, 2, array([2, 0, 0]))
    """
    empty = _nothing(tuple(names), watched, pairs, third)
    empty = empty if log_weights is not None else replace(empty, adjusted=None)
    return reduce(
        lambda sums, batch: merge_class_counts(
            [sums, _of_batch(empty, batch, log_weights, log_offsets)]
        ),
        chain.from_iterable(map(_small, batches)),
        empty,
    )


def merge_class_counts(parts: Sequence[ClassCounts]) -> ClassCounts:
    """Add counts up. A class that not all of them watch is left out: its tally would lack days.

    Raises
    ------
    ValueError
        If they are of different classes.

    Examples
    --------
    >>> rows = np.array([[0.7, 0.3]]), np.array([0])
    >>> day = count_classes("ab", [rows], np.zeros(2), watched=[0], pairs=[(0, 1)])
    >>> merge_class_counts([day, day]).total
    2
    """
    first = parts[0]
    if any(part.names != first.names for part in parts):
        msg = "the classes differ between days; run the days before the change again."
        raise ValueError(msg)
    held = dict.fromkeys(key for part in parts for key in part.parts)
    adjusted = [part.adjusted for part in parts if part.adjusted]
    return ClassCounts(
        names=first.names,
        outcomes=np.sum([part.outcomes for part in parts], axis=0),
        score_sums=np.sum([part.score_sums for part in parts], axis=0),
        raw=_merged([part.raw for part in parts]),
        adjusted=_merged(adjusted) if len(adjusted) == len(parts) else None,
        pairs=sum_of_pairs([part.pairs for part in parts]),
        third=sum_of_pairs([part.third for part in parts]),
        parts={key: sum_of_parts([p.parts[key] for p in parts if key in p.parts]) for key in held},
        weights=first.weights if all(part.weights == first.weights for part in parts) else (),
        among=sum(part.among for part in parts),
        promised=sum(part.promised for part in parts),
    )


def with_parts(counts: ClassCounts, parts: Mapping[tuple[str, str], ClassPart]) -> ClassCounts:
    """Add the counts of the parts of the traffic; the pairs of the whole are their sums.

    Examples
    --------
    >>> rows = np.array([[0.7, 0.3]]), np.array([0])
    >>> counts = count_classes("ab", [rows], np.zeros(2), watched=[], pairs=[])
    >>> pairs = {(0, 1): Coarse(np.array([3, 0]), np.array([1, 0]))}
    >>> with_parts(counts, {("DE", "all"): ClassPart(counts.outcomes, pairs, {})}).judged
    3
    """
    return replace(
        counts,
        pairs=sum_of_pairs([part.pairs for part in parts.values()]),
        third=sum_of_pairs([part.third for part in parts.values()]),
        parts=parts,
    )


def only_highest(counts: ClassCounts, scores: tuple[Sums, Sums] | None) -> ClassCounts:
    """Forget what is not known of vectors whose lower scores were not logged.

    Parameters
    ----------
    counts : ClassCounts
        Of vectors with 0 in the place of these scores.
    scores : tuple of (Sums, Sums), or None
        From `vector_scores` of whole vectors; None if the log says nothing of them.

    Examples
    --------
    >>> rows = np.array([[0.5, 0.3, 0.0]]), np.array([0])
    >>> counts = count_classes("abc", [rows], None, watched=[0], pairs=[(0, 1)])
    >>> known = only_highest(counts, None)
    >>> known.judged, [*known.raw.by_class], known.adjusted
    (1, [0], None)
    """
    brier, log = scores or (None, None)
    return replace(
        counts,
        score_sums=np.zeros_like(counts.score_sums),
        raw=replace(counts.raw, brier=brier, log=log),
    )


def vector_scores(true: Floats, squares: Floats) -> tuple[Sums, Sums]:
    """Sum the Brier scores of vectors up, and their log scores.

    Parameters
    ----------
    true, squares : ndarray of shape (n,)
        The probability of the class that came true, and the sum of all squared probabilities.

    Examples
    --------
    >>> brier, log = vector_scores(np.array([1.0]), np.array([1.0]))
    >>> brier.total, log.total
    (0, 0)
    """
    return _fixed(squares - 2.0 * true + 1.0), _fixed(-np.log(np.maximum(true, LEAST_SCORE)))


def choose_classes(
    batches: Iterable[Batch], classes: int, watch: Sequence[int] = ()
) -> tuple[list[int], list[tuple[int, int]], list[tuple[int, int]]]:
    """Choose the classes and the pairs that get a tally.

    Parameters
    ----------
    batches : iterable
        As for `count_classes`.
    classes : int
        Their number, c.
    watch : sequence of int
        The classes that are configured; otherwise those with most outcomes.

    Returns
    -------
    list of int, list of (int, int), list of (int, int)
        Classes, pairs of the two highest scores with most rows, and those of the highest and the
        third highest; all in rising order. The choice of pairs depends on the scores only, so it
        favours no outcome.

    Examples
    --------
    >>> rows = np.array([[0.7, 0.2, 0.1], [0.3, 0.6, 0.1]]), np.array([0, 0])
    >>> choose_classes([rows], 3)
    ([0, 1, 2], [(0, 1)], [(0, 2), (1, 2)])
    """
    return most_frequent([count_ranks(batches, classes)], classes, watch)


def count_ranks(batches: Iterable[Batch], classes: int) -> Ranks:
    """Count how often classes come true, and how often two are ranked highest.

    Parameters
    ----------
    batches, classes
        As for `choose_classes`.

    Examples
    --------
    >>> rows = np.array([[0.7, 0.2, 0.1], [0.3, 0.6, 0.1]]), np.array([0, 0])
    >>> count_ranks([rows], 3).outcomes
    array([2, 0, 0])
    """
    seen = np.zeros(classes, np.int64)
    together = {rank: np.zeros(classes * classes, np.int64) for rank in ranks(classes)}
    for vectors, labels in chain.from_iterable(map(_small, batches)):
        seen += np.bincount(labels, minlength=classes)
        ranked = rank_classes(vectors)
        for rank, rows in together.items():
            low, high = with_first(ranked, rank)
            numbers, counts = np.unique(low * classes + high, return_counts=True)
            rows[numbers] += counts
    return Ranks(seen, together)


def most_frequent(
    shares: Sequence[Ranks], classes: int, watch: Sequence[int] = ()
) -> tuple[list[int], list[tuple[int, int]], list[tuple[int, int]]]:
    """Choose the classes and the pairs that get a tally, by what was counted of shares of the rows.

    Parameters
    ----------
    shares : sequence of Ranks
        At least one.
    classes, watch
        As for `choose_classes`, whose result this is.

    Examples
    --------
    >>> rows = np.array([[0.7, 0.2, 0.1]]), np.array([0])
    >>> most_frequent([count_ranks([rows], 3), count_ranks([], 3)], 3)
    ([0, 1, 2], [(0, 1)], [(0, 2)])
    """
    seen = np.sum([share.outcomes for share in shares], axis=0)
    together = {
        rank: np.sum([share.together[rank] for share in shares], axis=0) for rank in ranks(classes)
    }
    chosen = sorted(np.argsort(-seen, kind="stable")[:MOST_TALLIED].tolist())
    pairs = {rank: _most_frequent(rows, classes) for rank, rows in together.items()}
    return list(watch) or chosen, pairs[SECOND], pairs.get(THIRD, [])


def first_choices(batches: Iterable[PlacedBatch], parts: int) -> list[Tally]:
    """Tally the score of the first choice, and whether it was right, in each part of the traffic.

    Parameters
    ----------
    batches : iterable of (ndarray of shape (n, c), ndarray of shape (n,), ndarray of shape (n,))
        Vectors, the classes that came true, and the number of the part of each row.
    parts : int
        Their number.

    Examples
    --------
    >>> rows = np.array([[0.7, 0.3], [0.4, 0.6]]), np.array([0, 0]), np.array([1, 1])
    >>> [(t.total, t.total_positives) for t in first_choices([rows], 2)]
    [(0, 0), (2, 1)]
    """
    none = np.zeros(0, np.int64)
    by_part = [[from_cells(Cells(none, none), none, none)] for _ in range(parts)]
    for vectors, labels, part_of_row in batches:
        first = vectors.argmax(axis=1)
        scores = vectors[np.arange(len(labels)), first]
        for place in np.unique(part_of_row).tolist():
            mine = part_of_row == place
            by_part[place].append(_tally(scores[mine], (first == labels)[mine]))
    return [merge(of_part) for of_part in by_part]


def score_sums(vectors: Floats) -> Ints:
    """Sum the probabilities of each class, fixed-point.

    Examples
    --------
    >>> score_sums(np.array([[0.5, 0.5], [0.25, 0.75]])) / UNIT
    array([0.75, 1.25])
    """
    return np.asarray(np.rint(vectors * UNIT).astype(np.int64).sum(axis=0))


def _of_batch(
    empty: ClassCounts, batch: Batch, log_weights: Floats | None, log_offsets: Floats | None
) -> ClassCounts:
    vectors, labels = batch
    # Pairs are chosen by the scores of the model, as in the population.
    watched, ranked = list(empty.raw.by_class), rank_classes(vectors)
    vectors, rows = sampled_vectors(vectors, log_offsets), np.arange(len(labels))
    return replace(
        empty,
        among=sum(int((labels == classes).sum()) for classes in ranked[:SECOND]),
        promised=sum(int(score_sums(vectors[rows, classes])) for classes in ranked[:SECOND]),
        outcomes=np.bincount(labels, minlength=len(empty.names)),
        score_sums=score_sums(vectors),
        raw=_reading(vectors, labels, watched),
        adjusted=None
        if log_weights is None
        else _reading(adjusted_vectors(vectors, log_weights), labels, watched),
        pairs=_pairs(vectors, labels, ranked, SECOND, list(empty.pairs)),
        third=_pairs(vectors, labels, ranked, THIRD, list(empty.third)) if empty.third else {},
    )


def _nothing(
    names: tuple[str, ...],
    watched: Sequence[int],
    pairs: Sequence[tuple[int, int]],
    third: Sequence[tuple[int, int]],
) -> ClassCounts:
    none = np.zeros(0, np.int64)
    blank, nothing = from_cells(Cells(none, none), none, none), Sums(0, 0)
    reading = Reading(blank, dict.fromkeys(watched, blank), nothing, nothing)
    zeros, cells = np.zeros(len(names), np.int64), np.zeros(COARSE_COUNT, np.int64)
    alike, others = (dict.fromkeys(of, Coarse(cells, cells)) for of in (pairs, third))
    return ClassCounts(names, zeros, zeros, reading, reading, alike, others)


def _small(batch: Batch) -> Iterator[Batch]:
    """Divide a batch so that what it takes does not depend on its rows."""
    vectors, labels = batch
    rows = max(1, 2**20 // max(1, vectors.shape[1]))
    for start in range(0, len(labels), rows):
        yield vectors[start : start + rows], labels[start : start + rows]


def _merged(parts: Sequence[Reading]) -> Reading:
    watched = [k for k in parts[0].by_class if all(k in part.by_class for part in parts)]
    return Reading(
        top=merge(part.top for part in parts),
        by_class={k: merge(part.by_class[k] for part in parts) for k in watched},
        brier=_sum([part.brier for part in parts]),
        log=_sum([part.log for part in parts]),
    )


def _sum(parts: Sequence[Sums | None]) -> Sums | None:
    counted = [part for part in parts if part]
    if len(counted) < len(parts):
        return None
    return Sums(sum(part.total for part in counted), sum(part.squares for part in counted))


def _reading(vectors: Floats, labels: Ints, watched: Sequence[int]) -> Reading:
    true = vectors[np.arange(len(labels)), labels]
    first = vectors.argmax(axis=1)
    brier, log = vector_scores(true, (vectors**2).sum(axis=1))
    return Reading(
        top=_tally(vectors[np.arange(len(labels)), first], first == labels),
        by_class={k: _tally(vectors[:, k], labels == k) for k in watched},
        brier=brier,
        log=log,
    )


def _fixed(values: Floats) -> Sums:
    total, squares = (np.rint(v * UNIT).astype(np.int64) for v in (values, values**2))
    return Sums(int(total.sum()), int(squares.sum()))


def _tally(scores: Floats, right: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Tally:
    cells, offsets = locate(scores)
    counts = np.bincount(cells, minlength=CELL_COUNT)
    sums = np.bincount(cells, weights=offsets, minlength=CELL_COUNT)  # below 2**53: exact
    hits = np.bincount(cells[right], minlength=CELL_COUNT)
    seen = np.nonzero(counts)[0]
    return from_cells(Cells(seen, sums[seen].astype(np.int64)), counts[seen], hits[seen])


def _most_frequent(together: Ints, classes: int) -> list[tuple[int, int]]:
    ranked = np.argsort(-together, kind="stable")[:MOST_PAIRS]
    return sorted(divmod(int(place), classes) for place in ranked if together[place])


def _pairs(
    vectors: Floats,
    labels: Ints,
    ranked: Sequence[Ints],
    rank: int,
    pairs: Sequence[tuple[int, int]],
) -> dict[tuple[int, int], Coarse]:
    classes = vectors.shape[1]
    low, high = with_first(ranked, rank)
    kept, cells = rows_of_pairs(vectors, labels, low, high)
    labels, low, high = labels[kept], low[kept], high[kept]
    codes = np.array([a * classes + b for a, b in pairs], np.int64)
    code = low * classes + high
    place = np.minimum(np.searchsorted(codes, code), max(0, len(codes) - 1))
    is_known = codes[place] == code if len(codes) else np.zeros(len(code), np.bool_)
    size = len(pairs) * COARSE_COUNT
    keys = place[is_known] * COARSE_COUNT + cells[is_known]
    hits = keys[labels[is_known] == low[is_known]]
    counts, positives = (
        np.bincount(k, minlength=size).reshape(-1, COARSE_COUNT) for k in (keys, hits)
    )
    return {pair: Coarse(counts[i], positives[i]) for i, pair in enumerate(pairs)}
