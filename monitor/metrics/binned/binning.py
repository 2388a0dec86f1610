"""Bins: consecutive runs of a tally's groups.

Bins are ranges of *indices*, never of values, so neighbours with equal means stay apart and
a group of equal scores is never split. A bin b is ``[starts[b], starts[b+1])``, SciPy's
convention for isotonic blocks. No bin is empty.
"""

from dataclasses import dataclass
from math import ceil
from operator import index
from typing import Literal

import numpy as np

from monitor.base.short_text import shown_shortly
from monitor.metrics.binned.pooling import pool
from monitor.metrics.binned.row_bins import Filled, fill_quantiles, fill_uniform
from monitor.metrics.core.compiled import compiled
from monitor.metrics.core.grid import Floats, Ints
from monitor.metrics.core.option_check import check_option
from monitor.metrics.core.reading import reads_pairs, takes_rows
from monitor.metrics.core.samples import Rows
from monitor.metrics.core.tally import Tally

Tail = Literal["paper", "reference"]
NO_BINS = "an empty sample has no bins: give it at least one prediction."
NO_LIMIT = np.iinfo(np.int64).max


@shown_shortly
@dataclass(frozen=True, eq=False)
class Bins:
    """A partition of a tally into consecutive runs.

    Attributes
    ----------
    starts : ndarray of shape (b+1,)
        Index of each bin's first group, and last the number of groups; strictly increasing.
    counts : ndarray of shape (b,)
        Predictions in each bin, at least 1.
    positives : ndarray of shape (b,)
        Positive outcomes in each bin.
    score_sums : ndarray of shape (b,)
        Sums of the predicted probabilities in each bin.
    """

    starts: Ints
    counts: Ints
    positives: Ints
    score_sums: Floats

    @property
    def mean_scores(self) -> Floats:
        """Mean predicted probability of each bin, shape (b,), ratios in [0, 1]."""
        return self.score_sums / self.counts

    @property
    def rates(self) -> Floats:
        """Observed share of positives of each bin, shape (b,), ratios in [0, 1]."""
        return self.positives / self.counts

    @property
    def inversions(self) -> int:
        """Number of neighbours whose observed rates fall although their scores rise."""
        left, right = self.positives[:-1] * self.counts[1:], self.positives[1:] * self.counts[:-1]
        return int(np.count_nonzero(left > right))


def monitor_sizes(total: int) -> tuple[int, int]:
    """Give the smallest and largest bin for a person to look at, growing like ``N**(2/3)``.

    Notes
    -----
    ``min_size = max(30, ceil(0.5 N**(2/3)))`` and ``max_size = 4 min_size``: with these the
    TCE of a calibrated model stays near 8 % whatever N is, which the paper's sizes do not do.

    Examples
    --------
    >>> monitor_sizes(50_000)
    (679, 2716)
    """
    smallest = max(30, ceil(0.5 * total ** (2 / 3)))
    return smallest, 4 * smallest


def paper_sizes(total: int) -> tuple[int, int]:
    """Give the paper's smallest and largest bin, N/20 and N/5 [TCE, section 4].

    Examples
    --------
    >>> paper_sizes(6_000)
    (300, 1200)
    """
    return total // 20, total // 5


@takes_rows
def pava(t: Tally) -> Bins:
    """Pool adjacent violators: the bins of the weighted isotonic regression of the outcomes.

    For analysis, not used by the daily job.

    Parameters
    ----------
    t : Tally or rows
        m groups of equal score.

    Returns
    -------
    Bins
        Observed rates strictly increase. Neighbours of equal rate are one bin, which is decided
        in integers: ``scipy.optimize.isotonic_regression`` compares rounded quotients, and now
        and then leaves two such blocks apart, such as 14 of 28 next to 31 of 62.

    Raises
    ------
    ValueError
        If the tally is empty.

    Notes
    -----
    The blocks of the weighted isotonic regression (Ayer, Brunk, Ewing, Reid and Silverman,
    Annals of Mathematical Statistics 26, 1955). Of all bins they have the least estimation error,
    ``sum_b n_b/N r_b (1 - r_b)`` with ``r_b = k_b/n_b`` [TCE, equation 8 and Proposition 1].

    Examples
    --------
    >>> from monitor.metrics.core.tally import tally
    >>> pava(tally([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4])).starts
    array([0, 1, 3, 4])
    """
    return pava_bc(t, min_size=0, max_size=NO_LIMIT)


@takes_rows
def pava_bc(t: Tally, *, min_size: int, max_size: int, tail: Tail = "paper") -> Bins:
    """PAVA with block constraints: isotonic bins with a smallest and a largest size.

    Parameters
    ----------
    t : Tally or rows
        m groups of equal score.
    min_size, max_size : int
        Predictions in a bin, ``0 <= min_size <= max_size``. The smallest size wins over the
        largest, and one group larger than `max_size` stays whole.
    tail : {"paper", "reference"}
        What becomes of the last `min_size` predictions. ``"paper"``: they join the last bin
        if that stays within `max_size` or is smaller than `min_size`, else they are a bin.
        ``"reference"``: they join iff ``2 min_size <= max_size``, as the published program
        has it; the last bin can then exceed `max_size`.

    Returns
    -------
    Bins
        Observed rates may fall mildly between neighbours [TCE, appendix B]; see
        `Bins.inversions`.

    Raises
    ------
    ValueError
        If the sizes are out of order, the tail is unknown or the tally is empty.

    Notes
    -----
    [TCE, Algorithm 2] on groups of equal score instead of single predictions. A new group
    is pushed as a block, and while it has a left neighbour (sizes W0 and W1, positives Y0
    and Y1) the two merge iff ``W0 < min_size or W0 + W1 <= min_size or
    (W0 + W1 <= max_size and Y0/W0 >= Y1/W1)``. The first clause is ours: blocks grow by whole
    groups, so without it a small block could be left behind a large group.

    Examples
    --------
    >>> from monitor.metrics.core.tally import tally
    >>> pava_bc(tally([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4]), min_size=2, max_size=2).starts
    array([0, 2, 4])
    """
    check_sizes(min_size, max_size)
    check_option("tail", tail, Tail)
    return bins_of(t, pool(t.counts, t.positives, min_size, max_size, int(tail == "reference")))


@reads_pairs
def quantile_bins(t: Tally | Rows, n: int) -> Bins:
    """Cut the predictions, sorted by score, into `n` bins of equal size.

    Parameters
    ----------
    t : Tally or rows
        m groups of equal score; or scores and outcomes, which are not sorted then. Their bins
        have the same counts, but `starts` counts rows, so they suit measures of bins alone.
    n : int
        Number of bins, at least 1.

    Returns
    -------
    Bins
        At most `n`: cuts move to the nearest border between groups, the upper one of two as
        near, and cuts that fall together leave fewer bins.

    Raises
    ------
    ValueError
        If `n` is no whole number of at least 1, or there is no prediction; as `tally` does for
        samples that are not valid.

    Notes
    -----
    Cut i lies before prediction ``i N // n``: the bins of ACE, TCE(Q) and MCE(Q)
    [TCE, sections 2.2 and 4]. That equal scores stay together is ours.

    Examples
    --------
    >>> from monitor.metrics.core.tally import tally
    >>> quantile_bins(tally([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4]), 2).counts
    array([2, 2])
    """
    check_number(n)
    if not isinstance(t, Tally):
        return _bins_of_rows(fill_quantiles(t, n))
    ends = np.cumsum(t.counts)
    borders = np.concatenate([[0], ends])
    cuts = np.arange(1, n, dtype=np.int64) * t.total // n
    right = np.searchsorted(borders, cuts)
    left = np.maximum(right - 1, 0)
    nearest = np.where(cuts - borders[left] < borders[right] - cuts, left, right)
    return bins_of(t, np.unique(np.concatenate([[0], nearest, [t.scores.size]])))


@reads_pairs
def uniform_bins(t: Tally | Rows, n: int) -> Bins:
    """Cut the score axis [0, 1] into `n` bins of equal width, left-closed, the last closed.

    For analysis, not used by the daily job.

    Parameters
    ----------
    t : Tally or rows
        m groups of equal score; or scores and outcomes, which are not sorted then. Their bins
        have the same counts, but `starts` counts rows, so they suit measures of bins alone.
    n : int
        Number of slices, at least 1.

    Returns
    -------
    Bins
        At most `n`: slices without a prediction are left out.

    Raises
    ------
    ValueError
        If `n` is no whole number of at least 1, or there is no prediction; as `tally` does for
        samples that are not valid.

    Notes
    -----
    Slice i is ``i/n <= s < (i+1)/n``, the last one with 1 [TCE, section 2.1]. Borders are decimals:
    of ten slices, 0.3 begins the fourth. Those of ``np.linspace`` are sums, of which that at 0.3 is
    0.30000000000000004, so there 0.2 and 0.3 share a bin.

    Examples
    --------
    >>> from monitor.metrics.core.tally import tally
    >>> uniform_bins(tally([0, 1, 0, 1], [0.1, 0.2, 0.5, 1.0]), 2).counts
    array([2, 2])
    """
    check_number(n)
    if not isinstance(t, Tally):
        return _bins_of_rows(fill_uniform(t, n))
    return bins_of(t, _slice_starts(t.scores, n))


def check_number(n: int) -> None:
    """Raise ValueError unless it is a whole number of at least 1."""
    try:
        index(n)
    except TypeError:
        msg = f"the number of bins must be an integer, got {n!r}."
        raise ValueError(msg) from None
    if n < 1:
        msg = f"the number of bins must be at least 1, got {n}."
        raise ValueError(msg)


def check_sizes(min_size: int, max_size: int) -> None:
    """Raise ValueError for bin sizes out of order."""
    if not 0 <= min_size <= max_size:
        msg = f"bin sizes must satisfy 0 <= min_size <= max_size, got {min_size} and {max_size}."
        raise ValueError(msg)


def _bins_of_rows(filled: Filled) -> Bins:
    bins = Bins(*filled)
    if not bins.counts.size:
        raise ValueError(NO_BINS)
    return bins


def bins_of(t: Tally, starts: Ints) -> Bins:
    """Cut a tally into bins, each from one start to the next; the last start is its end.

    Examples
    --------
    >>> from monitor.metrics.core.tally import tally
    >>> bins_of(tally([0, 1, 1], [0.2, 0.4, 0.9]), np.array([0, 2, 3])).counts
    array([2, 1])
    """
    if not t.scores.size:
        raise ValueError(NO_BINS)
    first = starts[:-1]
    return Bins(
        starts,
        np.add.reduceat(t.counts, first),
        np.add.reduceat(t.positives, first),
        np.add.reduceat(t.counts * t.scores, first),
    )


@compiled
def _slice_starts(scores: Floats, n: int) -> Ints:
    """Give the starts of `uniform_bins`, compiled because a few numpy calls would take longer."""
    starts, b = np.zeros(n + 1, np.int64), 0
    for i in range(1, n + 1):
        # The border nearest to the decimal. That of np.linspace(0, 1, 11) at 0.3 lies above 0.3.
        cut = np.searchsorted(scores, i / n) if i < n else scores.size
        if cut > starts[b]:
            b += 1
            starts[b] = cut
    return starts[: b + 1].copy()
