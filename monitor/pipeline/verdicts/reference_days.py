"""Which days make the references of a model, without reading its past every morning.

Rule: what is kept of a day are counts, beside the tag of the file that they were counted in. A file
that was replaced since has another tag, and is counted again.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date
from typing import NamedTuple

from monitor.config import Model
from monitor.days.decisions import rebased
from monitor.drift.curve.reference import REFERENCE_DAYS, what_counts_lack
from monitor.drift.fold.inputs import Day
from monitor.drift.records.lack import LEAST_OF_EACH, Lack
from monitor.store.store import Store
from monitor.words.trust import Need

ReadDay = Callable[[date], Day]


class Count(NamedTuple):
    """What is kept of a day: the tag of its file, whether it counts, and its outcomes."""

    tag: str
    counts: bool
    positives: int
    negatives: int


class ReferenceSpan(NamedTuple):
    """The days of a reference, and why they are not one yet; None if they are."""

    first: date
    last: date
    days: Sequence[date]
    lack: Lack | None


def days_of_references(
    model: Model,
    store: Store,
    name: str,
    read_day: ReadDay,
    *,
    begun: Sequence[date] | None = None,
    keep: bool = True,
) -> list[ReferenceSpan]:
    """Find the days of every reference, in their order.

    They are the configured ones, else the first days that make one, and those that `rebase` has
    begun. A day that is not final, or has no predictions, is none of them.

    Parameters
    ----------
    model, store, name : Model, Store, str
        The model, and where its summaries are.
    read_day : callable
        Reads a day that is not counted yet, or was replaced since.
    begun : sequence of date, optional
        First days of references, instead of those that `rebase` has begun.
    keep : bool
        Whether to keep what was counted.

    Returns
    -------
    list of ReferenceSpan
        One for each reference.

    Raises
    ------
    DataError
        If a summary that is not counted yet cannot be read.
    """
    stored, tags = store.days("summaries", name), store.tags("summaries", name)
    before, counts = store.read_counts(name), dict[date, Count]()

    def count(day: date) -> Count:
        tag, kept = tags.get(day, ""), before.get(day)
        counts[day] = Count(*kept) if kept and kept[0] == tag else _count(read_day(day), tag)
        return counts[day]

    references = []
    for span in model.verdicts.references:
        days = [day for day in stored if span.first <= day <= span.last and count(day).counts]
        lack = _lack([counts[day] for day in days])
        lack = lack and replace(lack, span=(span.first, span.last))
        references.append(ReferenceSpan(span.first, span.last, days, lack))
    if begun is None:
        begun = [rebase.first for rebase in rebased(store.decisions(name))]
    references += [_since(first, stored, count) for first in begun]
    if not model.verdicts.references and not (first := _since(date.min, stored, count)).lack:
        references.append(first._replace(first=first.days[0]))
    if keep and counts != before:
        store.keep_counts(name, counts)
    return sorted(references, key=lambda span: span.first)


def _since(first: date, stored: Sequence[date], count: Callable[[date], Count]) -> ReferenceSpan:
    """Take days from one on until they make a reference, or as many as there are."""
    taken, positives, negatives, lack = list[date](), 0, 0, what_counts_lack(0, 0, 0)
    for day in stored:
        if lack and day >= first and (of_day := count(day)).counts:
            taken.append(day)
            positives, negatives = positives + of_day.positives, negatives + of_day.negatives
            lack = what_counts_lack(len(taken), positives, negatives, REFERENCE_DAYS)
    last = taken[-1] if taken else first
    return ReferenceSpan(first, last, taken, lack and replace(lack, span=(first,)))


def needs_of_first(outcomes: Sequence[tuple[int, int]]) -> list[Need]:
    """Say what there is of a first reference.

    Parameters
    ----------
    outcomes : sequence of (int, int)
        Positive and negative outcomes of each final day.
    """
    positives, negatives = (sum(of) for of in zip(*outcomes, strict=True))
    return [
        Need("final days", len(outcomes), REFERENCE_DAYS),
        Need("positive outcomes", positives, LEAST_OF_EACH),
        Need("negative outcomes", negatives, LEAST_OF_EACH),
    ]


def _lack(counts: Sequence[Count]) -> Lack | None:
    hits, misses = (sum(getattr(c, kind) for c in counts) for kind in ("positives", "negatives"))
    return what_counts_lack(len(counts), hits, misses)


def _count(day: Day, tag: str) -> Count:
    """Count the outcomes of a day; one that is not final or has no predictions does not count."""
    if not (day.final and day.parts):
        return Count(tag, False, 0, 0)
    positives = sum(int(part.positives.sum()) for part in day.parts.values())
    total = sum(int(part.counts.sum()) for part in day.parts.values())
    return Count(tag, True, positives, total - positives)
