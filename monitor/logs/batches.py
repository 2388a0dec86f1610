"""Many days in one query, so that each partition of outcomes is read once for all of them.

Rule: a day leaves this module as it leaves `summarise_day`, or not at all. A day that needs a
message, an example or a second look is left to `summarise_day`.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import date, timedelta
from itertools import groupby
from math import ceil

import narwhals as nw

from monitor.config import Engine, Model
from monitor.errors import ConfigError, DataError
from monitor.logs import contract
from monitor.logs.daily import (
    absent_is_negative,
    outcome_days,
    readable_days,
    summarise_day,
    summarise_groups,
)
from monitor.logs.databases import Databases, open_databases
from monitor.logs.joining import Groups, Status, repeated_ids, run, write
from monitor.logs.lateness import count_late, days_of_late, with_late
from monitor.logs.many_days import count_predictions, open_many_days
from monitor.logs.places import has_day, open_log
from monitor.logs.session import Session, open_session
from monitor.logs.sources import Logs
from monitor.summary import Summary, days_between

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
    name, model, databases
        As for `summarise_days`.
    days : sequence of date
        Days of the predictions, in order.
    jobs : int
        How many batches are read at a time.
    """
    if not days[1:] or _is_read_alone(model):
        return [[day] for day in days]
    awaited = model.settled_after
    morning = awaited + 1  # the day that settles and those after it
    most = min(max(MOST_DAYS, morning), ceil(len(days) / jobs))
    if databases.spark is not None:  # rows take the memory of the cluster, which has disks
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
    name, model, days, jobs
        As for `plan_batches`.
    engine : Engine
        The whole of threads and memory, which the jobs divide.
    """
    if model.settled_after or not days[1:]:
        return 1
    if jobs == 1 or engine.kind == "spark":
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
    found = _together(name, model, days, as_of=as_of, databases=databases)
    for day in days:
        try:
            summary = found.pop(day, None)
            yield (
                day,
                summary or summarise_day(name, model, day, as_of=as_of, engine=databases),
            )
        except DataError as error:
            yield day, error


def _rows_of(name: str, model: Model, day: date, databases: Databases) -> int:
    """Count the predictions of a day; 0 if they cannot be read."""
    with suppress(ConfigError, DataError), open_session(f"{name} {day}", databases) as session:
        return count_predictions(session, model, day)
    return 0


def _is_read_alone(model: Model) -> bool:
    """Return whether every day needs a query of its own.

    The weights of a day are found first, those of classes too; so are the values of columns.
    """
    weighted = model.predictions.weight or model.outcomes.weight or model.predictions.classes
    return bool(model.outcomes.in_predictions or weighted or model.columns)


def _together(
    name: str, model: Model, days: Sequence[date], *, as_of: date, databases: Databases
) -> dict[date, Summary]:
    """Summarise days in one query; if it fails, in two, and so on down to single days."""
    if not days[1:] or _is_read_alone(model):
        return {}
    partitions = dict[date, list[date]]()
    for day in days:
        with suppress(DataError):
            if has_day(model, "predictions", day):
                partitions[day] = outcome_days(f"{name} {day}", model, day, as_of=as_of)

    def is_negative(day: date) -> bool:
        return absent_is_negative(model, day, partitions[day], as_of=as_of)

    found = dict[date, Summary]()
    for negative, alike in groupby(partitions, key=is_negative):
        chosen = {day: partitions[day] for day in alike}
        try:
            found |= _read(name, model, chosen, as_of=as_of, databases=databases, negative=negative)
        except (ConfigError, DataError):
            middle = len(chosen) // 2
            for half in ([*chosen][:middle], [*chosen][middle:]):
                found |= _together(name, model, half, as_of=as_of, databases=databases)
    return found


def _read(
    name: str,
    model: Model,
    partitions: Mapping[date, Sequence[date]],
    *,
    as_of: date,
    databases: Databases,
    negative: bool,
) -> dict[date, Summary]:
    """Summarise days in one query, as far as nothing is wrong with them.

    Parameters
    ----------
    partitions : mapping of date to sequence of date
        The partitions of outcomes of each day.
    negative : bool
        Whether predictions without an outcome are negatives.
    """
    days = [*partitions]
    read = sorted({partition for each in partitions.values() for partition in each})
    part_count = len(model.segment_names) * len(model.stratum_names)
    with open_session(f"{name} {days[0]} to {days[-1]}", databases) as session:
        earlier = readable_days(session, model, _others(model, days))
        logs = open_many_days(session, model, days, earlier=earlier, outcome_days=read)
        first = min([*earlier, *days])
        places = (max([*days, *read]) - first).days + 1
        query = session.once(
            (logs, negative, places),
            lambda: write(logs, places * part_count, absent_is_negative=negative),
        )
        groups = run(query)
        counted, logged = _count_predictions(logs), _count_outcomes(logs)
        proven = _proven(logs, (counted, sum(logged.values())), groups, part_count)
        late = _late(session, model, partitions, groups, (first, part_count))
        lost = _left_out(session, model, (counted, logged), days, first) if read else {}
    summaries = dict[date, Summary]()
    for day, of_day in partitions.items():
        last = day + timedelta(days=model.settled_after)
        place = (day - first).days
        if place in proven and [*of_day] == [p for p in read if day <= p <= last]:
            own = groups.of_place(place, part_count)
            rejected = contract.count_violations(own, of_outcomes=day in of_day)
            rejected = with_late(rejected, late.get(day, 0))
            fails = any(getattr(model.checks, check) == "fail" for check in rejected)
            if own.met_rows and not fails:
                with suppress(DataError):
                    summaries[day] = summarise_groups(
                        *(name, model, day, own, of_day),
                        as_of=as_of,
                        rejected=rejected,
                        left_out=lost.get(day, {})
                        | contract.shares(own, rejected, logged=logged.get(place, 0)),
                    )
    return summaries


def _late(
    session: Session,
    model: Model,
    partitions: Mapping[date, Sequence[date]],
    groups: Groups,
    places: tuple[date, int],
) -> dict[date, int]:
    """Count the late outcomes of the days that have outcomes without a prediction."""
    first, part_count = places
    seen_on = [
        day
        for day, of_day in partitions.items()
        if day in of_day
        and groups.of_place((day - first).days, part_count).rows_with(Status.UNMATCHED_OUTCOME)
    ]
    scored_on = readable_days(session, model, days_of_late(model, seen_on))
    return count_late(session, model, scored_on, seen_on)


def _others(model: Model, days: Sequence[date]) -> list[date]:
    """List the other days whose predictions may get their outcome on one of these days."""
    reached = days_between(days[0] - timedelta(days=model.settled_after), days[-1])
    return [day for day in reached if day not in days]


def _count_predictions(logs: Logs) -> dict[tuple[int, int], int]:
    """Count the rows by the place of their day, and by whether they are chosen, 1 or 0."""
    counted = logs.predictions.group_by("day", "predicted").agg(nw.len().alias("rows"))
    return {(place, own): rows for place, own, rows in counted.collect("pyarrow").rows()}


def _count_outcomes(logs: Logs) -> dict[int, int]:
    """Count the rows by the place of the partition."""
    counted = logs.outcomes.group_by("partition").agg(nw.len().alias("rows"))
    return dict(counted.collect("pyarrow").rows())


def _left_out(
    session: Session,
    model: Model,
    rows: tuple[Mapping[tuple[int, int], int], Mapping[int, int]],
    days: Sequence[date],
    first: date,
) -> dict[date, dict[str, tuple[int, int]]]:
    """Count what `left_out_by_filters` counts, from the rows that were read already."""
    counted, logged = rows
    found: dict[date, dict[str, tuple[int, int]]] = {day: {} for day in days}
    for day, of_day in found.items():
        place = (day - first).days
        if model.predictions.where:
            left = counted.get((place, 0), 0)
            of_day["predictions.where"] = left, left + counted.get((place, 1), 0)
        if model.outcomes.where and has_day(model, "outcomes", day):
            of = open_log(session, model, "outcomes", [day]).count_rows()
            of_day["outcomes.where"] = of - logged.get(place, 0), of
    return found


def _proven(
    logs: Logs,
    rows: tuple[Mapping[tuple[int, int], int], int],
    groups: Groups,
    part_count: int,
) -> set[int]:
    """Find the days of which no prediction met two outcomes, and none shares its id.

    `rows` are those of the predictions, as `_count_predictions` counts them, and of the outcomes.
    """
    counted, outcomes = rows
    chosen = logs.predictions.filter(nw.col("predicted") == 1)
    proven = set[int]()
    for (place, is_chosen), number in counted.items():
        own = groups.of_place(place, part_count)
        if is_chosen and own.prediction_rows == number and not own.repeats.any():
            proven.add(place)
    if groups.outcome_rows > outcomes:  # an id is repeated, maybe only on different days
        twice = repeated_ids(chosen, "id", "day").select("day").unique().collect("pyarrow")
        proven.difference_update(place for (place,) in twice.rows())
    return proven
