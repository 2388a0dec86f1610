"""How many entities a day has, and how many of them come again: for `check`, which has time."""

from dataclasses import dataclass
from datetime import date
from typing import Any

from monitor.config import Engine, Model
from monitor.logs.columns.canonical import ID_TYPES
from monitor.logs.columns.entities import digest_of, entity_columns
from monitor.logs.columns.rows import can_be_cast
from monitor.logs.days.days import LOOK_BACK, day_before
from monitor.logs.engines.databases import Databases
from monitor.logs.engines.session import Session, open_session
from monitor.logs.engines.steps import KNOWN, SCORED, added
from monitor.logs.sources.opening import raise_all
from monitor.logs.sources.source import open_log
from monitor.words.numbers import percent


@dataclass(frozen=True)
class Returning:
    """The entities of a day.

    Attributes
    ----------
    day, before : date
        The day, and the one before it with which it is compared; None if there is none.
    rows : int
        Its predictions that have an entity.
    entities, again : int
        How many entities they are, and how many of these had predictions on the day before.
    """

    day: date
    before: date | None
    rows: int
    entities: int
    again: int

    def __str__(self) -> str:
        """Say whether entities come again.

        Examples
        --------
        >>> print(Returning(date(2026, 3, 2), date(2026, 3, 1), 9000, 3000, 2700))
        3,000 entities have 9,000 rows on 2026-03-02; 90 % of them have rows on 2026-03-01 too.
        """
        if not self.entities:
            return f"no row of {self.day} has an entity; correct predictions.entity, or remove it."
        said = f"{self.entities:,} entities have {self.rows:,} rows on {self.day}"
        if self.before is None:
            return f"{said}; there are no predictions of the {LOOK_BACK} days before to compare."
        if not self.again and self.rows == self.entities:
            return f"{said} and none on {self.before}; is predictions.entity the id of the row?"
        share = f"{percent(self.again / self.entities, 0)}" if self.again else "none"
        return f"{said}; {share} of them have rows on {self.before} too."


def entities_of_day(
    name: str, model: Model, day: date, *, engine: Engine | Databases
) -> Returning | None:
    """Count the entities of a day; None without the key `entity`.

    Raises
    ------
    DataError
        If the logs cannot be read.
    """
    if model.predictions.entity is None:
        return None
    before = day_before(model, day)
    with open_session(f"{name} {day}", engine) as session:
        today = _entities(session, model, day)
        each = (
            f"SELECT entity, count(*) AS n FROM {SCORED} WHERE entity IS NOT NULL GROUP BY entity"
        )
        counts = f"SELECT sum(n) AS a, count(*) AS b FROM ({each})"
        ((rows, entities),) = session.fetch_rows(counts, today, whole=added(sums=("a", "b")))
        again = 0
        if before:
            both = f"SELECT count(*) AS a FROM ({each}) AS t SEMI JOIN {KNOWN} USING (entity)"
            old = _entities(session, model, before)
            ((again,),) = session.fetch_rows(both, today, old, added(sums=("a",)))
    return Returning(day, before, int(rows or 0), entities, again)


def _entities(session: Session, model: Model, day: date) -> Any:
    """Read the entities of the chosen rows of a day."""
    log, columns = open_log(session, model, "predictions", [day]), entity_columns(model.predictions)
    for column in columns:  # of an expression, the type becomes known so
        log.check(column, "predictions.entity", can_be_cast, ID_TYPES)
    raise_all(log)
    return log.read(model.predictions.where, entity=digest_of(columns))
