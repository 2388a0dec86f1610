"""Spiegelhalter's test, whether the Brier score is what calibrated scores would have."""

from dataclasses import dataclass
from math import log, log10, sqrt

from monitor.metrics.core.compiled import compiled
from monitor.metrics.core.grid import Floats, Ints
from monitor.metrics.core.reading import reads_pairs
from monitor.metrics.core.samples import Rows
from monitor.metrics.core.special import log_ndtr
from monitor.metrics.core.tally import Tally
from monitor.metrics.scores.row_scores import sum_leans


@dataclass(frozen=True)
class Spiegelhalter:
    """A standard normal statistic and its two-sided p-value.

    Attributes
    ----------
    z : float
        Positive when the Brier score is higher than calibrated scores would have it, as with
        too extreme scores.
    log10_p : float
        Decimal logarithm of the two-sided p-value, at most 0; finite where p itself would
        underflow.
    """

    z: float
    log10_p: float


@reads_pairs
def spiegelhalter(t: Tally | Rows) -> Spiegelhalter:
    """Compare the Brier score with its mean and variance under calibration.

    For analysis, not used by the daily job.

    Parameters
    ----------
    t : Tally or rows
        With a score other than 0, 0.5 and 1, whose contributions vary; or scores and outcomes,
        which are read once, not sorted.

    Returns
    -------
    Spiegelhalter
        The normal approximation needs dozens of expected positives and negatives. Scores
        of 0 and 1 that were wrong add to z only their distance of 1, although under
        calibration they cannot occur at all: look at the log score, which is then infinite.

    Raises
    ------
    ValueError
        If there is no prediction or all scores are 0, 0.5 or 1; as `tally` does for samples
        that are not valid.

    Notes
    -----
    ``z = sum (y - s)(1 - 2 s) / sqrt(sum (1 - 2 s)**2 s (1 - s))`` (Spiegelhalter,
    Statistics in Medicine 5, 1986). It is not robust to a prior shift, and it is blind to
    errors that are orthogonal to ``1 - 2 s``. A statistic of a test has its p-value in place of
    an interval.

    Examples
    --------
    >>> from monitor.metrics.core.tally import tally
    >>> z_test = spiegelhalter(tally([0, 1, 1, 0], [0.2] * 4))
    >>> round(z_test.z, 6), round(z_test.log10_p, 6)
    (1.5, -0.874147)
    """
    if not isinstance(t, Tally):
        total, variance, predictions = sum_leans(t)
    else:
        total, variance = _sums(t.scores, t.counts, t.positives)
        predictions = t.total
    if not variance > 0.0:
        msg = (
            f"Spiegelhalter's z needs a score other than 0, 0.5 and 1, got none among "
            f"{predictions} predictions: take a longer window or another measure."
        )
        raise ValueError(msg)
    z = total / sqrt(variance)
    return Spiegelhalter(z, two_sided_log10_p(z))


def two_sided_log10_p(z: float) -> float:
    """Give log10 of the probability that a standard normal lies at least as far out as `z`.

    Parameters
    ----------
    z : float
        A standard normal statistic of either sign.

    Returns
    -------
    float
        At most 0; never minus infinity for a finite `z` below 1e150.

    Notes
    -----
    ``log10 p = log10 2 + log Phi(-|z|) / log 10``; the logarithm of the tail is computed as
    such, so nothing underflows.

    Examples
    --------
    >>> two_sided_log10_p(0.0), round(two_sided_log10_p(-100.0), 3)
    (0.0, -2173.571)
    """
    # log(1/2) and log10 2 need not cancel to the last bit, and no probability exceeds 1.
    return min(0.0, float(log_ndtr(-abs(z))) / log(10.0) + log10(2.0))


@compiled
def _sums(scores: Floats, counts: Ints, positives: Ints) -> tuple[float, float]:
    """Sum ``(k - n s)(1 - 2 s)`` and its variance over groups, in one pass."""
    total = variance = 0.0
    for i in range(scores.size):
        s, rest = scores[i], 1.0 - scores[i]
        lean = 1.0 - 2.0 * s
        # Not k - n s, which loses the digits of scores near 1.
        total += (positives[i] * rest - (counts[i] - positives[i]) * s) * lean
        variance += counts[i] * lean * lean * s * rest
    return total, variance
