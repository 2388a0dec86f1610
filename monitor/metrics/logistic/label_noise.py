"""A calibration curve of outcomes of which constant shares are recorded as their opposite.

Wrong labels keep a floor under the rate of low scores, or a ceiling over that of high ones, and a
prior moves neither. So a prior that moves bends the curve, and log-odds no longer move by one
constant. How much they bend tells the shares; at the prior of the curve itself nothing does.
"""

from math import exp

import numpy as np

from monitor.metrics.core.compiled import compiled, inner
from monitor.metrics.core.grid import Floats, Ints
from monitor.metrics.logistic.conditional import (
    MOST_EXACT,
    adjusted_profile,
    profile_at,
    project_directions,
)
from monitor.metrics.logistic.intercept import newton_step

MOST_OF_A_RATE = 0.95  # of the positives at a score, or of the negatives, are wrong at most
FARTHEST, MOST_STEPS = 30.0, 100  # of the prior's log-odds
SETTLED = 1e-5  # of a step: the next one, which is left out, is about its square
REACHED = 1e-5  # in logit, between the number of positives that is expected and that recorded
NEIGHBOURS = 0.125  # in logit: scores so close together tell the same share


@compiled
def noisy_curve(curve: Floats, counts: Ints, hits: int, added: float, lost: float) -> Floats:
    """Move the prior behind a curve until as many positive outcomes are expected as were recorded.

    Parameters
    ----------
    curve : ndarray of shape (m,)
        Log-odds of each group's recorded outcomes at the prior that the curve was fitted at.
    counts : ndarray of shape (m,)
        Predictions of each group.
    hits : int
        Recorded positive outcomes of all groups; neither none nor all.
    added, lost : float
        Share a of the negative outcomes that are recorded as positive, and share b of the positive
        ones that are recorded as negative; each in [0, 1), and less than 1 together.

    Returns
    -------
    ndarray of shape (m,)
        Log-odds of each group's recorded outcomes at the prior of these outcomes.

    Notes
    -----
    ``logit(a + (1 - a - b) expit(q + D))`` with ``q = logit((expit(curve) - a) / (1 - a - b))`` the
    log-odds of the outcome itself, and D such that the expected number of positives is `hits`
    (Natarajan et al., NeurIPS 2013, of class-conditional noise). Where the positives of a score
    have a probability below ``a / 0.95``, or its negatives one below ``b / 0.95``, that share is as
    much smaller there. Two shares of 0 give ``curve + D``.

    Examples
    --------
    >>> curve = np.log([0.012, 0.1, 0.5]) - np.log([0.988, 0.9, 0.5])
    >>> moved = noisy_curve(curve, np.full(3, 1000), 306, 0.01, 0.01)  # half of the 612 before
    >>> (1.0 / (1.0 + np.exp(-moved))).round(4)
    array([0.0107, 0.0417, 0.2536])
    >>> moved = noisy_curve(curve, np.full(3, 1000), 306, 0.0, 0.2)
    >>> (1.0 / (1.0 + np.exp(-moved))).round(4)
    array([0.0037, 0.0333, 0.269 ])
    """
    odds, of_added, of_lost = _true_odds(np.exp(curve), added, lost)
    shift, _, _ = _moved_prior(odds, of_added, of_lost, counts, hits, 0.0)
    moved: Floats = np.log(_recorded_odds(odds, of_added, of_lost, exp(shift)))
    return moved


@compiled
def prior_responses(curve: Floats, added: float, lost: float) -> Floats:
    """Return by how much the log-odds of recorded outcomes move with those of the prior; (m,).

    ``(1 - a - b) v (1 - v) / (P (1 - P))`` with P and v the probabilities of a recorded outcome and
    of the outcome itself: 1 everywhere if no label is wrong, else less where wrong ones are a large
    part of the recorded outcomes of a kind.
    """
    recorded = np.exp(curve)
    odds, of_added, of_lost = _true_odds(recorded, added, lost)
    responses = np.empty(curve.size)
    for i in range(curve.size):
        moving = (1.0 - of_added[i] - of_lost[i]) * odds[i] / (1.0 + odds[i]) ** 2
        responses[i] = moving * (1.0 + recorded[i]) ** 2 / recorded[i]
    return responses


@inner
def _true_odds(recorded: Floats, added: float, lost: float) -> tuple[Floats, Floats, Floats]:
    """Give the odds of the outcomes themselves, and the shares that are wrong at each score."""
    size = recorded.size
    odds, of_added, of_lost = np.empty(size), np.empty(size), np.empty(size)
    for i in range(size):  # an expression of arrays takes long to compile
        q = 1.0 / (1.0 + recorded[i])
        p = recorded[i] * q
        of_added[i], of_lost[i] = min(added, MOST_OF_A_RATE * p), min(lost, MOST_OF_A_RATE * q)
        odds[i] = (p - of_added[i]) / (q - of_lost[i])
    return odds, of_added, of_lost


@inner
def _moved_prior(
    odds: Floats, of_added: Floats, of_lost: Floats, counts: Ints, hits: int, start: float
) -> tuple[float, float, float]:
    """Find D of `noisy_curve` near a start; also what was expected before the last step, and I."""
    low, high, shift, expected, information = -FARTHEST, FARTHEST, start, 0.0, 0.0
    for _ in range(MOST_STEPS):
        factor, expected, information = exp(shift), 0.0, 0.0
        for i in range(odds.size):
            of_negative = 1.0 / (1.0 + factor * odds[i])
            right = counts[i] * (1.0 - of_added[i] - of_lost[i]) * factor * odds[i] * of_negative
            expected += counts[i] * of_added[i] + right
            information += right * of_negative
        before = shift
        shift, low, high = newton_step(before, low, high, hits, expected, information)
        if abs(shift - before) <= SETTLED:
            break
    return shift, expected, information


@inner
def _recorded_odds(odds: Floats, of_added: Floats, of_lost: Floats, factor: float) -> Floats:
    """Give the odds of recorded outcomes where those of the outcomes themselves are moved."""
    recorded = np.empty(odds.size)
    for i in range(odds.size):
        true, right = factor * odds[i], 1.0 - of_added[i] - of_lost[i]
        recorded[i] = (of_added[i] * (1.0 + true) + right * true) / (
            of_lost[i] * (1.0 + true) + right
        )
    return recorded


def weigh_shares(
    curve: Floats,
    counts: Ints,
    positives: Ints,
    directions: Floats,
    added: Floats,
    lost: Floats,
) -> Floats:
    """Return what one part of a day says of shares of wrong labels, and of an error of the curve.

    Parameters
    ----------
    curve, counts, positives : ndarray of shape (m,)
        Of each group, as for `noisy_curve`.
    directions : ndarray of shape (j, m)
        Along which the curve may be in error.
    added, lost : ndarray of shape (f, s)
        Shares of wrong labels by family, each from 0 and 0 on.

    Returns
    -------
    ndarray of shape (f, s + w + w * w), w = j + 1
        For each family the log-likelihood of its shares less that of its first. Then, if no label
        is wrong, score and information of an error along each direction and along the last:
        `prior_responses` of the middle share, which looks like wrong labels while the prior stays
        where it is.

    Notes
    -----
    All are those given the number of positive outcomes, so that a prior by itself tells no share,
    and add over parts and days. Groups whose log-odds differ by less than 1/8 count as one: a share
    is a matter of the whole curve.

    Examples
    --------
    >>> curve = np.log([0.012, 0.1, 0.5]) - np.log([0.988, 0.9, 0.5])
    >>> day = curve, np.full(3, 1000), np.array([11, 42, 254])  # 1 % are wrong, half the prior
    >>> shares = np.array([[0.0, 0.01, 0.02]])
    >>> weigh_shares(*day, np.ones((1, 3)), shares, shares)[0, :3].round(2)
    array([0.  , 4.04, 3.72])
    """
    (families, number), fixed = added.shape, directions.shape[0]
    width = fixed + 1
    said = np.zeros((families, number + width + width**2))
    if positives.sum() in (0, counts.sum()):
        return said
    scores, cross, profiles = _weighed(curve, counts, positives, directions, added, lost)
    of = np.array([[*range(fixed), fixed + f] for f in range(families)])  # rows of each family
    said[:, 1:number] = profiles
    said[:, number : number + width] = scores[of]
    said[:, number + width :] = cross[of[:, :, None], 1 + of[:, None, :]].reshape(families, -1)
    return said


@compiled
def _weighed(
    curve: Floats, counts: Ints, positives: Ints, directions: Floats, added: Floats, lost: Floats
) -> tuple[Floats, Floats, Floats]:
    """Give scores and information along directions and as labels bend; the likelihoods of shares.

    Of the directions and of the middle share of each family; of the shares but the first.
    """
    curve, counts, positives, neighbours = merged(curve, counts, positives, directions)
    (families, number), fixed = added.shape, neighbours.shape[0]
    along = np.empty((fixed + families, curve.size))
    for j in range(fixed):
        for i in range(curve.size):
            along[j, i] = neighbours[j, i]
    for f in range(families):
        bend = prior_responses(curve, added[f, number // 2], lost[f, number // 2])
        for i in range(curve.size):
            along[fixed + f, i] = bend[i]
    scores, cross = project_directions(curve, counts, positives, along, along)
    profiles = _noisy_profiles(curve, counts, positives, added, lost)
    right = adjusted_profile(curve, counts, positives)
    for f in range(families):
        for s in range(number - 1):
            profiles[f, s] -= right
    return scores, cross, profiles


@inner
def _noisy_profiles(
    curve: Floats, counts: Ints, positives: Ints, added: Floats, lost: Floats
) -> Floats:
    """Return `adjusted_profile` of the noisy curve of all shares but the first; (f, s - 1)."""
    families, number = added.shape
    profiles, recorded, hits = np.empty((families, number - 1)), np.exp(curve), positives.sum()
    first = 0.0
    for f in range(families):
        before = shift = first
        for s in range(1, number):
            start, before = 2.0 * shift - before, shift  # on a line through the last two
            profiles[f, s - 1], shift = _noisy_profile(
                recorded, counts, positives, hits, added[f, s], lost[f, s], start
            )
            if s == 1:
                before = first = shift
    return profiles


@inner
def _noisy_profile(
    recorded: Floats,
    counts: Ints,
    positives: Ints,
    hits: int,
    added: float,
    lost: float,
    start: float,
) -> tuple[float, float]:
    """Return `adjusted_profile` of a noisy curve, and its D, near that of a share close by."""
    odds, of_added, of_lost = _true_odds(recorded, added, lost)
    shift, expected, information = _moved_prior(odds, of_added, of_lost, counts, hits, start)
    odds = _recorded_odds(odds, of_added, of_lost, exp(shift))
    # As many positives are expected as were recorded, so no intercept is left to find.
    if counts.sum() > MOST_EXACT and abs(hits - expected) <= REACHED * information:
        known = 0.0
        for i in range(odds.size):
            known += counts[i] * odds[i] / (1.0 + odds[i]) ** 2
        return profile_at(odds, counts, positives, 1.0, known), shift
    return adjusted_profile(np.log(odds), counts, positives), shift


@compiled
def merged(
    curve: Floats, counts: Ints, positives: Ints, directions: Floats
) -> tuple[Floats, Ints, Ints, Floats]:
    """Merge neighbours; their log-odds and directions are means."""
    middles, along = np.zeros(curve.size), np.zeros((directions.shape[0], curve.size))
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


def weigh_changes(
    curve: Floats, counts: Ints, positives: Ints, added: Floats, lost: Floats
) -> Floats:
    """Weigh shares of wrong labels that came after a curve, for one part of a day.

    Parameters
    ----------
    curve : ndarray of shape (m,)
        Log-odds of each group's outcomes while labels were right.
    counts, positives : ndarray of shape (m,)
        Of each group.
    added, lost : ndarray of shape (s,)
        Shares of the negative and of the positive outcomes, each below 1 and less than 1 together.

    Returns
    -------
    ndarray of shape (s,)
        Log-likelihood given the number of positive outcomes, less that of right labels, in nats;
        it adds over parts and days. 0 where all outcomes are equal.

    Notes
    -----
    ``P = a + (1 - a - b) expit(curve + D)`` with the prior D that fits the number of positives; of
    `noisy_curve`, the curve has the wrong labels in it already.

    Examples
    --------
    >>> p = np.array([0.1, 0.5, 0.9])
    >>> recorded = np.rint(10_000 * 0.8 * p).astype(np.int64)  # a fifth of the positives is lost
    >>> shares = np.array([0.1, 0.2, 0.3])
    >>> day = np.log(p / (1.0 - p)), np.full(3, 10_000), recorded
    >>> int(weigh_changes(*day, np.zeros(3), shares).argmax())
    1
    """
    if positives.sum() in (0, counts.sum()):
        return np.zeros(added.size)
    curves = _changed_curves(curve, counts, int(positives.sum()), added, lost)
    profiles: Floats = np.array([adjusted_profile(c, counts, positives) for c in curves])
    return profiles - adjusted_profile(curve, counts, positives)


@compiled
def _changed_curves(curve: Floats, counts: Ints, hits: int, added: Floats, lost: Floats) -> Floats:
    """Give the log-odds of recorded outcomes for each pair of shares; shape (s, m)."""
    curves, right, shift = np.empty((added.size, curve.size)), np.exp(curve), 0.0
    of_added, of_lost = np.empty(curve.size), np.empty(curve.size)
    for s in range(added.size):
        for i in range(curve.size):
            of_added[i], of_lost[i] = added[s], lost[s]
        shift, _, _ = _moved_prior(right, of_added, of_lost, counts, hits, shift)
        odds = _recorded_odds(right, of_added, of_lost, exp(shift))
        for i in range(curve.size):
            curves[s, i] = np.log(odds[i])
    return curves
