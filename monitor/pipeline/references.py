"""The references of a model, fitted to its stored summaries."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from math import log

import numpy as np

from monitor.config import Config, Model
from monitor.drift.detectable import what_is_detectable
from monitor.drift.inputs import (
    Day,
    Limits,
    ModelReference,
    fit_model_reference,
    gather_reference_days,
    inputs_of,
    reference_of_day,
)
from monitor.drift.reference import (
    Reference,
    Sensitivity,
    fit_reference,
    what_a_reference_lacks,
)
from monitor.drift.wording import what_can_be_found, what_would_help
from monitor.evaluation.expected_prevalence import Expectation, expect_prevalence
from monitor.evaluation.shadow import map_summary
from monitor.metrics.core.coarse import CENTRES
from monitor.metrics.core.special import expit
from monitor.metrics.core.tally import Tally
from monitor.metrics.test_based.tce_at_size import standard_size
from monitor.pipeline.awaited_reference import day_that_completes
from monitor.pipeline.progress import fingerprint
from monitor.pipeline.shadow import read_shadow
from monitor.segment_names import WHOLE
from monitor.store.store import Store
from monitor.summary import Segment, Summary, all_scores

Fit = Callable[[Sequence[Day], Sequence[str]], ModelReference]  # of days, and of their marks
AT_FIRST = 60  # stored days that are read for a reference, before what is known of them is kept
REFERENCE_DAYS = 28  # the default reference has at least this many days, the first ones


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
    def last(self) -> date:
        """The last day of any reference."""
        return max((one.last for one in self.fitted), default=date.min)

    def expect(self, day: date, name: str, part: Segment) -> Expectation | None:
        """Estimate the prevalence to expect of a segment of a day from its scores alone."""
        compared = reference_of_day(day, self.fitted)
        reference = compared.streams.get(name) if compared and day > compared.last else None
        if not isinstance(reference, Reference) or (compared and compared.classes):
            return None
        seen = np.nonzero(reference.counts.counts)[0]
        labelled = Tally(
            expit(CENTRES[seen]), reference.counts.counts[seen], reference.counts.positives[seen]
        )
        return expect_prevalence(labelled, *all_scores(part))

    def tce_size(self, day: date) -> int | None:
        """Give N* of TCE for a day; None while there is no reference before it."""
        compared = reference_of_day(day, self.fitted)
        if not compared or day <= compared.last:
            return None
        whole = compared.streams.get(WHOLE)  # none if the compared lacks days
        if not isinstance(whole, Reference):
            return None
        if compared.classes:
            return _size(compared.classes.right, compared.classes.total)
        known = whole.counts  # TCE is that of the rows, also if they are a sample
        return standard_size(float(known.positives.sum() / known.counts.sum()))

    def class_sizes(self, day: date) -> dict[str, int]:
        """Give N* of each class against the rest for a day; empty before there is a reference."""
        compared = reference_of_day(day, self.fitted)
        if not compared or day <= compared.last or not compared.classes:
            return {}
        classes = compared.classes
        named = zip(classes.names, classes.outcomes.tolist(), strict=True)
        sizes = {name: _size(seen, classes.total) for name, seen in named}
        return {name: size for name, size in sizes.items() if size is not None}


def _size(positives: int, total: int) -> int | None:
    """Give N*; None if all outcomes are equal."""
    return standard_size(positives / total) if 0 < positives < total else None


def read_references(config: Config, name: str) -> References:
    """Fit every reference of a model whose days are in the store and final.

    Raises
    ------
    DataError
        If a summary cannot be read.
    """
    model, store = config.model(name), Store(config.store)
    spans = _reference_days(model, store, name)
    limits = limits_of(model)
    kept, used = store.read_fits(name), dict[str, ModelReference]()

    def fit(days: Sequence[Day], marks: Sequence[str]) -> ModelReference:
        """Take a kept fit only if it rests on these files and limits, and on this version."""
        basis = fingerprint([repr(limits), [*marks]])
        found = kept.get(basis) or fit_model_reference(days, limits)
        used[basis] = found
        return found

    fitted = [
        (
            ModelReference(first, last, {}, _lack(first, last, lack))
            if (lack := what_a_reference_lacks([day.parts for day, _ in days]))
            else fit([day for day, _ in days], [mark for _, mark in days]),
            [mark for _, mark in days],
        )
        for first, last, days in spans
    ]
    if of_map := _reference_of_map(model, store, name, fit):
        fitted = sorted([*fitted, of_map], key=lambda one: one[0].begins)
    if used.keys() != kept.keys():
        store.keep_fits(name, used)
    return References([one for one, _ in fitted], [marks for _, marks in fitted])


def _reference_of_map(
    model: Model, store: Store, name: str, fit: Fit
) -> tuple[ModelReference, list[str]] | None:
    """Fit the reference of a deployed map: the days it was fitted to, through the map."""
    found = read_shadow(model, name)
    if not found or not model.map or not model.map.deploy:
        return None
    content, shadow = found
    first, last = content.training.first, content.training.last
    days, marks = list[Day](), [repr(shadow), f"{model.map.deploy}"]
    for day in store.days("summaries", name):
        if first <= day <= last:
            summary, mark = store.read_summary(name, day)
            prepared = inputs_of(map_summary(summary, shadow))
            if prepared.final and prepared.parts:
                days.append(prepared)
                marks.append(mark)
    if lack := what_a_reference_lacks([day.parts for day in days]):
        why = (
            f"the map of {model.map.file} was fitted to the days from {first} to {last}, which "
            f"have {lack}: too few for a reference; name later days in verdicts.references"
        )
        return ModelReference(first, last, {}, why, deployed=model.map.deploy), marks
    return replace(fit(days, marks), deployed=model.map.deploy), marks


def first_sensitivity(model: Model, summary: Summary) -> str:
    """Say what the detector will find once 28 days like this one are the reference."""
    day, limits = inputs_of(summary), limits_of(model)
    days = [day.parts] * REFERENCE_DAYS
    begin = f"With {REFERENCE_DAYS} days like this one as the reference"
    if lack := what_a_reference_lacks(days):
        return f"{begin} there would be {lack}: too few to find a drift."
    reference = fit_reference(days, sensitivity=limits.sensitivity, judge_every=limits.judge_every)
    found = what_is_detectable(reference, limits.false_alert_days)
    said = what_can_be_found(found).removeprefix("With this reference")
    return " ".join(filter(None, [f"{begin}{said}", what_would_help(found)]))


def limits_of(model: Model) -> Limits:
    """Translate the configured limits into those of the verdict."""
    v = model.verdicts
    return Limits(
        false_alert_days=v.false_alert_days,
        segment_false_alert_days=v.segment_false_alert_days,
        prior_shift=log(v.prior_shift_odds),
        level=log(v.level_odds),
        sensitivity=Sensitivity(
            tolerances=(v.slope_tolerance, v.shape_tolerance),
            effects=(v.slope_effect, v.shape_effect),
        ),
        known_drifts=tuple((span.first, span.last) for span in v.known_drifts),
        judge_every=v.judge_every,
    )


def _lack(first: date, last: date, lack: str) -> str:
    return (
        f"the one from {first} to {last} has {lack}; wait for them, or name more days in "
        "verdicts.references"
    )


def _reference_days(
    model: Model, store: Store, name: str
) -> list[tuple[date, date, list[tuple[Day, str]]]]:
    """Read the days of every reference: the configured ones, else the first that make one.

    A day without predictions is none of them.
    """
    stored = store.days("summaries", name)

    def recall(days: Iterable[date]) -> Iterator[tuple[Day, str]]:
        for day in days:
            summary, mark = store.read_summary(name, day)
            prepared = inputs_of(summary)
            if prepared.final and prepared.parts:
                yield prepared, mark

    if not model.verdicts.references:
        taken = gather_reference_days(recall(stored[:AT_FIRST]), least_days=REFERENCE_DAYS)
        if not taken and len(stored) > AT_FIRST:
            last = day_that_completes(store, name, stored, least_days=REFERENCE_DAYS)
            first_days = [day for day in stored if last and day <= last]
            taken = gather_reference_days(recall(first_days), least_days=REFERENCE_DAYS)
        return [(taken[0][0].day, taken[-1][0].day, taken)] if taken else []
    return [
        (s.first, s.last, list(recall(day for day in stored if s.first <= day <= s.last)))
        for s in model.verdicts.references
    ]
