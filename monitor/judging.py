"""From stored summaries to stored verdicts: which days are the reference, and where to begin."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from math import log

import numpy as np
from scipy.special import expit

from monitor.config import Config, Model
from monitor.days import WHOLE, Segment, all_scores, end_of_day
from monitor.drift import Meter
from monitor.errors import DataError
from monitor.expectation import Expectation, expect_prevalence
from monitor.metrics.coarse import CENTRES
from monitor.metrics.tally import Tally
from monitor.metrics.tce_at_size import standard_size
from monitor.period import (
    Day,
    Limits,
    Period,
    Weighed,
    failed_day,
    fit_period,
    gather_reference,
    period_of,
    prepare,
    weigh,
)
from monitor.reference import LEAST_OF_EACH, Reference, Sensitivity, what_a_reference_lacks
from monitor.steps import Failure, Step, fingerprint, in_parallel
from monitor.store import Store
from monitor.verdict import WEEK, judge

REFERENCE_DAYS = 28  # of a reference that is not configured: at least the first so many


@dataclass(frozen=True, eq=False)
class References:
    """What the days of a model are compared with.

    Attributes
    ----------
    periods : sequence of Period
        In their order.
    marks : list of list of str
        Fingerprints of the summaries they were fitted to.
    """

    periods: Sequence[Period]
    marks: list[list[str]]

    @property
    def last(self) -> date:
        """The last day of any."""
        return max((period.last for period in self.periods), default=date.min)

    def expect(self, day: date, name: str, part: Segment) -> Expectation | None:
        """Tell the prevalence to expect of a segment of a day from its scores alone."""
        period = period_of(day, self.periods)
        reference = period.streams.get(name) if period and day > period.last else None
        if not isinstance(reference, Reference):
            return None
        seen = np.nonzero(reference.counts.counts)[0]
        labelled = Tally(
            expit(CENTRES[seen]), reference.counts.counts[seen], reference.counts.positives[seen]
        )
        return expect_prevalence(labelled, *all_scores(part))

    def tce_size(self, day: date) -> int | None:
        """Give N* of TCE for a day; None while there is no reference before it."""
        period = period_of(day, self.periods)
        if not period or day <= period.last:
            return None
        whole = period.streams.get(WHOLE)  # none if the period lacks days
        return standard_size(whole.prevalence) if isinstance(whole, Reference) else None


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
    return References(
        periods=[
            Period(first, last, {}, _lack(first, last, lack))
            if (lack := what_a_reference_lacks([day.parts for day, _ in days]))
            else fit_period([day for day, _ in days], limits)
            for first, last, days in spans
        ],
        marks=[[mark for _, mark in days] for _, _, days in spans],
    )


def judge_days(
    config: Config,
    name: str,
    first: date,
    *,
    failures: Sequence[Failure] = (),
    as_of: date | None = None,
    jobs: int = 1,
    on_step: Callable[[Step], None] = lambda _: None,
) -> list[date]:
    """Give every day from the first to the last stored one its verdict.

    Parameters
    ----------
    config, name : Config, str
        As for `run`.
    first : date
        The first day whose summary may have changed; if limits or references have, the verdicts
        begin with the first stored day.
    failures : sequence of Failure
        Days of this run that have no summary because their logs broke the contract.
    as_of, jobs, on_step : date, int, callable
        As for `run`; `as_of` is needed with failures.

    Returns
    -------
    list of date
        The days whose verdicts were written.

    Raises
    ------
    DataError
        If a file of the store cannot be read.
    """
    model, store = config.model(name), Store(config.store)
    limits = limits_of(model)
    known = {d.day: d for d in _complaints(store, name, failures, as_of, model.time_zone)}
    stored = store.days("summaries", name)
    days = sorted({*stored, *known})

    references = read_references(config, name)
    basis = fingerprint([repr(limits), references.marks])
    start, meters = _where_to_begin(store, name, days, store.note_stale(name, first), basis)

    def weighed(day: date) -> Weighed:
        found = known[day] if day in known else prepare(store.read_summary(name, day)[0])
        return found, weigh(found, references.periods)

    week = [weighed(d) for d in days if timedelta() < start - d < timedelta(days=WEEK)]
    to_do = [day for day in days if day >= start]
    verdicts = judge(
        name,
        in_parallel(weighed, to_do, jobs),
        periods=references.periods,
        lack=f"it takes {REFERENCE_DAYS} final days, and {LEAST_OF_EACH} outcomes of each kind",
        limits=limits,
        week=week,
        meters=meters,
    )
    for done, of_day in enumerate(verdicts, 1):
        store.write_verdicts(name, of_day[0].day, of_day, basis=basis)
        on_step(Step("judge", of_day[0].day, done, len(to_do)))
    store.note_fresh(name)
    return to_do


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
    )


def _complaints(
    store: Store,
    name: str,
    failures: Sequence[Failure],
    as_of: date | None,
    time_zone: str,
) -> Iterator[Day]:
    """Collect the days without a summary whose logs broke the contract, now or before.

    A complaint of a day that was not over then is none, and is removed.
    """
    summarised = set(store.days("summaries", name))
    fresh = {f.day: f.message for f in failures if f.day not in summarised}
    for day in store.days("verdicts", name):
        if day not in summarised and day not in fresh:
            (verdict, *_), _ = store.read_verdicts(name, day)
            if verdict.state != "data_error":  # its summary was deleted: the day is not known
                continue
            if verdict.known_at < end_of_day(day, time_zone):  # told before the day was over
                store.remove_verdicts(name, day)
            else:
                yield failed_day(day, verdict.known_at, verdict.reasons[0])
    if as_of:
        known_at = end_of_day(as_of - timedelta(days=1), time_zone)
        yield from (failed_day(day, known_at, message) for day, message in fresh.items())


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
            prepared = prepare(summary)
            if prepared.final and prepared.parts:
                yield prepared, mark

    if not model.verdicts.references:
        taken = gather_reference(recall(stored), least_days=REFERENCE_DAYS)
        return [(taken[0][0].day, taken[-1][0].day, taken)] if taken else []
    return [
        (s.first, s.last, list(recall(day for day in stored if s.first <= day <= s.last)))
        for s in model.verdicts.references
    ]


def _where_to_begin(
    store: Store, name: str, days: Sequence[date], first: date, basis: str
) -> tuple[date, Mapping[str, Meter]]:
    """Go on from the verdicts before `first` if they rest on the same limits and references."""
    before = [day for day in days if day < first]
    if before:
        try:
            verdicts, theirs = store.read_verdicts(name, before[-1])
        except DataError:
            theirs = None
        if theirs == basis:
            return first, {verdict.segment: verdict.meter for verdict in verdicts}
    return min([first, *days]), {}
