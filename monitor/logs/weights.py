"""Weights of rows that were sampled by their outcome: one for each class and day, or none at all.

A log that keeps every positive and one negative in ten gives a negative the weight 10 and a
positive the weight 1. Among its rows the odds of outcome 1 are ten times those of the population at
every score, so a score that is right for the population is right for the log after its logit moves
by log 10. That is exact, and every count stays the integer that was logged.
"""

from dataclasses import dataclass
from math import isfinite
from typing import Any

import narwhals as nw

from monitor.config import Model
from monitor.errors import DataError, Fault
from monitor.logs.checks import IN_PREDICTED, Status
from monitor.logs.session import Frame, Session

SAME = 1e-9  # relative: a weight that was rounded, or stored in another type


@dataclass(frozen=True)
class _Span:
    """The weights of some rows: the least, the greatest, and how many are not above 0."""

    least: float
    greatest: float
    unusable: int

    @property
    def constant(self) -> bool:
        return self.greatest - self.least <= SAME * self.greatest


def class_weights(session: Session, joined: Frame, model: Model) -> tuple[float, float]:
    """Find how many rows of the population a row of outcome 0, and one of outcome 1, stands for.

    Parameters
    ----------
    session : Session
        The one that reads the day.
    joined : LazyFrame
        The join, with the columns `status`, `outcome` and `weight`.
    model : Model
        Its configuration.

    Raises
    ------
    DataError
        If weights differ inside a class, are missing or not positive, or those of a class cannot
        be known because it has no row.
    """
    matched = nw.col("status") == int(Status.MATCHED)
    of_class = {
        outcome: _span(session, joined, matched & (nw.col("outcome") == outcome))
        for outcome in (0, 1)
    }
    for outcome, span in of_class.items():
        if span and (span.unusable or not span.constant):
            raise _refusal(session.what, model, outcome, span)
    weights = {outcome: span.greatest for outcome, span in of_class.items() if span}
    if len(weights) == 1 and model.predictions.weight:
        weights |= _by_elimination(session, joined, weights)
    if len(weights) < 2:  # noqa: PLR2004 - the two classes
        raise _unknown(session.what, model, weights)
    return weights[0], weights[1]


def _span(session: Session, joined: Frame, *chosen: nw.Expr) -> _Span | None:
    """Describe the weights of some rows; None without a row."""
    weight = nw.col("weight")
    unusable = weight.is_null() | ~(weight > 0.0) | ~weight.is_finite()
    with session.drafting():
        described = joined.filter(*chosen).select(
            nw.len().alias("rows"),
            weight.min().alias("least"),
            weight.max().alias("greatest"),
            unusable.cast(nw.Int64).sum().alias("unusable"),
        )
    count, *rest = _row(described)
    if not count:
        return None
    least, greatest, bad = (float(value) if value is not None else 0.0 for value in rest)
    return _Span(least, greatest, int(bad))


def _by_elimination(session: Session, joined: Frame, weights: dict[int, float]) -> dict[int, float]:
    """Give the class without an outcome the other one of two weights in the log."""
    ((outcome, weight),) = weights.items()
    scored = nw.col("status").is_in([int(status) for status in IN_PREDICTED])
    value = nw.col("weight")
    other = (value - weight).abs() > SAME * weight
    rest = _span(session, joined, scored, other)
    if rest is None:
        return {}
    return {1 - outcome: rest.greatest} if rest.constant and not rest.unusable else {}


def _row(frame: Frame) -> tuple[Any, ...]:
    return tuple(frame.collect(backend="pyarrow").row(0))


def _refusal(what: str, model: Model, outcome: int, span: _Span) -> DataError:
    setting = _setting(model)
    if span.unusable or not isfinite(span.greatest):
        said = f"{span.unusable:,} rows with outcome {outcome} have no weight above 0"
    else:
        said = (
            f"the weights of outcome {outcome} lie between {span.least:.6g} and {span.greatest:.6g}"
        )
    msg = (
        f"{what}: {said}; {setting} can only be corrected exactly if all rows of an outcome have "
        f"the same weight on a day, because with others the counts are not those of a binomial "
        f"distribution. Sample each class at one rate a day, or give rows with another rate a "
        f"model of their own (predictions.where), then rerun this day."
    )
    return DataError(msg, Fault(setting.partition(".")[0], "other", "weights differ in a class"))


def _unknown(what: str, model: Model, weights: dict[int, float]) -> DataError:
    setting = _setting(model)
    missing = " and ".join(str(outcome) for outcome in (0, 1) if outcome not in weights)
    msg = (
        f"{what}: {setting} is not known for outcome {missing}, of which there is no row yet; "
        f"rerun this day when it has outcomes of both kinds."
    )
    return DataError(msg, Fault(setting.partition(".")[0], "other", "weights are not known"))


def _setting(model: Model) -> str:
    return "predictions.weight" if model.predictions.weight else "outcomes.weight"
