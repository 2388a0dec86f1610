"""From stored counts of columns to where a drift sits."""

from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from itertools import pairwise

import numpy as np

from monitor.config import Config, Crossing, Model, Watched
from monitor.drift.inputs import ModelReference, reference_of_day
from monitor.drift.reference import Reference
from monitor.drift.where import Answer, find_where
from monitor.errors import ConfigError, DataError
from monitor.logs.column_labels import step_edge
from monitor.metrics.core.coarse import coarsen
from monitor.pipeline.references import read_references
from monitor.segment_names import OTHER, WHOLE
from monitor.store.store import Store
from monitor.summary import ColumnPart, Columns, Summary

USUAL_KIND, USUAL_DAYS = "too_extreme", 7  # looked for without an open drift


def answer_where(config: Config, name: str, day: date | None = None) -> Answer:
    """Say where the drift that is open on a day sits; without one, what the last week says.

    Raises
    ------
    ConfigError
        If the model watches no column, or the day has no verdict.
    DataError
        If there is no reference, or a file of the store cannot be read.
    """
    model, store = config.model(name), Store(config.store)
    if not (model.columns or model.segments):
        msg = (
            f"{name}: segments names no column, so there is nowhere to look; list columns in "
            f"models.{name}.segments, then backfill the reference and the last days."
        )
        raise ConfigError(msg)
    judged = [d for d in store.days("verdicts", name) if day is None or d <= day]
    if not judged or (day and judged[-1] != day):
        msg = f"{name}: no verdict of {day or 'any day'} is stored; run that day first."
        raise ConfigError(msg)
    verdict = next(v for v in store.read_verdicts(name, judged[-1])[0] if v.segment == WHOLE)
    incident = verdict.detector.incident
    compared = reference_of_day(judged[-1], read_references(config, name).fitted)
    reference = compared.streams.get(WHOLE) if compared else None
    if compared is None or not isinstance(reference, Reference):
        msg = f"{name}: there is no reference yet that days could be compared with."
        raise DataError(msg)
    last, since = judged[-1], judged[-1] - timedelta(days=USUAL_DAYS - 1)
    first = max(incident.started if incident else since, compared.last + timedelta(days=1))
    kind = incident.kind if incident else USUAL_KIND
    before, after = _read(model, store, name, compared, (first, last))
    found = find_where(reference, before, after, kind)
    return Answer(first, last, incident is not None, found)


def _read(
    model: Model, store: Store, name: str, compared: ModelReference, span: tuple[date, date]
) -> tuple[list[Columns], list[Columns]]:
    """Read the columns of the reference and of later days, in segments that the reference makes."""
    stored, counted = store.days("summaries", name), set(store.days("columns", name))
    old = [d for d in stored if compared.first <= d <= compared.last]
    new = [d for d in stored if span[0] <= d <= span[1]]
    missing = [d for d in (*old, *new) if model.columns and d not in counted]
    if missing:
        msg = (
            f"{name}: {len(missing)} of {len(old) + len(new)} days have no counts of these "
            f"columns, first {missing[0]}; run calibration-monitor backfill --model {name} "
            f"--from {missing[0]} --to {missing[-1]}."
        )
        raise DataError(msg)
    before, after = (
        [_columns_of_day(model, store, name, day) for day in days] for days in (old, new)
    )
    watched = {one.name: _segments_of(one, [day[one.name] for day in before if one.name in day])
               for one in model.columns}  # fmt: skip

    def grouped(day: Columns) -> Columns:
        return {
            column: _regroup(values, watched[column]) if column in watched else values
            for column, values in day.items()
        }

    return [grouped(day) for day in before], [grouped(day) for day in after]


def _columns_of_day(model: Model, store: Store, name: str, day: date) -> Columns:
    """Read what a day counts by column, the primary one too."""
    found = dict(store.read_columns(name, day)) if model.columns else {}
    primary = {}
    if model.segments:
        primary = {model.segments.column: _primary(store.read_summary(name, day)[0])}
    return {**primary, **found}


def _primary(summary: Summary) -> dict[str, ColumnPart]:
    found = {}
    for value, segment in summary.segments.items():
        coarse = coarsen(segment.tally)
        cells = np.flatnonzero(coarse.counts)
        found[value] = ColumnPart(
            cells, coarse.counts[cells], coarse.positives[cells], segment.predicted
        )
    return found


def _segments_of(one: Watched, days: Sequence[Mapping[str, ColumnPart]]) -> dict[str, str] | None:
    """Name the segment of each value, as the reference divides them; None if values are segments.

    A value that the reference does not know has a segment of its own, so that it is noticed.
    """
    volumes: dict[str, int] = {}
    for day in days:
        for value, part in day.items():
            volumes[value] = volumes.get(value, 0) + part.predicted
    if not isinstance(one, Crossing) and one.quantiles:
        return _cut(volumes, one.quantiles)
    top = one.top
    if top is None:
        return None
    ranked = sorted((v for v in volumes if v != OTHER), key=lambda v: (-volumes[v], v))
    return {value: value if value in ranked[:top] else OTHER for value in volumes}


def _cut(volumes: dict[str, int], parts: int) -> dict[str, str]:
    """Divide steps of numbers into parts of nearly equal size, named by their ends."""
    steps = sorted(int(value) for value in volumes if value != OTHER)
    if not steps:
        return {OTHER: OTHER}
    reached = np.cumsum([volumes[str(step)] for step in steps])
    wanted = reached[-1] * np.arange(1, parts) / parts
    cuts = sorted({steps[i] + 1 for i in np.searchsorted(reached, wanted) if i < len(steps) - 1})
    ends = [-(10**6), *cuts, 10**6]
    names = [_range(low, high) for low, high in pairwise(ends)]
    every = range(-(10**3), 10**3)
    found = {str(step): names[int(np.searchsorted(cuts, step, side="right"))] for step in every}
    return {**found, OTHER: OTHER}


def _range(low: int, high: int) -> str:
    if low == -(10**6):
        return "all" if high == 10**6 else f"below {step_edge(high):.4g}"
    return f"{step_edge(low):.4g} and more" if high == 10**6 else (
        f"{step_edge(low):.4g} to {step_edge(high):.4g}"
    )  # fmt: skip


def _regroup(
    values: Mapping[str, ColumnPart], named: Mapping[str, str] | None
) -> Mapping[str, ColumnPart]:
    if named is None:
        return values
    together: dict[str, list[ColumnPart]] = {}
    for value, part in values.items():
        together.setdefault(named.get(value, value), []).append(part)
    return {name: _merged(parts) for name, parts in together.items()}


def _merged(parts: Sequence[ColumnPart]) -> ColumnPart:
    if len(parts) == 1:
        return parts[0]
    cells, place = np.unique(np.concatenate([p.cells for p in parts]), return_inverse=True)
    counts, positives = np.zeros(cells.size, np.int64), np.zeros(cells.size, np.int64)
    np.add.at(counts, place, np.concatenate([p.counts for p in parts]))
    np.add.at(positives, place, np.concatenate([p.positives for p in parts]))
    return ColumnPart(cells, counts, positives, sum(p.predicted for p in parts))
