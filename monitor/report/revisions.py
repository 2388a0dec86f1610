"""What was said of days before, as tables for the terminal and as a document."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from monitor.drift.records.verdict import is_shown
from monitor.report.tables import plain_table
from monitor.store.revisions import Revision


def known_text(title: str, revisions: Sequence[Revision], shown: int) -> RenderableType:
    """Show the newest verdict of a morning with its reasons, and those of the days before it."""
    stood = [revision for revision in revisions if is_shown(revision.state, final=revision.final)]
    if not stood:
        return Text(f"{title}: no verdict was known.", style="bold")
    newest = stood[-1]
    head = Text(f"{title}\n{newest.day}: {newest.state}", style="bold")
    reasons = [Padding(Text(reason), (0, 0, 0, 2), expand=False) for reason in newest.reasons]
    return Group(head, *reasons, revision_table("The days before it", revisions[-shown:]))


def revision_table(title: str, revisions: Sequence[Revision]) -> RenderableType:
    """Show what was said of days, one line each."""
    table = plain_table(title, ("day", "known from", "until", "verdict", "outcomes"))
    for revision in revisions:
        table.add_row(
            f"{revision.day}",
            f"{revision.known_at:%Y-%m-%d %H:%M}",
            f"{revision.until}" if revision.until else "now",
            revision.state,
            "settled" if revision.final else "arriving",
        )
    if not revisions:
        table.add_row("none", *[""] * 4)
    return Group(table, Text("'known from' is the time of the data, in UTC", style="dim"))


def document(revisions: Sequence[Revision]) -> list[dict[str, Any]]:
    """Give revisions as JSON."""
    return [
        asdict(revision) | {"known_at": revision.known_at.isoformat()} for revision in revisions
    ]
