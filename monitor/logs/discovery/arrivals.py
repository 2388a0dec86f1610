"""When outcomes arrive, and what the predictions that have one show.

Sampled predictions are looked up in the outcomes of their own day and of the days after it: never
more than `ROWS_PER_PARTITION` rows of `MOST_AGES` partitions for each probed day.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

import numpy as np

from monitor.logs.conversions import quoted
from monitor.logs.discovery.keys import ROWS_PER_PARTITION, Key, joined_on, later_days
from monitor.logs.discovery.reading import PARTITION, Log
from monitor.logs.discovery.rows import add, ask, open_rows, tables
from monitor.logs.plausibility import Remark, about_outcomes
from monitor.logs.session import Session

MOST_AGES = 90  # days of outcomes after a prediction
QUIET_AGES = 15  # so many days without an arrival end the search
COMPLETE = 0.99  # share of the outcomes that come: the wait for the last ones may be long
MET = "met"  # the table of predictions with their outcomes; our own columns begin with cm_


@dataclass(frozen=True)
class Meaning:
    """SQL that reads the rows of both logs.

    Attributes
    ----------
    is_one : str
        Whether the outcome of a row of the outcomes is 1.
    scored_on, observed_on : str or None
        The day of a row, where the path names none.
    scored_at, observed_at : str or None
        The time of a row, if both logs have one.
    """

    is_one: str
    scored_on: str | None = None
    observed_on: str | None = None
    scored_at: str | None = None
    observed_at: str | None = None


@dataclass(frozen=True)
class Arrivals:
    """When the outcomes of sampled predictions arrived.

    Attributes
    ----------
    asked : int
        Sampled predictions.
    ages : mapping of int to (int, int)
        By days after the prediction: first outcomes that are not 1, and those that are.
    looked : int
        Up to this age every probed day has outcomes.
    repeats, conflicts : int
        Predictions with several outcomes, and those whose outcomes differ.
    early : int
        Outcomes with a time before that of their prediction.
    """

    asked: int
    ages: Mapping[int, tuple[int, int]]
    looked: int
    repeats: int = 0
    conflicts: int = 0
    early: int = 0

    @property
    def found(self) -> int:
        """Return how many of the sampled predictions have an outcome."""
        return sum(map(sum, self.ages.values()))

    @property
    def positives(self) -> int:
        """Return how many of them have the outcome 1."""
        return sum(ones for _, ones in self.ages.values())

    def arrived(self, age: int) -> tuple[float, float]:
        """Return the shares of the outcomes 0 and of the outcomes 1 that came up to an age."""
        total = [sum(counts[kind] for counts in self.ages.values()) for kind in (0, 1)]
        early = [sum(c[kind] for a, c in self.ages.items() if a <= age) for kind in (0, 1)]
        zeros, ones = (e / t if t else 1.0 for e, t in zip(early, total, strict=True))
        return zeros, ones

    def age_of(self, share: float) -> int:
        """Return the first age up to which this share of both classes has arrived."""
        last = max(self.ages, default=0)
        return next((age for age in range(last) if min(self.arrived(age)) >= share), max(last, 0))


def look_up(session: Session, scored: Log, observed: Log, key: Key, meaning: Meaning) -> Arrivals:
    """Look up sampled predictions among the outcomes; the table `met` then has both."""
    session.connection.execute(f"DROP TABLE IF EXISTS {MET}")
    since = max(0, key.since - QUIET_AGES)
    asked, looked = 0, since + MOST_AGES
    for day in key.days or (None,):
        only = f"WHERE {quoted(PARTITION)} = DATE '{day}'" if day else ""
        session.connection.execute(
            f"CREATE OR REPLACE TABLE probe AS SELECT *, "
            f"{_dated(meaning.scored_on, day)} AS cm_scored_on, "
            f"{meaning.scored_at or 'NULL'} AS cm_scored_at, "
            f"row_number() OVER () + {asked} AS cm_row FROM {scored.table} {only}"
        )
        (rows,) = ask(session, "SELECT count(*) FROM probe")
        asked += rows
        if day and observed.days:
            looked = min(looked, (observed.days[-1] - day).days)
        _meet(session, observed, key, meaning, day, rows, since)
    return _count(session, asked=asked, looked=looked)


def log_losses(session: Session, scores: Mapping[str, str]) -> dict[str, float]:
    """Return the log loss of every score in the matched rows, in nats: the lower, the better.

    Parameters
    ----------
    session : Session
        Has the table `met`.
    scores : mapping of str to str
        SQL of the probability by column.
    """
    losses = {}
    for name, expression in scores.items():
        p = f"greatest(1e-6, least(1 - 1e-6, {expression}))"
        loss = f"avg(CASE WHEN cm_is_one THEN -ln({p}) ELSE -ln(1 - {p}) END)"
        (value,) = ask(session, f"SELECT {loss} FROM {MET}")
        if value is not None:
            losses[name] = float(value)
    return losses


def remarks(session: Session, score: str) -> list[Remark]:
    """Say what is implausible about the matched rows, given the SQL of the probability."""
    rows = session.connection.execute(
        f"SELECT score, count(*)::DOUBLE, count_if(cm_is_one)::DOUBLE "
        f"FROM (SELECT {score} AS score, cm_is_one FROM {MET}) "
        f"WHERE score BETWEEN 0 AND 1 AND cm_is_one IS NOT NULL GROUP BY 1 ORDER BY 1"
    ).fetchall()
    scores, counts, ones = np.array(rows, np.float64).reshape(-1, 3).T
    return about_outcomes(scores, counts, ones)


def _meet(
    session: Session,
    observed: Log,
    key: Key,
    meaning: Meaning,
    day: date | None,
    rows: int,
    since: int,
) -> None:
    """Join the probed predictions with one partition of outcomes after another."""
    quiet = 0
    for later in later_days(observed, day, MOST_AGES, since):
        opened = open_rows(session, observed.place, observed.format, later, most=ROWS_PER_PARTITION)
        if opened is None:
            continue
        opened.create_view("some_rows", replace=True)
        before = _met(session, day)
        theirs = (
            f"SELECT *, {_dated(meaning.observed_on, later)} AS cm_observed_on, "
            f"{meaning.is_one} AS cm_is_one, {meaning.observed_at or 'NULL'} AS cm_observed_at "
            f"FROM some_rows"
        )
        columns = "p.*, o.cm_observed_on, o.cm_is_one, o.cm_observed_at"
        on = joined_on(key, "p", "o")
        add(session, f"SELECT {columns} FROM probe p JOIN ({theirs}) o ON {on}", MET)
        met = _met(session, day)
        quiet = 0 if met > before else quiet + 1
        if met >= rows or (met and quiet >= QUIET_AGES):
            return


def _met(session: Session, day: date | None) -> int:
    if MET not in tables(session):
        return 0
    only = f"WHERE cm_scored_on = DATE '{day}'" if day else ""
    return int(ask(session, f"SELECT count(DISTINCT cm_row) FROM {MET} {only}")[0])


def _dated(column: str | None, day: date | None) -> str:
    return f"DATE '{day}'" if day else f"({column or 'NULL'})::DATE"


def _count(session: Session, *, asked: int, looked: int) -> Arrivals:
    if MET not in tables(session):
        return Arrivals(asked, {}, looked)
    each = (
        f"SELECT min(datediff('day', cm_scored_on, cm_observed_on)) AS age, count(*) AS outcomes, "
        f"arg_min(coalesce(cm_is_one, false), cm_observed_on) AS one, "
        f"count(DISTINCT cm_is_one) AS kinds, "
        f"min(cm_observed_at) < min(cm_scored_at) AS early FROM {MET} GROUP BY cm_row"
    )
    counted = session.connection.execute(
        f"SELECT greatest(coalesce(age, 0), 0), count_if(NOT one), count_if(one) FROM ({each}) "
        f"GROUP BY 1"
    ).fetchall()
    repeats, conflicts, early = ask(
        session,
        f"SELECT count_if(outcomes > 1), count_if(kinds > 1), count_if(early) FROM ({each})",
    )
    ages = {int(age): (int(zeros), int(ones)) for age, zeros, ones in counted}
    return Arrivals(asked, ages, looked, int(repeats), int(conflicts), int(early or 0))
