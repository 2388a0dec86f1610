"""Days of logs become summaries: those of a batch in one query, or one day alone.

Rule: a day leaves a batch as it leaves `summarise_day`, or not at all. A day that needs a message,
an example or a second look is read alone. Each partition of outcomes is read once for all days of a
batch.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import date
from math import ceil

from monitor.base.errors import ConfigError, DataError
from monitor.config import Engine, Model
from monitor.days.summary import Summary
from monitor.logs.columns.canonical import read_ids
from monitor.logs.days.counts import read_counts
from monitor.logs.days.daily import DayRows, summarise
from monitor.logs.days.days import (
    Batch,
    batch_of,
    batches_of,
    holds_counts,
    is_counted_there,
)
from monitor.logs.days.in_warehouse import count_there
from monitor.logs.days.many_days import read_days
from monitor.logs.days.one_day import read_day
from monitor.logs.engines.databases import Databases, open_databases
from monitor.logs.engines.session import open_session

MOST_DAYS = 31
# A prediction takes about 200 bytes of the join, so this is a bit less than half of the memory.
ROWS_IN_MEMORY = 2000  # for each MB
# As many times the memory may go to the disk if that saves readings of outcomes.
SPILL = 20


def plan_batches(
    name: str, model: Model, days: Sequence[date], *, databases: Databases, jobs: int = 1
) -> list[Sequence[date]]:
    """Divide days into batches that fit the memory.

    If outcomes are awaited for many days, a batch has at least as many days, so that each partition
    of outcomes is read by two batches at most, and its join may go to the disk.

    Parameters
    ----------
    name, model : str, Model
        Name of the model, and its configuration.
    days : sequence of date
        Days of the predictions, in order.
    databases : Databases
        Threads and memory that each batch may use.
    jobs : int
        How many batches are read at a time.
    """
    if not days[1:] or _is_read_alone(model):
        return [[day] for day in days]
    awaited = model.settled_after
    morning = awaited + 1  # the day that settles and those after it
    most = min(max(MOST_DAYS, morning), ceil(len(days) / jobs))
    there = is_counted_there(model, databases.engine)
    if there or databases.spark is not None:  # rows take the memory and the disks of others
        return [days[i : i + most] for i in range(0, len(days), most)]
    rows = max(1, _rows_of(name, model, days[len(days) // 2], databases))
    room = databases.engine.memory_mb * ROWS_IN_MEMORY // rows
    length = room - awaited
    if length < morning:
        length = min(morning, SPILL * room - awaited)
    length = max(1, min(length, most))
    return [days[i : i + length] for i in range(0, len(days), length)]


def days_at_a_time(
    name: str, model: Model, days: Sequence[date], *, engine: Engine, jobs: int
) -> int:
    """Find how many days may be read at a time, at most `jobs`, for all of them to fit the memory.

    Days that wait for outcomes share the reading of them, so these are read one batch at a time.

    Parameters
    ----------
    name, model : str, Model
        Name of the model, and its configuration.
    days : sequence of date
        Days of the predictions, in order.
    engine : Engine
        The whole of threads and memory, which the jobs divide.
    jobs : int
        The most days at a time.
    """
    if model.settled_after or not days[1:]:
        return 1
    if jobs == 1 or engine.kind == "spark" or is_counted_there(model, engine):
        return jobs
    with open_databases(engine) as databases:
        rows = max(1, _rows_of(name, model, days[len(days) // 2], databases))
    return max(1, min(jobs, engine.memory_mb * ROWS_IN_MEMORY // rows))


def summarise_days(
    name: str, model: Model, days: Sequence[date], *, as_of: date, databases: Databases
) -> Iterator[tuple[date, Summary | DataError]]:
    """Read, check, join and tally a batch of days; a day that fails stops no other.

    Parameters
    ----------
    name, model, as_of
        As for `summarise_day`.
    days : sequence of date
        Days of the predictions, in order.
    databases : Databases
        Threads and memory to use.

    Yields
    ------
    tuple of (date, Summary or DataError)
        What `summarise_day` returns or raises for each day.
    """
    results = dict[date, Summary | DataError]()
    if days[1:] and not _is_read_alone(model):
        for batch in batches_of(name, model, days, as_of=as_of):
            results |= _read_together(batch, databases)
    for day in days:
        try:
            result = results.pop(day, None)
            yield day, result or summarise_day(name, model, day, as_of=as_of, engine=databases)
        except DataError as error:
            yield day, error


def summarise_day(
    name: str,
    model: Model,
    day: date,
    *,
    as_of: date,
    engine: Engine | Databases | None = None,
) -> Summary:
    """Read, check, join and tally one day.

    Parameters
    ----------
    name : str
        Name of the model.
    model : Model
        Its configuration.
    day : date
        Day of the predictions.
    as_of : date
        Outcome partitions of this day and later are not read.
    engine : Engine or Databases, optional
        Threads and memory to use; `Databases` where many days are read.

    Returns
    -------
    Summary
        The same bits for the same rows, whatever the order of files, the threads or the memory.

    Raises
    ------
    DataError
        If the logs are missing, unreadable, or break a check that is set to fail.
    """
    batch = batch_of(name, model, day, as_of=as_of)
    result = _read(batch, engine or Engine())[day]
    if isinstance(result, DataError):
        raise result
    return result


def _read_together(batch: Batch, databases: Databases) -> dict[date, Summary | DataError]:
    """Read days in one query; if it fails, in two, and so on down to single days."""
    if not batch.days[1:]:
        return {}
    try:
        return _read(batch, databases)
    except (ConfigError, DataError):
        first, second = (_read_together(half, databases) for half in batch.halves())
        return first | second


def _read(batch: Batch, engine: Engine | Databases) -> dict[date, Summary | DataError]:
    """Summarise the days of a batch, as far as `read_days` can read them together."""
    read = read_days if batch.days[1:] else read_day
    share = engine.engine if isinstance(engine, Databases) else engine
    results = dict[date, Summary | DataError]()
    with open_session(batch.what, engine) as session:
        if holds_counts(batch.model):
            batch, rows = read_counts(session, batch)
            rows_of_days = [rows]
        elif is_counted_there(batch.model, share):
            counted = dict(count_there(session, batch))
            rows_of_days = [rows for rows in counted.values() if isinstance(rows, DayRows)]
            results |= {d: wrong for d, wrong in counted.items() if isinstance(wrong, DataError)}
        else:
            rows_of_days = [*read(session, batch)]
    for rows in rows_of_days:
        try:
            results[rows.day] = summarise(batch, rows)
        except DataError as error:
            results[rows.day] = error
    return results


def _rows_of(name: str, model: Model, day: date, databases: Databases) -> int:
    """Count the predictions of a day, as Parquet stores it; 0 if they cannot be read."""
    with suppress(ConfigError, DataError), open_session(f"{name} {day}", databases) as session:
        return session.count(read_ids(session, model, [day], []))
    return 0


def _is_read_alone(model: Model) -> bool:
    """Return whether every day needs a query of its own.

    The weights of a day are found first, those of classes too; so are the values of columns.
    """
    weights = model.weight_column("predictions") or model.weight_column("outcomes")
    weighted = weights or model.predictions.classes
    return bool(model.outcomes.in_predictions or weighted or model.columns or model.action)
