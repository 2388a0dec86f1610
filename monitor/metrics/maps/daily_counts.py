"""What maps are fitted to: predictions and positive outcomes by score and day."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log

import numpy as np

from monitor.metrics.core.coarse import CELLS_IN_ONE
from monitor.metrics.core.grid import CELLS_PER_LOGIT, LOGIT_LIMIT, Floats, Ints
from monitor.metrics.core.tally import Tally
from monitor.metrics.maps.calibration_map import log_odds

MOST_SCORES = 4096  # distinct ones of exact tallies; more are put on the grid of the drift meter
OUTCOMES_PER_SPAN = 30  # of the rarer kind: with fewer, an intercept for each would bend the shape
SPANS_WANTED = 20


@dataclass(frozen=True, eq=False)
class DailyCounts:
    """Weighted counts by group of scores and day.

    Attributes
    ----------
    logits : ndarray of shape (m,)
        Mean log-odds of the scores of each group, strictly increasing, at most 16 from 0.
    counts, positives : ndarray of shape (days, m)
        Predictions with an outcome, and those whose outcome was 1. Floats, because rows of a log
        that is a sample of its population stand for several.
    """

    logits: Floats
    counts: Floats
    positives: Floats

    @property
    def days(self) -> int:
        """Number of days."""
        return int(self.counts.shape[0])

    @property
    def rarer(self) -> float:
        """Number of outcomes of the rarer kind."""
        hits = float(self.positives.sum())
        return min(hits, float(self.counts.sum()) - hits)

    def take(self, days: Ints | Sequence[int]) -> "DailyCounts":
        """Keep some days."""
        return DailyCounts(self.logits, self.counts[days], self.positives[days])


def daily_counts(
    tallies: Sequence[Tally], class_weights: Sequence[tuple[float, float]] = ()
) -> DailyCounts:
    """Bring the tallies of some days together.

    Parameters
    ----------
    tallies : sequence of Tally
        One for each day, with at least one prediction, all on the stored grid or all exact.
    class_weights : sequence of tuple of float
        How many rows of its population a row of outcome 0, and one of outcome 1, stands for, by
        day; the logits of the tallied scores have moved by the logarithm of their ratio. Empty if
        no log is a sample.

    Returns
    -------
    DailyCounts
        Of the population, on the grid of the drift meter if the tallies are or have more than
        4,096 distinct scores; scaled so that the total is the number of rows.

    Examples
    --------
    >>> from monitor.metrics.core.tally import tally
    >>> counts = daily_counts([tally([0, 1], [0.5, 0.8]), tally([1], [0.5])])
    >>> counts.counts
    array([[1., 1.],
           [1., 0.]])
    """
    moves = [log(negative / positive) for negative, positive in class_weights] or [0.0]
    moves = moves if len(moves) == len(tallies) else moves * len(tallies)
    logits = [
        np.clip(log_odds(t.scores) - move, -LOGIT_LIMIT, LOGIT_LIMIT)
        for t, move in zip(tallies, moves, strict=True)
    ]
    groups = _groups(tallies, logits, moved=any(moves))
    distinct, group = np.unique(np.concatenate(groups), return_inverse=True)
    shape = (len(tallies), distinct.size)
    counts, positives, logit_sums = np.zeros(shape), np.zeros(shape), np.zeros(distinct.size)
    start = 0
    for day, (t, x) in enumerate(zip(tallies, logits, strict=True)):
        at = group[start : start + x.size]
        start += x.size
        negative, positive = class_weights[day] if class_weights else (1.0, 1.0)
        np.add.at(positives[day], at, positive * t.positives)
        np.add.at(counts[day], at, positive * t.positives + negative * (t.counts - t.positives))
        np.add.at(logit_sums, at, t.counts * x)
    rows = np.zeros(distinct.size)
    np.add.at(rows, group, np.concatenate([t.counts for t in tallies]))
    scale = rows.sum() / counts.sum()
    return DailyCounts(logit_sums / rows, scale * counts, scale * positives)


def _groups(tallies: Sequence[Tally], logits: Sequence[Floats], *, moved: bool) -> list[Floats]:
    """Give a number that scores of one group share, and that rises with them."""
    if not moved and all(t.cells is not None for t in tallies):
        return [t.cells.numbers // CELLS_IN_ONE for t in tallies if t.cells]  # type: ignore[misc]
    if np.unique(np.concatenate(list(logits))).size <= MOST_SCORES:
        return list(logits)
    step = CELLS_IN_ONE / CELLS_PER_LOGIT
    return [np.floor(x / step) for x in logits]


def counts_of_rows(logits: Floats, outcomes: Floats, days: Ints) -> DailyCounts:
    """Count rows by score and day.

    Parameters
    ----------
    logits, outcomes : ndarray of shape (n,)
        Log-odds of the scores, and 0 or 1.
    days : ndarray of shape (n,)
        Numbers of days, from 0 on.

    Returns
    -------
    DailyCounts
        By distinct score; of more than 4,096 of them, by cell of the grid of the drift meter.

    Examples
    --------
    >>> counts_of_rows(np.array([0.0, 1.0, 0.0]), np.array([0, 1, 1]), np.array([0, 0, 1])).counts
    array([[1., 1.],
           [1., 0.]])
    """
    x = np.clip(logits, -LOGIT_LIMIT, LOGIT_LIMIT)
    distinct, group = np.unique(x, return_inverse=True)
    if distinct.size > MOST_SCORES:
        distinct, group = np.unique(
            np.floor(x * CELLS_PER_LOGIT / CELLS_IN_ONE), return_inverse=True
        )
    shape = (int(days.max()) + 1, distinct.size)
    place = days * distinct.size + group
    counts, positives = (
        np.asarray(np.bincount(place, weights, shape[0] * shape[1]).reshape(shape), np.float64)
        for weights in (np.ones(x.size), outcomes.astype(np.float64))
    )
    return DailyCounts(np.bincount(group, x) / np.bincount(group), counts, positives)


def spans_of(data: DailyCounts) -> Ints:
    """Find the spans of consecutive days that share an intercept.

    Parameters
    ----------
    data : DailyCounts
        Days in their order.

    Returns
    -------
    ndarray of shape (days,)
        Numbers of spans, from 0 on. Each day is a span of its own if it has 30 outcomes of each
        kind. With few outcomes in all, a twentieth of them is enough.

    Examples
    --------
    >>> day = np.full((4, 1), 20.0)
    >>> spans_of(DailyCounts(np.zeros(1), 2.0 * day, day))
    array([0, 1, 2, 3])
    """
    wanted = min(float(OUTCOMES_PER_SPAN), data.rarer / SPANS_WANTED)
    hits = data.positives.sum(axis=1)
    misses = data.counts.sum(axis=1) - hits
    spans, span = np.zeros(data.days, np.int64), 0
    seen = np.zeros(2)
    for day in range(data.days):
        spans[day] = span
        seen += hits[day], misses[day]
        if seen.min() >= wanted:
            span += 1
            seen[:] = 0.0
    if span:
        np.minimum(spans, span - 1, out=spans)  # what is left joins the last one
    return spans


def merge_spans(data: DailyCounts, spans: Ints) -> DailyCounts:
    """Add up the days of each span.

    Examples
    --------
    >>> day = np.ones((4, 1))
    >>> merge_spans(DailyCounts(np.zeros(1), day, 0.0 * day), np.array([0, 0, 0, 1])).counts.T
    array([[3., 1.]])
    """
    starts = np.flatnonzero(np.diff(spans, prepend=-1))
    counts, positives = (np.add.reduceat(a, starts, axis=0) for a in (data.counts, data.positives))
    return DailyCounts(data.logits, counts, positives)
