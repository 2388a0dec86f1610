"""What can be said of a day of logs that can be read: for `check`, which has time for it.

What looks implausible; predictions that came again; and how many entities come again. A consumer
that is set back, or a message that is delivered at least once, writes rows into the folder of a
later day. They count on both days, and no check of a single day sees it.
"""

from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime
from math import sqrt
from typing import Any

from monitor.base.errors import DataError
from monitor.config import Classes, Engine, Model, TimeUnit
from monitor.days.summary import Summary, whole
from monitor.logs.columns.canonical import ID_TYPES, read_rows
from monitor.logs.columns.class_columns import scores_of_classes
from monitor.logs.columns.rows import can_be_cast, digest_of, entity_columns, is_number
from monitor.logs.days.counts import about_intervals
from monitor.logs.days.days import LOOK_BACK, day_before, holds_counts
from monitor.logs.engines.databases import Databases
from monitor.logs.engines.session import Session, open_session
from monitor.logs.engines.steps import KNOWN, SCORED, added
from monitor.logs.sources.opening import Kind, OpenLog, raise_all
from monitor.logs.sources.source import has_day, open_log
from monitor.logs.sources.times import is_time, moment
from monitor.words.numbers import percent
from monitor.words.plausibility import (
    MOST_ROUNDED,
    ORPHANS,
    Remark,
    about_certain_choices,
    about_first_choices,
    about_orphans,
    about_outcomes,
    about_sums,
    about_times,
)

QUANTILES = 0.05, 0.25, 0.5, 0.75, 0.95  # of times
SAMPLE = 200_000  # ids that are compared, chosen by their hash: more take time and say the same
LEAST = 0.001  # of the predictions of a day: fewer move no number that anybody sees
ALL_BUT = 0.99  # of the ids that come again with the same score; with another, they are new
STANDARD_ERRORS = 5.0


def what_looks_wrong(
    name: str, model: Model, day: date, summary: Summary, *, engine: Engine | Databases
) -> list[Remark]:
    """Say what is implausible about a day: its outcomes given its scores, and its times.

    Parameters
    ----------
    name, model : str, Model
        The model, and its configuration.
    day : date
        Day of the predictions.
    summary : Summary
        Of that day.
    engine : Engine or Databases
        As for `summarise_day`.

    Raises
    ------
    DataError
        If the logs cannot be read.
    """
    remarks = [*_of_counts(summary), *about_orphans(*summary.left_out.get(ORPHANS, (0, 0)))]
    kinds: list[Kind] = ["predictions"]
    # Outcomes beside their predictions may be much later than the day of the file.
    if not model.outcomes.in_predictions and has_day(model, "outcomes", day):
        kinds.append("outcomes")
    classes = model.predictions.classes
    with open_session(f"{name} {day}", engine) as session:
        if classes and classes.sums == "normalise":
            remarks += about_sums(*_sums(open_log(session, model, "predictions", [day]), classes))
        if holds_counts(model):
            remarks += about_intervals(session, model, day)
        for kind in kinds:
            configured = getattr(model, kind)
            if configured.time:
                log = open_log(session, model, kind, [day])
                times = _middle(log, configured.time, configured.time_unit)
                remarks += about_times(f"{kind}.time", day, times)
    return remarks


def _of_counts(summary: Summary) -> list[Remark]:
    """Say what is implausible about the counts of a day."""
    tally, of_classes = whole(summary).tally, summary.classes
    if of_classes is None:
        return about_outcomes(tally.scores, tally.counts, tally.positives)
    return [
        *about_certain_choices(tally.scores, tally.counts, tally.total_positives),
        *about_first_choices(of_classes.names, of_classes.outcomes, tally.total_positives),
    ]


def _sums(log: OpenLog, classes: Classes) -> tuple[float, float]:
    """Find the share of the vectors whose probabilities add up to too much, and their median."""
    read = scores_of_classes(log, classes)
    over = f"total > {MOST_ROUNDED}"
    ((share, middle),) = log.session.fetch_rows(
        f"SELECT score, total FROM {SCORED}",
        log.read(None, score=read["score"], total=read["total"]),
        whole=f"SELECT avg(CAST({over} AND score * total < 1 + 1e-9 AS DOUBLE)) AS share, "
        f"median(total) FILTER ({over}) AS middle FROM shares",
    )
    return share or 0.0, middle or 0.0


def _middle(log: OpenLog, column: str, unit: TimeUnit | None) -> list[datetime]:
    """Find quantiles of the times of a log; none if it has none that a calendar knows.

    Those of Spark are of ten thousand, because exact ones would sort all times.
    """
    readable = bool(log.files) and log.check(column, f"{log.kind}.time", lambda _: True, "a time")
    if not readable or not is_time(log.type_of(column), unit):
        return []
    ((texts,),) = log.session.fetch_rows(
        f"SELECT moment FROM {SCORED}",
        log.read(None, moment=moment(column, f"{log.kind}.time", unit, zoned=True)),
        whole=f"SELECT CAST(quantile_disc(moment, {[*QUANTILES]}) AS VARCHAR[]) AS a FROM shares",
    )
    try:
        return [datetime.fromisoformat(text) for text in texts or ()]
    except ValueError:
        return []


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
    every, old = max(1, rows // SAMPLE), None
    with open_session(f"{name} {day}", engine) as session:
        today = _scores(session, model, day, every)
        with suppress(DataError):  # which that day has reported itself
            old = _scores(session, model, before, every)
        if old is None or not _are_comparable(session, today, old):
            return None
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


def _are_comparable(session: Session, today: Any, old: Any) -> bool:
    """Return whether the ids of two days have types whose values can be equal."""
    one, other = (session.types_in(rows)["id"] for rows in (today, old))
    return one == other or (is_number(one) and is_number(other))


def _scores(session: Session, model: Model, day: date, every: int) -> Any:
    """Read id and score of the chosen predictions of a day."""
    rows = read_rows(session, model, day, []).predictions
    chosen = f" AND hash(id) % {every} = 0" if every > 1 else ""
    known = f"id IS NOT NULL AND score IS NOT NULL{chosen}"
    return rows.project("id, score").filter(known)


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
        if before:
            both = f"SELECT count(*) AS a FROM ({each}) AS t SEMI JOIN {KNOWN} USING (entity)"
            with suppress(DataError):  # which that day has reported itself
                old = _entities(session, model, before)
                ((again,),) = session.fetch_rows(both, today, old, added(sums=("a",)))
                return Returning(day, before, int(rows or 0), entities, again)
    return Returning(day, None, int(rows or 0), entities, 0)


def _entities(session: Session, model: Model, day: date) -> Any:
    """Read the entities of the chosen rows of a day."""
    log, columns = open_log(session, model, "predictions", [day]), entity_columns(model.predictions)
    for column in columns:  # of an expression, the type becomes known so
        log.check(column, "predictions.entity", can_be_cast, ID_TYPES)
    row_filter = model.predictions.where
    if row_filter:
        log.check_filter(row_filter)
    raise_all(log)
    return log.read(row_filter, entity=digest_of(columns))
