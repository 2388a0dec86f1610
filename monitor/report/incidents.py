"""All incidents of a model, open and closed, from its stored verdicts."""

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache

from rich.console import RenderableType
from rich.text import Text

from monitor.drift.detector import Acknowledged, Detector, EndReason, Incident
from monitor.drift.verdict import Verdict
from monitor.report.tables import plain_table
from monitor.segment_names import shown
from monitor.store.store import Store

Read = Callable[[date], Sequence[Verdict]]
LONG = 6.0  # log10: evidence that is shown as a power of ten


@dataclass(frozen=True)
class IncidentSummary:
    """A calibration drift from its opening to its end.

    Attributes
    ----------
    opened : date
        Day on which it was found.
    started, start_low, start_high : date
        Estimated first day, and its 90 % interval.
    kind : str
        The first name that it had.
    evidence : float
        log10 of the evidence on the day of the opening.
    closed : date or None
        The first day whose verdict no longer reports it; None while it is open.
    ended : str or None
        Why it is over.
    """

    opened: date
    started: date
    start_low: date
    start_high: date
    kind: str
    evidence: float
    closed: date | None = None
    ended: EndReason | None = None


def incidents(store: Store, model: str, segment: str) -> list[IncidentSummary]:
    """List the calibration drifts of one segment, each with its first kind."""
    return incidents_by_segment(store, model).get(segment, [])


def incidents_by_segment(store: Store, model: str) -> dict[str, list[IncidentSummary]]:
    """List the calibration drifts that were found, by segment; each with its first kind."""
    days, read = (
        store.days("verdicts", model),
        cache(lambda day: store.read_verdicts(model, day)[0]),
    )
    names = [verdict.segment for verdict in (read(days[-1]) if days else ())]
    return {name: incidents_up_to(days, read, name) for name in names}


def incidents_up_to(days: Sequence[date], read: Read, segment: str) -> list[IncidentSummary]:
    """List the calibration drifts of some days in their order.

    Goes back from the newest day and reads only the days on which a drift opened or closed,
    because a verdict holds the open drift, or else the last one that is over.
    """

    def detector(place: int) -> Detector | None:
        verdicts = read(days[place]) if place >= 0 else ()
        return next((v.detector for v in verdicts if v.segment == segment), None)

    found, newest = list[IncidentSummary](), detector(len(days) - 1)
    end: tuple[date | None, EndReason | None] = (None, None)
    place = len(days) - 1
    while now := detector(place):
        if now.incident:
            opening = bisect_left(days, now.incident.opened)
            first = detector(opening)
            named = first.incident if first and first.incident else now.incident
            found.append(_summary(named, *end))
            place, end = opening - 1, (days[opening], None)
        elif before := [one for one in now.acknowledged if one.closed in (None, days[place])]:
            place, end = bisect_left(days, before[0].opened) - 1, (None, None)
        elif now.ended:
            place, end = (
                bisect_left(days, now.ended.closed) - 1,
                (now.ended.closed, now.ended.reason),
            )
        else:
            break
    for one in newest.acknowledged if newest else ():
        first = detector(bisect_left(days, one.opened))
        renamed = first.incident if first and first.incident else one
        found = [other for other in found if other.opened != one.opened]
        found.append(_summary(renamed, one.closed, "acknowledged"))
    return sorted(found, key=lambda one: one.opened)


def _summary(
    incident: Incident | Acknowledged, closed: date | None, ended: EndReason | None
) -> IncidentSummary:
    since = (incident.started, incident.start_low, incident.start_high)
    return IncidentSummary(incident.opened, *since, incident.kind, incident.evidence, closed, ended)


def closing(e: IncidentSummary) -> str:
    """Say when a drift was over; one that is acknowledged may last, but is not open."""
    if e.closed:
        return f"{e.closed}"
    return "lasts" if e.ended else "still open"


def incident_table(
    title: str, found: Mapping[str, Sequence[IncidentSummary]], label: str = "model"
) -> RenderableType:
    """Show calibration drifts by model or by segment, one line each."""
    table = plain_table(title, (label, "found on", "since", "scores", "closed on"))
    for name, of_model in found.items():
        for e in of_model:
            kind, closed = e.kind.replace("_", " "), closing(e)
            table.add_row(Text(shown(name)), f"{e.opened}", f"{e.started}", kind, closed)
        if not of_model:
            table.add_row(Text(shown(name)), "none", "", "", "")
    return table


def incident_details(title: str, found: Sequence[IncidentSummary]) -> RenderableType:
    """Show the calibration drifts of one segment with evidence, interval and reason."""
    columns = ("found on", "since", "90 %", "scores", "evidence", "closed on", "because")
    table = plain_table(title, columns)
    for e in found:
        evidence = f"10^{e.evidence:.0f}" if e.evidence >= LONG else f"{10**e.evidence:,.0f}"
        table.add_row(
            f"{e.opened}",
            f"{e.started}",
            f"{e.start_low:%m-%d}..{e.start_high:%m-%d}",
            e.kind.replace("_", " "),
            evidence,
            closing(e),
            e.ended or "",
        )
    if not found:
        table.add_row("none", *[""] * 6)
    return table
