"""How many predictions have an outcome already, where it is a column of the predictions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from monitor.config.filters import columns_of_filter
from monitor.days.arrivals import COMPLETE
from monitor.logs.discovery.roles.arrivals import MET
from monitor.logs.discovery.samples.reading import ROWS_PER_DAY, Log
from monitor.logs.discovery.samples.rows import ask, open_rows
from monitor.logs.engines.session import Session

NEWEST_DAYS = 40  # days whose outcomes are counted
NORMAL_DEVIATION = 0.6745  # median absolute deviation of a normal distribution, by its standard one
CLEARLY = (
    4.0  # standard deviations by which days must lack outcomes: 40 of them lack some by chance
)


@dataclass(frozen=True)
class Filling:
    """Shares of the predictions with an outcome.

    Attributes
    ----------
    shares : mapping of int to float
        By days before the newest day: share of the predictions with an outcome.
    ones, rows : mapping of int to int
        Outcomes of 1, and predictions, by the same days.
    early : int
        Sampled outcomes with a time before that of their prediction.
    """

    shares: Mapping[int, float]
    ones: Mapping[int, int]
    rows: Mapping[int, int]
    early: int = 0

    @property
    def usual(self) -> float:
        """Return the share that old days reach."""
        oldest = sorted(self.shares, reverse=True)[: max(1, len(self.shares) // 2)]
        return float(np.median([self.shares[age] for age in oldest])) if oldest else 0.0

    @property
    def complete_after(self) -> int:
        """Return the first age from which on the share is the usual one, as far as chance lets see.

        A share that never comes is no delay: only one that rises with age is. So an age is late
        if it, alone or with the ages after it, lacks more than the old days differ by.

        Examples
        --------
        >>> some, rows = {0: 0.2, 1: 0.69, 2: 0.71, 3: 0.7}, dict.fromkeys(range(4), 1000)
        >>> Filling(some, rows, rows).complete_after
        1
        """
        ages = sorted(self.shares)
        lack = np.array([COMPLETE * self.usual - self.shares[age] for age in ages]) / self._spread
        for place in range(lack.size):
            together = lack[place:].cumsum() / np.sqrt(np.arange(1, lack.size - place + 1))
            if together.max() <= CLEARLY:
                return ages[place - 1] + 1 if place else 0
        return max(ages, default=-1) + 1

    @property
    def _spread(self) -> npt.NDArray[np.float64]:
        """Return the standard deviation of each share: of the old days, at least that of chance."""
        ages = sorted(self.shares)
        old = ages[len(ages) // 2 :]
        rows = np.array([self.rows[age] for age in ages], dtype=np.float64)
        filled = sum(self.shares[age] * self.rows[age] for age in old)
        rate = (filled + 0.5) / (sum(self.rows[age] for age in old) + 1.0)
        by_chance = np.sqrt(rate * (1.0 - rate) / np.maximum(rows, 1.0))
        differences = [abs(self.shares[age] - self.usual) for age in old]
        robust = float(np.median(differences)) / NORMAL_DEVIATION if old else 0.0
        return np.maximum(by_chance, robust)


def fill(
    session: Session, log: Log, is_one: str, dated_by: str | None, columns: Sequence[str]
) -> Filling:
    """Count the outcomes of the newest days of a log that holds scores and outcomes.

    Parameters
    ----------
    session : Session
        Runs the queries.
    log : Log
        What to read.
    is_one : str
        SQL of the outcome.
    dated_by : str or None
        SQL of the time of a row, if the path names no day.
    columns : sequence of str
        The columns that both need.
    """
    counted = f"count(*), count({is_one}), coalesce(count_if({is_one}), 0)"
    shares, ones, rows_of = dict[int, float](), dict[int, int](), dict[int, int]()
    newest = log.days[-NEWEST_DAYS:]
    for day in newest:
        rows = open_rows(session, log.source, day, most=ROWS_PER_DAY)
        if rows is not None:
            rows.filter(log.row_filter or "true").create_view("some_rows", replace=True)
            total, filled, positive = ask(session, f"SELECT {counted} FROM some_rows")
            age = (newest[-1] - day).days
            shares[age], ones[age], rows_of[age] = filled / max(1, total), positive, total
    if not newest and dated_by:
        used = [
            c
            for c in (columns_of_filter(log.row_filter) if log.row_filter else ())
            if c not in columns
        ]
        rows = open_rows(session, log.source, None, columns=[*columns, *used])
        assert rows is not None  # the sample is from there
        rows.filter(log.row_filter or "true").create_view("all_rows", replace=True)
        dated = f"({dated_by})::DATE"
        last = f"(SELECT max({dated}) FROM all_rows)"
        recent = f"SELECT * FROM all_rows WHERE {dated} > {last} - {NEWEST_DAYS}"
        ages = f"SELECT ({last} - {dated})::INT, {counted} FROM ({recent}) GROUP BY 1"
        for age, total, filled, positive in session.connection.execute(ages).fetchall():
            shares[age], ones[age], rows_of[age] = filled / max(1, total), positive, total
    return Filling(shares, ones, rows_of)


def keep_own(session: Session, log: Log, are_one: Sequence[str]) -> None:
    """Make `met` the rows of a log that has outcomes beside the score.

    Parameters
    ----------
    session, log : Session, Log
        Has the sample.
    are_one : sequence of str
        SQL of each column that may be the outcome.
    """
    ones = ", ".join(f"{sql} AS cm_one_{i}" for i, sql in enumerate(are_one))
    session.connection.execute(
        f"CREATE OR REPLACE TABLE {MET} AS SELECT *, {ones} FROM {log.table}"
    )
