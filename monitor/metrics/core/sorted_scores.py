"""Places in sorted scores, for compiled functions: numpy's take half a second to compile."""

from monitor.metrics.core.compiled import inner
from monitor.metrics.core.grid import Floats


@inner
def count_below(scores: Floats, bound: float) -> int:
    """Count the scores below a bound, all if it is nan: ``np.searchsorted(scores, bound)``.

    Examples
    --------
    >>> import numpy as np
    >>> count_below(np.array([0.1, 0.2, 0.2, 0.7]), 0.2)
    1
    """
    low, high = 0, scores.size
    while low < high:
        middle = (low + high) // 2
        if scores[middle] >= bound:
            high = middle
        else:
            low = middle + 1
    return low


@inner
def count_up_to(scores: Floats, bound: float) -> int:
    """Count the scores up to a bound: ``np.searchsorted(scores, bound, side="right")``.

    Examples
    --------
    >>> import numpy as np
    >>> count_up_to(np.array([0.1, 0.2, 0.2, 0.7]), 0.2)
    3
    """
    low, high = 0, scores.size
    while low < high:
        middle = (low + high) // 2
        if scores[middle] > bound:
            high = middle
        else:
            low = middle + 1
    return low
