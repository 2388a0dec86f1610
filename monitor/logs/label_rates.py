"""What outcomes stand for whose rows were chosen with a probability that the log says.

A row that was chosen with probability r stands for 1/r rows. Tallies stay the integers that were
counted; beside them are sums of 1/r and of 1/r squared, in fixed point, so that they add exactly.
"""

from typing import Any

import narwhals as nw
import numpy as np

from monitor.config import LEAST_RATE
from monitor.errors import DataError, Fault
from monitor.logs.checks import Status
from monitor.logs.session import Frame, Session
from monitor.logs.statement import OUTCOMES, POSITIVE
from monitor.metrics.core.grid import CELL_COUNT
from monitor.summary import SQUARE, UNIT, Rated, rated

Parts = dict[int, Rated]  # by the number of segment and stratum


def count_rated(session: Session, joined: Frame) -> Parts:
    """Add up what the outcomes of a day stand for, by part and cell.

    Parameters
    ----------
    session : Session
        The one that reads the day.
    joined : LazyFrame
        The join, with the columns `status`, `key` and `weight`, the probability of a row.

    Raises
    ------
    DataError
        If a row with an outcome has no probability, or one that is none.
    """
    rate = nw.col("weight")
    # Statistics of Parquet leave out NaN, and DuckDB concludes from them that there is none.
    usable = ~rate.is_nan() & (rate >= LEAST_RATE) & (rate <= 1.0)
    inverse = 1.0 / nw.when(usable).then(rate).otherwise(1.0)
    with session.drafting():
        rows = (
            joined.filter(nw.col("status") == int(Status.MATCHED))
            .select(
                "key",
                "weight",
                inverse=(inverse * UNIT + 0.5).floor().cast(nw.Int64),
                square=(inverse * inverse * SQUARE + 0.5).floor().cast(nw.Int64),
                wrong=nw.when(usable).then(0).otherwise(1).cast(nw.Int64),
            )
            .group_by("key")
            .agg(
                nw.col("inverse").sum(),
                nw.col("square").sum(),
                nw.col("wrong").sum(),
                nw.len().alias("rows"),
                nw.col("weight").min().alias("least"),
                nw.col("weight").max().alias("most"),
            )
        )
    table = rows.collect(backend="pyarrow").to_native()
    if wrong := sum(int(of) for of in table["wrong"].to_pylist()):
        raise _refusal(session.what, wrong, sum(int(of) for of in table["rows"].to_pylist()), table)
    key, inverses, squares = (
        table[name].cast("int64").to_numpy() for name in ("key", "inverse", "square")
    )
    place, of_place = np.divmod(key, CELL_COUNT * OUTCOMES)
    cells, outcome = np.divmod(of_place, OUTCOMES)
    positive = outcome == POSITIVE
    return {
        int(number): rated(cells[of], inverses[of], squares[of], positive[of])
        for number in np.unique(place)
        for of in [place == number]
    }


def _refusal(what: str, wrong: int, rows: int, table: Any) -> DataError:
    ends = [value for name in ("least", "most") for value in table[name].to_pylist()]
    rates = [value for value in ends if value is not None]
    lie = f"; the others lie between {min(rates):.6g} and {max(rates):.6g}" if rates else ""
    msg = (
        f"{what}: {wrong:,} of {rows:,} rows with an outcome have no label_rate from "
        f"{LEAST_RATE:g} to 1{lie}. It is the probability with which a row was chosen to get an "
        f"outcome: log it with each such row, then rerun this day; or set label_rate to by_score "
        f"if the score alone decides."
    )
    return DataError(msg, Fault("predictions", "other", "probabilities of labels are missing"))
