"""Cumulative differences: how far observed and predicted counts drift apart along the scores.

No bins and no bandwidth. The price is that the two measures have no fixed level, so each
comes with the upper tail of its null distribution, computed directly and given as a decimal
logarithm: ``1 - cdf`` is wrong below 1e-16 and even negative with some programs.
"""

from dataclasses import dataclass
from math import inf, log, log1p, log10, pi, sqrt
from typing import Literal

import numpy as np

from monitor.base.short_text import shown_shortly
from monitor.metrics.core.grid import Floats
from monitor.metrics.core.option_check import check_option
from monitor.metrics.core.reading import takes_rows
from monitor.metrics.core.special import log_ndtr
from monitor.metrics.core.tally import Tally

Null = Literal["calibrated", "intercept_fitted"]

TERMS = np.arange(1.0, 7.0)  # of each series; the seventh is below 1e-16 of the sum
ODD = 2.0 * TERMS - 1.0
SIGNS = np.where(ODD % 4.0 == 1.0, 1.0, -1.0)
# Below, every tail differs from 1 by less than the smallest double; above, by squaring,
# a logarithm of it is larger than the largest.
CERTAIN, IMPOSSIBLE = 0.03, 1e150
ZERO_SUM = 1e-6  # in standard deviations: what rounding leaves after an intercept is fitted


@shown_shortly
@dataclass(frozen=True)
class CumulativeDifferences:
    """The two extremes of the cumulative difference and their p-values.

    Attributes
    ----------
    ks : float
        Largest absolute difference, a ratio in [0, 1] (Kolmogorov-Smirnov, ECCE-MAD).
    kuiper : float
        Largest difference between two points, a ratio in [0, 1], at least `ks` (Kuiper,
        ECCE-R): the largest absolute sum of residuals over any interval of scores, over N.
    deviation : float
        Standard deviation of the last cumulative difference if the scores are right, a
        ratio. In units of it the measures are comparable across volumes.
    ks_log10_p, kuiper_log10_p : float
        Decimal logarithms of the p-values, at most 0; minus infinity if a score of exactly
        0 or 1 was wrong and no other score leaves room for chance.
    """

    ks: float
    kuiper: float
    deviation: float
    ks_log10_p: float
    kuiper_log10_p: float


@takes_rows
def cumulative_differences(t: Tally, *, null: Null = "calibrated") -> CumulativeDifferences:
    """Take the extremes of the cumulative difference of outcomes and scores.

    For analysis, not used by the daily job.

    Parameters
    ----------
    t : Tally or rows
        At least one prediction.
    null : {"calibrated", "intercept_fitted"}
        What the p-values take for granted. ``"calibrated"``: the scores are the true
        probabilities. ``"intercept_fitted"``: they are after a shift by the tally's own
        maximum-likelihood intercept (`fit_intercept`, `shift`), which forgives the prior.

    Returns
    -------
    CumulativeDifferences
        Ratios and decimal logarithms.

    Raises
    ------
    ValueError
        If the tally is empty, the null unknown, or ``"intercept_fitted"`` and the residuals of
        scores strictly between 0 and 1 do not add up to 0, as they must after that fit.

    Notes
    -----
    ``C_j = sum_{i<=j} (k_i - n_i s_i) / N`` with ``C_0 = 0``; ``ks = max |C_j|``,
    ``kuiper = max C_j - min C_j`` (Arrieta-Ibarra, Gujral, Tannen, Tygert and Xu, JMLR 2022,
    sections 2 and 3). The extremes are taken between groups of equal score only, so the
    order of rows among ties is of no consequence.

    Given the scores, the outcomes are independent with variances ``s (1-s)``, so with the
    running variance as its clock C converges to ``deviation`` times a Brownian *motion* on
    [0, 1], free at its end: the null of the paper. A fitted intercept pins the end to 0, and
    as the derivative of ``C`` in the intercept is the clock itself, the limit is then exactly
    a Brownian *bridge*: Kolmogorov's and Kuiper's own laws. Ties make both p-values
    conservative (extremes inside a group go unseen); fewer than some 20 expected positives
    make them rough.

    Intervals for `ks` and `kuiper` of endless rows, 0 if calibrated: `bootstrap_interval` by
    inversion, see docs/coverage.md.

    Examples
    --------
    >>> from monitor.metrics.core.tally import tally
    >>> differences = cumulative_differences(tally([1, 1, 0, 1], [0.25, 0.25, 0.75, 0.75]))
    >>> differences.ks, differences.kuiper, round(10**differences.ks_log10_p, 3)
    (0.375, 0.375, 0.167)
    """
    if not t.total:
        msg = "an empty tally has no cumulative differences: give at least one prediction."
        raise ValueError(msg)
    check_option("null", null, Null)
    residuals = t.positives - t.counts * t.scores
    variances = t.counts * t.scores * (1.0 - t.scores)
    if null == "intercept_fitted":
        _check_fitted(residuals[variances > 0.0], variances)
    walk = np.cumsum(residuals) / t.total
    deviation = sqrt(variances.sum()) / t.total
    ks = float(np.abs(walk).max())
    kuiper = float(max(walk.max(), 0.0) - min(walk.min(), 0.0))
    return CumulativeDifferences(
        ks,
        kuiper,
        deviation,
        log10_tail_of_maximum(_scaled(ks, deviation), null=null),
        log10_tail_of_range(_scaled(kuiper, deviation), null=null),
    )


def log10_tail_of_maximum(x: float, *, null: Null = "calibrated") -> float:
    """Give ``log10 P(max |B| >= x)`` for Brownian motion, or the bridge, on [0, 1].

    Parameters
    ----------
    x : float
        KS over its deviation, at least 0.
    null : {"calibrated", "intercept_fitted"}
        Motion or bridge.

    Returns
    -------
    float
        At most 0, to about 2e-13 relative everywhere between log10 p of -1e-300 and -1e300.

    Raises
    ------
    ValueError
        If the null is unknown.

    Notes
    -----
    With Q the upper tail of the standard normal law and ``odd = 2k-1``, sums over k >= 1,
    for large and for small x

    - motion: ``4 sum (-1)**(k-1) Q(odd x)
      = 1 - 4/pi sum (-1)**(k-1)/odd exp(-(odd pi)**2/8x**2)`` (Feller, volume II, X.5);
    - bridge: ``2 sum (-1)**(k-1) exp(-2 k**2 x**2)
      = 1 - sqrt(2 pi)/x sum exp(-(odd pi)**2/8x**2)`` (Kolmogorov 1933).

    Each pair are two expansions of one theta function. Where the second form is used the
    tail is so near 1 that ``log1p`` of the other side is what keeps its digits.

    Examples
    --------
    >>> round(10 ** log10_tail_of_maximum(2.2414), 4), round(log10_tail_of_maximum(100.0), 3)
    (0.05, -2173.269)
    """
    check_option("null", null, Null)
    if _is_trivial(x):
        return _trivial(x)
    if null == "calibrated":
        if x < 1.0:
            body = SIGNS / ODD * np.exp(-((ODD * pi / x) ** 2) / 8.0)
            return _log10_complement(4.0 / pi * body.sum())
        return _log10_sum(np.asarray(log_ndtr(-ODD * x)), 4.0 * SIGNS)
    if x < 0.8:  # noqa: PLR2004 - both series need few terms here
        return _log10_complement(sqrt(2.0 * pi) / x * np.exp(-((ODD * pi / x) ** 2) / 8.0).sum())
    return _log10_sum(-2.0 * (TERMS * x) ** 2, 2.0 * SIGNS)


def log10_tail_of_range(x: float, *, null: Null = "calibrated") -> float:
    """Give ``log10 P(max B - min B >= x)`` for Brownian motion, or the bridge, on [0, 1].

    Parameters
    ----------
    x : float
        Kuiper over its deviation, at least 0.
    null : {"calibrated", "intercept_fitted"}
        Motion or bridge.

    Returns
    -------
    float
        At most 0, as accurate as `log10_tail_of_maximum`.

    Raises
    ------
    ValueError
        If the null is unknown.

    Notes
    -----
    With the same Q and odd, for large and for small x

    - motion: ``8 sum (-1)**(k-1) k Q(k x) = 1 - 8 sum (1/x**2 + 1/(odd pi)**2)
      exp(-(odd pi)**2/2x**2)`` (Feller, Annals of Mathematical Statistics 1951);
    - bridge: ``2 sum (4 k**2 x**2 - 1) exp(-2 k**2 x**2)
      = 1 - sqrt(2 pi) pi**2/x**3 sum k**2 exp(-(k pi)**2/2x**2)`` (Kuiper 1960).

    Examples
    --------
    >>> round(10 ** log10_tail_of_range(2.4977), 4), round(log10_tail_of_range(100.0), 3)
    (0.05, -2172.968)
    """
    check_option("null", null, Null)
    if _is_trivial(x):
        return _trivial(x)
    if null == "calibrated":
        if x < 1.5:  # noqa: PLR2004 - both series need few terms here
            rates = (ODD * pi) ** 2
            body = (1.0 / x**2 + 1.0 / rates) * np.exp(-rates / (2.0 * x**2))
            return _log10_complement(8.0 * body.sum())
        return _log10_sum(np.asarray(log_ndtr(-TERMS * x)), 8.0 * SIGNS * TERMS)
    if x < 1.2:  # noqa: PLR2004 - as above
        body = TERMS**2 * np.exp(-((TERMS * pi / x) ** 2) / 2.0)
        return _log10_complement(sqrt(2.0 * pi) * pi**2 / x**3 * body.sum())
    squares = (TERMS * x) ** 2
    return _log10_sum(-2.0 * squares, 8.0 * squares - 2.0)


def _check_fitted(movable_residuals: Floats, variances: Floats) -> None:
    # Scores of 0 and 1, which have no variance, are beyond the reach of any intercept.
    left = float(movable_residuals.sum())
    if abs(left) > ZERO_SUM * sqrt(variances.sum()):
        msg = (
            f"after an intercept fitted to this tally its residuals add up to 0, got {left:.6g}: "
            f"shift the scores by `fit_intercept` first."
        )
        raise ValueError(msg)


def _scaled(value: float, deviation: float) -> float:
    # Without variance every score is 0 or 1, and any difference at all is impossible.
    if deviation > 0.0:
        return value / deviation
    return inf if value > 0.0 else 0.0


def _is_trivial(x: float) -> bool:
    return not CERTAIN < x < IMPOSSIBLE


def _trivial(x: float) -> float:
    return 0.0 if x <= CERTAIN else -inf


def _log10_complement(body: float) -> float:
    return log1p(-body) / log(10.0)


def _log10_sum(logs: Floats, factors: Floats) -> float:
    """Add up ``factors * exp(logs)``, the first by far the largest, without leaving logarithms."""
    return float(logs[0]) / log(10.0) + log10((factors * np.exp(logs - logs[0])).sum())
