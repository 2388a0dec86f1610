"""The summaries of many days: decide for each day, read the logs of several at a time, store."""

from collections.abc import Callable, Mapping, Sequence
from datetime import date
from functools import partial
from itertools import chain
from typing import Literal

from monitor.base.errors import DataError
from monitor.config import Config, Engine
from monitor.logs import (
    Databases,
    days_at_a_time,
    open_databases,
    plan_batches,
)
from monitor.logs import summarise_days as read_days
from monitor.pipeline.days.progress import Failure, PhaseProgress, in_parallel
from monitor.pipeline.days.unchanged import log_fingerprint
from monitor.pipeline.runs.planning import Rules, failed
from monitor.pipeline.verdicts.reading import reading_of

Left = Literal["unchanged", "quiet", "kept"]
LeftOutByDay = dict[date, Mapping[str, tuple[int, int]]]
Result = Literal["summarised"] | Left | Failure  # what became of a day


def summarise_days(
    config: Config,
    days: Sequence[date],
    rules: Rules,
    *,
    jobs: int,
    on_progress: Callable[[PhaseProgress], None],
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
    jobs = days_at_a_time(name, model, days, engine=config.engine, jobs=jobs)
    with open_databases(share(config.engine, jobs)) as databases:
        batches = plan_batches(name, model, days, databases=databases, jobs=jobs)
        done = in_parallel(partial(read, databases), batches, jobs)
        for day, result in chain.from_iterable(done):
            results[day] = result
            on_progress(PhaseProgress("summarise", day, len(results), len(days)))
    return results


def share(engine: Engine, jobs: int) -> Engine:
    """Divide threads and memory among the batches that are read at a time."""
    threads, memory_mb = max(1, engine.threads // jobs), max(100, engine.memory_mb // jobs)
    return engine.model_copy(update={"threads": threads, "memory_mb": memory_mb})
