"""The counts of watched columns of a day as a table of the store: a row for each cell. Pure."""

import json
from typing import Any

import numpy as np
import pyarrow as pa

from monitor.metrics.core.coarse import COARSE_COUNT
from monitor.metrics.core.grid import Ints
from monitor.summary import ColumnPart, Columns

FORMAT = 1
NUMBERS = {"cell": pa.int32(), "count": pa.int64(), "positives": pa.int64()}


def column_table(columns: Columns) -> pa.Table:
    """Lay out the counts of a day."""
    parts = [(c, v, part) for c, values in columns.items() for v, part in values.items()]
    lengths = [part.cells.size for *_, part in parts]
    table: dict[str, Any] = {
        name: pa.array(
            np.repeat(np.array([part[i] for part in parts], object), lengths), pa.string()
        )
        for i, name in enumerate(("column", "value"))
    }
    for name, field in zip(NUMBERS, ("cells", "counts", "positives"), strict=True):
        joined = [getattr(part, field) for *_, part in parts]
        table[name] = pa.array(np.concatenate([np.zeros(0, np.int64), *joined]), NUMBERS[name])
    predicted = {c: {v: part.predicted for v, part in of.items()} for c, of in columns.items()}
    about = {"format": FORMAT, "cells": COARSE_COUNT, "predicted": predicted}
    return pa.table(table).replace_schema_metadata({"columns": json.dumps(about)})


def columns_of(table: pa.Table) -> Columns:
    """Read the table of a day back.

    Raises
    ------
    ValueError, LookupError, TypeError
        If this program did not write it.
    """
    about = json.loads((table.schema.metadata or {})[b"columns"])
    if about["format"] != FORMAT or about["cells"] != COARSE_COUNT:
        msg = f"format {about['format']} on {about['cells']} cells, not {FORMAT} on {COARSE_COUNT}"
        raise ValueError(msg)
    numbers = [table[name].to_numpy().astype(np.int64) for name in NUMBERS]
    cells, counts, positives = numbers
    if np.any(cells < 0) or np.any(cells >= COARSE_COUNT) or np.any(counts < 1):
        msg = "a cell or a count is out of range"
        raise ValueError(msg)
    if np.any(positives < 0) or np.any(positives > counts):
        msg = "there are more positives than outcomes"
        raise ValueError(msg)
    rows = _rows_of_keys(table)
    none = np.zeros(0, np.int64)

    def part(name: tuple[str, str], predicted: int) -> ColumnPart:
        chosen = rows.get(name, none)
        return ColumnPart(cells[chosen], counts[chosen], positives[chosen], predicted)

    return {
        column: {value: part((column, value), predicted) for value, predicted in values.items()}
        for column, values in about["predicted"].items()
    }


def _rows_of_keys(table: pa.Table) -> dict[tuple[str, str], Ints]:
    by_name: dict[tuple[Any, Any], list[int]] = {}
    named = zip(table["column"].to_pylist(), table["value"].to_pylist(), strict=True)
    for place, key in enumerate(named):
        by_name.setdefault(key, []).append(place)
    return {key: np.array(rows, np.int64) for key, rows in by_name.items()}
