"""How many outcomes came true for each one that the scores promised."""

from math import nan

from monitor.metrics.binned.binning import Bins
from monitor.metrics.binned.default_bins import deciles, takes_bins
from monitor.metrics.core.estimate import NORMAL_95, Estimate
from monitor.metrics.core.reading import takes_rows
from monitor.metrics.core.tally import Tally
from monitor.metrics.intervals.intervals import wilson
from monitor.metrics.scores.brier import mean_loss


@takes_rows
def actual_over_expected(t: Tally) -> Estimate:
    """Divide the positive outcomes by the sum of the scores.

    Parameters
    ----------
    t : Tally or rows
        At least one prediction with a score above 0.

    Returns
    -------
    Estimate
        At least 0, with its 95 % interval: 1 is as predicted, 1.2 is a fifth more than predicted.

    Raises
    ------
    ValueError
        If there is no prediction, or every score is 0.

    Notes
    -----
    ``K / sum(s)``: COPC in advertising (clicks over predicted clicks), A/E in insurance, O:E in
    clinics. A prior shift moves it as it moves the prevalence. The interval is Wilson's of the
    prevalence, over the mean score, with the variance of the residuals ``y - R s`` (Cochran,
    Sampling Techniques, 1977, section 6.4) in place of that of the outcomes: scores that
    discriminate leave less to chance. Measured at 95 %: 92-96 %, with 5 to 5,000
    expected positives.

    Examples
    --------
    >>> from monitor.metrics.core.tally import tally
    >>> print(f"{actual_over_expected(tally([0] * 78 + [1] * 22, [0.1] * 60 + [0.4] * 40)):.2f}")
    1.00 (95 % 0.73 to 1.33)
    """
    if not t.total or not t.mean_score:
        msg = "no outcome is expected: give at least one prediction with a score above 0."
        raise ValueError(msg)
    ratio = t.prevalence / t.mean_score
    expected = ratio * t.scores
    variance = mean_loss(t, (1.0 - expected) ** 2, expected**2)
    of_outcomes = t.prevalence * (1.0 - t.prevalence)
    share = variance / of_outcomes if of_outcomes else 1.0
    return over(wilson(t.prevalence, share * NORMAL_95**2 / t.total), t.mean_score)


@takes_bins(deciles)
def actual_over_expected_by_bin(bins: Bins) -> tuple[Estimate, ...]:
    """Divide the positive outcomes of each bin by the sum of its scores.

    Parameters
    ----------
    bins : Bins, Tally or rows
        Tenths by score, for example: ``quantile_bins(t, 10)``, which are those of a tally.

    Returns
    -------
    tuple of Estimate
        One for each bin: at least 0, with its 95 % interval; nan where every score of it is 0.

    Notes
    -----
    ``k_b / sum(s)`` of each bin, the table of expected against actual by decile of insurance
    (Goldburd et al., Generalized Linear Models for Insurance Rating, 2020, section 7.2.2). The
    interval is Wilson's of the bin's rate over its mean score; a bin's scores are nearly alike, so
    nothing is gained by looking at its residuals.

    Examples
    --------
    >>> from monitor.metrics.binned.binning import quantile_bins
    >>> from monitor.metrics.core.tally import tally
    >>> bins = quantile_bins(tally([0] * 75 + [1] * 25, [0.1] * 50 + [0.4] * 50), 2)
    >>> [f"{ratio:.2f}" for ratio in actual_over_expected_by_bin(bins)]
    ['0.00 (95 % 0.00 to 0.71)', '1.25 (95 % 0.92 to 1.58)']
    """
    return tuple(
        over(wilson(float(rate), NORMAL_95**2 / float(count)), float(expected))
        for rate, count, expected in zip(bins.rates, bins.counts, bins.mean_scores, strict=True)
    )


def over(rate: Estimate, expected: float) -> Estimate:
    """Divide a rate and its interval by the expected rate.

    Examples
    --------
    >>> over(Estimate(0.2, 0.1, 0.4), 0.2)
    Estimate(value=1.0, low=0.5, high=2.0, standard_error=nan)
    """
    if not expected:
        return Estimate(nan, nan, nan)
    return Estimate(rate.value / expected, rate.low / expected, rate.high / expected)
