"""What people have decided, as a table for the terminal."""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from rich.console import RenderableType
from rich.text import Text

from monitor.base.segment_names import in_a_table, shown
from monitor.days.decisions import Decision, End, Rebase, lasting, rebased
from monitor.report.tables import plain_table

COLUMNS = ("model", "nr", "decided", "by", "segment", "until", "state", "why")


def decision_table(
    by_model: Mapping[str, Sequence[Decision]], today: Mapping[str, date]
) -> RenderableType:
    """List the decisions about models, the oldest first; `today` is that of each model."""
    table = plain_table("Decisions", COLUMNS)
    for name, decisions in by_model.items():
        holding = {
            decision.number
            for decision in lasting(decisions).values()
            if decision.until >= today[name]
        }
        holding |= {begun.number for begun in rebased(decisions)}
        for decision in decisions:
            cells = _cells(decision, holds=decision.number in holding)
            decided = (f"{decision.number}", f"{decision.at:%Y-%m-%d}", decision.by)
            table.add_row(Text(in_a_table(name)), *map(Text, (*decided, *cells, decision.why)))
    return table


def _cells(decision: Decision, *, holds: bool) -> tuple[str, str, str]:
    if isinstance(decision, End):
        return "", "", f"ends {decision.of}"
    if isinstance(decision, Rebase):
        return "", "", f"reference from {decision.first} on" if holds else "over"
    return shown(decision.segment), f"{decision.until}", "holds" if holds else "over"


def decision_documents(decisions: Sequence[Decision]) -> list[dict[str, Any]]:
    """Lay out decisions for programs, each with what it is."""
    return [
        {"decision": type(decision).__name__.lower(), **vars(decision)} for decision in decisions
    ]
