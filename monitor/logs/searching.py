"""Counts of further columns of the logs, for rows that meet conditions, on request."""

from collections.abc import Mapping, Sequence
from datetime import date, timedelta

import numpy as np

from monitor.config import Engine, Model, WatchedColumn
from monitor.errors import DataError
from monitor.logs.batches import summarise_day
from monitor.logs.column_labels import range_names
from monitor.logs.conversions import quoted, text
from monitor.logs.databases import Databases
from monitor.logs.opening import raise_all
from monitor.logs.partitions import open_log
from monitor.logs.session import Frame, open_session
from monitor.summary import Columns

MOST_VALUES = 20
PARTS = 4  # of a column of floating-point numbers
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
    watched = []
    with open_session(f"{name} {day}", engine) as session:
        log = open_log(session, model, "predictions", [day])
        for column in columns:
            log.check(column, "--columns", lambda _: True, "of any type")
        raise_all(log)
        for column in columns:
            kind = log.type_of(column).dtype
            if not (kind.is_float() or kind.is_decimal()):
                watched.append(WatchedColumn(column=column, top=MOST_VALUES))
                continue
            rows = session.frame(session.show(f"search {column}", log.read(None, value=column)))
            edges = _quartiles(rows)
            if not edges:
                msg = (
                    f"{name} {day}: column '{column}' of the predictions has no number on that "
                    f"day; leave it out of --columns."
                )
                raise DataError(msg)
            watched.append(WatchedColumn(column=column, edges=edges))
    return watched


def _quartiles(rows: Frame) -> tuple[float, ...]:
    """Find where the numbers of a column are cut; nowhere if there are none."""
    read = rows.collect(backend="pyarrow").to_native()["value"].drop_null().to_numpy()
    numbers = read.astype(float)
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
        return f"CAST({column} AS VARCHAR) = {text(value)}"
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
    filters = [f"({sql})" for sql in (model.predictions.where, *conditions.values()) if sql]
    predictions = model.predictions.model_copy(
        update={"where": " AND ".join(filters) or None, "entity": None}
    )
    asked = model.model_copy(
        update={
            "predictions": predictions,
            "columns": tuple(columns),
            "segments": None,
            "strata": None,
            "checks": model.checks.model_copy(update=ACCEPT),
        }
    )
    as_of = day + timedelta(days=model.settled_after + 1)
    return summarise_day(name, asked, day, as_of=as_of, engine=engine).columns
