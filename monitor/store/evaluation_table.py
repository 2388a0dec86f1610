"""The evaluations of a day as a table of the store: a row for each segment and window. Pure."""

from collections.abc import Sequence
from math import isnan
from typing import Any

import pyarrow as pa

from monitor.evaluation.evaluation import Causes, Evaluation
from monitor.metrics.core.estimate import Estimate
from monitor.store.fields import columns, plain, rebuilt, struct, table_of

# The layouts of earlier versions, which files keep.
ENDS, MEAN = struct("low", "high"), struct("value", "standard_error")
KEPT = {
    "window_days": pa.int32(),
    "days_present": pa.int32(),
    "shift": struct("delta", "low", "high"),
    "ece_interval": ENDS,
    "rbs_interval": ENDS,
    "correction": pa.struct(
        [
            *((name, MEAN) for name in ("delta", "log_loss", "squared_error")),
            ("log_loss_before", pa.float64()),
        ]
    ),
}
OF_CAUSES = ["segment", "window_days", "causes"]

COLUMNS = columns(Evaluation, KEPT)
NAMES = [*COLUMNS]
# Every file has these; a further one only where a row has it, as of models with a map or classes.
EVALUATIONS = pa.schema({name: COLUMNS[name] for name in NAMES[: NAMES.index("correction") + 1]})


def evaluation_table(evaluations: Sequence[Evaluation]) -> pa.Table:
    """Lay out the evaluations of a day."""
    rows = [
        {
            name: None if isinstance(value, float) and isnan(value) else value
            for name, value in plain(evaluation).items()
        }
        | {"rejected": sorted(evaluation.rejected.items()), "shift": _shift(evaluation.shift)}
        for evaluation in evaluations
    ]
    used = [name for name in COLUMNS if any(row[name] is not None for row in rows)]
    further = [pa.field(name, COLUMNS[name]) for name in used if name not in EVALUATIONS.names]
    return table_of(rows, pa.schema([*EVALUATIONS, *further]))


def _shift(shift: Estimate | None) -> dict[str, float] | None:
    return {"delta": shift.value, "low": shift.low, "high": shift.high} if shift else None


def evaluation_of(row: dict[str, Any]) -> Evaluation:
    """Read a row of the table back."""
    return rebuilt(Evaluation, row)  # type: ignore[no-any-return] # by the kind, as of every field


def causes_of_day(table: pa.Table) -> dict[str, Causes | None]:
    """Read the causes of each segment over the day alone; `OF_CAUSES` are the columns needed."""
    alone = table.filter(pa.array(table["window_days"].to_numpy() == 1))
    return {row["segment"]: rebuilt(Causes, row["causes"]) for row in alone.to_pylist()}
