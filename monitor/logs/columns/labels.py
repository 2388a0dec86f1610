"""Scores that are the probability of a predicted label, read as the probability of outcome 1."""

from collections.abc import Mapping
from typing import Any

from monitor.base.sql_text import text_in_sql
from monitor.config import Model, OutcomeMeans
from monitor.logs.columns.rows import wrong_meaning
from monitor.logs.engines.conversions import Wanted, misfit, outcome, quoted
from monitor.logs.engines.types import Type
from monitor.logs.sources.opening import OpenLog

OUTCOME_TYPES = "integer, boolean or floating point"
SETTING = "predictions.predicted_label"


def labels_of(predictions: OpenLog, column: str, model: Model) -> OutcomeMeans | None:
    """Check the column of labels, and return what they stand for; None if they are 0 and 1."""
    means = model.predictions.label_means or model.outcomes.outcome_means
    if means is None:
        wanted = f"{OUTCOME_TYPES} (or list its values in predictions.label_means)"
        predictions.check(column, SETTING, lambda type_: type_.can_be_outcome, wanted)
    elif predictions.check(column, SETTING, lambda _: True, "of any type"):
        own = model.predictions.label_means is not None
        setting = (
            "predictions.label_means"
            if own
            else "predictions.label_means is not set, and outcomes.outcome_means"
        )
        check_meanings(predictions, column, setting, means)
    return means


def check_meanings(log: OpenLog, column: str, setting: str, means: OutcomeMeans) -> None:
    """Note a column that cannot have the values that a setting lists."""
    for type_ in dict.fromkeys(types[column] for types in log.files.values() if column in types):
        if kind := wrong_meaning(type_, means):
            msg = (
                f"{log.session.what}: {setting} lists values that column '{column}' cannot have, "
                f"because it is {type_}; list {kind}."
            )
            log.note(msg, "has another type")


def score_of_label(score: Wanted, label: str, means: OutcomeMeans | None) -> Wanted:
    """Read a score as it is beside a label that stands for 1, and 1 minus it beside the other.

    A row without a label has no score. A label that stands for neither stops the day.

    Parameters
    ----------
    score : Wanted
        The probability of the label.
    label : str
        The column of the label.
    means : OutcomeMeans or None
        Which labels stand for 1 and 0; None if they are 1 and 0.
    """

    def write(types: Mapping[str, Any]) -> str:
        type_, name = types[label], quoted(label)
        missing = f"{name} IS NULL"
        if type_.is_float:
            missing += f" OR isnan({name})"
        said, positive, negative = _said(label, type_, means)
        wrong = misfit(
            label, "a label that stands for 1 or 0", "list it in predictions.label_means"
        )
        return (
            f"CASE WHEN {missing} THEN NULL "
            f"WHEN {said} IN ({positive}) THEN CAST({score.sql(types)} AS DOUBLE) "
            f"WHEN {said} IN ({negative}) THEN 1 - CAST({score.sql(types)} AS DOUBLE) "
            f"ELSE {wrong} END"
        )

    return Wanted((*score.columns, label), write)


def _said(label: str, type_: Type, means: OutcomeMeans | None) -> tuple[str, str, str]:
    """Write a label in SQL so that it can be compared, and the values that stand for 1 and 0."""
    as_it_is = type_.can_be_outcome
    if means is None:
        said = quoted(label) if as_it_is else outcome(label, SETTING).sql({})
        return f"CAST({said} AS DOUBLE)", "1", "0"
    written = str if as_it_is else lambda value: text_in_sql(str(value))
    positive, negative = (
        ", ".join(map(written, values)) for values in (means.positive, means.negative)
    )
    return quoted(label) if as_it_is else f"CAST({quoted(label)} AS VARCHAR)", positive, negative
