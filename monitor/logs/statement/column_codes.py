"""Codes for the values of watched columns, so that one reading of a day serves all columns.

They are written into the rows before the join. DuckDB stores the rows once with their key and
codes, and every count of the day is made from there: a row has a few bytes, whatever the columns
hold.

A row counts once in every column. Values beyond the most frequent ones of the day are `other`, so
neither memory nor the store grows with what the log contains.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa

from monitor.base.segment_names import OTHER
from monitor.config import Crossing, Model, Watched
from monitor.days.summary import (
    CodedRows,
    ColumnPart,
    Columns,
    column_part,
    named_pairs,
    paired_part,
)
from monitor.logs.checks.checks import IN_PREDICTED, Groups, Status
from monitor.logs.columns.canonical import Logs
from monitor.logs.columns.column_labels import (
    LARGEST_STEP,
    below_edges,
    is_no_number,
    label_of,
    range_names,
    step_of,
    text_of,
)
from monitor.logs.engines.session import Session
from monitor.logs.engines.steps import SCORED, Steps, added, first_true, place, written
from monitor.logs.statement.statement import OUTCOMES, POSITIVE, Query, groups_of, together, unpack
from monitor.metrics.beyond_binary.class_parts import ClassPart, sum_of_parts
from monitor.metrics.core.coarse import CELLS_IN_ONE, COARSE_COUNT
from monitor.metrics.core.compiled import compiled
from monitor.metrics.core.grid import CELL_COUNT, Ints

MOST_VALUES = 100  # of a column on one day; which of them have a segment, the reference decides
LEAST_SHARE = 1_000  # a value with less than one row in so many is `other`
ROWS_AT_A_TIME, LARGEST_BYTE = 1_000_000, 255
TABLE = "rows_with_codes"
CODE = "code_"  # before the number of a watched column
MATCHED = int(Status.MATCHED)
PREDICTED = np.array([int(status) for status in IN_PREDICTED])

Names = Mapping[str, Sequence[str]]  # by watched column: the names of the codes from 1 on


def code_names(model: Model, logs: Logs | None = None, rows: int = 0) -> dict[str, Sequence[str]]:
    """Name the codes of every watched column; code 0 is `other`.

    Parameters
    ----------
    model : Model
        Its `columns`.
    logs, rows : Logs and int
        Of a day, and its predictions: those of columns that do not name their values are its most
        frequent ones.
    """
    return {
        w.name: _names(w) or (_frequent(w, model, logs, rows) if logs else ())
        for w in model.columns
    }


def _frequent(watched: Watched, model: Model, logs: Logs, rows: int) -> list[str]:
    """Find the values of a day that count by themselves, the most frequent first."""
    # A query for each column counts it by its dictionary.
    counted = logs.fetch_rows(
        "SELECT value, count(*) AS rows FROM labelled WHERE value <> '' GROUP BY value",
        [("labelled", f"SELECT {label_of(watched, model)} AS value FROM {logs.predictions}")],
        f"{added('value')} HAVING sum(rows) * {LEAST_SHARE} >= {rows} "
        f"ORDER BY sum(rows) DESC, value LIMIT {MOST_VALUES}",
    )
    return [value for value, _ in counted]


def _names(watched: Watched) -> Sequence[str]:
    """Name the values or ranges that a column lists; none if the day decides them."""
    if isinstance(watched, Crossing) or watched.top is not None:
        return ()
    if watched.values:
        return watched.values
    if watched.edges:
        return [*range_names(watched.edges)]
    return [str(step) for step in range(-LARGEST_STEP, LARGEST_STEP + 1)]


def with_codes(logs: Logs, model: Model, names: Names) -> Logs:
    """Add the code of each row in every watched column."""
    codes = tuple(f"{CODE}{i}" for i in range(len(model.columns)))
    values = (
        f"{_narrow(_code(w, model, names[w.name]), len(names[w.name]))} AS {code}"
        for w, code in zip(model.columns, codes, strict=True)
    )
    rows = f"SELECT *, {', '.join(values)} FROM {logs.predictions}"
    return logs.also([("with_codes", rows)], predictions="with_codes", codes=codes)


def _code(watched: Watched, model: Model, names: Sequence[str]) -> str:
    """Write the code of a row; null is code 0."""
    if isinstance(watched, Crossing):
        return place(names, label_of(watched, model))
    column = watched.column
    if watched.quantiles:
        return f"{step_of(column)} + {LARGEST_STEP + 1}"
    if watched.edges:
        below = [(condition, f"{i}") for condition, i in below_edges(column, watched.edges)]
        return first_true([(is_no_number(column), "0"), *below], f"{len(watched.edges) + 1}")
    return place(names, text_of(column))


def _narrow(code: str, largest: int) -> str:
    """Write a code as the smallest integer; null is 0."""
    small = "UTINYINT" if largest <= LARGEST_BYTE else "USMALLINT"
    return f"CAST(coalesce({code}, 0) AS {small})"


def run_with_codes(query: Query, model: Model, names: Names) -> tuple[Groups, Columns]:
    """Run the statement of a day, and count its rows by the values of every watched column.

    Parameters
    ----------
    query : Query
        Of a day.
    model, names
        For and from `code_names`.
    """
    sizes = [len(names[watched.name]) + 1 for watched in model.columns]
    starts = np.concatenate([[0], np.cumsum(sizes)])
    fixed = query.logs.codes, starts, query.keys.part_count, groups_of(SCORED, query.totals)
    count = partial(_count_share, *fixed)
    grouped, *counted = zip(*query.rows.each(query.slim, count), strict=True)
    shares = pa.concat_tables(grouped)  # noqa: F841 - in SQL
    groups = query.logs.session.connection.sql(together(query.totals)).to_arrow_table()
    sums = [np.sum(of_shares, axis=0) for of_shares in counted]
    columns = {
        watched.name: dict(
            sorted(_parts([OTHER, *names[watched.name]], *(of[low:high] for of in sums)))
        )
        for watched, low, high in zip(model.columns, starts[:-1], starts[1:], strict=True)
    }
    return unpack(groups, query), columns


def _count_share(
    codes: Sequence[str], starts: Ints, part_count: int, steps: Steps, session: Session, slim: Any
) -> tuple[pa.Table, Ints, Ints, Ints]:
    """Store a share of the rows, group them, and count them by code."""
    session.connection.execute(f"DROP TABLE IF EXISTS {TABLE}")
    slim.create(TABLE)
    rows = session.connection.table(TABLE)
    grouped = session.fetch(written(steps), rows)
    counts, positives = np.zeros((2, starts[-1], COARSE_COUNT), np.int64)
    predicted = np.zeros(starts[-1], np.int64)
    # An outcome without a prediction has no codes, and counts in no column.
    coded = rows.filter(f"{codes[0]} IS NOT NULL").select(", ".join(("key", *codes)))
    for keys, of_batch in _batches(coded):
        add_up(keys, of_batch, starts[:-1], part_count, counts, positives, predicted)
    return grouped, counts, positives, predicted


def coded_rows(query: Query) -> CodedRows:
    """Give the rows of a day that have an outcome, in any order, with their codes."""
    chosen = ", ".join(("key", *query.logs.codes))
    table = query.rows.fetch(f"SELECT {chosen} FROM rows_of_day WHERE status = {MATCHED}")
    keys, *columns = (column.to_numpy() for column in table.columns)
    whole, seen = np.divmod(keys.astype(np.int64), OUTCOMES)
    cells = whole % CELL_COUNT // CELLS_IN_ONE
    codes: Any = np.stack([column.astype(np.uint16) for column in columns])  # which are many
    return CodedRows(cells, seen == POSITIVE, codes)


def pairs_of_codes(
    columns: Columns,
    model: Model,
    names: Names,
    classes: Sequence[str],
    counted: Sequence[Sequence[ClassPart]],
) -> Columns:
    """Count the rows of a model with classes by pair, in the place of their first choices.

    Parameters
    ----------
    columns, model, names
        From and for `run_with_codes`.
    classes : sequence of str
        Their names.
    counted : sequence of sequence of ClassPart
        Of each watched column, the pairs of each code.
    """
    by_column = dict[str, Mapping[str, ColumnPart]]()
    for watched, of_codes in zip(model.columns, counted, strict=True):
        of_values = dict[str, list[ClassPart]]()
        for name, of_code in zip([OTHER, *names[watched.name]], of_codes, strict=True):
            of_values.setdefault(name, []).append(of_code)
        by_column[watched.name] = {
            value: paired_part(named_pairs(classes, sum_of_parts(of_values[value])), part.predicted)
            for value, part in columns[watched.name].items()
        }
    return by_column


def _batches(rows: duckdb.DuckDBPyRelation) -> Iterator[tuple[Ints, Ints]]:
    for batch in rows.to_arrow_reader(ROWS_AT_A_TIME):
        columns: list[Any] = [column.to_numpy(zero_copy_only=False) for column in batch.columns]
        yield columns[0].astype(np.int64), np.stack(columns[1:])


def _parts(
    names: Sequence[str], counts: Ints, positives: Ints, predicted: Ints
) -> Iterator[tuple[str, ColumnPart]]:
    """Make the part of each value; a value that is called `other` is part of `other`."""
    codes_of = dict[str, list[int]]()
    for code, name in enumerate(names):
        codes_of.setdefault(name, []).append(code)
    for name, codes in codes_of.items():
        rows, hits = counts[codes].sum(axis=0), positives[codes].sum(axis=0)
        if total := int(predicted[codes].sum()):
            yield name, column_part(rows, hits, total)


@compiled
def add_up(
    keys: Ints,
    codes: Ints,
    starts: Ints,
    part_count: int,
    counts: Ints,
    positives: Ints,
    predicted: Ints,
) -> None:
    """Add rows to the counts of every column, in place.

    Parameters
    ----------
    keys : ndarray of shape (n,)
        As `monitor.logs.statement.statement` writes them: status, part, cell and outcome.
    codes : ndarray of shape (k, n)
        The codes of k columns.
    starts : ndarray of shape (k,)
        The place of the first code of each column.
    part_count : int
        As in `Keys`.
    counts, positives : ndarray of shape (c, 1024)
        Rows with an outcome, by code and coarse cell.
    predicted : ndarray of shape (c,)
        All valid predictions.
    """
    for row in range(keys.size):
        key, seen = divmod(keys[row], OUTCOMES)
        status = key // CELL_COUNT // part_count
        valid = False
        for usual in PREDICTED:
            valid = valid or status == usual
        if not valid:
            continue
        place = key % CELL_COUNT // CELLS_IN_ONE
        for column in range(starts.size):
            at = starts[column] + codes[column, row]
            predicted[at] += 1
            if status == MATCHED:
                counts[at, place] += 1
                positives[at, place] += seen == POSITIVE
