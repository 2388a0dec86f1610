"""Whether an open drift is one of the scores, or labels that changed. Pure.

Rule: labels are named only where they explain the outcomes since the drift began a hundred times
better than every distortion of the curve does, and where a tenth to a half of one side are wrong;
between a hundred times better and a hundred times worse, both are named. A real drift is none of
the distortions exactly, so a likelihood alone calls it labels: that of the flights did.
"""

from collections.abc import Mapping
from math import isfinite, log
from typing import Any, NamedTuple

import numpy as np

from monitor.drift.curve.reference import Reference
from monitor.drift.evidence.directions import CHANGES
from monitor.drift.incidents.detecting import best_profile, highest_of
from monitor.drift.records.day_evidence import DIRECTIONS, KINDS, TOLD, LabelChange
from monitor.drift.records.detector import Incident
from monitor.metrics.core.coarse import Coarse
from monitor.metrics.core.estimate import NORMAL_95, Estimate
from monitor.metrics.core.grid import Floats
from monitor.metrics.core.special import expit

SURE = log(1000.0)  # nats: what the outcomes of a week must say to tell a bend
MOST = 0.5  # of the outcomes of one side: a flatter curve is a model that says nothing


class Best(NamedTuple):
    """The share of wrong labels of one family that fits best, and its log-likelihood over none."""

    share: Estimate
    gain: float


def best_shares(profiles: Floats) -> list[Best]:
    """Give the best share of each family of `CHANGES`; none from profiles without labels.

    Parameters
    ----------
    profiles : ndarray of shape (6, 16)
        Of an `Incident`.

    Notes
    -----
    The highest point lies on the parabola through the best of the shares that were weighed and its
    neighbours. The interval is that of the signed root of twice the log-likelihood below it, which
    is nearly straight between them, at 1.96.

    Examples
    --------
    >>> from monitor.drift.evidence.directions import LOST, no_profiles
    >>> profiles = no_profiles()
    >>> profiles[-2] = 50.0 - 0.5 * ((LOST - 0.22) / 0.01) ** 2
    >>> lost, _ = best_shares(profiles)
    >>> f"{lost.share:.1%}", round(lost.gain, 3)
    ('22.0 % (95 % 20.0 % to 24.0 %)', 50.0)
    """
    return [
        _best(np.insert(shares, 0, 0.0), np.insert(profile, 0, 0.0))
        for shares, profile in zip(CHANGES.values(), profiles[len(DIRECTIONS) :], strict=False)
    ]


def _best(shares: Floats, profile: Floats) -> Best:
    top = int(np.clip(profile.argmax(), 1, shares.size - 2))
    x, y = shares[top - 1 : top + 2], profile[top - 1 : top + 2]
    bend, tilt, height = np.polyfit(x - x[1], y, 2)
    peak, gain = float(shares[profile.argmax()]), float(profile.max())
    if bend < 0.0:
        peak = float(np.clip(x[1] - tilt / (2.0 * bend), x[0], x[2]))
        gain = max(gain, float(height + (tilt + bend * (peak - x[1])) * (peak - x[1])))
    roots = np.sign(shares - peak) * np.sqrt(2.0 * np.maximum(0.0, gain - profile))
    places = np.argsort(np.append(shares, peak), kind="stable")
    at, roots = np.append(shares, peak)[places], np.append(roots, 0.0)[places]
    low, high = np.interp([-NORMAL_95, NORMAL_95], np.maximum.accumulate(roots), at)
    return Best(Estimate(peak, float(low), float(high)), gain)


def label_change(incident: Incident | None) -> LabelChange | None:
    """Say how labels changed, if that may be what a drift is.

    Parameters
    ----------
    incident : Incident or None
        That is open.

    Returns
    -------
    LabelChange or None
        None where a distortion is a hundred times likelier, where more than half of the outcomes
        of one side would have to be wrong, of breaks at one place and of the
        level, and where the days could not be read once more.
    """
    if incident is None or incident.profiles is None or incident.place:
        return None
    direction = KINDS.index(best_profile(incident.profiles)[0]) // 2
    bent, _ = highest_of(incident.profiles[direction])
    found = dict(zip(CHANGES, best_shares(incident.profiles), strict=False))
    if not found:
        return None
    family = max(found, key=lambda of: found[of].gain)
    best = found[family]
    evidence = (best.gain - bent) / log(10.0)
    if evidence <= -TOLD or best.share.low <= 0.0 or best.share.high > MOST:
        return None
    return LabelChange(family, best.share, evidence)


def lost_like_prior(reference: Reference, parts: Mapping[Any, Coarse]) -> float | None:
    """Give the share of lost positives that outcomes do not distinguish from a prior that fell.

    Parameters
    ----------
    reference : Reference
        Of the stream.
    parts : mapping to Coarse
        The outcomes of a week by segment and stratum.

    Returns
    -------
    float or None
        The share, in (0, 0.5], that makes as many outcomes positive as are; None if it is another,
        or if so many lost ones would bend the curve by more than could be overlooked.

    Notes
    -----
    A share b of lost positives moves the log-odds of a score with rate p by
    ``h = log(1 - b) + log(1 - p) - log(1 - (1 - b) p)``: alike where p is small. Once the prior of
    each part is free, n outcomes a cell say ``sum n q (1 - q) (h - mean h)**2 / 2`` of what is left
    of h, in nats and on average, with ``q = (1 - b) p`` and the mean weighted by n q (1 - q). Below
    log(1000) the week cannot decide.

    Examples
    --------
    >>> from monitor.drift.curve.reference import fit_reference
    >>> from monitor.metrics.core.coarse import CENTRES
    >>> n = np.where(abs(CENTRES) < 3, 50, 0)
    >>> def day(prior, kept=1.0):
    ...     return {"all": Coarse(n, np.rint(n * kept * expit(CENTRES + prior)).astype(np.int64))}
    >>> rare, usual = (fit_reference([day(prior)] * 28) for prior in (-5.0, 0.0))
    >>> round(lost_like_prior(rare, day(-5.0, 0.7)), 1), lost_like_prior(usual, day(0.0, 0.7))
    (0.3, None)
    """
    known = [
        (part, expit(reference.curve + before.delta))
        for name, part in parts.items()
        if (before := reference.levels.get(name)) and isfinite(before.delta)
    ]
    expected = sum(float(part.counts @ p) for part, p in known)
    kept = sum(int(part.positives.sum()) for part, _ in known) / expected if expected else 0.0
    if not 1.0 - MOST <= kept < 1.0:
        return None
    said = 0.0
    for part, p in known:
        moved = np.log1p(-p) - np.log1p(-kept * p)
        weights = part.counts * kept * p * (1.0 - kept * p)
        mean = weights @ moved / max(float(weights.sum()), 1e-9)
        said += 0.5 * float(weights @ (moved - mean) ** 2)
    return 1.0 - kept if said < SURE else None
