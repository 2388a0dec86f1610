"""Days that are counted where their rows lie: the statement is sent, and a few thousand rows come.

Rule: what the rows' own path reads of a log is checked first, without a row, by the code of that
path. So a column that is missing gives the same message with each engine.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date, timedelta
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from monitor.base.errors import ConfigError, DataError
from monitor.config import OutcomeMeans, id_columns
from monitor.logs.columns.canonical import check_columns
from monitor.logs.days.counts import rows_of_table
from monitor.logs.days.daily import DayRows
from monitor.logs.days.days import Batch
from monitor.logs.engines.session import Session
from monitor.logs.sources.drivers import driver_of
from monitor.logs.sources.queries import batches_of, schema_of
from monitor.logs.sources.tables import open_table
from monitor.logs.statement.counts_table import COUNTS, OF_CELLS, checked_table
from monitor.logs.warehouse.asked import Asked, check_countable, own_logs
from monitor.logs.warehouse.counting import counting
from monitor.logs.warehouse.reading import Span, left_out, parts_of, rows_of_log, select

KINDS: Mapping[str, pa.DataType] = {
    **{name: kind for name, kind in OF_CELLS.items() if name != "version"},
    **COUNTS,
}
NUMBERS = "cell", "rows", "positives", "offset_sum"
REMEDY = "or set engine.kind: duckdb, which brings the rows here"


def count_there(session: Session, batch: Batch) -> Iterator[tuple[date, DayRows | DataError]]:
    """Count the rows of days where they lie, and check the counts.

    Raises
    ------
    ConfigError
        If the statement cannot say a setting of the model.
    DataError
        If a column is missing or has another type, or the database cannot be asked.
    """
    _must_be_in_one_place(batch)
    driver = driver_of(batch.model.predictions.connection)
    asked = Asked(batch.name, batch.model, driver.language)
    check_countable(asked, REMEDY)
    first = batch.days[0]
    check_columns(session, batch.model, first, batch.partitions[first])
    asked = _with_known_types(asked)
    days = first, batch.days[-1], batch.as_of - timedelta(days=1)
    span = Span(*(asked.as_day(f"'{day}'") for day in days))
    parts = [name for name, _ in parts_of(asked)]
    statement = counting(asked, span)
    is_packed = driver.language == "postgres"
    rows = _ask(asked, _packed(statement, parts) if is_packed else statement)
    counts = _typed(_unpacked(rows, parts) if is_packed and rows else rows, parts)
    filtered = _left_out(asked, span)
    for day in batch.days:
        own = counts.filter(pc.equal(counts["day"], pa.scalar(day)))
        try:
            place = f"counted in {batch.model.predictions.connection}"
            table = checked_table(own, f"{batch.name} {day}", day, place, kinds=KINDS, parts=parts)
            yield day, rows_of_table(table, batch, day, filtered.get(day, {}))
        except DataError as error:
            yield day, error


def _must_be_in_one_place(batch: Batch) -> None:
    """Raise ConfigError for logs that no single database has."""
    places = {(log.format, log.connection) for log in own_logs(batch.model).values()}
    if len(places) > 1:
        msg = (
            f"models.{batch.name}: engine.kind: warehouse joins the logs where they lie, and they "
            f"have no connection in common; write both into one database, {REMEDY}."
        )
        raise ConfigError(msg)


def _with_known_types(asked: Asked) -> Asked:
    """Look at the types of the values that the statement reads.

    Returns
    -------
    Asked
        With outcomes that are true or false written as 1 and 0.

    Raises
    ------
    ConfigError
        For a value that another program compares or writes in another way.
    """
    wrong, model = list[str](), asked.model
    for kind, log in own_logs(model).items():
        values = [*_read_of(asked, kind)]
        columns = [(f"v{i}", asked.value(c, at)) for i, (at, c, _) in enumerate(values)]
        if not columns:
            continue
        query = select(columns, f"FROM {rows_of_log(log, kind)}")
        schema = schema_of(f"{log.connection}", open_table(log).snapshot, query)
        for (setting, _, fits), type_ in zip(values, schema.types, strict=True):
            if remedy := fits(type_):
                wrong.append(f"models.{asked.name}: {setting} is {type_}; {remedy}, {REMEDY}.")
            if setting == "outcomes.outcome" and pa.types.is_boolean(type_):
                means = OutcomeMeans(positive=(True,), negative=(False,))
                outcomes = model.outcomes.model_copy(update={"outcome_means": means})
                model = model.model_copy(update={"outcomes": outcomes})
    if wrong:
        raise ConfigError("\n".join(wrong))
    return replace(asked, model=model)


Fits = Callable[[pa.DataType], str]  # what to do about a type that does not fit, else nothing


def _read_of(asked: Asked, kind: str) -> Iterator[tuple[str, str, Fits]]:
    """List what the statement reads of a log but scores: setting, column, and what it must be."""
    model = asked.model
    if not asked.joined:
        of_ids = id_columns(own_logs(model)[kind])
        yield from ((f"{kind}.id", column, _is_exact) for column in of_ids)
    if kind == "predictions":
        parts = ("segments", model.segments), ("strata", model.strata)
        yield from ((f"{name}.column", of.column, _is_exact) for name, of in parts if of)
        if model.predictions.time and asked.timed:
            yield "predictions.time", model.predictions.time, _is_time
    if kind == "outcomes" or asked.joined:
        if model.outcomes.outcome and not model.outcomes.outcome_means:
            yield "outcomes.outcome", model.outcomes.outcome, _is_number
        if model.outcomes.time and asked.keeps_times:
            yield "outcomes.time", model.outcomes.time, _is_time


def _is_exact(type_: pa.DataType) -> str:
    """Numbers with a point are written in several ways, and one of them is no number."""
    exact = pa.types.is_integer(type_) or pa.types.is_boolean(type_) or _is_text(type_)
    return "" if exact or pa.types.is_date(type_) else "cast it to text in the query under sql"


def _is_time(type_: pa.DataType) -> str:
    return "" if pa.types.is_timestamp(type_) else "cast it to a timestamp in the query under sql"


def _is_number(type_: pa.DataType) -> str:
    """Text of outcomes is read in several ways."""
    return "list its values in outcomes.outcome_means" if _is_text(type_) else ""


def _is_text(type_: pa.DataType) -> bool:
    return pa.types.is_string(type_) or pa.types.is_large_string(type_)


def _ask(asked: Asked, query: str) -> pa.Table:
    """Return the rows of a query that reads the logs as they are now."""
    log = asked.model.predictions
    snapshot = open_table(log).snapshot
    rows = batches_of(f"{log.connection}", snapshot, query, zone=asked.model.time_zone)
    batches = [*rows]
    return pa.Table.from_batches(batches) if batches else pa.table({})


def _packed(statement: str, parts: Sequence[str]) -> str:
    """Send the counts of a status and part as one value: 28 bytes for each cell instead of 75."""
    by = ", ".join(f'"{name}"' for name in ("day", "status", *parts))
    sends = 'int4send("cell"::int)', *(f'int8send("{name}")' for name in NUMBERS[1:])
    packed = f"string_agg({' || '.join(sends)}, ''::bytea) AS packed"
    return f"SELECT {by}, {packed} FROM (\n{statement}\n) AS counts GROUP BY {by}"


def _unpacked(packed: pa.Table, parts: Sequence[str]) -> pa.Table:
    """Make a row of each cell again."""
    layout = np.dtype([(name, ">i8" if i else ">i4") for i, name in enumerate(NUMBERS)])
    values: list[Any] = packed["packed"].to_pylist()
    cells = [np.frombuffer(value, layout) for value in values]
    repeated = np.repeat(np.arange(len(cells)), [*map(len, cells)])
    numbers = np.concatenate([np.empty(0, layout), *cells])
    columns = {name: packed[name].take(repeated) for name in ("day", "status", *parts)}
    return pa.table({**columns, **{name: numbers[name].astype(np.int64) for name in NUMBERS}})


def _typed(counts: pa.Table, parts: Sequence[str]) -> pa.Table:
    """Make whole numbers of the counts, which some databases send as decimals."""
    kinds: dict[str, pa.DataType] = {"day": pa.date32()}
    kinds |= dict.fromkeys(("status", *parts), pa.string()) | dict.fromkeys(NUMBERS, pa.int64())
    if not counts.num_columns:  # without rows there is no batch, and so no column
        return pa.schema(kinds).empty_table()
    return counts.select([*kinds]).cast(pa.schema(kinds))


def _left_out(asked: Asked, span: Span) -> dict[date, dict[str, tuple[int, int]]]:
    """Count the rows of each day that a filter leaves out, and all rows."""
    found = dict[date, dict[str, tuple[int, int]]]()
    for kind, log in own_logs(asked.model).items():
        if log.where:
            for row in _ask(asked, left_out(asked, log, span)).to_pylist():
                counted = int(row["left_out"]), int(row["of"])
                found.setdefault(row["on_day"], {})[f"{kind}.where"] = counted
    return found
