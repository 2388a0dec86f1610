"""What outcomes stand for whose rows were chosen with a probability that the log says.

A row that was chosen with probability r stands for 1/r rows. Tallies stay the integers that were
counted; beside them are sums of 1/r and of 1/r squared, in fixed point, so that they add exactly.
"""

from typing import Any

import numpy as np

from monitor.base.errors import DataError, Fault
from monitor.config import LEAST_RATE
from monitor.days.summary import SQUARE, UNIT, Rated, rated
from monitor.logs.checks.checks import Status
from monitor.logs.engines.steps import as_double
from monitor.logs.statement.statement import OUTCOMES, POSITIVE, Query
from monitor.metrics.core.grid import CELL_COUNT

Parts = dict[int, Rated]  # by the number of segment and stratum


def count_rated(query: Query) -> Parts:
    """Add up what the outcomes of a day stand for, by part and cell.

    Parameters
    ----------
    query : Query
        Of a day whose rows have `weight`, the probability of a row.

    Raises
    ------
    DataError
        If a row with an outcome has no probability, or one that is none.
    """
    # Statistics of Parquet leave out NaN, and DuckDB concludes from them that there is none.
    usable = f"NOT isnan(weight) AND weight >= {as_double(LEAST_RATE)} AND weight <= 1e0"
    inverse = f"(1e0 / CASE WHEN {usable} THEN weight ELSE 1e0 END)"

    def total(value: str, unit: int) -> str:
        return f"sum(CAST(floor({value} * {as_double(float(unit))} + 0.5e0) AS BIGINT))"

    table: Any = query.fetch(
        f"SELECT key, {total(inverse, UNIT)} AS inverse, "
        f"{total(f'{inverse} * {inverse}', SQUARE)} AS square, "
        f"sum(CASE WHEN {usable} THEN 0 ELSE 1 END) AS wrong, count(*) AS rows, "
        f"min(weight) AS least, max(weight) AS most "
        f"FROM rows_of_day WHERE status = {int(Status.MATCHED)} GROUP BY key",
        "SELECT key, sum(inverse) AS inverse, sum(square) AS square, sum(wrong) AS wrong, "
        "sum(rows) AS rows, min(least) AS least, max(most) AS most FROM shares GROUP BY key",
    )
    if wrong := sum(int(of) for of in table["wrong"].to_pylist()):
        raise _refusal(
            query.logs.session.what, wrong, sum(int(of) for of in table["rows"].to_pylist()), table
        )
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
