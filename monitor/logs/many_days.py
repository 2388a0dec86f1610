"""Both logs of many days as two lazy frames, each row with its day."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import date
from functools import reduce
from typing import Any

import duckdb
import narwhals as nw

from monitor.config import Model
from monitor.errors import DataError
from monitor.logs.session import Session
from monitor.logs.sources import Logs, prepare, read_ids, read_rows, settings_of_rows
from monitor.logs.spark_days import tag, union

Rows = Any  # a relation of DuckDB or a frame of Spark


def count_predictions(session: Session, model: Model, day: date) -> int:
    """Count the rows of a day, which Parquet stores in its metadata."""
    predictions, _ = read_ids(session, model, [day], [])
    return session.count(predictions)


def open_many_days(
    session: Session,
    model: Model,
    days: Sequence[date],
    *,
    earlier: Sequence[date],
    outcome_days: Sequence[date],
) -> Logs:
    """Open the predictions of some days and the outcomes of some days.

    Parameters
    ----------
    session, model
        As for `open_logs`.
    days : sequence of date
        Days of the predictions.
    earlier : sequence of date
        Other days whose predictions may have their outcome in one of the partitions. Only the ids
        are read of them, and of rows of `days` that the filter leaves out.
    outcome_days : sequence of date
        Partitions of outcomes.

    Raises
    ------
    DataError
        If a day cannot be read, or the columns of the days have different types.
    """
    first = min([*earlier, *days])
    scored, observed, timed = _read_all(session, model, days, outcome_days)
    _must_be_alike(session, scored.values())
    _must_be_alike(session, observed.values())
    of_day = [_tag(rows, day=(day - first).days, own=1) for day, rows in scored.items()]
    if outcome_days:
        known = _known_ids(session, model, days, earlier, outcome_days)
        _must_be_alike(session, [*(rows.select("id") for rows in scored.values()), *known.values()])
        like = scored[days[0]]
        of_day += [
            _tag(_with_nulls(rows, like), day=(day - first).days, own=0)
            for day, rows in known.items()
        ]
    part_count = len(model.segment_names) * len(model.stratum_names)
    outcomes = [
        _tag(rows, partition=(day - first).days, own_part=(day - first).days * part_count)
        for day, rows in observed.items()
    ]
    views = (
        session.show("predictions of days", _union(of_day)),
        session.show("outcomes of days", _union(outcomes)),
    )

    def write() -> Logs:
        logs = prepare(session.frame(views[0]), session.frame(views[1]), model, timed=timed)
        numbered = logs.predictions.with_columns(
            predicted=nw.col("own"), part=nw.col("day") * part_count + nw.col("part")
        )
        return replace(logs, predictions=numbered, horizon=model.settled_after)

    return session.once((*views, *settings_of_rows(model), model.settled_after), write)


def _read_all(
    session: Session, model: Model, days: Sequence[date], outcome_days: Sequence[date]
) -> tuple[dict[date, Rows], dict[date, Rows], bool]:
    """Read each day of both logs once; the checks of `open_logs` compare the two logs."""
    scored, observed = dict[date, Rows](), dict[date, Rows]()
    for day in sorted({*days, *outcome_days}):
        of_predictions = day if day in days else days[-1]
        rows = read_rows(session, model, of_predictions, [day] if day in outcome_days else [])
        scored.setdefault(of_predictions, rows.predictions)
        if day in outcome_days or not outcome_days:
            observed[day] = rows.outcomes
    return scored, observed, rows.timed


def _known_ids(
    session: Session,
    model: Model,
    days: Sequence[date],
    earlier: Sequence[date],
    outcome_days: Sequence[date],
) -> dict[date, Rows]:
    """Read the ids of predictions that are in the log, but not among the chosen rows."""
    known = {day: read_ids(session, model, [day], outcome_days[:1])[0] for day in earlier}
    if where := model.predictions.where:
        left_out = f"({where}) IS NOT TRUE"
        for day in days:
            known[day], _ = read_ids(session, model, [day], outcome_days[:1], scored_where=left_out)
    return known


def _must_be_alike(session: Session, logs: Iterable[Rows]) -> None:
    """Raise DataError for days whose union would change the type of a column."""
    if len({_columns(rows) for rows in logs}) > 1:
        msg = f"{session.what}: the columns of these days have different types."
        raise DataError(msg)


def _columns(rows: Rows) -> tuple[Any, ...]:
    if not isinstance(rows, duckdb.DuckDBPyRelation):
        return tuple(rows.dtypes)
    return (*rows.columns, *map(str, rows.types))


def _tag(rows: Rows, **numbers: int) -> Rows:
    """Add columns of whole numbers that are the same in every row."""
    if not isinstance(rows, duckdb.DuckDBPyRelation):
        return tag(rows, **numbers)
    # The join stores some of them beside every outcome, so they are no larger than they must be.
    columns = (
        duckdb.ConstantExpression(number).cast("INTEGER").alias(name)
        for name, number in numbers.items()
    )
    return rows.select(duckdb.StarExpression(), *columns)


def _with_nulls(ids: Rows, like: Rows) -> Rows:
    """Add the columns of the other relation, empty; Spark does so as it puts rows together."""
    if not isinstance(ids, duckdb.DuckDBPyRelation):
        return ids
    return ids.select(
        *(
            duckdb.ColumnExpression(name)
            if name == "id"
            else duckdb.ConstantExpression(None).cast(found).alias(name)
            for name, found in zip(like.columns, like.types, strict=True)
        )
    )


def _union(logs: Sequence[Rows]) -> Rows:
    if not isinstance(logs[0], duckdb.DuckDBPyRelation):
        return union(logs)
    return reduce(duckdb.DuckDBPyRelation.union, logs)
