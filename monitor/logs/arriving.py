"""When the outcomes of some days arrived: the number of outcomes by their age in days."""

from collections.abc import Sequence
from datetime import date, timedelta

import narwhals as nw

from monitor.arrivals import Arrivals
from monitor.config import Engine, Model
from monitor.logs.databases import Databases
from monitor.logs.places import has_day
from monitor.logs.session import Frame, open_session
from monitor.logs.sources import open_dated
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
    partitions = [u for u in due if has_day(model, "outcomes", u)]
    counts = {(day.toordinal(), outcome): [0] * (longest + 1) for day in days for outcome in (0, 1)}
    if partitions:
        span = f"{days[0]} to {days[-1]}" if days[1:] else f"{days[0]}"
        with open_session(f"{name} {span}", engine) as session:
            predictions, outcomes = open_dated(session, model, days, partitions)
            if model.predictions.classes:  # all are counted alike, as outcomes of 1
                known = nw.col("outcome") >= 0
                outcomes = outcomes.filter(known).with_columns(outcome=nw.lit(1))
            frame = _by_age(session.frame(predictions), outcomes, longest)
            rows = frame.collect(backend="pyarrow").rows()
        for scored_on, age, outcome, number in rows:
            counts[scored_on, outcome][age] = number
        if model.predictions.classes:
            counts |= {(day, 0): ages for (day, outcome), ages in counts.items() if outcome}
    return [
        Arrivals(day, tuple(counts[day.toordinal(), 1]), tuple(counts[day.toordinal(), 0]))
        for day in days
    ]


def _by_age(predictions: Frame, outcomes: Frame, longest: int) -> Frame:
    """Query the number of ids by day, outcome and the age of their first outcome."""
    zero_or_one = (nw.col("outcome") == 0) | (nw.col("outcome") == 1)
    met = predictions.join(
        outcomes.filter(zero_or_one), left_on="id", right_on="outcome_id", how="inner"
    )
    aged = met.with_columns(age=nw.col("seen_on") - nw.col("scored_on"))
    first = (
        aged.filter(nw.col("age") >= 0, nw.col("age") <= longest)
        .group_by("scored_on", "id")
        .agg(nw.col("age").min(), nw.col("outcome").min())
    )
    whole = first.with_columns(*(nw.col(c).cast(nw.Int64) for c in ("scored_on", "age", "outcome")))
    return whole.group_by("scored_on", "age", "outcome").agg(nw.len().cast(nw.Int64).alias("rows"))
