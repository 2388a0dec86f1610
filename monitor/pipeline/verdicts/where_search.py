"""Search the logs for conditions under which a drift sits: find on one half, confirm on the other.

The halves are every second day, of the reference and of the drift alike.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime

import numpy as np

from monitor.base.errors import DataError
from monitor.base.segment_names import shown
from monitor.config import Config, Model, WatchedColumn
from monitor.days.summary import ColumnPart, Columns, column_part, named_pairs, paired_part
from monitor.drift.curve.reference import Reference
from monitor.drift.fold.inputs import ModelReference
from monitor.drift.records.day_evidence import KINDS
from monitor.drift.records.places import Condition
from monitor.drift.where.column_sums import DaySums, Sums, added
from monitor.drift.where.part_counts import merge_parts
from monitor.drift.where.where_search import DEEPEST, Found, best_condition, confirm
from monitor.logs import columns_to_search, condition_sql, count_search, open_databases
from monitor.logs.engines.databases import Databases
from monitor.metrics.beyond_binary.class_parts import ClassPart
from monitor.metrics.core.coarse import COARSE_COUNT, coarsen, sum_of
from monitor.metrics.core.grid import Ints
from monitor.pipeline.verdicts.asked_where import verdict_of
from monitor.pipeline.verdicts.references import read_references
from monitor.pipeline.verdicts.where import compared_days, sums_of_day
from monitor.store.store import Store

Halves = tuple[list[date], list[date]]  # days of the reference, and of the drift


@dataclass(frozen=True)
class _Search:
    """What a search needs at every step."""

    name: str
    model: Model
    store: Store
    databases: Databases
    watched: Sequence[WatchedColumn]
    compared: ModelReference
    reference: Reference


def search(
    config: Config,
    name: str,
    columns: Sequence[str],
    day: date | None,
    *,
    clock: Callable[[], datetime],
    say: Callable[[str], None],
) -> Found:
    """Search the logs for at most three conditions under which the drift of a day sits.

    Parameters
    ----------
    config, name : Config, str
        The model.
    columns : sequence of str
        Columns of its predictions.
    day : date, optional
        By default the newest with a verdict.
    clock : callable
        Returns the current time.
    say : callable
        Called with how long it will take, before it starts, and then with each step.

    Raises
    ------
    ConfigError, DataError
        As `answer_where`, and if a log cannot be read or has no such column.
    """
    model, store = config.model(name), Store(config.store)
    verdict = verdict_of(config, name, day)
    compared, reference, span, _ = compared_days(name, read_references(config, name), verdict)
    halves = halves_of(store, name, compared, span)
    first = halves[0][0][0]
    with open_databases(config.engine) as databases:
        began = clock()
        watched = columns_to_search(name, model, columns, first, databases)
        task = _Search(name, model, store, databases, watched, compared, reference)
        _count(task, first, watched, ())
        each = (clock() - began).total_seconds()
        say(_time_needed(each, [len(a) + len(b) for a, b in halves]))
        return _descend(task, *halves, say)


def halves_of(
    store: Store, name: str, compared: ModelReference, span: tuple[date, date]
) -> tuple[Halves, Halves]:
    """Divide the final days of a reference, and of a span, into every second one and the others.

    Raises
    ------
    DataError
        If there are fewer than two of each, one for each half.
    """
    final = [d for d in store.days("summaries", name) if store.read_summary(name, d)[0].final]
    old = [d for d in final if compared.first <= d <= compared.last]
    new = [d for d in final if span[0] <= d <= span[1]]
    if min(len(old), len(new)) < 2:  # noqa: PLR2004 - one for each half
        msg = (
            f"{name}: {len(new)} final days from {span[0]} to {span[1]} can be compared with "
            f"{len(old)} of the reference; a search needs at least two of each. Process more days "
            f"with calibration-monitor backfill, or choose another one with --day."
        )
        raise DataError(msg)
    return (old[::2], new[::2]), (old[1::2], new[1::2])


def _time_needed(each: float, days: Sequence[int]) -> str:
    most = each * (DEEPEST * days[0] + days[1])
    return (
        f"reads {days[0]} days up to {DEEPEST} times and {days[1]} others once, about {each:.1f} s "
        f"a day: at most {most / 60:.0f} min {most % 60:.0f} s"
    )


def _descend(task: _Search, searched: Halves, others: Halves, say: Callable[[str], None]) -> Found:
    """Add one condition after the other, and confirm them; say what is being read."""
    conditions: list[Condition] = []
    kinds: Sequence[str] = KINDS
    while len(conditions) < DEEPEST:
        left = [w for w in task.watched if w.name not in {c.column for c in conditions}]
        if not left:
            break
        say(f"{_so_far(conditions)}: reads {len(searched[0]) + len(searched[1])} days")
        counted = [[_count(task, d, left, conditions) for d in days] for days in searched]
        sums = added(*([_sums(task, day) for day in days] for days in counted))
        best = best_condition(task.reference, kinds, sums)
        if best is None:
            break
        conditions.append(best[0])
        kinds = [best[1]]
    number = len(searched[0]) + len(searched[1])
    if not conditions:
        return Found((), number, 0)
    say(f"{_so_far(conditions)}: reads {len(others[0]) + len(others[1])} other days to confirm it")
    last = [w for w in task.watched if w.name == conditions[-1].column]
    (kept, rest), (later_kept, later_rest) = (
        zip(
            *(_divided(task, day, _count(task, day, last, conditions)) for day in days), strict=True
        )
        for days in others
    )
    return confirm(
        *(task.reference, kinds[0], conditions),
        (kept, later_kept),
        (rest, later_rest),
        searched=number,
    )


def _so_far(conditions: Sequence[Condition]) -> str:
    return " and ".join(f"{c.column} = {shown(c.value)}" for c in conditions) or "all rows"


def _count(
    task: _Search, day: date, columns: Sequence[WatchedColumn], conditions: Sequence[Condition]
) -> Columns:
    by_name = {w.name: w for w in task.watched}
    written = {c.column: condition_sql(by_name[c.column], c.value) for c in conditions}
    return count_search(task.name, task.model, day, columns, written, task.databases)


def _sums(task: _Search, columns: Columns) -> DaySums:
    """Sum up the columns of a day."""
    return sums_of_day(task.compared, task.reference, columns)[0]


def _divided(task: _Search, day: date, counted: Columns) -> tuple[Sums, Sums]:
    """Sum up the rows of a day that have any of the values of one column, and all others."""
    (values,) = counted.values()
    inside = merge_parts([*values.values()]) if values else column_part(*_dense([]), 0)
    both = {"inside": inside, "outside": _without(_whole(task, day), inside)}
    sums = _sums(task, {"rows": both})["rows"]
    return sums["inside"], sums["outside"]


def _whole(task: _Search, day: date) -> ColumnPart:
    """Count all rows of a day, which the store has."""
    summary, _ = task.store.read_summary(task.name, day)
    predicted = sum(segment.predicted for segment in summary.segments.values())
    if counts := summary.classes:
        of_pairs = ClassPart(counts.outcomes, counts.pairs, counts.third)
        return paired_part(named_pairs(counts.names, of_pairs), predicted)
    tallies = [coarsen(segment.tally) for segment in summary.segments.values()]
    together = sum_of(tallies)
    return column_part(together.counts, together.positives, predicted)


def _without(whole: ColumnPart, part: ColumnPart) -> ColumnPart:
    """Take rows away from all rows."""
    counts, positives = (a - b for a, b in zip(_dense([whole]), _dense([part]), strict=True))
    cells = np.flatnonzero(counts > 0)
    pairs = {
        key: _without(of, part.pairs[key]) if key in part.pairs else of
        for key, of in whole.pairs.items()
    }
    return ColumnPart(
        cells, counts[cells], positives[cells], whole.predicted - part.predicted, pairs
    )


def _dense(parts: Sequence[ColumnPart]) -> tuple[Ints, Ints]:
    counts, positives = np.zeros(COARSE_COUNT, np.int64), np.zeros(COARSE_COUNT, np.int64)
    for part in parts:
        counts[part.cells] += part.counts
        positives[part.cells] += part.positives
    return counts, positives
