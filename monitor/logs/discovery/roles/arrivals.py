"""When outcomes arrive, and what the predictions that have one show.

Sampled predictions are looked up in the outcomes of their own day and of the days after it: never
more than `ROWS_PER_PARTITION` rows of `MOST_AGES` partitions for each probed day.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date

import numpy as np
import numpy.typing as npt

from monitor.logs.discovery.roles.keys import ROWS_PER_PARTITION, Key, joined_on, later_days
from monitor.logs.discovery.samples.reading import PARTITION, Log
from monitor.logs.discovery.samples.rows import add, ask, has_table, open_rows
from monitor.logs.engines.conversions import quoted
from monitor.logs.engines.session import Session
from monitor.metrics.core.samples import at_ends

Floats = npt.NDArray[np.float64]

MOST_AGES = 90  # days of outcomes after a prediction
QUIET_AGES = 35  # so many days without an arrival end the search: corrections come after a month
AGES_BEFORE = 15  # days of outcomes that are looked at before the first that is known
TWO = ("0", "1")  # the kinds of outcomes of a model with two
LEAST_OF_CLASS = 20  # outcomes of a class whose delay can be told; rarer ones are taken together
RARER = "rarer classes"
NO_TIME = "NULL::TIMESTAMPTZ"
MET = "met"  # the table of predictions with their outcomes; our own columns begin with cm_

# One row for each prediction that was met. Its latest outcome counts, from the last time on at
# which it became that; of several with the latest time, none is the latest.
OF_EACH = f"""
WITH said AS (
    SELECT cm_row, cm_scored_at, cm_observed_at, coalesce({{kind}}, -1) AS kind,
        datediff('day', cm_scored_on, cm_observed_on) AS age,
        (cm_observed_at, cm_observed_on) AS moment
    FROM {MET}
), ends AS (
    SELECT *, arg_max(kind, moment) OVER one AS final, max(cm_observed_at) OVER one AS latest
    FROM said WINDOW one AS (PARTITION BY cm_row)
), others AS (
    SELECT *, max(moment) FILTER (WHERE kind <> final) OVER (PARTITION BY cm_row) AS other
    FROM ends
)
SELECT min(age) FILTER (WHERE other IS NULL OR moment > other) AS age,
    any_value(final) AS kind, count(DISTINCT kind) AS kinds,
    count(DISTINCT kind) FILTER (WHERE latest IS NULL OR cm_observed_at = latest) AS of_latest,
    min(cm_observed_at) < min(cm_scored_at) AS early
FROM others GROUP BY cm_row
"""


@dataclass(frozen=True)
class Meaning:
    """SQL that reads the rows of both logs.

    Attributes
    ----------
    are_one : sequence of str
        Of each column that may be the outcome: whether that of a row is 1.
    scored_on, observed_on : str or None
        The day of a row, where the path names none.
    scored_at, observed_at : str or None
        The time of a row, if both logs have one.
    """

    are_one: Sequence[str]
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
    ages : mapping of int to tuple of int
        By days after the prediction: first outcomes of each kind; of outcomes that differ, the
        first after which none differs.
    looked : int
        Up to this age every probed day has outcomes.
    conflicts, ties : int
        Predictions whose outcomes differ, and those of them without one latest outcome.
    early : int
        Outcomes with a time before that of their prediction.
    kinds : tuple of str
        What came true: 0 and 1, or the classes.
    """

    asked: int
    ages: Mapping[int, tuple[int, ...]]
    looked: int
    conflicts: int = 0
    ties: int = 0
    early: int = 0
    kinds: tuple[str, ...] = TWO

    @property
    def found(self) -> int:
        """Return how many of the sampled predictions have an outcome."""
        return sum(map(sum, self.ages.values()))

    @property
    def positives(self) -> int:
        """Return how many of them have the outcome 1; none of a model with classes."""
        return sum(counts[1] for counts in self.ages.values()) if self.kinds == TWO else 0

    def arrived(self, age: int) -> dict[str, float]:
        """Return of each kind the share of its outcomes that came up to an age."""
        total = np.sum([[0] * len(self.kinds), *self.ages.values()], axis=0)
        early = [[0] * len(self.kinds), *(counts for a, counts in self.ages.items() if a <= age)]
        shares = np.divide(np.sum(early, axis=0), total, out=np.ones(len(total)), where=total > 0)
        return dict(zip(self.kinds, shares.tolist(), strict=True))

    def age_of(self, share: float) -> int:
        """Return the first age up to which this share of the outcomes of each kind has arrived."""
        ages = range(max(self.ages, default=0))
        complete = (age for age in ages if min(self.arrived(age).values()) >= share)
        return next(complete, max(0, *self.ages) if self.ages else 0)


def look_up(
    session: Session, scored: Log, observed: Log, key: Key, meaning: Meaning
) -> tuple[int, int]:
    """Look up sampled predictions among the outcomes; the table `met` then has both.

    Returns
    -------
    asked, looked : int
        Sampled predictions, and the age up to which every probed day has outcomes.
    """
    session.connection.execute(f"DROP TABLE IF EXISTS {MET}")
    since = max(0, key.since - AGES_BEFORE)
    asked, looked = 0, since + MOST_AGES
    for day in key.days or (None,):
        only = f"WHERE {quoted(PARTITION)} = DATE '{day}'" if day else ""
        session.connection.execute(
            f"CREATE OR REPLACE TABLE probe AS SELECT *, "
            f"{_dated(meaning.scored_on, day)} AS cm_scored_on, "
            f"{meaning.scored_at or NO_TIME} AS cm_scored_at, "
            f"row_number() OVER () + {asked} AS cm_row FROM {scored.table} {only}"
        )
        (rows,) = ask(session, "SELECT count(*) FROM probe")
        asked += rows
        if day and observed.days:
            looked = min(looked, (observed.days[-1] - day).days)
        _meet(session, observed, key, meaning, day, since)
    return asked, looked


def take_outcome(session: Session, number: int) -> None:
    """Make one of the columns that may be the outcome that of the matched rows."""
    if has_table(session, MET):
        columns = f"SELECT *, cm_one_{number} AS cm_is_one FROM {MET}"
        session.connection.execute(f"CREATE OR REPLACE TABLE {MET} AS {columns}")


def matched(
    session: Session, scores: Mapping[str, str], outcomes: Sequence[str]
) -> tuple[dict[str, Floats], dict[str, Floats]]:
    """Return the scores and the outcomes of the matched rows, nan where there is none.

    Parameters
    ----------
    session : Session
        May have the table `met`.
    scores : mapping of str to str
        SQL of the probability by column.
    outcomes : sequence of str
        The columns that may be the outcome, in the order of `Meaning.are_one`.
    """
    if not has_table(session, MET) or not scores:
        return {}, {}
    wanted = [
        *(f"({sql})::DOUBLE AS s{i}" for i, sql in enumerate(scores.values())),
        *(f"cm_one_{i}::INT::DOUBLE AS o{i}" for i in range(len(outcomes))),
    ]
    rows = session.connection.execute(f"SELECT {', '.join(wanted)} FROM {MET}").fetchnumpy()
    read = {name: np.ma.filled(values.astype(np.float64), np.nan) for name, values in rows.items()}
    probabilities = {name: read[f"s{i}"] for i, name in enumerate(scores)}
    for values in probabilities.values():
        ends, outside = at_ends(values)
        values[:] = np.where(outside, np.nan, ends)
    return probabilities, {name: read[f"o{i}"] for i, name in enumerate(outcomes)}


def _meet(
    session: Session,
    observed: Log,
    key: Key,
    meaning: Meaning,
    day: date | None,
    since: int,
) -> None:
    """Join the probed predictions with one partition of outcomes after another."""
    quiet = 0
    met = first = _met(session)
    ones = ", ".join(f"{sql} AS cm_one_{i}" for i, sql in enumerate(meaning.are_one))
    names = ", ".join(f"o.cm_one_{i}" for i in range(len(meaning.are_one)))
    for later in later_days(observed, day, MOST_AGES, since):
        opened = open_rows(session, observed.source, later, most=ROWS_PER_PARTITION)
        if opened is None:
            continue
        opened.create_view("some_rows", replace=True)
        theirs = (
            f"SELECT *, {_dated(meaning.observed_on, later)} AS cm_observed_on, "
            f"{ones}, {meaning.observed_at or NO_TIME} AS cm_observed_at FROM some_rows"
        )
        columns = f"p.*, o.cm_observed_on, o.cm_observed_at, {names}"
        on = joined_on(key, "p", "o")
        add(session, f"SELECT {columns} FROM probe p JOIN ({theirs}) o ON {on}", MET)
        before, met = met, _met(session)
        quiet = 0 if met > before else quiet + 1
        if met > first and quiet >= QUIET_AGES:
            return


def _met(session: Session) -> int:
    return int(ask(session, f"SELECT count(*) FROM {MET}")[0]) if has_table(session, MET) else 0


def _dated(column: str | None, day: date | None) -> str:
    return f"DATE '{day}'" if day else f"({column or 'NULL'})::DATE"


def count(
    session: Session, *, asked: int, looked: int, classes: Mapping[str, int] | None = None
) -> Arrivals:
    """Count when the outcomes of the matched rows came.

    Parameters
    ----------
    session : Session
        May have the table `met`.
    asked, looked : int
        From `look_up`.
    classes : mapping of str to int, optional
        Of each class, the place of its SQL in `Meaning.are_one`. Without it, an outcome is 1 where
        `take_outcome` says so.
    """
    kinds = tuple(classes or TWO)
    if not has_table(session, MET):
        return Arrivals(asked, {}, looked, kinds=kinds)
    kind, unknown = "cm_is_one::INT", "0"
    if classes:
        cases = (f"WHEN cm_one_{place} THEN {kind}" for kind, place in enumerate(classes.values()))
        kind, unknown = f"CASE {' '.join(cases)} END", "NULL"
    each = OF_EACH.format(kind=kind)
    counted = session.connection.execute(
        f"SELECT greatest(coalesce(age, 0), 0), CASE WHEN kind < 0 THEN {unknown} ELSE kind END "
        f"AS of_kind, count(*) FROM ({each}) WHERE of_kind IS NOT NULL GROUP BY ALL"
    ).fetchall()
    conflicts, ties, early = ask(
        session,
        f"SELECT count_if(kinds > 1), count_if(of_latest > 1), count_if(early) FROM ({each})",
    )
    ages = {int(age): [0] * len(kinds) for age, _, _ in counted}
    for age, kind, rows in counted:
        ages[int(age)][int(kind)] = int(rows)
    arrivals = Arrivals(
        asked,
        {age: tuple(counts) for age, counts in ages.items()},
        looked,
        *(int(conflicts or 0), int(ties or 0), int(early or 0)),
        kinds,
    )
    return with_rare_together(arrivals) if classes else arrivals


def with_rare_together(arrivals: Arrivals) -> Arrivals:
    """Take the classes together whose outcomes are too few to show a delay.

    Examples
    --------
    >>> counts = {0: (60, 9, 30), 2: (40, 1, 0)}
    >>> with_rare_together(Arrivals(140, counts, 5, kinds=("cat", "dog", "owl"))).kinds
    ('cat', 'owl', 'rarer classes')
    """
    totals = [sum(counts) for counts in zip(*arrivals.ages.values(), strict=True)]
    common = [kind for kind, total in enumerate(totals) if total >= LEAST_OF_CLASS]
    if len(common) == len(totals):
        return arrivals
    ages = {
        age: (
            *(counts[kind] for kind in common),
            sum(counts) - sum(counts[kind] for kind in common),
        )
        for age, counts in arrivals.ages.items()
    }
    return replace(arrivals, ages=ages, kinds=(*(arrivals.kinds[kind] for kind in common), RARER))
