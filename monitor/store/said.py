"""What is said as a row of few columns, and back. Pure.

Rule 1: a field that has its default is left out, and so is a column in which no row has a value.
Rule 2: numbers that stand together are one column: an estimate, and those of `TOGETHER`.
"""

from collections.abc import Container, Iterable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from itertools import chain
from math import isnan
from typing import Any

import pyarrow as pa

from monitor.drift.records.detector import Incident
from monitor.drift.records.facts import Detectable, Scores
from monitor.drift.records.places import Explanation
from monitor.drift.records.values import ValueIncident
from monitor.metrics.core.estimate import Estimate
from monitor.store.fields import ARRAYS, Layouts, columns, items_of, kinds_of

OF_ESTIMATE = "value", "low", "high", "standard_error"


def numbers(count: int) -> pa.DataType:
    """Lay out as many numbers in one column."""
    return pa.list_(pa.float64(), count)


ESTIMATE = numbers(3)
PAIR_OF_DRIFT = {"size": ("size", "size_error"), "evidence": ("evidence", "recovery")}
TOGETHER: Mapping[type, Mapping[str, tuple[str, ...]]] = {
    Incident: {"started": ("started", "start_low", "start_high"), **PAIR_OF_DRIFT},
    ValueIncident: PAIR_OF_DRIFT,
    Scores: {
        "mean": ("mean_before", "mean"),
        "spread": ("spread_before", "spread"),
        "below": ("below", "above"),
    },
    Explanation: {"share": ("share", "rows")},
    Detectable: {"tolerated": ("tolerated", "found"), "days": ("days", "days_strong")},
}


def said_columns(of: type, kept: Layouts, without: Container[str] = ()) -> pa.DataType:
    """Lay out what is said of a dataclass; see `monitor.store.fields.columns`."""
    every = columns(of, kept, without)
    for name, names in TOGETHER.get(of, {}).items():
        single = every[name]
        every = {each: kind for each, kind in every.items() if each == name or each not in names}
        every[name] = pa.list_(single, len(names))
    return pa.struct([*every.items()])


def said(value: Any, of: Any) -> Any:
    """Lay out a value as a type has it, without fields that have their default.

    Examples
    --------
    >>> said(Estimate(0.8, 0.7, 0.9), ESTIMATE)
    [0.8, 0.7, 0.9]
    """
    if value is None:
        return None
    if isinstance(value, Estimate):
        return [getattr(value, name) for name in OF_ESTIMATE[: of.list_size]]
    if pa.types.is_list(of):
        return [said(item, of.value_type) for item in value]
    if not pa.types.is_struct(of):
        return value
    row, together = dict[str, Any](), TOGETHER.get(type(value), {})
    for field in of:
        names = together.get(field.name, (field.name,))
        inner = [getattr(value, name) for name in names]
        if not all(_is_default(type(value), *pair) for pair in zip(names, inner, strict=True)):
            row[field.name] = inner if len(names) > 1 else said(inner[0], field.type)
    return row


def with_values(of: pa.DataType, values: Iterable[Any]) -> pa.DataType | None:
    """Leave out the parts of a type that none of some values has; None if they have nothing.

    Examples
    --------
    >>> rows = [{"size": 0.2, "kind": None}, {"size": None}]
    >>> with_values(pa.struct([("kind", pa.string()), ("size", pa.float64())]), rows)
    StructType(struct<size: double>)
    """
    there = [value for value in values if value is not None]
    if pa.types.is_struct(of):
        parts = [(f.name, with_values(f.type, [v.get(f.name) for v in there])) for f in of]
        kept = [(name, part) for name, part in parts if part is not None]
        return pa.struct(kept) if kept else None
    if pa.types.is_list(of):
        items = with_values(of.value_type, chain.from_iterable(there))
        return None if items is None else pa.list_(items)
    return of if there else None


def completed(kind: Any, row: Mapping[str, Any]) -> dict[str, Any]:
    """Give fields that are not there, or null, their default; those without one no value, or none.

    Parameters
    ----------
    kind : type
        The dataclass that was laid out.
    row : mapping of str to object
        What was read.
    """
    apart = dict(row)
    for name, names in TOGETHER.get(kind, {}).items():
        if isinstance(row.get(name), list):
            apart |= zip(names, row[name], strict=True)
    whole = {name: value for name, value in apart.items() if value is not None}
    for name, inner in kinds_of(kind).items():
        value, item = whole.get(name), items_of(inner)
        if isinstance(value, dict) and is_dataclass(inner) and inner is not Estimate:
            whole[name] = completed(inner, value)
        elif isinstance(value, list) and is_dataclass(item):
            whole[name] = [completed(item, each) for each in value]
        elif value is None and name not in _with_default(kind):
            whole[name] = () if inner in ARRAYS or item is not None else None
    return whole


@cache
def _with_default(kind: Any) -> Mapping[str, Any]:
    """Give the defaults of a dataclass; that of a field which makes one is `MISSING`."""
    made = [of for of in fields(kind) if (of.default, of.default_factory) != (MISSING, MISSING)]
    return {of.name: of.default for of in made}


def _is_default(kind: Any, name: str, value: Any) -> bool:
    default = _with_default(kind).get(name, MISSING)
    if isinstance(value, float) and isnan(value):
        return isinstance(default, float) and isnan(default)
    return value is default or (type(value) is type(default) and value == default)
