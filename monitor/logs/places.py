"""Where the rows of a day lie: which days a log has, and what tells that one has changed."""

from collections.abc import Sequence
from datetime import date, timedelta
from typing import Any, Literal

from monitor.config import Model
from monitor.errors import Fault
from monitor.files import describe_files, list_days, list_files
from monitor.summary import days_between

Kind = Literal["predictions", "outcomes"]

MISSING = {
    log: Fault(log, "missing", "a day of the log is missing") for log in ("predictions", "outcomes")
}


def days_of(model: Model, kind: Kind) -> list[date]:
    """List the days of a log, in order.

    Outcomes that are a column of the predictions have the days of the predictions.
    """
    return list_days(_template(model, kind))


def has_day(model: Model, kind: Kind, day: date) -> bool:
    """Tell whether a log has a day."""
    return bool(list_files(_template(model, kind), day))


def describe_inputs(model: Model, day: date, partitions: Sequence[date]) -> list[list[Any]]:
    """Describe all that the summary of a day is made of, so that a change of it is noticed.

    Parameters
    ----------
    model : Model
        Where the logs are.
    day : date
        Day of the predictions.
    partitions : sequence of date
        The days whose outcomes belong to it.
    """
    if model.outcomes.in_predictions:
        return [_describe(model, "predictions", day), [str(d) for d in partitions]]
    asked = days_between(day - timedelta(days=model.settled_after), day)
    return [
        [_describe(model, "predictions", d) for d in asked],
        [_describe(model, "outcomes", d) for d in partitions],
    ]


def _describe(model: Model, kind: Kind, day: date) -> list[list[str]]:
    return describe_files(_template(model, kind), day)


def place_of(model: Model, kind: Kind, day: date | None = None) -> str:
    """Name the place of a log, or of one of its days, for messages."""
    template = _template(model, kind)
    return template.format(day=day) if day else template


def no_partition(what: str, model: Model, kind: Kind, day: date) -> str:
    """Word that a day has no file."""
    present = days_of(model, kind)
    range_ = (
        f"there are days {present[0]} to {present[-1]}" if present else "there are no days at all"
    )
    return (
        f"{what}: no {kind} of {day} at {place_of(model, kind, day)}; {range_}. "
        f"Wait for the log, or correct {kind}.path in the configuration."
    )


def _template(model: Model, kind: Kind) -> str:
    together = model.outcomes.in_predictions
    return model.outcomes.path if kind == "outcomes" and not together else model.predictions.path
