"""Counts by bucket add up exactly, in any order."""

from collections import Counter
from random import Random

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from monitor.metrics.core.buckets import (
    BIN_CENTRES,
    BIN_COUNT,
    BUCKETS,
    CELLS_IN_BIN,
    BucketCounts,
    add_up_buckets,
    merge_buckets,
)
from monitor.metrics.core.coarse import CENTRES

Row = tuple[int, int, bool]
rows = st.lists(
    st.tuples(st.integers(0, BUCKETS - 1), st.integers(0, BIN_COUNT - 1), st.booleans())
)


def counted(given_rows: list[Row]) -> BucketCounts:
    """Count rows one by one."""
    columns = np.array(given_rows, np.int64).reshape(-1, 3).T
    return add_up_buckets(columns[0], columns[1], np.ones(columns.shape[1], np.int64), columns[2])


def as_rows(counts: BucketCounts) -> list[tuple[int, ...]]:
    """Lay counts out row by row, as stored."""
    columns = counts.buckets, counts.bins, counts.counts, counts.positives
    return [*zip(*(column.tolist() for column in columns), strict=True)]


@given(rows, st.randoms())
def test_counts_are_those_of_a_dictionary_in_any_order(
    given_rows: list[Row], random: Random
) -> None:
    """Every bucket and bin has the rows that a plain count gives, in rising order."""
    number, hits = Counter(row[:2] for row in given_rows), Counter[tuple[int, int]]()
    for bucket, place, came_true in given_rows:
        hits[bucket, place] += came_true
    shuffled = random.sample(given_rows, len(given_rows))

    found = as_rows(counted(shuffled))

    assert found == [(*key, number[key], hits[key]) for key in sorted(number)]


@given(rows, rows)
def test_merging_equals_counting_together(first: list[Row], second: list[Row]) -> None:
    """Days add up to the counts of all their rows."""
    merged = merge_buckets([counted(first), counted(second)])

    assert as_rows(merged) == as_rows(counted([*second, *first]))


def test_a_bin_is_around_the_mean_of_its_cells() -> None:
    """The centre of a bin is that of the coarse cells in it."""
    assert np.allclose(BIN_CENTRES, CENTRES.reshape(-1, CELLS_IN_BIN).mean(axis=1), atol=1e-12)
