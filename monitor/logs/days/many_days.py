"""Many days in one query, each row with its day, so that every partition of outcomes is read once.

Rule: only days with which nothing is wrong are counted here. What needs an example or a second look
is left to `one_day`.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from typing import Any

from monitor.base.errors import DataError
from monitor.config import Model
from monitor.days.settling import Settling
from monitor.logs.checks.checks import Groups, Status
from monitor.logs.columns.canonical import Logs, prepare, read_ids, read_rows, tag, union
from monitor.logs.columns.canonical import Rows as BothRows
from monitor.logs.days.daily import DayRows
from monitor.logs.days.days import Batch, readable_days
from monitor.logs.engines.session import Session
from monitor.logs.engines.steps import added
from monitor.logs.sources.source import has_day, open_log
from monitor.logs.statement import contract
from monitor.logs.statement.ages import LATE, outcomes_seen
from monitor.logs.statement.statement import run, write
from monitor.logs.statement.unlisted import has_others, unlisted_of_days

Rows = Any  # a relation of DuckDB or a frame of Spark


def read_days(session: Session, batch: Batch) -> Iterator[DayRows]:
    """Count the rows of days, as far as nothing is wrong with them."""
    model, days, partitions = batch.model, batch.days, batch.outcome_days
    earlier = readable_days(session, model, _others(model, days), partitions[:1])
    logs = _open(session, batch, earlier)
    first = min([*earlier, *days])
    part_count = ((max([*days, *partitions]) - first).days + 1) * batch.part_count
    query = write(logs, part_count, absent_is_negative=batch.negative)
    groups = run(query)
    of_days = {day: groups.of_place((day - first).days, batch.part_count) for day in days}
    scored, logged = _count_predictions(logs), _count_outcomes(logs)
    # An id is repeated, maybe only on different days.
    twice = _places_of_repeats(logs) if groups.outcome_rows > sum(logged.values()) else set()
    late = _count_late(session, batch, of_days)
    with_others = [(d - first).days for d, own in of_days.items() if has_others(own, model)]
    rows_of = {place: scored.get((place, 1), 0) for place in with_others}
    unlisted = unlisted_of_days(logs, model, rows_of)
    for day, own in of_days.items():
        place = (day - first).days
        rows = scored.get((place, 1), 0), logged.get(place, 0)
        unique = place not in twice and own.prediction_rows == rows[0] and not own.repeats.any()
        if not (unique and own.met_rows and _has_read_its_own(batch, day)):
            continue
        violations = contract.row_violations(own, query, model)
        if day in batch.partitions[day]:
            violations += _of_outcomes(model, own, rows[1], late.get(day, 0))
        if not any(contract.fails(violation, model.checks) for violation in violations):
            left = scored.get((place, 0), 0)
            filtered = _left_out(session, model, day, left, *rows)
            values = unlisted.get(place, ())
            yield DayRows(day, own, violations, filtered, unlisted=values)


def _of_outcomes(model: Model, own: Groups, logged: int, late: int) -> list[contract.Violation]:
    """List what is wrong with the outcomes of a day's own partition, which has `logged` rows."""
    return contract.outcome_violations(
        model,
        of=logged,
        missing=own.rows_with(Status.OUTCOME_ID_MISSING),
        orphans=own.rows_with(Status.UNMATCHED_OUTCOME) - late,
        late=late,
    )


def _has_read_its_own(batch: Batch, day: date) -> bool:
    """Return whether a day has the partitions that the query takes for its own."""
    settling = Settling(batch.model)
    return [*batch.partitions[day]] == [p for p in batch.outcome_days if settling.is_due(day, p)]


def _others(model: Model, days: Sequence[date]) -> list[date]:
    """List the other days whose predictions may get their outcome on one of these days."""
    reached = Settling(model).read_by(days[0], days[-1])
    return [day for day in reached if day not in days]


def _count_late(session: Session, batch: Batch, groups: Mapping[date, Groups]) -> dict[date, int]:
    """Count the late outcomes of the days that have outcomes without a prediction."""
    seen_on = [
        day
        for day, own in groups.items()
        if day in batch.partitions[day] and own.rows_with(Status.UNMATCHED_OUTCOME)
    ]
    if not seen_on:
        return {}
    settling = Settling(batch.model)
    counting = sorted({day for seen in seen_on for day in settling.counting(seen)})
    scored_on = readable_days(session, batch.model, counting, seen_on[:1])
    seen = outcomes_seen(session, batch.model, scored_on, seen_on)
    return {day: seen.of(day, LATE) for day in seen_on}


def _count_predictions(logs: Logs) -> dict[tuple[int, int], int]:
    """Count the rows by the place of their day, and by whether they are chosen, 1 or 0."""
    counted = "SELECT day, predicted, count(*) AS rows FROM predictions GROUP BY day, predicted"
    rows_of = logs.fetch_rows(counted, whole=added("day", "predicted"))
    return {(place, own): rows for place, own, rows in rows_of}


def _count_outcomes(logs: Logs) -> dict[int, int]:
    """Count the rows by the place of the partition."""
    counted = "SELECT partition, count(*) AS rows FROM outcomes GROUP BY partition"
    return dict(logs.fetch_rows(counted, whole=added("partition")))


def _places_of_repeats(logs: Logs) -> set[int]:
    """Find the places of the days that have an id twice."""
    twice = (
        "SELECT day, id FROM predictions WHERE predicted = 1 AND id IS NOT NULL "
        "GROUP BY day, id HAVING count(*) > 1"
    )
    return {place for (place,) in logs.fetch_rows(f"SELECT DISTINCT day FROM ({twice})")}


def _left_out(
    session: Session, model: Model, day: date, left: int, chosen: int, logged: int
) -> dict[str, tuple[int, int]]:
    """Count what `left_out_by` counts, from the rows that were read already.

    Parameters
    ----------
    left, chosen : int
        The predictions of the day that the filter leaves out, and the others.
    logged : int
        The outcomes of the day's own partition that their filter chooses.
    """
    filtered = {"predictions.where": (left, left + chosen)} if model.predictions.where else {}
    if model.outcomes.where and has_day(model, "outcomes", day):
        of = open_log(session, model, "outcomes", [day]).count_rows()
        filtered["outcomes.where"] = of - logged, of
    return filtered


def _open(session: Session, batch: Batch, earlier: Sequence[date]) -> Logs:
    """Open the predictions and the outcomes of a batch.

    Parameters
    ----------
    session, batch
        As for `read_days`.
    earlier : sequence of date
        Other days whose predictions may have their outcome in one of the partitions. Only the ids
        are read of them, and of rows of the batch that the filter leaves out.

    Raises
    ------
    DataError
        If a day cannot be read, or the columns of the days have different types.
    """
    model, days, part_count = batch.model, batch.days, batch.part_count
    first = min([*earlier, *days])
    scored, observed, columns = _read_all(session, model, days, batch.outcome_days)
    _must_be_alike(session, scored.values())
    _must_be_alike(session, observed.values())
    of_day = [tag(rows, day=(day - first).days, own=1) for day, rows in scored.items()]
    if batch.outcome_days:
        ids = _other_ids(session, model, days, earlier, batch.outcome_days)
        _must_be_alike(session, [*(rows.project("id") for rows in scored.values()), *ids.values()])
        like = scored[days[0]]
        of_day += [
            tag(_with_nulls(rows, like), day=(day - first).days, own=0) for day, rows in ids.items()
        ]
    outcomes = [
        tag(rows, partition=(day - first).days, own_part=(day - first).days * part_count)
        for day, rows in observed.items()
    ]
    rows = BothRows(union(of_day), union(outcomes), columns)
    return prepare(session, rows, model, of_days=True)


def _read_all(
    session: Session, model: Model, days: Sequence[date], outcome_days: Sequence[date]
) -> tuple[dict[date, Rows], dict[date, Rows], frozenset[str]]:
    """Read each day of both logs once; the checks of `open_logs` compare the two logs."""
    scored, observed = dict[date, Rows](), dict[date, Rows]()
    for day in sorted({*days, *outcome_days}):
        of_predictions = day if day in days else days[-1]
        rows = read_rows(session, model, of_predictions, [day] if day in outcome_days else [])
        scored.setdefault(of_predictions, rows.predictions)
        if day in outcome_days or not outcome_days:
            observed[day] = rows.outcomes
    return scored, observed, rows.columns


def _other_ids(
    session: Session,
    model: Model,
    days: Sequence[date],
    earlier: Sequence[date],
    outcome_days: Sequence[date],
) -> dict[date, Rows]:
    """Read the ids of predictions that are in the log, but not among the chosen rows."""
    ids = {day: read_ids(session, model, [day], outcome_days[:1]) for day in earlier}
    if row_filter := model.predictions.where:
        left_out = f"({row_filter}) IS NOT TRUE"
        for day in days:
            ids[day] = read_ids(session, model, [day], outcome_days[:1], scored_filter=left_out)
    return ids


def _must_be_alike(session: Session, logs: Iterable[Rows]) -> None:
    """Raise DataError for days whose union would change the type of a column."""
    if len({_columns(rows) for rows in logs}) > 1:
        msg = (
            f"{session.what}: the columns of these days have different types; write them alike, "
            f"then run again."
        )
        raise DataError(msg)


def _columns(rows: Rows) -> tuple[str, ...]:
    return (*rows.columns, *map(str, rows.types))


def _with_nulls(ids: Rows, like: Rows) -> Rows:
    """Add the columns of the other relation, empty."""
    values = (
        name if name == "id" else f"CAST(NULL AS {type_}) AS {name}"
        for name, type_ in zip(like.columns, like.types, strict=True)
    )
    return ids.project(", ".join(values))
