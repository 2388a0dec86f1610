"""Rows in one integer each: what they hold, what is refused, and that threads change nothing."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.metrics.core import sorted_rows
from monitor.metrics.core.sorted_rows import count_groups, sort_rows
from tests.support.cases import few_examples

ends = st.sampled_from([0.0, -0.0, 5e-324, np.nextafter(1.0, 0.0), 1.0, 0.5])
rows = st.lists(st.tuples(st.one_of(st.floats(0.0, 1.0), ends), st.booleans()), max_size=60)
KINDS = ["?", "b", "u1", "i4", "i8", "u8", "f4", "f8"]


@few_examples
@given(rows, st.sampled_from(KINDS), st.sampled_from([1, 2, -1]))
def test_holds_every_row_in_order(sample: list[tuple[float, bool]], kind: str, step: int) -> None:
    """Scores rise, each with its outcome, whatever the type and the layout of the arrays."""
    scores, outcomes = (np.repeat([row[i] for row in sample], abs(step)) for i in (0, 1))

    keys = sort_rows(outcomes.astype(kind)[::step], scores.astype(float)[::step])

    found = zip((keys >> 1).view(np.float64).tolist(), (keys & 1).tolist(), strict=True)
    assert list(found) == sorted((score + 0.0, int(outcome)) for score, outcome in sample)


@pytest.mark.parametrize("decimals", [1, 17])
@pytest.mark.parametrize("more", [-1, 0, 1])
def test_two_threads_sort_the_same(
    decimals: int, more: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Below and above the limit, tied or not: the groups are those that plain numpy counts."""
    monkeypatch.setattr(sorted_rows, "TWO_THREADS_FROM", 1_000)
    rng = np.random.default_rng(1 + more)
    scores, outcomes = rng.random(1_000 + more).round(decimals), rng.integers(0, 2, 1_000 + more)

    found = count_groups(sort_rows(outcomes, scores))

    expected, group, counts = np.unique(scores, return_inverse=True, return_counts=True)
    for array, same in zip(found, (expected, counts, np.bincount(group, outcomes)), strict=True):
        np.testing.assert_array_equal(array, same)
