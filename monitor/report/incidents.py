"""Incidents as tables for the terminal."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import RenderableType
from rich.text import Text

from monitor.base.segment_names import in_a_table
from monitor.drift.records.places import listed, name_of
from monitor.read.incidents import IncidentSummary
from monitor.read.value_incidents import PastValueIncident
from monitor.report.tables import plain_table
from monitor.report.verdicts import OF_VALUE
from monitor.words.numbers import odds, times
from monitor.words.values import size_of

OF_VALUES = ("value", "found on", "since", "scores", "size", "evidence", "closed on", "beside")


def closing(e: IncidentSummary) -> str:
    """Say when a drift was over; one that is acknowledged may last, but is not open."""
    if e.closed:
        return f"{e.closed}"
    return "lasts" if e.ended else "still open"


def described(e: IncidentSummary) -> str:
    """Say what the scores are: as the newest verdict does, and at first where that was another."""
    first = e.kind.replace("_", " ")
    now = (e.kind_now or e.kind).replace("_", " ")
    kind = now if now == first else f"{now}, at first {first}"
    return f"{e.explained_by}: {kind}" if e.explained_by else kind


def incident_table(title: str, by_model: Mapping[str, Sequence[IncidentSummary]]) -> RenderableType:
    """Show the calibration drifts of models, one line each."""
    table = plain_table(title, ("model", "found on", "since", "scores", "closed on"))
    for name, of_model in by_model.items():
        for e in of_model:
            table.add_row(
                Text(in_a_table(name)),
                f"{e.opened}",
                f"{e.started}",
                Text(described(e)),
                closing(e),
            )
        if not of_model:
            table.add_row(Text(in_a_table(name)), "none", "", "", "")
    return table


def incident_details(title: str, drifts: Sequence[IncidentSummary]) -> RenderableType:
    """Show the calibration drifts of one segment with evidence, interval and reason."""
    columns = ("found on", "since, 90 %", "scores", "evidence", "closed on", "because")
    table = plain_table(title, columns)
    for e in drifts:
        table.add_row(
            f"{e.opened}",
            f"{e.started}\n{e.start_low:%m-%d}..{e.start_high:%m-%d}",
            Text(described(e)),
            times(e.evidence),
            closing(e),
            e.ended or "",
        )
    if not drifts:
        table.add_row("none", *[""] * 5)
    return table


def value_row(past: PastValueIncident) -> tuple[str, ...]:
    """Lay out the drift of a value under `OF_VALUES`."""
    incident = past.incident
    return (
        name_of(incident.name),
        f"{incident.opened}",
        f"{incident.started}",
        incident.kind.replace("_", " "),
        size_of(incident),
        odds(incident.evidence) if incident.evidence else "",
        f"{past.closed}" if past.closed else "still open",
        listed([*incident.beside]) if incident.beside else "",
    )


def value_table(title: str, past: Sequence[PastValueIncident]) -> RenderableType:
    """Show the drifts of single values, one line each."""
    table = plain_table(title, ("value", "since", "scores", "size", "closed on"))
    for each in past:
        value, _, since, kind, size, _, closed, _ = value_row(each)
        table.add_row(Text(value), since, kind, size.replace(", 95 %", "\n"), closed)
    return table


def value_documents(past: Sequence[PastValueIncident]) -> list[dict[str, Any]]:
    """Lay out the drifts of single values for programs."""
    return [
        {name: getattr(each.incident, name) for name in OF_VALUE} | {"closed": each.closed}
        for each in past
    ]
