"""Evidence of a calibration drift, accumulated over days; incidents open and close. Pure.

Rule: a detector is a fold over days. The same days give the same detector, however they arrive.

A Shiryaev-Roberts e-detector (Shin, Ramdas and Rinaldo, 2024): the evidence for each kind of
distortion is ``M = (M + w) E`` with E the evidence of a day and w at most 1. If an alert is given
where the weighted mean of M over the kinds reaches A, at least A days pass between false ones on
average.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from math import log, log10, nan, sqrt
from typing import Any

import numpy as np

from monitor.drift.curve.cubic import monotone_at
from monitor.drift.curve.label_noise import wrong_labels
from monitor.drift.curve.reference import SOUGHT, Reference, judged_with
from monitor.drift.evidence.directions import (
    FULL_GAIN,
    DayRows,
    Said,
    bounded,
    day_evidence,
    day_profiles,
    highest_of_each,
    recovery_evidence,
    rows_of_day,
)
from monitor.drift.evidence.history import (
    REMEMBERED,
    learned_day_variances,
    new_history,
    remember,
    since_counted,
    sums_since,
    variances_before,
    week_of,
)
from monitor.drift.evidence.lost_labels import no_lost, with_lost
from monitor.drift.incidents.broken import followed
from monitor.drift.incidents.region_watch import watch_regions
from monitor.drift.incidents.start import start_of
from monitor.drift.incidents.undecided import with_recovery
from monitor.drift.records.day_evidence import (
    DIRECTIONS,
    KINDS,
    SLOPES,
    DayEvidence,
    WrongLabels,
    direction_of,
    kind_of,
    sign_of,
)
from monitor.drift.records.detector import (
    RECOVERED,
    Detector,
    EndReason,
    Incident,
    LevelWatch,
    Span,
    over_on,
)
from monitor.drift.records.life import LIFE, LifeEvent, weighed_incident
from monitor.drift.records.region_state import RegionWatch
from monitor.metrics.core.coarse import Coarse
from monitor.metrics.core.estimate import Estimate
from monitor.metrics.core.grid import Floats
from monitor.metrics.core.ratio import ratio

REPLACED = 2.0  # log10: another distortion, so much more likely than one day in all, takes over
USUAL_EFFECT = 0.2  # logit: of a direction that the scores of the day do not move along
LEAST_SIZE = 0.05  # logit: the least distortion that a recovery is weighed against
SaidSince = Callable[[date], Said | None]
HangingSince = Callable[[date], Floats]


def unknown(*_: object) -> None:
    """Say that no day can be read once more."""


def profiles_of(said: Said | None) -> Floats | None:
    """Give the `profiles` of an incident, if the days since it began could be read once more."""
    return said and said.profiles


def independent(_: date) -> Floats:
    """Say that rows do not hang together."""
    return np.ones(len(DIRECTIONS))


def new_detector() -> Detector:
    """Begin with no evidence of anything."""
    return Detector(
        np.zeros(len(KINDS)), 0, date.min, np.zeros(len(DIRECTIONS)), None, new_history()
    )


def advance(
    detector: Detector,
    reference: Reference,
    days: Sequence[date],
    parts: Mapping[Any, Coarse],
    *,
    late: bool = False,
) -> tuple[Detector, DayEvidence]:
    """Weigh the outcomes of a day, or of a span of days judged together, and accumulate them.

    Parameters
    ----------
    detector : Detector
        Of the days before.
    reference : Reference
        Of the stream.
    days : sequence of date
        The days of the span; one day by default.
    parts : mapping to Coarse
        Outcomes by segment and stratum.
    late : bool
        Whether too many outcomes arrive after the day has settled: then it says nothing of breaks
        at one place.

    Returns
    -------
    tuple of Detector and DayEvidence
        The incident is not brought up to date yet; see `update_incident`.
    """
    wrong = wrong_labels(reference.noise, detector.noise)
    reference = judged_with(reference, wrong)
    begun = detector.history.firsts.size > 0
    same_week = begun and week_of(detector.last) == week_of(days[-1])
    day_variances = detector.jitters
    if not same_week:
        # While a drift is open, what makes its days differ makes a change of it harder to see.
        past = detector.history, days[0], detector.drifted
        day_variances = learned_day_variances(reference, *past)
    rows = rows_of_day(reference, parts, wrong)
    evidence = day_evidence(reference, parts, day_variances, detector.cross, rows=rows)
    regions = detector.regions if late else _watched(detector, reference, days[0], parts, wrong)
    lost = detector.labels
    if reference.noise and not (detector.incident or late):  # of lost labels
        dispersion = (1.0 + day_variances * evidence.informations).mean() * reference.hanging.max()
        lost = with_lost(lost, reference, rows.bent, float(dispersion))
    detector = replace(detector, regions=regions, labels=lost)
    if detector.incident and detector.incident.place:
        variance = float(regions.day_variances.max()) if regions else 0.0
        of_day = detector.incident, reference, parts
        incident, recovery = followed(*of_day, wrong=wrong, day_variance=variance)
        detector = replace(detector, incident=incident)
        evidence = replace(evidence, recovery=recovery)
    elif detector.incident:
        recovery = _recovery(detector.incident, evidence, day_variances, rows)
        usual = variances_before(reference, detector, days[0])
        known = detector.incident.profiles is not None
        profiles = day_profiles(rows, usual) if known else None
        evidence = replace(evidence, recovery=recovery, profiles=profiles)
    return accumulate(detector, days[0], evidence, day_variances), evidence


def _watched(
    detector: Detector,
    reference: Reference,
    day: date,
    parts: Mapping[Any, Coarse],
    wrong: WrongLabels | None,
) -> RegionWatch | None:
    """Accumulate what a day says of breaks; while a drift is open, only what is usual is learnt."""
    if reference.regions is None:
        return None
    hanging = float(reference.hanging.max())
    watch = watch_regions(
        *(detector.regions, reference.regions, day, parts), wrong=wrong, hanging=hanging
    )
    return replace(watch, sums=np.zeros_like(watch.sums)) if detector.incident else watch


def _recovery(
    incident: Incident, evidence: DayEvidence, day_variances: Floats, rows: DayRows
) -> float:
    """Weigh the two distortions between which a recovery is decided, log10.

    The one that may still be there lies two standard errors below its estimate, but not above the
    effect of the day nor below 0.05; the other is the tolerance, at most half of the first.
    """
    direction, sign = direction_of(incident.kind), sign_of(incident.kind)
    far = max(abs(incident.size) - 2.0 * incident.size_error, LEAST_SIZE)
    far = min(float(evidence.effects[direction]), far)
    near = min(float(evidence.tolerances[direction]), 0.5 * far)
    ratio = recovery_evidence(rows, direction, sign * far, sign * near)
    phi = 1.0 + float(day_variances[direction] * evidence.informations[direction])
    return float(bounded(np.array(ratio / phi / log(10.0))))


def accumulate(
    detector: Detector, day: date, evidence: DayEvidence, day_variances: Floats
) -> Detector:
    """Add a day to the evidence of every kind.

    Parameters
    ----------
    detector : Detector
        Of the days before.
    day : date
        The day.
    evidence : DayEvidence
        Of that day, weighed with these between-day variances.
    day_variances : ndarray of shape (4,)
        Between-day variances.

    Returns
    -------
    Detector
        The same if the day says nothing.
    """
    if not evidence.informations.any():
        return detector
    # A drift that is open could be mistaken for wrong labels.
    says = None if detector.incident else evidence.noise
    priced = evidence.tolerances, evidence.effects
    begun = share_of_start(*priced, evidence.informations, day_variances)
    return replace(
        detector,
        sums=(detector.sums + np.repeat(begun, 2)) * 10.0**evidence.ratios,
        last=day,
        counted=detector.counted + 1,
        jitters=day_variances,
        cross=evidence.cross,
        history=remember(detector.history, day, evidence),
        noise=detector.noise if says is None else np.asarray(detector.noise + says),
    )


def share_of_start(
    tolerances: Floats, effects: Floats, informations: Floats, day_variances: Floats
) -> Floats:
    """Give how much a day counts as the first one of a drift along each direction, at most 1.

    Parameters
    ----------
    tolerances, effects, informations, day_variances : ndarray of shape (..., 4)
        Of the day; see `DayEvidence`.

    Notes
    -----
    ``w = min(1, 10 g)`` with ``g = (effect - tolerance)**2 I / (2 phi)`` what the day may add, in
    nats: days that know nothing do not bring an alert nearer. It depends on the scores and on the
    number of positive outcomes only.

    Examples
    --------
    >>> share_of_start(np.array([0.1]), np.array([0.3]), np.array([2.5]), np.array([0.0])).round(2)
    array([0.5])
    """
    gains = 0.5 * (effects - tolerances) ** 2 * informations / (1.0 + day_variances * informations)
    return np.asarray(np.minimum(1.0, gains / FULL_GAIN))


def rebased(detector: Detector, day: date) -> Detector:
    """Discard all evidence, because another reference rules from this day on."""
    of_curve, of_level = (over_on(of, day, "rebased") for of in (detector, detector.level))
    return replace(new_detector(), ended=of_curve, level=LevelWatch(ended=of_level))


def _closed(detector: Detector, day: date, incident: Incident, reason: EndReason) -> Detector:
    """Close an incident; its days say nothing of how much days usually differ."""
    over = Span(incident.started, incident.recovering or day)
    recent = [span for span in detector.drifted if span.last > day - REMEMBERED]
    ended = over_on(detector, day, reason)
    return replace(detector, incident=None, ended=ended, drifted=(*recent, over))


def limit(false_alert_days: float) -> float:
    """Give the evidence at which a stream alerts, log10: ``log10(A)``."""
    return log10(false_alert_days)


def alarms_among(evidences: Iterable[float], false_alert_days: float) -> tuple[int, list[float]]:
    """Count the streams that alert today by e-d-BH, and give the limit for each such number.

    Examples
    --------
    >>> alarmed, limits = alarms_among([0.0, 2.5], 100.0)
    >>> alarmed, [round(value, 2) for value in limits]
    (1, [2.3, 2.0])
    """
    ranked = sorted(evidences, reverse=True)
    limits = [limit(false_alert_days * len(ranked) / k) for k in range(1, len(ranked) + 1)]
    fair = (k for k, evidence in enumerate(ranked, 1) if evidence >= limits[k - 1])
    return max(fair, default=0), limits


def segment_limits(
    detectors: Mapping[str, Detector | LevelWatch], false_alert_days: float
) -> dict[str, float]:
    """Give the evidence at which each of several streams alerts today, log10.

    Parameters
    ----------
    detectors : mapping of str to Detector or LevelWatch
        One for each segment.
    false_alert_days : float
        A: how many days a single stream should run without a false alert, on average.

    Returns
    -------
    dict of str to float
        A stream alerts if its evidence is as high.

    Notes
    -----
    e-d-BH: with the evidence M sorted downwards, k is the largest number with
    ``M_(k) >= A streams / k``. That is the limit of its k streams, and the one with k + 1 that of
    all others.

    Examples
    --------
    >>> from dataclasses import replace
    >>> calm, loud = new_detector(), replace(new_detector(), sums=np.full(8, 10.0**2.5))
    >>> limits = segment_limits({"a": loud, "b": calm}, 100.0)
    >>> {name: round(value, 2) for name, value in limits.items()}
    {'a': 2.3, 'b': 2.0}
    """
    strongest = {name: detector.evidence for name, detector in detectors.items()}
    ranked = sorted(strongest, key=lambda name: -strongest[name])
    alarmed, among = alarms_among([*strongest.values()], false_alert_days)
    of_others = among[min(alarmed, len(among) - 1)] if among else 0.0
    return {
        name: among[alarmed - 1] if rank <= alarmed else of_others
        for rank, name in enumerate(ranked, 1)
    }


def mean_evidence(evidences: Sequence[Any]) -> Any:
    """Average the evidence of several families over the same days, all in log10.

    Examples
    --------
    >>> round(float(mean_evidence([3.0, 0.0])), 2)
    2.7
    """
    if len(evidences) == 1:
        return evidences[0]
    return np.log10(np.mean(np.power(10.0, evidences), axis=0))


def family_limit(limit: float, others: Sequence[float]) -> float:
    """Give the evidence at which one of several families alerts, log10.

    Parameters
    ----------
    limit : float
        log10 of A, at which the mean of the evidence of all of them alerts.
    others : sequence of float
        The evidence of the others, log10; 0 of those that do not count.

    Notes
    -----
    ``max(A, n A - sum of the others)``. Each evidence grows by at most 1 a day on average while
    nothing changes, however they depend on each other, and so does their mean. Where the mean
    reaches A, at least one of them has.

    Examples
    --------
    >>> [round(10.0 ** family_limit(3.0, [other])) for other in (0.0, 2.9, 4.0)]
    [1999, 1206, 1000]
    """
    if not others:
        return limit
    left = (len(others) + 1) * 10.0**limit - sum(10.0**other for other in others)
    return log10(max(10.0**limit, left))


def update_incident(
    detector: Detector,
    day: date,
    evidence: DayEvidence,
    *,
    alarm: bool,
    said_since: SaidSince = unknown,
    hanging_since: HangingSince = independent,
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
        Whether the evidence is over its limit today.
    said_since : function of a date
        What the days since say once more; asked when an incident opens.
    hanging_since : function of a date
        By how much rows have hung together along each direction from that day on; asked when an
        incident would close.

    Returns
    -------
    Detector
        After an alarm the evidence is 0 again. An open incident is never opened twice: a further
        alarm ends what spoke for its recovery.
    """
    happened = event_of_day(
        detector, day, evidence, alarm=alarm, said_since=said_since, hanging_since=hanging_since
    )
    return lived(detector, day, *happened) if happened else detector


def lived(detector: Detector, day: date, event: LifeEvent, incident: Incident) -> Detector:
    """Let an event happen to the incident of a detector; what it does is a row of `LIFE`."""
    step = LIFE[event]
    now = named(incident) if step.named else incident
    if step.ends:
        return _closed(detector, day, now, step.ends)
    after = replace(detector, incident=now)
    return _restarted(after) if step.restarts else after


def event_of_day(
    detector: Detector,
    day: date,
    evidence: DayEvidence,
    *,
    alarm: bool,
    said_since: SaidSince,
    hanging_since: HangingSince,
) -> tuple[LifeEvent, Incident] | None:
    """Choose what a day makes happen, and give the incident with what it says; None of no drift."""
    incident = detector.incident
    if incident is None:
        if not alarm:
            return None
        return "found", opened_incident(detector, day, evidence, said_since)
    carried = _with_day(incident, evidence, detector.jitters)
    if alarm:
        return "found again", replace(carried, recovery=0.0, recovering=None, quarter=None)
    event, now = weighed_incident(carried, day, evidence.recovery, detector.last)
    if not incident.place:
        now = replace(now, quarter=with_recovery(incident.quarter, day, evidence.recovery))
    if now.recovery < RECOVERED or _hangs(now, hanging_since):
        # While the outcomes speak for recovery, name and size stay: they say nothing of it.
        return "recovers" if now.recovery else "lasts", now
    if not incident.place and detector.sums.max() >= 10.0**REPLACED * detector.counted:
        # One distortion has gone and another, as certain, has come: the curve is not back.
        other = opened_incident(detector, day, evidence, said_since)
        return "replaced", replace(other, opened=now.opened, evidence=now.evidence)
    return event, now


def _hangs(incident: Incident, hanging_since: HangingSince) -> bool:
    """Say whether rows hang together so much that what speaks for recovery is too little."""
    if incident.place or not incident.recovering:
        return False
    together = float(hanging_since(incident.recovering)[direction_of(incident.kind)])
    return incident.recovery < RECOVERED * together


def _restarted(detector: Detector) -> Detector:
    regions = detector.regions
    return replace(
        detector,
        sums=np.zeros(len(KINDS)),
        counted=0,
        labels=None if detector.labels is None else no_lost(),
        ended=None,
        regions=regions and replace(regions, sums=np.zeros_like(regions.sums)),
    )


def scaled(detector: Detector, share: float) -> Detector:
    """Leave a share of the evidence of every distortion and of labels; all that of places."""
    labels = None if detector.labels is None else detector.labels * share
    return replace(detector, sums=detector.sums * share, labels=labels)


def opened_incident(
    detector: Detector,
    day: date,
    evidence: DayEvidence,
    said_since: SaidSince = unknown,
) -> Incident:
    """Make the incident that an alarm on this day opens, dated by the kind with most evidence."""
    kind = KINDS[int(detector.sums.argmax())]
    direction = direction_of(kind)
    # A limit that fell may raise the alarm on a day without outcomes of this stream.
    effect = float(evidence.effects[direction]) or USUAL_EFFECT
    start = start_of(
        since_counted(detector.history, detector.counted),
        direction=direction,
        sign=sign_of(kind),
        day_variance=float(detector.jitters[direction]),
        effect=effect,
        error=effect / SOUGHT,  # or less, where more than six standard errors are looked for
    )
    scores, informations, slopes = sums_since(detector.history, start.day, detector.jitters)
    opened = Incident(
        *(day, start.day, start.low, start.high, kind, detector.evidence),
        scores=scores,
        informations=informations,
        slopes=slopes,
        gradual=start.gradual,
        profiles=profiles_of(said_since(start.day)),
    )
    return named(opened)


def _with_day(incident: Incident, evidence: DayEvidence, day_variances: Floats) -> Incident:
    if incident.place:  # it is followed by itself
        return incident
    phi = 1.0 + day_variances * evidence.informations
    before, now = incident.profiles, evidence.profiles
    return replace(
        incident,
        profiles=None if before is None or now is None else before + now,
        scores=incident.scores + evidence.scores / phi,
        informations=incident.informations + evidence.informations / phi,
        slopes=incident.slopes + evidence.slopes,
    )


def named(incident: Incident) -> Incident:
    """Name the distortion that fits best since the start, and measure it; a break has its name."""
    if incident.place:
        return incident
    if incident.profiles is not None and incident.profiles.any():
        kind, size = best_profile(incident.profiles)
    else:
        kind, size = best_fit(incident.scores, incident.informations)
    information = float(incident.informations[direction_of(kind)])
    error = 1.0 / sqrt(information) if information > 0.0 else 0.0
    return replace(incident, kind=kind, size=size, size_error=error)


def best_fit(scores: Floats, informations: Floats) -> tuple[str, float]:
    """Name the single distortion that fits best, and give the size that fits it best, in logit.

    Along direction j the log-likelihood gains ``U_j**2 / (2 I_j)`` at ``U_j / I_j``.
    """
    direction = int(ratio(scores**2, informations).argmax())
    information = float(informations[direction])
    size = float(scores[direction]) / information if information > 0.0 else 0.0
    return kind_of(direction, size), size


def best_profile(profiles: Floats) -> tuple[str, float]:
    """Name the single distortion that fits best, and measure it, from profiles.

    Parameters
    ----------
    profiles : ndarray of shape (4 or more, 16)
        Of an `Incident`; only rows of directions count.

    Returns
    -------
    tuple of str and float
        The kind, and its size in logit, signed, at most 2.5.

    Notes
    -----
    Between the sizes a profile is a cubic spline, and the size is where it is highest. `best_fit`
    knows slope and curvature of the likelihood at the reference only: what is far from it, like a
    slope of 0, seems to be larger, and often another kind.

    Examples
    --------
    >>> from monitor.drift.evidence.directions import SIZES
    >>> gains = 100.0 * SIZES * (0.6 - SIZES)
    >>> kind, size = best_profile(np.outer([1.0, 0.5, 0.0, 0.5], gains))
    >>> kind, round(size, 3)
    ('too_timid', 0.3)
    """
    highest = highest_of_each(profiles[: len(DIRECTIONS)])
    direction = max(range(len(highest)), key=lambda j: highest[j][0])
    size = highest[direction][1]
    return kind_of(direction, size), size


def gain_of_best(profiles: Floats) -> float:
    """Give what `best_profile` explains, in nats."""
    return max(highest for highest, _ in highest_of_each(profiles[: len(DIRECTIONS)]))


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
        One of these two without an interval where the slope is beyond it.

    Examples
    --------
    >>> best_slope(np.array([75.0, 50.0, 25.0, 0.0, -35.0, -100.0]), 0.0).value
    1.0
    """
    if not np.all(np.diff(slopes) < 0.0):  # it falls wherever there is any information
        return None
    if not slopes[-1] <= 0.0 <= slopes[0]:
        return Estimate(SLOPES[0 if slopes[0] < 0.0 else -1], nan, nan)
    slope, falls = monotone_at(slopes[::-1], np.array(SLOPES[::-1]), 0.0)
    variance = -falls  # 1 / how fast the sums fall
    return Estimate.normal(slope, sqrt(variance + (slope * error) ** 2)) if variance > 0.0 else None
