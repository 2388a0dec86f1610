"""The ends of the range of an array, for compiled functions: numpy's compile half a second."""

from math import inf, isnan

from monitor.metrics.core.compiled import inner
from monitor.metrics.core.grid import Floats


@inner
def highest(values: Floats) -> float:
    """Give the highest value, nan if one is nan: ``values.max()``.

    Examples
    --------
    >>> import numpy as np
    >>> highest(np.array([0.1, 0.7, 0.2]))
    0.7
    """
    most = -inf
    for value in values:
        if value > most or isnan(value):
            most = value
    return most


@inner
def lowest(values: Floats) -> float:
    """Give the lowest value, nan if one is nan: ``values.min()``.

    Examples
    --------
    >>> import numpy as np
    >>> lowest(np.array([0.7, 0.1, 0.2]))
    0.1
    """
    least = inf
    for value in values:
        if value < least or isnan(value):
            least = value
    return least
