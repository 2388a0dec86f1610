"""What was known on a morning, and how the verdicts of days were revised."""

from collections.abc import Sequence
from datetime import date, datetime, timedelta

from monitor.days.summary import end_of_day
from monitor.read.results import Results
from monitor.store.revisions import Revision, as_known_on, revision_of


def revisions(results: Results, segment: str, days: Sequence[date]) -> list[Revision]:
    """List all that was ever said of days that were revised: the oldest first, day by day."""
    revised = set(results.days("revisions"))
    return [
        revision for day in days if day in revised for revision in _history(results, segment, day)
    ]


def known_on(results: Results, segment: str, morning: date, *, time_zone: str) -> list[Revision]:
    """List what was said of each day on a morning, before that day's own logs were there.

    Of days that a later run judged first, it is what a run on that morning would have said.
    """
    midnight: datetime = end_of_day(morning - timedelta(days=1), time_zone)
    revised = set(results.days("revisions"))
    newest_of_days = [
        as_known_on(midnight, morning, _history(results, segment, day, revised=day in revised))
        for day in results.days("verdicts")
        if day < morning
    ]
    return [revision for revision in newest_of_days if revision]


def _history(results: Results, segment: str, day: date, *, revised: bool = True) -> list[Revision]:
    now = [revision_of(v, None) for v in results.verdicts(day)]
    before = results.store.read_revisions(results.model, day) if revised else []
    return [revision for revision in (*before, *now) if revision.segment == segment]
