"""The evaluations of a day as a table of the store: a row for each segment and window. Pure.

The fields of the dataclasses are the columns: a field that is added to `Evaluation` or to what it
holds is stored, and read back, without another word here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import is_dataclass
from datetime import date, datetime
from functools import cache
from math import isnan, nan
from types import NoneType
from typing import Any, get_args, get_origin, get_type_hints

import pyarrow as pa

from monitor.evaluation.attribution import Causes
from monitor.evaluation.evaluate import Evaluation
from monitor.metrics.core.estimate import Estimate


def _struct(*names: str) -> pa.DataType:
    return pa.struct([(name, pa.float64()) for name in names])


LAYOUTS: Mapping[Any, pa.DataType] = {
    str: pa.string(),
    date: pa.date32(),
    datetime: pa.timestamp("s", "UTC"),
    bool: pa.bool_(),
    int: pa.int64(),
    float: pa.float64(),
    float | None: pa.float64(),
    Estimate: _struct("value", "low", "high"),
    Mapping[str, int]: pa.map_(pa.string(), pa.int64()),
}
# The layouts of earlier versions, which files keep.
ENDS, MEAN = _struct("low", "high"), _struct("value", "standard_error")
KEPT = {
    "window_days": pa.int32(),
    "days_present": pa.int32(),
    "shift": _struct("delta", "low", "high"),
    "ece_interval": ENDS,
    "rbs_interval": ENDS,
    "correction": pa.struct(
        [
            *((name, MEAN) for name in ("delta", "log_loss", "squared_error")),
            ("log_loss_before", pa.float64()),
        ]
    ),
}
VALUES_OF_ENDS = {"ece_interval": "ece", "rbs_interval": "rbs"}
PLAIN = {bool, int, float, str}  # most values, so they are not looked at twice
OF_CAUSES = ["segment", "window_days", "causes"]


@cache  # reading the type hints for every number takes longer than reading the file
def _kinds(of: type) -> dict[str, Any]:
    """Find what the fields of a dataclass hold, if they hold something."""
    kinds = {}
    for name, hint in get_type_hints(of).items():
        known = [kind for kind in get_args(hint) if kind is not NoneType]
        is_optional = NoneType in get_args(hint) and hint not in LAYOUTS
        kinds[name] = known[0] if is_optional else hint
    return kinds


def layout(kind: Any) -> pa.DataType:
    """Lay out a number, a text, a moment, a dataclass, or several of a kind."""
    if kind in LAYOUTS:
        return LAYOUTS[kind]
    if get_origin(kind) is tuple:
        return pa.list_(layout(get_args(kind)[0]))
    return pa.struct(list(_columns(kind).items()))


def _columns(of: type) -> dict[str, pa.DataType]:
    return {name: KEPT[name] if name in KEPT else layout(kind) for name, kind in _kinds(of).items()}


COLUMNS = _columns(Evaluation)
NAMES = [*COLUMNS]
# Every file has these; a further one only where a row has it, as of models with a map or classes.
EVALUATIONS = pa.schema({name: COLUMNS[name] for name in NAMES[: NAMES.index("correction") + 1]})


def evaluation_table(evaluations: Sequence[Evaluation]) -> pa.Table:
    """Lay out the evaluations of a day."""
    rows = [
        {
            name: None if isinstance(value, float) and isnan(value) else value
            for name, value in _plain(evaluation).items()
        }
        | {"rejected": sorted(evaluation.rejected.items()), "shift": _shift(evaluation.shift)}
        for evaluation in evaluations
    ]
    used = [name for name in COLUMNS if any(row[name] is not None for row in rows)]
    further = [pa.field(name, COLUMNS[name]) for name in used if name not in EVALUATIONS.names]
    return pa.Table.from_pylist(rows, schema=pa.schema([*EVALUATIONS, *further]))


def _shift(shift: Estimate | None) -> dict[str, float] | None:
    return {"delta": shift.value, "low": shift.low, "high": shift.high} if shift else None


def _plain(value: Any) -> Any:
    """Turn dataclasses into dicts, four times as fast as `dataclasses.asdict`, which copies."""
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    if not is_dataclass(value):
        return value
    return {name: _plain(inner) for name, inner in vars(value).items()}


def evaluation_of(row: dict[str, Any]) -> Evaluation:
    """Read a row of the table back."""
    return rebuilt(Evaluation, row)  # type: ignore[no-any-return] # by the kind, as of every field


def rebuilt(kind: Any, value: Any) -> Any:
    """Read back what was laid out as a kind; a number that is null is nan."""
    if value is None:
        return nan if kind is float else None
    if get_origin(kind) is tuple:
        return tuple(rebuilt(get_args(kind)[0], one) for one in value)
    if kind is Estimate:
        return _estimate(value)
    if kind in LAYOUTS:
        return dict(value) if isinstance(value, list) else value
    for ends, of in VALUES_OF_ENDS.items():
        if value.get(ends):
            value = {**value, ends: {"value": value[of], **value[ends]}}
    kinds = _kinds(kind)
    return kind(
        **{
            name: inner if type(inner) in PLAIN else rebuilt(kinds[name], inner)
            for name, inner in value.items()
        }
    )


def _estimate(row: Mapping[str, float]) -> Estimate:
    if "standard_error" in row:
        return Estimate.normal(**row)
    return Estimate(row["delta"] if "delta" in row else row["value"], row["low"], row["high"])


def causes_of_day(table: pa.Table) -> dict[str, Causes | None]:
    """Read the causes of each segment over the day alone; `OF_CAUSES` are the columns needed."""
    alone = table.filter(pa.array(table["window_days"].to_numpy() == 1))
    return {row["segment"]: rebuilt(Causes, row["causes"]) for row in alone.to_pylist()}
