"""Expected calibration error: the mean gap between predicted and observed rates of bins."""

import numpy as np

from monitor.metrics.binning import Bins


def ece(bins: Bins) -> float:
    """Average the gap between observed and predicted rate over bins, weighted by their size.

    Parameters
    ----------
    bins : Bins
        Any bins; the monitor uses PAVA-BC bins. Over uniform bins this is the usual ECE,
        over quantile bins it is ACE.

    Returns
    -------
    float
        Ratio in [0, 1]; 0 if every bin's observed rate equals its mean prediction.

    Notes
    -----
    ``ECE = sum_b N_b/N |k_b/N_b - mean score_b|`` [TCE, equation 4].

    Examples
    --------
    >>> from monitor.metrics.binning import uniform_bins
    >>> from monitor.metrics.tally import tally
    >>> ece(uniform_bins(tally([0.25, 0.25, 0.75, 0.75], [0, 0, 1, 1]), 2))
    0.25
    """
    gaps = np.abs(bins.positives - bins.score_sums)
    return float(gaps.sum() / bins.counts.sum())
