"""A dataclass as columns of a table, and back: its fields are the columns. Pure.

A field that is added to what is stored is stored, and read back, without another word here.
"""

from collections.abc import Container, Mapping, Sequence
from dataclasses import is_dataclass
from datetime import date, datetime
from functools import cache
from math import nan
from types import NoneType
from typing import Any, Literal, get_args, get_origin, get_type_hints

import numpy as np
import pyarrow as pa

from monitor.metrics.core.estimate import Estimate
from monitor.metrics.core.grid import Floats, Ints, Singles

Layouts = Mapping[Any, pa.DataType]


def struct(*names: str) -> pa.DataType:
    """Lay out numbers with names."""
    return pa.struct([(name, pa.float64()) for name in names])


LAYOUTS: Mapping[Any, pa.DataType] = {
    str: pa.string(),
    date: pa.date32(),
    datetime: pa.timestamp("s", "UTC"),
    bool: pa.bool_(),
    int: pa.int64(),
    float: pa.float64(),
    float | None: pa.float64(),
    Estimate: struct("value", "low", "high"),
    Mapping[str, int]: pa.map_(pa.string(), pa.int64()),
    Floats: pa.list_(pa.float64()),
    Singles: pa.list_(pa.float32()),
    Ints: pa.list_(pa.int64()),
}
ARRAYS = {Floats: np.float64, Singles: np.float32, Ints: np.int64}  # flat, of one dimension
VALUES_OF_ENDS = {"ece_interval": "ece", "rbs_interval": "rbs"}  # of intervals without a value
PLAIN = {bool, int, float, str}  # most values, so they are not looked at twice
LEAVES = {*PLAIN, NoneType}


@cache  # reading the type hints for every number takes longer than reading the file
def kinds_of(of: Any) -> dict[str, Any]:
    """Find what the fields of a dataclass hold, if they hold something."""
    kinds = {}
    for name, hint in get_type_hints(of).items():
        kinds_of_values = [kind for kind in get_args(hint) if kind is not NoneType]
        is_optional = NoneType in get_args(hint) and hint not in LAYOUTS
        kinds[name] = kinds_of_values[0] if is_optional else hint
    return kinds


@cache
def items_of(kind: Any) -> Any:
    """Find what a tuple holds; None stands for what is no tuple."""
    return get_args(kind)[0] if get_origin(kind) is tuple else None


def columns(of: type, kept: Layouts | None = None, without: Container[str] = ()) -> dict[str, Any]:
    """Lay out the fields of a dataclass.

    Parameters
    ----------
    of : type
        The dataclass.
    kept : mapping of str or type to DataType, optional
        Layouts by the name of the field or by what it holds, here and in what fields hold.
    without : container of str
        Fields that are not stored, or elsewhere.
    """
    kept = kept or {}
    return {
        name: kept[name] if name in kept else layout(kind, kept)
        for name, kind in kinds_of(of).items()
        if name not in without
    }


def layout(kind: Any, kept: Layouts | None = None) -> pa.DataType:
    """Lay out a number, a text, a moment, an array, a dataclass, or several of a kind."""
    if kept and kind in kept:
        return kept[kind]
    if kind in LAYOUTS:
        return LAYOUTS[kind]
    if get_origin(kind) is Literal:
        return pa.string()
    if get_origin(kind) is tuple:
        return pa.list_(layout(get_args(kind)[0], kept))
    return pa.struct(list(columns(kind, kept).items()))


def plain(value: Any) -> Any:
    """Turn dataclasses into dicts, four times as fast as `dataclasses.asdict`, which copies."""
    if isinstance(value, tuple):
        return [plain(item) for item in value]
    if isinstance(value, np.ndarray):
        return value.ravel()
    if not is_dataclass(value):
        return value
    return {
        name: inner if type(inner) in LEAVES else plain(inner)
        for name, inner in vars(value).items()
    }


def table_of(rows: Sequence[Mapping[str, Any]], schema: pa.Schema) -> pa.Table:
    """Lay out rows, each looked at once; `from_pylist` looks at all again for every column."""
    structs: Any = pa.array(rows, pa.struct([*schema]))  # the stubs know no array of structs
    return pa.Table.from_struct_array(structs)


def rebuilt(kind: Any, value: Any) -> Any:
    """Read back what was laid out as a kind; a number that is null is nan."""
    if value is None:
        return nan if kind is float else None
    if (of_items := items_of(kind)) is not None:
        return tuple(rebuilt(of_items, item) for item in value)
    if kind is Estimate:
        return _estimate(value)
    if kind in ARRAYS:
        return np.array(value, ARRAYS[kind])
    if kind in LAYOUTS or type(value) in PLAIN or is_dataclass(value):
        return dict(value) if isinstance(value, list) else value
    for ends, of in VALUES_OF_ENDS.items():
        if value.get(ends):
            value = {**value, ends: {"value": value[of], **value[ends]}}
    kinds = kinds_of(kind)
    return kind(
        **{
            name: inner if type(inner) in PLAIN else rebuilt(kinds[name], inner)
            for name, inner in value.items()
        }
    )


def _estimate(row: Mapping[str, float] | Sequence[float]) -> Estimate:
    if not isinstance(row, Mapping):
        return Estimate(*row, *[nan] * (3 - len(row)))
    if "low" not in row:
        return Estimate.normal(**row)
    value = row["delta"] if "delta" in row else row["value"]
    return Estimate(value, row["low"], row["high"], row.get("standard_error", nan))
