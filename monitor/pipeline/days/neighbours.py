"""Stored days that were read while the logs of another day were missing, or were others.

Rule: what is stored does not depend on the order in which days are processed. An outcome is one
without a prediction only as long as the log of its prediction is missing. So a day that comes after
later ones has those read again whose outcomes may be of its predictions.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import date

from monitor.config import Model
from monitor.days.settling import Settling
from monitor.days.summary import Summary, end_of_day
from monitor.logs import awaits_no_outcomes
from monitor.pipeline.days.unchanged import is_unchanged
from monitor.store.store import Store

UNMATCHED = ("outcome_orphan", "outcome_late")  # what a missing log of predictions changes


@dataclass(frozen=True)
class Repaired:
    """Days that a run has summarised after later ones, or again from other logs.

    Attributes
    ----------
    new : frozenset of date
        Those without a summary before.
    changed : frozenset of date
        Those whose summary rested on other logs.
    """

    new: frozenset[date]
    changed: frozenset[date]

    @property
    def days(self) -> frozenset[date]:
        """All of them."""
        return self.new | self.changed


def notes_of(store: Store, name: str, days: Collection[date]) -> dict[date, str | None]:
    """Remember what the summaries of days rest on, before a run replaces them."""
    stored = set(store.days("summaries", name)).intersection(days)
    return {day: store.read_inputs(name, day) for day in stored}


def repaired(
    store: Store,
    name: str,
    done: Mapping[date, str | None],
    notes: Mapping[date, str | None],
    unfinished: tuple[date, date | None] | None,
) -> Repaired:
    """Find the days that were summarised out of their order.

    Parameters
    ----------
    done : mapping of date to str or None
        The days that this run summarises, and what their summaries rest on then.
    notes : mapping of date to str or None
        What `notes_of` remembered.
    unfinished : tuple of (date, date or None) or None
        The first and last day of a run that was killed; they count as new, because it may have
        been killed before it read their neighbours again.
    """
    stored = store.days("summaries", name)
    others = [day for day in stored if day not in done]
    if not others:
        return Repaired(frozenset(), frozenset())
    new = {day for day in done if day not in notes and day < others[-1]}
    changed = {day for day, inputs in done.items() if day in notes and inputs != notes[day]}
    if unfinished and unfinished[1]:
        new |= {day for day in {*stored, *done} if unfinished[0] <= day <= unfinished[1]}
    # A morning reads days again that have not settled; no day after them has settled then.
    settled = (day for day in reversed(others) if store.read_summary(name, day)[0].final)
    newest = next(settled, date.min) if changed else date.min
    return Repaired(frozenset(new), frozenset(day for day in changed if day < newest))


def days_to_read_again(
    store: Store,
    name: str,
    model: Model,
    of: Repaired,
    *,
    done: Collection[date],
    as_of: date,
) -> list[date]:
    """List the stored days that a run has to read again because of the days that it repaired.

    A later day whose outcomes all met a prediction cannot have missed one. What a day reads of
    outcomes, and of the predictions of the days before it until they settle, its inputs say.
    """
    if not of.days or model.outcomes.in_predictions:
        return []
    first, last = min(of.days), max(of.days)
    settling = Settling(model)

    def is_to_read(day: date) -> bool:
        before = of.days.intersection(settling.counting(day)) - {day}
        if not before and of.days.isdisjoint(settling.due(day)[1:]):
            return False
        summary, _ = store.read_summary(name, day)
        if not summary.final and of.new.isdisjoint(before):
            return False
        missed = before and any(check in summary.rejected for check in UNMATCHED)
        return bool(missed) or not is_unchanged(store, name, model, day, as_of)

    begin, end = settling.read_by(first)[0], settling.counted(last)[-1]
    stored = store.days("summaries", name)
    return [d for d in stored if begin <= d <= end and d not in done and is_to_read(d)]


def days_that_count(model: Model, of: Repaired) -> set[date]:
    """List the days some of whose outcomes may have come on days that were repaired."""
    if model.outcomes.in_predictions:
        return set()
    return {earlier for day in of.days for earlier in Settling(model).counting(day)}


def known_until(
    store: Store, name: str, model: Model, as_of: date, *, done: Collection[date] = ()
) -> date:
    """Find the latest `as_of` of the runs so far: days before it are known to be complete.

    A run of an earlier day reads others as far as they had been read before. The days that are
    `done` by a run are read until its own `as_of`, whether they are stored yet or not.
    """
    stored = sorted({*store.days("summaries", name), *done})
    settling = Settling(model)
    if not stored or settling.is_over(stored[-1], as_of):
        return as_of
    recent = settling.read_by(stored[-1])[0]
    earlier = [day for day in stored if day >= recent and day not in done]
    read = [store.read_summary(name, day)[0] for day in earlier]
    return max([as_of, *(_read_until(model, summary) for summary in read)])


def _read_until(model: Model, summary: Summary) -> date:
    """Find the first day whose outcomes a summary has not read."""
    (day,) = summary.days
    settling = Settling(model)
    for following in settling.due(day):
        if end_of_day(following, model.time_zone) > summary.known_at and not (
            summary.final and awaits_no_outcomes(model, following)
        ):
            return following
    return settling.settles(day)
