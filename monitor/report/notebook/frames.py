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
    from monitor.measures.measure import numbers

    for measure in MEASURES:
        for labels, estimate in numbers(measure, e) if measure.row else ():
            adjusted = labels.pop("adjusted", measure.adjusted)
            name = measure.row.format(**labels)
            yield Row(name, adjusted, estimate.value, estimate.low, estimate.high)
