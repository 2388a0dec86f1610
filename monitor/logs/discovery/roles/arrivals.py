"""The predictions with their outcomes, and when those came.

Sampled predictions are looked up in the outcomes of their own day and of the days after it: never
more than `ROWS_PER_PARTITION` rows of `MOST_AGES` partitions for each probed day. Of outcomes that
lie beside the scores, it is counted how many the newest days have.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from monitor.base.errors import DataError
from monitor.config import LONGEST_WAIT
from monitor.days.arrivals import COMPLETE
from monitor.logs.discovery.roles.keys import Key, later_days
from monitor.logs.discovery.roles.rules import Candidate, day_of, moment
from monitor.logs.discovery.samples.reading import (
    PARTITION,
    ROWS_PER_DAY,
    Log,
    drop,
    has_table,
    keep,
    size_of,
)
from monitor.logs.engines.conversions import quoted
from monitor.logs.engines.session import Session
from monitor.metrics.core.samples import at_ends
from monitor.words.guesses import say
from monitor.words.numbers import percent

Floats = npt.NDArray[np.float64]

ROWS_PER_PARTITION = 1_000_000  # of outcomes
MOST_AGES = 90  # days of outcomes after a prediction
QUIET_AGES = 35  # so many days without an arrival end the search: corrections come after a month
AGES_BEFORE = 15  # days of outcomes that are looked at before the first that is known
NEWEST_DAYS = 40  # days whose outcomes beside the scores are counted
NORMAL_DEVIATION = 0.6745  # median absolute deviation of a normal distribution, by its standard one
CLEARLY = (
    4.0  # standard deviations by which days must lack outcomes: of 40 some lack them by chance
)
LEAST_OF_CLASS = 20  # outcomes of a class whose delay can be told; rarer ones are taken together
MOST_SHOWN = 4  # ages in a comment
DAYS_OF_CLICKS = 0.5  # share of predictions with an outcome, below which absence means something
TWO = ("0", "1")  # the kinds of outcomes of a model with two
MET = "met"  # the table of predictions with their outcomes; our own columns begin with cm_

# One row for each prediction that was met. Its latest outcome counts, from the last time on at
# which it became that.
OF_EACH = f"""
WITH said AS (
    SELECT cm_row, coalesce({{kind}}, -1) AS kind,
        datediff('day', cm_scored_on, cm_observed_on) AS age,
        (cm_observed_at, cm_observed_on) AS moment
    FROM {MET}
), ends AS (
    SELECT *, arg_max(kind, moment) OVER (PARTITION BY cm_row) AS final FROM said
), others AS (
    SELECT *, max(moment) FILTER (WHERE kind <> final) OVER (PARTITION BY cm_row) AS other
    FROM ends
)
SELECT greatest(coalesce(min(age) FILTER (WHERE other IS NULL OR moment > other), 0), 0) AS age,
    any_value(final) AS kind
FROM others GROUP BY cm_row
"""


@dataclass(frozen=True)
class Arrived:
    """When outcomes come.

    Attributes
    ----------
    asked, found : int
        Sampled predictions, and those with an outcome.
    wait : int
        Days after which nearly all are there.
    why : str
        What was seen of it.
    clicks : bool
        Whether every outcome is 1, and most predictions have none.
    """

    asked: int
    found: int
    wait: int
    why: str
    clicks: bool = False


def look_up(
    session: Session,
    logs: tuple[Log, Log],
    key: Key | None,
    are_one: Iterable[str],
    dated_by: Sequence[Candidate | None],
) -> tuple[int, int]:
    """Look up sampled predictions among the outcomes; the table `met` then has both.

    Parameters
    ----------
    session, logs : Session, (Log, Log)
        Predictions and outcomes.
    key : Key or None
        Without it, the rows are those of one log, which has the outcomes beside the scores.
    are_one : iterable of str
        Of each column that may be the outcome, or class: SQL whether that of a row is 1.
    dated_by : sequence of Candidate or None
        What dates a prediction and an outcome, where the path names no day, and the time of an
        outcome.

    Returns
    -------
    asked, looked : int
        Sampled predictions, and the age up to which every probed day has outcomes.
    """
    drop(session, MET)
    scored, observed = logs
    ones = "".join(f", {sql} AS cm_one_{n}" for n, sql in enumerate(are_one))
    if key is None:
        rows = f"SELECT *{ones} FROM {scored.table}"
        session.connection.execute(f"CREATE TABLE {MET} AS {rows}")
        return size_of(session, MET), 0
    since, days = max(0, key.since - AGES_BEFORE), key.days
    listed = ", ".join(f"DATE '{day}'" for day in days)
    chosen = f" WHERE {quoted(PARTITION)} IN ({listed})" if days else ""
    session.connection.execute(
        f"CREATE OR REPLACE TABLE probe AS SELECT *, {key.ids('a')}, row_number() OVER () AS "
        f"cm_row, {day_of(dated_by[0])} AS cm_scored_on FROM {scored.table}{chosen}"
    )
    observed_at = moment(dated_by[2]) if dated_by[2] else "NULL::TIMESTAMPTZ"
    theirs = (
        f"SELECT {key.ids('o')}, {day_of(dated_by[1])} AS cm_observed_on, "
        f"{observed_at} AS cm_observed_at{ones} FROM some_rows"
    )
    later = " AND o.cm_observed_on >= p.cm_scored_on" if days and observed.days else ""
    joined = (
        f"SELECT p.*, o.cm_observed_on, o.cm_observed_at, COLUMNS('cm_one_.*') FROM probe p "
        f"JOIN ({theirs}) o ON {key.on()}{later}"
    )
    quiet, met = 0, 0
    for day in later_days(observed, days, MOST_AGES, since):
        with suppress(DataError):
            found = keep(session, observed, day, MET, joined, most=ROWS_PER_PARTITION)
            quiet, met = (0 if found else quiet + 1), met + found
        if met and quiet >= QUIET_AGES:
            break
    ends = [(observed.days[-1] - day).days for day in days if observed.days]
    return size_of(session, "probe"), min([since + MOST_AGES, *ends])


def matched(
    session: Session, scores: Sequence[str], outcomes: int
) -> tuple[list[Floats], list[Floats]]:
    """Return the scores and the outcomes of the matched rows, nan where there is none.

    Parameters
    ----------
    session : Session
        May have the table `met`.
    scores : sequence of str
        SQL of probabilities.
    outcomes : int
        How many columns may be the outcome, in the order of `look_up`.
    """
    if not has_table(session, MET) or not scores:
        return [], []
    wanted = [
        *(f"({sql})::DOUBLE AS s{i}" for i, sql in enumerate(scores)),
        *(f"cm_one_{i}::INT::DOUBLE AS o{i}" for i in range(outcomes)),
    ]
    rows = session.connection.execute(f"SELECT {', '.join(wanted)} FROM {MET}").fetchnumpy()
    found = [np.ma.filled(values.astype(np.float64), np.nan) for values in rows.values()]
    ends = [at_ends(values) for values in found[: len(scores)]]
    probabilities = [np.where(outside, np.nan, values) for values, outside in ends]
    return probabilities, found[len(scores) :]


def count(session: Session, asked: int, looked: int, kinds: Mapping[str, str]) -> Arrived:
    """Count when the outcomes of the matched rows came.

    Parameters
    ----------
    session : Session
        May have the table `met`.
    asked, looked : int
        What `look_up` gives.
    kinds : mapping of str to str
        The outcomes that there are, or classes, each with SQL whether a row has it.
    """
    if not has_table(session, MET):
        return Arrived(asked, 0, 0, say("nothing came"))
    cases = " ".join(f"WHEN {sql} THEN {n}" for n, sql in enumerate(kinds.values()))
    each = OF_EACH.format(kind=f"CASE {cases} END")
    ages = np.zeros((MOST_AGES + LONGEST_WAIT, len(kinds)), dtype=np.int64)
    grouped = f"SELECT age, kind, count(*) FROM ({each}) WHERE kind >= 0 GROUP BY ALL"
    for age, of, rows in session.connection.execute(grouped).fetchall():
        ages[min(int(age), len(ages) - 1), int(of)] += rows
    found, names = int(ages.sum()), tuple(kinds)
    clicks = names == TWO and 0 < ages[:, 1].sum() == found < DAYS_OF_CLICKS * asked
    rare = ages.sum(axis=0) < LEAST_OF_CLASS
    if names != TWO and rare.any():
        ages = np.hstack([ages[:, ~rare], ages[:, rare].sum(axis=1, keepdims=True)])
        names = (*(k for k, few in zip(names, rare, strict=True) if not few), "rarer classes")
    return Arrived(asked, found, *_wait(ages, names, looked), clicks)


def _wait(ages: npt.NDArray[np.int64], kinds: tuple[str, ...], looked: int) -> tuple[int, str]:
    """Return the first age by which nearly all of each kind have come, and say how many did."""
    if not ages.sum():
        return 0, say("nothing came")
    total = ages.sum(axis=0)
    shares = np.divide(ages.cumsum(axis=0), total, out=np.ones(ages.shape), where=total > 0)
    wait = min(LONGEST_WAIT, int(np.argmax(shares.min(axis=1) >= COMPLETE)))
    shown = sorted({0, *(a for a in (1, 3, 7, 14, 30) if a < wait), wait})[-MOST_SHOWN:]
    slowest = int(np.argmin(shares[shown].min(axis=0)))
    late = f"{kinds[slowest]} that came, later than those of the other classes"
    said = ", ".join(
        f"{percent(float(shares[age, slowest]), 0)} within {age} day{'s' * (age != 1)}"
        for age in shown
    )
    of_what = late if shares[shown[0], slowest] < 1 else "of each class that came"
    why = say("arrivals", of_what=of_what, shares=said)
    return wait, why + (say("end of the log", days=looked) if wait >= looked else "")


def fill(
    session: Session, log: Log, known: str, dated_by: Candidate | None, columns: Sequence[str]
) -> Arrived:
    """Count the outcomes of the newest days of a log that holds scores and outcomes.

    Parameters
    ----------
    session, log : Session, Log
        What to read.
    known : str
        SQL of the outcome, null where it is not known.
    dated_by : Candidate or None
        The time of a row, if the path names no day.
    columns : sequence of str
        The columns that both need.
    """
    drop(session, "all_rows")
    counted = f"SELECT {day_of(dated_by)} AS cm_day, count(*), count({known}) FROM some_rows"
    for day in log.days[-NEWEST_DAYS:] or (None,):
        most = ROWS_PER_DAY if day else None
        with suppress(DataError):
            keep(session, log, day, "all_rows", f"{counted} GROUP BY 1", columns, most=most)
    last = "(SELECT max(cm_day) FROM all_rows)"
    ages = f"SELECT ({last} - cm_day)::INT AS age, * EXCLUDE (cm_day) FROM all_rows"
    days = session.connection.execute(f"{ages} WHERE age < {NEWEST_DAYS} ORDER BY 1").fetchall()
    return filled(np.array(days, dtype=np.float64))


def filled(days: Floats) -> Arrived:
    """Find the age from which on days have as many outcomes as old ones, as far as chance shows.

    A share that never comes is no delay: only one that rises with age is. So an age is late if it,
    alone or with the ages after it, lacks more than the old days differ by.

    Parameters
    ----------
    days : ndarray of shape (n, 3)
        Of each day, the newest first: its age, its predictions, and those with an outcome.

    Examples
    --------
    >>> some = [[0, 1000, 200], [1, 1000, 690], [2, 1000, 710], [3, 1000, 700]]
    >>> filled(np.array(some)).wait
    1
    """
    if not days.size:
        return Arrived(0, 0, 0, "The newest days have no rows.")
    ages, rows, known = days.T
    shares = known / np.maximum(rows, 1.0)
    usual = float(np.median(shares[-max(1, ages.size // 2) :]))
    late = slice(ages.size // 2, None)
    rate = (known[late].sum() + 0.5) / (rows[late].sum() + 1.0)
    by_chance = np.sqrt(rate * (1.0 - rate) / np.maximum(rows, 1.0))
    robust = float(np.median(np.abs(shares[late] - usual))) / NORMAL_DEVIATION
    lack = (COMPLETE * usual - shares) / np.maximum(by_chance, robust)
    wait = int(ages[-1]) + 1
    for place in range(ages.size):
        together = lack[place:].cumsum() / np.sqrt(np.arange(1, ages.size - place + 1))
        if together.max() <= CLEARLY:
            wait = int(ages[place - 1]) + 1 if place else 0
            break
    shown = ", ".join(percent(share, 0) for share in shares[:MOST_SHOWN].tolist())
    why = say("filled", shares=shown, usual=percent(usual, 0))
    why += say("never filled") if wait == 0 and usual < COMPLETE else ""
    total, came = int(rows.sum()), int(known.sum())
    return Arrived(total, came, min(LONGEST_WAIT, wait), why)
