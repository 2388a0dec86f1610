"""Discrimination: how well the scores separate positives from negatives, calibrated or not."""

from dataclasses import dataclass
from math import nan, sqrt

import numpy as np

from monitor.metrics.core.grid import Floats, Ints
from monitor.metrics.core.reading import takes_rows
from monitor.metrics.core.tally import Tally


@dataclass(frozen=True)
class Auc:
    """Area under the ROC curve.

    Attributes
    ----------
    value : float
        In [0, 1]: the share of pairs of a positive and a negative that the scores put in the
        right order, ties as half; 0.5 is chance.
    standard_error : float
        DeLong's; nan with fewer than two positives or two negatives.
    """

    value: float
    standard_error: float


@takes_rows
def auc(t: Tally) -> Auc:
    """Count the pairs of a positive and a negative in the right order.

    For analysis, not used by the daily job.

    Parameters
    ----------
    t : Tally or rows
        With both outcomes.

    Returns
    -------
    Auc
        Unchanged by any strictly increasing map of the scores. A standard error of 0 only
        says that the sample was ordered perfectly, not that the area is known.

    Raises
    ------
    ValueError
        If the tally is empty or holds one class only.

    Notes
    -----
    A positive's placement is the share of negatives below it, ties as half; a negative's is
    the share of positives above it. Both average to the AUC, and ``SE**2 = var_1 / K +
    var_0 / (N - K)`` with the sample variances of the placements of the K positives and of
    the negatives (DeLong, DeLong and Clarke-Pearson, Biometrics 44, 1988). Interval:
    `auc_interval`, in logit; plus or minus 1.96 standard errors miss one in five with 5 positives.

    Examples
    --------
    >>> from monitor.metrics.core.tally import tally
    >>> auc(tally([0, 0, 1, 1], [0.1, 0.4, 0.4, 0.8])).value
    0.875
    """
    misses = _negatives(t, "the AUC")
    # Sums of integers are exact in float64 up to 2**53 predictions.
    below = (np.cumsum(misses) - 0.5 * misses) / misses.sum()
    above = (t.total_positives - np.cumsum(t.positives) + 0.5 * t.positives) / t.total_positives
    value = float((t.positives * below).sum()) / t.total_positives
    variance = variance_of_mean(below, t.positives) + variance_of_mean(above, misses)
    return Auc(value, sqrt(variance))


@takes_rows
def tjur_r2(t: Tally) -> float:
    """Subtract the mean score of the negatives from that of the positives.

    For analysis, not used by the daily job.

    Parameters
    ----------
    t : Tally or rows
        With both outcomes.

    Returns
    -------
    float
        In [-1, 1], in units of probability: 0 for scores without information, 1 for perfect
        ones. Unlike the AUC it moves with the calibration of the scores.

    Raises
    ------
    ValueError
        If the tally is empty or holds one class only.

    Notes
    -----
    ``R2 = mean(s | y = 1) - mean(s | y = 0)`` (Tjur, The American Statistician 63, 2009), the
    coefficient of discrimination. Interval: `tjur_interval`.

    Examples
    --------
    >>> from monitor.metrics.core.tally import tally
    >>> tjur_r2(tally([0, 1, 1, 1], [0.25, 0.25, 0.75, 0.75]))
    0.33333333333333337
    """
    misses = _negatives(t, "Tjur's R2")
    of_positives = (t.positives * t.scores).sum() / t.total_positives
    return float(of_positives - (misses * t.scores).sum() / misses.sum())


def _negatives(t: Tally, what: str) -> Ints:
    """Count the negatives of each group, both classes being there."""
    misses = t.counts - t.positives
    if not 0 < t.total_positives < t.total:
        msg = (
            f"{what} needs both outcomes, got {t.total_positives} positives of {t.total} "
            "predictions: take a longer window."
        )
        raise ValueError(msg)
    return misses


def variance_of_mean(values: Floats, counts: Ints) -> float:
    """Give the squared standard error of the mean of values that come `counts` times each.

    Examples
    --------
    >>> variance_of_mean(np.array([0.0, 1.0]), np.array([2, 2]))
    0.08333333333333333
    """
    size = int(counts.sum())
    if size == 1:
        return nan
    mean = (counts * values).sum() / size
    squares = (counts * (values - mean) ** 2).sum()
    return float(squares / (size - 1) / size)
