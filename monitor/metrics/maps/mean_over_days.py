"""The mean of a sequence of days whose values hang together, with its uncertainty."""

from math import sqrt

import numpy as np

from monitor.metrics.core.estimate import CONFIDENCE, Estimate
from monitor.metrics.core.grid import Floats
from monitor.metrics.core.special import stdtrit

FEWEST_DAYS = 4  # fewer say nothing about how they hang together
LONGEST_MEMORY = 0.95  # correlation of consecutive days
# A month is too short to see for how long a prior stays, so that of a level is not less; with
# more days, what they show counts.
LEVEL_MEMORY, MONTH = 0.85, 28
NO_SPREAD = 1e-24  # of values that are the same on all days, but for rounding


def mean_over_days(
    sums: Floats, counts: Floats, *, least_memory: float = 0.0, to_come: bool = True
) -> Estimate:
    """Give the mean of a prediction over days that hang together, and its interval.

    Parameters
    ----------
    sums, counts : ndarray of shape (days,)
        For each of at least four days the sum over its predictions, and their number or weight.
    least_memory : float
        The least correlation of consecutive days, in [0, 0.95], up to 28 days; less with more.
    to_come : bool
        Whether the interval is for as many days to come, or for the mean behind the past ones.

    Returns
    -------
    Estimate
        In the units of the sums, with 95 %. The standard error is that of the past days alone.

    Notes
    -----
    Days are a first-order autoregression with correlation rho, so that the mean of T days has the
    variance ``s**2 f / (T - f)``, ``f = 1 + 2 sum_k (1 - k/T) rho**k``, and that of T days to come
    differs from it with twice that variance. rho is corrected for its bias by Kendall (Biometrika
    41, 1954). The quantiles are those of Student's t.

    Examples
    --------
    >>> mean = mean_over_days(np.array([1.0, 3.0, 2.0, 2.0]), np.full(4, 10.0))
    >>> round(mean.value, 3), mean.low < 0.15 < mean.high
    (0.2, True)
    """
    mean, days = float(sums.sum() / counts.sum()), sums.size
    rest = (sums - mean * counts) * days / counts.sum()
    square = float((rest**2).sum())
    if square <= NO_SPREAD * float(((sums / counts.mean()) ** 2).sum()):
        return Estimate(mean, mean, mean, 0.0)
    lag = float((rest[1:] * rest[:-1]).sum()) / square
    memory = (lag + 1.0 / days) / (1.0 - 3.0 / days)
    memory = min(LONGEST_MEMORY, max(least_memory * min(1.0, MONTH / days), memory))
    steps = np.arange(1, days)
    longer = 1.0 + 2.0 * float(((1.0 - steps / days) * memory**steps).sum())
    error = sqrt(square / days * longer / (days - longer))
    reach = float(stdtrit(days - 1, 0.5 + CONFIDENCE / 2)) * error * (sqrt(2.0) if to_come else 1.0)
    return Estimate(mean, mean - reach, mean + reach, error)
