"""From stored counts of columns to where a drift sits."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import date, timedelta
from functools import lru_cache, partial
from itertools import pairwise

import numpy as np

from monitor.base.errors import ConfigError, DataError
from monitor.base.segment_names import OTHER, THIRD, WHOLE
from monitor.config import Config, Crossing, Model, Watched
from monitor.days.summary import ColumnPart, Columns, Summary
from monitor.drift.curve.reference import Reference
from monitor.drift.fold.inputs import ModelReference, inputs_of, reference_of_day
from monitor.drift.records.day_evidence import KINDS
from monitor.drift.records.detector import (
    LEVEL_KINDS,
    NOT_COMPARABLE,
    OUTCOMES_MISSING,
    Incident,
    is_level,
)
from monitor.drift.records.places import Condition, Explanation, Where
from monitor.drift.records.region_state import Break
from monitor.drift.records.verdict import Carried, Verdict
from monitor.drift.verdicts.pair_sums import columns_of_pairs, sum_day
from monitor.drift.where.column_sums import (
    DaySums,
    change_of,
    in_both,
    nothing,
    over_days,
    sum_part,
)
from monitor.drift.where.part_counts import merge_parts, parts_of_segments
from monitor.drift.where.segments import Answer, where_of
from monitor.drift.where.value_sets import AllSums
from monitor.drift.where.where_else import (
    Cells,
    Measure,
    ValueSums,
    add_days,
    as_before_within,
    level_sums,
    of_level,
    of_place,
    place_sums,
    where_else,
)
from monitor.evaluation.shadow import Shadow, map_columns, map_summary
from monitor.logs.columns.column_labels import step_edge
from monitor.metrics.core.estimate import Estimate
from monitor.metrics.maps.map_file import MapFile
from monitor.pipeline.days.parts import Groups
from monitor.pipeline.verdicts.references import References, read_references
from monitor.pipeline.verdicts.where_labels import named_by_values
from monitor.store.map_file import read_map
from monitor.store.store import Store
from monitor.words.where import where_command

USUAL_KIND, USUAL_DAYS = "too_extreme", 7  # looked for without an open drift
MOST_DAYS, MOST_REMEMBERED = 28, 128  # of a drift; and of days that are read once


def answer_of(config: Config, name: str, references: References, verdict: Verdict) -> Answer:
    """Say where the drift of a verdict sits; without one, what the week up to its day says.

    Raises
    ------
    DataError
        If there is no reference, or a file of the store cannot be read.
    """
    reader = ColumnReader(config.model(name), Store(config.store), name)
    return _compare(reader, references, verdict, _named(verdict))


def changes_with_strata(
    config: Config, name: str, references: References, verdict: Verdict, column: str
) -> tuple[Estimate, Estimate, float] | None:
    """Compare the change of a drift within the values of a column with that of all rows.

    Returns
    -------
    (Estimate, Estimate, float) or None
        Along the direction of the drift, in logit: with a prior of each value on each day, with one
        of all rows, and what is tolerated. None where the column was not counted, or no drift is
        open.

    Raises
    ------
    DataError
        If there is no reference, or a file of the store cannot be read.
    """
    if not verdict.distortion:
        return None
    reader = ColumnReader(config.model(name), Store(config.store), name)
    compared, reference, span, kind = compared_days(name, references, verdict)
    grouped = [
        [of_day[column] for day in days if (of_day := reader.grouped(compared, day))]
        for days in _days(reader, compared, span)
    ]
    within, pooled = (
        [
            sum((sum_part(reference, part) for day in days for part in parts_of(day)), nothing())
            for days in grouped
        ]
        for parts_of in (lambda day: day.values(), lambda day: [merge_parts([*day.values()])])
    )
    direction = KINDS.index(kind) // 2
    changes = [change_of(reference, direction, *both) for both in (within, pooled)]
    if changes[0] is None or changes[1] is None:
        return None
    return changes[0], changes[1], float(reference.tolerances[direction])


def check_columns(name: str, model: Model) -> None:
    """Raise ConfigError for a model without a column in which a drift could sit."""
    if not model.has_places:
        msg = (
            f"{name}: segments names no column, so there is nowhere to look; search all columns of "
            f"the logs with {where_command(name, counted=False)}, or list columns in "
            f"models.{name}.segments, then backfill the reference and the last days."
        )
        raise ConfigError(msg)


def compared_days(
    name: str, references: References, verdict: Verdict
) -> tuple[ModelReference, Reference, tuple[date, date], str]:
    """Find what an open drift is compared with: the reference, the days since it began, its kind.

    Without a drift they are the days of the last week; they are the last four weeks at most. The
    reference is that of third choices if the drift is theirs.

    Raises
    ------
    DataError
        If there is no reference.
    """
    last, incident = verdict.day, verdict.distortion or verdict.level_incident
    compared = reference_of_day(last, references.fitted)
    family = THIRD if verdict.of_third_choices else WHOLE
    reference = compared.streams.get(family) if compared else None
    if compared is None or not isinstance(reference, Reference):
        msg = f"{name}: there is no reference yet that days could be compared with; wait for one."
        raise DataError(msg)
    since = last - timedelta(days=(MOST_DAYS if incident else USUAL_DAYS) - 1)
    first = max(incident.started if incident else since, since, compared.last + timedelta(days=1))
    kind = incident.kind if incident and incident.kind in KINDS else USUAL_KIND
    return compared, reference, (first, last), kind


def place_adder(
    reader: "ColumnReader", references: References, carried: Carried | None
) -> Callable[[list[Verdict]], list[Verdict]]:
    """Return what adds to the verdict of the whole where its open drift sits.

    Only of models that have segments, further columns or classes, and only if every day that is
    needed was counted by them. `carried` is what days before the first one came to.
    """
    if not reader.model.has_places:
        return lambda verdicts: verdicts
    before = (carried.opened, carried.explained) if carried else (None, ())

    def add(verdicts: list[Verdict]) -> list[Verdict]:
        nonlocal before
        whole = next(verdict for verdict in verdicts if verdict.segment == WHOLE)
        same = whole.incident is not None and whole.incident.opened == before[0]
        placed = _with_places(reader, references, whole, verdicts, before[1] if same else ())
        before = (placed.incident.opened if placed.incident else None, _named(placed))
        return [placed if verdict is whole else verdict for verdict in verdicts]

    return add


def _with_places(
    reader: "ColumnReader",
    references: References,
    whole: Verdict,
    verdicts: Sequence[Verdict],
    held: tuple[Condition, ...],
) -> Verdict:
    incident = whole.incident
    if not (whole.final and incident) or incident.kind in (*NOT_COMPARABLE, OUTCOMES_MISSING):
        return whole
    try:
        where = _compare(reader, references, whole, held).where
    except DataError:
        return whole
    if where.explanation:
        in_segments = _have_alerts(reader.model, where.explanation, verdicts, incident)
        explanation = replace(where.explanation, in_segments=in_segments)
        where = replace(where, explanation=explanation)
    placed = replace(whole, where=where)
    if not where.explanation or whole.of_third_choices:
        return placed
    compared, reference, span, _ = compared_days(reader.name, references, whole)
    if compared.classes:
        return placed
    days, grouped = _days(reader, compared, span), partial(reader.grouped, compared)
    return named_by_values(placed, reference, days, grouped)


def _named(verdict: Verdict) -> tuple[Condition, ...]:
    """Name the values that explain the drift of a verdict."""
    return verdict.explanation.every if verdict.explanation else ()


def _have_alerts(
    model: Model, explanation: Explanation, verdicts: Sequence[Verdict], whole: Incident
) -> bool:
    """Say whether each value is a segment whose own drift is open, or was since the whole drifts.

    One that is undecided is a ticket, and does not stand for a whole that is not.
    """
    own = {
        v.segment
        for v in verdicts
        if (is_level(whole.kind) and v.level_incident)
        or (v.detector.incident and v.detector.incident.undecided <= whole.undecided)
        or (v.detector.ended and v.detector.ended.closed >= whole.opened)
    }
    judged = model.judged_columns
    return all(c.column in judged and c.value in own for c in explanation.every)


class ColumnReader:
    """Reads the columns of days, and sums each day up once for each reference."""

    def __init__(self, model: Model, store: Store, name: str) -> None:
        self.model, self.name, self.store = model, name, store
        self.day = lru_cache(MOST_REMEMBERED)(self._read_day)
        self.sums = lru_cache(MOST_REMEMBERED)(self._sum_day)
        self.others = lru_cache(MOST_REMEMBERED)(self._sum_else)
        self.columns = lru_cache(MOST_REMEMBERED)(self._read_columns)
        self.segments = lru_cache(1)(self._segments)
        self.reference_sums = lru_cache(1)(self.sum_days)
        self.map_of = lru_cache(1)(self._map_of)

    def _read_day(self, day: date) -> tuple[tuple[str, ...], Columns] | None:
        """Read the classes of a final day, and what it counts by column, the primary one too."""
        summary, _ = self.store.read_summary(self.name, day)
        if not summary.final:
            return None
        columns = self.columns(day) if self.model.columns else {}
        return summary.class_names, {**self._in_summary(summary), **columns}

    def _in_summary(self, summary: Summary) -> Columns:
        """Give what a summary itself counts by column: segments, and the pairs of classes."""
        primary = self.model.segments.name if self.model.segments else None
        if summary.classes:
            predicted = {name: part.predicted for name, part in summary.segments.items()}
            return columns_of_pairs(inputs_of(summary), primary, predicted)
        return {primary: parts_of_segments(summary)} if primary else {}

    def _read_columns(self, day: date) -> Columns:
        return self.store.read_columns(self.name, day)

    def watched(self, compared: ModelReference, day: date) -> Columns | None:
        """Give `grouped` of the further columns alone, of a model without classes or a map."""
        if not self.store.is_final(self.name, day):
            return None
        return self._regrouped(compared, self.columns(day))

    def _vectors_through_map(self, compared: ModelReference, day: date) -> Columns | None:
        """Give that as the reference of a map of vectors has it; other columns are left out."""
        if day > compared.last:
            summary = self.store.read_summary(self.name, day)[0]
        elif day in self.store.days("mapped", self.name):
            summary = self.store.read_mapped(self.name, day).summary
        else:
            return None
        alike = summary.class_names == compared.class_names
        return self._in_summary(summary) if summary.final and alike else None

    def has(self, column: str, value: str, day: date) -> bool:
        """Say whether a final day has a prediction of a value."""
        _, columns = self.day(day) or ((), {})
        return value in columns.get(column, {})

    def _segments(self, compared: ModelReference) -> Mapping[str, dict[str, str] | None]:
        """Name the segment of each value in every column, as the reference divides them."""
        columns = self.model.columns
        divided = any(isinstance(w, Crossing) or w.top or w.quantiles for w in columns)
        stored = self.store.days("summaries", self.name) if divided else []
        inside = [day for day in stored if compared.first <= day <= compared.last]
        # Volumes stand in the head of a file: its counts, of which there are many, are not read.
        days = [
            self.store.read_volumes(self.name, day)
            for day in inside
            if self.store.is_final(self.name, day)
        ]
        return {
            watched.name: _segments_of(
                watched, [day[watched.name] for day in days if watched.name in day]
            )
            for watched in columns
        }

    def _counted(self, compared: ModelReference, day: date) -> Columns | None:
        """Give the counts of a day as the reference has its own: seen through a deployed map.

        None of a day that is not final, or has other classes. A map of a segment moves some rows of
        other columns, which ones is not known: these are left out.
        """
        if compared.classes and compared.deployed:
            return self._vectors_through_map(compared, day)
        classes, columns = self.day(day) or ((), None)
        if columns is None or classes != compared.class_names:
            return None
        deployed_map = self.map_of(compared)
        primary = self.model.segments.name if self.model.segments else ""
        if not deployed_map:
            return columns
        if deployed_map.segment != WHOLE:
            columns = {primary: columns[primary]}
        if day > compared.last:
            return columns
        summary, _ = self.store.read_summary(self.name, day)
        mapped = map_columns(summary, columns, deployed_map)
        return (
            {**mapped, primary: parts_of_segments(map_summary(summary, deployed_map))}
            if primary
            else mapped
        )

    def _map_of(self, compared: ModelReference) -> Shadow | None:
        """Find the map through which the days of a reference are seen; None if it is of logs."""
        for setting in reversed(self.model.map) if compared.deployed else ():
            content = read_map(setting.file)
            training = content.training
            inside = training.first <= compared.first and compared.last <= training.last
            if inside and setting.deploy and isinstance(content, MapFile):
                return Shadow(content.map, content.segment)
        return None

    def grouped(self, compared: ModelReference, day: date) -> Columns | None:
        """Give what a final day counts, by the values as the reference divides them."""
        columns = self._counted(compared, day)
        return columns and self._regrouped(compared, columns)

    def _regrouped(self, compared: ModelReference, columns: Columns) -> Columns:
        named = self.segments(compared)
        return {
            column: _regroup(values, named[column]) if column in named else values
            for column, values in columns.items()
        }

    def _sum_day(
        self, compared: ModelReference, reference: Reference, day: date
    ) -> tuple[DaySums, DaySums] | None:
        grouped = self.grouped(compared, day)
        return None if grouped is None else sums_of_day(compared, reference, grouped)

    def _sum_else(
        self, compared: ModelReference, reference: Reference, day: date, cells: Cells | None
    ) -> ValueSums:
        grouped = self.grouped(compared, day)
        if not grouped:
            return {}
        return place_sums(reference, grouped, *cells) if cells else level_sums(reference, grouped)

    def other_sums(
        self,
        compared: ModelReference,
        reference: Reference,
        days: Sequence[date],
        place: Break | None,
    ) -> ValueSums:
        """Add up what days say of a break at one place, or without one of the level."""
        cells = (place.family, place.first_cell, place.end_cell) if place else None
        return add_days([self.others(compared, reference, day, cells) for day in days])

    def sum_days(
        self, compared: ModelReference, reference: Reference, days: Sequence[date]
    ) -> tuple[DaySums, DaySums]:
        """Add up `sums_of_day` of some days, without those that are not compared."""
        sums = [self.sums(compared, reference, day) for day in days]
        compared_sums = [of_day for of_day in sums if of_day is not None]
        own, shared = (over_days([of_day[i] for of_day in compared_sums]) for i in (0, 1))
        return own, shared


def counts_by_value(
    config: Config, name: str, days: Sequence[date]
) -> tuple[Callable[[date], Columns], Groups]:
    """Return what counts final days by the values of every column, and how these are named.

    Values are those that the reference of the last day divides each column into. Without it, or if
    one of the days was not counted by column, they are the segments alone.
    """
    model, store = config.model(name), Store(config.store)
    reader = ColumnReader(model, store, name)
    compared = reference_of_day(days[-1], read_references(config, name).fitted)
    if compared and {*days} <= {*store.days("columns", name)}:
        return lambda day: reader.grouped(compared, day) or {}, reader.segments(compared)

    def primary(day: date) -> Columns:
        segments = model.segments
        return (
            {segments.name: parts_of_segments(store.read_summary(name, day)[0])} if segments else {}
        )

    return primary, {}


def sums_of_day(
    compared: ModelReference, reference: Reference, columns: Columns
) -> tuple[DaySums, DaySums]:
    """Sum up a day by column and value, and what these share with pairs of classes."""
    family = compared.family_of(reference)
    return sum_day(reference, columns, family, compared.curves_of(family))


def _compare(
    reader: "ColumnReader", references: References, verdict: Verdict, held: Sequence[Condition]
) -> Answer:
    """Compare the days of an open drift, the last four weeks at most, with their reference.

    Values that were named on the day before stay unless the outcomes speak against them.

    Raises
    ------
    DataError
        If there is no reference, or a file of the store cannot be read.
    """
    compared, reference, span, kind = compared_days(reader.name, references, verdict)
    before, after = _days(reader, compared, span)
    if measure := _measure_of(verdict.incident, reference, (len(before), len(after))):
        place = verdict.incident.place if verdict.incident else None
        both = (reader.other_sums(compared, reference, days, place) for days in (before, after))
        has_map = place is None or place.family == "region"
        where = where_else(measure, *both)
        return Answer(*span, drifting=True, where=where, has_map=has_map)
    old, old_shared = reader.reference_sums(compared, reference, tuple(before))
    now, now_shared = reader.sum_days(compared, reference, after)
    # What values share with pairs is known, but has no place of its own.
    sums, shared = in_both(old, now), in_both(old_shared, now_shared)
    if found := _levels_instead(reader, compared, reference, (before, after), verdict, sums):
        return Answer(*span, drifting=True, where=found)
    where = where_of(reference, sums, kind, held, shared)
    if where.explanation:
        dated = tuple(
            c if c.value in sums[c.column][0] else _dated(reader, compared, span[1], c)
            for c in where.explanation.conditions
        )
        where = replace(where, explanation=replace(where.explanation, conditions=dated))
    return Answer(*span, verdict.distortion is not None, where)


def _levels_instead(
    reader: "ColumnReader",
    compared: ModelReference,
    reference: Reference,
    days: tuple[Sequence[date], Sequence[date]],
    verdict: Verdict,
    sums: AllSums,
) -> Where | None:
    """Find the values whose level alone bends the curve of all rows; None if there are none."""
    incident = verdict.distortion
    if incident is None or compared.classes or verdict.of_third_choices:
        return None
    columns = as_before_within(reference, sums, incident)
    if not columns:
        return None
    both = [
        {
            column: values
            for column, values in reader.other_sums(compared, reference, of, None).items()
            if column in columns
        }
        for of in days
    ]
    for kind in LEVEL_KINDS:
        measure = of_level(kind, reference.level_variances, (len(days[0]), len(days[1])))
        where = where_else(measure, *both)
        if where.explanation:
            return where
    return None


def _measure_of(
    incident: Incident | None, reference: Reference, days: tuple[int, int]
) -> Measure | None:
    """Give what measures an incident that is no distortion; None of one that is, or of none.

    None of a place of a class either: it is one among the scores of that class against the rest,
    and values are counted by the scores of the first choice.
    """
    if incident and incident.place and not incident.of_class:
        return of_place(incident.kind, incident.place)
    if incident and incident.kind in LEVEL_KINDS:
        return of_level(incident.kind, reference.level_variances, days)
    return None


def _dated(
    reader: "ColumnReader", compared: ModelReference, last: date, condition: Condition
) -> Condition:
    """Add its first day to a value that the reference does not know."""
    for day in reader.store.days("summaries", reader.name):
        if compared.last < day <= last and reader.has(condition.column, condition.value, day):
            return replace(condition, first=day)
    return condition


def _days(
    reader: "ColumnReader", compared: ModelReference, span: tuple[date, date]
) -> tuple[list[date], list[date]]:
    """List the days of the reference and the later ones, all of which have counts of columns."""
    model, name = reader.model, reader.name
    stored, counted = reader.store.days("summaries", name), {*reader.store.days("columns", name)}
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
    return old, new


def _segments_of(watched: Watched, days: Sequence[Mapping[str, int]]) -> dict[str, str] | None:
    """Name the segment of each value, as the reference divides them; None if values are segments.

    A value that the reference does not know has a segment of its own, so that it is noticed.
    """
    volumes: dict[str, int] = {}
    for day in days:
        for value, predicted in day.items():
            volumes[value] = volumes.get(value, 0) + predicted
    if not isinstance(watched, Crossing) and watched.quantiles:
        return _cut(volumes, watched.quantiles)
    top = watched.top
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
    named = {str(step): names[int(np.searchsorted(cuts, step, side="right"))] for step in every}
    return {**named, OTHER: OTHER}


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
    return {name: merge_parts(parts) for name, parts in together.items()}
