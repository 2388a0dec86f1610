"""Predictions that are in the log of a day, and were in that of the day before.

A consumer that is set back, or a message that is delivered at least once, writes rows into the
folder of a later day. They count on both days, and no check of a single day sees it.
"""

from dataclasses import dataclass
from datetime import date
from math import sqrt
from typing import Any

from monitor.config import Engine, Model
from monitor.logs.columns.canonical import read_rows
from monitor.logs.days.days import day_before
from monitor.logs.engines.databases import Databases
from monitor.logs.engines.session import Session, open_session
from monitor.logs.engines.steps import KNOWN, SCORED, added
from monitor.words.numbers import percent

SAMPLE = 200_000  # ids that are compared, chosen by their hash: more take time and say the same
LEAST = 0.001  # of the predictions of a day: fewer move no number that anybody sees
ALL_BUT = 0.99  # of the ids that come again with the same score; with another, they are new
STANDARD_ERRORS = 5.0


@dataclass(frozen=True)
class Again:
    """The predictions of a day with the id and the score of one of the day before.

    Attributes
    ----------
    day, before : date
        The day, and the one with which it is compared.
    rows, of : int
        How many predictions came again, and all that were compared: of a large day a sample.
    """

    day: date
    before: date
    rows: int
    of: int

    def __str__(self) -> str:
        """Say it, and what to do.

        Examples
        --------
        >>> print(Again(date(2026, 3, 2), date(2026, 3, 1), 20, 1020).__str__().partition(":")[0])
        20 of 1,020 predictions of 2026-03-02 (2.0 %) have id and score of one of 2026-03-01
        """
        return (
            f"{self.rows:,} of {self.of:,} predictions of {self.day} "
            f"({percent(self.rows / self.of)}) have id and score of one of {self.before}: they "
            f"seem to have been delivered again, and count on both days; write each once, or name "
            f"the column with the time of the prediction in predictions.day, with * in place of "
            f"{{day}} in the path, and set predictions.duplicates to keep_identical."
        )


def delivered_again(
    name: str, model: Model, day: date, *, rows: int, engine: Engine | Databases
) -> Again | None:
    """Count the predictions of a day that were in the log of the day before.

    Parameters
    ----------
    name, model : str, Model
        The model, and its configuration.
    day : date
        A day with predictions.
    rows : int
        Its predictions.
    engine : Engine or Databases
        As for `summarise_day`.

    Returns
    -------
    Again or None
        None if there are no more than chance explains, where the ids that come again have scores of
        their own, or if no row needs an id.

    Raises
    ------
    DataError
        If the logs cannot be read.
    """
    if model.outcomes.in_predictions or not rows:
        return None
    before = day_before(model, day)
    if before is None:
        return None
    every = max(1, rows // SAMPLE)
    with open_session(f"{name} {day}", engine) as session:
        today, old = (_scores(session, model, each, every) for each in (day, before))
        ((ids, came),) = session.fetch_rows(
            f"SELECT count(*) AS ids, sum(CASE WHEN a.score = b.score THEN 1 ELSE 0 END) AS came "
            f"FROM {SCORED} AS a JOIN {KNOWN} AS b ON a.id = b.id",
            *(today, old),
            added(sums=("ids", "came")),
        )
        ids, came = int(ids or 0), int(came or 0)
        if not came or came < max(ALL_BUT * ids, LEAST * rows / every):
            return None
        alike = f"SELECT score, count(*) AS n FROM {SCORED} GROUP BY score"
        squares = f"SELECT sum(n) AS a, sum(n * n) AS b FROM ({added('score', sums=('n',))})"
        sums = session.fetch_rows(alike, today, whole=squares)
        of, pairs = map(int, sums[0])
    chance = pairs / of**2  # that two predictions have one score
    if came <= ids * chance + STANDARD_ERRORS * sqrt(ids * chance * (1 - chance)):
        return None
    return Again(day, before, came, of)


def _scores(session: Session, model: Model, day: date, every: int) -> Any:
    """Read id and score of the chosen predictions of a day."""
    rows = read_rows(session, model, day, []).predictions
    chosen = f" AND hash(id) % {every} = 0" if every > 1 else ""
    known = f"id IS NOT NULL AND score IS NOT NULL{chosen}"
    return rows.project("id, score").filter(known)
