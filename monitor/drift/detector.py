"""Evidence of a calibration drift, accumulated over days; incidents open and close. Pure.

Rule: a detector is a fold over days. The same days give the same detector, however they arrive.

An e-detector (Shin, Ramdas and Rinaldo, 2024): each kind of distortion has a sum of log evidence
that restarts at 0, and over ``log10(8 A)`` at least A days pass between false alerts on average.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date
from math import log10, sqrt
from typing import Literal

import numpy as np
from scipy.interpolate import PchipInterpolator

from monitor.drift.evidence import KINDS, SLOPES, DayEvidence
from monitor.drift.reference import DIRECTIONS
from monitor.metrics.core.estimate import Estimate
from monitor.metrics.core.grid import Floats

RECOVERED = 2.0  # log10: a hundred to one that the curve is back within its tolerance
EndReason = Literal["recovered", "acknowledged", "rebased"]
LEAST_AGE = 7  # days before an incident may close: weak drifts waver around the middle


@dataclass(frozen=True, eq=False)
class Incident:
    """An open calibration drift.

    Attributes
    ----------
    opened : date
        Day on which a sum crossed its limit.
    started : date
        Estimated first day of the drift; of another that took its place, if it changed.
    kind : str
        The distortion that fits best since then.
    evidence : float
        The sum that crossed on the day of the opening, log10.
    recovery : float
        Evidence since the opening that the distortion is gone, log10.
    scores, informations, slopes : ndarray of shape (4,), (4,), (6,)
        Sums since the start.
    """

    opened: date
    started: date
    kind: str
    evidence: float
    recovery: float
    scores: Floats
    informations: Floats
    slopes: Floats


@dataclass(frozen=True)
class Ended:
    """The last calibration drift of a stream, once it is over.

    Attributes
    ----------
    started : date
        Estimated first day of the drift.
    closed : date
        The day whose verdict no longer reports it.
    reason : str
        The outcomes recovered, or the configuration acknowledged the drift or re-based the
        reference.
    """

    started: date
    closed: date
    reason: EndReason


@dataclass(frozen=True, eq=False)
class Detector:
    """Accumulated evidence of one stream.

    Attributes
    ----------
    sums : ndarray of shape (8,)
        Evidence for each kind since its start, log10, at least 0.
    starts : tuple of date or None
        First day of each sum; None where it is 0.
    scores, informations, slopes : ndarray of shape (8, 4), (8, 4), (8, 6)
        Sums over the same days.
    incident : Incident or None
        The open drift.
    ended : Ended or None
        The last drift that is over; None once another one opens.
    """

    sums: Floats
    starts: tuple[date | None, ...]
    scores: Floats
    informations: Floats
    slopes: Floats
    incident: Incident | None = None
    ended: Ended | None = None


def new_detector() -> Detector:
    """Begin with no evidence of anything."""
    count, directions = len(KINDS), len(DIRECTIONS)
    zeros = np.zeros((count, directions))
    return Detector(np.zeros(count), (None,) * count, zeros, zeros, np.zeros((count, len(SLOPES))))


def accumulate(detector: Detector, day: date, evidence: DayEvidence) -> Detector:
    """Add a day to every sum; one that would fall below 0 begins anew on the next day."""
    sums = np.maximum(0.0, detector.sums + evidence.ratios)
    alive = sums > 0.0
    kept = np.where(alive[:, None], 1.0, 0.0)
    return Detector(
        sums=sums,
        starts=tuple(
            (start or day) if lives else None
            for start, lives in zip(detector.starts, alive, strict=True)
        ),
        scores=kept * (detector.scores + evidence.scores),
        informations=kept * (detector.informations + evidence.informations),
        slopes=kept * (detector.slopes + evidence.slopes),
        incident=detector.incident,
        ended=detector.ended,
    )


def reset(detector: Detector, day: date, reason: EndReason) -> Detector:
    """Discard all evidence; an open incident ends on this day, for this reason."""
    return replace(new_detector(), ended=_ended(detector, day, reason))


def _ended(detector: Detector, day: date, reason: EndReason) -> Ended | None:
    """Note the end of the open incident, if there is one."""
    incident = detector.incident
    return Ended(incident.started, day, reason) if incident else detector.ended


def limit(false_alert_days: float) -> float:
    """Give the sum at which a stream alerts, log10: ``log10(8 A)``."""
    return log10(len(KINDS) * false_alert_days)


def segment_limits(detectors: Mapping[str, Detector], false_alert_days: float) -> dict[str, float]:
    """Give the sum at which each of several streams alerts today, log10.

    Parameters
    ----------
    detectors : mapping of str to Detector
        One for each segment.
    false_alert_days : float
        A: how many days a single stream should run without a false alert, on average.

    Returns
    -------
    dict of str to float
        A stream alerts if its largest sum is as high.

    Notes
    -----
    e-d-BH: with the largest sums S sorted downwards, k is the largest number with
    ``S_(k) >= log10(8 A streams / k)``. That is the limit of its k streams, and the one with
    k + 1 that of all others. ``10**S / 8`` is at most the mean over the eight kinds, which is an
    e-detector, so it is one too, and a segment's evidence reads like that of the whole.

    Examples
    --------
    >>> from dataclasses import replace
    >>> calm, loud = new_detector(), replace(new_detector(), sums=np.full(8, 3.5))
    >>> {k: round(v, 2) for k, v in segment_limits({"a": loud, "b": calm}, 100.0).items()}
    {'a': 3.2, 'b': 2.9}
    """
    strongest = {name: float(detector.sums.max()) for name, detector in detectors.items()}
    ranked = sorted(strongest, key=lambda name: -strongest[name])
    among = [limit(false_alert_days * len(ranked) / k) for k in range(1, len(ranked) + 1)]
    alarmed = max(
        (k for k, name in enumerate(ranked, 1) if strongest[name] >= among[k - 1]), default=0
    )
    of_others = among[min(alarmed, len(among) - 1)] if among else 0.0
    return {
        name: among[alarmed - 1] if rank <= alarmed else of_others
        for rank, name in enumerate(ranked, 1)
    }


def update_incident(
    detector: Detector, day: date, evidence: DayEvidence, *, alarm: bool
) -> Detector:
    """Open, rename, carry on or close the incident of a detector that has accumulated the day.

    Parameters
    ----------
    detector : Detector
        After `accumulate`.
    day : date
        The day.
    evidence : DayEvidence
        Of that day.
    alarm : bool
        Whether the sums are over their limit today.

    Returns
    -------
    Detector
        After an alarm every sum is 0 again. An open incident is never opened twice: a further
        alarm ends what spoke for its recovery.
    """
    if alarm and detector.incident:
        renewed = replace(_with_day(detector.incident, evidence), recovery=0.0)
        kind = best_fitting_kind(renewed.scores, renewed.informations)
        return replace(new_detector(), incident=replace(renewed, kind=kind))
    if alarm:
        crossed = int(detector.sums.argmax())
        opened = Incident(
            opened=day,
            started=detector.starts[crossed] or day,
            kind=best_fitting_kind(detector.scores[crossed], detector.informations[crossed]),
            evidence=float(detector.sums[crossed]),
            recovery=0.0,
            scores=detector.scores[crossed],
            informations=detector.informations[crossed],
            slopes=detector.slopes[crossed],
        )
        return replace(new_detector(), incident=opened)
    if not detector.incident:
        return detector
    carried = _carried_on(detector, detector.incident, day, evidence)
    ended = None if carried else _ended(detector, day, "recovered")
    return replace(detector, incident=carried, ended=ended)


def _carried_on(
    detector: Detector, incident: Incident, day: date, evidence: DayEvidence
) -> Incident | None:
    """Bring an incident up to date; None once it is over."""
    change = float(evidence.ratios[KINDS.index(incident.kind)])
    now = replace(_with_day(incident, evidence), recovery=max(0.0, incident.recovery - change))
    strongest = int(detector.sums.argmax())
    if now.recovery >= RECOVERED and detector.sums[strongest] >= RECOVERED:
        # One distortion has gone and another, as certain, has come: the curve is not back.
        return replace(
            now,
            started=detector.starts[strongest] or day,
            kind=best_fitting_kind(detector.scores[strongest], detector.informations[strongest]),
            recovery=0.0,
            scores=detector.scores[strongest],
            informations=detector.informations[strongest],
            slopes=detector.slopes[strongest],
        )
    if now.recovery >= RECOVERED and (day - incident.opened).days >= LEAST_AGE:
        return None
    # While the outcomes speak for recovery the name stays: the days since tell of no distortion.
    return (
        now if now.recovery else replace(now, kind=best_fitting_kind(now.scores, now.informations))
    )


def _with_day(incident: Incident, evidence: DayEvidence) -> Incident:
    return replace(
        incident,
        scores=incident.scores + evidence.scores,
        informations=incident.informations + evidence.informations,
        slopes=incident.slopes + evidence.slopes,
    )


def best_fitting_kind(scores: Floats, informations: Floats) -> str:
    """Name the single distortion that fits best, at the size that fits it best.

    Along direction j the log-likelihood gains ``U_j**2 / (2 I_j)`` at ``U_j / I_j``.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        gains = np.where(informations > 0, scores**2 / informations, 0.0)
    direction = int(gains.argmax())
    return KINDS[2 * direction + int(scores[direction] > 0)]


def best_slope(slopes: Floats, error: float) -> Estimate | None:
    """Find the slope of the outcomes on the reference curve.

    Parameters
    ----------
    slopes : ndarray of shape (6,)
        Sum over days, as in `DayEvidence`.
    error : float
        Standard error of the slope of the reference itself.

    Returns
    -------
    Estimate or None
        Where the sum is 0, between the first and the last of `SLOPES`; None if nothing is known.

    Examples
    --------
    >>> best_slope(np.array([75.0, 50.0, 25.0, 0.0, -35.0, -100.0]), 0.0).value
    1.0
    """
    if not np.all(np.diff(slopes) < 0.0):  # it falls wherever there is any information
        return None
    inverse = PchipInterpolator(slopes[::-1], SLOPES[::-1])
    zero = np.clip(0.0, slopes[-1], slopes[0])
    slope, variance = float(inverse(zero)), -float(inverse(zero, 1))  # 1 / how fast they fall
    return Estimate.normal(slope, sqrt(variance + (slope * error) ** 2)) if variance > 0.0 else None
