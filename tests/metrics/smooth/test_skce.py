"""SKCE against the double sum over rows, reference values and simulated calibration."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.metrics.core.tally import Tally, tally
from monitor.metrics.smooth.skce import mean_distance, skce
from tests.support.cases import few_examples

scores = st.one_of(st.sampled_from([0.0, 0.05, 0.3, 0.5, 0.9, 1.0]), st.floats(1e-200, 1.0))
rows = st.lists(st.tuples(scores, st.booleans()), min_size=2, max_size=40)
widths = st.floats(-6, 2).map(lambda x: 10.0**x)


def columns(pairs: list[tuple[float, bool]]) -> tuple[np.ndarray, np.ndarray]:
    """Split rows into scores and outcomes."""
    return np.array([s for s, _ in pairs]), np.array([float(y) for _, y in pairs])


@few_examples
@given(rows, widths)
def test_skce_equals_the_double_sum(pairs: list[tuple[float, bool]], bandwidth: float) -> None:
    """Row by row over pairs i != j, for the value and for its variance under calibration."""
    s, y = columns(pairs)
    kernel = np.exp(-np.abs(s[:, None] - s) / bandwidth)
    np.fill_diagonal(kernel, 0.0)
    variance = s * (1 - s)
    number = s.size * (s.size - 1)
    found = skce(tally(y, s), bandwidth=bandwidth)

    # Sums of up to 1,560 terms no larger than 1, of both signs.
    assert found.value == pytest.approx((y - s) @ kernel @ (y - s) / number, abs=1e-15)
    assert found.deviation == pytest.approx(
        np.sqrt(2 * variance @ kernel**2 @ variance) / number, rel=1e-12
    )
    assert found.bandwidth == bandwidth


@few_examples
@given(rows)
def test_the_default_bandwidth_is_the_mean_distance(pairs: list[tuple[float, bool]]) -> None:
    """Over pairs of different rows; equal scores have none, and there it is of no consequence."""
    s, y = columns(pairs)
    t = tally(y, s)
    expected = np.abs(s[:, None] - s).sum() / (s.size * (s.size - 1))

    if t.scores.size > 1:
        assert mean_distance(t) == pytest.approx(expected, rel=1e-12)
    else:
        assert mean_distance(t) == 1.0
        assert skce(t).value == skce(t, bandwidth=0.01).value
    assert skce(t).bandwidth == mean_distance(t)


@pytest.mark.parametrize("bandwidth", [5e-324, 1e300])
def test_extreme_bandwidths_are_safe(bandwidth: float) -> None:
    """The narrowest kernel sees pairs of equal score only, the widest all pairs alike."""
    t = tally([1, 0, 1, 1], [0.2, 0.2, 0.6, 0.6])
    inside, total = 2 * (0.8 * -0.2 + 0.4 * 0.4), (0.8 - 0.2 + 0.8) ** 2 - (0.64 + 0.04 + 0.32)

    expected = inside / 12 if bandwidth < 1 else total / 12
    assert skce(t, bandwidth=bandwidth).value == pytest.approx(expected, abs=1e-15)


def test_large_counts_do_not_overflow() -> None:
    """Squares of counts beyond 64-bit integers: a rate 0.1 off gives 0.01."""
    t = Tally(np.array([0.5]), np.array([10**11]), np.array([6 * 10**10]))

    assert skce(t).value == pytest.approx(0.01, rel=1e-9)
