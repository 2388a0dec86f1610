"""Whether an open drift has become worse: another reference and detector beside the first. Pure.

Rule 1: the other reference is fitted to days of the incident itself, from the one after its opening
on, so it is a pure function of stored days; what is stored is their span.
Rule 2: a change is news only if it leads further from the reference of the model. Any other change
moves the start and the size of the incident, and raises no alert.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import partial
from math import inf, sqrt
from typing import NamedTuple

import numpy as np

from monitor.drift.classes.pairs import without_top
from monitor.drift.curve.label_noise import wrong_labels
from monitor.drift.curve.reference import Reference, fit_bare, what_a_reference_lacks
from monitor.drift.curve.variance import WEEK
from monitor.drift.evidence.directions import SIZES, day_evidence, highest_of_each, rows_of_day
from monitor.drift.evidence.history import rows_since, sums_since
from monitor.drift.fold.gate import Look, gated, may_be_late, released, withheld
from monitor.drift.fold.inputs import Day, weighed_parts, with_dependence
from monitor.drift.fold.today import Today, said_since
from monitor.drift.incidents.detecting import (
    accumulate,
    best_slope,
    lived,
    named,
    new_detector,
    opened_incident,
    profiles_of,
)
from monitor.drift.records.day_evidence import direction_of
from monitor.drift.records.detector import Detector, Incident, Second, Worse, is_withheld
from monitor.drift.records.life import LifeEvent
from monitor.drift.records.verdict import SLOPE_KINDS
from monitor.metrics.core.grid import Floats

FULL = 28  # days of the other reference, after which it stays
MOST = 200  # days among which enough outcomes have to be
# Standard errors by which a distortion may have grown, if days are independent, and has grown, even
# if they hang together.
POSSIBLE, CERTAIN = 1.0, 2.5
ONE_DAY = timedelta(days=1)
DATED = "started", "start_low", "start_high", "gradual"


@dataclass(frozen=True, eq=False)
class Own:
    """The days of an incident that its reference is, or will be, fitted to; and that reference."""

    days: tuple[Day, ...] = ()
    reference: Reference | None = None


class Looking(NamedTuple):
    """A stream beside whose open incident a second reference looks at days."""

    name: str
    reference: Reference
    first: Detector
    days: Sequence[Day]


def own_span(detector: Detector) -> tuple[date, date] | None:
    """Give the span of days that the second reference of a detector is, or will be, fitted to."""
    second = detector.second
    if not second:
        return None
    return second.since, second.last if second.last and second.fitted >= FULL else date.max


def recalled(today: Today, name: str, detector: Detector, days: Sequence[Day]) -> Own | None:
    """Fit the second reference of a detector again, to the days that it was fitted to.

    Parameters
    ----------
    today : Today
        The last day that the detector was given.
    name : str
        The stream.
    detector : Detector
        As stored.
    days : sequence of Day
        All that have been weighed in the span of `own_span`.
    """
    second, span = detector.second, own_span(detector)
    if not second or not span:
        return None
    within = [day for day in days if span[0] <= day.day <= span[1]]
    kept, last = tuple(_with_rows(today, name, within)[:MOST]), second.last
    if not last:
        return Own(kept)
    fitted = [day for day in kept if day.day <= last]
    if _lacks(today, name, fitted):
        return None  # they were deleted: the days of the incident begin again
    return Own(kept, _fit(today, name, fitted))


def look_again(
    today: Today, name: str, detector: Detector, own: Own | None, *, weighed: bool
) -> tuple[Detector, Own | None]:
    """Look beside an open incident for another change.

    Parameters
    ----------
    today : Today
        The day, and those that are judged together with it.
    name : str
        The stream.
    detector : Detector
        After today, its incident brought up to date.
    own : Own or None
        Of the days before; None where no incident was open.
    weighed : bool
        Whether the detector has been given the days.

    Returns
    -------
    tuple of Detector and Own
        The same detector without an open incident. A change begins the days of the incident again.
    """
    incident, second = detector.incident, detector.second
    if not incident or incident.place:
        return (replace(detector, second=None), None) if second else (detector, None)
    if not second or not own:
        return replace(detector, second=_begun(today.day.day)), Own()
    since = [day for day in today.span if day.day >= second.since] if weighed else []
    days = _with_rows(today, name, since)
    if not days:
        return detector, own
    if own.reference:
        seen = Looking(name, own.reference, detector, days)
        second, change = _weighed(today, seen, second)
        detector = replace(detector, second=second)
        changed = _changed(today, seen, second, incident, change) if change else None
        if changed:
            detector = lived(detector, today.day.day, *changed)
            return replace(detector, second=_begun(today.day.day)), Own()
    return _with_days(today, name, detector, second, own, days)


def _with_rows(today: Today, name: str, days: Sequence[Day]) -> list[Day]:
    return [day for day in days if weighed_parts(day, name, today.reference)]


def _lacks(today: Today, name: str, days: Sequence[Day]) -> bool:
    return bool(what_a_reference_lacks([weighed_parts(d, name, today.reference) for d in days]))


def _begun(day: date) -> Second:
    return Second(day + ONE_DAY, 0, None, new_detector())


def _weighed(today: Today, of: Looking, second: Second) -> tuple[Second, Incident | None]:
    """Weigh days against the second reference; also the change that is certain now, if one is.

    Days vary at least as much as the first detector has learned, and it says how many labels are
    wrong.
    """
    reference, enough = of.reference, today.limit_alone(of.name)
    wrong = wrong_labels(today.own[of.name].noise, of.first.noise)
    before = second.detector if today.day.late else released(second.detector)
    variances = np.maximum(reference.day_variances, of.first.jitters)
    parts = today.parts(of.name, of.days)
    rows = rows_of_day(reference, parts, wrong)
    evidence = day_evidence(reference, parts, variances, before.cross, rows=rows)
    after = accumulate(before, of.days[0].day, evidence, variances)
    look = Look(of.name, reference, after, evidence, of.days)
    if not (is_withheld(before) and may_be_late(today, look)):
        look = replace(look, detector=gated(today, look, enough))
    if look.detector.evidence < enough:
        return replace(second, detector=look.detector), None
    if may_be_late(today, look):
        return replace(second, detector=withheld(look.detector)), None
    change = opened_incident(look.detector, today.day.day, evidence)
    return replace(second, detector=look.detector), change


def _changed(
    today: Today, of: Looking, second: Second, incident: Incident, change: Incident
) -> tuple[LifeEvent, Incident] | None:
    """Say what a change is, and give the incident since; None while nothing is certain."""
    own, detector = today.own[of.name], of.first
    begun_on = second.since, change.started
    sums = [sums_since(detector.history, day, detector.jitters) for day in begun_on]
    said = partial(said_since, today, of.name, detector)
    of_now = profiles_of(said(change.started))
    # Its own are known without reading days, and lack none of them unless another drift took over.
    own_profiles = incident.profiles if incident.started < second.since else None
    of_both = profiles_of(said(second.since)) if own_profiles is None else own_profiles
    of_before = None if of_now is None or of_both is None else of_both - of_now
    earlier = [both - since for both, since in zip(*sums, strict=True)]
    before = _with_sums(incident, of_before, earlier)
    dated = {name: getattr(change, name) for name in DATED}
    begun = replace(incident, recovery=0.0, recovering=None, **dated)
    now = _with_sums(begun, of_now, sums[1])
    if of_before is None and _same_slope(now, before, own):
        return None
    days = [int(rows_since(detector.history, day).days.sum()) for day in begun_on]
    hanging = sum(
        hanging_variance(detector.jitters, n, own.judge_every) for n in (days[1], days[0] - days[1])
    )
    grown = growth(now, before, own.tolerances, hanging) > CERTAIN
    possible = growth(now, before, own.tolerances) > POSSIBLE
    if not grown and (possible or incident.recovery > 0.0):
        return None
    if not grown:
        return "moved", now
    return "worse", replace(now, worse=_worse(before, change, own), quarter=None)


def _same_slope(now: Incident, before: Incident, reference: Reference) -> bool:
    """Say whether a slope is as far from 1 as before, within the tolerance.

    Asked where profiles are not known: what scores say of a large distortion depends on the prior,
    so their sums may differ where slopes do not.
    """
    if now.kind not in SLOPE_KINDS:
        return False
    error = float(reference.errors[0])
    slopes = best_slope(now.slopes, error), best_slope(before.slopes, error)
    if not slopes[0] or not slopes[1]:
        return False
    further = abs(slopes[0].value - 1.0) - abs(slopes[1].value - 1.0)
    return abs(further) <= float(reference.tolerances[0])


def _with_sums(incident: Incident, profiles: Floats | None, sums: Sequence[Floats]) -> Incident:
    scores, informations, slopes = sums
    since = replace(incident, scores=scores, informations=informations, slopes=slopes)
    return named(replace(since, profiles=profiles))


def hanging_variance(day_variances: Floats, days: int, judge_every: int = 1) -> Floats:
    """Give the variance that the mean of a span has if its days hang together, beyond chance.

    Parameters
    ----------
    day_variances : ndarray of shape (4,)
        Between-day variances.
    days : int
        How many times the span was judged: its days, or fewer where several are judged together.
    judge_every : int
        Number of days that are judged together.

    Returns
    -------
    ndarray of shape (4,)
        0 where days do not differ.

    Notes
    -----
    ``day_variance (w - 1) / n`` for n days with w the smaller of n and a week: what makes a day
    differ from the others beyond chance, a storm, may last for a week, so a week of such days says
    no more than one of them. Sums over dispersions count them as independent.

    Examples
    --------
    >>> [hanging_variance(np.array([0.01]), n).round(4).tolist() for n in (1, 2, 30)]
    [[0.0], [0.005], [0.002]]
    """
    week, held = max(1.0, WEEK / judge_every), max(1, days)
    return np.asarray(day_variances * (min(week, held) - 1.0) / held)


def growth(
    now: Incident, before: Incident, tolerances: Floats, hanging: Floats | float = 0.0
) -> float:
    """Measure how much further a distortion lies from the reference of the model than before.

    Parameters
    ----------
    now, before : Incident
        With the sums of the days since a change, and of those before it.
    tolerances : ndarray of shape (4,)
        Of that reference, in logit; what lies within them is not further.
    hanging : ndarray of shape (4,) or 0
        `hanging_variance` of both spans, added up; 0 if days are independent.

    Returns
    -------
    float
        In standard errors, along the direction in which it has grown most; 0 if in none.

    Notes
    -----
    Along a direction x is the size at which the profile of a span is highest. The logarithm of
    the likelihood of both spans is ``z**2 / 2`` higher at their own sizes than at the best ones
    that are equally far from 0, so the standard error of ``d = |x_now| - |x_before|`` is ``d / z``,
    beside what days add that hang together. Where profiles are not known, x is U / I with the
    variance 1 / I. Where both spans have a distortion along one direction, no other is asked: what
    a slope looks like along others depends on the prior.
    """
    along, before_along = direction_of(now.kind), direction_of(before.kind)
    directions = [along] if along == before_along else range(len(tolerances))
    added = np.broadcast_to(hanging, tolerances.shape)
    return max(_grown(now, before, j, float(tolerances[j]), float(added[j])) for j in directions)


def _grown(now: Incident, before: Incident, j: int, tolerance: float, hanging: float) -> float:
    """Measure growth along one direction."""
    if not (now.informations[j] > 0.0 and before.informations[j] > 0.0):
        return 0.0
    of_now, of_before = _profile(now, j), _profile(before, j)
    of_each = np.stack([of_now, of_before, of_now + of_before, of_now + of_before[::-1]])
    (most_now, size_now), (most_before, size_before), *alike = highest_of_each(of_each)
    further = abs(size_now) - abs(size_before)
    if further <= 0.0 or abs(size_now) <= tolerance:
        return 0.0
    lost = most_now + most_before - max(highest for highest, _ in alike)
    chance = further**2 / (2.0 * lost) if lost > 0.0 else inf
    return further / sqrt(chance + hanging)


def _profile(incident: Incident, j: int) -> Floats:
    """Give the profile along a direction, which knows as much near the reference as the scores.

    Those of an incident are over the mean dispersion of the directions.
    """
    score, information = float(incident.scores[j]), float(incident.informations[j])
    if incident.profiles is None:
        return np.asarray(score * SIZES - 0.5 * information * SIZES**2)
    profile, nearest = incident.profiles[j], SIZES.size // 2
    bent = -float(profile[nearest - 1 : nearest + 1].sum()) / float(SIZES[nearest]) ** 2
    return np.asarray(profile * (information / bent if bent > 0.0 else 1.0))


def _worse(before: Incident, change: Incident, reference: Reference) -> Worse:
    slope = best_slope(before.slopes, float(reference.errors[0]))
    times, was = before.worse.times + 1 if before.worse else 1, slope.value if slope else None
    return Worse(change.opened, change.evidence, times, before.kind, before.size, was)


def _with_days(
    today: Today, name: str, detector: Detector, second: Second, own: Own, more: Sequence[Day]
) -> tuple[Detector, Own]:
    """Add days to those of the incident, and fit its reference once they are enough."""
    if second.fitted >= FULL or len(own.days) >= MOST:
        return detector, own
    days = (*own.days, *more)
    waits = second.fitted and len(days) < FULL
    if waits or _lacks(today, name, days):
        return detector, replace(own, days=days)
    fitted = replace(second, fitted=len(days), last=days[-1].day, detector=new_detector())
    return replace(detector, second=fitted), Own(days, _fit(today, name, days))


def _fit(today: Today, name: str, days: Sequence[Day]) -> Reference:
    fitted = fit_bare(
        [weighed_parts(day, name, today.reference) for day in days],
        sensitivity=today.limits.sensitivity,
        judge_every=today.limits.judge_every,
    )
    own = without_top(fitted) if today.reference.classes else fitted
    return with_dependence(own, days, name)
