"""TCE with Student's t-test in place of the binomial test: a variant for comparison, no gauge."""

from functools import partial

import numpy as np

from monitor.metrics.binned.binning import Bins
from monitor.metrics.binned.default_bins import paper_bins
from monitor.metrics.binomial.acceptance import check_alpha
from monitor.metrics.core.grid import Floats, Ints
from monitor.metrics.core.reading import takes_rows
from monitor.metrics.core.special import stdtrit
from monitor.metrics.core.tally import Tally
from monitor.metrics.test_based.tce import Tce

OUTSIDE = 2.0  # farther than any probability, on either side


@takes_rows
def tce_t(t: Tally, bins: Bins | None = None, *, alpha: float = 0.05) -> Tce:
    """Measure the share of predictions that a t-test of their bin's outcomes rejects.

    For analysis, not used by the daily job.

    Parameters
    ----------
    t : Tally or rows
        m groups of equal score, N predictions in all.
    bins : Bins, optional
        A partition of the tally into b runs; by default as for `tce`.
    alpha : float
        Significance level in (0, 1); a prediction whose p-value equals it is rejected.

    Returns
    -------
    Tce
        Value (a ratio in [0, 1]; the paper prints percent), rejected counts of shape (b,), and
        one accepted interval for each bin, up to its ends.

    Raises
    ------
    ValueError
        If the tally is empty or alpha is not in (0, 1).

    Notes
    -----
    [TCE, Definition 2] with the two-sided one-sample t-test [TCE, appendix C.1, Table 11]. For
    a bin of n outcomes, k of them 1, with rate ``r = k/n`` and sample standard deviation
    ``s = sqrt(n r (1 - r)/(n - 1))``, a prediction q is rejected iff
    ``|r - q| / (s/sqrt(n)) >= t*``, the upper alpha/2 point of Student's t with n - 1 degrees.
    So ``r +- t* sqrt(r (1 - r)/(n - 1))`` is accepted.

    **The published figures are not these.** Table 11 comes out digit for digit if the
    standard deviation is replaced by the *variance* ``r (1 - r)``, which is at most half of
    it: the t-statistics double or more, and far too much is rejected. For the
    calibrated model with bins of N/20 to N/5 the paper prints 37.80 %; the t-test proper
    gives 7.35 %, next to the binomial test's 7.28 %. The paper's remark that the binomial
    test does better rests on this slip.

    Interval: as for `tce`, by `bootstrap_interval` with ``method="inverted_mean"``, for the mean at
    this size; its coverage was measured for the binomial test only.

    **Bins whose outcomes are all equal**, so also bins of one prediction, have s = 0 and no
    t-test; taken literally they reject everything but 0 (or 1), which for rare events is
    nearly every prediction. There the exact two-sided test with equal tails decides: with no
    positive, q is rejected iff ``2 (1 - q)**n <= alpha``; with positives only, iff
    ``2 q**n <= alpha``.

    Examples
    --------
    >>> from monitor.metrics.binned.binning import quantile_bins
    >>> from monitor.metrics.core.tally import tally
    >>> t = tally([0] * 16 + [1] * 4 + [0] * 10, [0.1] * 10 + [0.3] * 10 + [0.9] * 10)
    >>> result = tce_t(t, quantile_bins(t, 3))
    >>> result.rejected, result.accepted[1].round(4)
    (array([ 0,  0, 10]), array([[0.0306, 0.7694]]))
    """
    check_alpha(alpha)
    if not t.scores.size:
        msg = "an empty tally has no calibration error: give it at least one prediction."
        raise ValueError(msg)
    bins = paper_bins(t) if bins is None else bins
    low, high = _bounds(bins, alpha)
    rejected = _rejected_outside(t, bins, low, high)
    accepted = np.clip(np.stack([low, high], axis=1), 0.0, 1.0)
    return Tce(int(rejected.sum()) / t.total, rejected, partial(tuple, accepted[:, np.newaxis]))


def _bounds(bins: Bins, alpha: float) -> tuple[Floats, Floats]:
    """Give both ends of each bin's accepted interval, shape (b,), without clipping to [0, 1]."""
    rates, counts = bins.rates, bins.counts
    degrees = np.maximum(counts - 1, 1)  # a single prediction is settled below
    # The lower point, because 1 - alpha/2 would round a small alpha away.
    half_widths = -stdtrit(degrees, 0.5 * alpha) * np.sqrt(rates * (1.0 - rates) / degrees)
    farthest = -np.expm1(np.log(0.5 * alpha) / counts)  # the q with 2 (1 - q)**n = alpha
    none, all_ = bins.positives == 0, bins.positives == counts
    low = np.select([none, all_], [-OUTSIDE, 1.0 - farthest], rates - half_widths)
    high = np.select([none, all_], [farthest, OUTSIDE], rates + half_widths)
    return low, high


def _rejected_outside(t: Tally, bins: Bins, low: Floats, high: Floats) -> Ints:
    """Count each bin's predictions at or outside its bounds, shape (b,)."""
    first, last = bins.starts[:-1], bins.starts[1:]
    # Scores rise through all bins, so one search serves them all.
    above = np.clip(np.searchsorted(t.scores, low, side="right"), first, last)
    below = np.clip(np.searchsorted(t.scores, high, side="left"), first, last)
    reached = np.concatenate([[0], np.cumsum(t.counts)])
    return np.asarray(bins.counts - (reached[below] - reached[above]))
