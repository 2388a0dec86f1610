"""From stored counts of columns to what is watched of each of their values."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import date, timedelta
from functools import lru_cache
from itertools import chain
from math import log

from monitor.base.errors import DataError
from monitor.base.segment_names import WHOLE
from monitor.config import Config, Crossing, Model
from monitor.days.summary import ColumnPart, Columns
from monitor.drift.curve.reference import LEAST_DAYS, Reference
from monitor.drift.fold.inputs import ModelReference, reference_of_day
from monitor.drift.records.values import MovingPriors, ValueWatch
from monitor.drift.records.verdict import Carried, Verdict
from monitor.drift.where.moving_priors import moving_priors
from monitor.drift.where.part_counts import merge_parts
from monitor.drift.where.value_past import ValueSums, fit_values, value_sums
from monitor.drift.where.value_watch import REMEMBERED, new_watch, watch_day
from monitor.pipeline.verdicts.references import References
from monitor.pipeline.verdicts.where import ColumnReader
from monitor.store.store import Store

COMPARED_DAYS = 28  # of which priors are compared
WATCHED_DAYS = REMEMBERED + 4  # sums that are kept in memory


def watches_values(model: Model) -> bool:
    """Say whether the values of the columns of a model have incidents of their own."""
    two_classes = model.predictions.classes is None  # the curves of others are those of pairs
    return bool(model.columns) and two_classes and model.verdicts.value_severity != "none"


def priors_that_move(config: Config, name: str) -> MovingPriors | None:
    """Find the column that should be `strata`, in the last days that were counted by column.

    None if the model has strata, named or found, or several classes, or no column's priors move
    apart.
    """
    model, store = config.model(name), Store(config.store)
    if model.strata or model.predictions.classes or strata_found(store, name):
        return None
    listed = {w.name for w in model.columns if not isinstance(w, Crossing) and not w.numeric}
    days = list[Columns]()
    for day in store.days("columns", name)[-COMPARED_DAYS:] if listed else ():
        with suppress(DataError):  # damaged: `check --store` says so
            counted = store.read_columns(name, day)
            days.append({column: counted[column] for column in counted if column in listed})
    return moving_priors(days)


def strata_found(store: Store, name: str) -> str:
    """Name the column whose values have priors of their own in the newest verdict, or nothing."""
    days = store.days("verdicts", name)
    with suppress(DataError):  # damaged: `check --store` says so
        verdicts = store.read_verdicts(name, days[-1])[0] if days else []
        return next((v.facts.strata for v in verdicts if v.segment == WHOLE), "")
    return ""


def value_watcher(
    reader: ColumnReader, references: References, carried: Carried | None
) -> Callable[[list[Verdict]], list[Verdict]]:
    """Return what adds to the verdict of the whole what has accumulated for each value.

    Days without counts of columns, and days that are no evidence, change nothing. `carried` is what
    days before the first one came to.
    """
    model = reader.model
    if not watches_values(model):
        return lambda verdicts: verdicts
    days = _Days(reader)
    watch = carried.values if carried else None

    def add(verdicts: list[Verdict]) -> list[Verdict]:
        nonlocal watch
        whole = next(verdict for verdict in verdicts if verdict.segment == WHOLE)
        compared = reference_of_day(whole.day, references.fitted)
        watch = _watched(days, compared, whole, watch, model)
        return [replace(v, values=watch) if v is whole else v for v in verdicts]

    return add


def _watched(
    days: "_Days",
    compared: ModelReference | None,
    whole: Verdict,
    before: ValueWatch | None,
    model: Model,
) -> ValueWatch | None:
    """Add a day to what was watched before; None without a reference."""
    reference = compared.streams.get(WHOLE) if compared else None
    # Columns are counted by the score that is logged, not by what a deployed map makes of it.
    if compared is None or compared.deployed or not isinstance(reference, Reference):
        return None
    if whole.day <= compared.last:
        return None
    same = before is not None and before.reference == compared.first
    watch = before if same else days.begin(compared, reference)
    if watch is None:
        return None
    unread = whole.incomplete or whole.facts.obstacle == "read otherwise"
    sums = None if unread else days.sums(compared, reference, whole.day)
    if sums is None:
        return watch

    def days_of(first: date, last: date) -> Mapping[date, ValueSums]:
        first = max(first, compared.last + timedelta(days=1))
        span = [first + timedelta(days=i) for i in range((last - first).days + 1)]
        read = {day: days.sums(compared, reference, day) for day in span}
        return {day: of_day for day, of_day in read.items() if of_day}

    limits = model.verdicts
    return watch_day(
        *(watch, whole.day, sums),
        false_alert_days=limits.false_alert_days,
        days_of=days_of,
        least=(log(limits.level_odds), log(limits.level_page_odds)),
    )


class _Days:
    """Sums up the values of days, each once."""

    def __init__(self, reader: ColumnReader) -> None:
        self.reader, store, name = reader, reader.store, reader.name
        self.watched = [watched.name for watched in reader.model.columns]
        self.counted = {*store.days("columns", name)} & {*store.days("summaries", name)}
        self.sums = lru_cache(WATCHED_DAYS)(self._sums)

    def _sums(self, compared: ModelReference, reference: Reference, day: date) -> ValueSums | None:
        """Sum up a final day that was counted by column; None for others."""
        columns = self._columns(compared, day)
        return value_sums(reference, columns) if columns is not None else None

    def _columns(self, compared: ModelReference, day: date) -> Columns | None:
        try:
            columns = self.reader.watched(compared, day) if day in self.counted else None
        except DataError:  # damaged: as if not counted, until a run heals it
            return None
        return columns and {c: columns[c] for c in self.watched if c in columns}

    def begin(self, compared: ModelReference, reference: Reference) -> ValueWatch | None:
        """Learn of every value what it was in the reference; None if too few days were counted."""
        days = [day for day in sorted(self.counted) if compared.first <= day <= compared.last]
        counted = [*filter(None, (self._columns(compared, day) for day in days))]
        sums = [value_sums(reference, columns) for columns in counted]
        if len(sums) < LEAST_DAYS:
            return None
        past = fit_values(reference, sums, value_sums(reference, _together(counted)))
        return new_watch(compared.first, past)


def _together(days: Sequence[Columns]) -> Columns:
    """Add up days by column and value."""
    parts = dict[str, dict[str, list[ColumnPart]]]()
    for column, values in chain.from_iterable(day.items() for day in days):
        for value, part in values.items():
            parts.setdefault(column, {}).setdefault(value, []).append(part)
    return {c: {value: merge_parts(of) for value, of in v.items()} for c, v in parts.items()}
