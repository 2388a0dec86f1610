"""Division where what is divided by may be nothing."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from monitor.metrics.core.grid import Floats

Numbers = NDArray[np.number[Any]]


def ratio(above: Numbers | float, below: Numbers) -> Floats:
    """Divide, and give 0 where there is nothing to divide by.

    Parameters
    ----------
    above, below : ndarray of shapes that fit together
        Any numbers, and those that they are divided by.

    Returns
    -------
    ndarray
        ``above / below`` where `below` is above 0, else 0.

    Examples
    --------
    >>> ratio(np.array([1.0, 1.0]), np.array([4.0, 0.0]))
    array([0.25, 0.  ])
    """
    shape = np.broadcast_shapes(np.shape(above), below.shape)
    return np.asarray(np.divide(above, below, out=np.zeros(shape), where=below > 0.0))
