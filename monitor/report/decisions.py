"""What people have decided, as a table for the terminal."""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from rich.console import RenderableType
from rich.text import Text

from monitor.decisions import Acknowledgement, Decision, End, lasting
from monitor.report.tables import plain_table
from monitor.segment_names import shown

COLUMNS = ("model", "nr", "decided", "by", "segment", "until", "state", "why")


def decision_table(
    found: Mapping[str, Sequence[Decision]], today: Mapping[str, date]
) -> RenderableType:
    """List the decisions about models, the oldest first; `today` is that of each model."""
    table = plain_table("Decisions", COLUMNS)
    for name, decisions in found.items():
        holding = {one.number for one in lasting(decisions).values() if one.until >= today[name]}
        for one in decisions:
            cells = _cells(one, holds=one.number in holding)
            decided = (f"{one.number}", f"{one.at:%Y-%m-%d %H:%M} UTC", one.by)
            table.add_row(Text(shown(name)), *map(Text, (*decided, *cells, one.why)))
    return table


def _cells(one: Decision, *, holds: bool) -> tuple[str, str, str]:
    if isinstance(one, End):
        return "", "", f"ends {one.of}"
    return shown(one.segment), f"{one.until}", "holds" if holds else "over"


def decision_documents(decisions: Sequence[Decision]) -> list[dict[str, Any]]:
    """Lay out decisions for programs, each with what it is."""
    return [
        {"decision": "acknowledgement" if isinstance(one, Acknowledgement) else "end", **vars(one)}
        for one in decisions
    ]
