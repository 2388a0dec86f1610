"""Predictions by bucket of their entity: what says how far the rows of an entity hang together.

An entity (a customer, a device) falls into the same bucket on every day. So whatever its rows share
stays in one bucket, and the spread of the sums of the buckets over a span of days is the variance
of that span. A bin is 1/4 wide in logit: the weight of a distortion hardly changes within one, and
a day has few of them.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from monitor.metrics.core.coarse import CELLS_IN_ONE, COARSE_COUNT
from monitor.metrics.core.grid import LOGIT_LIMIT, Floats, Ints

BUCKETS = 64
CELLS_IN_BIN = 8  # coarse cells
BIN_COUNT = COARSE_COUNT // CELLS_IN_BIN
BIN_CENTRES: Floats = np.asarray(
    ((np.arange(BIN_COUNT) + 0.5) / BIN_COUNT * 2 - 1) * LOGIT_LIMIT, np.float64
)


@dataclass(frozen=True, eq=False)
class BucketCounts:
    """Predictions whose outcome is known, by bucket of their entity and bin of their score.

    Attributes
    ----------
    buckets, bins : ndarray of shape (m,)
        In rising order, by bucket and then by bin. Bin i is around the logit ``BIN_CENTRES[i]``.
    counts, positives : ndarray of shape (m,)
        Number of predictions, at least 1, and how many of them came true.
    """

    buckets: Ints
    bins: Ints
    counts: Ints
    positives: Ints


NO_BUCKETS = BucketCounts(*(np.zeros(0, np.int64) for _ in range(4)))


def bins_of(cells: Ints) -> Ints:
    """Find the bins that cells of the fixed grid are in.

    Examples
    --------
    >>> bins_of(np.array([0, 8191, 8192]))
    array([ 0, 63, 64])
    """
    return cells // (CELLS_IN_ONE * CELLS_IN_BIN)


def add_up_buckets(buckets: Ints, bins: Ints, counts: Ints, positives: Ints) -> BucketCounts:
    """Add up predictions by bucket and bin, given in any order.

    Examples
    --------
    >>> added = add_up_buckets(*np.array([[3, 0, 3], [64, 64, 64], [1, 2, 3], [1, 0, 1]]))
    >>> added.buckets, added.counts, added.positives
    (array([0, 3]), array([2, 4]), array([0, 2]))
    """
    sums = np.zeros((2, BUCKETS * BIN_COUNT), np.int64)  # so few that days add without sorting
    np.add.at(sums[0], buckets * BIN_COUNT + bins, counts)
    np.add.at(sums[1], buckets * BIN_COUNT + bins, positives)
    filled = np.flatnonzero(sums[0])
    return BucketCounts(filled // BIN_COUNT, filled % BIN_COUNT, *sums[:, filled])


def merge_buckets(parts: Iterable[BucketCounts]) -> BucketCounts:
    """Add up days or parts of a day, in any order.

    Examples
    --------
    >>> held = BucketCounts(*np.array([[3], [64], [2], [1]]))
    >>> merge_buckets([held, NO_BUCKETS, held]).counts
    array([4])
    """
    added = [(p.buckets, p.bins, p.counts, p.positives) for p in (NO_BUCKETS, *parts)]
    buckets, bins, counts, positives = map(np.concatenate, zip(*added, strict=True))
    return add_up_buckets(buckets, bins, counts, positives)
