"""The Hosmer-Lemeshow test: whether chance alone could explain the gaps of some bins."""

import math
from dataclasses import dataclass

import numpy as np

from monitor.metrics.binned.binning import Bins
from monitor.metrics.binned.default_bins import deciles, takes_bins
from monitor.metrics.core.special import gammaln, log_ndtr, xlogy


@dataclass(frozen=True)
class HosmerLemeshow:
    """A Hosmer-Lemeshow test.

    Attributes
    ----------
    statistic : float
        Sum of squared standardised gaps, at least 0; infinite if a certainty failed.
    degrees : int
        Degrees of freedom of its chi-squared law under the null, at least 1.
    log10_p : float
        log10 of the p-value, at most 0: -3 is one in a thousand. Finite where the p-value
        itself would underflow to 0.
    """

    statistic: float
    degrees: int
    log10_p: float


@takes_bins(deciles)
def hosmer_lemeshow(bins: Bins, *, degrees_lost: int = 0) -> HosmerLemeshow:
    """Test whether every bin's observed rate is its mean prediction, by chi-squared.

    For analysis, not used by the daily job.

    Parameters
    ----------
    bins : Bins, Tally or rows
        b bins cut without looking at the outcomes: uniform (Hosmer and Lemeshow's H) or
        quantile bins (their C). PAVA and PAVA-BC bins follow the outcomes: there the law
        below does not hold, and measured on calibrated models a test at 5 % rejects 0 to
        1.5 %, not 5 %.
    degrees_lost : int
        What fitting to these very outcomes has used up, subtracted from b. 0, the default,
        is right for a monitor: the model was fitted on older data, so all b gaps are
        free. 1 after an intercept was fitted on these data; 2 if the model
        itself was, which is the textbook's b - 2 and other programs' default.

    Returns
    -------
    HosmerLemeshow
        Statistic, degrees of freedom and log10 p.

    Raises
    ------
    ValueError
        If no degree of freedom is left, or `degrees_lost` is negative.

    Notes
    -----
    ``H = sum_b (k_b - n_b m_b)**2 / (n_b m_b (1 - m_b))`` with mean score m_b, and p the upper
    tail of chi-squared with ``b - degrees_lost`` degrees (Hosmer and Lemeshow, 1980; a loss
    in the sense of [TCE, Definition 1], though squared and not normalised). The law is
    an approximation: poor where ``n_b m_b`` is below about 5, and a little
    conservative where scores differ much inside a bin.

    A bin whose scores are all exactly 0, or all exactly 1, leaves nothing to chance. If its
    outcomes agree it is left out, as no degree of freedom either; if one does not, the
    statistic is infinite and p is 0.

    A statistic of a test has its p-value in place of an interval.

    Examples
    --------
    >>> from monitor.metrics.binned.binning import uniform_bins
    >>> from monitor.metrics.core.tally import tally
    >>> result = hosmer_lemeshow(uniform_bins(tally([0] * 28, [0.25] * 12 + [0.5] * 16), 4))
    >>> result.statistic, result.degrees, round(result.log10_p, 6)
    (20.0, 2, -4.342945)
    """
    misses = bins.positives - bins.score_sums
    # Written so that a sum a hair below the count leaves a variance above 0.
    variances = bins.score_sums * (bins.counts - bins.score_sums) / bins.counts
    free = (variances > 0.0) | (misses != 0.0)
    degrees = int(np.count_nonzero(free)) - degrees_lost
    if degrees < 1 or degrees_lost < 0:
        msg = (
            f"the test needs 0 <= degrees_lost < bins left to chance, got {degrees_lost} and "
            f"{int(np.count_nonzero(free))}: make more bins."
        )
        raise ValueError(msg)
    with np.errstate(divide="ignore"):
        statistic = float(np.sum(misses[free] ** 2 / variances[free]))
    return HosmerLemeshow(statistic, degrees, log10_chi_squared_tail(statistic, degrees))


def log10_chi_squared_tail(x: float, degrees: int) -> float:
    """Give log10 of P(X >= x) for a chi-squared X, without underflow.

    Parameters
    ----------
    x : float
        At least 0, possibly infinite.
    degrees : int
        Degrees of freedom d, at least 1.

    Returns
    -------
    float
        At most 0; ``-inf`` only for an infinite x.

    Notes
    -----
    With ``h = x/2``, the tail is ``sum_j exp(-h) h**j / Gamma(j+1)`` over j = 0, 1, ..., d/2 - 1
    for an even d, and over j = 1/2, 3/2, ..., d/2 - 1 with ``erfc(sqrt h)`` added for an odd
    one. All terms are positive, so adding their logarithms loses nothing anywhere.

    Examples
    --------
    >>> round(log10_chi_squared_tail(3.841458820694124, 1), 6)  # log10 of 0.05
    -1.30103
    >>> round(log10_chi_squared_tail(10_000.0, 8), 2)
    -2161.15
    """
    if math.isinf(x):
        return -math.inf
    h = 0.5 * x
    powers = np.arange(0.5 * (degrees % 2), 0.5 * degrees)
    log_tail = np.logaddexp.reduce(xlogy(powers, h) - h - gammaln(powers + 1.0), initial=-np.inf)
    if degrees % 2:
        # erfc(sqrt h) = 2 P(Z > sqrt x) for a standard normal Z.
        log_tail = np.logaddexp(log_tail, math.log(2.0) + log_ndtr(-math.sqrt(x)))
    # Rounding can lift the logarithm of 1 a little above 0.
    return min(0.0, float(log_tail) / math.log(10.0))
