"""Estimation error of bins: how much outcomes differ inside them."""

from dataclasses import dataclass

from monitor.metrics.binned.binning import Bins
from monitor.metrics.binned.default_bins import daily_bins, takes_bins


@dataclass(frozen=True)
class EstimationError:
    """How closely bins follow their outcomes; both figures of [TCE, Table 1].

    Attributes
    ----------
    total : float
        Variance inside the bins averaged over *predictions*, in [0, 1/4]: rises as bins merge.
    within_bin : float
        The same variances averaged over *bins*, in [0, 1/4]: rises with small unsettled bins.
    """

    total: float
    within_bin: float


@takes_bins(daily_bins)
def estimation_error(bins: Bins) -> EstimationError:
    """Measure how much the outcomes inside bins differ from their bin's observed rate.

    For analysis, not used by the daily job.

    Parameters
    ----------
    bins : Bins, Tally or rows
        Any b bins.

    Returns
    -------
    EstimationError
        Two means of the bins' variances, in units of squared probability.

    Notes
    -----
    A bin's error is the variance of its outcomes, ``D_b = r_b (1 - r_b)`` with
    ``r_b = k_b/n_b`` [TCE, equation 9]. The total is ``sum_b n_b/N D_b`` [TCE, equation 8], which
    `pava` makes as small as it can be with rates that do not fall [TCE, Proposition 1];
    the other is the plain mean ``sum_b D_b / b`` [TCE, Table 1]. Neither has an interval: they
    describe these bins of these rows and estimate nothing beyond them.

    Examples
    --------
    >>> from monitor.metrics.binned.binning import pava
    >>> from monitor.metrics.core.tally import tally
    >>> t = tally([0, 0, 0, 0, 1, 0], [0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    >>> estimation_error(pava(t))
    EstimationError(total=0.08333333333333333, within_bin=0.125)
    """
    variances = bins.rates * (1.0 - bins.rates)
    total = float((bins.counts * variances).sum() / bins.counts.sum())
    return EstimationError(total, float(variances.mean()))
