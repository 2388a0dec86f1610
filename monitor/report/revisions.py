"""What was known on a morning, and how the verdicts of days were revised."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import date, datetime, timedelta
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from monitor.report.tables import plain_table
from monitor.store.revisions import Revision, as_known_on, revision_of
from monitor.store.store import Store
from monitor.summary import end_of_day


def revisions(store: Store, model: str, segment: str, days: Sequence[date]) -> list[Revision]:
    """List all that was ever said of days that were revised: the oldest first, day by day."""
    revised = set(store.days("revisions", model))
    return [one for day in days if day in revised for one in _history(store, model, segment, day)]


def known_on(
    store: Store, model: str, segment: str, morning: date, *, time_zone: str
) -> list[Revision]:
    """List what was said of each day on a morning, before that day's own logs were there.

    Of days that a later run judged first, it is what a run on that morning would have said.
    """
    midnight: datetime = end_of_day(morning - timedelta(days=1), time_zone)
    revised = set(store.days("revisions", model))
    found = [
        as_known_on(midnight, morning, _history(store, model, segment, day, revised=day in revised))
        for day in store.days("verdicts", model)
        if day < morning
    ]
    return [one for one in found if one]


def _history(
    store: Store, model: str, segment: str, day: date, *, revised: bool = True
) -> list[Revision]:
    now = [revision_of(v, None) for v in store.read_verdicts(model, day)[0]]
    before = store.read_revisions(model, day) if revised else []
    return [one for one in (*before, *now) if one.segment == segment]


def known_text(title: str, found: Sequence[Revision], shown: int) -> RenderableType:
    """Show the newest verdict of a morning with its reasons, and those of the days before it."""
    settled = [one for one in found if one.final or one.state == "data_error"]
    if not settled:
        return Text(f"{title}: no verdict was known.", style="bold")
    newest = settled[-1]
    head = Text(f"{title}\n{newest.day}: {newest.state}", style="bold")
    reasons = [Padding(Text(reason), (0, 0, 0, 2), expand=False) for reason in newest.reasons]
    return Group(head, *reasons, revision_table("The days before it", found[-shown:]))


def revision_table(title: str, found: Sequence[Revision]) -> RenderableType:
    """Show what was said of days, one line each."""
    table = plain_table(title, ("day", "known from", "until", "verdict", "outcomes"))
    for one in found:
        table.add_row(
            f"{one.day}",
            f"{one.known_at:%Y-%m-%d %H:%M}",
            f"{one.until}" if one.until else "now",
            one.state,
            "settled" if one.final else "arriving",
        )
    if not found:
        table.add_row("none", *[""] * 4)
    return Group(table, Text("'known from' is the time of the data, in UTC", style="dim"))


def document(found: Sequence[Revision]) -> list[dict[str, Any]]:
    """Give revisions as JSON."""
    return [asdict(one) | {"known_at": one.known_at.isoformat()} for one in found]
