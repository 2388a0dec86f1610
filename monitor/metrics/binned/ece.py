"""Binned calibration errors: average and widest gaps between predicted and observed rates.

Every measure here is a function of bins alone, and how the bins were cut is part of the
measure's name: the same formula over uniform bins, quantile bins and PAVA-BC bins gives
different numbers. The gap of bin b is ``g_b = |k_b/n_b - mean score_b|`` everywhere.
"""

from dataclasses import dataclass

import numpy as np

from monitor.metrics.binned.binning import Bins, quantile_bins
from monitor.metrics.binned.default_bins import daily_bins, fifteen_quantiles, takes_bins
from monitor.metrics.core.compiled import compiled
from monitor.metrics.core.grid import Floats, Ints
from monitor.metrics.core.reading import reads_pairs
from monitor.metrics.core.samples import Rows
from monitor.metrics.core.tally import Tally


@dataclass(frozen=True)
class WidestGap:
    """A maximum calibration error and how many predictions stand behind it.

    Attributes
    ----------
    value : float
        The widest gap, a ratio in [0, 1].
    size : int
        Predictions in the bin that has it. With a handful the value is noise: a single
        unexpected outcome can make it 0.9.
    """

    value: float
    size: int


@takes_bins(daily_bins)
def ece(bins: Bins) -> float:
    """Average the gap between observed and predicted rate over bins, weighted by their size.

    Parameters
    ----------
    bins : Bins, Tally or rows
        Any b bins; the monitor uses PAVA-BC bins. Over uniform bins this is the usual ECE,
        over quantile bins it is ACE.

    Returns
    -------
    float
        Ratio in [0, 1]; 0 if every bin's observed rate equals its mean prediction.

    Notes
    -----
    ``ECE = sum_b n_b/N g_b`` [TCE, equation 4].

    Interval: over PAVA-BC bins `ece_interval`, over others `bootstrap_interval` by inversion.
    It is for the error of endless rows, 0 if calibrated, which ECE itself overstates. Measured
    coverage at 95 %: docs/coverage.md.

    Examples
    --------
    >>> from monitor.metrics.binned.binning import uniform_bins
    >>> from monitor.metrics.core.tally import tally
    >>> ece(uniform_bins(tally([0, 0, 1, 1], [0.25, 0.25, 0.75, 0.75]), 2))
    0.25
    """
    return _mean_gap(bins.counts, bins.positives, bins.score_sums)


@compiled
def _mean_gap(counts: Ints, positives: Ints, score_sums: Floats) -> float:
    """Add up a few bins, which numpy does no faster than it is called."""
    gaps, total = 0.0, 0
    for b in range(counts.size):
        gaps += abs(positives[b] - score_sums[b])
        total += counts[b]
    return gaps / total


@reads_pairs
def ace(t: Tally | Rows, n: int) -> float:
    """Measure the adaptive calibration error: ECE over `n` quantile bins.

    For analysis, not used by the daily job.

    Parameters
    ----------
    t : Tally or rows
        At least one prediction; or its rows, which are read once, not sorted.
    n : int
        Number of quantile bins, at least 1; the paper takes 10. Ties can leave fewer.

    Returns
    -------
    float
        Ratio in [0, 1].

    Raises
    ------
    ValueError
        If there is no prediction or `n` is below 1; as `tally` does for samples that are not
        valid.

    Notes
    -----
    ``ACE = ECE(quantile_bins(t, n))`` [TCE, section 2.2, challenge 3]. Interval: as for `ece`.

    Examples
    --------
    >>> from monitor.metrics.core.tally import tally
    >>> ace(tally([0, 0, 1, 1], [0.25, 0.25, 0.75, 0.75]), 2)
    0.25
    """
    return ece(quantile_bins(t, n))


@takes_bins(daily_bins)
def mce(bins: Bins) -> WidestGap:
    """Find the widest gap between observed and predicted rate: the maximum calibration error.

    For analysis, not used by the daily job.

    Parameters
    ----------
    bins : Bins, Tally or rows
        Any b bins. MCE is this over uniform bins; the paper's MCE(Q) is
        ``mce(quantile_bins(t, n))``.

    Returns
    -------
    WidestGap
        The gap, a ratio in [0, 1], and the size of its bin; of the largest such bin if
        several have the same gap.

    Notes
    -----
    ``MCE = max_b g_b`` [TCE, section 4: equation 4 with the supremum norm].

    Interval: over quantile bins `bootstrap_interval` by inversion; at 95 % it holds the truth
    90-95 % of the time over all prevalences and volumes, of drifted models 84-98 % in single cells.
    **Over uniform bins there is none that can be trusted**: a bin that holds one row or none of the
    sample decides. The mean inverted interval holds the mean MCE 88-98 % of the time at a
    prevalence of 50 %, but 34-86 % at 5 % and 25-43 % at 0.5 % (docs/coverage.md).

    Examples
    --------
    >>> from monitor.metrics.binned.binning import uniform_bins
    >>> from monitor.metrics.core.tally import tally
    >>> mce(uniform_bins(tally([0, 0, 0, 1, 0], [0.25] * 4 + [0.75]), 2))
    WidestGap(value=0.75, size=1)
    """
    gaps = _gaps(bins)
    widest = gaps.max()
    return WidestGap(float(widest), int(bins.counts[gaps == widest].max()))


@takes_bins(daily_bins)
def mean_squared_gap(bins: Bins) -> float:
    """Average the squared gap over bins, weighted by their size: L2 calibration error, *no root*.

    For analysis, not used by the daily job.

    Parameters
    ----------
    bins : Bins, Tally or rows
        Any b bins.

    Returns
    -------
    float
        In [0, 1], in units of *squared* probability.

    Notes
    -----
    ``sum_b n_b/N g_b**2``: [RBS, equation 2] with p = 2, estimated over bins and squared.
    The published TCE program calls this its L2 form of ECE (ACE over quantile bins). It is
    too high by about the sampling variance of the bins; see `debiased_mean_squared_gap`.
    Interval: the squared ends of that of `root_mean_squared_gap`.

    Examples
    --------
    >>> from monitor.metrics.binned.binning import uniform_bins
    >>> from monitor.metrics.core.tally import tally
    >>> mean_squared_gap(uniform_bins(tally([0, 0, 1, 1], [0.25, 0.25, 0.75, 0.75]), 2))
    0.0625
    """
    return float((bins.counts * _gaps(bins) ** 2).sum() / bins.counts.sum())


@takes_bins(daily_bins)
def root_mean_squared_gap(bins: Bins) -> float:
    """Take the root of `mean_squared_gap`: the L2 calibration error CE_2, in probability.

    For analysis, not used by the daily job.

    Parameters
    ----------
    bins : Bins, Tally or rows
        Any b bins.

    Returns
    -------
    float
        In [0, 1], in units of probability: never below `ece` nor above `rbs`.

    Notes
    -----
    ``CE_2 = sqrt(sum_b n_b/N g_b**2)`` [RBS, equation 2 with p = 2], and
    ``ECE <= CE_2 <= RBS`` [RBS, Theorem 3.1]. Interval: `bootstrap_interval` by inversion.
    At 95 % it holds the truth 94-96 % of the time, over all prevalences and volumes together;
    in single cells 90-98 %.

    Examples
    --------
    >>> from monitor.metrics.binned.binning import uniform_bins
    >>> from monitor.metrics.core.tally import tally
    >>> root_mean_squared_gap(uniform_bins(tally([0, 0, 1, 1], [0.25, 0.25, 0.75, 0.75]), 2))
    0.25
    """
    return float(np.sqrt(mean_squared_gap(bins)))


@takes_bins(fifteen_quantiles)
def debiased_mean_squared_gap(bins: Bins) -> float:
    """Average the squared gaps less what sampling alone adds to them: *signed* and *no root*.

    Parameters
    ----------
    bins : Bins, Tally or rows
        Bins cut without looking at the outcomes: uniform or quantile bins. PAVA and PAVA-BC
        bins follow the outcomes, and there the correction is too large. Bins of one
        prediction are left out, of the sum and of the weights: one outcome says nothing
        about its own variance.

    Returns
    -------
    float
        At most 1, in units of *squared* probability. Negative values are meant: around 0 is
        where a calibrated model is, on both sides.

    Raises
    ------
    ValueError
        If no bin holds two predictions.

    Notes
    -----
    ``sum_b n_b/N [g_b**2 - r_b (1 - r_b)/(n_b - 1)]`` with ``r_b = k_b/n_b``: the debiased
    CE_2 that [RBS, section 5] evaluates, after Kumar, Liang and Ma (2019). Given the scores
    it is unbiased for the binned squared error where the true probability is the same
    throughout a bin. Where it varies with variance V_b inside bin b, ``r (1 - r)`` overstates
    the noise, and the value is too low by ``sum_b n_b/N V_b/(n_b - 1)``: negligible for
    bins of hundreds, visible for wide bins of a dozen.

    Interval: `bootstrap_interval` by inversion, for the squared error of endless rows, so never
    below 0 though the value may be. At 95 % it holds the truth 92-95 % of the time, over all
    prevalences and volumes together; in single cells 88-98 %.

    Examples
    --------
    >>> from monitor.metrics.binned.binning import uniform_bins
    >>> from monitor.metrics.core.tally import tally
    >>> t = tally([0, 0, 0, 1, 1, 1, 1, 0], [0.25] * 4 + [0.75] * 4)
    >>> debiased_mean_squared_gap(uniform_bins(t, 2))
    -0.0625
    """
    several = bins.counts > 1
    if not several.any():
        msg = (
            f"a debiased error needs a bin of two predictions or more, got {bins.counts.size} "
            f"of one each: make fewer bins."
        )
        raise ValueError(msg)
    counts, rates = bins.counts[several], bins.rates[several]
    noise = rates * (1.0 - rates) / (counts - 1)
    return float((counts * (_gaps(bins)[several] ** 2 - noise)).sum() / counts.sum())


@takes_bins(fifteen_quantiles)
def debiased_root_mean_squared_gap(bins: Bins) -> float:
    """Take the root of `debiased_mean_squared_gap`, or 0 where that is negative.

    For analysis, not used by the daily job.

    Parameters
    ----------
    bins : Bins, Tally or rows
        As for `debiased_mean_squared_gap`, with the same error.

    Returns
    -------
    float
        In [0, 1], in units of probability. Clipping and the root bring some bias back, so
        average and compare the signed squares, and show this one.

    Raises
    ------
    ValueError
        If no bin holds two predictions.

    Notes
    -----
    ``sqrt(max(0, debiased mean squared gap))``, debiased CE_2 as printed in [RBS, section 5].
    Interval: the roots of the ends of that of `debiased_mean_squared_gap`.

    Examples
    --------
    >>> from monitor.metrics.binned.binning import uniform_bins
    >>> from monitor.metrics.core.tally import tally
    >>> debiased_root_mean_squared_gap(uniform_bins(tally([1, 1, 1, 1], [0.5] * 4), 2))
    0.5
    """
    return float(np.sqrt(max(0.0, debiased_mean_squared_gap(bins))))


def _gaps(bins: Bins) -> Floats:
    return np.abs(bins.rates - bins.mean_scores)
