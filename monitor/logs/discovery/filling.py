"""How many predictions have an outcome already, where it is a column of the predictions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from monitor.config.filters import columns_of_filter
from monitor.logs.discovery.arrivals import COMPLETE, MET
from monitor.logs.discovery.reading import ROWS_PER_DAY, Log
from monitor.logs.discovery.rows import ask, open_rows
from monitor.logs.session import Session

NEWEST_DAYS = 40  # days whose outcomes are counted


@dataclass(frozen=True)
class Filling:
    """Shares of the predictions with an outcome.

    Attributes
    ----------
    shares : mapping of int to float
        By days before the newest day: share of the predictions with an outcome.
    ones : mapping of int to int
        Outcomes of 1 by the same days.
    early : int
        Sampled outcomes with a time before that of their prediction.
    """

    shares: Mapping[int, float]
    ones: Mapping[int, int]
    early: int = 0

    @property
    def usual(self) -> float:
        """Return the share that old days reach."""
        oldest = sorted(self.shares, reverse=True)[: max(1, len(self.shares) // 2)]
        return float(np.median([self.shares[age] for age in oldest])) if oldest else 0.0

    @property
    def complete_after(self) -> int:
        """Return the first age from which every older day has its usual share."""
        late = [age for age, share in self.shares.items() if share < COMPLETE * self.usual]
        return max(late, default=-1) + 1


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
    shares, ones = dict[int, float](), dict[int, int]()
    newest = log.days[-NEWEST_DAYS:]
    for day in newest:
        rows = open_rows(session, log.source, day, most=ROWS_PER_DAY)
        if rows is not None:
            rows.filter(log.row_filter or "true").create_view("some_rows", replace=True)
            total, filled, positive = ask(session, f"SELECT {counted} FROM some_rows")
            age = (newest[-1] - day).days
            shares[age], ones[age] = filled / max(1, total), positive
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
            shares[age], ones[age] = filled / max(1, total), positive
    return Filling(shares, ones)


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
