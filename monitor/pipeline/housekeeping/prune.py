"""Remove old days from the store, so that the rest stays as it is and can be made again.

Rule 1: a day of a reference keeps its summary, however old: every verdict is compared with it. So
do the days of an open drift that its second reference rests on.
Rule 2: the oldest evaluation that is kept can be made again, so the summaries of its longest window
are kept too, and the verdicts of those days.
Rule 3: so can the oldest verdict of its day: the last file before it that holds what the fold
carries is kept, with the days that are read to go on from there.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from monitor.base.errors import ConfigError
from monitor.config import Config
from monitor.days.arrivals import LATEST, LOOK_BACK
from monitor.drift.fold.second import own_span
from monitor.drift.records.verdict import WEEK, Carried
from monitor.drift.verdicts.judge import days_to_recall
from monitor.pipeline.verdicts.judging import first_of_weeks
from monitor.pipeline.verdicts.references import limits_of, read_references
from monitor.store.names import BACKFILLED, DAILY
from monitor.store.store import Store


@dataclass(frozen=True)
class Pruning:
    """What is removed of a model.

    Attributes
    ----------
    model : str
        Its name.
    days : mapping of str to sequence of date
        The days that are removed of each kind, rising.
    reference : sequence of date
        The old days whose summaries stay, because they are part of a reference, rising.
    """

    model: str
    days: Mapping[str, Sequence[date]]
    reference: Sequence[date]


def plan(config: Config, name: str, *, keep_days: int, today: date) -> Pruning:
    """Find what is older than so many days and not needed by what is younger.

    Raises
    ------
    ConfigError
        If a day that the next run needs would be removed.
    DataError
        If a summary of a reference, or a verdict, cannot be read.
    """
    model, store = config.model(name), Store(config.store)
    longest = max(model.windows)
    recent = max(WEEK, model.catch_up_days)  # a day that is gone from these would be done again
    least = longest + model.settled_after + recent
    if keep_days < least:
        msg = (
            f"--keep {keep_days}d: {name} needs {least} days: its longest window of {longest}, "
            f"settled_after of {model.settled_after}, and {recent} recent days; use {least}d."
        )
        raise ConfigError(msg)
    oldest = today - timedelta(days=keep_days)
    firsts = {kind: oldest - timedelta(days=max(longest, WEEK)) for kind in DAILY}
    firsts["evaluations"] = oldest
    firsts["arrivals"] -= timedelta(days=LATEST + LOOK_BACK)  # which those verdicts look at
    held = last_held(store, name, oldest)
    if held:
        recalled = held.day - days_to_recall(limits_of(model))
        firsts |= {kind: min(firsts[kind], recalled) for kind in (*BACKFILLED, "arrivals")}
        firsts["verdicts"] = min(firsts["verdicts"], held.day)
    old = {kind: [d for d in store.days(kind, name) if d < firsts[kind]] for kind in DAILY}
    spans = [(fit.first, fit.last) for fit in read_references(config, name).fitted]
    spans += [span for of in (held.detectors.values() if held else ()) if (span := own_span(of))]
    reference = [d for d in old["summaries"] if any(first <= d <= last for first, last in spans)]
    kept = set(reference)
    for kind in BACKFILLED:
        old[kind] = sorted({*old[kind]} - kept)
    return Pruning(name, old, reference)


def last_held(store: Store, name: str, first: date) -> Carried | None:
    """Read what the fold carries at the last day before one of which a file holds it."""
    for day in reversed(first_of_weeks(store.days("verdicts", name))):
        if day < first and (carried := store.read_carried(name, day)[0]):
            return carried
    return None


def prune(config: Config, pruning: Pruning) -> None:
    """Remove what was planned: first what rests on other files, so that a killed run leaves no gap.

    Raises
    ------
    DataError
        If a file cannot be removed.
    """
    store = Store(config.store)
    store.note_pruned(pruning.model, pruning.days["summaries"])
    for kind in reversed(DAILY):
        store.remove(kind, pruning.model, pruning.days[kind])
    store.record_digests(pruning.model)
