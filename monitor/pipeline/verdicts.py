"""From stored summaries to stored verdicts: which days are the reference, and where to begin."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date, timedelta

from monitor import program
from monitor.arrivals import late
from monitor.config import Config
from monitor.drift.fold.inputs import Day, failed_day, inputs_of, reference_of_day
from monitor.drift.records.detector import Detector
from monitor.drift.verdicts.judge import days_needed, judge
from monitor.errors import DataError
from monitor.pipeline.neighbours import known_until
from monitor.pipeline.progress import Failure, PhaseProgress, fingerprint, in_parallel
from monitor.pipeline.reading import Readings
from monitor.pipeline.references import References, limits_of
from monitor.pipeline.strata import StrataFinder
from monitor.pipeline.watching import value_watcher, watches_values
from monitor.pipeline.where import ColumnReader, place_adder
from monitor.store.delays import delays
from monitor.store.store import Store
from monitor.summary import end_of_day
from monitor.words.verdict import sentences


def judge_days(
    config: Config,
    name: str,
    references: References,
    first: date,
    *,
    failures: Sequence[Failure] = (),
    as_of: date | None = None,
    may_heal: bool = False,
    jobs: int = 1,
    on_progress: Callable[[PhaseProgress], None] = lambda _: None,
) -> list[date]:
    """Give every day from the first to the last stored one its verdict.

    Parameters
    ----------
    config, name : Config, str
        As for `run`.
    references : References
        What `read_references` found, after the summaries were written.
    first : date
        The first day whose summary may have changed; if limits or references have, the verdicts
        begin with the first stored day.
    failures : sequence of Failure
        Days of this run that have no summary because their logs broke the contract.
    may_heal : bool
        Whether to raise DataError for a damaged verdict from which to go on, instead of judging
        every day again.
    as_of, jobs, on_progress : date, int, callable
        As for `run`; `as_of` is needed with failures. What verdicts said before is kept, as
        known until then.

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
    complaints = {d.day: d for d in _complaints(store, name, failures, as_of, model.time_zone)}
    stored = store.days("summaries", name)
    stored_days = set(stored)
    days = sorted({*stored, *complaints})

    # Models without columns keep the basis that they had.
    unwatched = ["no values"] if model.columns and not watches_values(model) else []
    basis = fingerprint([program.RULES, repr(limits), references.marks, *unwatched])
    stale = store.mark_stale(name, first)
    start, detectors = _beginning(*(store, name, days, stale, basis), may_heal=may_heal)
    if start < stale:  # if this run is killed, the next one may not go on between two programs
        store.mark_stale(name, start)

    delay_on, finder = delays(store, name, model), StrataFinder(model, store, name)

    readings, marks = Readings(store, name), dict[date, str]()

    def read(day: date) -> Day:
        if day in complaints:
            return complaints[day]
        summary, marks[day] = store.read_summary(name, day)
        compared = reference_of_day(day, references.fitted)
        prepared = finder.split(inputs_of(summary), compared.strata if compared else None)
        prepared = readings.compared(prepared, compared)
        return replace(prepared, late=late(delay_on(day, prepared.known_at), model.settled_after))

    before, to_do = [d for d in days if d < start], [d for d in days if d >= start]
    recent = [read(d) for d in days_needed(before, detectors, limits)]
    verdicts = judge(
        name,
        in_parallel(read, to_do, jobs),
        references=references.fitted,
        limits=limits,
        recent=recent,
        detectors=detectors,
        recall=lambda day: read(day) if day in stored_days else None,
    )
    judged = set(store.days("verdicts", name)) if as_of else set()
    until = known_until(store, name, model, as_of) if as_of else None
    reader = ColumnReader(model, store, name)
    placed = map(place_adder(reader, references), verdicts)
    for done, of_day in enumerate(map(value_watcher(reader, references), placed), 1):
        day = of_day[0].day
        told = [replace(verdict, reasons=sentences(verdict)) for verdict in of_day]
        rests_on = {"basis": basis, "made_from": marks.get(day, "")}
        if until and day in judged:
            store.replace_verdicts(name, day, told, **rests_on, as_of=until)
        else:
            store.write_verdicts(name, day, told, **rests_on)
        on_progress(PhaseProgress("judge", day, done, len(to_do)))
    store.clear_stale(name)
    return to_do


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
                store.remove("verdicts", name, [day])
            else:
                yield failed_day(day, verdict.known_at, verdict.facts.complaint)
    if as_of:
        known_at = end_of_day(as_of - timedelta(days=1), time_zone)
        yield from (failed_day(day, known_at, message) for day, message in fresh.items())


def _beginning(
    store: Store, name: str, days: Sequence[date], first: date, basis: str, *, may_heal: bool
) -> tuple[date, Mapping[str, Detector]]:
    """Go on from the verdicts before `first` if they rest on the same limits and references.

    If they are damaged, a run that may heal them has to know; otherwise all are made again.
    """
    before = [day for day in days if day < first]
    if before:
        try:
            verdicts, theirs = store.read_verdicts(name, before[-1])
        except DataError as error:
            if error.newer or (error.damaged and may_heal):
                raise
            theirs = None
        if theirs == basis:
            return first, {verdict.segment: verdict.detector for verdict in verdicts}
    return min([first, *days]), {}
