"""Remove old days from the store, so that the rest stays as it is and can be made again.

Rule 1: a day of a reference keeps its summary, however old: every verdict is compared with it. So
do the days of an open drift that its second reference rests on.
Rule 2: the oldest evaluation that is kept can be made again, so the summaries of its longest window
are kept too, and the verdicts of those days, from which the fold goes on.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from monitor.arrivals import LATEST, LOOK_BACK
from monitor.config import Config
from monitor.drift.fold.second import own_span
from monitor.drift.records.verdict import WEEK
from monitor.errors import ConfigError
from monitor.pipeline.references import read_references
from monitor.store.names import BACKFILLED, DAILY
from monitor.store.store import Store

KINDS = DAILY


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
    firsts = {kind: oldest - timedelta(days=max(longest, WEEK)) for kind in KINDS}
    firsts["evaluations"] = oldest
    firsts["arrivals"] -= timedelta(days=LATEST + LOOK_BACK)  # which those verdicts look at
    old = {kind: [d for d in store.days(kind, name) if d < firsts[kind]] for kind in KINDS}
    spans = [(fit.first, fit.last) for fit in read_references(config, name).fitted]
    spans += _own_spans(store, name, firsts["verdicts"])
    reference = [d for d in old["summaries"] if any(first <= d <= last for first, last in spans)]
    kept = set(reference)
    for kind in BACKFILLED:
        old[kind] = sorted({*old[kind]} - kept)
    return Pruning(name, old, reference)


def _own_spans(store: Store, name: str, first: date) -> list[tuple[date, date]]:
    """Find the days that the second references of drifts rest on, which are open on a day."""
    kept = [day for day in store.days("verdicts", name) if day >= first]
    verdicts = store.read_verdicts(name, kept[0])[0] if kept else []
    return [span for verdict in verdicts if (span := own_span(verdict.detector))]


def prune(config: Config, pruning: Pruning) -> None:
    """Remove what was planned: first what rests on other files, so that a killed run leaves no gap.

    Raises
    ------
    DataError
        If a file cannot be removed.
    """
    store = Store(config.store)
    for kind in reversed(KINDS):
        store.remove(kind, pruning.model, pruning.days[kind])
    store.record_digests(pruning.model)
