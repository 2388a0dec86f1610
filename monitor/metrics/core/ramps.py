"""Functions whose weighted sum is a map with slopes between those at its knots."""

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:  # it loads what compiles, which those who only apply a map need not wait for
    from monitor.metrics.core.grid import Floats


def ramps_of(logits: "Floats", knots: "Floats") -> "Floats":
    """Integrate the hat function of each knot from the first one on; beyond, they stay constant.

    Examples
    --------
    >>> ramps_of(np.array([-1.0, 0.0, 2.0, 3.0]), np.array([0.0, 2.0]))
    array([[-1.,  0.,  1.,  1.],
           [ 0.,  0.,  1.,  2.]])
    """
    ramps = np.zeros((knots.size, *logits.shape))
    for i, width in enumerate(np.diff(knots)):
        inside = np.clip(logits - knots[i], 0.0, width)
        rising = inside**2 / (2.0 * width)
        ramps[i] += inside - rising
        ramps[i + 1] += rising
    ramps[0] += np.minimum(logits - knots[0], 0.0)
    ramps[-1] += np.maximum(logits - knots[-1], 0.0)
    return ramps
