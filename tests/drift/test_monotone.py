"""The monotone curve has the bits of SciPy's, so that no stored slope moved when it came."""

from typing import Any

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.interpolate import PchipInterpolator

from monitor.drift.curve.monotone import monotone_at

steps = st.floats(1e-3, 1e6)
pairs = st.lists(st.tuples(steps, steps), min_size=2, max_size=9)


@given(
    pairs,
    st.sampled_from([-1.0, 1.0]),
    st.sampled_from([np.float32, np.float64]),
    st.floats(-1e3, 1e3),
    st.floats(0.0, 1.0),
)
def test_it_has_the_bits_of_pchip(
    between: list[tuple[float, float]],
    direction: float,
    kind: type[np.floating[Any]],
    start: float,
    share: float,
) -> None:
    """At any place, at the points too, for points that rise and that fall."""
    x = start + np.cumsum([0.0, *(step for step, _ in between)])
    y = direction * np.cumsum([0.0, *(step for _, step in between)])
    x = x.astype(kind)
    assume(bool(np.all(np.diff(x) > 0.0)))  # with 32 bits, close points may become one
    theirs = PchipInterpolator(x, y)

    for at in (float(x[0] + share * (x[-1] - x[0])), *x.tolist()):
        assert monotone_at(x, y, at) == (float(theirs(at)), float(theirs(at, 1)))
