"""The noun that carries the system: for each score, how many predictions and how many came true.

Every measure is a function of a tally. Tallies are integers that add, so a day, a week, a
segment, a shard and a reference period are the same kind of thing, the order of rows
never matters, and equal scores are never split.

Rule 1: the code that makes a tally from raw samples checks them (`samples.checked`); everything
downstream trusts a Tally.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from monitor.base.short_text import shown_shortly
from monitor.metrics.core.grid import CELL_COUNT, Floats, Ints, locate, representative_scores
from monitor.metrics.core.samples import checked
from monitor.metrics.core.sorted_rows import count_groups, sort_rows
from monitor.metrics.core.special import expit, logit


@shown_shortly
@dataclass(frozen=True, eq=False)
class Cells:
    """Where the groups of a tally sit on the fixed grid.

    Attributes
    ----------
    numbers : ndarray of shape (m,)
        Cell numbers, strictly increasing.
    offset_sums : ndarray of shape (m,)
        Sums of the members' offsets inside their cell.
    """

    numbers: Ints
    offset_sums: Ints


@shown_shortly
@dataclass(frozen=True, eq=False)
class Tally:
    """Counts of predictions and of positive outcomes by score.

    Attributes
    ----------
    scores : ndarray of shape (m,)
        Scores in [0, 1], strictly increasing; in [TCE] the model predictions.
    counts : ndarray of shape (m,)
        Number of predictions with that score, at least 1.
    positives : ndarray of shape (m,)
        Number of them whose outcome was 1, at most the count.
    cells : Cells or None
        The grid cells behind the groups, or None for an exact tally, whose every distinct
        score is a group of its own.
    """

    scores: Floats
    counts: Ints
    positives: Ints
    cells: Cells | None = None

    @cached_property
    def total(self) -> int:
        """Number of predictions N."""
        return int(self.counts.sum())

    @cached_property
    def total_positives(self) -> int:
        """Number of positive outcomes K."""
        return int(self.positives.sum())

    @property
    def prevalence(self) -> float:
        """Share of positive outcomes K/N, a ratio in [0, 1]; nan for an empty tally."""
        return self.total_positives / self.total if self.total else float("nan")

    @property
    def mean_score(self) -> float:
        """Mean predicted probability, a ratio in [0, 1]; nan for an empty tally."""
        # No @ here: BLAS splits long vectors among threads, and their number moves the last digit.
        total_score = float((self.counts * self.scores).sum())
        return total_score / self.total if self.total else float("nan")


def tally(y_true: npt.ArrayLike, y_prob: npt.ArrayLike) -> Tally:
    """Count predictions and positive outcomes at every distinct score.

    For analysis, not used by the daily job.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        What happened, 0 or 1 (booleans too), in any order.
    y_prob : array-like of shape (n,)
        Scores: predicted probabilities in [0, 1], in the same order.

    Returns
    -------
    Tally
        Exact: one group for each distinct score. Case weights have no place here: a binomial
        test of weighted counts would not be exact, so weights are not accepted.

    Raises
    ------
    ValueError
        If a score is not a number in [0, 1], an outcome is not 0 or 1, or the two differ
        in shape.

    Examples
    --------
    >>> t = tally([0, 1, 1], [0.2, 0.9, 0.2])
    >>> t.scores, t.counts, t.positives
    (array([0.2, 0.9]), array([2, 1]), array([1, 1]))
    """
    return Tally(*count_groups(sort_rows(y_true, y_prob)))


def tally_on_grid(y_true: npt.ArrayLike, y_prob: npt.ArrayLike) -> Tally:
    """Count predictions and positive outcomes in the cells of the fixed grid.

    For analysis, not used by the daily job.

    The in-memory twin of the query that reads the logs. Parameters and errors are those of
    `tally`.

    Examples
    --------
    >>> tally_on_grid([0, 1, 1], [0.2, 0.9, 0.2]).cells.numbers
    array([7482, 9316])
    """
    positive, score_array = checked(y_true, y_prob)
    cells, offsets = locate(score_array)
    # A sum for each cell of the grid takes less time than to sort the cells of many rows.
    sums = _add_up([offsets], cells, CELL_COUNT)
    counts, positives = (
        np.bincount(rows, minlength=CELL_COUNT) for rows in (cells, cells[positive])
    )
    numbers = np.flatnonzero(counts)
    return from_cells(Cells(numbers, sums[numbers]), counts[numbers], positives[numbers])


def from_cells(cells: Cells, counts: Ints, positives: Ints) -> Tally:
    """Rebuild a grid tally from its stored integers, each of shape (m,).

    Examples
    --------
    >>> cells = Cells(np.array([8192]), np.array([0]))
    >>> from_cells(cells, np.array([4]), np.array([1])).scores
    array([0.5])
    """
    scores = representative_scores(cells.numbers, cells.offset_sums, counts)
    return Tally(scores, counts, positives, cells)


def on_grid(scores: Floats, counts: Ints, positives: Ints) -> Tally:
    """Count groups of predictions with one score each in the cells of the fixed grid.

    Parameters
    ----------
    scores, counts, positives : ndarray of shape (m,)
        As those of a tally, in any order; scores may be equal.

    Examples
    --------
    >>> on_grid(np.array([0.5, 0.2]), np.array([4, 1]), np.array([1, 0])).counts
    array([1, 4])
    """
    cells, offsets = locate(scores)
    numbers, group = np.unique(cells, return_inverse=True)
    sums = _add_up([offsets * counts], group, numbers.size)
    return from_cells(
        Cells(numbers, sums),
        _add_up([counts], group, numbers.size),
        _add_up([positives], group, numbers.size),
    )


def merge(tallies: Iterable[Tally]) -> Tally:
    """Add tallies: the tally of all their predictions together, exactly, in any order.

    Parameters
    ----------
    tallies : iterable of Tally
        All on the grid or all exact; at least one.

    Returns
    -------
    Tally
        Of the same kind.

    Raises
    ------
    ValueError
        If there is none, or if exact tallies and grid tallies are mixed.

    Examples
    --------
    >>> merge([tally([1], [0.2]), tally([0, 1], [0.2, 0.7])]).counts
    array([2, 1])
    """
    parts = list(tallies)
    on_grid = {part.cells is not None for part in parts}
    if len(on_grid) != 1:
        msg = (
            "exact tallies and grid tallies cannot be merged: make both with the same function."
            if on_grid
            else "there is nothing to merge: give at least one tally."
        )
        raise ValueError(msg)
    if on_grid == {True}:
        return _merge_cells(parts)
    scores, group = np.unique(np.concatenate([p.scores for p in parts]), return_inverse=True)
    counts = _add_up([p.counts for p in parts], group, scores.size)
    positives = _add_up([p.positives for p in parts], group, scores.size)
    return Tally(scores, counts, positives)


def shift(t: Tally, delta: float) -> Tally:
    """Move every score by `delta` in logit: ``s -> sigma(logit s + delta)``.

    Parameters
    ----------
    t : Tally
        Any tally.
    delta : float
        Shift in logit units; the intercept of a prior shift.

    Returns
    -------
    Tally
        Exact in kind (the moved scores are no longer grid cells), with the same counts.
        Scores that the shift makes equal in floating point become one group.

    Notes
    -----
    0 and 1 stay where they are. A change of the prior odds by the factor ``exp(delta)`` with
    P(score | outcome) fixed moves the true probabilities exactly like this.

    Examples
    --------
    >>> shift(tally([1], [0.5]), np.log(3.0)).scores
    array([0.75])
    """
    moved = np.asarray(expit(logit(t.scores) + delta))
    rises = moved[1:] > moved[:-1]
    if rises.all():
        return Tally(moved, t.counts, t.positives)
    starts = np.append(0, np.flatnonzero(rises) + 1)
    return Tally(
        moved[starts], np.add.reduceat(t.counts, starts), np.add.reduceat(t.positives, starts)
    )


def join_groups(t: Tally, starts: Ints) -> Tally:
    """Put neighbouring groups together, from each start to the next, at their mean score.

    Examples
    --------
    >>> join_groups(tally([0, 1, 1], [0.2, 0.4, 0.9]), np.array([0, 2])).scores
    array([0.3, 0.9])
    """
    counts = np.add.reduceat(t.counts, starts)
    scores = np.add.reduceat(t.counts * t.scores, starts) / counts
    return Tally(scores, counts, np.add.reduceat(t.positives, starts))


def have_same_groups(t: Tally, other: Tally) -> bool:
    """Check whether two tallies differ in nothing but their scores.

    Examples
    --------
    >>> have_same_groups(t := tally([0, 1], [0.2, 0.7]), shift(t, 0.1))
    True
    """
    return np.array_equal(t.counts, other.counts) and np.array_equal(t.positives, other.positives)


def _merge_cells(parts: list[Tally]) -> Tally:
    cells = [part.cells for part in parts if part.cells is not None]
    numbers = np.concatenate([c.numbers for c in cells])
    # A sum for each cell of the grid takes less time than to sort the cells of many parts.
    counts = _add_up([p.counts for p in parts], numbers, CELL_COUNT)
    positives = _add_up([p.positives for p in parts], numbers, CELL_COUNT)
    sums = _add_up([c.offset_sums for c in cells], numbers, CELL_COUNT)
    kept = np.flatnonzero(counts)
    return from_cells(Cells(kept, sums[kept]), counts[kept], positives[kept])


def _add_up(parts: list[Ints], group: npt.NDArray[np.intp], size: int) -> Ints:
    total = np.zeros(size, np.int64)
    np.add.at(total, group, np.concatenate(parts))
    return total
