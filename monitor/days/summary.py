"""A span of days as tallies by segment, and how spans add up.

Rule 1: a day is a Summary of one day, and a window is the merge of its days.
Rule 2: a day counts once. Merging spans that share a day raises an error.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, time, timedelta
from functools import cached_property
from math import log, nan
from zoneinfo import ZoneInfo

import numpy as np
import numpy.typing as npt

from monitor.base.segment_names import THIRD, WHOLE
from monitor.metrics.beyond_binary.class_counts import ClassCounts, merge_class_counts, pair_name
from monitor.metrics.beyond_binary.class_parts import ClassPart
from monitor.metrics.core.buckets import NO_BUCKETS, BucketCounts, merge_buckets
from monitor.metrics.core.grid import OFFSETS_PER_CELL, Floats, Ints, representative_scores
from monitor.metrics.core.samples import Bools
from monitor.metrics.core.special import expit, logit
from monitor.metrics.core.tally import Tally, merge

NO_SAMPLE = 1.0, 1.0  # the weights of a log that has every row of its population


@dataclass(frozen=True, eq=False)
class Awaited:
    """Predictions without a usable outcome, by cell of the fixed grid.

    Attributes
    ----------
    cells : ndarray of shape (m,)
        Cell numbers, strictly increasing.
    counts : ndarray of shape (m,)
        Number of predictions in each, at least 1.
    """

    cells: Ints
    counts: Ints


def awaited(cells: Ints, counts: Ints) -> Awaited:
    """Add up predictions by cell, given in any order.

    Examples
    --------
    >>> awaited(np.array([7, 5, 7]), np.array([1, 2, 3])).counts
    array([2, 4])
    """
    numbers, group = np.unique(cells, return_inverse=True)
    sums = np.zeros(numbers.size, np.int64)
    np.add.at(sums, group, counts)
    return Awaited(numbers, sums)


NOTHING_AWAITED = Awaited(np.zeros(0, np.int64), np.zeros(0, np.int64))


UNIT, SQUARE = 2**16, 2**8  # in which parts of a row weights are added, and their squares


@dataclass(frozen=True, eq=False)
class Rated:
    """What outcomes stand for whose rows were chosen with known probabilities r.

    Attributes
    ----------
    cells : ndarray of shape (m,)
        Cell numbers, strictly increasing: those of the tally.
    rows, positives : ndarray of shape (m,)
        Sums of 1/r over the rows of a cell, and over those whose outcome was 1; 65536ths of a row.
    row_squares, positive_squares : ndarray of shape (m,)
        The same of 1/r squared; 256ths.
    """

    cells: Ints
    rows: Ints
    positives: Ints
    row_squares: Ints
    positive_squares: Ints


RATED = "rows", "positives", "row_squares", "positive_squares"


def rated(cells: Ints, inverses: Ints, squares: Ints, positive: npt.NDArray[np.bool_]) -> Rated:
    """Add up what rows stand for by cell, given in any order.

    Examples
    --------
    >>> of = rated(np.array([7, 5, 7]), np.array([1, 2, 3]), np.array([1, 4, 9]), np.eye(3)[0] > 0)
    >>> of.cells, of.rows, of.positives
    (array([5, 7]), array([2, 4]), array([0, 1]))
    """
    sums = inverses, inverses * positive, squares, squares * positive
    return _add_rated(cells, sums)


def _add_rated(cells: Ints, sums: Iterable[Ints]) -> Rated:
    numbers, group = np.unique(cells, return_inverse=True)
    added = []
    for values in sums:
        total = np.zeros(numbers.size, np.int64)
        np.add.at(total, group, values)
        added.append(total)
    return Rated(numbers, *added)


@dataclass(frozen=True, eq=False)
class Segment:
    """One part of the traffic.

    Attributes
    ----------
    tally : Tally
        The predictions whose outcome is known, on the grid.
    predicted : int
        All valid predictions, with or without an outcome.
    awaited : Awaited
        The predictions without a known outcome.
    strata : mapping of str to Segment
        On a single day, its parts with separate priors; empty if it is not divided.
    rated : Rated or None
        What its outcomes stand for, if the log says with which probabilities they were chosen.
    acted : int or None
        Predictions that were acted on, whose outcomes do not count; None of a model without such a
        column.
    """

    tally: Tally
    predicted: int
    awaited: Awaited = NOTHING_AWAITED
    strata: Mapping[str, "Segment"] = field(default_factory=dict)
    rated: Rated | None = None
    acted: int | None = None

    @property
    def coverage(self) -> float:
        """Share of the predictions whose outcome is known, a ratio in [0, 1]; nan if none."""
        return self.tally.total / self.predicted if self.predicted else float("nan")

    @property
    def parts(self) -> Mapping[str, "Segment"]:
        """The strata, or the segment itself under the name of the whole."""
        return self.strata or {WHOLE: self}


@dataclass(frozen=True, eq=False)
class CodedRows:
    """The n rows of a day that have an outcome.

    Attributes
    ----------
    cells : ndarray of shape (n,)
        Coarse cell of the score.
    hits : ndarray of shape (n,)
        Whether the outcome is positive.
    codes : ndarray of shape (k, n)
        The value in each of k columns, by number; 0 is any value without a number.
    pairs : ndarray of shape (n,), optional
        Of a model with classes, whose rows have the outcome of one of two classes and its score
        against the other: which two, by number.
    """

    cells: Ints
    hits: Bools
    codes: Ints
    pairs: Ints | None = None

    @property
    def nbytes(self) -> int:
        """The memory that they take, in bytes."""
        return sum(of.nbytes for of in vars(self).values() if of is not None)

    def chosen(self, kept: Bools | Ints) -> "CodedRows":
        """Keep some rows."""
        pairs = None if self.pairs is None else self.pairs[kept]
        return CodedRows(self.cells[kept], self.hits[kept], self.codes[:, kept], pairs)

    def by_pair(self) -> Iterator["CodedRows"]:
        """Divide the rows by their pairs of classes; without classes they are one part."""
        if self.pairs is None:
            yield self
            return
        order = np.argsort(self.pairs, kind="stable")
        first_rows = np.flatnonzero(np.diff(self.pairs[order]))
        for rows in np.split(order, first_rows + 1):
            yield self.chosen(rows)


@dataclass(frozen=True, eq=False)
class ColumnPart:
    """The predictions of a day that have one value of a watched column.

    Attributes
    ----------
    cells : ndarray of shape (m,)
        Numbers of coarse cells, strictly increasing.
    counts, positives : ndarray of shape (m,)
        Predictions whose outcome is known, and those whose outcome was 1.
    predicted : int
        All valid predictions.
    pairs : mapping of (str, ...) to ColumnPart
        Of a model with classes, which has no cells of its own: the pairs of the value, by family
        of pairs, perhaps segment and stratum, and name.
    """

    cells: Ints
    counts: Ints
    positives: Ints
    predicted: int
    pairs: Mapping[tuple[str, ...], "ColumnPart"] = field(default_factory=dict)


Columns = Mapping[str, Mapping[str, ColumnPart]]  # by column and value
Unlisted = tuple[tuple[str | None, int], ...]  # values without a segment, with their rows
Entities = Mapping[tuple[str, str], BucketCounts]  # by segment and stratum


def column_part(counts: Ints, positives: Ints, predicted: int) -> ColumnPart:
    """Keep the cells with rows, of arrays of shape (1024,)."""
    cells = np.flatnonzero(counts)
    return ColumnPart(cells, counts[cells], positives[cells], predicted)


def paired_part(pairs: Mapping[tuple[str, ...], ColumnPart], predicted: int) -> ColumnPart:
    """Make the part of a model with classes."""
    none = np.zeros(0, np.int64)
    return ColumnPart(none, none, none, predicted, pairs)


def named_pairs(names: Sequence[str], counted: ClassPart) -> dict[tuple[str, ...], ColumnPart]:
    """Name the pairs of a part of the traffic by family and classes."""
    families = {WHOLE: counted.pairs, THIRD: counted.third}
    return {
        (family, pair_name(names, pair)): column_part(of.counts, of.positives, int(of.counts.sum()))
        for family, pairs in families.items()
        for pair, of in pairs.items()
    }


@dataclass(frozen=True, eq=False)
class Summary:
    """The counts of one model over a span of days.

    Attributes
    ----------
    model : str
        Name of the model.
    days : tuple of date
        The days covered, in rising order.
    segments : mapping of str to Segment
        Disjoint parts; together they are the whole.
    rejected : mapping of str to int
        Rows left out, by the check that they failed.
    final : bool
        Whether every day is settled: no more outcomes can arrive.
    known_at : datetime
        The moment up to which outcomes were read: a time of the data, not of a run.
    class_weights : tuple of float
        Of a single day whose log is a sample: how many rows of its population a row of outcome 0,
        and one of outcome 1, stands for. The logits of the tallied scores have moved by the
        logarithm of their ratio, so that they are right for the sample if they were right for the
        population. `of_population` leads back.
    left_out : mapping of str to (int, int)
        Of a single day that was just read: by setting the rows that it leaves out, and all rows of
        that log. It is not stored.
    columns : mapping of str to mapping of str to ColumnPart
        Of a single day that was just read: what each watched column counts. It is stored apart.
    entities : mapping of (str, str) to BucketCounts
        Of a model with `entity`: the rows with an outcome by bucket of their entity, of each
        segment and stratum that has any. Those of a day are stored apart.
    classes : ClassCounts or None
        The counts of the vectors, of a model with classes. Then the tally of the whole is that of
        the first choices: their score, and whether they were right.
    unlisted : tuple of (str or None, int)
        Of a single day with segments: the most frequent values that the configuration does not
        list, with their predictions, and None for those without a value.
    """

    model: str
    days: tuple[date, ...]
    segments: Mapping[str, Segment]
    rejected: Mapping[str, int]
    final: bool
    known_at: datetime
    class_weights: tuple[float, float] = NO_SAMPLE
    left_out: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    classes: ClassCounts | None = None
    columns: Columns = field(default_factory=dict)
    entities: Entities = field(default_factory=dict)
    unlisted: Unlisted = ()

    @property
    def acted(self) -> int | None:
        """Predictions that were acted on; None of a model that does not log them."""
        return _sum([part.acted for part in self.segments.values()])

    @property
    def class_names(self) -> tuple[str, ...]:
        """The classes; none of a model with two outcomes."""
        return self.classes.names if self.classes else ()

    @property
    def is_unweighted(self) -> bool:
        """Whether it counts rows as logged, each with a score and one of two outcomes."""
        return not self.classes and self.class_weights == NO_SAMPLE

    @cached_property
    def buckets(self) -> Mapping[str, BucketCounts]:
        """Of each segment with entities, its rows by bucket."""
        held = dict[str, list[BucketCounts]]()
        for (segment, _), of_stratum in self.entities.items():
            held.setdefault(segment, []).append(of_stratum)
        return {segment: merge_buckets(of) for segment, of in held.items()}


def stratified(strata: Mapping[str, Segment]) -> Segment:
    """Merge strata into one segment that keeps them, in their order."""
    if len(strata) == 1:
        return next(iter(strata.values()))
    return replace(_merge_segments(strata.values()), strata=strata)


def all_scores(part: Segment) -> tuple[Floats, Ints]:
    """Give the scores of all predictions, with or without an outcome, and their counts.

    Returns
    -------
    scores, counts : ndarray of shape (m,)
        By cell. A prediction without an outcome gets the middle of its cell, at most 1/1024 in
        logit from its score.

    Examples
    --------
    >>> from monitor.metrics.core.tally import tally_on_grid
    >>> all_scores(Segment(tally_on_grid([1], [0.5]), 2, awaited(np.array([9000]), np.array([1]))))
    (array([0.5       , 0.82907724]), array([1, 1]))
    """
    if part.tally.cells is None:
        msg = "only tallies on the grid have cells; use tally_on_grid."
        raise TypeError(msg)
    late = part.awaited
    cells = part.tally.cells
    numbers, group = np.unique(np.concatenate([cells.numbers, late.cells]), return_inverse=True)
    counts, offsets = np.zeros(numbers.size, np.int64), np.zeros(numbers.size, np.int64)
    np.add.at(counts, group, np.concatenate([part.tally.counts, late.counts]))
    middles = late.counts * (OFFSETS_PER_CELL // 2)
    np.add.at(offsets, group, np.concatenate([cells.offset_sums, middles]))
    return representative_scores(numbers, offsets, counts), counts


def of_population(days: Sequence[Summary], name: str) -> tuple[float, float] | None:
    """Give prevalence and mean score of the population that days of logs are samples of.

    Parameters
    ----------
    days : sequence of Summary
        Single days, with their class weights.
    name : str
        A segment, or the whole.

    Returns
    -------
    tuple of float, or None
        Ratios in [0, 1], nan without an outcome; None if no log is a sample, because then they are
        those of the tally.
    """
    if all(day.class_weights == NO_SAMPLE for day in days):
        return None
    positives = total = scored = 0.0
    for day in days:
        negative, positive = day.class_weights
        for key, part in day.segments.items():
            if name in (WHOLE, key):
                t = part.tally
                rows = positive * t.positives + negative * (t.counts - t.positives)
                scores = expit(logit(t.scores) - log(negative / positive))
                positives += positive * t.total_positives
                total += float(rows.sum())
                scored += float(rows @ scores)
    return (positives / total, scored / total) if total else (nan, nan)


def whole(summary: Summary) -> Segment:
    """Merge the segments of a summary into one."""
    return _merge_segments(summary.segments.values())


def part_of(summary: Summary, name: str) -> Segment | None:
    """Give a segment, or the whole; None if there are no predictions in it."""
    if name != WHOLE:
        return summary.segments.get(name)
    return whole(summary) if summary.segments else None


def merge_summaries(summaries: Iterable[Summary]) -> Summary:
    """Add spans of days of one model, in any order.

    Parameters
    ----------
    summaries : iterable of Summary
        At least one; of one model; sharing no day. A segment may be absent from some.

    Returns
    -------
    Summary
        Final only if every part is; `known_at` is the latest of theirs.

    Raises
    ------
    ValueError
        If there is none, the models differ, or a day would count twice.
    """
    parts = list(summaries)
    models = {part.model for part in parts}
    if len(models) != 1:
        msg = f"one model's summaries can be merged, got those of {sorted(models) or 'none'}."
        raise ValueError(msg)
    days = Counter(day for part in parts for day in part.days)
    twice = sorted(day for day, times in days.items() if times > 1)
    if twice:
        msg = f"{models.pop()}: {twice[0]} would count twice; merge each day once."
        raise ValueError(msg)
    names = dict.fromkeys(name for part in parts for name in part.segments)
    held = dict.fromkeys(key for part in parts for key in part.entities)
    of_classes = [part.classes for part in parts if part.classes]
    return Summary(
        model=models.pop(),
        days=tuple(sorted(days)),
        segments={
            name: _merge_segments(p.segments[name] for p in parts if name in p.segments)
            for name in names
        },
        rejected=dict(sum((Counter(part.rejected) for part in parts), Counter())),
        final=all(part.final for part in parts),
        known_at=max(part.known_at for part in parts),
        classes=merge_class_counts(of_classes) if of_classes else None,
        entities={
            key: merge_buckets(p.entities[key] for p in parts if key in p.entities) for key in held
        },
    )


def buckets_of(summary: Summary, name: str) -> BucketCounts:
    """Give the buckets of a segment, or of the whole; without entities there are none."""
    if name in summary.buckets or name != WHOLE:
        return summary.buckets.get(name, NO_BUCKETS)
    return merge_buckets(summary.buckets.values()) if summary.buckets else NO_BUCKETS


def days_between(first: date, last: date) -> list[date]:
    """List the days from `first` to `last`, both included.

    Examples
    --------
    >>> len(days_between(date(2013, 2, 27), date(2013, 3, 1)))
    3
    """
    return [first + timedelta(days=i) for i in range((last - first).days + 1)]


def end_of_day(day: date, time_zone: str) -> datetime:
    """Find the moment a day ends, in UTC: the next midnight of the time zone.

    Examples
    --------
    >>> end_of_day(date(2013, 3, 1), "America/New_York").isoformat()
    '2013-03-02T05:00:00+00:00'
    """
    midnight = datetime.combine(day + timedelta(days=1), time(), ZoneInfo(time_zone))
    return midnight.astimezone(UTC)


def _merge_segments(segments: Iterable[Segment]) -> Segment:
    parts = list(segments)
    return Segment(
        merge(part.tally for part in parts),
        sum(part.predicted for part in parts),
        awaited(
            np.concatenate([part.awaited.cells for part in parts]),
            np.concatenate([part.awaited.counts for part in parts]),
        ),
        rated=_merge_rated([part for part in parts if part.tally.total]),
        acted=_sum([part.acted for part in parts]),
    )


def _sum(counts: Sequence[int | None]) -> int | None:
    """Add counts; None if there are none, or one is not known."""
    given = [count for count in counts if count is not None]
    return sum(given) if given and len(given) == len(counts) else None


def _merge_rated(parts: Sequence[Segment]) -> Rated | None:
    """Add what outcomes stand for; None if it is not known of all."""
    rated = [part.rated for part in parts if part.rated]
    if not rated or len(rated) < len(parts):
        return None
    cells = np.concatenate([each.cells for each in rated])
    return _add_rated(cells, [np.concatenate([getattr(e, name) for e in rated]) for name in RATED])
