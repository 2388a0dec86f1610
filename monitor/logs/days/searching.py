"""Counts of further columns of the logs, for rows that meet conditions, on request."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import Any

import numpy as np
import pyarrow as pa

from monitor.base.errors import DataError
from monitor.base.segment_names import OTHER
from monitor.base.sql_text import text_in_sql
from monitor.config import FIELD, Engine, Model, WatchedColumn
from monitor.days.settling import Settling
from monitor.days.summary import CodedRows, Columns
from monitor.logs.columns.column_labels import range_names
from monitor.logs.days.batches import summarise_day
from monitor.logs.days.counts import must_have_rows
from monitor.logs.days.days import batch_of
from monitor.logs.days.one_day import read_coded_rows
from monitor.logs.engines.conversions import columns_in, quoted
from monitor.logs.engines.databases import Databases
from monitor.logs.engines.session import open_session
from monitor.logs.engines.steps import SCORED
from monitor.logs.sources.opening import OpenLog, raise_all
from monitor.logs.sources.partitions import open_log
from monitor.metrics.core.grid import Floats, Ints

MOST_VALUES = 20
PARTS = 4  # of a column of floating-point numbers
RANGES = 8  # of a column of numbers, in a search of parts
LEAST_SHARE, LONGEST_VALUE = 1_000, 200  # a value has at least one row in so many
ROLES = ("id", "score", "time", "day", "weight", "entity", "outcome")
# Rows that meet a condition are fewer than those of the day, whose rows keep their own checks.
ACCEPT = dict.fromkeys(("empty_day", "no_outcomes", "one_class", "missing_day"), "accept")


def columns_to_search(
    name: str, model: Model, columns: Sequence[str], day: date, engine: Engine | Databases
) -> list[WatchedColumn]:
    """Decide how each column is divided: numbers at quartiles of a day, others by their values.

    Raises
    ------
    DataError
        If the log of the day does not have a column, or no number in a column of numbers.
    """
    must_have_rows(name, model, "a search")
    watched = []
    with open_session(f"{name} {day}", engine) as session:
        log = open_log(session, model, "predictions", [day])
        for column in columns:
            log.check(column, "--columns", lambda _: True, "of any type")
        raise_all(log)
        for column in columns:
            if not log.type_of(column).is_real:
                watched.append(WatchedColumn(column=column, top=MOST_VALUES))
                continue
            rows = session.fetch(f"SELECT * FROM {SCORED}", log.read(None, value=column))
            edges = _quartiles(rows["value"])
            if not edges:
                msg = (
                    f"{name} {day}: column '{column}' of the predictions has no number on that "
                    f"day; leave it out of --columns."
                )
                raise DataError(msg)
            watched.append(WatchedColumn(column=column, edges=edges))
    return watched


def _quartiles(values: Any) -> tuple[float, ...]:
    """Find where the numbers of a column are cut; nowhere if there are none."""
    numbers = values.drop_null().to_numpy().astype(float)
    numbers = numbers[np.isfinite(numbers)]
    if not numbers.size:
        return ()
    return tuple(np.unique(np.quantile(numbers, np.arange(1, PARTS) / PARTS)).tolist())


def condition_sql(watched: WatchedColumn, value: str) -> str:
    """Write the condition that a row has a value, as a filter.

    Examples
    --------
    >>> print(condition_sql(WatchedColumn(column="device", top=20), "tv's"))
    CAST("device" AS VARCHAR) = 'tv''s'
    >>> print(condition_sql(WatchedColumn(column="age", edges=(18, 40)), "18 to 40"))
    "age" >= 18.0 AND "age" < 40.0
    """
    column = quoted(watched.column)
    if watched.edges is None:
        return f"CAST({column} AS VARCHAR) = {text_in_sql(value)}"
    place = list(range_names(watched.edges)).index(value)
    low, high = (None, *watched.edges)[place], (*watched.edges, None)[place]
    above = [] if low is None else [f"{column} >= {low!r}"]
    below = [] if high is None else [f"{column} < {high!r}"]
    return " AND ".join([*above, *below])


def count_search(
    name: str,
    model: Model,
    day: date,
    columns: Sequence[WatchedColumn],
    conditions: Mapping[str, str],
    engine: Engine | Databases,
) -> Columns:
    """Count the rows of a settled day that meet conditions, by the values of columns.

    Parameters
    ----------
    name, model, day, engine
        As for `summarise_day`.
    columns : sequence of WatchedColumn
        The columns to count.
    conditions : mapping of str to str
        Conditions in SQL, by any name.

    Raises
    ------
    DataError
        If the day cannot be read.
    """
    asked = _asked(model, columns, conditions.values())
    as_of = Settling(model).settles(day)
    return summarise_day(name, asked, day, as_of=as_of, engine=engine).columns


def parts_to_search(
    name: str, model: Model, columns: Sequence[str], days: Sequence[date], databases: Databases
) -> list[WatchedColumn]:
    """Decide how columns are divided for a search of parts; those with one value are left out.

    Texts have their most frequent values, numbers their quantiles, of some days together.

    Parameters
    ----------
    name, model, databases
        As for `summarise_day`.
    columns : sequence of str
        The columns; if there are none, every column of the predictions that has no role yet and
        can be divided.
    days : sequence of date
        The days.

    Raises
    ------
    DataError
        If the log of a day does not have a column.
    """
    watched = list[WatchedColumn]()
    must_have_rows(name, model, "a search")
    with open_session(f"{name} {days[0]}", databases) as session:
        log = open_log(session, model, "predictions", days)
        for column in columns:
            log.check(column, "--columns", lambda _: True, "of any type")
        raise_all(log)
        for column in columns or _free_columns(log, model):
            table = session.fetch(
                f"SELECT value, count(*) AS rows FROM {SCORED} GROUP BY value",
                log.read(None, value=column),
            )
            numbers = log.type_of(column).is_number
            divided = _divided(column, table["value"], table["rows"].to_numpy(), numbers=numbers)
            if divided:
                watched.append(divided)
    return watched


def read_part_rows(
    name: str, model: Model, day: date, columns: Sequence[WatchedColumn], databases: Databases
) -> CodedRows:
    """Read the rows of a settled day that have an outcome, with their codes in some columns.

    Raises
    ------
    DataError
        If the day cannot be read.
    """
    as_of = Settling(model).settles(day)
    batch = batch_of(name, _asked(model, columns), day, as_of=as_of)
    return read_coded_rows(batch, databases)


def _free_columns(log: OpenLog, model: Model) -> list[str]:
    """List the columns of a log that have no role in the configuration, and can be divided."""
    given = [*model.predictions.model_dump().items(), *model.outcomes.model_dump().items()]
    roles = {
        column
        for role, value in given
        if role in ROLES and value
        for entry in ([value] if isinstance(value, str) else value)
        for column in columns_in(entry)
    }
    rated = model.weight_column("predictions")
    beside = [model.action, rated[0] if rated else None]
    roles |= {column for entry in beside if entry for column in columns_in(entry)}
    types = next(iter(log.files.values()))
    return [
        column
        for column, of in types.items()
        if column not in roles
        and not (of.in_path or FIELD in column or of.is_nested or of.is_temporal)
        and of.name != "BLOB"
        and column.isprintable()
        and all(column in others for others in log.files.values())
    ]


def _divided(column: str, values: Any, rows: Ints, *, numbers: bool) -> WatchedColumn | None:
    """Say how a column is divided; None for one that has no two values of some size."""
    if numbers:
        numbers_read = values.cast(pa.float64(), safe=False).fill_null(np.nan).to_numpy()
        kept = np.isfinite(numbers_read)
        edges = _edges(numbers_read[kept], rows[kept])
        return WatchedColumn(column=column, edges=edges) if edges else None
    texts = values.cast(pa.string()).to_pylist()
    least = rows.sum() / LEAST_SHARE
    sizes = {
        text: int(number)
        for text, number in zip(texts, rows.tolist(), strict=True)
        if text and text != OTHER and len(text) <= LONGEST_VALUE and number >= least
    }
    ranked = sorted(sizes, key=lambda text: (-sizes[text], text))[:MOST_VALUES]
    whole = len(ranked) == 1 and sizes[ranked[0]] == int(rows.sum())
    return WatchedColumn(column=column, values=tuple(ranked)) if ranked and not whole else None


def _edges(numbers: Floats, rows: Ints) -> tuple[float, ...]:
    """Cut numbers at their octiles, or each from the next if there are few."""
    order = np.argsort(numbers, kind="stable")
    distinct, place = np.unique(numbers[order], return_inverse=True)
    if len(distinct) <= RANGES:
        return tuple(distinct[1:].tolist())
    reached = np.cumsum(np.bincount(place, rows[order]))
    wanted = reached[-1] * np.arange(1, RANGES) / RANGES
    cuts = np.unique(np.searchsorted(reached, wanted) + 1)
    return tuple(distinct[cuts[cuts < len(distinct)]].tolist())


def _asked(model: Model, columns: Sequence[WatchedColumn], conditions: Iterable[str] = ()) -> Model:
    """Configure a model to be counted by some columns only, of rows that meet conditions."""
    filters = [f"({sql})" for sql in (model.predictions.where, *conditions) if sql]
    predictions = model.predictions.model_copy(
        update={"where": " AND ".join(filters) or None, "entity": None}
    )
    return model.model_copy(
        update={
            "predictions": predictions,
            "columns": tuple(columns),
            "segments": None,
            "strata": None,
            "checks": model.checks.also(ACCEPT),
        }
    )
