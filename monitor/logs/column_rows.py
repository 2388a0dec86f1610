"""The rows of a day by the values of watched columns: all columns in one reading of the join.

A row counts once in every column. Values beyond the most frequent ones of the day are `other`, so
neither memory nor the store grows with what the log contains.
"""

from collections import defaultdict
from typing import Any

import duckdb
import narwhals as nw
import numpy as np

from monitor.config import Crossing, Model, Watched
from monitor.logs.column_labels import label_name, labels
from monitor.logs.conversions import quoted
from monitor.logs.joining import IN_PREDICTED, Status, located
from monitor.logs.session import Frame
from monitor.metrics.core.coarse import CELLS_IN_ONE
from monitor.segment_names import OTHER
from monitor.summary import ColumnPart, Columns

MOST_VALUES = 100  # of a column on one day; which of them have a segment, the reference decides
LEAST_SHARE = 1_000  # a value with less than one row in so many is `other`
AWAITED = -1  # the cell of rows whose outcome is not known


def count_columns(
    predictions: Frame, joined: Frame, model: Model, *, rows: int, odds_factor: float = 1.0
) -> Columns:
    """Count the predictions of a day, by the values of every watched column.

    Parameters
    ----------
    predictions : LazyFrame
        Of the day, prepared.
    joined : LazyFrame
        Their join with the outcomes, with `status`.
    model : Model
        Its `columns`.
    rows : int
        How many predictions there are.
    odds_factor : float
        As for `monitor.logs.joining.write`.
    """
    kept = _frequent_values(predictions, model, rows)
    written = labels(model)
    labelled = {
        name: nw.when(nw.col(name).is_in(kept[name])).then(nw.col(name)).otherwise(nw.lit(OTHER))
        if name in kept
        else nw.col(name)
        for name in written
    }
    matched = nw.col("status") == int(Status.MATCHED)
    scored = located(joined, odds_factor).filter(
        nw.col("status").is_in([int(status) for status in IN_PREDICTED])
    )
    coarse = (nw.col("cell") / CELLS_IN_ONE).floor().cast(nw.Int32)
    slim = (
        scored.with_columns(**written)
        .with_columns(**labelled)
        .select(
            *written,
            place=nw.when(matched).then(coarse).otherwise(nw.lit(AWAITED)).cast(nw.Int32),
            hit=nw.when(matched).then(nw.col("outcome")).otherwise(nw.lit(0)).cast(nw.Int32),
        )
    )
    counted = (
        _stacked(slim, [*written])
        .group_by("label", "value", "place")
        .agg(nw.len().alias("rows"), nw.col("hit").sum().alias("hits"))
        .sort("label", "value", "place")
    )
    table: Any = counted.collect(backend="pyarrow").to_native()
    return _unpack(table, model)


def _frequent_values(predictions: Frame, model: Model, rows: int) -> dict[str, list[str]]:
    """Find the values of the day that count by themselves, of columns that do not name them."""
    counted = [one for one in model.columns if _names_none(one)]
    if not counted:
        return {}
    written = labels(model)
    names = [label_name(one) for one in counted]
    found = (
        _stacked(predictions.with_columns(**written).select(*names), names)
        .group_by("label", "value")
        .agg(nw.len().alias("rows"))
        .filter(nw.col("rows") * LEAST_SHARE >= rows)
        .collect(backend="pyarrow")
    )
    by_label = defaultdict[str, list[tuple[int, str]]](list)
    for label, value, count in found.rows():
        by_label[label].append((-count, value))
    return {name: [v for _, v in sorted(by_label[name])[:MOST_VALUES]] for name in names}


def _stacked(rows: Frame, names: list[str]) -> Frame:
    """Make a row of each of several columns: its name as `label`, and its `value`."""
    native: Any = rows.to_native()
    if not isinstance(native, duckdb.DuckDBPyRelation):
        others = [name for name in rows.collect_schema().names() if name not in names]
        return rows.unpivot(names, index=others, variable_name="label", value_name="value")
    # Narwhals asks DuckDB for this on another connection than that of the rows.
    listed = ", ".join(map(quoted, names))
    found: Frame = nw.from_native(
        native.query("rows", f"UNPIVOT rows ON {listed} INTO NAME label VALUE value")
    ).lazy()
    return found


def _names_none(one: Watched) -> bool:
    return isinstance(one, Crossing) or one.top is not None


def _unpack(table: Any, model: Model) -> Columns:
    label, value = (table[name].to_pylist() for name in ("label", "value"))
    place, rows, hits = (
        table[name].to_numpy().astype(np.int64) for name in ("place", "rows", "hits")
    )
    parts = list(zip(label, value, strict=True))
    starts = [i for i, part in enumerate(parts) if not i or part != parts[i - 1]]
    found = {label_name(one): dict[str, ColumnPart]() for one in model.columns}
    for start, end in zip(starts, [*starts[1:], len(parts)], strict=True):
        known = np.flatnonzero(place[start:end] != AWAITED) + start
        found[label[start]][value[start]] = ColumnPart(
            place[known], rows[known], hits[known], int(rows[start:end].sum())
        )
    return {one.name: found[label_name(one)] for one in model.columns}
