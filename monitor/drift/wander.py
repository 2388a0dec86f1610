"""Slow wander that all rows share: how large it was so far, and what it leaves of evidence. Pure.

Rule: wander is learned from the weeks before the one that is judged, and only where it explains
them much better than independent weeks do.
"""

from dataclasses import replace
from math import sqrt
from typing import NamedTuple

import numpy as np

from monitor.drift.day_evidence import DIRECTIONS, DayEvidence
from monitor.drift.detector import Detector, History
from monitor.drift.entities import SIGNS
from monitor.drift.evidence import LEAST_RATIO
from monitor.drift.history import since_counted, week_of, weeks_of
from monitor.drift.reference import SOUGHT, TOLERATED, Reference
from monitor.drift.variance import LEAST_INFORMATION, WEEK
from monitor.metrics.core.grid import Floats

HEADROOM = 30.0  # evidence may be as many times that of a curve that wanders
SPREADS = (0.01, 0.015, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.22, 0.33)  # logit
MEMORIES = (5.0, 15.0, 43.0, 130.0)  # days after which a wander has lost all but 1/e
LEAST_GAIN = 2.0  # nats, by which wander explains the weeks better
LEAST_WEEKS = 6
MOST = 400.0  # nats: far above every limit
FAR_APART = 10_000  # weeks: those of the reference neighbour no others


class Wander(NamedTuple):
    """A stationary AR(1): its standard deviation in logit, 0 for none, and its memory in days."""

    spread: float
    memory: float


NO_WANDER = Wander(0.0, 1.0)


def fit_wander(middles: Floats, deviations: Floats, variances: Floats) -> Wander:
    """Fit an AR(1) to deviations by restricted maximum likelihood, on a grid.

    Parameters
    ----------
    middles : ndarray of shape (n,)
        Day around which each deviation lies.
    deviations, variances : ndarray of shape (n,)
        Deviations, in logit, and their variances without wander.

    Returns
    -------
    Wander
        None with fewer than six deviations, or if the logarithm of the restricted likelihood
        gains no more than 2.

    Notes
    -----
    ``log L = -(log|V| + log(1' V^-1 1) + (x - m)' V^-1 (x - m)) / 2`` with
    ``V = diag(variances) + spread**2 exp(-|day - day'| / memory)`` and m the weighted mean: the
    level of the stream is free, so a reference that is off by a constant is no wander.

    Examples
    --------
    >>> days, rng = 7.0 * np.arange(52), np.random.default_rng(1)
    >>> path = [0.0]
    >>> for _ in days[1:]:
    ...     path.append(0.85 * path[-1] + 0.053 * rng.normal())
    >>> fit_wander(days, np.array(path), np.full(52, 1e-4))
    Wander(spread=0.1, memory=43.0)
    >>> fit_wander(days, 0.01 * rng.normal(size=52), np.full(52, 1e-4))
    Wander(spread=0.0, memory=1.0)
    """
    if deviations.size < LEAST_WEEKS:
        return NO_WANDER
    spread, memory = (axis.ravel() for axis in np.meshgrid(SPREADS, MEMORIES, indexing="ij"))
    apart = np.abs(middles[:, None] - middles)
    shared = spread[:, None, None] ** 2 * np.exp(-apart / memory[:, None, None])
    gains = _restricted(deviations, np.diag(variances) + shared)
    best = int(gains.argmax())
    without = float(_restricted(deviations, np.diag(variances)[None])[0])
    if gains[best] <= without + LEAST_GAIN:
        return NO_WANDER
    return Wander(float(spread[best]), float(memory[best]))


def _restricted(deviations: Floats, covariances: Floats) -> Floats:
    """Give the logarithm of the restricted likelihood of each of several covariances."""
    halves = np.linalg.cholesky(covariances).diagonal(axis1=1, axis2=2)
    sides = np.stack([np.ones(deviations.size), deviations], axis=1)
    products = np.einsum("na,tnb->tab", sides, np.linalg.solve(covariances, sides[None]))
    information, pull, squares = products[:, 0, 0], products[:, 0, 1], products[:, 1, 1]
    size = np.log(halves).sum(axis=1) + 0.5 * np.log(information)
    return np.asarray(-size - 0.5 * (squares - pull**2 / information))


def held_down_by_wander(
    detector: Detector, reference: Reference, evidence: DayEvidence
) -> Detector:
    """Let the evidence be at most thirty times as strong as if the stream only wandered.

    Parameters
    ----------
    detector : Detector
        After `monitor.drift.detecting.accumulate`.
    reference : Reference
        Of the stream.
    evidence : DayEvidence
        Of the day.

    Returns
    -------
    Detector
        The same where no direction wanders.

    Notes
    -----
    For each kind M is at most ``30 G``, with
    ``G = sum_s days_s exp((e - t) (+-1' V^-1 x) - (e**2 - t**2) 1' V^-1 1 / 2)`` over the rows s
    of the history, x and V their deviations and covariance since s. The mean of the wander over
    the reference has the error ``w = spread sqrt(mean exp(-|day - day'| / memory))``, which the
    tolerance ``t = max(t, 1.25 w)`` and the effect ``e = max(e, 6 w, 2 t)`` leave room for.
    """
    kept = since_counted(detector.history, detector.counted)
    most = np.full((len(DIRECTIONS), 2), np.inf)
    for j in range(len(DIRECTIONS)):
        wander = wander_before(reference, detector, j)
        if wander.spread and evidence.effects[j]:
            far, near = _room(reference, wander, evidence.effects[j], evidence.tolerances[j])
            most[j] = _evidence(kept, wander, float(detector.jitters[j]), j, far, near)
    if np.isinf(most).all():
        return detector
    return replace(detector, sums=np.minimum(detector.sums, HEADROOM * most.ravel()))


def wander_before(reference: Reference, detector: Detector, direction: int) -> Wander:
    """Fit the wander along a direction to the reference and the weeks before the last day's."""
    history, variance = detector.history, float(reference.day_variances[direction])
    past = weeks_of(history.firsts) < week_of(detector.last)
    own = np.arange(len(reference.scores)) * reference.judge_every // WEEK - FAR_APART
    weeks = np.concatenate([own, weeks_of(history.firsts[past])])
    starts = np.nonzero(np.append(True, weeks[1:] != weeks[:-1]))[0]
    score, information = (
        np.add.reduceat(np.concatenate([first[:, direction], later[past, direction]]), starts)
        for first, later in (
            (reference.scores, history.scores.astype(np.float64)),
            (reference.informations, history.informations.astype(np.float64)),
        )
    )
    is_known = information >= LEAST_INFORMATION
    variances = 1.0 / information[is_known] + variance / WEEK
    return fit_wander(
        WEEK * weeks[starts][is_known], score[is_known] / information[is_known], variances
    )


def _room(reference: Reference, wander: Wander, effect: float, tolerance: float) -> Floats:
    """Give effect and tolerance with room for the wander that the reference itself holds."""
    days = np.arange(len(reference.scores)) * reference.judge_every
    apart = np.exp(-np.abs(days[:, None] - days) / wander.memory)
    error = wander.spread * sqrt(float(apart.mean()))
    near = max(tolerance, TOLERATED * error)
    return np.array([max(effect, SOUGHT * error, LEAST_RATIO * near), near])


def _evidence(
    history: History, wander: Wander, day_variance: float, direction: int, far: float, near: float
) -> Floats:
    """Give G of `held_down_by_wander` for both kinds of a direction."""
    seen = history.informations[:, direction] > 0.0
    # The newest row first: then the sums since each start are those up to a place.
    days, firsts, score, information = (
        values[seen][::-1].astype(np.float64)
        for values in (
            *(history.days, history.firsts),
            *(history.scores[:, direction], history.informations[:, direction]),
        )
    )
    middles = firsts + days / 2
    apart = np.abs(middles[:, None] - middles)
    covariance = wander.spread**2 * np.exp(-apart / wander.memory)
    covariance += np.diag(1.0 / information + day_variance / days)
    sides = np.stack([np.ones(days.size), score / information], axis=1)
    of_constant, of_deviations = np.linalg.solve(np.linalg.cholesky(covariance), sides).T
    pull, informations = np.cumsum(of_constant * of_deviations), np.cumsum(of_constant**2)
    gains = (far - near) * np.outer(SIGNS, pull) - 0.5 * (far**2 - near**2) * informations
    return np.asarray((days * np.exp(np.minimum(gains, MOST))).sum(axis=1))
