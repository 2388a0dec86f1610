"""Incidents as tables for the terminal."""

from collections.abc import Mapping, Sequence

from rich.console import RenderableType
from rich.text import Text

from monitor.read.incidents import IncidentSummary
from monitor.report.tables import plain_table
from monitor.segment_names import shown
from monitor.words.numbers import times


def closing(e: IncidentSummary) -> str:
    """Say when a drift was over; one that is acknowledged may last, but is not open."""
    if e.closed:
        return f"{e.closed}"
    return "lasts" if e.ended else "still open"


def incident_table(title: str, by_model: Mapping[str, Sequence[IncidentSummary]]) -> RenderableType:
    """Show the calibration drifts of models, one line each."""
    table = plain_table(title, ("model", "found on", "since", "scores", "closed on"))
    for name, of_model in by_model.items():
        for e in of_model:
            kind, closed = e.kind.replace("_", " "), closing(e)
            table.add_row(Text(shown(name)), f"{e.opened}", f"{e.started}", kind, closed)
        if not of_model:
            table.add_row(Text(shown(name)), "none", "", "", "")
    return table


def incident_details(title: str, drifts: Sequence[IncidentSummary]) -> RenderableType:
    """Show the calibration drifts of one segment with evidence, interval and reason."""
    columns = ("found on", "since", "90 %", "scores", "evidence", "closed on", "because")
    table = plain_table(title, columns)
    for e in drifts:
        table.add_row(
            f"{e.opened}",
            f"{e.started}",
            f"{e.start_low:%m-%d}..{e.start_high:%m-%d}",
            e.kind.replace("_", " "),
            times(e.evidence),
            closing(e),
            e.ended or "",
        )
    if not drifts:
        table.add_row("none", *[""] * 6)
    return table
