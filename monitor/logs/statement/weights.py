"""Weights of rows: what stands for how many rows of the population, in the groups of the statement.

Of a log that was sampled by outcome, there is one for each class and day, or none at all. A log
that keeps every positive and one negative in ten gives a negative the weight 10 and a positive the
weight 1. Among its rows the odds of outcome 1 are ten times those of the population at every score,
so a score that is right for the population is right for the log after its logit moves by log 10.
That is exact, and every count stays the integer that was logged.

Of outcomes that were chosen, each row has its probability r, and stands for 1/r rows. Tallies stay
the integers that were counted; beside them are sums of 1/r and of 1/r squared, in fixed point, so
that they add exactly.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np

from monitor.base.errors import DataError, Fault
from monitor.config import LEAST_RATE, Model
from monitor.days.summary import SQUARE, UNIT, Rated, rated
from monitor.logs.checks.checks import IN_PREDICTED, Groups, Status
from monitor.logs.engines.steps import as_double

Totals = Mapping[str, tuple[str, str]]  # by name: SQL of a row, and the aggregate of rows
Ask = Callable[..., list[tuple[Any, ...]]]  # a query of the rows, and `whole` of all shares
SAME = 1e-9  # relative: a weight that was rounded, or stored in another type
ABOVE_0 = "weight > 0 AND weight < CAST('inf' AS DOUBLE)"
A_RATE = f"weight >= {as_double(LEAST_RATE)} AND weight <= 1e0"


def totals_of(columns: Collection[str]) -> Totals:
    """List what is added up of the weights of rows with these canonical columns."""
    # Statistics of Parquet leave out NaN, and DuckDB concludes from them that there is none.
    usable = f"NOT isnan(weight) AND {A_RATE if 'rated' in columns else ABOVE_0}"
    inverse = f"(1e0 / CASE WHEN {usable} THEN weight ELSE 1e0 END)"
    totals = {
        "least": ("weight", "min"),
        "most": ("weight", "max"),
        "unusable": (f"CASE WHEN {usable} THEN 0 ELSE 1 END", "sum"),
    }
    if "rated" in columns:
        totals["inverse"] = _fixed(inverse, UNIT), "sum"
        totals["square"] = _fixed(f"{inverse} * {inverse}", SQUARE), "sum"
    return totals


def _fixed(value: str, unit: int) -> str:
    return f"CAST(floor({value} * {as_double(float(unit))} + 0.5e0) AS BIGINT)"


@dataclass(frozen=True)
class _Span:
    """The weights of some rows: the least, the greatest, and how many are not above 0."""

    least: float
    greatest: float
    unusable: int

    @property
    def constant(self) -> bool:
        return self.greatest - self.least <= SAME * self.greatest


def class_weights(what: str, model: Model, groups: Groups, ask: Ask) -> tuple[float, float]:
    """Find how many rows of the population a row of outcome 0, and one of outcome 1, stands for.

    Parameters
    ----------
    what, model : str, Model
        The model and day, for messages, and its configuration.
    groups : Groups
        Of a day whose rows have weights.
    ask : callable
        Asks something of the rows of the day.

    Raises
    ------
    DataError
        If weights differ inside a class, are missing or not positive, or those of a class cannot
        be known because it has no row.
    """
    of_class = _spans(groups)
    for outcome, span in of_class.items():
        if span.unusable or not span.constant:
            raise _refusal(what, model, outcome, span)
    weights = {outcome: span.greatest for outcome, span in of_class.items()}
    if len(weights) == 1 and model.predictions.weight:
        weights |= _by_elimination(ask, weights)
    if len(weights) < 2:  # noqa: PLR2004 - the two classes
        raise _unknown(what, model, weights)
    return weights[0], weights[1]


def _spans(groups: Groups) -> dict[int, _Span]:
    """Describe the weights of the rows of each outcome that has any."""
    spans, matched = dict[int, _Span](), groups.statuses == Status.MATCHED
    for outcome, rows in enumerate((groups.counts - groups.positives, groups.positives)):
        if (of := matched & (rows > 0)).any():
            least, most, unusable = (
                groups.totals[name][outcome][of] for name in ("least", "most", "unusable")
            )
            spans[outcome] = _Span(float(least.min()), float(most.max()), int(unusable.sum()))
    return spans


def _by_elimination(ask: Ask, weights: dict[int, float]) -> dict[int, float]:
    """Give the class without an outcome the other one of two weights in the log."""
    ((outcome, weight),) = weights.items()
    scored = ", ".join(f"{int(status)}" for status in IN_PREDICTED)
    other = f"abs(weight - {as_double(weight)}) > {as_double(SAME * weight)}"
    ((least, most, usable, rows),) = ask(
        f"SELECT min(weight) AS a, max(weight) AS b, count(*) AS n, "
        f"count(*) FILTER (NOT isnan(weight) AND {ABOVE_0}) AS c "
        f"FROM rows_of_day WHERE status IN ({scored}) AND {other}",
        whole="SELECT min(a) AS a, max(b) AS b, sum(c) AS c, sum(n) AS n FROM shares",
    )
    known = rows and usable == rows and _Span(least, most, 0).constant
    return {1 - outcome: float(most)} if known else {}


def _refusal(what: str, model: Model, outcome: int, span: _Span) -> DataError:
    log = _log_of_weights(model)
    if span.unusable or not isfinite(span.greatest):
        said = f"{span.unusable:,} rows with outcome {outcome} have no weight above 0"
    else:
        said = (
            f"the weights of outcome {outcome} lie between {span.least:.6g} and {span.greatest:.6g}"
        )
    msg = (
        f"{what}: {said}; {log}.weight can only be corrected exactly if all rows of an outcome "
        f"have the same weight on a day, because with others the counts are not those of a "
        f"binomial distribution. Sample each class at one rate a day, or give rows with another "
        f"rate a model of their own (predictions.where), then rerun this day."
    )
    return DataError(msg, Fault(log, "other", "weights differ in a class"))


def _unknown(what: str, model: Model, weights: dict[int, float]) -> DataError:
    log = _log_of_weights(model)
    missing = " and ".join(str(outcome) for outcome in (0, 1) if outcome not in weights)
    msg = (
        f"{what}: {log}.weight is not known for outcome {missing}, of which there is no row yet; "
        f"rerun this day when it has outcomes of both kinds."
    )
    return DataError(msg, Fault(log, "other", "weights are not known"))


def _log_of_weights(model: Model) -> str:
    return "predictions" if model.predictions.weight else "outcomes"


def count_rated(what: str, groups: Groups) -> dict[int, Rated]:
    """Add up what the outcomes of a day stand for, by the number of segment and stratum.

    Parameters
    ----------
    what : str
        The model and day, for messages.
    groups : Groups
        Of a day whose rows have `weight`, the probability of a row.

    Raises
    ------
    DataError
        If a row with an outcome has no probability, or one that is none.
    """
    matched = groups.statuses == Status.MATCHED
    totals = {name: np.stack(sides)[:, matched] for name, sides in groups.totals.items()}
    if matched.any() and (wrong := int(totals["unusable"].sum())):
        ends = np.stack([totals["least"], totals["most"]])
        raise _no_rates(what, wrong, int(groups.counts[matched].sum()), ends[~np.isnan(ends)])
    parts, cells = groups.parts[matched], groups.cells[matched]
    by_part = dict[int, Rated]()
    for part in np.unique(parts):
        own = parts == part
        inverses, squares = (totals[name][:, own].ravel() for name in ("inverse", "square"))
        positive = np.repeat([False, True], int(own.sum()))
        by_part[int(part)] = rated(np.tile(cells[own], 2), inverses, squares, positive)
    return by_part


def _no_rates(what: str, wrong: int, rows: int, rates: Any) -> DataError:
    lie = f"; the others lie between {min(rates):.6g} and {max(rates):.6g}" if rates.size else ""
    msg = (
        f"{what}: {wrong:,} of {rows:,} rows with an outcome have no label_rate from "
        f"{LEAST_RATE:g} to 1{lie}. It is the probability with which a row was chosen to get an "
        f"outcome: log it with each such row, then rerun this day; or set label_rate to by_score "
        f"if the score alone decides."
    )
    return DataError(msg, Fault("predictions", "other", "probabilities of labels are missing"))
