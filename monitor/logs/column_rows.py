"""The rows of a day by the values of watched columns, with any engine: one reading of the join.

DuckDB has a faster way, in `monitor.logs.column_codes`, that counts the same.
A row counts once in every column. Values beyond the most frequent ones of the day are `other`, so
neither memory nor the store grows with what the log contains.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np

from monitor.config import Crossing, Model, Watched
from monitor.logs.checks import IN_PREDICTED, Status
from monitor.logs.column_labels import label_name, labels
from monitor.logs.session import Frame, Session
from monitor.metrics.core.coarse import CELLS_IN_ONE
from monitor.metrics.core.grid import Ints
from monitor.segment_names import OTHER
from monitor.summary import ColumnPart, Columns

MOST_VALUES = 100  # of a column on one day; which of them have a segment, the reference decides
LEAST_SHARE = 1_000  # a value with less than one row in so many is `other`
FEW = 1_000  # so many values are counted first and added up later, which is faster
AWAITED = -1  # the cell of rows whose outcome is not known


def count_columns(joined: Frame, model: Model, frequent: "Frequent") -> Columns:
    """Count the predictions of a day, by the values of every watched column.

    Parameters
    ----------
    joined : LazyFrame
        The join of predictions and outcomes, with `status` and `cell`.
    model : Model
        Its `columns`.
    frequent : Frequent
        Values of the day.
    """
    kept, many = frequent.values, frequent.many
    written = labels(model)
    labelled = {
        name: nw.when(nw.col(name).is_in(kept[name])).then(nw.col(name)).otherwise(nw.lit(OTHER))
        if name in many
        else nw.col(name)
        for name in written
    }
    matched = nw.col("status") == int(Status.MATCHED)
    scored = joined.filter(nw.col("status").is_in([int(status) for status in IN_PREDICTED]))
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
    counted = _grouped(slim, [*written])
    table: Any = counted.collect(backend="pyarrow").to_native()
    return _unpack(table, model, kept)


@dataclass(frozen=True)
class Frequent:
    """The values of a day that count by themselves, of columns that do not name them.

    Attributes
    ----------
    values : mapping of str to sequence of str
        By label, the most frequent first.
    many : set of str
        The labels with more than a few values.
    """

    values: Mapping[str, Sequence[str]]
    many: frozenset[str]


def frequent_values(session: Session, predictions: Frame, model: Model, rows: int) -> Frequent:
    """Find them among the predictions of a day, of which there are `rows`."""
    written, kept, many = labels(model), dict[str, list[str]](), set[str]()
    for name in (label_name(watched) for watched in model.columns if _names_none(watched)):
        # Apart, each column is counted by its dictionary.
        with session.drafting():
            by_value = (
                predictions.select(value=written[name])
                .group_by("value")
                .agg(nw.len().alias("rows"))
                .sort("rows", "value", descending=[True, False])
                .head(FEW + 1)
            )
        counted = by_value.collect(backend="pyarrow").rows()
        frequent = [value for value, count in counted if value and count * LEAST_SHARE >= rows]
        kept[name] = frequent[:MOST_VALUES]
        if len(counted) > FEW:
            many.add(name)
    return Frequent(kept, frozenset(many))


def _grouped(rows: Frame, names: list[str]) -> Frame:
    """Group rows by each label and its place, all labels in one reading."""
    stacked = rows.unpivot(names, index=["place", "hit"], variable_name="label", value_name="value")
    return stacked.group_by("label", "value", "place").agg(
        nw.len().alias("rows"), nw.col("hit").sum().alias("hits")
    )


def _names_none(watched: Watched) -> bool:
    return isinstance(watched, Crossing) or watched.top is not None


def _unpack(table: Any, model: Model, kept: Mapping[str, Sequence[str]]) -> Columns:
    listed = {name: {*values, OTHER} for name, values in kept.items()}
    rows: dict[str, dict[str, list[int]]] = {label_name(watched): {} for watched in model.columns}
    named = zip(table["label"].to_pylist(), table["value"].to_pylist(), strict=True)
    for row, (label, value) in enumerate(named):
        own = value if value and (label not in listed or value in listed[label]) else OTHER
        rows[label].setdefault(own, []).append(row)
    columns = [table[name].to_numpy().astype(np.int64) for name in ("place", "rows", "hits")]
    return {
        watched.name: {
            value: _part(*(column[of_value] for column in columns))
            for value, of_value in sorted(rows[label_name(watched)].items())
        }
        for watched in model.columns
    }


def _part(own: Ints, rows: Ints, hits: Ints) -> ColumnPart:
    matched = own != AWAITED
    cells, place = np.unique(own[matched], return_inverse=True)
    counts, positives = np.zeros(cells.size, np.int64), np.zeros(cells.size, np.int64)
    np.add.at(counts, place, rows[matched])
    np.add.at(positives, place, hits[matched])
    return ColumnPart(cells, counts, positives, int(rows.sum()))
