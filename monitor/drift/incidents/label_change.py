"""Whether an open drift is one of the scores, or labels that changed. Pure.

Rule: labels are named only where they explain the outcomes since the drift began a hundred times
better than every distortion of the curve does, and where a tenth to a half of one side are wrong;
between a hundred times better and a hundred times worse, both are named. A real drift is none of
the distortions exactly, so a likelihood alone calls it labels: that of the flights did.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from math import isfinite, log
from typing import Any, NamedTuple

import numpy as np

from monitor.drift.curve.label_noise import FAMILIES, Noise, fits_of_shares, wrong_labels
from monitor.drift.curve.reference import Reference, merge_days
from monitor.drift.evidence.directions import CHANGES, LOST, day_profiles, no_profiles, rows_of_day
from monitor.drift.incidents.detecting import (
    SaidSince,
    gain_of_best,
    opened_incident,
    scaled,
)
from monitor.drift.records.day_evidence import (
    DIRECTIONS,
    TOLD,
    DayEvidence,
    LabelChange,
    WrongLabels,
)
from monitor.drift.records.detector import OF_LOST, Detector, Incident
from monitor.metrics.core.coarse import Coarse
from monitor.metrics.core.estimate import NORMAL_95, Estimate
from monitor.metrics.core.grid import Floats
from monitor.metrics.core.special import expit

SURE = log(1000.0)  # nats: what the outcomes of a week must say against lost labels
EXPLAINED = TOLD * log(10.0)  # nats: by which a drift must be likelier than labels always wrong
JUST_BELOW = 0.99  # of a limit
LONGEST = 56  # days since the drift would have begun, after which its alert waits no longer
MOST = 0.5  # of the outcomes of one side: a flatter curve is a model that says nothing


class Best(NamedTuple):
    """The share of wrong labels of one family that fits best, and its log-likelihood over none."""

    share: Estimate
    gain: float


def best_shares(profiles: Floats) -> list[Best]:
    """Give the best share of each family of `CHANGES`.

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
        for shares, profile in zip(CHANGES.values(), profiles[len(DIRECTIONS) :], strict=True)
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
    found = dict(zip(CHANGES, best_shares(incident.profiles), strict=True))
    family = max(found, key=lambda of: found[of].gain)
    best = found[family]
    evidence = (best.gain - gain_of_best(incident.profiles)) / log(10.0)
    if evidence <= -TOLD or best.share.low <= 0.0 or best.share.high > MOST:
        return None
    return LabelChange(family, best.share, evidence)


def only_if_told(
    detector: Detector,
    day: date,
    evidence: DayEvidence,
    enough: float,
    said_since: SaidSince,
) -> Detector:
    """Let lost labels raise an alert only where the verdict would name them.

    Parameters
    ----------
    detector : Detector
        After `monitor.drift.incidents.detecting.accumulate`.
    day : date
        The day.
    evidence : DayEvidence
        Of that day.
    enough : float
        The evidence at which the stream alerts, log10.
    said_since : function of a date
        What the days since say once more.

    Returns
    -------
    Detector
        The same below the limit, where it is reached without them, and where `label_change` of the
        incident that would open names them; else their evidence ends just below it.

    Notes
    -----
    A curve that moved within its tolerance may look more like lost labels than like the reference.
    """
    if detector.incident or detector.labels is None or detector.evidence < enough:
        return detector
    mean = float(detector.labels.mean())
    without = 10.0**detector.evidence - OF_LOST * mean
    if without >= 10.0**enough:
        return detector
    found = label_change(opened_incident(detector, day, evidence, said_since))
    if found and found.told and found.family == "lost":
        return detector
    left = max(0.0, JUST_BELOW * 10.0**enough - without) / (OF_LOST * mean)
    return replace(detector, labels=detector.labels * min(1.0, left))


def unless_always_so(
    detector: Detector,
    reference: Reference,
    day: date,
    evidence: DayEvidence,
    enough: float,
    said_since: SaidSince,
) -> Detector:
    """Let evidence wait while labels explain it that were wrong before the reference too.

    Parameters
    ----------
    detector, day, evidence, enough, said_since
        As for `only_if_told`.
    reference : Reference
        Of the stream.

    Returns
    -------
    Detector
        The same below the limit, and where the best distortion, beside the share of wrong labels
        that days are judged with, explains the days since the drift would have begun a hundred
        times better than the best constant share does, of which the likelihood over all days
        before counts where it is below that of right labels, and where places alone reach the
        limit, or where the drift would have lasted eight weeks; else its evidence ends just below
        it.

    Notes
    -----
    It takes weeks in which the prior moves until a share is known so well that days are judged
    with it. Until then a prior that moves bends the curve by as much as a small drift. What has
    accumulated by then was judged with right labels, and with another share later: it counts as
    far as the same days say it with the share that is known today.
    """
    noise = reference.noise
    if noise is None or detector.incident or detector.evidence < enough:
        return detector
    opened = opened_incident(detector, day, evidence, said_since)
    said = said_since(opened.started)
    if said is None or (day - opened.started).days > LONGEST:
        return detector
    joint = said.fits + np.minimum(0.0, fits_of_shares(noise, detector.noise))
    used = _fit_of(wrong_labels(noise, detector.noise), noise, joint)
    if joint[:, 1:].max() <= used + gain_of_best(said.profiles) - EXPLAINED:
        return detector
    places = 10.0 ** scaled(detector, 0.0).evidence if detector.regions else 0.0
    left = JUST_BELOW * 10.0**enough - places
    return scaled(detector, left / (10.0**detector.evidence - places)) if left > 0.0 else detector


def _fit_of(wrong: WrongLabels | None, noise: Noise, fits: Floats) -> float:
    """Give the fit of the share that days are judged with, from those of all shares."""
    if wrong is None:
        return 0.0
    family = FAMILIES.index(wrong.family)
    return float(np.interp(wrong.share, noise.shares[family], fits[family]))


def lost_like_prior(reference: Reference, days: Sequence[Mapping[Any, Coarse]]) -> float | None:
    """Give the share of lost positives that outcomes do not distinguish from a prior that fell.

    Parameters
    ----------
    reference : Reference
        Of the stream.
    days : sequence of mapping to Coarse
        The outcomes of each day of a week by segment and stratum.

    Returns
    -------
    float or None
        The share, in (0, 0.5], that makes as many outcomes positive as are; None if it is another,
        or if the outcomes speak against it with 1,000 to 1, by the profiles of `label_change`.

    Examples
    --------
    >>> from monitor.drift.curve.reference import fit_reference
    >>> from monitor.metrics.core.coarse import CENTRES
    >>> n = np.where(abs(CENTRES) < 3, 50, 0)
    >>> def day(prior):
    ...     return {"all": Coarse(n, np.rint(n * expit(CENTRES + prior)).astype(np.int64))}
    >>> rare, usual = (fit_reference([day(prior)] * 28) for prior in (-5.0, 0.0))
    >>> round(lost_like_prior(rare, [day(-5.4)] * 7), 1), lost_like_prior(usual, [day(-0.5)] * 7)
    (0.3, None)
    """
    expected = kept = 0.0
    for name, part in merge_days(days).items():
        before = reference.levels.get(name)
        if before and isfinite(before.delta):
            expected += float(part.counts @ expit(reference.curve + before.delta))
            kept += float(part.positives.sum())
    lost = 1.0 - kept / expected if expected else 0.0
    if not 0.0 < lost <= MOST:
        return None
    rows = [rows_of_day(reference, day) for day in days]
    profiles = sum((day_profiles(of, reference.day_variances) for of in rows), no_profiles())
    told = profiles[len(DIRECTIONS) + [*CHANGES].index("lost")]
    evidence = np.interp(lost, np.insert(LOST, 0, 0.0), np.insert(told, 0, 0.0))
    return lost if evidence > -SURE else None
