"""Rows of the logs by the values of their columns, on request."""

from collections.abc import Sequence
from datetime import date
from typing import Any

import numpy as np
import pyarrow as pa

from monitor.base.segment_names import OTHER
from monitor.config import FIELD, Model, WatchedColumn
from monitor.days.settling import Settling
from monitor.days.summary import CodedRows
from monitor.logs.days.counts import must_have_rows
from monitor.logs.days.days import batch_of
from monitor.logs.days.one_day import read_coded_rows
from monitor.logs.engines.conversions import columns_in
from monitor.logs.engines.databases import Databases
from monitor.logs.engines.session import open_session
from monitor.logs.engines.steps import SCORED, added
from monitor.logs.sources.opening import OpenLog, raise_all
from monitor.logs.sources.source import open_log
from monitor.metrics.beyond_binary.class_pairs import SECOND
from monitor.metrics.core.grid import Floats, Ints

MOST_VALUES = 20
RANGES = 8  # of a column of numbers
LEAST_SHARE, LONGEST_VALUE = 1_000, 200  # a value has at least one row in so many
ROLES = ("id", "score", "time", "day", "weight", "entity", "outcome")
# The run has judged the days; their rows keep their own checks.
ACCEPT = dict.fromkeys(("empty_day", "no_outcomes", "one_class", "missing_day"), "accept")


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
            log.check(column, "--columns")
        raise_all(log)
        if not log.files:  # the days are empty by now, and their files have no types
            return []
        for column in columns or _free_columns(log, model):
            table = session.fetch(
                f"SELECT value, count(*) AS rows FROM {SCORED} GROUP BY value",
                log.read(None, value=column),
                whole=added("value"),
            )
            numbers = log.type_of(column).is_number
            divided = _divided(column, table["value"], table["rows"].to_numpy(), numbers=numbers)
            if divided:
                watched.append(divided)
    return watched


def read_part_rows(
    name: str,
    model: Model,
    day: date,
    columns: Sequence[WatchedColumn],
    databases: Databases,
    rank: int = SECOND,
) -> CodedRows:
    """Read the rows of a settled day that have an outcome, with their codes in some columns.

    With classes they are those of the pairs of the highest score and that of a rank.

    Raises
    ------
    DataError
        If the day cannot be read.
    """
    as_of = Settling(model).settles(day)
    batch = batch_of(name, _asked(model, columns), day, as_of=as_of)
    return read_coded_rows(batch, databases, rank)


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
    rated, classes = model.weight_column("predictions"), model.predictions.classes
    beside = [model.action, rated[0] if rated else None, *(classes.logged if classes else ())]
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


def _asked(model: Model, columns: Sequence[WatchedColumn]) -> Model:
    """Configure a model to be counted by some columns only."""
    return model.model_copy(
        update={
            "predictions": model.predictions.model_copy(update={"entity": None}),
            "columns": tuple(columns),
            "segments": None,
            "strata": None,
            "checks": model.checks.also(ACCEPT),
        }
    )
