"""Places in sorted scores are those that numpy finds."""

from math import inf, nan

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from monitor.metrics.core.sorted_scores import count_below, count_up_to

few = st.sampled_from([0.0, 0.1, 0.2, 0.5, 1.0])  # so that many are equal
bounds = st.one_of(few, st.sampled_from([-inf, inf, nan]), st.floats(-0.5, 1.5))


@given(st.lists(few, max_size=30), bounds)
def test_they_are_those_of_numpy(scores: list[float], bound: float) -> None:
    """For bounds among the scores, between them, beyond them, and nan, which numpy puts last."""
    ordered = np.sort(np.array(scores, np.float64))

    assert count_below(ordered, bound) == np.searchsorted(ordered, bound)
    assert count_up_to(ordered, bound) == np.searchsorted(ordered, bound, side="right")
