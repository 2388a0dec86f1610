"""Where a fold over days goes on: which files hold what it carries, and what it needs without one.

Rule 1: the file of the first judged day of every week holds what the fold carries after that day,
and the newest file what it carries after the newest settled day. So a morning goes on from the
newest, a redone day from the week before, and the files are the same whatever the order was.
Rule 2: a fold that begins without one begins with the first day after its reference. If that was
pruned, it is an error: what is left would answer otherwise.
"""

from collections.abc import Iterator, Sequence
from datetime import date

from monitor.base.errors import DataError
from monitor.base.segment_names import WHOLE
from monitor.drift.fold.inputs import reference_of_day
from monitor.drift.records.verdict import WEEK, Carried, Verdict
from monitor.pipeline.verdicts.references import References
from monitor.store.store import Store


def carried_after(verdicts: Sequence[Verdict]) -> Carried:
    """Collect what later days need of the fold up to the day of these verdicts."""
    whole = next(verdict for verdict in verdicts if verdict.segment == WHOLE)
    return Carried(
        day=whole.day,
        detectors={verdict.segment: verdict.detector for verdict in verdicts},
        values=whole.values,
        opened=whole.incident.opened if whole.incident else None,
        explained=whole.explanation.every if whole.explanation else (),
    )


def first_of_weeks(days: Sequence[date]) -> list[date]:
    """Choose the first day of each week, of days that rise.

    Examples
    --------
    >>> days = [date(2026, 3, day) for day in (1, 2, 3, 7, 8, 17)]
    >>> [f"{day:%a %d}" for day in first_of_weeks(days)]
    ['Sun 01', 'Mon 02', 'Tue 17']
    """
    firsts = {(day.toordinal() - 1) // WEEK: day for day in reversed(days)}
    return sorted(firsts.values())


def newest_before(
    store: Store, name: str, first: date, basis: str, *, may_heal: bool
) -> Carried | None:
    """Read what the fold carries from the newest day before `first` of which a file holds it.

    None if none does, or if the files rest on other limits, references or rules. If one is damaged,
    a run that may heal it has to know; otherwise an earlier one is taken.
    """
    for day in _holding(store.days("verdicts", name), first):
        try:
            carried, theirs = store.read_carried(name, day)
        except DataError as error:
            if error.newer or (error.damaged and may_heal and day < first):
                raise
            continue
        if theirs != basis:
            return None
        if carried and carried.day < first:
            return carried
    return None


def _holding(stored: Sequence[date], first: date) -> Iterator[date]:
    """Name the files that may hold it: the newest one, then those of weeks, falling."""
    yield from stored[-1:]
    yield from (day for day in reversed(first_of_weeks(stored)) if day < first)


def must_reach(store: Store, name: str, references: References, days: Sequence[date]) -> None:
    """Raise DataError if days were pruned that a fold from its reference on needs."""
    compared = reference_of_day(days[-1], references.fitted)
    if not compared:
        return
    gone = {*store.read_pruned(name)}.difference(store.days("summaries", name))
    needed = sorted(day for day in gone if compared.last < day < days[-1])
    if needed:
        span = f"--from {needed[0]} --to {needed[-1]}"
        msg = (
            f"{name}: verdicts rest on all days since their reference, {compared.first} to "
            f"{compared.last}, and those from {needed[0]} to {needed[-1]} were pruned, so what is "
            f"left would give other answers; run calibration-monitor backfill --model {name} "
            f"{span}, or, if their logs are gone, begin a new reference with calibration-monitor "
            f"rebase {name}."
        )
        raise DataError(msg)
