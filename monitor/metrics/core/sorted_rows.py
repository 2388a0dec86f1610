"""Rows sorted by score, each in one integer: its score and, in the last bit, its outcome.

The bits of doubles that are not negative, read as integers, rise with them. Up to 1.0 the two
highest bits are 0, so there is room to move up by one for the outcome. One plain sort of such
integers is several times faster than an indirect sort: numpy's sort is vectorised, its argsort is
not.
"""

from threading import Thread

import numpy as np
import numpy.typing as npt

from monitor.metrics.core.compiled import compiled
from monitor.metrics.core.grid import Floats, Ints
from monitor.metrics.core.samples import Outcomes, checked, unchecked

Bits = npt.NDArray[np.uint64]

MINUS_ZERO, ONE_POINT_ZERO = (int(np.float64(number).view(np.uint64)) for number in (-0.0, 1.0))
TWO_THREADS_FROM = 2**18  # rows: with fewer, a second thread saves less than its start takes


def sort_rows(y_true: npt.ArrayLike, y_prob: npt.ArrayLike) -> Ints:
    """Check rows, put each into one integer, and sort those.

    Parameters and errors are those of `tally`.

    Returns
    -------
    ndarray of shape (n,)
        Twice the bits of each score plus its outcome, from the lowest score to the highest.

    Examples
    --------
    >>> keys = sort_rows([1, 0], [0.9, 0.2])
    >>> (keys >> 1).view(np.float64), keys & 1
    (array([0.2, 0.9]), array([0, 1]))
    """
    outcomes, scores = unchecked(y_true, y_prob)
    # Large arrays are made by numpy here and below, not by compiled code: numpy asks the
    # system for large pages, and the first writing to small ones takes longer than all else.
    keys = np.empty(scores.size, np.int64)
    if not _pack(scores.view(np.uint64), outcomes, keys.view(np.uint64)):
        return sort_rows(*checked(y_true, y_prob))
    _sort(keys)
    return keys


def count_groups(keys: Ints) -> tuple[Floats, Ints, Ints]:
    """Give each distinct score of sorted rows, how many have it, and how many of those came true.

    The integers of the rows are overwritten.

    Examples
    --------
    >>> count_groups(sort_rows([0, 1, 1], [0.2, 0.9, 0.2]))
    (array([0.2, 0.9]), array([2, 1]), array([1, 1]))
    """
    counts, positives = np.empty(keys.size, np.int64), np.empty(keys.size, np.int64)
    groups = _count_groups(keys, counts, positives)
    scores = keys[:groups].view(np.float64)
    if groups == keys.size:
        return scores, counts, positives
    # Copies, so that a few groups do not keep the memory of all rows.
    return scores.copy(), counts[:groups].copy(), positives[:groups].copy()


def _sort(keys: Ints) -> None:
    """Sort in place; many rows in two threads, a half each. The result is the same."""
    if keys.size < TWO_THREADS_FROM:
        keys.sort()
        return
    middle = keys.size // 2
    keys.partition(middle)
    lower = Thread(target=keys[:middle].sort)
    lower.start()
    keys[middle:].sort()
    lower.join()


@compiled
def _pack(bits: Bits, outcomes: Outcomes, keys: Bits) -> bool:
    """Fill in the integers of rows; False if a score or an outcome is none."""
    wrong = np.uint64(0)
    for i in range(bits.size):
        score = np.uint64(0) if bits[i] == np.uint64(MINUS_ZERO) else bits[i]
        outcome = np.uint64(outcomes[i])
        # Negative numbers and nan have bits beyond those of 1.0.
        wrong |= np.uint64((score > np.uint64(ONE_POINT_ZERO)) | (outcome > np.uint64(1)))
        keys[i] = (score << np.uint64(1)) | outcome
    return bool(wrong == 0)


@compiled
def _count_groups(keys: Ints, counts: Ints, positives: Ints) -> int:
    """Run once along the sorted integers, overwrite them with scores and count each."""
    group = row = 0
    while row < keys.size:
        score, first, hits = keys[row] >> 1, row, 0
        while row < keys.size and keys[row] >> 1 == score:
            hits += keys[row] & 1
            row += 1
        keys[group], counts[group], positives[group] = score, row - first, hits
        group += 1
    return group
