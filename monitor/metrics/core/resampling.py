"""Draws of rows from a tally, with replacement and without.

Rows are never written out: a draw is counts, and what is drawn is a tally again.
"""

from collections.abc import Iterator
from math import floor, sqrt

import numpy as np

from monitor.metrics.core.compiled import compiled, inner
from monitor.metrics.core.dispersion import INDEPENDENT, Hanging, draw_buckets, hang_together
from monitor.metrics.core.grid import Floats, Ints
from monitor.metrics.core.tally import Tally

ROWS_PER_GROUP = 16  # up to this many, single draws are faster than binomial generators
ONE_BY_ONE = 32
FINE = 64  # to which part of a row its weight is rounded
LARGE_VARIANCE = 25.0  # of a binomial count
ROWS_PER_KIND = 4  # beyond, a binomial draw for each kind is faster than one by one
MOST_AHEAD = 2**16  # groups of all resamples that are drawn at once: 1 MB


def resamples(
    t: Tally,
    rates: Floats,
    times: int,
    *,
    shared: Hanging = INDEPENDENT,
    rng: np.random.Generator,
) -> Iterator[Tally]:
    """Draw as many rows as there are, with replacement, and their outcomes at given rates.

    Parameters
    ----------
    t : Tally
        m groups of equal score, at least one prediction; its positives are not looked at.
    rates : ndarray of shape (m,)
        Probability of a positive outcome in each group, in [0, 1]: ``k/n`` for the ordinary
        bootstrap, others for other worlds.
    times : int
        How often. To draw once is `next(resamples(t, rates, 1, rng=rng))`.
    shared : Hanging
        What rows of one entity share, from `monitor.metrics.core.dispersion.hanging`; by default
        rows are independent.
    rng : numpy Generator
        Source of chance; the same seed gives the same result. Several are drawn ahead, because to
        hand a generator to compiled code takes longer than a draw from some hundred groups.

    Yields
    ------
    Tally
        Of the same size; groups that were not drawn are left out.

    Examples
    --------
    >>> from monitor.metrics.core.tally import tally
    >>> t = tally([0, 1, 1], [0.2, 0.7, 0.7])
    >>> rng = np.random.default_rng(1)
    >>> [drawn.total for drawn in resamples(t, t.positives / t.counts, 2, rng=rng)]
    [3, 3]
    """
    ahead = max(1, MOST_AHEAD // t.counts.size)
    for place in range(0, times, ahead):
        now = min(ahead, times - place)
        if shared.columns.size:
            counts, positives = _resampled_together(rng, t.counts, rates, shared, now)
        else:
            counts, positives = _resampled_often(rng, t.counts, rates, now)
        for new, ones in zip(counts, positives, strict=True):
            drawn = new > 0
            yield Tally(t.scores[drawn], new[drawn], ones[drawn])


@compiled
def _resampled_often(
    rng: np.random.Generator, counts: Ints, rates: Floats, times: int
) -> tuple[Ints, Ints]:
    """Draw one after the other: counts and positives of shape (times, m)."""
    new = np.zeros((times, counts.size), np.int64)
    positives = np.zeros((times, counts.size), np.int64)
    for time in range(times):
        _resample(rng, counts, counts.sum(), rates, new[time], positives[time])
    return new, positives


@compiled
def _resampled_together(
    rng: np.random.Generator, counts: Ints, rates: Floats, shared: Hanging, times: int
) -> tuple[Ints, Ints]:
    """Draw rows as often as buckets that are drawn have them, and what their outcomes share."""
    new = np.zeros((times, counts.size), np.int64)
    positives = np.zeros((times, counts.size), np.int64)
    weights = np.empty(counts.size, np.int64)
    for time in range(times):
        rows, moves = draw_buckets(rng, shared)
        for i in range(counts.size):
            column = shared.columns[i]
            often = rows[column] if column >= 0 else 1.0
            weights[i] = int(often * counts[i] * FINE + 0.5)
        _resample(rng, weights, counts.sum(), rates, new[time], positives[time])
        hang_together(rng, new[time], positives[time], rates, shared, moves)
    return new, positives


@inner
def _resample(
    rng: np.random.Generator, counts: Ints, draws: int, rates: Floats, new: Ints, positives: Ints
) -> None:
    """Draw so many rows, multinomial over groups, and positives, binomial within each.

    They are added to `new` and `positives`, because to assign arrays to rows takes seconds to
    compile.
    """
    rows = counts.sum()
    if draws <= ROWS_PER_GROUP * counts.size:
        ends = np.cumsum(counts)
        guide, shift = index_rows(ends)
        for _ in range(draws):
            new[find_group(draw_row(rng, rows), ends, guide, shift)] += 1
    else:  # the same law, group by group: each binomial given those before it
        for i in range(counts.size):
            new[i] = draws if counts[i] == rows else _nearly_binomial(rng, draws, counts[i] / rows)
            rows -= counts[i]
            draws -= new[i]
    for i in range(counts.size):
        if new[i] > ONE_BY_ONE:
            positives[i] = _nearly_binomial(rng, new[i], rates[i])
        else:
            for _ in range(new[i]):
                positives[i] += rng.random() < rates[i]


@inner
def _nearly_binomial(rng: np.random.Generator, n: int, q: float) -> int:
    """Draw a binomial count; where its variance is large, from a skewed normal curve.

    That takes a tenth of the time. The first two terms of Cornish and Fisher's expansion are used:
    the distribution function is off by 5.3e-4 at most, for rare outcomes with a variance of 25, and
    by less the larger the variance is.
    """
    variance = n * q * (1.0 - q)
    if variance < LARGE_VARIANCE:
        return rng.binomial(n, q)
    z = rng.standard_normal()
    count = n * q + sqrt(variance) * z + (1.0 - 2.0 * q) / 6.0 * (z * z - 1.0)
    return min(max(floor(count + 0.5), 0), n)


def lay_out(counts: Ints, positives: Ints) -> Ints:
    """Lay out rows by group and outcome: shape (2m,), the negatives of a group come first.

    Examples
    --------
    >>> lay_out(np.array([3, 2]), np.array([1, 2]))
    array([2, 1, 0, 2])
    """
    rows = np.empty(2 * counts.size, np.int64)
    rows[0::2] = counts - positives
    rows[1::2] = positives
    return rows


@compiled
def drawn(
    rng: np.random.Generator, rows: Ints, ends: Ints, guide: Ints, shift: int, size: int
) -> tuple[Ints, Ints, Ints]:
    """Draw `size` rows; give the groups among them, and their counts and positives."""
    rest = ends[-1] - size
    if min(size, rest) > ROWS_PER_KIND * rows.size:
        taken = _thinned(rng, rows, size)
    elif size <= rest:
        taken = _taken(rng, rows, ends, guide, shift, size)
    else:  # the rows left behind are such a draw too, and fewer
        taken = rows - _taken(rng, rows, ends, guide, shift, rest)
    groups = np.empty(rows.size // 2, np.int64)
    counts, positives = np.empty_like(groups), np.empty_like(groups)
    groups_drawn = 0
    for i in range(groups.size):
        count = taken[2 * i] + taken[2 * i + 1]
        if count > 0:
            groups[groups_drawn], counts[groups_drawn], positives[groups_drawn] = (
                i,
                count,
                taken[2 * i + 1],
            )
            groups_drawn += 1
    return groups[:groups_drawn], counts[:groups_drawn], positives[:groups_drawn]


@inner
def _taken(
    rng: np.random.Generator, rows: Ints, ends: Ints, guide: Ints, shift: int, size: int
) -> Ints:
    """Draw `size` different rows; return how many of each kind.

    Rows of one kind are alike, so let those with the lowest numbers be the ones already
    taken: then a row drawn from all is new iff its number within its kind is not among these.
    No memory of rows is needed, and of kind c the next row is with probability proportional
    to the number of its rows that are left, which is what drawing without replacement means.
    """
    taken = np.zeros(rows.size, np.int64)
    total, left = ends[-1], size
    while left > 0:
        row = draw_row(rng, total)
        kind = find_group(row, ends, guide, shift)
        if row - (ends[kind] - rows[kind]) >= taken[kind]:
            taken[kind] += 1
            left -= 1
    return taken


@inner
def _thinned(rng: np.random.Generator, rows: Ints, size: int) -> Ints:
    """Draw as `_taken` does, at a cost that depends on the kinds and hardly on the rows.

    Every row stays with the same probability, independently: then all draws of one size are
    equally likely, whatever size it is. The few rows too many or too few are drawn one by one.
    """
    taken, share = np.empty(rows.size, np.int64), size / rows.sum()
    for kind in range(rows.size):
        taken[kind] = rng.binomial(rows[kind], share)
    excess = taken.sum() - size
    if excess > 0:
        return taken - _some_of(rng, taken, excess)
    return taken + _some_of(rng, rows - taken, -excess)


@inner
def _some_of(rng: np.random.Generator, rows: Ints, size: int) -> Ints:
    if size == 0:
        return np.zeros_like(rows)
    ends = np.cumsum(rows)
    guide, shift = index_rows(ends)
    return _taken(rng, rows, ends, guide, shift, size)


@inner
def draw_row(rng: np.random.Generator, total: int) -> int:
    """Draw a row number below `total`, each with the same probability to 2**-53 absolute."""
    return int(rng.random() * total)


@compiled
def index_rows(ends: Ints) -> tuple[Ints, int]:
    """Make a guide to rows: for each slice of ``2**shift`` rows, the group of the first one.

    There are at most twice as many slices as groups, so the walk of `find_group` from there
    takes a step and a half on average, however the counts are spread.
    """
    shift = 0
    while (ends[-1] - 1) >> shift >= 2 * ends.size:
        shift += 1
    guide = np.empty(((ends[-1] - 1) >> shift) + 1, np.int64)
    group = 0
    for part in range(guide.size):
        while ends[group] <= part << shift:
            group += 1
        guide[part] = group
    return guide, shift


@inner
def find_group(row: int, ends: Ints, guide: Ints, shift: int) -> int:
    """Find the group of a row: the first whose end lies beyond it."""
    group: int = guide[row >> shift]
    while ends[group] <= row:
        group += 1
    return group
