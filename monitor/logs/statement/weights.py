"""Weights of rows that were sampled by their outcome: one for each class and day, or none at all.

A log that keeps every positive and one negative in ten gives a negative the weight 10 and a
positive the weight 1. Among its rows the odds of outcome 1 are ten times those of the population at
every score, so a score that is right for the population is right for the log after its logit moves
by log 10. That is exact, and every count stays the integer that was logged.
"""

from dataclasses import dataclass
from math import isfinite

from monitor.base.errors import DataError, Fault
from monitor.config import Model
from monitor.logs.checks.checks import IN_PREDICTED, Status
from monitor.logs.engines.steps import as_double
from monitor.logs.statement.statement import Query

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


def class_weights(query: Query, model: Model) -> tuple[float, float]:
    """Find how many rows of the population a row of outcome 0, and one of outcome 1, stands for.

    Parameters
    ----------
    query : Query
        Of a day whose rows have weights.
    model : Model
        Its configuration.

    Raises
    ------
    DataError
        If weights differ inside a class, are missing or not positive, or those of a class cannot
        be known because it has no row.
    """
    what, matched = query.logs.session.what, f"status = {int(Status.MATCHED)}"
    of_class = _spans(query, matched, "CAST(outcome AS INTEGER)")
    for outcome, span in sorted(of_class.items()):
        if span.unusable or not span.constant:
            raise _refusal(what, model, outcome, span)
    weights = {outcome: span.greatest for outcome, span in of_class.items()}
    if len(weights) == 1 and model.predictions.weight:
        weights |= _by_elimination(query, weights)
    if len(weights) < 2:  # noqa: PLR2004 - the two classes
        raise _unknown(what, model, weights)
    return weights[0], weights[1]


def _spans(query: Query, chosen: str, by: str) -> dict[int, _Span]:
    """Describe the weights of some rows, by a value of theirs."""
    # Statistics of Parquet leave out NaN, and DuckDB concludes from them that there is none.
    usable = "NOT isnan(weight) AND weight > 0 AND weight < CAST('inf' AS DOUBLE)"
    found = query.fetch_rows(
        f"SELECT {by} AS side, min(weight) AS a, max(weight) AS b, "
        f"sum(CASE WHEN {usable} THEN 0 ELSE 1 END) AS c FROM rows_of_day "
        f"WHERE {chosen} GROUP BY 1",
        "SELECT side, min(a) AS a, max(b) AS b, sum(c) AS c FROM shares GROUP BY side",
    )
    return {of: _Span(float(a or 0.0), float(b or 0.0), int(c)) for of, a, b, c in found}


def _by_elimination(query: Query, weights: dict[int, float]) -> dict[int, float]:
    """Give the class without an outcome the other one of two weights in the log."""
    ((outcome, weight),) = weights.items()
    scored = ", ".join(f"{int(status)}" for status in IN_PREDICTED)
    other = f"abs(weight - {as_double(weight)}) > {as_double(SAME * weight)}"
    rest = _spans(query, f"status IN ({scored}) AND {other}", "0").get(0)
    known = rest is not None and rest.constant and not rest.unusable
    return {1 - outcome: rest.greatest} if rest and known else {}


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
