"""The highest points have the bits of SciPy's spline, so that no stored size moved."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.interpolate import CubicSpline

from monitor.drift.curve.cubic import highest_points

Points = list[tuple[float, float]]


def highest_by_scipy(x: np.ndarray, curves: np.ndarray) -> Points:
    """Search the ends and the places where the slope of SciPy's spline is 0."""
    spline = CubicSpline(x, curves.T)
    flat = [of[np.isfinite(of)] for of in spline.derivative().roots(extrapolate=False)]
    places = [np.append(of, x[[0, -1]]) for of in flat]
    return [
        max(zip(spline(at)[:, j].tolist(), at.tolist(), strict=True)) for j, at in enumerate(places)
    ]


@given(st.integers(0, 2**32), st.integers(4, 20), st.sampled_from(["any", "peak", "line"]))
def test_they_have_the_bits_of_scipy(seed: int, count: int, shape: str) -> None:
    """Of curves with many turns, of one peak inside, and of one at an end."""
    rng = np.random.default_rng(seed)
    x = np.cumsum(rng.uniform(0.05, 1.0, count)) - 2.0
    curves = rng.normal(size=(4, count)) * 10.0 ** rng.uniform(-3.0, 4.0)
    if shape != "any":
        bent = -(x**2) * rng.uniform(0.5, 5.0) if shape == "peak" else 0.0
        curves = 100.0 * (rng.normal(size=(4, 1)) * x + bent) + 1e-6 * curves

    assert highest_points(x, curves) == highest_by_scipy(x, curves)
