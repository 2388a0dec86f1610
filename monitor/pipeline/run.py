"""Dates in, store out: summarise the days, then evaluate every day they touch.

Rule 1: a run reaches forward. A window that ends up to its length later contains the day, so
redoing a day redoes every later day whose window holds it. Ten days in one call or in ten
calls therefore leave the same bytes.
Rule 2: this module translates configuration into plain arguments and decides nothing else.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import lru_cache, partial
from itertools import chain
from typing import Literal

from monitor.config import EARLIEST, Config, Engine, Model
from monitor.errors import ConfigError, DataError
from monitor.evaluation.attribution import attribute
from monitor.evaluation.evaluate import Settings, evaluate
from monitor.files import describe_files, list_days
from monitor.logs import Databases, open_databases, outcome_days, summarise_day
from monitor.metrics.core.coarse import coarsen
from monitor.pipeline.progress import Failure, Step, fingerprint, in_parallel
from monitor.pipeline.references import References, read_references
from monitor.pipeline.verdicts import judge_days
from monitor.store.store import Store
from monitor.summary import Summary, days_between

# The settings that a summary rests on; after a change of another one no log is read again.
READ_BY = {
    "predictions",
    "outcomes",
    "segments",
    "strata",
    "time_zone",
    "settled_after",
    "checks",
}


@dataclass(frozen=True)
class RunReport:
    """What a run did: days read, days left alone, days judged, and days that failed."""

    model: str
    summarised: tuple[date, ...]
    unchanged: tuple[date, ...]
    evaluated: tuple[date, ...]
    failures: tuple[Failure, ...]


def run(
    config: Config,
    name: str,
    first: date,
    last: date,
    *,
    as_of: date,
    clock: Callable[[], datetime],
    skip_unchanged: bool = False,
    jobs: int = 1,
    on_step: Callable[[Step], None] = lambda _: None,
) -> RunReport:
    """Summarise the days of a range and evaluate every day they touch.

    Parameters
    ----------
    config : Config
        The whole configuration.
    name : str
        Name of the model.
    first, last : date
        The days of predictions, both included.
    as_of : date
        Outcome partitions of this day and later are not read: they are still being written.
    clock : callable
        Tells the time, for the run record only.
    skip_unchanged : bool
        Leave out days whose files, configuration and program are those of their last run.
    jobs : int
        Days done at a time, which share the engine's threads and memory. It never changes the
        result.
    on_step : callable
        Told after every day of every phase.

    Returns
    -------
    RunReport
        Days that failed are named in it; the other days are done all the same.

    Raises
    ------
    ConfigError
        If the model is unknown, the store cannot be opened, or a day is not over.
    """
    started = clock()
    model, store = config.model(name), Store(config.store)
    check_days(name, first, last, as_of=as_of)
    summarised = store.days("summaries", name)
    store.note_stale(name, first)
    stored = set(summarised if skip_unchanged else ())

    def read(databases: Databases, day: date) -> Literal["summarised", "unchanged"] | Failure:
        try:
            if day in stored and _is_unchanged(store, name, model, day, as_of):
                return "unchanged"
            summarise(config, name, day, as_of=as_of, engine=databases)
        except DataError as error:
            return Failure(day, str(error))
        return "summarised"

    days = days_between(first, last)
    outcomes = []
    with open_databases(share(config.engine, jobs)) as databases:
        for done, outcome in enumerate(in_parallel(partial(read, databases), days, jobs), 1):
            outcomes.append(outcome)
            on_step(Step("summarise", days[done - 1], done, len(days)))
    references = read_references(config, name)
    do_days = partial(evaluate_days, config, name, references, jobs=jobs, on_step=on_step)
    reached = reach(model, last)
    evaluated = do_days(first, reached, skip_unchanged=skip_unchanged)
    if first <= references.last:  # every later day is compared with them
        evaluated += do_days(reached + timedelta(days=1), date.max, skip_unchanged=True)
    failures = tuple(outcome for outcome in outcomes if isinstance(outcome, Failure))
    judge_days(
        config,
        name,
        references,
        first,
        failures=_failures_to_report(failures, model, summarised),
        as_of=as_of,
        jobs=jobs,
        on_step=on_step,
    )
    store.write_run(name, started=started, finished=clock(), failed=bool(failures))
    became = list(zip(days, outcomes, strict=True))
    return RunReport(
        model=name,
        summarised=tuple(day for day, outcome in became if outcome == "summarised"),
        unchanged=tuple(day for day, outcome in became if outcome == "unchanged"),
        evaluated=tuple(evaluated),
        failures=failures,
    )


def check_days(name: str, first: date, last: date, *, as_of: date) -> None:
    """Refuse days whose logs cannot be whole, so that nothing is said of them.

    Raises
    ------
    ConfigError
        If the last day is not before `as_of`, or the first before all logs of this world.
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


def summarise(
    config: Config,
    name: str,
    day: date,
    *,
    as_of: date,
    engine: Engine | Databases | None = None,
) -> None:
    """Read the logs of one day and replace its summary.

    Raises
    ------
    DataError
        If the logs are missing or break the contract; the store is as before.
    """
    model, store = config.model(name), Store(config.store)
    inputs = _log_fingerprint(name, model, day, as_of)
    engine = engine or config.engine
    store.write_summary(summarise_day(name, model, day, as_of=as_of, engine=engine))
    store.write_inputs(name, day, inputs)


def evaluate_days(
    config: Config,
    name: str,
    references: References,
    first: date,
    last: date,
    *,
    skip_unchanged: bool = False,
    jobs: int = 1,
    on_step: Callable[[Step], None] = lambda _: None,
) -> list[date]:
    """Evaluate every summarised day of a range from stored summaries.

    Parameters
    ----------
    references : References
        What `read_references` found, after the summaries were written.
    config, name, first, last, skip_unchanged, jobs, on_step
        As for `run`.

    Returns
    -------
    list of date
        The days whose evaluations were written.
    """
    model, store = config.model(name), Store(config.store)
    stored = store.days("summaries", name)
    days = [day for day in stored if first <= day <= last]
    remembered = 2 * model.windows[-1] + jobs
    recall = lru_cache(remembered)(lambda day: store.read_summary(name, day))
    # A day comes back in every window that holds it, and is explained once.
    in_segments = lru_cache(remembered * len(model.segment_names))
    explain, compress = in_segments(attribute), in_segments(coarsen)

    def evaluate_day(day: date) -> bool:
        window = [d for d in stored if reach_back(day, model.windows[-1]) <= d <= day]
        parts = [recall(d) for d in window]
        settings = Settings(
            alpha=model.alpha,
            null_replicates=model.null_replicates,
            tce_size=references.tce_size(day),
        )
        marks = [mark for _, mark in parts]
        if not parts[-1][0].final:  # what is expected of it rests on the reference too
            marks += chain.from_iterable(references.marks)
        inputs = fingerprint([model.windows, repr(settings), *marks])
        if skip_unchanged and inputs == store.evaluation_inputs(name, day):
            return False
        evaluations = [
            evaluation
            for length in model.windows
            for evaluation in evaluate(
                _window([s for s, _ in parts], day, length),
                window_days=length,
                settings=settings,
                explain=explain,
                compress=compress,
                expect=partial(references.expect, day) if length == 1 else None,
            )
        ]
        store.write_evaluations(name, day, evaluations, inputs=inputs)
        return True

    written = []
    for done, wrote in enumerate(in_parallel(evaluate_day, days, jobs), 1):
        day = days[done - 1]
        if wrote:
            written.append(day)
        on_step(Step("evaluate", day, done, len(days)))
    return written


def share(engine: Engine, jobs: int) -> Engine:
    """Divide the machine among so many days read at a time."""
    return Engine(
        threads=max(1, engine.threads // jobs), memory_mb=max(100, engine.memory_mb // jobs)
    )


def reach(model: Model, day: date) -> date:
    """Find the last day that has `day` in its longest window."""
    return day + timedelta(days=model.windows[-1] - 1)


def reach_back(day: date, window_days: int) -> date:
    """Find the first day of the window of `window_days` that ends at `day`."""
    return day - timedelta(days=window_days - 1)


def _failures_to_report(
    failures: Sequence[Failure], model: Model, summarised: Sequence[date]
) -> list[Failure]:
    """Leave out failed days before the first day with logs: the model did not run yet."""
    if not failures:
        return []
    with suppress(DataError):  # if the logs cannot be listed, the stored days are known still
        summarised = [*list_days(model.predictions.path), *summarised]
    begin = min(summarised, default=date.max)
    return [failure for failure in failures if failure.day >= begin]


def _window(summaries: Sequence[Summary], day: date, window_days: int) -> list[Summary]:
    first = reach_back(day, window_days)
    return [s for s in summaries if first <= s.days[0]]


def _is_unchanged(store: Store, name: str, model: Model, day: date, as_of: date) -> bool:
    return store.read_inputs(name, day) == _log_fingerprint(name, model, day, as_of)


def _log_fingerprint(name: str, model: Model, day: date, as_of: date) -> str:
    """Identify all that a summary rests on: files by name, size and age, and how they are read."""
    partitions = outcome_days(f"{name} {day}", model, day, as_of=as_of)
    asked = days_between(day - timedelta(days=model.settled_after), day)
    return fingerprint(
        [
            [describe_files(model.predictions.path, d) for d in asked],
            [describe_files(model.outcomes.path, d) for d in partitions],
            model.model_dump_json(include=READ_BY),
        ]
    )
