"""Outcomes whose prediction is known, but whose day had settled when they came."""

from collections.abc import Sequence
from datetime import date

import narwhals as nw

from monitor.config import Model
from monitor.logs.session import Session
from monitor.logs.sources import open_dated
from monitor.settling import Settling


def days_of_late(model: Model, seen_on: Sequence[date]) -> list[date]:
    """List the days whose outcomes would be late on some days of outcomes, in order."""
    settling = Settling(model)
    return sorted({scored_on for day in seen_on for scored_on in settling.late_on(day)})


def count_late(
    session: Session, model: Model, scored_on: Sequence[date], seen_on: Sequence[date]
) -> dict[date, int]:
    """Count the late outcomes of each day of outcomes.

    Parameters
    ----------
    session, model : Session, Model
        Reads the logs.
    scored_on : sequence of date
        The days of predictions that can be read, of `days_of_late`.
    seen_on : sequence of date
        The days of outcomes.

    Returns
    -------
    dict of date to int
        Only of days that have any.
    """
    if not scored_on or not seen_on:
        return {}
    predictions, outcomes = open_dated(session, model, scored_on, seen_on, chosen=False)
    with session.drafting():
        met = outcomes.join(
            session.frame(predictions), left_on="outcome_id", right_on="id", how="inner"
        ).with_columns(age=nw.col("seen_on") - nw.col("scored_on"))
        late = met.filter(
            nw.col("age") > model.settled_after, nw.col("age") <= Settling(model).longest
        )
        counted = late.group_by("seen_on").agg(nw.len().cast(nw.Int64).alias("rows"))
    rows = counted.collect(backend="pyarrow").rows()
    return {date.fromordinal(day): int(number) for day, number in rows}
