"""The verdict of a day: calibration drift, or only a prior shift? A pure fold over days.

Rule 1: the verdict of a day rests on the days up to it and on nothing else. Running day by day,
a backfill and a second look after a limit was changed give the same verdicts.
Rule 2: a verdict is said of settled days only. Half-arrived outcomes look like a prior shift.
"""

from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from math import isfinite, nan, sqrt
from typing import Literal, get_args

import numpy as np

from monitor.drift import wording
from monitor.drift.detector import (
    Detector,
    EndReason,
    accumulate,
    best_slope,
    limit,
    new_detector,
    reset,
    segment_limits,
    update_incident,
)
from monitor.drift.evidence import DayEvidence
from monitor.drift.inputs import (
    Day,
    EvidenceOfDay,
    Limits,
    ModelReference,
    parts_of_stream,
    reference_of_day,
    segments_of,
)
from monitor.drift.reference import Reference, lift_since
from monitor.metrics.core.coarse import Coarse, sum_of
from monitor.metrics.core.estimate import Estimate
from monitor.metrics.logistic.level import Lift
from monitor.segment_names import WHOLE

State = Literal[
    "ok",
    "prior_shift",
    "level_drift",
    "acknowledged",
    "calibration_drift",
    "insufficient_data",
    "data_error",
]
STATES: tuple[State, ...] = get_args(State)
WEEK = 7  # days that the level and the prior are judged over
CERTAIN = 3.29  # standard errors: one in a thousand by chance


@dataclass(frozen=True, eq=False)
class Verdict:
    """What is said of one model and segment on one day.

    Attributes
    ----------
    model, segment : str
        Whose predictions; segment "all" is the sum of the evidence of all segments.
    day : date
        The day judged.
    final : bool
        Whether no more outcomes are awaited.
    known_at : datetime
        The moment up to which outcomes were read.
    state : str
        One of `STATES`.
    reasons : tuple of str
        Sentences for the person on call.
    evidence : DayEvidence or None
        What this day alone says; None without a reference or outcomes.
    detector : Detector
        What has accumulated.
    limit : float
        The sum that opens an incident, log10; a segment's depends on how many others alert.
    shift, level_change : Estimate or None
        Intercept against the reference over the week, and the part the prior does not explain.
    slope : Estimate or None
        Of the outcomes on the reference curve, since the drift's start or over the week.
    reference_prevalence : float
        Share of positive outcomes in the reference; nan if there is none yet.
    """

    model: str
    segment: str
    day: date
    final: bool
    known_at: datetime
    state: State
    reasons: tuple[str, ...]
    evidence: DayEvidence | None
    detector: Detector
    limit: float
    shift: Estimate | None
    level_change: Estimate | None
    slope: Estimate | None
    reference_prevalence: float


def judge(
    model: str,
    days: Iterable[EvidenceOfDay],
    *,
    periods: Sequence[ModelReference],
    lack: str,
    limits: Limits,
    week: Sequence[EvidenceOfDay] = (),
    detectors: Mapping[str, Detector] | None = None,
) -> Iterator[list[Verdict]]:
    """Fold days into verdicts.

    Parameters
    ----------
    model : str
        Its name.
    days : iterable of (Day, mapping of str to DayEvidence)
        In their order, each with what `evidence_by_stream` found for its streams.
    periods : sequence of ModelReference
        The references in their order; each rules from its first day to the first of the next.
    lack : str
        What is missing before the first.
    limits : Limits
        When something is worth saying.
    week : sequence of (Day, mapping of str to DayEvidence)
        The days before the first, of which the last six count.
    detectors : mapping of str to Detector, optional
        Of every stream before the first day; without it the fold begins here.

    Yields
    ------
    list of Verdict
        Of each day: the whole first, then its segments.
    """
    recent, detectors = deque(week), dict(detectors or {})
    for day, evidence in days:
        recent.append((day, evidence))
        period = reference_of_day(day.day, periods)
        # Days of a reference, and before it, are no part of what is compared with it.
        closed = min(period.last, day.day - timedelta(days=1)) if period else date.min
        while recent[0][0].day <= max(closed, day.day - timedelta(days=WEEK)):
            recent.popleft()
        reason = _reason_to_reset(day.day, period, limits)
        if reason:
            detectors = {n: reset(found, day.day, reason) for n, found in detectors.items()}
        detectors, enough = _advance(detectors, day.day, {} if reason else evidence, limits)
        names = dict.fromkeys([WHOLE, *(period.streams if period else ()), *segments_of(day)])
        yield [
            _verdict(
                model,
                name,
                detectors.get(name, new_detector()),
                period or lack,
                recent,
                limits,
                enough=enough.get(name, limit(limits.segment_false_alert_days * len(names))),
            )
            for name in names
        ]


def _reason_to_reset(day: date, period: ModelReference | None, limits: Limits) -> EndReason | None:
    """Say why a day is no evidence, if so: it is the reference's, or its drift is known."""
    if period and day <= period.last:
        return "rebased"
    return "acknowledged" if _known_until(day, limits) else None


def _known_until(day: date, limits: Limits) -> date | None:
    """Find the end of the acknowledged drift that a day is part of."""
    return next((last for first, last in limits.known_drifts if first <= day <= last), None)


def _advance(
    before: Mapping[str, Detector], day: date, evidence: Mapping[str, DayEvidence], limits: Limits
) -> tuple[dict[str, Detector], dict[str, float]]:
    """Add a day to every detector, open or close incidents; also give the limits of the day."""
    added = {
        name: accumulate(before.get(name, new_detector()), day, found)
        for name, found in evidence.items()
    }
    segments = {name: detector for name, detector in added.items() if name != WHOLE}
    enough = segment_limits(segments, limits.segment_false_alert_days)
    enough[WHOLE] = limit(limits.false_alert_days)
    settled = {
        name: update_incident(
            detector, day, evidence[name], alarm=bool(detector.sums.max() >= enough[name])
        )
        for name, detector in added.items()
    }
    return {**before, **settled}, enough


def _verdict(
    model: str,
    name: str,
    detector: Detector,
    period: ModelReference | str,
    recent: Sequence[EvidenceOfDay],
    limits: Limits,
    *,
    enough: float,
) -> Verdict:
    day, evidence = recent[-1][0], recent[-1][1].get(name)
    reference = (
        period
        if isinstance(period, str)
        else period.streams.get(name, period.lack or wording.UNSEEN)
    )
    days = limits.false_alert_days if name == WHOLE else limits.segment_false_alert_days
    lift, slope, usual = None, None, nan
    if isinstance(reference, Reference):
        usual = reference.prevalence
        lift = _lift(reference, name, recent)
        slope = _slope(reference, name, detector, recent)
    prevalence = _prevalence(parts_of_stream(day, name).values())
    known_until = _known_until(day.day, limits)
    obstacle = _obstacle(
        day, period, reference, evidence, prevalence, known=bool(detector.incident or known_until)
    )
    state = obstacle[0] if obstacle else _state(detector, lift, limits, known_until)
    return Verdict(
        model=model,
        segment=name,
        day=day.day,
        final=day.final,
        known_at=day.known_at,
        state=state,
        reasons=wording.sentences(
            wording.Facts(
                state=state,
                day=day.day,
                obstacle=obstacle[1] if obstacle else "",
                known_until=known_until,
                incident=detector.incident,
                limit=enough if name == WHOLE else None,
                false_alert_days=days,
                slope=slope,
                lift=lift,
                prevalence=prevalence,
                reference_prevalence=usual,
            )
        ),
        evidence=evidence,
        detector=detector,
        limit=enough,
        shift=Estimate.normal(lift.shift, lift.shift_error) if lift else None,
        level_change=Estimate.normal(lift.kappa, lift.kappa_error) if lift else None,
        slope=slope,
        reference_prevalence=usual,
    )


def _obstacle(
    day: Day,
    period: ModelReference | str,
    reference: Reference | str,
    evidence: DayEvidence | None,
    prevalence: float,
    *,
    known: bool,
) -> tuple[State, str] | None:
    """Find what keeps a day from being judged; a drift that is open or known outlasts a gap."""
    if day.complaint:
        return "data_error", day.complaint
    why = None
    if not day.final:
        why = wording.awaited(day.coverage)
    elif isinstance(period, ModelReference) and day.day <= period.last:
        why = wording.inside_reference(day.day, period.first, period.last)
    elif isinstance(reference, str):
        why = wording.no_reference(reference)
    elif not known and (evidence is None or not evidence.informations.any()):
        why = wording.ONE_CLASS if isfinite(prevalence) else wording.NOTHING_KNOWN
    return ("insufficient_data", why) if why else None


def _state(
    detector: Detector, lift: Lift | None, limits: Limits, known_until: date | None
) -> State:
    """Choose the most severe state that holds; a known drift says nothing else about the day."""
    if known_until:
        return "acknowledged"
    if detector.incident:
        return "calibration_drift"
    if lift and abs(lift.shift) > CERTAIN * lift.shift_error:
        # What counts is how far the curve was lifted; kappa shows only that it was.
        if abs(lift.kappa) > CERTAIN * lift.kappa_error and abs(lift.lift) > limits.level:
            return "level_drift"
        if abs(lift.shift) > limits.prior_shift:
            return "prior_shift"
    return "ok"


def _lift(reference: Reference, name: str, recent: Iterable[EvidenceOfDay]) -> Lift | None:
    days = [parts_of_stream(day, name) for day, _ in recent if day.final]
    keys = dict.fromkeys(key for parts in days for key in parts)
    week = {key: sum_of([parts[key] for parts in days if key in parts]) for key in keys}
    found = lift_since(reference.curve, reference.levels, week)
    # Days of one storm or one campaign are not independent: as much as in the reference.
    factor = sqrt(reference.level_dispersion)
    return replace(found, kappa_error=found.kappa_error * factor) if found else None


def _slope(
    reference: Reference, name: str, detector: Detector, recent: Iterable[EvidenceOfDay]
) -> Estimate | None:
    """Estimate the slope since the drift began, else over the week."""
    known = float(reference.errors[0])
    if detector.incident:
        return best_slope(detector.incident.slopes, known)
    week = [evidence[name].slopes for _, evidence in recent if name in evidence]
    return best_slope(np.sum(week, axis=0), known) if week else None


def _prevalence(parts: Collection[Coarse]) -> float:
    total = sum(int(part.counts.sum()) for part in parts)
    return sum(int(part.positives.sum()) for part in parts) / total if total else nan
