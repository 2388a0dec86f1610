"""All incidents of a model, open and closed, from its stored verdicts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date

from rich.console import RenderableType
from rich.text import Text

from monitor.drift.detector import EndReason
from monitor.report.tables import plain_table
from monitor.segment_names import shown
from monitor.store.store import Store

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
    by_segment = dict[str, list[IncidentSummary]]()
    for day in store.days("verdicts", model):
        for verdict in store.read_verdicts(model, day)[0]:
            found = by_segment.setdefault(verdict.segment, [])
            detector = verdict.detector
            now, open_ = detector.incident, bool(found) and found[-1].closed is None
            if open_ and (now is None or now.opened != found[-1].opened):
                reason = detector.ended.reason if detector.ended else None
                found[-1] = replace(found[-1], closed=day, ended=reason)
                open_ = False
            if now and not open_:
                since = (now.started, now.start_low, now.start_high)
                found.append(IncidentSummary(now.opened, *since, now.kind, now.evidence))
    return by_segment


def incident_table(
    title: str, found: Mapping[str, Sequence[IncidentSummary]], label: str = "model"
) -> RenderableType:
    """Show calibration drifts by model or by segment, one line each."""
    table = plain_table(title, (label, "found on", "since", "scores", "closed on"))
    table.columns[3].justify = "left"
    for name, of_model in found.items():
        for e in of_model:
            kind, closed = e.kind.replace("_", " "), f"{e.closed}" if e.closed else "still open"
            table.add_row(Text(shown(name)), f"{e.opened}", f"{e.started}", kind, closed)
        if not of_model:
            table.add_row(Text(shown(name)), "none", "", "", "")
    return table


def incident_details(title: str, found: Sequence[IncidentSummary]) -> RenderableType:
    """Show the calibration drifts of one segment with evidence, interval and reason."""
    columns = ("found on", "since", "90 %", "scores", "evidence", "closed on", "because")
    table = plain_table(title, columns)
    for i in (3, 6):
        table.columns[i].justify = "left"
    for e in found:
        evidence = f"10^{e.evidence:.0f}" if e.evidence >= LONG else f"{10**e.evidence:,.0f}"
        table.add_row(
            f"{e.opened}",
            f"{e.started}",
            f"{e.start_low:%m-%d}..{e.start_high:%m-%d}",
            e.kind.replace("_", " "),
            evidence,
            f"{e.closed}" if e.closed else "still open",
            e.ended or "",
        )
    if not found:
        table.add_row("none", *[""] * 6)
    return table
