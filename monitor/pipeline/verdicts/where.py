"""From stored counts of columns to where a drift sits."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import date, timedelta
from functools import lru_cache, partial
from itertools import chain
from typing import NamedTuple

import numpy as np

from monitor.base.errors import DataError
from monitor.base.segment_names import OTHER, THIRD, WHOLE
from monitor.config import Config, Crossing, Model, Watched
from monitor.days.summary import Columns, Summary
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
from monitor.drift.records.places import Answer, Condition, Explanation
from monitor.drift.records.region_state import Break
from monitor.drift.records.verdict import Carried, Verdict
from monitor.drift.verdicts.pair_sums import columns_of_pairs, sum_day
from monitor.drift.where.column_sums import DaySums, in_both, over_days
from monitor.drift.where.named_by_values import (
    named_by_outcomes,
    outcomes_of_values,
    values_that_name,
)
from monitor.drift.where.part_counts import parts_of_segments, regrouped
from monitor.drift.where.values_off import (
    Cells,
    ValueSums,
    as_before_within,
    level_sums,
    of_level,
    of_place,
    place_sums,
    where_else,
    where_of,
)
from monitor.evaluation.shadow import Shadow, map_columns, map_summary
from monitor.logs.columns.column_labels import range_names, step_edge
from monitor.metrics.maps.map_file import MapFile
from monitor.pipeline.days.parts import Groups
from monitor.pipeline.verdicts.references import References, read_references
from monitor.store.map_file import read_map
from monitor.store.store import Store

USUAL_KIND, USUAL_DAYS = "too_extreme", 7  # looked for without an open drift
MOST_DAYS, MOST_REMEMBERED = 28, 128  # of a drift; and of days that are read once


class Compared(NamedTuple):
    """What an open drift is compared with.

    Attributes
    ----------
    model : ModelReference
        The reference.
    reference : Reference
        That of the whole, or of third choices if the drift is theirs.
    first, last : date
        The days since it began, the last four weeks at most; without a drift, the last week.
    kind : str
        The distortion that is looked for.
    """

    model: ModelReference
    reference: Reference
    first: date
    last: date
    kind: str

    @property
    def family(self) -> str:
        """The family of pairs of the reference."""
        return self.model.family_of(self.reference)

    def among(self, days: Sequence[date]) -> tuple[list[date], list[date]]:
        """Choose those of the reference, and those since the drift began."""
        spans = (self.model.first, self.model.last), (self.first, self.last)
        old, new = ([day for day in days if first <= day <= last] for first, last in spans)
        return old, new


def compared_days(name: str, references: References, verdict: Verdict) -> Compared:
    """Find what an open drift is compared with.

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
    return Compared(compared, reference, first, last, kind)


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
        before = (placed.incident.opened if placed.incident else None, named_before(placed))
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
        to = compared_days(reader.name, references, whole)
        where = compare(reader, to, whole, held).where
    except DataError:
        return whole
    if where.explanation:
        in_segments = _have_alerts(reader.model, where.explanation, verdicts, incident)
        explanation = replace(where.explanation, in_segments=in_segments)
        where = replace(where, explanation=explanation)
    placed = replace(whole, where=where)
    if not where.explanation or whole.of_third_choices or to.model.classes:
        return placed
    return _named_by_values(placed, reader, to)


def named_before(verdict: Verdict) -> tuple[Condition, ...]:
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
        self.primary = model.segments.name if model.segments else ""
        self.columns = lru_cache(MOST_REMEMBERED)(partial(store.read_columns, name))
        self.day = lru_cache(MOST_REMEMBERED)(self._read_day)
        self.sums = lru_cache(MOST_REMEMBERED)(self._sum_day)
        self.others = lru_cache(MOST_REMEMBERED)(self._sum_else)
        self.segments = lru_cache(1)(self._segments)
        self.sum_days = lru_cache(2)(self._sum_days)
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
        if summary.classes:
            predicted = {name: part.predicted for name, part in summary.segments.items()}
            return columns_of_pairs(inputs_of(summary), self.primary or None, predicted)
        return {self.primary: parts_of_segments(summary)} if self.primary else {}

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

    def _segments(self, compared: ModelReference) -> Groups:
        """Name the segment of each value in every column, as the reference divides them."""
        columns, stored = self.model.columns, self.store.days("summaries", self.name)
        divided = any(isinstance(w, Crossing) or w.top or w.quantiles for w in columns)
        # Volumes stand in the head of a file: its counts, of which there are many, are not read.
        days = [
            self.store.read_volumes(self.name, day)
            for day in (stored if divided else [])
            if compared.first <= day <= compared.last and self.store.is_final(self.name, day)
        ]
        return {w.name: _segments_of(w, [day.get(w.name, {}) for day in days]) for w in columns}

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
        if not deployed_map:
            return columns
        if deployed_map.segment != WHOLE:
            columns = {self.primary: columns[self.primary]}
        if day > compared.last:
            return columns
        summary, _ = self.store.read_summary(self.name, day)
        mapped = map_columns(summary, columns, deployed_map)
        return {**mapped, **self._in_summary(map_summary(summary, deployed_map))}

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
            column: regrouped(values, of) if (of := named.get(column)) is not None else values
            for column, values in columns.items()
        }

    def _sum_day(
        self, compared: ModelReference, reference: Reference, day: date
    ) -> tuple[DaySums, DaySums]:
        """Sum up a day by column and value, and what these share with pairs of classes."""
        family, grouped = compared.family_of(reference), self.grouped(compared, day) or {}
        return sum_day(reference, grouped, family, compared.curves_of(family))

    def _sum_else(
        self, compared: ModelReference, reference: Reference, day: date, cells: Cells | None
    ) -> ValueSums:
        grouped = self.grouped(compared, day) or {}
        return place_sums(reference, grouped, *cells) if cells else level_sums(reference, grouped)

    def other_sums(self, to: Compared, place: Break | None) -> list[ValueSums]:
        """Add up what the days of both periods say of a break, or without one of the level."""
        cells = (place.family, place.first_cell, place.end_cell) if place else None
        both = self.days(to)
        return [over_days([self.others(*to[:2], day, cells) for day in of]) for of in both]

    def _sum_days(
        self, compared: ModelReference, reference: Reference, days: Sequence[date]
    ) -> tuple[DaySums, DaySums]:
        """Add up what some days say of a distortion; those that are not compared say nothing."""
        sums = [self.sums(compared, reference, day) for day in days]
        own, shared = (over_days([of_day[i] for of_day in sums]) for i in (0, 1))
        return own, shared

    def days(self, to: Compared) -> tuple[list[date], list[date]]:
        """List the days of both periods, all of which have counts of columns.

        Raises
        ------
        DataError
            If one has none.
        """
        name, counted = self.name, {*self.store.days("columns", self.name)}
        old, new = to.among(self.store.days("summaries", name))
        missing = [d for d in (*old, *new) if self.model.columns and d not in counted]
        if missing:
            msg = (
                f"{name}: {len(missing)} of {len(old) + len(new)} days have no counts of these "
                f"columns, first {missing[0]}; run calibration-monitor backfill --model {name} "
                f"--from {missing[0]} --to {missing[-1]}."
            )
            raise DataError(msg)
        return old, new

    def dated(self, to: Compared, condition: Condition) -> Condition:
        """Add its first day to a value that the reference does not know."""
        for day in self.store.days("summaries", self.name):
            _, columns = (to.model.last < day <= to.last and self.day(day)) or ((), {})
            if condition.value in columns.get(condition.column, {}):
                return replace(condition, first=day)
        return condition


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


def compare(
    reader: ColumnReader, to: Compared, verdict: Verdict, held: Sequence[Condition]
) -> Answer:
    """Compare the days of an open drift with their reference.

    Values that were named on the day before stay unless the outcomes speak against them.

    Raises
    ------
    DataError
        If a file of the store cannot be read.
    """
    reference, incident, bent = to.reference, verdict.incident, verdict.distortion
    before, after = reader.days(to)
    level = partial(of_level, variances=reference.level_variances, days=(len(before), len(after)))
    # A place of a class is one among the scores of that class against the rest, and values are
    # counted by the scores of the first choice.
    place = incident.place if incident and not incident.of_class else None
    if incident and (place or incident.kind in LEVEL_KINDS):
        measure = of_place(incident.kind, place) if place else level(incident.kind)
        where = where_else(measure, *reader.other_sums(to, place))
        has_map = incident.place is None or incident.place.family == "region"
        return Answer(to.first, to.last, drifting=True, where=where, has_map=has_map)
    both = [reader.sum_days(*to[:2], (*of,)) for of in (before, after)]
    # What values share with pairs is known, but has no place of its own.
    sums, shared = (in_both(*of) for of in zip(*both, strict=True))
    # The level of some values alone may bend the curve of all rows.
    two = bent is not None and not to.model.classes and not verdict.of_third_choices
    columns = as_before_within(reference, sums, bent) if bent and two else []
    for kind in LEVEL_KINDS if columns else ():
        others = [{c: of[c] for c in columns if c in of} for of in reader.other_sums(to, None)]
        where = where_else(level(kind), *others)
        if where.explanation:
            return Answer(to.first, to.last, drifting=True, where=where)
    where = where_of(reference, sums, to.kind, held, shared)
    if where.explanation:
        dated = tuple(
            c if c.value in sums[c.column][0] else reader.dated(to, c)
            for c in where.explanation.conditions
        )
        where = replace(where, explanation=replace(where.explanation, conditions=dated))
    return Answer(to.first, to.last, bent is not None, where)


def _segments_of(watched: Watched, days: Sequence[Mapping[str, int]]) -> dict[str, str] | None:
    """Name the segment of each value, as the reference divides them; None if values are segments.

    A value that the reference does not know has a segment of its own, so that it is noticed.
    """
    volumes: dict[str, int] = {}
    for value, predicted in chain.from_iterable(day.items() for day in days):
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
    names = [*range_names(tuple(map(step_edge, cuts)), 4)] if cuts else ["all"]
    every = range(-(10**3), 10**3)
    named = {str(step): names[int(np.searchsorted(cuts, step, side="right"))] for step in every}
    return {**named, OTHER: OTHER}


def _named_by_values(whole: Verdict, reader: ColumnReader, to: Compared) -> Verdict:
    """Name the drift of a whole by the outcomes of the values that explain it, if these can."""
    conditions = values_that_name(whole)
    if not conditions:
        return whole
    before, since = (
        [outcomes_of_values(reader.grouped(to.model, day) or {}, conditions) for day in of]
        for of in reader.days(to)
    )
    return named_by_outcomes(whole, to.reference, before, since)
