"""What the values of columns, and of every two of them, say of each distortion. Pure.

Rule: a day's sums are whole numbers until its rows are added up, so their order does not matter.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from monitor.days.summary import CodedRows
from monitor.drift.curve.reference import Reference
from monitor.drift.records.day_evidence import DIRECTIONS
from monitor.metrics.core.coarse import COARSE_COUNT
from monitor.metrics.core.compiled import compiled
from monitor.metrics.core.grid import Floats, Ints
from monitor.metrics.core.samples import Bools
from monitor.metrics.core.special import expit
from monitor.metrics.logistic.intercept import solve_factor

ONE = 2.0**20  # sums are kept in steps of a millionth
WIDTH = len(DIRECTIONS)
# Sums of a cell on a day: residual, weight, both times each direction, weight times its square,
# rows and positive outcomes; and what is kept of them: score, information, rows and outcomes.
SUMMED, KEPT = 4 + 3 * WIDTH, 2 + 2 * WIDTH


@dataclass(frozen=True, eq=False)
class Table:
    """What some days say of the values of two columns.

    Attributes
    ----------
    columns : (int, int)
        Places of the columns; the second one is k, the number of columns, in a table of one.
    sums : ndarray of shape (a, b, 10)
        Scores and informations along each direction, rows and positive outcomes, by both codes.
    """

    columns: tuple[int, int]
    sums: Floats


def tables_of(
    reference: Reference, days: Iterable[CodedRows], sizes: Sequence[int]
) -> tuple[list[Table], int]:
    """Add up days by the values of each column, and of every two columns.

    Parameters
    ----------
    reference : Reference
        Of the whole.
    days : iterable of CodedRows
        The days.
    sizes : sequence of int
        How many codes each column has, with 0.

    Returns
    -------
    list of Table, int
        And the number of days that have both outcomes.

    Notes
    -----
    With residuals ``r = y - p`` and weights ``w = p (1 - p)`` at the curve and the day's own
    intercept, the cell of two values has along a direction D the score ``sum r (D - c)`` and the
    information ``sum w (D - c)**2``, with c the mean of D in the cell under w: the efficient score
    with an intercept for each cell and day (Cox and Hinkley, Theoretical Statistics, 1974, 9.3). So
    neither a prior of the day nor one of a value is a distortion. With classes every pair of them
    has intercepts of its own, and what the pairs say is added up.
    """
    pairs = [*((i, len(sizes)) for i in range(len(sizes))), *combinations(range(len(sizes)), 2)]
    widths = np.array([*sizes, 1], np.int64)
    cells = [int(widths[i] * widths[j]) for i, j in pairs]
    starts = np.concatenate([[0], np.cumsum(cells)]).astype(np.int64)
    total, count = np.zeros((starts[-1], KEPT)), 0
    firsts, seconds = np.array(pairs, np.int64).reshape(-1, 2).T
    summed, seen = np.zeros((starts[-1], SUMMED), np.int64), np.zeros(starts[-1], bool)
    for day in days:
        known = False
        for rows in day.by_pair():
            units = _units(reference, rows)
            if units is None:
                continue
            known = True
            none = np.zeros((1, rows.cells.size), np.uint16)
            codes = np.vstack([rows.codes.astype(np.uint16, copy=False), none])
            ways = firsts, seconds, widths, starts
            _add_up(rows.cells, rows.hits, codes, ways, units, summed, seen)
            there = np.flatnonzero(seen)
            total[there] += _efficient(summed[there])
            summed[there], seen[there] = 0, False
        count += known
    return [
        Table(pair, total[low:high].reshape(*widths[[*pair]], KEPT))
        for pair, low, high in zip(pairs, starts[:-1], starts[1:], strict=True)
    ], count


def _units(reference: Reference, rows: CodedRows) -> Ints | None:
    """Give what a row adds to each sum, by outcome and coarse cell, shape (2, 1024, 16)."""
    inside = np.zeros(COARSE_COUNT, bool)
    inside[reference.known] = True
    counts, hits = (
        np.bincount(of, minlength=COARSE_COUNT) * inside
        for of in (rows.cells, rows.cells[rows.hits])
    )
    there = np.flatnonzero(counts)
    if not 0 < hits.sum() < counts.sum():
        return None
    factor, _ = solve_factor(np.exp(reference.curve[there]), counts[there], int(hits.sum()))
    p = expit(reference.curve + np.log(factor))
    weights, directions = p * (1.0 - p), reference.directions
    units = np.zeros((2, COARSE_COUNT, SUMMED))
    for outcome in (0, 1):
        residuals = outcome - p
        each = [residuals, weights, *(residuals * directions), *(weights * directions)]
        each += [*(weights * directions**2), np.ones(COARSE_COUNT), np.full(COARSE_COUNT, outcome)]
        units[outcome] = np.array(each).T
    return np.asarray(np.rint(units * inside[:, None] * ONE).astype(np.int64))


def _efficient(summed: Ints) -> Floats:
    """Take an intercept for each cell out of its sums."""
    sums = summed / ONE
    residuals, weights = sums[:, 0], sums[:, 1]
    pulls, means, squares = (sums[:, 2 + i * WIDTH : 2 + (i + 1) * WIDTH] for i in range(3))
    means = means / np.where(weights > 0.0, weights, 1.0)[:, None]
    scores = pulls - means * residuals[:, None]
    informations = np.maximum(squares - means**2 * weights[:, None], 0.0)
    return np.hstack([scores, informations, sums[:, -2:]])


@compiled
def _add_up(
    cells: Ints,
    hits: Bools,
    codes: Ints,
    ways: tuple[Ints, Ints, Ints, Ints],
    units: Ints,
    summed: Ints,
    seen: Bools,
) -> None:
    """Add rows to the sums of every pair of columns, in place, and say which have any."""
    firsts, seconds, widths, starts = ways
    for row in range(cells.size):
        unit = units[int(hits[row]), cells[row]]
        for pair in range(firsts.size):
            first, second = firsts[pair], seconds[pair]
            at = starts[pair] + codes[first, row] * widths[second] + codes[second, row]
            seen[at] = True
            for i in range(unit.size):
                summed[at, i] += unit[i]
