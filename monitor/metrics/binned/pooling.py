"""PAVA with block constraints [TCE, Algorithm 2], in one compiled pass.

Rule 1: the pass is the same over the groups of a tally and over sorted rows, in which a run of
equal scores is a group. `_merge` says when two blocks become one. The newest block and the one
on its left are kept in variables, which is several times faster than to read them from arrays.
"""

import numpy as np

from monitor.metrics.core.compiled import ZERO, compiled, inner
from monitor.metrics.core.grid import Ints

PAPER_TAIL = ZERO


@compiled
def pool(counts: Ints, positives: Ints, min_size: int, max_size: int, reference_tail: int) -> Ints:
    """Make one pass over groups and give the starts of the blocks, and last the number of groups.

    Groups without a prediction are allowed, as resampling makes them; callable from other
    compiled functions.
    """
    tail_start, tail_size = counts.size, 0
    while tail_start > 0 and tail_size < min_size:
        tail_start -= 1
        tail_size += counts[tail_start]
    blocks = np.empty((counts.size + 1, 3), np.int64)
    b, start, size, hits = ZERO - 1, ZERO, ZERO, ZERO
    left_size, left_hits = ZERO, ZERO
    for g in range(tail_start):
        n, k = counts[g], positives[g]
        if b >= 0 and _merge(size, hits, n, k, min_size, max_size):
            size, hits = size + n, hits + k
        else:
            if b >= 0:
                blocks[b, 0], blocks[b, 1], blocks[b, 2] = start, size, hits
            left_size, left_hits = size, hits
            b, start, size, hits = b + 1, g, n, k
        while b > 0 and _merge(left_size, left_hits, size, hits, min_size, max_size):
            b, size, hits = b - 1, size + left_size, hits + left_hits
            start = blocks[b, 0]
            if b > 0:
                left_size, left_hits = blocks[b - 1, 1], blocks[b - 1, 2]
    joins = b >= 0 and (size + tail_size <= max_size or size < min_size)
    if reference_tail:
        joins = b >= 0 and 2 * min_size <= max_size
    blocks[max(b, 0), 0] = start
    return _starts(blocks, b, counts.size if joins else tail_start, counts.size)


@compiled
def pool_rows(keys: Ints, min_size: int, max_size: int) -> Ints:
    """Make one pass over sorted rows and give the first row of each block, and last their number.

    The rows are those of `sort_rows`, and the tail is the paper's.
    """
    tail_start = max(keys.size - min_size, 0)
    while 0 < tail_start < keys.size and _are_equal(keys[tail_start], keys[tail_start - 1]):
        tail_start -= 1
    # All blocks but the newest have the smallest size or more.
    blocks = np.empty((keys.size // max(min_size, 1) + 2, 3), np.int64)
    b, start, size, hits = ZERO - 1, ZERO, ZERO, ZERO
    left_size, left_hits, n, k = ZERO, ZERO, ZERO, ZERO
    for row in range(tail_start):
        n, k = n + 1, k + (keys[row] & 1)
        if row + 1 < tail_start and _are_equal(keys[row + 1], keys[row]):
            continue
        if b >= 0 and _merge_group(size, hits, n, k, min_size, max_size):
            size, hits = size + n, hits + k
        else:
            if b >= 0:
                blocks[b, 0], blocks[b, 1], blocks[b, 2] = start, size, hits
            left_size, left_hits = size, hits
            b, start, size, hits = b + 1, row + 1 - n, n, k
        n, k = 0, 0
        while left_hits * size >= hits * left_size and b > 0 and left_size + size <= max_size:
            b, size, hits = b - 1, size + left_size, hits + left_hits
            start = blocks[b, 0]
            if b > 0:
                left_size, left_hits = blocks[b - 1, 1], blocks[b - 1, 2]
    joins = b >= 0 and (size + keys.size - tail_start <= max_size or size < min_size)
    blocks[max(b, 0), 0] = start
    return _starts(blocks, b, keys.size if joins else tail_start, keys.size)


@inner
def _merge_group(size: int, hits: int, n: int, k: int, min_size: int, max_size: int) -> bool:
    """Answer as `_merge` does; most groups are one row, whose outcome alone decides, sooner."""
    both = size + n
    falls = k == 0 or hits == size or (k < n and hits * n >= k * size)
    return (falls and both <= max_size) or size < min_size or both <= min_size


@inner
def _merge(
    left_size: int, left_hits: int, size: int, hits: int, min_size: int, max_size: int
) -> bool:
    """Check whether a block and its left neighbour become one, as `pava_bc` says."""
    both = left_size + size
    return (
        left_size < min_size
        or both <= min_size
        # Rates compare cross-multiplied, in integers: exact.
        or (both <= max_size and left_hits * size >= hits * left_size)
    )


@inner
def _are_equal(key: int, other: int) -> bool:
    """Check whether two rows have the same score: then only their last bits may differ."""
    return (key ^ other) <= 1


@inner
def _starts(blocks: Ints, b: int, tail_start: int, end: int) -> Ints:
    """Give the starts of blocks, of which b is the last (-1: there is none), and their end.

    From its start on the tail is one more block; there is none if it starts at the end.
    """
    if tail_start < end:
        b += 1
        blocks[b, 0] = tail_start
    starts = np.empty(b + 2, np.int64)
    for block in range(b + 1):  # an assignment to a slice takes seconds to compile
        starts[block] = blocks[block, 0]
    starts[b + 1] = end
    return starts
