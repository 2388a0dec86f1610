"""Codes for the values of watched columns, so that one reading of a day serves all columns.

DuckDB writes them into the rows before the join; the rows are stored once with their key and codes,
and every count of the day is made from there. A row has a few bytes, whatever the columns hold.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import duckdb
import narwhals as nw
import numpy as np

from monitor.config import Crossing, Model, Watched
from monitor.logs.checks import IN_PREDICTED, Status
from monitor.logs.column_labels import (
    LARGEST_STEP,
    label_name,
    labels,
    range_names,
    watched_columns,
    watched_name,
)
from monitor.logs.conversions import quoted
from monitor.logs.joining import Groups
from monitor.logs.session import Session
from monitor.logs.sources import Logs
from monitor.logs.statement import OUTCOMES, POSITIVE, Query, group, unpack
from monitor.metrics.beyond_binary.class_parts import ClassPart, sum_of_parts
from monitor.metrics.core.coarse import CELLS_IN_ONE, COARSE_COUNT
from monitor.metrics.core.compiled import compiled
from monitor.metrics.core.grid import CELL_COUNT, Ints
from monitor.segment_names import OTHER
from monitor.sql_text import text_in_sql
from monitor.summary import CodedRows, ColumnPart, Columns, column_part, named_pairs, paired_part

ROWS_AT_A_TIME, LARGEST_BYTE = 1_000_000, 255
TABLE = "rows_with_codes"
CODE = "code "  # before the number of a watched column
MATCHED = int(Status.MATCHED)
PREDICTED = np.array([int(status) for status in IN_PREDICTED])

Names = Mapping[str, Sequence[str]]  # by watched column: the names of the codes from 1 on


@dataclass(frozen=True)
class Counted:
    """The groups of a day, and its rows with their codes."""

    groups: Groups
    rows: duckdb.DuckDBPyRelation
    part_count: int


def code_names(model: Model, kept: Names) -> dict[str, Sequence[str]]:
    """Name the codes of every watched column; code 0 is `other`.

    Parameters
    ----------
    model : Model
        Its `columns`.
    kept : mapping of str to sequence of str
        The values that count by themselves, of columns that do not name them.
    """
    return {w.name: kept.get(label_name(w)) or _names(w) for w in model.columns}


def _names(watched: Watched) -> Sequence[str]:
    if isinstance(watched, Crossing) or watched.top is not None:
        return ()
    if watched.values:
        return watched.values
    if watched.edges:
        return [*range_names(watched.edges)]
    return [str(step) for step in range(-LARGEST_STEP, LARGEST_STEP + 1)]


def with_codes(session: Session, logs: Logs, model: Model, names: Names) -> Logs:
    """Add the code of each row in every watched column, in the place of the values.

    The rows are a view of their own, so the query over them depends on the types of the codes, and
    not on the values of a day.
    """
    codes = tuple(f"{CODE}{i}" for i in range(len(model.columns)))
    with session.drafting():
        rows = _write_codes(logs, model, names, codes)
    view = session.show("predictions with codes", rows)
    return session.once(
        (view, logs, codes), lambda: replace(logs, predictions=session.frame(view), codes=codes)
    )


def _write_codes(logs: Logs, model: Model, names: Names, codes: Sequence[str]) -> Any:
    """Write the query of the predictions with their codes, as a relation of DuckDB."""
    written = {label_name(w): labels(model)[label_name(w)] for w in model.columns if _needs(w)}
    labelled = logs.predictions.with_columns(**written) if written else logs.predictions
    relation: Any = labelled.to_native()
    # Of predictions with the same id, only equal rows are one; their values are needed for that.
    values = [] if logs.identical else [watched_name(column) for column in watched_columns(model)]
    coded = [
        duckdb.SQLExpression(_narrow(_code_sql(w, names[w.name]), len(names[w.name])))
        for w in model.columns
    ]
    return relation.select(
        duckdb.StarExpression(exclude=[*written, *values]),
        *(code.alias(name) for code, name in zip(coded, codes, strict=True)),
    )


def labels_of_codes(model: Model, names: Names) -> dict[str, tuple[nw.Expr, Sequence[str]]]:
    """Give the label of a row in every watched column, and the names of its codes from 1 on."""
    written = labels(model)
    return {
        name: (written[name], names[watched.name])
        for watched in model.columns
        for name in [label_name(watched)]
    }


def _needs(watched: Watched) -> bool:
    """Whether the code of a row rests on its label, rather than on the value itself."""
    return isinstance(watched, Crossing) or watched.quantiles is not None


def _code_sql(watched: Watched, names: Sequence[str]) -> str:
    """Write the code of a row; null is code 0."""
    if isinstance(watched, Crossing):
        return _position(names, quoted(label_name(watched)))
    value = quoted(watched_name(watched.column))
    if watched.quantiles:
        return f"TRY_CAST({quoted(label_name(watched))} AS INTEGER) + {LARGEST_STEP + 1}"
    if watched.edges:
        number = f"CAST({value} AS DOUBLE)"
        below = " ".join(f"WHEN {number} < {e!r} THEN {i}" for i, e in enumerate(watched.edges, 1))
        unknown = f"{number} IS NULL OR isnan({number})"
        return f"CASE WHEN {unknown} THEN 0 {below} ELSE {len(watched.edges) + 1} END"
    return _position(names, f"CAST({value} AS VARCHAR)")


def _narrow(code: str, largest: int) -> str:
    """Write a code as the smallest integer; null is 0."""
    small = "UTINYINT" if largest <= LARGEST_BYTE else "USMALLINT"
    return f"CAST(coalesce({code}, 0) AS {small})"


def _position(names: Sequence[str], value: str) -> str:
    return f"list_position([{', '.join(map(text_in_sql, names))}]::VARCHAR[], {value})"


def group_with_codes(session: Session, query: Query, codes: Sequence[str]) -> Counted:
    """Run the join of a day once: store its rows, and group them."""
    relation: Any = query.keyed.to_native()
    session.connection.execute(f"DROP TABLE IF EXISTS {TABLE}")
    with session.drafting():
        relation = relation.select(duckdb.StarExpression(exclude=["lone_place"]))
    relation.create(TABLE)
    rows = session.connection.table(TABLE)
    view = session.show("rows with codes", rows)
    grouped = session.once((view, "groups"), lambda: group(session, session.frame(view)))
    groups = unpack(grouped.collect(backend="pyarrow").to_native(), query.keys)
    # An outcome without a prediction has no codes, and counts in no column.
    predicted = rows.filter(f"{quoted(codes[0])} IS NOT NULL")
    return Counted(groups, predicted.select(*map(quoted, ("key", *codes))), query.keys.part_count)


def count_codes(counted: Counted, model: Model, names: Names) -> Columns:
    """Count the rows by the values of every watched column."""
    sizes = [len(names[watched.name]) + 1 for watched in model.columns]
    starts = np.concatenate([[0], np.cumsum(sizes)])
    counts, positives = np.zeros((2, starts[-1], COARSE_COUNT), np.int64)
    predicted = np.zeros(starts[-1], np.int64)
    for keys, codes in _batches(counted.rows):
        add_up(keys, codes, starts[:-1], counted.part_count, counts, positives, predicted)
    return {
        watched.name: dict(
            sorted(
                _parts(
                    [OTHER, *names[watched.name]],
                    *(by_code[low:high] for by_code in (counts, positives, predicted)),
                )
            )
        )
        for watched, low, high in zip(model.columns, starts[:-1], starts[1:], strict=True)
    }


def coded_rows(counted: Counted, columns: int) -> CodedRows:
    """Give the rows that have an outcome, in any order, with their codes in so many columns."""
    cells, hits = [np.zeros(0, np.int64)], [np.zeros(0, bool)]
    codes: list[Ints] = [np.zeros((columns, 0), np.int64)]
    for keys, of_batch in _batches(counted.rows):
        whole, seen = np.divmod(keys, OUTCOMES)
        kept = whole // CELL_COUNT // counted.part_count == MATCHED
        cells.append(whole[kept] % CELL_COUNT // CELLS_IN_ONE)
        hits.append(seen[kept] == POSITIVE)
        codes.append(of_batch[:, kept])
    return CodedRows(
        np.concatenate(cells), np.concatenate(hits), np.concatenate(codes[1:] or codes, axis=1)
    )


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
        From and for `count_codes`.
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
        As `monitor.logs.statement` writes them: status, part, cell and outcome.
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
