"""When the outcomes of some days arrived: the number of outcomes by their age in days."""

from collections.abc import Sequence
from datetime import date, timedelta

import narwhals as nw

from monitor.arrivals import Arrivals
from monitor.config import Engine, Model
from monitor.logs.databases import Databases
from monitor.logs.partitions import has_day
from monitor.logs.session import Frame, open_session
from monitor.logs.sources import open_aged, open_dated
from monitor.summary import days_between


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
            if together:
                first = _usable(open_aged(session, model, days), model)
            else:
                predictions, outcomes = open_dated(session, model, days, partitions)
                first = _first_of_ids(session.frame(predictions), _usable(outcomes, model), longest)
            rows = _by_age(first, longest).collect(backend="pyarrow").rows()
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


def _usable(outcomes: Frame, model: Model) -> Frame:
    """Choose the outcomes of 0 and 1; those of classes are counted alike, as outcomes of 1."""
    if model.predictions.classes:
        return outcomes.filter(nw.col("outcome") >= 0).with_columns(outcome=nw.lit(1))
    return outcomes.filter((nw.col("outcome") == 0) | (nw.col("outcome") == 1))


def _first_of_ids(predictions: Frame, outcomes: Frame, longest: int) -> Frame:
    """Find the first outcome of each id, which counts once."""
    met = predictions.join(outcomes, left_on="id", right_on="outcome_id", how="inner")
    aged = met.with_columns(age=nw.col("seen_on") - nw.col("scored_on"))
    return (
        _within(aged, longest)
        .group_by("scored_on", "id")
        .agg(nw.col("age").min(), nw.col("outcome").min())
    )


def _within(aged: Frame, longest: int) -> Frame:
    return aged.filter(nw.col("age") >= 0, nw.col("age") <= longest)


def _by_age(aged: Frame, longest: int) -> Frame:
    """Query the number of outcomes by day, outcome and age."""
    columns = (nw.col(c).cast(nw.Int64) for c in ("scored_on", "age", "outcome"))
    whole = _within(aged, longest).with_columns(*columns)
    return whole.group_by("scored_on", "age", "outcome").agg(nw.len().cast(nw.Int64).alias("rows"))
