"""Squared kernel calibration error: whether predictions of similar score err the same way.

No bins, and unbiased: its expectation is 0 for a calibrated model whatever the volume, so it
may be negative, and its mean over days is meaningful.
"""

from dataclasses import dataclass
from math import exp, inf, sqrt

import numpy as np

from monitor.metrics.core.compiled import compiled
from monitor.metrics.core.grid import Floats, Ints
from monitor.metrics.core.reading import takes_rows
from monitor.metrics.core.tally import Tally

FEWEST = 2  # a pair
FLAT = 1.0  # bandwidth of equal scores, where every bandwidth gives the same value


@dataclass(frozen=True)
class SKCE:
    """A squared kernel calibration error.

    Attributes
    ----------
    value : float
        In squared units of probability, in [-1, 1]; 0 on average if the scores are right.
    deviation : float
        Standard deviation of the value if the scores are right, exact for these scores,
        same units. The law is a weighted sum of centred chi-squares, skewed to the right:
        the value exceeds 2 deviations more often than a normal one would, about 1 in 20.
    bandwidth : float
        Distance of scores at which the kernel has fallen to 1/e.
    """

    value: float
    deviation: float
    bandwidth: float


@takes_rows
def skce(t: Tally, *, bandwidth: float | None = None) -> SKCE:
    """Estimate the squared kernel calibration error with a Laplacian kernel, without bias.

    For analysis, not used by the daily job.

    Parameters
    ----------
    t : Tally or rows
        At least two predictions.
    bandwidth : float, optional
        Positive, in units of probability; by default `mean_distance` of the tally. Values
        compare across days and models only at one bandwidth, so give it to compare them.

    Returns
    -------
    SKCE
        Value, its deviation under calibration, and the bandwidth.

    Raises
    ------
    ValueError
        If there are fewer than two predictions or the bandwidth is not a positive number.

    Notes
    -----
    ``1/(N (N-1)) sum_{i != j} (y_i - s_i) (y_j - s_j) exp(-|s_i - s_j|/bandwidth)`` over
    predictions (Widmann, Lindsten and Zachariah, NeurIPS 2019, table 1, for one
    probability; over both classes it is twice that). Given the scores its variance under
    calibration is ``2/(N (N-1))**2 sum_{i != j} v_i v_j kernel**2`` with ``v = s (1-s)``.
    Interval: `bootstrap_interval` by inversion with the bandwidth fixed, never below 0 though
    the value may be. At 95 % it holds the truth 93-95 % of the time, over all prevalences and
    volumes together; for a drifted model with 50 positives 88 % (docs/coverage.md).

    The sum over all pairs takes one pass: along increasing scores, the sum of all earlier
    residuals weighted by the kernel is itself weighted by ``exp(-gap/bandwidth)`` from one
    group to the next. Weights are at most 1, so nothing overflows.

    Examples
    --------
    >>> from monitor.metrics.core.tally import tally
    >>> estimate = skce(tally([1, 1, 1, 0], [0.5, 0.5, 0.5, 0.5]))
    >>> estimate.value, round(estimate.deviation, 6)
    (0.0, 0.102062)
    """
    if t.total < FEWEST:
        msg = f"the SKCE needs at least two predictions, got {t.total}."
        raise ValueError(msg)
    width = mean_distance(t) if bandwidth is None else bandwidth
    if not 0.0 < width < inf:
        msg = f"the bandwidth must be a positive number, got {width}."
        raise ValueError(msg)
    errors, variances = _pair_sums(t.scores, t.counts, t.positives, width)
    pairs = float(t.total) * (t.total - 1)
    return SKCE(errors / pairs, sqrt(2.0 * variances) / pairs, width)


def mean_distance(t: Tally) -> float:
    """Average ``|s_i - s_j|`` over pairs of different predictions: the default bandwidth.

    Parameters
    ----------
    t : Tally
        At least two predictions.

    Returns
    -------
    float
        In (0, 1], in units of probability; 1 if all scores are equal.

    Notes
    -----
    ``2/(N (N-1)) sum_j (s_{j+1} - s_j) M_j (N - M_j)``, with M_j the predictions up to group
    j (Gini's mean difference). Like the usual median of the distances it follows the spread
    of the scores, so that rare events are not all neighbours of each other; unlike it, it
    takes one pass. It uses scores only, never outcomes, which keeps the SKCE unbiased.

    Examples
    --------
    >>> from monitor.metrics.core.tally import tally
    >>> round(mean_distance(tally([0, 1, 0], [0.1, 0.2, 0.4])), 12)
    0.2
    """
    below = np.cumsum(t.counts)[:-1].astype(np.float64)
    crossings = (np.diff(t.scores) * below * (t.total - below)).sum()
    return 2.0 * float(crossings) / (float(t.total) * (t.total - 1)) or FLAT


@compiled
def _pair_sums(
    scores: Floats, counts: Ints, positives: Ints, bandwidth: float
) -> tuple[float, float]:
    """Sum over ordered pairs the products of residuals, and of variances by kernel squared."""
    errors = variances = 0.0
    earlier_residual = earlier_variance = 0.0  # of the groups passed, weighted by the kernel
    for i in range(scores.size):
        s, r = scores[i], 1.0 - scores[i]
        hits, misses = float(positives[i]), float(counts[i] - positives[i])
        if i > 0:
            weight = exp(-(s - scores[i - 1]) / bandwidth)
            earlier_residual *= weight
            earlier_variance *= weight * weight
        # Pairs inside the group by kind of outcome, so that a prediction never meets itself.
        errors += hits * (hits - 1.0) * r * r + misses * (misses - 1.0) * s * s
        errors -= 2.0 * hits * misses * r * s
        variances += counts[i] * (counts[i] - 1.0) * (s * r) ** 2

        residual, variance = hits * r - misses * s, counts[i] * s * r
        errors += 2.0 * residual * earlier_residual
        variances += 2.0 * variance * earlier_variance
        earlier_residual += residual
        earlier_variance += variance
    return errors, variances
