"""Cox's recalibration line: the intercept and slope that the logits of the scores should have.

The intercept alone, with the slope fixed at 1, is calibration in the large:
`monitor.metrics.logistic.intercept.fit_intercept`.
"""

from dataclasses import dataclass
from math import exp, log, log1p, sqrt

import numpy as np

from monitor.metrics.core.compiled import compiled, inner
from monitor.metrics.core.grid import Floats, Ints
from monitor.metrics.core.reading import takes_rows
from monitor.metrics.core.special import expit, logit
from monitor.metrics.core.tally import Tally
from monitor.metrics.logistic.intercept import fit_intercept

MOST_STEPS = 100  # real data take about 10; 100 only where outcomes overlap by a rounding alone
LEAST_STEP = 1e-10  # as a share of Newton's step
# Squared distance from the maximum in standard errors below which Newton's next step lands
# on it to the last digits; far above what the rounding of 1e9 predictions leaves.
SETTLED = 1e-16
ROUNDING = 1e-13  # of a log-likelihood, relative


@dataclass(frozen=True)
class Cox:
    """A fitted line ``logit P(y=1|s) = intercept + slope logit s``.

    Attributes
    ----------
    intercept : float
        In logit units, at a score of 0.5; 0 when calibrated.
    slope : float
        A ratio; 1 when calibrated, below 1 when the scores are too extreme, above 1 when
        they are too timid.
    intercept_standard_error, slope_standard_error : float
        Roots of the diagonal of the inverse Fisher information.
    covariance : float
        Its off-diagonal entry, for tests of both at once.
    """

    intercept: float
    slope: float
    intercept_standard_error: float
    slope_standard_error: float
    covariance: float


@takes_rows
def fit_cox(t: Tally) -> Cox:
    """Fit intercept and slope by maximum likelihood.

    Parameters
    ----------
    t : Tally or rows
        Whose positives and negatives overlap: among the scores strictly between 0 and 1 some
        negative scores higher than some positive, and some positive higher than some
        negative. Scores of exactly 0 or 1 have no logit and do not count.

    Returns
    -------
    Cox
        In logit units.

    Raises
    ------
    ValueError
        If one class only is there, or the scores separate the classes: then no finite line
        is the best. `slope_z` still tests whether the slope is 1.

    Notes
    -----
    Maximises ``sum k log p + (n - k) log(1 - p)``, ``p = sigma(a + b logit s)`` (Cox,
    Biometrika 45, 1958) by Newton's method with step halving from ``b = 0``, where the
    information is never poor; plain Newton from ``b = 1`` runs away on few extreme scores.

    Intervals: `normal_interval` of either with its standard error; at 95 % they hold the truth
    92-98 % of the time, down to 5 expected positives (docs/coverage.md).

    Examples
    --------
    >>> from monitor.metrics.core.tally import tally
    >>> line = fit_cox(tally([0, 0, 0, 1, 0, 1, 1, 1], [0.2] * 4 + [0.8] * 4))
    >>> abs(round(line.intercept, 6)), round(line.slope, 6)  # log 3 instead of log 4
    (0.0, 0.792481)
    """
    inside = (t.scores > 0.0) & (t.scores < 1.0)
    logits, counts, positives = logit(t.scores[inside]), t.counts[inside], t.positives[inside]
    _check_overlap(logits, counts, positives)
    intercept, slope, information, mean, spread = solve_cox(logits, counts, positives)
    return Cox(
        intercept,
        slope,
        intercept_standard_error=sqrt(1.0 / information + mean**2 / spread),
        slope_standard_error=1.0 / sqrt(spread),
        covariance=-mean / spread,
    )


@takes_rows
def slope_z(t: Tally) -> float:
    """Test whether the slope is 1, whatever the intercept.

    For analysis, not used by the daily job.

    Parameters
    ----------
    t : Tally or rows
        With both outcomes and two scores of different logit; scores of exactly 0 or 1 do
        not count.

    Returns
    -------
    float
        Standard normal under a slope of 1; negative when the scores are too extreme. Not
        moved by a prior shift.

    Raises
    ------
    ValueError
        If `has_intercept` is false, or all logits are equal: those of 1e-9 and of the next
        larger float are.

    Notes
    -----
    Rao's score test (Proceedings of the Cambridge Philosophical Society 44, 1948):
    ``z = sum (k - n p) x / sqrt(sum w (x - mean_w x)**2)`` with ``x = logit s``,
    ``p = sigma(x + delta)`` at the fitted intercept delta and ``w = n p (1 - p)``. It needs no
    slope, so it exists when the classes are separated. A statistic of a test has no interval;
    the slope of `fit_cox` has.

    Examples
    --------
    >>> from monitor.metrics.core.tally import tally
    >>> round(slope_z(tally([0, 0, 0, 1, 0, 1, 1, 1], [0.1] * 4 + [0.9] * 4)), 6)
    -1.414214
    """
    delta = fit_intercept(t).delta
    inside = (t.scores > 0.0) & (t.scores < 1.0)
    x, counts, positives = logit(t.scores[inside]), t.counts[inside], t.positives[inside]
    if x[0] == x[-1]:
        msg = _one_score(x, counts)
        raise ValueError(msg)
    return score_of_slope(x, counts, positives, delta)


def _check_overlap(logits: Floats, counts: Ints, positives: Ints) -> None:
    """Refuse what has no finite maximum; in one dimension that is overlap, no more, no less."""
    hit, missed = logits[positives > 0], logits[counts > positives]
    if not (hit.size and missed.size):
        msg = (
            f"a Cox line needs both outcomes among scores strictly between 0 and 1, got "
            f"{positives.sum()} positives of {counts.sum()}: take a longer window."
        )
    elif logits[0] == logits[-1]:
        msg = _one_score(logits, counts)
    elif missed[-1] <= hit[0] or hit[-1] <= missed[0]:
        low, high = (missed[-1], hit[0]) if missed[-1] <= hit[0] else (hit[-1], missed[0])
        msg = (
            f"scores up to {expit(low):.6g} and from {expit(high):.6g} on separate the two "
            "outcomes, so no finite Cox line is the best: take a longer window, or slope_z."
        )
    else:
        return
    raise ValueError(msg)


def _one_score(logits: Floats, counts: Ints) -> str:
    return (
        f"a slope needs two different logits, got that of {expit(logits[0]):.6g} for all "
        f"{counts.sum()} predictions: use fit_intercept instead."
    )


@compiled
def solve_cox(
    logits: Floats, counts: Ints, positives: Ints
) -> tuple[float, float, float, float, float]:
    """Return intercept, slope, and the information: its sum, mean logit and spread of logits.

    With logits measured from their information-weighted mean the two directions are
    orthogonal, so each Newton step is two divisions and no determinant can cancel.
    """
    weights, residuals = np.empty(logits.size), np.empty(logits.size)
    hits, total = positives.sum(), counts.sum()
    intercept, slope = log(hits / (total - hits)), 0.0
    fit = _fill(logits, counts, positives, intercept, slope, weights, residuals)
    settled = False
    for _ in range(MOST_STEPS):
        information, mean, spread, level, tilt = _directions(logits, weights, residuals)
        if settled:
            break
        along, across = level / information, tilt / spread  # Newton's step
        settled = level * along + tilt * across < SETTLED
        step = 1.0
        while True:
            a, b = intercept + step * (along - across * mean), slope + step * across
            moved = _fill(logits, counts, positives, a, b, weights, residuals)
            if moved >= fit - ROUNDING * abs(fit) or step < LEAST_STEP:
                break
            step *= 0.5
        intercept, slope, fit = a, b, moved
    return intercept, slope, information, mean, spread


@compiled
def score_of_slope(logits: Floats, counts: Ints, positives: Ints, delta: float) -> float:
    """Return Rao's z for a slope of 1 at the fitted intercept `delta`."""
    weights, residuals = np.empty(logits.size), np.empty(logits.size)
    _fill(logits, counts, positives, delta, 1.0, weights, residuals)
    _, _, spread, _, tilt = _directions(logits, weights, residuals)
    return tilt / sqrt(spread)


@inner
def _fill(
    logits: Floats,
    counts: Ints,
    positives: Ints,
    intercept: float,
    slope: float,
    weights: Floats,
    residuals: Floats,
) -> float:
    """Fill in each group's information ``n p (1-p)`` and ``k - n p``; return the log-likelihood."""
    fit = 0.0
    for i in range(logits.size):
        z = intercept + slope * logits[i]
        misses = counts[i] - positives[i]
        # From exp(-|z|) both p and 1-p have all their digits, however extreme the score.
        rest = exp(-abs(z))
        small, large = rest / (1.0 + rest), 1.0 / (1.0 + rest)
        p, not_p = (large, small) if z > 0.0 else (small, large)
        weights[i] = counts[i] * p * not_p
        residuals[i] = positives[i] * not_p - misses * p
        fit += positives[i] * min(z, 0.0) - misses * max(z, 0.0) - counts[i] * log1p(rest)
    return fit


@inner
def _directions(
    logits: Floats, weights: Floats, residuals: Floats
) -> tuple[float, float, float, float, float]:
    """Sum the weights, give mean and spread of the logits under them, and the gradient."""
    information = mean = spread = level = tilt = 0.0
    for i in range(logits.size):
        information += weights[i]
        mean += weights[i] * logits[i]
    mean /= information
    for i in range(logits.size):
        off = logits[i] - mean
        spread += weights[i] * off * off
        level += residuals[i]
        tilt += residuals[i] * off
    return information, mean, spread, level, tilt
