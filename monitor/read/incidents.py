"""All incidents of a model, open and closed, from its stored verdicts."""

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import NamedTuple, TypeVar

from monitor.base.segment_names import THIRD, WHOLE
from monitor.days.decisions import Plan
from monitor.drift.records.detector import Detector, EndReason, Incident, LevelWatch, is_level
from monitor.drift.records.places import explained_by
from monitor.drift.records.verdict import Verdict
from monitor.read.plans import plan_of
from monitor.read.results import Results


@dataclass(frozen=True)
class IncidentSummary:
    """A calibration drift from its opening to its end, planned or not.

    Attributes
    ----------
    opened, started, start_low, start_high, evidence : date, ..., float
        As of its `Incident` on the day on which it opened.
    kind : str
        The first name that it had.
    closed : date or None
        The first day whose verdict no longer reports it; None while it is open.
    ended : str or None
        Why it is over; `acknowledged` if a planned change covers it now, or did on its last day.
    kind_now, explained_by : str or None
        While it is open, the name that the newest verdict gives it, and the values that explain
        it, if some do.
    """

    opened: date
    started: date
    start_low: date
    start_high: date
    kind: str
    evidence: float
    closed: date | None = None
    ended: EndReason | None = None
    kind_now: str | None = None
    explained_by: str | None = None


Watch = TypeVar("Watch", Detector, LevelWatch)


class _Ending(NamedTuple):
    """When a drift was over, and why."""

    closed: date | None = None
    reason: EndReason | None = None


def incidents(results: Results, last: date | None = None) -> dict[str, list[IncidentSummary]]:
    """List the calibration drifts that were found, by segment."""
    days = results.days("verdicts", last)
    names = [verdict.segment for verdict in (results.stored(days[-1]) if days else ())]
    by_segment = {name: of_segment(results, days, name) for name in names}
    return by_segment | {WHOLE: of_families(by_segment)} if THIRD in by_segment else by_segment


def of_families(by_segment: Mapping[str, Sequence[IncidentSummary]]) -> list[IncidentSummary]:
    """List what the whole has reported: where it had no drift of its own, that of third choices."""
    own = by_segment.get(WHOLE, [])
    beside = [
        drift
        for drift in by_segment[THIRD]
        if not any(
            o.opened <= drift.opened and (not o.closed or drift.opened < o.closed) for o in own
        )
    ]
    return sorted([*own, *beside], key=lambda drift: drift.opened)


def of_segment(results: Results, days: Sequence[date], segment: str) -> list[IncidentSummary]:
    """List the calibration drifts of some days in their order: of the curve, and of the level."""

    def verdict(place: int) -> Verdict | None:
        of_day = results.of_segment(segment, days[place : place + 1]) if place >= 0 else ()
        return of_day[0] if of_day else None

    drifts = _of_watch(days, verdict, lambda of_day: of_day.detector)
    levels = _of_watch(days, verdict, lambda of_day: of_day.detector.level)
    judged = _newest_judged(verdict, len(days) - 1)
    silent = judged is not None and plan_of(judged, results.plans) is not None
    plans = [plan for plan in results.plans if plan.is_of(segment)]
    found = sorted([*drifts, *levels], key=lambda drift: drift.opened)
    return [_as_planned(drift, plans, silent=silent) for drift in found]


def _as_planned(drift: IncidentSummary, plans: Sequence[Plan], *, silent: bool) -> IncidentSummary:
    """Say of a drift that a plan covers it now, or covered it on the last day that it had."""
    if drift.closed:
        last = drift.closed - timedelta(days=1)
        silent = any(plan.first <= last <= plan.last for plan in plans)
    return replace(drift, ended="acknowledged") if silent else drift


def _of_watch(
    days: Sequence[date],
    verdict: Callable[[int], Verdict | None],
    watch_of: Callable[[Verdict], Watch],
) -> list[IncidentSummary]:
    """List what one of the two watches of a stream has found.

    Goes back from the newest day and reads only the days on which a drift opened or closed,
    because a verdict holds the open drift, or else the last one that is over.
    """

    def watch(place: int) -> Watch | None:
        of_day = verdict(place)
        return watch_of(of_day) if of_day else None

    drifts, place = list[IncidentSummary](), len(days) - 1
    newest, end = watch(place), _Ending()
    while now := watch(place):
        if now.incident:
            opening = bisect_left(days, now.incident.opened)
            drifts.append(_summary(*_as_told(verdict(opening), now.incident), *end))
            place, end = opening - 1, _Ending(days[opening])
        elif now.ended:
            place = bisect_left(days, now.ended.closed) - 1
            end = _Ending(now.ended.closed, now.ended.reason)
        else:
            break
    if drifts and newest and newest.incident:
        drifts[0] = _as_named_now(drifts[0], _newest_judged(verdict, len(days) - 1))
    return drifts


def _newest_judged(verdict: Callable[[int], Verdict | None], place: int) -> Verdict | None:
    """Go back over the days that await outcomes."""
    while (of_day := verdict(place)) and not of_day.shown:
        place -= 1
    return of_day


def _as_named_now(open_drift: IncidentSummary, now: Verdict | None) -> IncidentSummary:
    """Add what the newest verdict calls an open drift, unless that verdict is of days before it."""
    incident = _like(now, open_drift)
    if not now or not incident or incident.opened != open_drift.opened:
        return open_drift
    values = now.explaining(incident)
    explained = explained_by(values) if values else None
    return replace(open_drift, kind_now=now.headline(incident).kind, explained_by=explained)


def _as_told(first: Verdict | None, kept: Incident) -> tuple[Incident, str]:
    """Give a drift as on the day on which it opened, if that is stored, and its kind then."""
    incident = _like(first, kept)
    return (incident, first.headline(incident).kind) if first and incident else (kept, kept.kind)


def _like(verdict: Verdict | None, drift: Incident | IncidentSummary) -> Incident | None:
    """Find the incident of a verdict that is of the same watch: of the curve, or of the level."""
    if not verdict:
        return None
    return (verdict.detector.level if is_level(drift.kind) else verdict.detector).incident


def _summary(
    incident: Incident, kind: str, closed: date | None, ended: EndReason | None
) -> IncidentSummary:
    since = (incident.started, incident.start_low, incident.start_high)
    return IncidentSummary(incident.opened, *since, kind, incident.evidence, closed, ended)
