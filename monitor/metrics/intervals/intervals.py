"""Intervals in closed form, for measures that are a mean or have a standard error.

Predictions count as drawn independently, scores and outcomes both; outcomes that come in
clusters (one storm, many flights) vary more than these intervals allow for: `Estimate.widened` by
the root of the `design_effect` of `monitor.metrics.core.dispersion`. A measure without a closed
form has `bootstrap`. How often each holds the true value is measured
in docs/coverage.md. Every `level` is a confidence level in (0, 1).
"""

from dataclasses import replace
from math import exp, inf, log, sqrt
from typing import Literal

from monitor.metrics.core.estimate import CONFIDENCE, Estimate
from monitor.metrics.core.option_check import check_option
from monitor.metrics.core.reading import takes_rows
from monitor.metrics.core.special import expit, logit, stdtrit
from monitor.metrics.core.tally import Tally
from monitor.metrics.scores.bounds import ScoringRule, calibration_bounds
from monitor.metrics.scores.brier import brier
from monitor.metrics.scores.discrimination import auc, tjur_r2, variance_of_mean

Scale = Literal["plain", "log", "logit"]
LONGEST_REACH = 350.0  # in the logarithm: beyond, an end is as good as 0 or endless


def normal_interval(
    value: float,
    standard_error: float,
    *,
    level: float = CONFIDENCE,
    degrees: float = inf,
    scale: Scale = "plain",
) -> Estimate:
    """Take an estimate plus or minus a quantile times its standard error.

    Parameters
    ----------
    value, standard_error : float
        Such as `fit_intercept`, `fit_cox` and `improvement` give them, in the same units.
    level : float
        Confidence level.
    degrees : float
        Of Student's t, at least 1; infinite for the normal law.
    scale : {"plain", "log", "logit"}
        Where the estimate is more nearly normal. The ends are brought back, so they stay
        above 0 (log) or inside (0, 1) (logit). A value that is not inside has no such scale
        and is taken as it is.

    Returns
    -------
    Estimate
        The value with its interval, in its units: above 0 on the log scale, in (0, 1) on that of
        logit; the ends are nan if the standard error is.

    Raises
    ------
    ValueError
        If the scale is unknown.

    Notes
    -----
    ``h^-1(h(v) +- q h'(v) SE)``, the delta method (Doob, Annals of Mathematical Statistics 6,
    1935). Measured at 95 %: intercept 93-98 %, Cox intercept and slope 93-98 %, the most with 5
    expected positives.

    Examples
    --------
    >>> interval = normal_interval(1.0, 0.5)
    >>> round(interval.low, 3), round(interval.high, 3)
    (0.02, 1.98)
    """
    check_option("scale", scale, Scale)
    quantile = -float(stdtrit(degrees, 0.5 - level / 2.0))
    if scale == "log" and 0.0 < value < inf:
        reach = min(quantile * standard_error / value, LONGEST_REACH)
        return Estimate(value, value * exp(-reach), value * exp(reach), standard_error)
    if scale == "logit" and 0.0 < value < 1.0:
        reach = quantile * standard_error / (value * (1.0 - value))
        centre = float(logit(value))
        return Estimate(
            value, float(expit(centre - reach)), float(expit(centre + reach)), standard_error
        )
    reach = quantile * standard_error
    return Estimate(value, value - reach, value + reach, standard_error)


@takes_rows
def prevalence_interval(t: Tally, *, level: float = CONFIDENCE) -> Estimate:
    """Give Wilson's interval for the prevalence.

    For analysis, not used by the daily job.

    Parameters
    ----------
    t : Tally or rows
        At least one prediction.
    level : float
        Confidence level.

    Returns
    -------
    Estimate
        Ratios in [0, 1].

    Notes
    -----
    Those p with ``|k/N - p| <= z sqrt(p (1 - p)/N)`` (Wilson, Journal of the American
    Statistical Association 22, 1927): sound with few positives, or none. Exact coverage at
    95 %: 94.5-96.2 % for 50, 5 and 0.5 % of 1,000 to 100,000 rows.

    Examples
    --------
    >>> from monitor.metrics.core.tally import tally
    >>> interval = prevalence_interval(tally([0] * 10, [0.1] * 10))
    >>> round(interval.low, 3), round(interval.high, 3)
    (0.0, 0.278)
    """
    square = float(stdtrit(inf, 0.5 - level / 2.0)) ** 2 / t.total
    return wilson(t.prevalence, square)


def wilson(rate: float, square: float) -> Estimate:
    """Give Wilson's interval of a rate, with the squared quantile over the number of rows.

    Examples
    --------
    >>> interval = wilson(0.5, 1.96**2 / 100)
    >>> round(interval.low, 3), round(interval.high, 3)
    (0.404, 0.596)
    """
    centre = (rate + square / 2.0) / (1.0 + square)
    reach = sqrt(square * (rate * (1.0 - rate) + square / 4.0)) / (1.0 + square)
    return Estimate(rate, max(0.0, centre - reach), min(1.0, centre + reach))


@takes_rows
def mean_score_interval(t: Tally, *, level: float = CONFIDENCE) -> Estimate:
    """Give the normal interval for the mean score.

    For analysis, not used by the daily job.

    Parameters
    ----------
    t : Tally or rows
        At least one prediction.
    level : float
        Confidence level.

    Returns
    -------
    Estimate
        Units of probability; nan for a single prediction. It is not cut to [0, 1].

    Notes
    -----
    `normal_interval` with ``SE**2 = sample variance / N``. Measured at 95 %: 93-96 %.

    Examples
    --------
    >>> from monitor.metrics.core.tally import tally
    >>> interval = mean_score_interval(tally([0, 0, 1], [0.2, 0.4, 0.6]))
    >>> round(interval.high - 0.4, 4)  # 1.96 * 0.2 / sqrt(3)
    0.2263
    """
    return normal_interval(t.mean_score, sqrt(variance_of_mean(t.scores, t.counts)), level=level)


@takes_rows
def uncertainty_interval(
    t: Tally, *, rule: ScoringRule = "brier", level: float = CONFIDENCE
) -> Estimate:
    """Give the interval of CORP's uncertainty, the image of `prevalence_interval`.

    For analysis, not used by the daily job.

    Parameters
    ----------
    t : Tally or rows
        At least one prediction.
    rule : {"brier", "log"}
        Whose uncertainty.
    level : float
        Confidence level.

    Returns
    -------
    Estimate
        In [0, 1/4] for Brier, in [0, log 2] nats for log.

    Raises
    ------
    ValueError
        If the rule is unknown.

    Notes
    -----
    ``p (1 - p)``, or the entropy of p in nats, at the ends of `prevalence_interval`. Either rises
    up to p = 1/2 and falls beyond, so an interval that holds 1/2 has the maximum as its upper end.
    Measured at 95 %: as the prevalence.

    Examples
    --------
    >>> from monitor.metrics.core.tally import tally
    >>> uncertainty_interval(tally([0, 0, 1, 1], [0.5] * 4)).high
    0.25
    """
    check_option("rule", rule, ScoringRule)
    prevalence = prevalence_interval(t, level=level)
    ends = [_uncertainty(prevalence.low, rule), _uncertainty(prevalence.high, rule)]
    if prevalence.low <= 0.5 <= prevalence.high:  # noqa: PLR2004 - where uncertainty is greatest
        ends.append(_uncertainty(0.5, rule))
    return Estimate(_uncertainty(prevalence.value, rule), min(ends), max(ends))


@takes_rows
def rbs_interval(t: Tally, *, level: float = CONFIDENCE) -> Estimate:
    """Give the interval for the root Brier score, by the delta method.

    Parameters
    ----------
    t : Tally or rows
        At least one prediction.
    level : float
        Confidence level.

    Returns
    -------
    Estimate
        In [0, 1], units of probability; all of that for a single prediction.

    Notes
    -----
    ``v +- q SE`` with the standard error of `calibration_bounds`, cut to [0, 1]. Its upper end
    bounds CE_2 and CE_1 from above with the confidence of a one-sided test. Measured at 95 %:
    93-97 %.

    Examples
    --------
    >>> from monitor.metrics.core.tally import tally
    >>> interval = rbs_interval(tally([0, 1, 1], [0.2, 0.4, 0.9]))
    >>> 0.0 <= interval.low < 0.37 < interval.high
    True
    """
    root = calibration_bounds(t).root
    plain = normal_interval(root.value, root.standard_error, level=level)
    return replace(plain, low=max(0.0, plain.low), high=min(1.0, plain.high))


@takes_rows
def brier_interval(t: Tally, *, level: float = CONFIDENCE) -> Estimate:
    """Give the interval for the Brier score: the squared ends of `rbs_interval`.

    For analysis, not used by the daily job.

    Parameters
    ----------
    t : Tally or rows
        At least one prediction.
    level : float
        Confidence level.

    Returns
    -------
    Estimate
        In [0, 1], squared units of probability; all of that for a single prediction.

    Notes
    -----
    ``[low**2, high**2]`` of `rbs_interval`. With 5 expected positives the score itself, a sum of a
    few large losses, is far from normal: plus or minus 1.96 of its own standard errors hold the
    truth 89 % of the time, and this interval 96 %.

    Examples
    --------
    >>> from monitor.metrics.core.tally import tally
    >>> t = tally([0, 1, 1], [0.2, 0.4, 0.9])
    >>> brier_interval(t).high == rbs_interval(t).high ** 2
    True
    """
    root = rbs_interval(t, level=level)
    return Estimate(brier(t), root.low**2, root.high**2)


@takes_rows
def log_score_interval(t: Tally, *, level: float = CONFIDENCE) -> Estimate:
    """Give the interval for the log score, in nats, normal in its logarithm.

    For analysis, not used by the daily job.

    Parameters
    ----------
    t : Tally or rows
        At least one prediction.
    level : float
        Confidence level.

    Returns
    -------
    Estimate
        Nats, at least 0; nan for a single prediction or an infinite score.

    Notes
    -----
    ``v exp(-+ q SE / v)`` with the standard error of `calibration_bounds`. Measured at 95 %:
    93-97 %; without the logarithm 91 % with 5 expected positives. There is
    none, nan, if the score is infinite or of a single prediction.

    Examples
    --------
    >>> from monitor.metrics.core.tally import tally
    >>> interval = log_score_interval(tally([0, 1, 1], [0.2, 0.4, 0.9]))
    >>> 0.0 < interval.low < 0.415 < interval.high
    True
    """
    divergence = calibration_bounds(t).divergence
    return normal_interval(divergence.value, divergence.standard_error, level=level, scale="log")


@takes_rows
def auc_interval(t: Tally, *, level: float = CONFIDENCE) -> Estimate:
    """Give the interval for the AUC, in logit.

    For analysis, not used by the daily job.

    Parameters
    ----------
    t : Tally or rows
        With both outcomes.
    level : float
        Confidence level.

    Returns
    -------
    Estimate
        Ratios in [0, 1].

    Notes
    -----
    The standard error of `auc` (DeLong, DeLong and Clarke-Pearson, Biometrics 44, 1988) with the t
    law of the rarer outcome, ``min(K, N - K) - 1`` degrees. Measured at 95 %: 92-97 %, the least
    with 5 expected positives, where the plain normal interval holds the truth 77 % of the time.
    Perfectly ordered samples have a standard error of 0, and their interval is the point 1.

    Examples
    --------
    >>> from monitor.metrics.core.tally import tally
    >>> interval = auc_interval(tally([0, 0, 1, 1], [0.1, 0.4, 0.4, 0.8]))
    >>> 0.0 < interval.low < 0.875 < interval.high < 1.0
    True
    """
    area, rarer = auc(t), min(t.total_positives, t.total - t.total_positives)
    degrees = max(1, rarer - 1)
    return normal_interval(
        area.value, area.standard_error, level=level, degrees=degrees, scale="logit"
    )


@takes_rows
def tjur_interval(t: Tally, *, level: float = CONFIDENCE) -> Estimate:
    """Give Welch's interval for Tjur's R2, in its logarithm.

    For analysis, not used by the daily job.

    Parameters
    ----------
    t : Tally or rows
        With both outcomes.
    level : float
        Confidence level.

    Returns
    -------
    Estimate
        Ratios, not cut to 1; nan with fewer than two of an outcome.

    Notes
    -----
    ``SE**2 = v_1/n_1 + v_0/n_0`` of a difference of two means, with Welch's degrees of freedom
    (Biometrika 34, 1947). Measured at 95 %: 92-96 %, the least with 5 expected positives, where
    without the logarithm it would be 80 %. An R2 of 0 or less, which has no logarithm, is taken as
    it is.

    Examples
    --------
    >>> from monitor.metrics.core.tally import tally
    >>> interval = tjur_interval(tally([0, 0, 1, 1, 1], [0.1, 0.2, 0.4, 0.8, 0.9]))
    >>> 0.0 < interval.low < 0.55 < interval.high
    True
    """
    value = tjur_r2(t)
    size, other_size = t.total_positives, t.total - t.total_positives
    of_positives = variance_of_mean(t.scores, t.positives)
    other = variance_of_mean(t.scores, t.counts - t.positives)
    together = of_positives + other
    if not together > 0.0:  # nothing varies, or nan: one outcome of a kind
        return normal_interval(value, together, level=level)
    degrees = together**2 / (of_positives**2 / (size - 1) + other**2 / (other_size - 1))
    interval = normal_interval(value, sqrt(together), level=level, degrees=degrees, scale="log")
    return replace(interval, high=min(interval.high, 1.0))


def _uncertainty(rate: float, rule: ScoringRule) -> float:
    if rule == "brier":
        return rate * (1.0 - rate)
    return -sum(p * log(p) for p in (rate, 1.0 - rate) if p)
