"""The grid of the drift meter: 16 cells of the stored grid in one, as dense vectors that add.

A cell is 1/32 wide in logit, and taking its centre for the scores in it moves each by a uniform
1/32 at most. So the evidence of K positives for a slope that is off by d moves by up to about
``d sqrt(K / 12) / 32`` nats of standard deviation: 0.05 for d = 0.2 and 900 positives. Simulated
(60 days in each of five worlds, prevalence 0.4 to 50 %, 2,000 to 100,000 rows) it is 0.6 to 1.2
times that, 0.1 to 0.5 % of the evidence of a day that drifted by as much. Dense vectors of one
length make a week the sum of seven arrays, and let everything that depends on the score alone be
computed once per reference.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from monitor.base.short_text import shown_shortly
from monitor.metrics.core.grid import CELL_COUNT, CELLS_PER_LOGIT, LOGIT_LIMIT, Floats, Ints, locate
from monitor.metrics.core.reading import takes_rows
from monitor.metrics.core.special import expit
from monitor.metrics.core.tally import Tally

CELLS_IN_ONE = 16
COARSE_COUNT = CELL_COUNT // CELLS_IN_ONE
CENTRES: Floats = np.asarray(
    (np.arange(COARSE_COUNT) + 0.5) * CELLS_IN_ONE / CELLS_PER_LOGIT - LOGIT_LIMIT, np.float64
)


@shown_shortly
@dataclass(frozen=True, eq=False)
class Coarse:
    """Predictions and positive outcomes by coarse cell.

    Attributes
    ----------
    counts : ndarray of shape (1024,)
        Number of predictions; cell i is around the logit ``CENTRES[i]``.
    positives : ndarray of shape (1024,)
        Number of them whose outcome was 1.
    """

    counts: Ints
    positives: Ints


@dataclass(frozen=True, eq=False)
class OccupiedCells:
    """The coarse cells that have predictions: a small part of all, for a segment of a day.

    Attributes
    ----------
    cells : ndarray of shape (m,)
        Their numbers, rising.
    counts, positives : ndarray of shape (m,)
        As those of `Coarse`.
    """

    cells: Ints
    counts: Ints
    positives: Ints


def tally_of(everything: Coarse) -> Tally:
    """Give the tally of coarse counts: every score is the centre of its cell.

    Examples
    --------
    >>> from monitor.metrics.core.tally import tally
    >>> rough = tally_of(coarsen(tally([0, 1, 1], [0.2, 0.2, 0.9])))
    >>> rough.counts, rough.positives
    (array([2, 1]), array([1, 1]))
    """
    seen = occupied(everything)
    return Tally(expit(CENTRES[seen.cells]), seen.counts, seen.positives)


@takes_rows
def coarsen(t: Tally) -> Coarse:
    """Add up neighbouring cells of a tally.

    Parameters
    ----------
    t : Tally or rows
        On the stored grid, or exact.

    Returns
    -------
    Coarse
        The same predictions.

    Examples
    --------
    >>> from monitor.metrics.core.tally import tally
    >>> coarse = coarsen(tally([0, 1, 1], [0.5, 0.501, 0.9]))
    >>> coarse.counts[coarse.counts > 0], coarse.positives[coarse.counts > 0]
    (array([2, 1]), array([1, 1]))
    """
    cells = t.cells.numbers if t.cells else locate(t.scores)[0]
    counts, positives = np.zeros(COARSE_COUNT, np.int64), np.zeros(COARSE_COUNT, np.int64)
    np.add.at(counts, cells // CELLS_IN_ONE, t.counts)
    np.add.at(positives, cells // CELLS_IN_ONE, t.positives)
    return Coarse(counts, positives)


def coarsen_occupied(t: Tally) -> OccupiedCells:
    """Add up neighbouring cells of a tally, and leave out those without predictions.

    Examples
    --------
    >>> from monitor.metrics.core.tally import tally
    >>> coarsen_occupied(tally([0, 1, 1], [0.5, 0.501, 0.9])).counts
    array([2, 1])
    """
    cells = (t.cells.numbers if t.cells else locate(t.scores)[0]) // CELLS_IN_ONE
    if not cells.size:
        return OccupiedCells(cells, t.counts, t.positives)
    # A day has many segments, and `np.diff` with `prepend` takes longer than all the rest.
    first = np.append(0, np.flatnonzero(cells[1:] != cells[:-1]) + 1)
    counts, positives = (np.add.reduceat(rows, first) for rows in (t.counts, t.positives))
    return OccupiedCells(cells[first], counts, positives)


def occupied(part: Coarse) -> OccupiedCells:
    """Leave out the cells without predictions.

    Examples
    --------
    >>> occupied(Coarse(np.array([2, 0, 1]), np.array([1, 0, 0]))).cells
    array([0, 2])
    """
    cells = np.flatnonzero(part.counts)
    return OccupiedCells(cells, part.counts[cells], part.positives[cells])


def sum_of(parts: Sequence[Coarse]) -> Coarse:
    """Add parts up; at least one.

    Examples
    --------
    >>> day = Coarse(np.array([2, 0]), np.array([1, 0]))
    >>> sum_of([day, day]).counts
    array([4, 0])
    """
    if len(parts) == 1:
        return parts[0]
    return Coarse(
        np.sum([part.counts for part in parts], axis=0),
        np.sum([part.positives for part in parts], axis=0),
    )
