"""Results as tidy rows, and rows as pandas frames: one number a row, with its interval."""

from collections.abc import Iterator, Sequence
from math import nan
from typing import TYPE_CHECKING, Any, NamedTuple

from monitor.base.errors import needing

if TYPE_CHECKING:
    import pandas as pd

    from monitor.evaluation.evaluation import Evaluation
    from monitor.metrics.core.tally import Tally

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


def scores_of(e: "Evaluation", t: "Tally") -> Iterator[Row]:
    """Give the Brier score, the square of RBS, and AUC, which no prior shift moves.

    Parameters
    ----------
    e : Evaluation
        Of the rows.
    t : Tally
        The same rows. AUC has no interval where rows of one entity hang together, because its
        own counts rows.
    """
    from monitor.metrics.intervals.intervals import auc_interval

    for adjusted, errors in (("raw", e.raw), ("prior", e.prior)):
        if errors is not None:
            ends = errors.rbs_interval
            squares = (ends.low**2, ends.high**2) if ends else (nan, nan)
            yield Row("brier", adjusted, errors.rbs**2, *squares)
    if 0 < t.total_positives < t.total:
        area = auc_interval(t)
        ends_of_area = (area.low, area.high) if e.design_effect is None else (nan, nan)
        yield Row("auc", None, area.value, *ends_of_area)
