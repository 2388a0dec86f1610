"""When outcomes came: those of some days of predictions, or on some days, by their age in days.

Both questions are aggregates of one relation: outcomes beside the predictions with their id. An
outcome that is nan is not known, and no outcome.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from monitor.config import Engine, Model
from monitor.days.arrivals import Arrivals
from monitor.days.summary import days_between
from monitor.logs.columns.canonical import Logs, open_aged, open_dated
from monitor.logs.engines.databases import Databases
from monitor.logs.engines.session import Session, open_session
from monitor.logs.engines.steps import Steps, added
from monitor.logs.sources.source import has_day

MISSING, ORPHAN, LATE = "missing", "orphan", "late"
# An outcome belongs to the youngest of the predictions with its id.
CAME = "SELECT seen_on, outcome_id, count(*) AS rows FROM outcomes GROUP BY seen_on, outcome_id"
YOUNGEST = (
    "SELECT seen_on, outcome_id, min(seen_on - scored_on) AS age FROM came "
    "JOIN predictions ON outcome_id = id WHERE seen_on >= scored_on GROUP BY seen_on, outcome_id"
)
BESIDE = (
    "SELECT came.seen_on, came.outcome_id, rows, age FROM came LEFT JOIN aged "
    "ON came.seen_on = aged.seen_on AND came.outcome_id = aged.outcome_id"
)
AGED: Steps = [("came", CAME), ("aged", YOUNGEST), ("of_age", BESIDE)]


@dataclass(frozen=True, eq=False)
class Seen:
    """The outcomes that came on some days.

    Attributes
    ----------
    logs : Logs
        From `open_dated`.
    rows : mapping of (date, str) to int
        Outcomes by the day, and by whether they have no id, no prediction, or are late; others are
        neither.
    """

    logs: Logs
    rows: dict[tuple[date, str], int]

    def of(self, day: date, what: str | None = None) -> int:
        """Count the outcomes of a day, all or those that are something."""
        return sum(n for (own, is_), n in self.rows.items() if own == day and what in (None, is_))

    def first_orphan(self) -> str:
        """Show the first id that no prediction has."""
        ((first,),) = self.logs.fetch_rows(
            "SELECT min(outcome_id) AS first FROM of_age WHERE age IS NULL",
            AGED,
            "SELECT CAST(min(first) AS VARCHAR) AS first FROM shares",
        )
        return f"{first}"


def outcomes_seen(
    session: Session, model: Model, scored_on: Sequence[date], seen_on: Sequence[date]
) -> Seen:
    """Count the outcomes of some days by what became of them.

    Parameters
    ----------
    session, model : Session, Model
        Reads the logs.
    scored_on : sequence of date
        The days of predictions that can be read, of those whose outcomes are counted.
    seen_on : sequence of date
        The days of outcomes.
    """
    logs = open_dated(session, model, scored_on, seen_on, chosen=False)
    cases = (
        f"WHEN outcome_id IS NULL THEN '{MISSING}' WHEN age IS NULL THEN '{ORPHAN}' "
        f"WHEN age > {model.settled_after} THEN '{LATE}'"
    )
    counted = logs.fetch_rows(
        f"SELECT seen_on, CASE {cases} ELSE '' END AS what, CAST(sum(rows) AS BIGINT) AS rows "
        "FROM of_age GROUP BY 1, 2",
        AGED,
        added("seen_on", "what"),
    )
    return Seen(logs, {(date.fromordinal(day), what): number for day, what, number in counted})


def count_arrivals(
    name: str, model: Model, days: Sequence[date], *, longest: int, engine: Engine | Databases
) -> list[Arrivals]:
    """Count the outcomes of the predictions of some days by the age at which they came first.

    Parameters
    ----------
    name, model : str, Model
        The model.
    days : sequence of date
        Days of predictions, at least one, in their order. One query reads every partition once.
    longest : int
        The greatest age, in days; partitions that do not exist hold no outcomes.
    engine : Engine or Databases
        As for `summarise_day`.

    Returns
    -------
    list of Arrivals
        One for each day, also if none of its outcomes came.

    Raises
    ------
    DataError
        If a log is missing or cannot be read.
    """
    due = sorted({u for day in days for u in days_between(day, day + timedelta(days=longest))})
    together = model.outcomes.in_predictions
    partitions = days if together else [u for u in due if has_day(model, "outcomes", u)]
    counts = {(day.toordinal(), outcome): [0] * (longest + 1) for day in days for outcome in (0, 1)}
    if partitions:
        span = f"{days[0]} to {days[-1]}" if days[1:] else f"{days[0]}"
        with open_session(f"{name} {span}", engine) as session:
            rows = _by_age(session, model, days, partitions, longest)
        for scored_on, age, outcome, number in rows:
            counts[scored_on, outcome][age] = number
        if model.predictions.classes:
            counts |= {(day, 0): ages for (day, outcome), ages in counts.items() if outcome}
    return [
        Arrivals(day, tuple(counts[day.toordinal(), 1]), tuple(counts[day.toordinal(), 0]))
        for day in days
    ]


def can_count_arrivals(model: Model) -> bool:
    """Return whether the logs say when an outcome came: its partition, or its time."""
    return not model.outcomes.in_predictions or model.outcomes.time is not None


def _by_age(
    session: Session,
    model: Model,
    days: Sequence[date],
    partitions: Sequence[date],
    longest: int,
) -> list[tuple[int, int, int, int]]:
    """Count the first outcome of each prediction by its day, age and value; an id counts once."""
    of_classes = model.predictions.classes is not None  # which are counted alike
    value, usable = ("1", "outcome >= 0") if of_classes else ("outcome", "outcome IN (0, 1)")
    if model.outcomes.in_predictions:
        logs = open_aged(session, model, days)
        rows, group = f"SELECT scored_on, age, {value} AS value FROM outcomes WHERE {usable}", ""
    else:
        logs = open_dated(session, model, days, partitions)
        rows, group = (
            (
                f"SELECT scored_on, id, seen_on - scored_on AS age, {value} AS value "
                f"FROM predictions JOIN outcomes ON id = outcome_id WHERE {usable}"
            ),
            "GROUP BY scored_on, id",
        )
    chosen = "min(age) AS age, min(value) AS value" if group else "age, value"
    first = f"SELECT scored_on, {chosen} FROM met WHERE age BETWEEN 0 AND {longest} {group}"
    whole = ", ".join(f"CAST({c} AS BIGINT) AS {c}" for c in ("scored_on", "age", "value"))
    counted = f"SELECT {whole}, count(*) AS rows FROM first GROUP BY scored_on, age, value"
    steps = [("met", rows), ("first", first)]
    return logs.fetch_rows(counted, steps, added("scored_on", "age", "value"))
