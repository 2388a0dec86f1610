"""The ends of a range, as numpy finds them."""

import numpy as np
import pytest

from monitor.metrics.core.extremes import highest, lowest


@pytest.mark.parametrize(
    "values", [[0.3], [-1.0, 2.0, 0.5], [-np.inf, np.inf], [1.0, np.nan, 2.0], [np.nan, 1.0]]
)
def test_they_are_those_of_numpy(values: list[float]) -> None:
    """Also if a value is infinite or not a number."""
    array = np.array(values)

    np.testing.assert_equal([lowest(array), highest(array)], [array.min(), array.max()])
