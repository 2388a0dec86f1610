"""Dates in, store out: summarise the days, then evaluate and judge every day they affect.

Rule 1: a run reaches forward. Redoing a day also redoes every later day whose longest window
contains it. So ten days in one call and in ten calls leave the same bytes.
Rule 2: this module translates configuration into plain arguments and decides nothing else.
"""

import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from functools import partial

from monitor.base.errors import ConfigError, DataError
from monitor.base.files import looking_once
from monitor.base.machine import cores
from monitor.config import Config, Model
from monitor.days.arrivals import LATEST, Late, late
from monitor.days.run_record import FailedDay
from monitor.evaluation import compile_ahead
from monitor.logs import days_of, versions_of_tables
from monitor.pipeline.days.neighbours import (
    days_that_count,
    days_to_read_again,
    known_until,
    notes_of,
    repaired,
)
from monitor.pipeline.days.progress import Failure, Pace, PhaseProgress
from monitor.pipeline.days.task import Task
from monitor.pipeline.days.unchanged import changed_since_read
from monitor.pipeline.housekeeping.healing import Damage, files, find_all_damage, still_damaged
from monitor.pipeline.runs.arriving import count_new_arrivals
from monitor.pipeline.runs.evaluations import evaluate_days, reach
from monitor.pipeline.runs.mapped_days import count_mapped_days
from monitor.pipeline.runs.planning import (
    LeftOutByDay,
    Result,
    Rules,
    Work,
    check_days,
    damage_before,
    days_that_must_succeed,
    find_work,
    summarise_days,
)
from monitor.pipeline.verdicts.judging import Known, judge_days
from monitor.pipeline.verdicts.references import read_references
from monitor.read.delays import delay_now
from monitor.store.store import Store
from monitor.words.plausibility import LeftOut, mostly_left_out


@dataclass(frozen=True)
class RunReport:
    """What a run did.

    Attributes
    ----------
    model : str
        Its name.
    summarised, unchanged, evaluated : tuple of date
        The days that were summarised, left unchanged, and evaluated.
    quiet : tuple of date
        The days without a log, of a model that may have such days.
    kept : tuple of date
        The final days that this run, with its earlier `as_of`, would have made provisional.
    changed : tuple of date
        The final days shortly before the range that were read from other files than there are now.
    late : Late or None
        How many outcomes arrive after a day has settled, if they are too many.
    failures : tuple of Failure
        The days of the range that failed.
    still_missing : tuple of Failure
        The days to catch up that failed again, and those to read again because of other days; they
        do not make the run a failed one.
    left_out : tuple of LeftOut
        The settings that leave out more than half of the rows of a day that was summarised.
    healed : tuple of str
        The damaged files of the store that were made again.
    damaged : tuple of str
        The damaged files that could not be made again; the run did not need them.
    tables : mapping of str to str
        Of each log that is a Delta Lake or Iceberg table, the version that was read; of rows of a
        database, the time of the snapshot.
    """

    model: str
    summarised: tuple[date, ...]
    unchanged: tuple[date, ...]
    evaluated: tuple[date, ...]
    failures: tuple[Failure, ...]
    quiet: tuple[date, ...] = ()
    kept: tuple[date, ...] = ()
    changed: tuple[date, ...] = ()
    late: Late | None = None
    still_missing: tuple[Failure, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    healed: tuple[str, ...] = ()
    damaged: tuple[str, ...] = ()
    tables: Mapping[str, str] = field(default_factory=dict)


def run(
    config: Config,
    task: Task,
    *,
    clock: Callable[[], datetime],
    wait: bool = True,
    jobs: int = 1,
    on_progress: Callable[[PhaseProgress], None] = lambda _: None,
) -> RunReport:
    """Summarise the days of a task, evaluate every day that they affect, and judge.

    Parameters
    ----------
    config : Config
        The whole configuration.
    task : Task
        Which days of which model.
    clock : callable
        Returns the current time, for the run record only.
    wait : bool
        Whether to wait for another process that works on the model, or else to raise DataError.
    jobs : int
        How many days to process at a time; they share the engine's threads and memory. The
        result does not depend on it.
    on_progress : callable
        Called after every day of every phase.

    Returns
    -------
    RunReport
        It names the days that failed. A failed day does not stop the others.

    Raises
    ------
    ConfigError
        If the model is unknown, the store cannot be opened, or a day is not over.
    DataError
        If a file of the store cannot be read or written, the store vanishes during the run, or a
        damaged file is needed and cannot be made again.
    """
    started, store, name = clock(), Store(config.store), task.model
    check_days(name, task.first, task.last, as_of=task.as_of)
    store.begin(started)  # raises if there cannot be a store
    new = {*task.catch_up, *task.days}.difference(store.days("summaries", name))
    with (
        store.locked(name, wait=wait) as must_be_there,
        looking_once(),
        compiled_meanwhile(needed=bool(new)),
    ):
        store.sweep(name)
        store.write_begin(name, started)
        tables = _versions(config.model(name))
        done = _healed(config, task, Pace(jobs, on_progress))
        remaining = still_damaged(store, name, done.damage)
        must_be_there()
        tables = _read_versions(tables, _versions(config.model(name)))
        report = _report(task, done, remaining, tables)
        failures = report.failures
        store.write_run(
            name,
            started=started,
            finished=clock(),
            failed=FailedDay(failures[-1].day, failures[-1].fault) if failures else None,
            tables=tables,
            newest=store.newest_days(name),
        )
        model = config.model(name)
        return replace(
            report,
            changed=changed_since_read(store, name, model, task.first, as_of=task.as_of),
            late=late(delay_now(store, name, model), model.settled_after),
        )


@dataclass(frozen=True)
class _Done:
    """What became of the days of a run.

    Attributes
    ----------
    damage : Damage
        The files that were damaged before.
    results : mapping of date to Result
        Of each day that was to be summarised.
    evaluated : list of date
        The days that were evaluated.
    left_out : mapping of date to mapping
        The rows that settings leave out of each day.
    """

    damage: Damage
    results: Mapping[date, Result]
    evaluated: Sequence[date]
    left_out: LeftOutByDay


def _report(task: Task, done: _Done, remaining: Damage, tables: Mapping[str, str]) -> RunReport:
    """Report what became of the days, with the damage that remains."""

    def those(wanted: Result) -> tuple[date, ...]:
        return tuple(sorted(day for day, result in done.results.items() if result == wanted))

    failed = [result for result in done.results.values() if isinstance(result, Failure)]
    of_run = days_that_must_succeed(task, done.damage)
    return RunReport(
        model=task.model,
        summarised=those("summarised"),
        unchanged=those("unchanged"),
        quiet=those("quiet"),
        kept=those("kept"),
        evaluated=tuple(done.evaluated),
        failures=tuple(failure for failure in failed if failure.day in of_run),
        still_missing=tuple(failure for failure in failed if failure.day not in of_run),
        left_out=mostly_left_out(done.left_out),
        healed=files(task.model, done.damage, without=remaining),
        damaged=files(task.model, remaining),
        tables=tables,
    )


def _healed(config: Config, task: Task, pace: Pace) -> _Done:
    """Process the days; once more with all damaged files, if one stands in the way."""
    store, left_out = Store(config.store), LeftOutByDay()
    damage = damage_before(store, config.model(task.model), task)
    try:
        return _process(config, task, pace, damage, left_out)
    except DataError as error:
        if not error.damaged:
            raise
    damage = find_all_damage(store, task.model)
    return _process(config, task, pace, damage, left_out)


def _versions(model: Model) -> dict[str, str]:
    """Name the versions of tables; none if one cannot be read, which its days report."""
    try:
        return versions_of_tables(model)
    except (ConfigError, DataError):
        return {}


def _read_versions(begin: Mapping[str, str], end: Mapping[str, str]) -> dict[str, str]:
    """Name the versions that a run may have read: each day reads the newest one."""
    return {
        log: version if end.get(log, version) == version else f"{version} to {end[log]}"
        for log, version in begin.items()
    }


def _process(
    config: Config, task: Task, pace: Pace, damage: Damage, left_out: LeftOutByDay
) -> _Done:
    """Summarise days, evaluate every day that they affect, and judge; give what became of each.

    The rows that settings leave out of each day are added to `left_out`. Damaged files are made
    again with the days.
    """
    name, as_of = task.model, task.as_of
    model, store = config.model(name), Store(config.store)
    work = find_work(store, model, task, damage)
    store.remove("arrivals", name, damage.of("arrivals"))
    summarised = store.days("summaries", name)
    notes = notes_of(store, name, work.days)
    store.mark_stale(name, work.first, task.last)
    may_skip = work.may_skip.intersection(summarised)
    rules = Rules(store, name, model, as_of, may_skip, task.recompute, task.must_settle)
    summarise = partial(summarise_days, config, pace=pace, left_out=left_out)
    results = summarise(work.days, rules)
    failures = [result for result in results.values() if isinstance(result, Failure)]
    summarised_now = [day for day, result in results.items() if result == "summarised"]
    done = {day: store.read_inputs(name, day) for day in summarised_now}
    until = known_until(store, name, model, as_of, done=done)
    repairs = repaired(store, name, done, notes, work.unfinished)
    neighbours = days_to_read_again(store, name, model, repairs, done=done, as_of=until)
    first = min([work.first, *neighbours])
    if neighbours:
        store.mark_stale(name, first, neighbours[-1])
        results |= summarise(neighbours, rules.again(until))
    recounted = days_that_count(model, repairs).union(done)
    counted = count_new_arrivals(config, name, first, recounted, as_of=until)
    mapped = count_mapped_days(config, name, pace=pace)
    results |= {failure.day: failure for failure in mapped}
    references = read_references(config, name)
    goes_on = work.goes_on(neighbours) or first <= references.last
    evaluated = [
        day
        for span, skip in _spans(work, first, reach(model, task.last), goes_on=goes_on)
        for day in evaluate_days(config, name, references, span, skip_unchanged=skip, pace=pace)
    ]
    reported = _failures_to_report(failures, model, summarised)
    begin = min([first, *(day + timedelta(days=LATEST) for day in counted)])
    judge_days(config, name, references, begin, Known(as_of, reported, may_heal=True), pace)
    return _Done(damage, results, evaluated, left_out)


def _spans(
    work: Work, first: date, reached: date, *, goes_on: bool
) -> Iterator[tuple[tuple[date, date], bool]]:
    """List what is evaluated: spans of days, and whether those stay that rest on the same inputs.

    Before and after the days that the task reaches, only what rests on others is made again: on
    damaged files, on neighbours or on what a killed run left; and later days are compared with
    references.
    """
    one = timedelta(days=1)
    if first < work.wanted:
        yield (first, work.wanted - one), True
    yield (work.wanted, reached), work.may_skip.issuperset(work.days)
    if goes_on:
        yield (reached + one, date.max), True


def _failures_to_report(
    failures: Sequence[Failure], model: Model, summarised: Sequence[date]
) -> list[Failure]:
    """Leave out failed days before the first day with logs: the model did not run yet."""
    if not failures:
        return []
    with suppress(DataError):  # if the logs cannot be listed, the stored days are known still
        summarised = [*days_of(model, "predictions"), *summarised]
    begin = min(summarised, default=date.max)
    return [failure for failure in failures if failure.day >= begin]


@contextmanager
def compiled_meanwhile(*, needed: bool) -> Iterator[None]:
    """Let another process compile what evaluations call, if it is needed and on no disk.

    Both keep what they compile and take turns, so neither compiles what the other has. The other
    process ends with the block at the latest; where none can be started, this one compiles all. Of
    many runs that begin at the same moment one has such a process.
    """
    other = None
    if needed and cores() > 1 and compile_ahead.claim():
        with suppress(OSError):
            other = subprocess.Popen(  # noqa: S603 - this program
                [sys.executable, "-P", "-m", compile_ahead.__name__],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
    try:
        yield
    finally:
        if other:
            other.terminate()
            other.wait()
