"""Bins straight from rows, for those who want one binned measure of them once.

A tally serves every measure, but making one sorts all rows. Bins by value need no order: one pass
over the rows fills uniform bins, and three fill quantile bins, whose edges are found first.
Counts and positives are those of the exact tally, and sums of scores agree to 1e-12 of each,
whatever the number of rows. The starts count rows, not groups of equal scores.
"""

import numpy as np

from monitor.metrics.core.compiled import compiled
from monitor.metrics.core.grid import Floats, Ints
from monitor.metrics.core.samples import Bools, Outcomes, Rows, checked, unchecked

ROWS_AT_ONCE = 2048  # summed plainly; sums of this many are then added with compensation

ONE, TWO = np.uint64(1), np.uint64(2)

Filled = tuple[Ints, Ints, Ints, Floats]  # starts, counts, positives and sums of scores

# The bits of a double in [0, 1], read as an integer, rise with it, and their leading ones number a
# drawer: the first is for all scores below 2**-32, and from there on 128 lead from a power of two
# to the next, so that rare scores are parted as well as common ones.
DRAWER_SHIFT = 45
FIRST_DRAWER = int(np.float64(2.0**-32).view(np.int64) >> DRAWER_SHIFT) - 1
DRAWERS = int(np.float64(1.0).view(np.int64) >> DRAWER_SHIFT) - FIRST_DRAWER + 1


def fill_uniform(rows: Rows, n: int) -> Filled:
    """Cut rows by score into `n` bins of equal width.

    Scores are guessed to lie in slice ``floor(n s)`` and compared with its two edges.

    Examples
    --------
    >>> fill_uniform(([1, 0, 1, 0], [0.75, 0.25, 0.75, 0.25]), 2)[1:]
    (array([2, 2]), array([0, 2]), array([0.5, 1.5]))
    """
    y, s = unchecked(*rows)
    sound, sizes, sums = _fill_slices(s, y, n)
    return _without_empty(sizes, sums) if sound else fill_uniform(checked(*rows), n)


def fill_quantiles(rows: Rows, n: int) -> Filled:
    """Cut rows by score into `n` bins of equal size.

    Rows are counted in drawers by the leading bits of their score; only the drawers that hold a
    cut ``i r // n`` are sorted. A cut inside a run of equal scores moves to the nearer end of
    the run, to the upper one if both are as near.

    Examples
    --------
    >>> fill_quantiles(([1, 0, 1, 0], [0.75, 0.25, 0.75, 0.25]), 2)[1:]
    (array([2, 2]), array([0, 2]), array([0.5, 1.5]))
    """
    y, s = unchecked(*rows)
    bits = s.view(np.int64)
    sound, sizes = _fill_drawers(s, bits, y)
    if not sound:
        return fill_quantiles(checked(*rows), n)
    edges = _cut_values(s, bits, sizes, np.arange(1, n, dtype=np.int64) * s.size // n)
    return _without_empty(*_fill_between(s, bits, y, edges))


def _cut_values(s: Floats, bits: Ints, sizes: Ints, cuts: Ints) -> Floats:
    """Give the least score above each cut; 2 ends them."""
    if not s.size:
        return np.full(1, 2.0)
    ends = np.cumsum(sizes)
    drawers = np.searchsorted(ends, cuts, side="right")  # that of the first row above the cut
    opened = np.zeros(DRAWERS, np.bool_)
    opened[drawers] = True
    values = np.sort(_take_out(s, bits, opened, int(sizes[opened].sum())))
    # How many rows lie in the closed drawers below each cut.
    closed = np.cumsum(np.where(opened, 0, sizes))[drawers]
    first = values[cuts - closed]
    below = closed + np.searchsorted(values, first, side="left")
    above = closed + np.searchsorted(values, first, side="right")
    edges = np.where(cuts - below < above - cuts, first, np.nextafter(first, 2.0))
    return np.append(edges, 2.0)


@compiled
def _fill_slices(s: Floats, y: Outcomes, n: int) -> tuple[bool, Ints, Floats]:
    """Count rows and add up scores in n slices of equal width, as `_without_empty` takes them.

    False comes with the first sample that is none.
    """
    edges = np.full(n + 1, 2.0)  # the last slice is closed
    for j in range(n):
        edges[j] = (
            j / n
        )  # the nearest to the decimal, so that 0.3 is the border of the fourth of ten
    rows = np.zeros(2 * n, np.int64)
    sums, lost, some = np.zeros(2 * n), np.zeros(2 * n), np.zeros(2 * n)
    for start in range(0, s.size, ROWS_AT_ONCE):
        for i in range(start, min(start + ROWS_AT_ONCE, s.size)):
            score, outcome = s[i], y[i]
            if not ((score >= 0.0) & (score <= 1.0) & ((outcome == 0) | (outcome == 1))):
                return False, rows, sums
            b = np.uint64(score * n)  # without a sign, no index is checked for being negative
            b -= np.uint64(score < edges[b])
            b += np.uint64(score >= edges[b + ONE])
            place = TWO * b + np.uint64(outcome)
            rows[place] += 1
            some[place] += score
        _add_and_clear(sums, lost, some)
    return True, rows, sums + lost


@compiled
def _drawer(bits: int) -> int:
    # Those of -0.0 are negative, and so in the first.
    return max((bits >> DRAWER_SHIFT) - FIRST_DRAWER, 0)


@compiled
def _fill_drawers(s: Floats, bits: Ints, y: Outcomes) -> tuple[bool, Ints]:
    """Count the rows in each drawer."""
    sizes = np.zeros(DRAWERS, np.int64)
    for i in range(s.size):
        if not ((s[i] >= 0.0) & (s[i] <= 1.0) & ((y[i] == 0) | (y[i] == 1))):
            return False, sizes
        sizes[_drawer(bits[i])] += 1
    return True, sizes


@compiled
def _take_out(s: Floats, bits: Ints, opened: Bools, size: int) -> Floats:
    """Give the scores in the open drawers, `size` in all, in the order of the rows."""
    values = np.empty(size + 1)  # one more, to write without a check
    distinct = 0
    for i in range(s.size):
        values[distinct] = s[i]
        distinct += opened[_drawer(bits[i])]
    return values[:size]


@compiled
def _fill_between(s: Floats, bits: Ints, y: Outcomes, edges: Floats) -> tuple[Ints, Floats]:
    """Count sound rows and add up scores in the n bins that end below the rising edges."""
    n, edge_bits = edges.size, edges.view(np.int64)
    first = np.empty(DRAWERS, np.uint64)  # bin in which the lowest score of a drawer may be
    b = 0
    for drawer in range(DRAWERS):
        first[drawer] = b
        while b < n - 1 and _drawer(edge_bits[b]) <= drawer:
            b += 1
    rows = np.zeros(2 * n, np.int64)
    sums, lost, some = np.zeros(2 * n), np.zeros(2 * n), np.zeros(2 * n)
    for start in range(0, s.size, ROWS_AT_ONCE):
        for i in range(start, min(start + ROWS_AT_ONCE, s.size)):
            bin_of_row = first[_drawer(bits[i])]
            while s[i] >= edges[bin_of_row]:
                bin_of_row += ONE
            place = TWO * bin_of_row + np.uint64(y[i])
            rows[place] += 1
            some[place] += s[i]
        _add_and_clear(sums, lost, some)
    return rows, sums + lost


@compiled
def _without_empty(rows: Ints, sums: Floats) -> tuple[Ints, Ints, Ints, Floats]:
    """Put the outcomes of each bin together and close the gaps.

    Rows and sums, of shape (2n,), have the negatives of a bin first and then its positives.
    """
    starts = np.zeros(rows.size // 2 + 1, np.int64)
    counts, positives = np.empty_like(starts), np.empty_like(starts)
    score_sums = np.empty(starts.size)
    b = 0
    for i in range(0, rows.size, 2):
        if rows[i] + rows[i + 1] > 0:
            counts[b], positives[b] = rows[i] + rows[i + 1], rows[i + 1]
            score_sums[b] = sums[i] + sums[i + 1]
            starts[b + 1] = starts[b] + counts[b]
            b += 1
    return starts[: b + 1], counts[:b], positives[:b], score_sums[:b]


@compiled
def _add_and_clear(sums: Floats, lost: Floats, some: Floats) -> None:
    """Add to each sum, keep what rounding loses (Neumaier's sum), and clear `some`."""
    for b in range(sums.size):
        total = sums[b] + some[b]
        # All terms are at least 0, so comparing the sums compares their magnitudes.
        if sums[b] >= some[b]:
            lost[b] += (sums[b] - total) + some[b]
        else:
            lost[b] += (some[b] - total) + sums[b]
        sums[b], some[b] = total, 0.0
