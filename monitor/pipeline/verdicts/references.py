"""The references of a model: which days make them, and their fits to stored summaries.

Rule: what is kept of a day are counts, beside the tag of the file that they were counted in. A file
that was replaced since has another tag, and is counted again. So no morning reads the whole past.
Strata that are found are those of a reference, once for all days that are compared with it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import lru_cache, partial
from math import log
from typing import NamedTuple

from monitor.base import program
from monitor.base.errors import DataError
from monitor.base.segment_names import WHOLE
from monitor.config import Config, Crossing, MapSetting, Model
from monitor.days.decisions import rebased
from monitor.days.summary import Columns, Segment, Summary, all_scores
from monitor.drift.curve.reference import (
    REFERENCE_DAYS,
    Reference,
    Sensitivity,
    fit_reference,
    what_a_reference_lacks,
    what_counts_lack,
)
from monitor.drift.fold.inputs import (
    Day,
    Limits,
    ModelReference,
    fit_model_reference,
    in_force,
    inputs_of,
    limit_of_whole,
    reference_of_day,
    with_entities,
)
from monitor.drift.incidents.detectable import what_is_detectable
from monitor.drift.records.lack import LEAST_OF_EACH, Lack
from monitor.drift.records.values import MovingPriors
from monitor.drift.where.moving_priors import MOST_STRATA, moving_priors, split_by
from monitor.evaluation.evaluation import Expectation
from monitor.evaluation.expected_prevalence import expect_prevalence
from monitor.evaluation.shadow import Shadow, map_columns
from monitor.metrics.core.coarse import tally_of
from monitor.metrics.maps.map_file import MapFile
from monitor.metrics.test_based.tce_at_size import standard_size
from monitor.pipeline.days.progress import fingerprint
from monitor.pipeline.days.shadow import ModelMap, read_map_of
from monitor.store.store import Store
from monitor.words.advice import (
    awaited_reference,
    days_like_this,
    sensitivity,
    too_few_like_this,
)
from monitor.words.trust import Need

ReadDay = Callable[[date], Day]
Fit = Callable[[Sequence[str], Callable[[], Sequence[Day]]], ModelReference]  # marks, and days
Marked = tuple[ModelReference, list[str]]
READ_DAYS = 60  # days that are held in memory while references are fitted


class StrataFinder:
    """Finds the strata of references, and splits days by them; nothing without the setting."""

    def __init__(self, model: Model, store: Store, name: str) -> None:
        self.wanted = model.finds_strata
        self.store, self.name = store, name
        self.counted = {*store.days("columns", name)} if self.wanted else set[date]()
        self.listed = {w.name for w in model.columns if isinstance(w, Crossing) or not w.numeric}

    def of_days(self, days: Sequence[date]) -> MovingPriors | None:
        """Find the column whose priors moved apart; None if a day was not counted by column."""
        if not self.wanted or not days or not self.counted.issuperset(days):
            return None
        columns = [self._columns(day) for day in days]
        return moving_priors([of_day for of_day in columns if of_day], MOST_STRATA)

    def split(self, day: Day, strata: MovingPriors | None, of_map: ModelMap | None = None) -> Day:
        """Give the values of a column priors of their own on a day, if it was counted by them."""
        if not strata or not day.parts or day.day not in self.counted:
            return day
        columns = self._columns(day.day)
        if of_map and isinstance(of_map.content, MapFile):
            summary, _ = self.store.read_summary(self.name, day.day)
            columns = map_columns(summary, columns, Shadow(of_map.content.map))
        parts = split_by(columns.get(strata.column, {}), strata)
        if not parts:
            return day
        return replace(day, parts={(WHOLE, value): part for value, part in parts.items()})

    def _columns(self, day: date) -> Columns:
        """Read the counts by the values of the listed columns; nothing of a damaged file."""
        try:
            counted = self.store.read_columns(self.name, day)
        except DataError:  # `check --store` says so, and a run heals it
            return {}
        return {column: counted[column] for column in counted if column in self.listed}


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


@dataclass(frozen=True, eq=False)
class References:
    """The references that the days of a model are compared with.

    Attributes
    ----------
    fitted : sequence of ModelReference
        In their order.
    marks : list of list of str
        Fingerprints of the summaries they were fitted to.
    """

    fitted: Sequence[ModelReference]
    marks: list[list[str]]

    @property
    def awaited(self) -> str | None:
        """Say which new reference is not used yet, and why; None if there is none."""
        awaited = self.fitted[-1].awaited if self.fitted else None
        return awaited_reference(awaited[1]) if awaited else None

    @property
    def last(self) -> date:
        """The last day of any reference."""
        return max((reference.last for reference in self.fitted), default=date.min)

    def expect(self, day: date, name: str, part: Segment) -> Expectation | None:
        """Estimate the prevalence to expect of a segment of a day from its scores alone.

        Of a model with two outcomes: which class of a pair is the first one means nothing.
        """
        compared = self._before(day)
        reference = compared.streams.get(name) if compared else None
        if not isinstance(reference, Reference):
            return None
        return expect_prevalence(
            tally_of(reference.counts), *all_scores(part), effects=reference.design_effects
        )

    def _before(self, day: date) -> ModelReference | None:
        """Find the reference that a day is compared with; None if there is none before it."""
        compared = reference_of_day(day, self.fitted)
        return compared if compared and day > compared.last else None

    def tce_size(self, day: date) -> int | None:
        """Give N* of TCE for a day; None while there is no reference before it."""
        compared = self._before(day)
        whole = compared.streams.get(WHOLE) if compared else None  # none if it lacks days
        if not (compared and isinstance(whole, Reference)):
            return None
        if compared.classes:
            return _size(compared.classes.right, compared.classes.total)
        rows = whole.counts  # TCE is that of the rows, also if they are a sample
        return _size(int(rows.positives.sum()), int(rows.counts.sum()))

    def class_sizes(self, day: date) -> dict[str, int]:
        """Give N* of each class against the rest for a day; empty before there is a reference."""
        compared = self._before(day)
        classes = compared and compared.classes
        if not classes:
            return {}
        named = zip(classes.names, classes.outcomes.tolist(), strict=True)
        sizes = {name: _size(seen, classes.total) for name, seen in named}
        return {name: size for name, size in sizes.items() if size is not None}


def _size(positives: int, total: int) -> int | None:
    """Give N*; None if all outcomes are equal."""
    return standard_size(positives / total) if 0 < positives < total else None


def read_references(config: Config, name: str, *, keep: bool = True) -> References:
    """Fit every reference of a model whose days are in the store and final.

    Fits are kept in the store for the next time, unless nothing is to be written.

    Raises
    ------
    DataError
        If a summary cannot be read.
    """
    model, store = config.model(name), Store(config.store)
    limits = limits_of(model)
    kept, used = store.read_fits(name), dict[str, ModelReference]()
    # A day may be counted, be part of several references, and be needed for their fits.
    read_day = lru_cache(READ_DAYS)(lambda day: inputs_of(store.read_summary(name, day)[0]))

    def fit(marks: Sequence[str], read: Callable[[], Sequence[Day]]) -> ModelReference:
        """Take a kept fit only if it rests on these files, limits and sources."""
        basis = fingerprint([program.digest("fits"), repr(limits), [*marks]])
        used[basis] = kept.get(basis) or fit_model_reference(read(), limits)
        return used[basis]

    finder = StrataFinder(model, store, name)

    def fit_span(span: ReferenceSpan) -> Marked:
        marks = [store.summary_mark(name, day) for day in span.days]
        if span.lack:
            return ModelReference(span.first, span.last, {}, span.lack), marks
        strata = finder.of_days(span.days)
        marks += [repr(strata)] if strata else []
        fitted = fit(marks, lambda: [finder.split(read_day(day), strata) for day in span.days])
        return replace(fitted, strata=strata), marks

    fitted = [fit_span(span) for span in days_of_references(model, store, name, read_day)]
    for setting in model.map:
        if setting.deploy:
            before = _in_force_before(setting.deploy, fitted)
            fitted.append(_reference_of_map(model, store, name, fit, setting, finder))
            if setting.retire and before:  # the scores are again those of before
                reference, marks = before
                again = replace(reference, deployed=setting.retire)
                fitted.append((again, [*marks, f"{setting.retire}"]))
            fitted.sort(key=lambda marked: marked[0].begins)
    if keep and used.keys() != kept.keys():
        store.keep_fits(name, used)
    usable = in_force([reference for reference, _ in fitted])
    return References(usable, [marks for _, marks in fitted])


def awaited_in_store(config: Config, name: str) -> str | None:
    """Say which new reference is not used yet, and why, without writing anything."""
    spans = spans_in_store(config, name)
    unfitted = [ModelReference(span.first, span.last, {}, span.lack) for span in spans]
    return References(in_force(unfitted), []).awaited


def _in_force_before(day: date, fitted: Sequence[Marked]) -> Marked | None:
    """Find the reference that the scores of the days before a map are compared with."""
    kept = in_force([reference for reference, _ in fitted])
    in_force_then = reference_of_day(day - timedelta(days=1), kept)
    return next(
        (marked for marked in fitted if in_force_then and marked[0].begins == in_force_then.begins),
        None,
    )


def spans_in_store(
    config: Config, name: str, begun: Sequence[date] | None = None
) -> list[ReferenceSpan]:
    """Find the days of every reference, without fitting or writing anything."""
    store = Store(config.store)
    return days_of_references(
        *(config.model(name), store, name),
        lambda day: inputs_of(store.read_summary(name, day)[0]),
        begun=begun,
        keep=False,
    )


def _reference_of_map(
    model: Model,
    store: Store,
    name: str,
    fit: Fit,
    setting: MapSetting,
    finder: StrataFinder,
) -> Marked:
    """Fit the reference of a deployed map: the days it was fitted to, through the map."""
    model_map = read_map_of(setting, model, name, store, partial(store.read_summary, name))
    training = model_map.content.training
    days, marks = list[Day](), [model_map.mark, f"{setting.deploy}"]
    trained = [*filter(model_map.trains, store.days("summaries", name))]
    strata = finder.of_days(trained)
    marks += [repr(strata)] if strata else []
    for day in trained:
        mapped, mark = model_map.map_day(day) or (None, "")
        prepared = mapped and inputs_of(mapped)
        if prepared and prepared.final and prepared.parts:
            days.append(finder.split(prepared, strata, model_map))
            marks.append(mark)
    if lack := what_a_reference_lacks([day.parts for day in days]):
        first, last = training.first, training.last
        lack = replace(lack, span=(first, last), map_file=setting.file)
        return ModelReference(first, last, {}, lack, deployed=setting.deploy), marks
    return replace(fit(marks, lambda: days), deployed=setting.deploy, strata=strata), marks


def first_sensitivity(model: Model, summary: Summary) -> str:
    """Say what the detector will find once 28 days like this one are the reference."""
    day, limits = inputs_of(summary), limits_of(model)
    days = [day.parts] * REFERENCE_DAYS
    if lack := what_a_reference_lacks(days):
        return too_few_like_this(REFERENCE_DAYS, lack)
    reference = fit_reference(days, sensitivity=limits.sensitivity, judge_every=limits.judge_every)
    # What hangs together within the day: which entities come back on others is not known yet.
    reference = with_entities(reference, [day], WHOLE)
    detectable = what_is_detectable(reference, limit_of_whole({WHOLE: reference}, limits))
    return sensitivity(detectable, days_like_this(REFERENCE_DAYS))


def limits_of(model: Model) -> Limits:
    """Translate the configured limits into those of the verdict."""
    v = model.verdicts
    return Limits(
        false_alert_days=v.false_alert_days,
        segment_false_alert_days=v.segment_false_alert_days,
        prior_shift=log(v.level_odds),
        level=log(v.level_odds),
        level_page=log(v.level_page_odds),
        sensitivity=Sensitivity(
            tolerances=(v.slope_tolerance, v.shape_tolerance),
            effects=(v.slope_effect, v.shape_effect),
        ),
        judge_every=v.judge_every,
        calibrated=v.limit == "calibrated",
    )
