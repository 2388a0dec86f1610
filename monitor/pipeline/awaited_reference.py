"""When a model with rare events gets its reference, without reading its whole past every morning.

Rule: what is kept of a day are counts, beside the tag of the file that they were counted in. A file
that was replaced since has another tag, and is counted again.
"""

from collections.abc import Sequence
from datetime import date

from monitor.drift.inputs import inputs_of
from monitor.drift.reference import LEAST_OF_EACH
from monitor.store.store import Store

Counted = tuple[str, int, int, int]  # tag of the file, whether it counts, positives, negatives


def day_that_completes(
    store: Store, name: str, stored: Sequence[date], *, least_days: int
) -> date | None:
    """Find the day with which the first days make a reference; None if they do not yet.

    Parameters
    ----------
    store, name : Store, str
        Of the model.
    stored : sequence of date
        The days with a summary, rising.
    least_days : int
        The least number of days of a reference.

    Raises
    ------
    DataError
        If a summary that is not counted yet cannot be read.
    """
    tags, before = store.tags("summaries", name), store.read_counts(name)
    counts = dict[date, Counted]()
    days, positives, negatives = 0, 0, 0
    completes = None
    for day in stored:
        known = before.get(day)
        tag = tags.get(day, "")
        if known is None or known[0] != tag:
            known = _count(store, name, day, tag)
        counts[day] = known
        days, positives, negatives = days + known[1], positives + known[2], negatives + known[3]
        if days >= least_days and min(positives, negatives) >= LEAST_OF_EACH:
            completes = day
            break
    if counts != before:
        store.keep_counts(name, counts)
    return completes


def _count(store: Store, name: str, day: date, tag: str) -> Counted:
    """Count the outcomes of a day; one that is not final or has no predictions does not count."""
    prepared = inputs_of(store.read_summary(name, day)[0])
    if not (prepared.final and prepared.parts):
        return tag, 0, 0, 0
    positives = sum(int(part.positives.sum()) for part in prepared.parts.values())
    total = sum(int(part.counts.sum()) for part in prepared.parts.values())
    return tag, 1, positives, total - positives
