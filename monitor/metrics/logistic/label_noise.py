"""A calibration curve of outcomes of which a constant share is recorded as their opposite.

Wrong labels keep a floor under the rate of low scores and a ceiling over that of high ones, and a
prior moves neither. So a prior that moves bends the curve, and log-odds no longer move by one
constant. How much they bend tells the share; at the prior of the curve itself nothing does.
"""

from math import exp, log

import numpy as np

from monitor.metrics.core.compiled import compiled, inner
from monitor.metrics.core.grid import Floats, Ints
from monitor.metrics.logistic.conditional import adjusted_profile, project_directions
from monitor.metrics.logistic.intercept import newton_step

MOST_OF_A_RATE = 0.95  # of the positives at a score, or of the negatives, are wrong at most
FARTHEST, MOST_STEPS, SETTLED = 30.0, 100, 1e-10  # of the prior's log-odds
NEIGHBOURS = 0.125  # in logit: scores so close together tell the same share


@compiled
def noisy_curve(curve: Floats, counts: Ints, hits: int, share: float) -> Floats:
    """Move the prior behind a curve until as many positive outcomes are expected as were recorded.

    Parameters
    ----------
    curve : ndarray of shape (m,)
        Log-odds of each group's recorded outcomes at the prior that the curve was fitted at.
    counts : ndarray of shape (m,)
        Predictions of each group.
    hits : int
        Recorded positive outcomes of all groups; neither none nor all.
    share : float
        Share f of the outcomes that are recorded as their opposite, in [0, 0.5).

    Returns
    -------
    ndarray of shape (m,)
        Log-odds of each group's recorded outcomes at the prior of these outcomes.

    Notes
    -----
    ``logit(f + (1 - 2f) expit(q + D))`` with ``q = logit((expit(curve) - f) / (1 - 2f))`` the
    log-odds of the outcome itself, and D such that the expected number of positives is `hits`
    (Natarajan et al., NeurIPS 2013, of class-conditional noise). Where the rarer outcome of a score
    has a probability below ``f / 0.95``, the share there is as much smaller. A share of 0 gives
    ``curve + D``.

    Examples
    --------
    >>> curve = np.log([0.012, 0.1, 0.5]) - np.log([0.988, 0.9, 0.5])
    >>> moved = noisy_curve(curve, np.full(3, 1000), 306, 0.01)  # half of the 612 before
    >>> (1.0 / (1.0 + np.exp(-moved))).round(4)
    array([0.0107, 0.0417, 0.2536])
    """
    odds, wrong = np.empty(curve.size), np.empty(curve.size)
    for i in range(curve.size):  # an expression of arrays takes long to compile
        p, q = _rates(curve[i])
        wrong[i] = min(share, MOST_OF_A_RATE * min(p, q))
        odds[i] = (p - wrong[i]) / (q - wrong[i])
    low, high, shift = -FARTHEST, FARTHEST, 0.0
    for _ in range(MOST_STEPS):
        factor, expected, information = exp(shift), 0.0, 0.0
        for i in range(odds.size):
            true = factor * odds[i] / (1.0 + factor * odds[i])
            right = 1.0 - 2.0 * wrong[i]
            expected += counts[i] * (wrong[i] + right * true)
            information += counts[i] * right * true * (1.0 - true)
        moved, low, high = newton_step(shift, low, high, hits, expected, information)
        if abs(moved - shift) <= SETTLED:
            break
        shift = moved
    moved_curve = np.empty(curve.size)
    for i in range(curve.size):
        of_true, right = odds[i] * exp(shift), 1.0 - 2.0 * wrong[i]
        positive, negative = right * of_true / (1.0 + of_true), right / (1.0 + of_true)
        moved_curve[i] = log((wrong[i] + positive) / (wrong[i] + negative))
    return moved_curve


@compiled
def prior_responses(curve: Floats, share: float) -> Floats:
    """Return by how much the log-odds of recorded outcomes move with those of the prior; (m,).

    ``(1 - 2f) v (1 - v) / (P (1 - P))`` with P and v the probabilities of a recorded outcome and of
    the outcome itself: 1 everywhere if no label is wrong, else less where few outcomes are rare.
    """
    responses = np.empty(curve.size)
    for i in range(curve.size):
        p, q = _rates(curve[i])
        wrong = min(share, MOST_OF_A_RATE * min(p, q))
        responses[i] = (p - wrong) * (q - wrong) / ((1.0 - 2.0 * wrong) * p * q)
    return responses


@inner
def _rates(log_odds: float) -> tuple[float, float]:
    """Give the probabilities of both outcomes."""
    odds = exp(log_odds)
    return odds / (1.0 + odds), 1.0 / (1.0 + odds)


def weigh_shares(
    curve: Floats, counts: Ints, positives: Ints, directions: Floats, shares: Floats
) -> Floats:
    """Return what one part of a day says of shares of wrong labels, and of an error of the curve.

    Parameters
    ----------
    curve, counts, positives : ndarray of shape (m,)
        Of each group, as for `noisy_curve`.
    directions : ndarray of shape (j, m)
        Along which the curve may be in error.
    shares : ndarray of shape (s,)
        Shares of wrong labels, from 0 on.

    Returns
    -------
    ndarray of shape (s + w + w * w,), w = j + 1
        The log-likelihood of each share less that of the first. Then, if no label is wrong, score
        and information of an error along each direction and along the last: `prior_responses` of
        the middle share, which looks like wrong labels while the prior stays where it is.

    Notes
    -----
    All are those given the number of positive outcomes, so that a prior by itself tells no share,
    and add over parts and days. Groups whose log-odds differ by less than 1/8 count as one: a share
    is a matter of the whole curve.

    Examples
    --------
    >>> curve = np.log([0.012, 0.1, 0.5]) - np.log([0.988, 0.9, 0.5])
    >>> day = curve, np.full(3, 1000), np.array([11, 42, 254])  # 1 % are wrong, half the prior
    >>> weigh_shares(*day, np.ones((1, 3)), np.array([0.0, 0.01, 0.02]))[:3].round(2)
    array([0.  , 4.04, 3.72])
    """
    width = directions.shape[0] + 1
    hits = int(positives.sum())
    if hits in (0, counts.sum()):
        return np.zeros(shares.size + width + width**2)
    curve, counts, positives, along = _merged(curve, counts, positives, directions)
    along[-1] = prior_responses(curve, shares[shares.size // 2])
    profiles = [
        adjusted_profile(noisy_curve(curve, counts, hits, share), counts, positives)
        for share in shares
    ]
    scores, cross = project_directions(curve, counts, positives, along, along)
    return np.concatenate([np.array(profiles) - profiles[0], scores, cross[:, 1:].ravel()])


@compiled
def _merged(
    curve: Floats, counts: Ints, positives: Ints, directions: Floats
) -> tuple[Floats, Ints, Ints, Floats]:
    """Merge neighbours; their log-odds and directions are means. Leave a row for one direction."""
    middles, along = np.zeros(curve.size), np.zeros((directions.shape[0] + 1, curve.size))
    rows, hits = np.zeros_like(counts), np.zeros_like(positives)
    last, first = -1, 0.0
    for i in range(curve.size):
        if last < 0 or abs(curve[i] - first) > NEIGHBOURS:
            last, first = last + 1, curve[i]
        rows[last] += counts[i]
        hits[last] += positives[i]
        middles[last] += (curve[i] - middles[last]) * counts[i] / rows[last]
        for j in range(directions.shape[0]):
            along[j, last] += (directions[j, i] - along[j, last]) * counts[i] / rows[last]
    end = last + 1
    return middles[:end], rows[:end], hits[:end], along[:, :end].copy()
