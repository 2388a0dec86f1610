"""Results as tidy rows, and rows as pandas frames: one number a row, with its interval."""

from collections.abc import Iterator, Sequence
from math import nan
from typing import TYPE_CHECKING, Any, NamedTuple

from monitor.errors import needing

if TYPE_CHECKING:
    import pandas as pd

    from monitor.evaluation.evaluate import Evaluation

DATES = ("day", "since", "opened", "started", "start_low", "start_high", "closed")


class Row(NamedTuple):
    """One number of an evaluation: its name, its scores (raw, prior, map or none), its interval.

    The fields are columns of the frames.
    """

    measure: str
    adjusted: str | None
    value: float
    low: float = nan
    high: float = nan


def frame(rows: Sequence[Any], columns: Sequence[str]) -> "pd.DataFrame":
    """Make a frame; days are datetimes, and a missing number is nan."""
    with needing("frames", "pandas", "notebook"):
        import pandas as pd
    table = pd.DataFrame.from_records(list(rows), columns=list(columns))
    for name in set(DATES) & set(columns):
        table[name] = pd.to_datetime(table[name])
    return table


def rows_of(e: "Evaluation") -> Iterator[Row]:
    """List every number of an evaluation, in the order of the measures."""
    from monitor.measures.catalogue import MEASURES
    from monitor.metrics.core.estimate import Estimate

    for measure in MEASURES:
        scope = measure.scope
        for labels, part in scope.parts(e) if measure.row else ():
            value = measure.read(part)
            if value is None:
                continue
            estimate = value if isinstance(value, Estimate) else Estimate(value, nan, nan)
            named = dict(zip(scope.labels, labels, strict=True))
            adjusted = named.pop("adjusted", measure.adjusted)
            name = measure.row.format(**named)
            yield Row(name, adjusted, estimate.value, estimate.low, estimate.high)
