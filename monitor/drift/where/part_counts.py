"""The rows of a part of a day: those of some values of a column, and all others. Pure."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from monitor.days.summary import ColumnPart, Columns, Summary, column_part
from monitor.drift.records.places import Condition
from monitor.metrics.core.coarse import COARSE_COUNT, Coarse, coarsen, sum_of, tally_of
from monitor.metrics.core.tally import Tally


def counts_of(conditions: Sequence[Condition], columns: Columns) -> ColumnPart | None:
    """Add up the rows of a day that have any of some values of a column; None if there are none."""
    parts = [columns.get(condition.column, {}).get(condition.value) for condition in conditions]
    there = [part for part in parts if part]
    return merge_parts(there) if there else None


def merge_parts(parts: Sequence[ColumnPart]) -> ColumnPart:
    """Add up at least one part; no two have a row in common."""
    if len(parts) == 1:
        return parts[0]
    cells, place = np.unique(np.concatenate([p.cells for p in parts]), return_inverse=True)
    counts, positives = np.zeros(cells.size, np.int64), np.zeros(cells.size, np.int64)
    np.add.at(counts, place, np.concatenate([p.counts for p in parts]))
    np.add.at(positives, place, np.concatenate([p.positives for p in parts]))
    pairs = {
        key: merge_parts([p.pairs[key] for p in parts if key in p.pairs])
        for key in dict.fromkeys(key for p in parts for key in p.pairs)
    }
    return ColumnPart(cells, counts, positives, sum(p.predicted for p in parts), pairs)


def regrouped(values: Mapping[str, ColumnPart], named: Mapping[str, str]) -> dict[str, ColumnPart]:
    """Add up the parts of values that have the same name; a value without one keeps its own."""
    together = dict[str, list[ColumnPart]]()
    for value, part in values.items():
        together.setdefault(named.get(value, value), []).append(part)
    return {name: merge_parts(parts) for name, parts in together.items()}


def parts_of_segments(summary: Summary) -> dict[str, ColumnPart]:
    """Give the segments of a day as values of their column."""
    parts = {}
    for value, segment in summary.segments.items():
        coarse = coarsen(segment.tally)
        parts[value] = column_part(coarse.counts, coarse.positives, segment.predicted)
    return parts


def coarse_of_parts(parts: Iterable[ColumnPart | None]) -> Coarse:
    """Give their outcomes by coarse cell; none of no part."""
    counts, positives = np.zeros((2, COARSE_COUNT), np.int64)
    for part in filter(None, parts):
        counts[part.cells] += part.counts
        positives[part.cells] += part.positives
    return Coarse(counts, positives)


def tally_of_part(part: ColumnPart | None) -> Tally:
    """Give its tally: every score is the centre of its coarse cell."""
    return tally_of(coarse_of_parts([part]))


def tally_of_rest(summary: Summary, part: ColumnPart | None) -> Tally:
    """Give the tally of all rows of a day but those of a part."""
    rest = sum_of([coarsen(segment.tally) for segment in summary.segments.values()])
    if part:
        rest.counts[part.cells] -= part.counts
        rest.positives[part.cells] -= part.positives
    return tally_of(rest)
