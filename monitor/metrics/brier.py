"""Root Brier score: the typical distance between a predicted probability and what happened."""

import numpy as np

from monitor.metrics.tally import Tally


def rbs(t: Tally) -> float:
    """Take the root of the mean squared distance between scores and outcomes.

    Parameters
    ----------
    t : Tally
        At least one prediction.

    Returns
    -------
    float
        In [0, 1], in units of probability. It bounds the L2 calibration error from above.

    Raises
    ------
    ValueError
        If the tally is empty.

    Notes
    -----
    ``RBS = sqrt(mean (s - y)**2)`` [RBS, Example 4.4], the one-vector form of scikit-learn's
    Brier score. The paper sums over both classes, which is sqrt(2) times this. Its level is
    no alarm: it is far from 0 on perfectly calibrated data.

    Examples
    --------
    >>> from monitor.metrics.tally import tally
    >>> rbs(tally([0.5, 0.5], [0, 1]))
    0.5
    """
    if not t.total:
        msg = "the Brier score of an empty tally is undefined: give at least one prediction."
        raise ValueError(msg)
    misses = t.counts - t.positives
    squared = t.positives @ (1.0 - t.scores) ** 2 + misses @ t.scores**2
    return float(np.sqrt(squared / t.total))
