"""The checks of rows, in order: what a row is, its condition in SQL, and what is said of it.

A new check of rows is a `Status` and a `Check` here, and its key in `CHECKS` of the configuration.
"""

import difflib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields
from enum import IntEnum, auto
from typing import Any, Literal

import numpy as np

from monitor.config import Classes
from monitor.logs.sources.times import NO_TIME
from monitor.metrics.core.grid import END_TOLERANCE, Ints
from monitor.words.plausibility import LABELS, MOST_ROUNDED

# What is said of rows that only a look at other rows finds.
OF_OTHER_ROWS = {
    "prediction_repeated": "predictions share their id with another",
    "outcome_conflicting": "outcomes contradict another",
    "outcome_id_missing": "outcomes have no id",
    "outcome_orphan": "outcomes have no prediction",
    "outcome_late": "outcomes came after their day had settled",
}


class Status(IntEnum):
    """What a row of the join is; each row is exactly one."""

    MATCHED = 0
    UNLABELLED = auto()
    UNMATCHED_OUTCOME = auto()
    PREDICTION_ID_MISSING = auto()
    SCORE_MISSING = auto()
    SCORE_OUT_OF_RANGE = auto()
    OUTCOME_ID_MISSING = auto()
    OUTCOME_INVALID = auto()
    OUTCOME_EARLY = auto()
    SCORE_SUM = auto()  # class probabilities that do not add up to 1
    ACTED_ON = auto()  # a prediction whose outcome is not the one that was predicted
    OUTCOME_TIME_MISSING = auto()  # an outcome of 0 that was never observed
    OUTCOME_TIME_IMPOSSIBLE = auto()
    # A prediction of another day, or one that the filter leaves out: the last, because the
    # statement knows the chosen ones by their smaller codes.
    NOT_CHOSEN = auto()


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
# Predictions with a valid score. All but the first still need a usable outcome.
IN_PREDICTED = (
    *(Status.MATCHED, Status.UNLABELLED, Status.ACTED_ON),
    *(check.status for check in ROW_CHECKS if check.of != "prediction"),
)


def checks_of(columns: Collection[str], of: str) -> list[tuple[Status, str]]:
    """List the checks that logs with some columns need, with their conditions."""
    return [
        (check.status, check.condition)
        for check in ROW_CHECKS
        if check.of == of and {*columns}.issuperset(check.needs)
    ]


@dataclass(frozen=True, eq=False)
class Groups:
    """The result of the query: rows of the join in groups, every array of shape (g,).

    Attributes
    ----------
    statuses, with_outcome, parts, cells : ndarray
        The keys: the status, 1 if the row has an outcome else 0, the index of segment and
        stratum, and the cell (0 for rows without a valid score).
    buckets : ndarray
        One more key of a model with `entity`: the bucket; else 0.
    counts, positives, offset_sums : ndarray
        Rows; for matched rows also outcomes of 1 and sums of offsets inside the cell.
    repeats : ndarray
        Predictions without an outcome that share their id with another such prediction.
    totals : mapping of str to sequence of ndarray
        Of rows with weights: what is added up of those with outcome 0, and of those with 1.
    """

    statuses: Ints
    with_outcome: Ints
    parts: Ints
    cells: Ints
    counts: Ints
    positives: Ints
    offset_sums: Ints
    repeats: Ints
    buckets: Ints
    totals: Mapping[str, Sequence[Any]] = field(default_factory=dict)

    @property
    def has_flaws(self) -> bool:
        """Whether a row breaks a check."""
        return self.rows_with(*(check.status for check in ROW_CHECKS)) > 0

    def proves_unique(self, *, predictions: int, outcomes: int) -> bool:
        """Return whether so many rows of both logs prove that no id is repeated."""
        met_once = self.outcome_rows <= outcomes and self.prediction_rows <= predictions
        return met_once and not self.repeats.any()

    @property
    def prediction_rows(self) -> int:
        """Rows of the join that have a prediction."""
        return int(self.counts[~np.isin(self.statuses, WITHOUT_PREDICTION)].sum())

    @property
    def predicted_rows(self) -> int:
        """Rows with a valid prediction."""
        return self.rows_with(*IN_PREDICTED)

    @property
    def outcome_rows(self) -> int:
        """Rows of the join that have an outcome."""
        return int(self.counts[self.with_outcome == 1].sum())

    @property
    def observed_rows(self) -> int:
        """Matched rows whose outcome is in the log, not concluded from its absence."""
        seen = (self.statuses == Status.MATCHED) & (self.with_outcome == 1)
        return int(self.counts[seen].sum())

    @property
    def met_rows(self) -> int:
        """Rows of the join that have both."""
        met = (self.with_outcome == 1) & ~np.isin(self.statuses, WITHOUT_PREDICTION)
        return int(self.counts[met].sum())

    def of_place(self, place: int, part_count: int) -> "Groups":
        """Take the groups of one day out of those of many."""
        rows = self.parts // part_count == place
        arrays = [array.name for array in fields(self) if array.name != "totals"]
        taken = {name: getattr(self, name)[rows] for name in arrays}
        return Groups(**{**taken, "parts": taken["parts"] % part_count})

    def rows_with(self, *statuses: Status, part: int | None = None) -> int:
        """Count the rows of some statuses, in one part or in all."""
        chosen = np.isin(self.statuses, statuses)
        if part is not None:
            chosen &= self.parts == part
        return int(self.counts[chosen].sum())


# What a check of rows says of vectors instead of single scores.
SAID_OF_CLASSES = {
    Status.SCORE_MISSING: "vectors of probabilities are incomplete (null, NaN, or all 0)",
    Status.SCORE_OUT_OF_RANGE: "vectors have a probability outside [0, 1]",
    Status.OUTCOME_INVALID: "outcomes are none of predictions.classes.names",
}


def about_vector(status: Status, first: str, classes: Classes) -> str:
    """Say what the first such value may mean; what to do follows.

    Examples
    --------
    >>> pets = Classes(names=("cat", "dog"), vector="p")
    >>> about_vector(Status.OUTCOME_INVALID, "Dog ", pets)
    "did you mean 'dog'? "
    """
    if status == Status.SCORE_SUM and classes.top:
        return "the highest scores may not add up to more than 1; "
    if status == Status.SCORE_SUM:
        labels = f"{LABELS}; " if float(first) > MOST_ROUNDED else ""
        return f"{labels}set predictions.classes.sums to normalise if they are rounded; else "
    if status == Status.SCORE_OUT_OF_RANGE:
        shares = "if they are percent or votes, set predictions.classes.sums to normalise; "
        softmax = "if they are logits, log their softmax. Else "
        return softmax if first.startswith("-") else shares + softmax
    return _about_label(first, classes) if status == Status.OUTCOME_INVALID else ""


def _about_label(said: str, classes: Classes) -> str:
    if said == str(len(classes.names)) and not classes.has_numbers:
        return (
            f"positions of classes are counted from 0; if the log counts from 1, write the names "
            f"as 1 to {said} in predictions.classes.names. Else "
        )
    if said == "null":
        return ""
    wanted = {name.strip().lower(): name for name in classes.names}
    if near := difflib.get_close_matches(said.strip().lower(), wanted, n=1):
        return f"did you mean '{wanted[near[0]]}'? "
    return "if the class is new, list it in predictions.classes.names; else "
