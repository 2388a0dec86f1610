"""The checks of rows, in order: what a row is, its condition in SQL, and what is said of it.

A new check of rows is a `Status`, a `Check` here, and its key under `checks` in the configuration.
"""

from collections.abc import Collection
from dataclasses import dataclass
from enum import IntEnum
from typing import Literal

from monitor.logs.sources.times import NO_TIME
from monitor.metrics.core.grid import END_TOLERANCE


class Status(IntEnum):
    """What a row of the join is; each row is exactly one."""

    MATCHED = 0
    UNLABELLED = 1
    UNMATCHED_OUTCOME = 2
    PREDICTION_ID_MISSING = 3
    SCORE_MISSING = 4
    SCORE_OUT_OF_RANGE = 5
    OUTCOME_ID_MISSING = 6
    OUTCOME_INVALID = 7
    OUTCOME_EARLY = 8
    SCORE_SUM = 9  # class probabilities that do not add up to 1
    NOT_CHOSEN = 10  # a prediction of another day, or one that the filter leaves out
    ACTED_ON = 11  # a prediction whose outcome is not the one that was predicted
    OUTCOME_TIME_MISSING = 12  # an outcome of 0 that was never observed
    OUTCOME_TIME_IMPOSSIBLE = 13


# Predictions with a valid score. All but the first still need a usable outcome.
IN_PREDICTED = (
    Status.MATCHED,
    Status.UNLABELLED,
    Status.OUTCOME_INVALID,
    Status.OUTCOME_EARLY,
    Status.OUTCOME_TIME_MISSING,
    Status.OUTCOME_TIME_IMPOSSIBLE,
    Status.ACTED_ON,
)
WITHOUT_PREDICTION = (
    Status.UNMATCHED_OUTCOME,
    Status.OUTCOME_ID_MISSING,
    Status.NOT_CHOSEN,
)


@dataclass(frozen=True)
class Check:
    """What may be wrong with a row.

    Attributes
    ----------
    status : Status
        What a row is that breaks it.
    name : str
        Its key in the configuration, in messages and in the gauge of rejected rows.
    saying : str
        What is said of such rows.
    of : str
        What it looks at: a prediction, an outcome, or a prediction beside its outcome. Of the
        checks of predictions the first that is broken counts, then those of outcomes.
    column : str
        The column of the join that shows the value.
    condition : str
        SQL that is true of such rows.
    needs : tuple of str
        The columns of `Logs` that it rests on; logs without one of them need no check.
    """

    status: Status
    name: str
    saying: str
    of: Literal["prediction", "outcome", "both"]
    column: str
    condition: str
    needs: tuple[str, ...] = ()


ROW_CHECKS = (
    Check(
        Status.PREDICTION_ID_MISSING,
        "prediction_id_missing",
        "predictions have no id",
        *("prediction", "score"),
        "id IS NULL",
        ("outcome_id",),
    ),
    Check(
        Status.SCORE_MISSING,
        "score_missing",
        "predictions have no score (null or NaN)",
        *("prediction", "score"),
        "score IS NULL OR isnan(score)",
    ),
    Check(
        Status.SCORE_OUT_OF_RANGE,
        "score_out_of_range",
        "scores lie outside [0, 1]",
        *("prediction", "score"),
        f"score < -{END_TOLERANCE!r} OR score > {1.0 + END_TOLERANCE!r}e0",
    ),
    Check(
        Status.SCORE_SUM,
        "score_sum",
        "vectors of probabilities do not add up to 1",
        *("prediction", "total"),
        "off = 1",
        ("off",),
    ),
    Check(
        Status.OUTCOME_INVALID,
        "outcome_invalid",
        "outcomes are neither 0 nor 1",
        *("outcome", "outcome"),
        "outcome IS NULL OR outcome NOT IN (0, 1)",
    ),
    Check(
        Status.OUTCOME_EARLY,
        "outcome_early",
        "outcomes are earlier than their prediction",
        *("both", "observed_at"),
        "observed_at < scored_at",
        ("observed_at", "scored_at"),
    ),
    Check(
        Status.OUTCOME_TIME_MISSING,
        "outcome_time_missing",
        "outcomes are 0 and have no time",
        *("outcome", "outcome"),
        f"outcome = 0 AND undated = {NO_TIME}",
        ("undated",),
    ),
    Check(
        Status.OUTCOME_TIME_IMPOSSIBLE,
        "outcome_time_impossible",
        "outcomes are 0 and have a time at which nothing can have been observed",
        *("outcome", "outcome"),
        f"outcome = 0 AND undated > {NO_TIME}",
        ("undated",),
    ),
)


# What is said of rows that only a look at other rows finds.
OF_OTHER_ROWS = {
    "prediction_repeated": "predictions share their id with another",
    "outcome_conflicting": "outcomes contradict another",
    "outcome_id_missing": "outcomes have no id",
    "outcome_orphan": "outcomes have no prediction",
    "outcome_late": "outcomes came after their day had settled",
}


def checks_of(columns: Collection[str], of: str) -> list[tuple[Status, str]]:
    """List the checks that logs with some columns need, with their conditions."""
    return [
        (check.status, check.condition)
        for check in ROW_CHECKS
        if check.of == of and {*columns}.issuperset(check.needs)
    ]
