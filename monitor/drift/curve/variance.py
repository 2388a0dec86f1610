"""How much days and weeks differ beyond chance: the variance between them. Pure.

The model is one of random effects: every day has a distortion of its own, drawn around the
reference curve with the between-day variance. It is added to the sampling variance of
the day and does not shrink with its size.
"""

from collections.abc import Sequence
from math import sqrt
from typing import Any

import numpy as np

from monitor.metrics.core.grid import Floats, Ints
from monitor.metrics.core.special import brentq, chdtr, chdtrc

SKEW = 0.3  # of a capped chi-squared, a quarter of its standard deviation
STORM = 2.0  # standard deviations: beyond, a day says no more of how much days differ
LEAST_RARER = 20  # of the rarer outcome in a span of days: with fewer, scores are far from normal
MEDIAN_CHI_SQUARED = 0.455  # with one degree of freedom
MOST_OF_A_DIFFERENCE = 4.0  # times the robust variance: a step enters as an outlier
CAPPED_MEAN = 0.9205369256363232  # of a chi-squared: chdtr(3, 4) + 4 chdtrc(1, 4)
DOUBT = 3.5  # two standard errors of one difference: they overlap, and are far from normal
LEAST_DIFFERENCES = 5  # between weeks, before their variance is believed
LEAST_INFORMATION = 30.0  # of a week: with less, how weeks differ is chance
LEAST_PRECISION = 1e-9
LAGS = (1, 2)  # weeks
WEEK = 7
LITTLE = 0.35  # times the difference of neighbouring days that chance makes
BY_CHANCE = 1e-5  # how often the outcomes of a sound reference differ so little
PAIRS_A_FREEDOM = 3  # neighbouring pairs share a day, and directions share outcomes


def span_starts(rarer: Sequence[int]) -> list[int]:
    """Merge consecutive days until each span has enough of the rarer outcome.

    Parameters
    ----------
    rarer : sequence of int
        Number of the rarer outcome of each day.

    Returns
    -------
    list of int
        Index of the first day of each span; what is left at the end joins the last one.

    Examples
    --------
    >>> span_starts([20, 12, 9, 40, 3])
    [0, 1, 3]
    """
    starts, held = [0], 0
    for i, number in enumerate(rarer):
        if held >= LEAST_RARER:
            starts.append(i)
            held = 0
        held += number
    return starts[:-1] if held < LEAST_RARER and len(starts) > 1 else starts


def between_day_variance(scores: Floats, informations: Floats, squares: Floats) -> float:
    """Find the variance of the days' own distortions that explains how much spans differ.

    Parameters
    ----------
    scores, informations : ndarray of shape (s,)
        Sums over the days of each span: score and information of one direction.
    squares : ndarray of shape (s,)
        Sums over the days of the squared information.

    Returns
    -------
    float
        At least 0, in logit squared.

    Notes
    -----
    With ``x = U / I`` and ``v = 1 / I + day_variance sum_days I**2 / I**2``, the variance at which
    ``sum min((x - middle)**2 / v, 4)`` is as large as chance makes it without one (Paule and
    Mandel, 1982, made robust as by Huber, so that a storm does not speak for all days).

    Examples
    --------
    >>> informations = np.full(4, 100.0)
    >>> between_day_variance(np.array([5.0, -5, 5, -5]), informations, informations**2)
    0.0
    """
    seen = informations > 0.0
    precise, extra = informations[seen], squares[seen]
    if precise.size < 2:  # noqa: PLR2004 - a single span differs from none
        return 0.0
    offsets, most = scores[seen] / precise, STORM**2
    # A little more than its mean, which is above the median: of independent days, half have none.
    expected = (precise.size - 1) * (chdtr(3, most) + most * chdtrc(1, most))
    expected += SKEW * sqrt(precise.size - 1)

    def excess(day_variance: float) -> float:
        precisions = precise / (1.0 + day_variance * extra / precise)
        deviations = offsets - _middle(offsets, precisions)
        return float(np.minimum(precisions * deviations**2, most).sum() - expected)

    if excess(0.0) <= 0.0:
        return 0.0
    highest = np.ptp(offsets) ** 2 / expected
    while excess(highest) > 0.0:
        highest *= 2.0
    return float(brentq(excess, 0.0, highest))


def between_day_variances(scores: Floats, informations: Floats, starts: Sequence[int]) -> Floats:
    """Find the `between_day_variance` of several distortions at once.

    Parameters
    ----------
    scores, informations : ndarray of shape (days, r)
        Of each day.
    starts : sequence of int
        Where spans of days begin.
    """
    sums = (np.add.reduceat(of, starts).T for of in (scores, informations, informations**2))
    return np.array([between_day_variance(*of_each) for of_each in zip(*sums, strict=True)])


def _middle(values: Floats, precisions: Floats) -> float:
    """Find the mean of values, each pulling as at most two standard deviations (Huber)."""
    errors = np.sqrt(precisions)

    def pull(middle: float) -> float:
        return float((errors * np.clip(errors * (values - middle), -STORM, STORM)).sum())

    return float(brentq(pull, values.min(), values.max())) if np.ptp(values) else float(values[0])


def sums_of_weeks(weeks: Ints, *values: Floats) -> list[Any]:
    """Add the rows of days up by week; the number of each week first.

    Examples
    --------
    >>> sums_of_weeks(np.array([1, 1, 4]), np.array([[1.0], [2.0], [3.0]]))
    [array([1, 4]), array([[3.],
           [3.]])]
    """
    starts = np.flatnonzero(np.diff(weeks, prepend=weeks[:1] - 1))
    return [weeks[starts], *(np.add.reduceat(of_days, starts) for of_days in values)]


def between_week_variance(
    weeks: Ints, scores: Floats, informations: Floats, day_variances: Floats
) -> Floats:
    """Find the variance of what whole weeks have in common, from how consecutive weeks differ.

    Parameters
    ----------
    weeks : ndarray of shape (w,)
        Number of each week, rising.
    scores, informations : ndarray of shape (w, r)
        Sums over the days of the week, of several distortions.
    day_variances : ndarray of shape (r,)
        Between-day variances, which make weeks differ too: by a seventh of them.

    Returns
    -------
    ndarray of shape (r,)
        What the days of a week have in common beyond that; 0 with fewer than 5 differences.

    Notes
    -----
    With ``x = U / I`` and the differences ``d`` of x one and two weeks apart, ``z**2 = d**2 / s``
    with ``s = 1 / I + 1 / I' + 2 day_variance / 7``, capped at 4 times ``median z**2 / 0.455``. The
    variance is ``(mean z**2 - 1) / (2 mean 1/s)``, with the mean lowered by two standard errors,
    so that chance adds nothing. A level that stays cancels in the differences, and a step enters
    few of them.

    Examples
    --------
    >>> wandering = 0.1 * np.random.default_rng(1).normal(size=(52, 1))
    >>> informations = np.full((52, 1), 1e6)
    >>> several = np.arange(52), 1e6 * wandering, informations, np.zeros(1)
    >>> np.sqrt(between_week_variance(*several)).round(2)
    array([0.08])
    """
    is_known = informations >= LEAST_INFORMATION
    precise = np.where(is_known, informations, np.nan)
    offsets, variances = scores / precise, 1.0 / precise + day_variances / WEEK
    ratios, precisions = [], []
    for lag in LAGS:
        earlier = np.searchsorted(weeks, weeks - lag)
        later = np.nonzero(weeks[earlier] == weeks - lag)[0]
        spread = variances[later] + variances[earlier[later]]
        ratios.append((offsets[later] - offsets[earlier[later]]) ** 2 / spread)
        precisions.append(1.0 / spread)
    squares, precision = np.concatenate(ratios), np.concatenate(precisions)
    number = np.isfinite(squares).sum(axis=0)
    enough = number >= LEAST_DIFFERENCES
    if not enough.any():
        return np.zeros(day_variances.size)
    rising = np.sort(squares, axis=0)  # what is not known comes last
    middles = np.stack([(number - 1) // 2, number // 2]).clip(0)
    median = np.take_along_axis(rising, middles, axis=0).mean(axis=0)
    capped = np.minimum(squares, MOST_OF_A_DIFFERENCE * median / MEDIAN_CHI_SQUARED)
    counted = np.maximum(number, 1)
    excess = np.nansum(capped, axis=0) / CAPPED_MEAN / counted - 1.0 - DOUBT / np.sqrt(counted)
    mean_precision = np.nansum(precision, axis=0) / counted
    return np.where(
        enough, np.maximum(0.0, excess) / (2.0 * np.maximum(mean_precision, LEAST_PRECISION)), 0.0
    )


def neighbour_ratio(scores: Floats, informations: Floats) -> float | None:
    """Say how much less neighbouring days of a reference differ than by chance, if far less.

    The same entities counted on every day bring the same outcomes again; nothing else does.

    Parameters
    ----------
    scores, informations : ndarray of shape (days, 4)
        What each day says of each direction.

    Returns
    -------
    float or None
        Q, below 0.35; None where days differ as much as chance may have it.

    Notes
    -----
    With ``x = U / I``, ``Q = mean (x_t - x_(t-1))**2 / (1 / I_t + 1 / I_(t-1))`` over days and
    directions is 1 on average for independent outcomes, and about ``1 / h`` for entities that are
    counted on each day of a horizon of h days. Q is too small below 0.35, where a chi-squared of a
    third as many degrees of freedom as it has terms is as small once in 100,000 times.

    Examples
    --------
    >>> days = np.random.default_rng(1).normal(size=(28, 4))
    >>> known = np.full((28, 4), 100.0)
    >>> neighbour_ratio(10.0 * days, known), round(neighbour_ratio(2.0 * days, known), 2)
    (None, 0.03)
    """
    terms = []
    for pull, information in zip(scores.T, informations.T, strict=True):
        told = information > 0.0
        offsets, variances = pull[told] / information[told], 1.0 / information[told]
        terms.append(np.diff(offsets) ** 2 / (variances[1:] + variances[:-1]))
    squares = np.concatenate(terms)
    freedom = squares.size / PAIRS_A_FREEDOM
    ratio = float(squares.mean()) if freedom else 1.0
    too_small = ratio < LITTLE and chdtr(freedom, freedom * ratio) < BY_CHANCE
    return ratio if too_small else None
