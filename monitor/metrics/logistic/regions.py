"""Evidence for a break in one region of the scores, whatever the prior.

Given how many outcomes were positive, the number of positive ones in a region follows an
exponential family in the region's tilt. So the likelihood ratio of a tilt and of the nearest one
that is tolerated is a fair bet under every smaller tilt.
"""

from math import exp, log, log1p

import numpy as np

from monitor.metrics.core.compiled import compiled, inner
from monitor.metrics.core.extremes import highest
from monitor.metrics.core.grid import Floats, Ints
from monitor.metrics.logistic.conditional import (
    MOST_CORRECTION,
    MOST_EXACT,
    exact_moments,
    log_sets,
)
from monitor.metrics.logistic.intercept import newton_step, solve_factor

MOST_STEPS, SETTLED = 50, 1e-8  # logit; a conditional log-likelihood is flat there


@compiled
def tilt_regions(
    eta: Floats, counts: Ints, positives: Ints, firsts: Ints, ends: Ints, tilts: Floats
) -> tuple[Floats, Floats, Floats]:
    """Weigh tilts of regions of a curve, each against the rest, given the number of positives.

    Parameters
    ----------
    eta : ndarray of shape (m,)
        Log-odds of each group of predictions, up to one constant; finite.
    counts, positives : ndarray of shape (m,)
        Predictions and positive outcomes of each group.
    firsts, ends : ndarray of shape (r,)
        The first group of each region, and the one after its last.
    tilts : ndarray of shape (r, s)
        What is added to the log-odds in each region, in logit.

    Returns
    -------
    scores, informations : ndarray of shape (r,)
        Slope of the conditional log-likelihood at no tilt, and its efficient information; in
        [0, inf).
    profiles : ndarray of shape (r, s)
        The conditional log-likelihood of each tilt less that of none, in nats. All are 0 where all
        outcomes are equal.

    Notes
    -----
    The adjusted profile likelihood of `monitor.metrics.logistic.conditional.conditional_log_ratio`;
    with at most 60 rows the exact conditional one. A tilt t moves the fitted intercept by a number
    between 0 and -t, so Newton's method begins with a bracket, and at ``-t W_r / W`` with the
    shares of the region and of all in ``sum n p (1 - p)``.

    Examples
    --------
    >>> eta, n, k = np.array([-1.0, 0.0, 1.0]), np.full(3, 100), np.array([27, 80, 73])
    >>> middle = np.array([1]), np.array([2]), np.array([[-1.0, 1.0, 2.0]])
    >>> score, information, profiles = tilt_regions(eta, n, k, *middle)
    >>> profiles.round(1)
    array([[-25.9,  11.3,  10.1]])
    """
    size, number = firsts.size, tilts.shape[1]
    scores, informations = np.zeros(size), np.zeros(size)
    profiles = np.zeros((size, number))
    hits, total = positives.sum(), counts.sum()
    if hits in (0, total):
        return scores, informations, profiles
    odds, most = np.empty(eta.size), highest(eta)
    for i in range(eta.size):
        odds[i] = exp(eta[i] - most)
    factor, whole = solve_factor(odds, counts, hits)
    for i in range(eta.size):
        odds[i] *= factor
    none = _rest(odds, counts, hits)
    for r in range(size):
        of_region = hit = 0.0
        for i in range(firsts[r], ends[r]):
            p = odds[i] / (1.0 + odds[i])
            of_region += counts[i] * p * (1.0 - p)
            hit += positives[i]
            scores[r] += positives[i] - counts[i] * p
        informations[r] = max(0.0, of_region - of_region**2 / whole)
        if total <= MOST_EXACT:
            along = np.zeros(eta.size)
            along[firsts[r] : ends[r]] = 1.0
            mean, informations[r] = exact_moments(odds, counts, hits, along)
            scores[r] = hit - mean
        for j in range(number):
            tilt, share = tilts[r, j], of_region / whole
            shift, rest = _tilted(odds, counts, hits, firsts[r], ends[r], tilt, share)
            profiles[r, j] = tilt * hit + hits * shift + rest - none
    return scores, informations, profiles


@inner
def _tilted(
    odds: Floats, counts: Ints, hits: int, first: int, end: int, tilt: float, share: float
) -> tuple[float, float]:
    """Tilt the odds of some groups; the shift of the intercept, and `_rest` at the new odds."""
    tilted, times = odds.copy(), exp(tilt)
    for i in range(first, end):
        tilted[i] *= times
    shift = _shift(tilted, counts, hits, tilt, share)
    times = exp(shift)
    for i in range(odds.size):
        tilted[i] *= times
    return shift, _rest(tilted, counts, hits)


@inner
def _shift(odds: Floats, counts: Ints, hits: int, tilt: float, share: float) -> float:
    """Find the intercept that makes the expected positives right again after a tilt."""
    low, high, shift = min(0.0, -tilt), max(0.0, -tilt), -tilt * share
    for _ in range(MOST_STEPS):
        factor, expected, information = exp(shift), 0.0, 0.0
        for i in range(odds.size):
            p = factor * odds[i] / (1.0 + factor * odds[i])
            expected += counts[i] * p
            information += counts[i] * p * (1.0 - p)
        moved, low, high = newton_step(shift, low, high, hits, expected, information)
        if abs(moved - shift) <= SETTLED:
            break
        shift = moved
    return moved


@inner
def _rest(odds: Floats, counts: Ints, hits: int) -> float:
    """Give what the likelihood at the fitted odds has beside the log-odds of the positives."""
    if counts.sum() <= MOST_EXACT:
        return -log_sets(odds, counts, hits)
    rest = information = third = fourth = 0.0
    for i in range(odds.size):
        p = odds[i] / (1.0 + odds[i])
        weight = counts[i] * p * (1.0 - p)
        information += weight
        third += weight * (1.0 - 2.0 * p)
        fourth += weight * (1.0 - 6.0 * p * (1.0 - p))
        rest -= counts[i] * log1p(odds[i])
    correction = fourth / information**2 / 8.0 - 5.0 * third**2 / information**3 / 24.0
    correction = min(max(correction, -MOST_CORRECTION), MOST_CORRECTION)
    return rest + 0.5 * log(information) - log1p(correction)
