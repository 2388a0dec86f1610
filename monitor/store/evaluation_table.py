"""The evaluations of a day as a table of the store: a row for each segment and window. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from math import isnan, nan
from typing import Any, get_args, get_type_hints

import pyarrow as pa

from monitor.evaluation.attribution import Causes, InterceptCorrection, Shares
from monitor.evaluation.class_measures import ClassErrors, ClassMeasures, VectorErrors
from monitor.evaluation.evaluate import Evaluation, TceNull
from monitor.evaluation.expected_prevalence import Expectation
from monitor.evaluation.map_gain import MapGain
from monitor.evaluation.score_errors import Errors
from monitor.metrics.core.estimate import Estimate

ESTIMATE = pa.struct([(name, pa.float64()) for name in ("value", "low", "high")])
MEAN = pa.struct([(name, pa.float64()) for name in ("value", "standard_error")])
# The names and layouts of earlier versions, which files keep.
SHIFT = pa.struct([(name, pa.float64()) for name in ("delta", "low", "high")])
ENDS = pa.struct([(name, pa.float64()) for name in ("low", "high")])
VALUES_OF_ENDS = {"ece_interval": "ece", "rbs_interval": "rbs"}


def _numbers(kind: type, estimate: pa.DataType = ESTIMATE) -> pa.DataType:
    """Lay out a dataclass of numbers, or of such dataclasses; estimates in the layout given."""
    if kind is Estimate:
        return estimate
    inner = {f.name: _inner(kind, f.name) for f in fields(kind)}
    return pa.struct(
        [
            (k, _numbers(v, ENDS if k in VALUES_OF_ENDS else estimate) if v else _number(kind, k))
            for k, v in inner.items()
        ]
    )


def _number(kind: type, name: str) -> pa.DataType:
    return pa.int64() if get_type_hints(kind)[name] is int else pa.float64()


@cache  # reading the type hints for every number takes longer than reading the file
def _inner(kind: type, name: str) -> type | None:
    """Find the dataclass that a field holds; None for a number."""
    hint = get_type_hints(kind)[name]
    kinds = (t for t in (*get_args(hint), hint) if isinstance(t, type))
    return next((t for t in kinds if is_dataclass(t)), None)


def _rebuilt(kind: type, row: Mapping[str, Any]) -> Any:
    if kind is Estimate and "standard_error" in row:
        return Estimate.normal(**row)
    if kind is Estimate and "delta" in row:
        return Estimate(row["delta"], row["low"], row["high"])
    for ends, value in VALUES_OF_ENDS.items():
        if row.get(ends):
            row = {**row, ends: {"value": row[value], **row[ends]}}
    return kind(
        **{
            name: _rebuilt(inner, value)
            if value is not None and (inner := _inner(kind, name))
            else value
            for name, value in row.items()
        }
    )


EVALUATION_COLUMNS: dict[str, pa.DataType] = {
    "model": pa.string(),
    "segment": pa.string(),
    "day": pa.date32(),
    "window_days": pa.int32(),
    "days_present": pa.int32(),
    "final": pa.bool_(),
    "known_at": pa.timestamp("s", "UTC"),
    "predicted": pa.int64(),
    "matched": pa.int64(),
    "positives": pa.int64(),
    "rejected": pa.map_(pa.string(), pa.int64()),
    "coverage": pa.float64(),
    "prevalence": pa.float64(),
    "mean_score": pa.float64(),
    "shift": SHIFT,
    "raw": _numbers(Errors),
    "prior": _numbers(Errors),
    "null": _numbers(TceNull),
    "slope": _numbers(Estimate),
    "causes": _numbers(Causes),
    "expected": _numbers(Expectation),
    "correction": _numbers(InterceptCorrection, MEAN),
}


EVALUATIONS = pa.schema(EVALUATION_COLUMNS)
# Only files of models with classes have this column.
CLASSES = pa.struct(
    [
        ("count", pa.int64()),
        ("judged", pa.float64()),
        ("raw", _numbers(VectorErrors)),
        ("prior", _numbers(VectorErrors)),
        (
            "by_class",
            pa.list_(
                pa.struct(
                    [
                        ("name", pa.string()),
                        ("outcomes", pa.int64()),
                        ("prevalence", pa.float64()),
                        ("mean_score", pa.float64()),
                        ("raw", _numbers(Errors)),
                        ("prior", _numbers(Errors)),
                    ]
                )
            ),
        ),
        ("pairs", pa.int64()),
    ]
)
# Only files of models with a calibration map have these columns.
OF_MAP = {
    "map": _numbers(Errors),
    "map_slope": _numbers(Estimate),
    "map_gain": _numbers(MapGain),
}


OF_CAUSES = ["segment", "window_days", "causes"]


NESTED = {
    "shift": Estimate,
    "raw": Errors,
    "prior": Errors,
    "null": TceNull,
    "slope": Estimate,
    "causes": Causes,
    "expected": Expectation,
    "correction": InterceptCorrection,
    "map": Errors,
    "map_slope": Estimate,
    "map_gain": MapGain,
}


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
    optional = OF_MAP | {"classes": CLASSES}
    used = [name for name in optional if any(row[name] is not None for row in rows)]
    for row in rows:
        if row["classes"]:
            row["classes"]["by_class"] = [_plain(one) for one in row["classes"]["by_class"]]
    further = [pa.field(name, optional[name]) for name in used]
    return pa.Table.from_pylist(rows, schema=pa.schema([*EVALUATIONS, *further]))


def _shift(shift: Estimate | None) -> dict[str, float] | None:
    return {"delta": shift.value, "low": shift.low, "high": shift.high} if shift else None


def _plain(value: Any) -> Any:
    """Turn dataclasses into dicts, four times as fast as `dataclasses.asdict`, which copies."""
    if not is_dataclass(value):
        return value
    return {name: _plain(inner) for name, inner in vars(value).items()}


def evaluation_of(row: dict[str, Any]) -> Evaluation:
    """Read a row of the table back."""
    numbers = {k: nan for k in ("coverage", "prevalence", "mean_score") if row[k] is None}
    row = {**dict.fromkeys(OF_MAP), **row}
    nested = {k: _rebuilt(kind, row[k]) for k, kind in NESTED.items() if row[k] is not None}
    classes = _classes_of(row["classes"]) if row.get("classes") else None
    return Evaluation(
        **{
            **row,
            **numbers,
            **nested,
            "rejected": dict(row["rejected"]),
            "classes": classes,
        }
    )


def causes_of_day(table: pa.Table) -> dict[str, Causes | None]:
    """Read the causes of each segment over the day alone; `OF_CAUSES` are the columns needed."""
    alone = table.filter(pa.array(table["window_days"].to_numpy() == 1))
    return {
        row["segment"]: causes and Causes(**{name: Shares(**of) for name, of in causes.items()})
        for row in alone.to_pylist()
        for causes in (row["causes"],)
    }


def _classes_of(row: Mapping[str, Any]) -> ClassMeasures:
    of_vectors = {name: _rebuilt(VectorErrors, row[name]) for name in ("raw", "prior")}
    by_class = tuple(
        ClassErrors(
            **{
                **one,
                **{name: one[name] and _rebuilt(Errors, one[name]) for name in ("raw", "prior")},
            }
        )
        for one in row["by_class"]
    )
    return ClassMeasures(**{**row, **of_vectors, "by_class": by_class})
