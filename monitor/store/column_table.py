"""The counts of watched columns of a day as a table of the store: a row for each cell. Pure."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from monitor.days.summary import ColumnPart, Columns
from monitor.metrics.core.coarse import COARSE_COUNT
from monitor.metrics.core.grid import Ints

FORMAT, WITH_PAIRS = 1, 2
NAMES, OF_PAIRS = ("column", "value"), ("family", "pair")
NUMBERS = {"cell": pa.int32(), "count": pa.int64(), "positives": pa.int64()}


def column_table(columns: Columns) -> pa.Table:
    """Lay out the counts of a day; those of a model with classes have a pair for each row."""
    parts: list[Any] = [(c, v, part) for c, values in columns.items() for v, part in values.items()]
    paired = any(part.pairs for *_, part in parts)
    names = (*NAMES, *OF_PAIRS) if paired else NAMES
    if paired:
        parts = [(c, v, *key, of) for c, v, part in parts for key, of in part.pairs.items()]
    lengths = [part.cells.size for *_, part in parts]
    table: dict[str, Any] = {
        name: pa.array(
            np.repeat(np.array([part[i] for part in parts], object), lengths), pa.string()
        )
        for i, name in enumerate(names)
    }
    for name, field in zip(NUMBERS, ("cells", "counts", "positives"), strict=True):
        joined = [getattr(part, field) for *_, part in parts]
        table[name] = pa.array(np.concatenate([np.zeros(0, np.int64), *joined]), NUMBERS[name])
    predicted = {c: {v: part.predicted for v, part in of.items()} for c, of in columns.items()}
    about = {
        "format": WITH_PAIRS if paired else FORMAT,
        "cells": COARSE_COUNT,
        "predicted": predicted,
    }
    return pa.table(table).replace_schema_metadata({"columns": json.dumps(about)})


def columns_of(table: pa.Table) -> Columns:
    """Read the table of a day back.

    Raises
    ------
    ValueError, LookupError, TypeError
        If this program did not write it.
    """
    volumes = volumes_of(table)
    numbers = [table[name].to_numpy().astype(np.int64) for name in NUMBERS]
    cells, counts, positives = numbers
    if np.any(cells < 0) or np.any(cells >= COARSE_COUNT) or np.any(counts < 1):
        msg = "a cell or a count is out of range"
        raise ValueError(msg)
    if np.any(positives < 0) or np.any(positives > counts):
        msg = "there are more positives than outcomes"
        raise ValueError(msg)
    rows, none = _rows_of_keys(table), np.zeros(0, np.int64)

    def part(chosen: Ints, predicted: int) -> ColumnPart:
        return ColumnPart(cells[chosen], counts[chosen], positives[chosen], predicted)

    pairs = dict[tuple[str, ...], dict[tuple[str, ...], ColumnPart]]()
    for (column, value, *pair), chosen in rows.items():
        if pair:
            of_value = pairs.setdefault((column, value), {})
            of_value[tuple(pair)] = part(chosen, int(counts[chosen].sum()))
    return {
        column: {
            value: replace(
                part(rows.get((column, value), none), predicted),
                pairs=pairs.get((column, value), {}),
            )
            for value, predicted in values.items()
        }
        for column, values in volumes.items()
    }


def volumes_of(table: pa.Table) -> Mapping[str, Mapping[str, int]]:
    """Read back the predictions of each value of each column; the rows need not have been read.

    Raises
    ------
    ValueError, LookupError, TypeError
        If this program did not write it.
    """
    about = json.loads((table.schema.metadata or {})[b"columns"])
    if about["format"] not in (FORMAT, WITH_PAIRS) or about["cells"] != COARSE_COUNT:
        msg = f"format {about['format']} on {about['cells']} cells, not {FORMAT} on {COARSE_COUNT}"
        raise ValueError(msg)
    return dict(about["predicted"])


def _rows_of_keys(table: pa.Table) -> dict[tuple[str, ...], Ints]:
    """List the rows of each key; they follow each other, so that few keys have to be named."""
    if not table.num_rows:
        return {}
    names = [name for name in (*NAMES, *OF_PAIRS) if name in table.column_names]
    whole = table.combine_chunks()
    encoded: list[Any] = [whole[name].chunk(0).dictionary_encode() for name in names]
    codes = np.stack([of.indices.to_numpy() for of in encoded])
    starts = np.flatnonzero(np.append(True, (codes[:, 1:] != codes[:, :-1]).any(axis=0)))
    texts = [of.dictionary.to_pylist() for of in encoded]
    by_key: dict[tuple[str, ...], list[Ints]] = {}
    for first, last in zip(starts, np.append(starts[1:], table.num_rows), strict=True):
        key = tuple(text[code] for text, code in zip(texts, codes[:, first], strict=True))
        by_key.setdefault(key, []).append(np.arange(first, last, dtype=np.int64))
    return {key: np.concatenate(rows) for key, rows in by_key.items()}
