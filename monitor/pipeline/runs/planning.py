"""What a run does with each day, decided before any log is read.

Rule: the plan that `backfill --dry-run` prints and the run itself ask the same function.
"""

from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import partial
from itertools import chain
from typing import Literal, get_args

from monitor.base.errors import ConfigError, DataError
from monitor.config import EARLIEST, Config, Engine, Model
from monitor.days.settling import Settling
from monitor.days.summary import Summary, days_between, end_of_day
from monitor.logs import (
    Databases,
    check_logs_exist,
    check_predictions_exist,
    days_at_a_time,
    has_day,
    open_databases,
    outcome_days,
    plan_batches,
)
from monitor.logs import summarise_days as read_days
from monitor.pipeline.days.neighbours import days_to_read_again, known_until, notes_of, repaired
from monitor.pipeline.days.progress import Failure, Pace, PhaseProgress, in_parallel
from monitor.pipeline.days.task import Task
from monitor.pipeline.days.unchanged import is_unchanged, log_fingerprint
from monitor.pipeline.housekeeping.healing import Damage, find_all_damage, find_damage
from monitor.pipeline.runs.evaluations import reach, stale_evaluations
from monitor.pipeline.verdicts.reading import reading_of
from monitor.pipeline.verdicts.references import read_references
from monitor.store.store import Store

ONE_DAY = timedelta(days=1)

# A day is summarised, or is left as it is: because nothing has changed, because the model has no
# log of that day and may have such days, or because it is final and would become provisional.
Left = Literal["unchanged", "quiet", "kept"]
Action = Literal["summarise", Left]
LeftOutByDay = dict[date, Mapping[str, tuple[int, int]]]
Result = Literal["summarised"] | Left | Failure  # what became of a day


@dataclass(frozen=True)
class Plan:
    """What a run would do.

    Attributes
    ----------
    model : str
        Its name.
    summarise, unchanged, quiet, kept : tuple of date
        The days by what would become of them; see `Action`. Besides those of the range they are
        days that an earlier run has left unfinished, or that rest on logs of the range.
    failures : tuple of Failure
        The days of the range whose logs are missing. Rows are not checked before a run reads them.
    still_missing : tuple of Failure
        The other such days; they do not make the run a failed one.
    evaluate : tuple of date
        The days that would be evaluated if no summary fails.
    perhaps : tuple of date
        Other days that are evaluated if a summary that is read again, or a reference, changes.
    """

    model: str
    summarise: tuple[date, ...]
    unchanged: tuple[date, ...]
    quiet: tuple[date, ...]
    kept: tuple[date, ...]
    failures: tuple[Failure, ...]
    still_missing: tuple[Failure, ...]
    evaluate: tuple[date, ...]
    perhaps: tuple[date, ...]


@dataclass(frozen=True)
class Work:
    """The days whose logs a run looks at, found before it reads any.

    Attributes
    ----------
    days : sequence of date
        Of the task, of a run that has not finished, and those with damaged files, rising.
    may_skip : frozenset of date
        Those that stay as they are if nothing has changed.
    wanted : date
        The first day of the task.
    first : date
        The first day whose evaluation or verdict may have to be made again.
    unfinished : tuple of (date, date or None) or None
        The first and last day of a run that has not finished.
    damage : Damage
        The damaged files of the store.
    """

    days: Sequence[date]
    may_skip: frozenset[date]
    wanted: date
    first: date
    unfinished: tuple[date, date | None] | None
    damage: Damage

    def goes_on(self, neighbours: Sequence[date]) -> bool:
        """Say whether evaluations after those that the task reaches may have to be made again."""
        return bool(self.damage.days or neighbours or self.unfinished)


def find_work(store: Store, model: Model, task: Task, damage: Damage) -> Work:
    """Find the days whose logs a run looks at.

    Parameters
    ----------
    store, model : Store, Model
        Of the task.
    task : Task
        What is asked for.
    damage : Damage
        What `damage_before` found, or more.

    Raises
    ------
    DataError
        If the store cannot be reached, or the logs cannot be listed.
    """
    name = task.model
    wanted = min([*task.catch_up, task.first])
    unfinished = store.unfinished(name)
    killed = unfinished[0] if unfinished else date.max
    oldest = min(store.days("summaries", name), default=wanted)
    left = set[date]()
    if unfinished and unfinished[1]:
        span = days_between(max(killed, EARLIEST), min(unfinished[1], task.as_of - ONE_DAY))
        left = {day for day in span if has_day(model, "predictions", day)}.difference(task.days)
    first = min(wanted, damage.first, max(killed, oldest), *left)
    may_skip = frozenset({*task.may_skip, *left}.difference(damage.of_logs))
    days = sorted({*task.catch_up, *left, *task.days, *damage.of_logs})
    return Work(days, may_skip, wanted, first, unfinished, damage)


def days_that_must_succeed(task: Task, damage: Damage) -> set[date]:
    """List the days that make a run a failed one if they fail."""
    return {*task.days, *(day for day in damage.of_logs if day >= task.first)}


def damage_before(store: Store, model: Model, task: Task) -> Damage:
    """Find the damaged files that a run looks for; one that was killed may have left any.

    Raises
    ------
    DataError
        If the store cannot be reached.
    """
    if store.unfinished(task.model):
        return find_all_damage(store, task.model)
    first = min((task.first, *task.catch_up))
    return find_damage(store, task.model, first, reach(model, task.last))


@dataclass(frozen=True)
class Rules:
    """How a run decides what becomes of a day.

    Attributes
    ----------
    store, name, model : Store, str, Model
        Of which model.
    as_of : date
        As for `Task`.
    may_skip : container of date
        Days that stay as they are if nothing has changed.
    recompute, must_settle : bool
        As for `Task`.
    """

    store: Store
    name: str
    model: Model
    as_of: date
    may_skip: Container[date] = ()
    recompute: bool = False
    must_settle: bool = False

    def action(self, day: date) -> Action:
        """Decide what becomes of a day.

        Raises
        ------
        DataError
            If there are no predictions, or a summary of the store cannot be read. If the day
            `must_settle`, or is final in the store, also if there are not all outcomes.
        """
        store, name, model, as_of = self.store, self.name, self.model, self.as_of
        if not model.may_lack(day):
            check_predictions_exist(name, model, day)
        elif not has_day(model, "predictions", day):
            return "quiet"
        if not self.recompute and _is_known_better(store, name, model, day, as_of):
            return "kept"
        if day in self.may_skip and is_unchanged(store, name, model, day, as_of):
            return "unchanged"
        if self.must_settle or _final(store, name, day):
            check_logs_exist(name, model, day, as_of=as_of)
        return "summarise"

    def outcome(self, day: date) -> Action | Failure:
        """Decide what becomes of a day, or why it fails before a row is read."""
        try:
            action = self.action(day)
            if action == "summarise":
                outcome_days(f"{self.name} {day}", self.model, day, as_of=self.as_of)
        except DataError as error:
            return failed(day, error)
        return action

    def again(self, until: date) -> "Rules":
        """Give those of days that are read again, until another day, because of others."""
        return replace(self, as_of=until, may_skip=(), must_settle=False)


def failed(day: date, error: DataError) -> Failure:
    """Say why a day fails; raise what no other day of a store could be read with either."""
    if error.newer:
        raise error
    return Failure(day, str(error), error.fault)


def plan(config: Config, task: Task) -> Plan:
    """Find what `run` would do with a task, without reading a row or writing anything.

    Raises
    ------
    ConfigError
        If a day is not over.
    DataError
        If a summary of the store cannot be read.
    """
    name, as_of = task.model, task.as_of
    model, store = config.model(name), Store(config.store)
    check_days(name, task.first, task.last, as_of=as_of)
    work = find_work(store, model, task, damage_before(store, model, task))
    may_skip = work.may_skip.intersection(store.days("summaries", name))
    rules = Rules(store, name, model, as_of, may_skip, task.recompute, task.must_settle)
    actions = {day: rules.outcome(day) for day in work.days}
    done = {
        day: log_fingerprint(name, model, day, as_of)
        for day, action in actions.items()
        if action == "summarise"
    }
    notes = notes_of(store, name, work.days)
    repairs = repaired(store, name, done, notes, work.unfinished)
    until = known_until(store, name, model, as_of, done=done)
    neighbours = days_to_read_again(store, name, model, repairs, done=done, as_of=until)
    actions |= {day: rules.again(until).outcome(day) for day in neighbours}
    by_action = {
        action: tuple(sorted(d for d, a in actions.items() if a == action))
        for action in get_args(Action)
    }
    evaluate, perhaps = _evaluations(config, task, work, done, neighbours)
    failures = [action for action in actions.values() if isinstance(action, Failure)]
    of_task = days_that_must_succeed(task, work.damage)
    return Plan(
        name,
        **by_action,
        failures=tuple(failure for failure in failures if failure.day in of_task),
        still_missing=tuple(failure for failure in failures if failure.day not in of_task),
        evaluate=evaluate,
        perhaps=perhaps,
    )


def _evaluations(
    config: Config, task: Task, work: Work, redone: Collection[date], neighbours: Sequence[date]
) -> tuple[tuple[date, ...], tuple[date, ...]]:
    """Find the days that are evaluated for sure, and those that depend on what is read."""
    name, model, store = task.model, config.model(task.model), Store(config.store)
    references = read_references(config, name)
    first, last = min([work.first, *neighbours]), reach(model, task.last)
    end = date.max if work.goes_on(neighbours) else last
    stored = store.days("summaries", name)
    days = sorted({*stored, *redone})
    in_reach = [day for day in days if first <= day <= end]

    def touched_by(some: Iterable[date]) -> set[date]:
        return {d for day in some for d in days_between(day, reach(model, day))}

    sure = touched_by(set(redone).difference(stored)).intersection(in_reach)
    if not work.may_skip.issuperset(work.days):
        sure |= {day for day in in_reach if work.wanted <= day <= last}
    read_again = touched_by([*redone, *neighbours]).intersection(days)
    others = [day for day in in_reach if day not in sure and day not in read_again]
    sure |= {*stale_evaluations(config, name, references, others)}
    moving = not references.fitted or any(day <= references.last for day in redone)
    later = [day for day in days if moving and redone and day > task.first]
    return tuple(sorted(sure)), tuple(sorted({*read_again, *later}.difference(sure)))


def _is_known_better(store: Store, name: str, model: Model, day: date, as_of: date) -> bool:
    """Return whether a final summary rests on outcomes that a run with this date may not read.

    A damaged one is not known better.
    """
    if Settling(model).is_over(day, as_of):
        return False
    until = end_of_day(as_of - ONE_DAY, model.time_zone)
    summary = _final(store, name, day)
    return summary is not None and summary.known_at > until


def _final(store: Store, name: str, day: date) -> Summary | None:
    """Read the summary of a day; None if there is no sound one, or it is provisional."""
    if day not in store.days("summaries", name):
        return None
    try:
        summary, _ = store.read_summary(name, day)
    except DataError as error:
        if not error.damaged:
            raise
        return None
    return summary if summary.final else None


def check_days(name: str, first: date, last: date, *, as_of: date) -> None:
    """Raise ConfigError for days whose logs cannot be complete.

    Raises
    ------
    ConfigError
        If the last day is not before `as_of`, or the first is before `EARLIEST`.
    """
    if first < EARLIEST:
        msg = f"{name}: no logs are as old as {first}; begin with {EARLIEST} or later."
        raise ConfigError(msg)
    if last >= as_of:
        msg = (
            f"{name}: as of {as_of} the logs of {last} are still to be written; the last "
            f"possible day is {as_of - timedelta(days=1)}; do later ones when they are over, or "
            f"pass a later --as-of."
        )
        raise ConfigError(msg)


def summarise_days(
    config: Config,
    days: Sequence[date],
    rules: Rules,
    *,
    pace: Pace,
    left_out: LeftOutByDay,
) -> dict[date, Result]:
    """Summarise days as rules decide, and keep what became of each.

    The rows that settings leave out of each day are added to `left_out`.
    """
    name, model, store, as_of = rules.name, rules.model, rules.store, rules.as_of
    reading = reading_of(model)

    def read(databases: Databases, batch: Sequence[date]) -> list[tuple[date, Result]]:
        results, inputs = dict[date, Result](), dict[date, str]()
        for day in batch:
            try:
                action = rules.action(day)
                if action == "summarise":  # a file that changes while it is read is read again
                    inputs[day] = log_fingerprint(name, model, day, as_of)
                else:
                    results[day] = action
            except DataError as error:
                results[day] = failed(day, error)
        for day, summary in read_days(name, model, [*inputs], as_of=as_of, databases=databases):
            if isinstance(summary, DataError):
                results[day] = failed(day, summary)
            else:
                store.write_summary(summary)
                store.write_inputs(name, day, inputs[day], reading)
                results[day], left_out[day] = "summarised", summary.left_out
        return [(day, results[day]) for day in batch]

    results = dict[date, Result]()
    jobs = days_at_a_time(name, model, days, engine=config.engine, jobs=pace.jobs)
    with open_databases(share(config.engine, jobs)) as databases:
        batches = plan_batches(name, model, days, databases=databases, jobs=jobs)
        done = in_parallel(partial(read, databases), batches, jobs)
        for day, result in chain.from_iterable(done):
            results[day] = result
            pace.on_progress(PhaseProgress("summarise", day, len(results), len(days)))
    return results


def share(engine: Engine, jobs: int) -> Engine:
    """Divide threads and memory among the batches that are read at a time."""
    threads, memory_mb = max(1, engine.threads // jobs), max(100, engine.memory_mb // jobs)
    return engine.model_copy(update={"threads": threads, "memory_mb": memory_mb})
