"""What the rows of a day must satisfy, and the messages when they do not.

Each check has one name in the configuration, in the messages and in the gauge of rejected rows.
A check that is set to `fail` stops the day before anything is written; one that is set to `reject`
drops its rows and counts them.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite

import narwhals as nw

from monitor.config import Checks, Model
from monitor.errors import DataError, Fault
from monitor.logs.class_complaints import SAID_OF_CLASSES, about_vector
from monitor.logs.joining import (
    Groups,
    Status,
    merge_outcomes,
    merge_predictions,
    read_counts,
    repeated_ids,
)
from monitor.logs.plausibility import ScoreRange, about_scores
from monitor.logs.session import Frame
from monitor.logs.sources import Logs
from monitor.logs.spark_texts import as_duckdb_writes, text_of_id
from monitor.segment_names import printable


@dataclass(frozen=True)
class Violation:
    """Rows of one day that break one check."""

    check: str
    rows: int
    of: int
    saying: str  # "scores lie outside [0, 1]"
    example: str  # "first 1.7 (prediction_id 88123)"
    first: str = ""  # "1.7"
    remark: str = ""  # what it looks like, and the likely setting

    @property
    def fault(self) -> Fault:
        """The same without any text of the logs."""
        log = "outcomes" if self.check.startswith("outcome") else "predictions"
        return Fault(log, self.check, self.saying, self.rows, self.of, _number(self.first))


@dataclass(frozen=True, eq=False)
class UnmatchedOutcomes:
    """Queries about the outcomes of one partition that have no prediction, not yet run."""

    outcomes: Frame
    found: Frame
    counted: Frame


CONVERTED = {"integer": "an integer", "uuid": "a UUID", "text": "a text"}  # by ids.cast
# What an id of ids.cast is to one of the engines, as they should be called.
ID_NAMES = {nw.Decimal: "Int128", nw.Unknown: "String"}
UUID_TEXT = re.compile(r"\{?[0-9a-fA-F]{8}(-?[0-9a-fA-F]{4}){3}-?[0-9a-fA-F]{12}\}?")
WHOLE_NUMBER = re.compile(r"\s*[+-]?\d+\s*", re.ASCII)
# Status, check, message, and the column of the join that shows the value.
ROW_CHECKS = (
    (Status.PREDICTION_ID_MISSING, "prediction_id_missing", "predictions have no id", "score"),
    (Status.SCORE_MISSING, "score_missing", "predictions have no score (null or NaN)", "score"),
    (Status.SCORE_OUT_OF_RANGE, "score_out_of_range", "scores lie outside [0, 1]", "score"),
    (Status.SCORE_SUM, "score_sum", "vectors of probabilities do not add up to 1", "total"),
    (Status.OUTCOME_INVALID, "outcome_invalid", "outcomes are neither 0 nor 1", "outcome"),
    (
        Status.OUTCOME_EARLY,
        "outcome_early",
        "outcomes are earlier than their prediction",
        "observed_at",
    ),
)


def row_violations(groups: Groups, joined: Frame, model: Model) -> list[Violation]:
    """List the checks that single rows of the join break."""
    of = {"score": groups.prediction_rows, "total": groups.prediction_rows}
    found = []
    for status, check, saying, column in ROW_CHECKS:
        if rows := groups.rows_with(status):
            said, shown, remark = saying, column, ""
            if status == Status.OUTCOME_INVALID and model.outcomes.outcome_means:
                said, shown = "outcomes are not listed in outcome_means", "said"
            if status == Status.PREDICTION_ID_MISSING:
                said = _no_id(said, model)
            if model.predictions.classes:
                said = SAID_OF_CLASSES.get(status, said)
                shown = "said" if status == Status.OUTCOME_INVALID else shown
            example = _first(joined, status, shown)
            if model.predictions.classes:
                remark = about_vector(status, example[1], model.predictions.classes)
            elif status == Status.SCORE_OUT_OF_RANGE and _as_they_are(model):
                remark = _scale(joined)
            total = of.get(column, groups.met_rows)
            found.append(Violation(check, rows, total, said, *example, remark))
    return found


def count_violations(groups: Groups, *, of_outcomes: bool) -> dict[str, int]:
    """Count the rows by the check that they break, if no id is repeated.

    Parameters
    ----------
    groups : Groups
        Of a day, whose outcomes without a prediction are those of its own partition.
    of_outcomes : bool
        Whether that partition is there.
    """
    checks = {status: check for status, check, *_ in ROW_CHECKS}
    if of_outcomes:
        checks |= {
            Status.OUTCOME_ID_MISSING: "outcome_id_missing",
            Status.UNMATCHED_OUTCOME: "outcome_orphan",
        }
    counted = {check: groups.rows_with(status) for status, check in checks.items()}
    return {check: rows for check, rows in counted.items() if rows}


def shares(
    groups: Groups, rejected: Mapping[str, int], *, logged: int
) -> dict[str, tuple[int, int]]:
    """Give the rejected rows by setting, and of how many rows, as violations of a day say it.

    Parameters
    ----------
    groups, rejected
        As `count_violations` takes and gives them.
    logged : int
        Rows of the day's own partition of outcomes.
    """
    of = {check: groups.prediction_rows for _, check, *_ in ROW_CHECKS}
    of |= dict.fromkeys(("outcome_invalid", "outcome_early"), groups.met_rows)
    of |= dict.fromkeys(("outcome_id_missing", "outcome_orphan"), logged)
    return {
        f"checks.{check}": (rows, of[check])
        for check, rows in rejected.items()
        if check != "outcome_late"  # no setting leaves them out: their day has settled
    }


def _as_they_are(model: Model) -> bool:
    return model.predictions.score_means == "probability"


def _scale(joined: Frame) -> str:
    """Say what scale the scores seem to have; empty if only a few lie outside [0, 1]."""
    score = nw.col("score")
    known = joined.filter(~score.is_null() & score.is_finite())
    shares = (nw.when(c).then(nw.lit(1.0)).otherwise(nw.lit(0.0)) for c in (score < 0, score > 1))
    negative, above = shares
    found = known.select(
        score.min().alias("lowest"),
        score.max().alias("highest"),
        negative.mean().alias("negative"),
        above.mean().alias("above"),
    )
    numbers = found.collect(backend="pyarrow").row(0)
    remarks = about_scores(ScoreRange(*map(float, numbers))) if numbers[0] is not None else []
    return "".join(f"{remark.sentence} Else " for remark in remarks)


def _no_id(saying: str, model: Model) -> str:
    """Word that ids are missing, which they also are if they cannot be converted."""
    return f"{saying} that is {CONVERTED[model.ids.cast]}" if model.ids else saying


def without_repeats(
    logs: Logs, groups: Groups, *, predictions: int, outcomes: int
) -> tuple[Logs, list[Violation]]:
    """Check that no id is repeated, and leave out or merge the rows of repeated ids.

    Parameters
    ----------
    logs : Logs
        As read.
    groups : Groups
        Of their join, which proves or refutes that ids are unique.
    predictions, outcomes : int
        Rows of the two logs.

    Returns
    -------
    Logs
        The same object if every id is unique. Predictions with a repeated id are left out,
        because it is unknown to which of them the outcome belongs. Equal outcomes of one id
        become one; outcomes that contradict each other are left out.
    list of Violation
        Repeated predictions and conflicting outcomes.
    """
    violations = []
    scored, observed = logs.predictions, logs.outcomes
    if groups.outcome_rows > outcomes or groups.repeats.any():
        if logs.identical:
            scored = merge_predictions(scored)
        ids = repeated_ids(scored, "id")
        if not logs.identical or _total(ids):
            violations.append(_repeated(ids, predictions))
            scored = scored.join(ids, on="id", how="anti")
    if groups.prediction_rows > predictions:
        merged = merge_outcomes(logs)
        unlike = nw.col("outcome") != nw.col("greatest")
        differs = unlike.fill_null(False) | nw.col("nulls").is_between(
            0, nw.col("rows"), closed="none"
        )
        conflicts = merged.filter(differs).join(
            logs.predictions, left_on="outcome_id", right_on="id", how="semi"
        )
        if rows := _total(conflicts):
            violations.append(_conflicting(conflicts, rows, outcomes))
        observed = merged.filter(~differs).with_columns(observed=nw.lit(1, nw.Int8))
    if scored is logs.predictions and observed is logs.outcomes:
        return logs, []
    return replace(logs, predictions=scored, outcomes=observed), violations


def find_unmatched_outcomes(outcomes: Frame, scored: Frame) -> UnmatchedOutcomes:
    """Query outcomes without an id and outcomes whose id has no prediction.

    Parameters
    ----------
    outcomes : LazyFrame
        Of one partition, with the column `outcome_id`.
    scored : LazyFrame
        Predictions of every day that may get outcomes from the partition, with the column `id`.
    """
    found = outcomes.join(scored, left_on="outcome_id", right_on="id", how="anti")
    counted = found.select(nw.len().alias("rows"), nw.col("outcome_id").null_count())
    return UnmatchedOutcomes(outcomes, found, counted)


def outcome_violations(
    unmatched: UnmatchedOutcomes, model: Model, count_late: Callable[[], int]
) -> list[Violation]:
    """List outcomes without an id, outcomes whose id has no prediction, and those that are late."""
    rows, missing = read_counts(unmatched.counted)
    if not rows:
        return []
    (of,) = read_counts(unmatched.outcomes.select(nw.len()))
    violations = []
    if missing:
        saying = _no_id("outcomes have no id", model)
        violations.append(Violation("outcome_id_missing", missing, of, saying, "id null"))
    late = min(count_late(), rows - missing) if rows > missing else 0
    if orphans := rows - missing - late:
        known = unmatched.found.filter(~nw.col("outcome_id").is_null()).sort("outcome_id")
        (first,) = _first_row(known, "outcome_id")
        saying = "outcomes have no prediction"
        # The first one may be late: which of them are is not worth another query.
        violations.append(Violation("outcome_orphan", orphans, of, saying, f"first id {first}"))
    if late:
        after = f"later than settled_after ({model.settled_after} days)"
        saying = "outcomes came after their day had settled"
        violations.append(Violation("outcome_late", late, of, saying, after))
    return violations


def enforce(what: str, violations: Sequence[Violation], checks: Checks) -> dict[str, int]:
    """Stop the day if a check that is set to fail is broken; otherwise count rejected rows.

    Returns
    -------
    dict of str to int
        Rejected rows by check, for the checks set to `reject`.

    Raises
    ------
    DataError
        With one line for each broken check.
    """
    broken = [v for v in violations if getattr(checks, v.check) == "fail"]
    complaints = [
        f"{what}: {v.rows:,} of {v.of:,} {v.saying}, {v.example}; {v.remark}"
        f"fix the log, then rerun this day; or set checks.{v.check} to reject, and such rows are "
        f"left out and counted."
        for v in broken
    ]
    if complaints:
        raise DataError("\n".join(complaints), broken[0].fault)
    return {v.check: v.rows for v in violations}


def no_common_id(logs: Logs) -> str:
    """Word that no id is in both logs: what they look like, and the setting that may help."""
    scored, observed = _look(logs.predictions, "id"), _look(logs.outcomes, "outcome_id")
    cast = _cast_that_may_help(scored.examples, observed.examples)
    remedy = f"set ids: {{cast: {cast}}}" if cast else "check predictions.id and outcomes.id"
    return (
        f"there is no id in common: predictions have ids such as {scored}; outcomes have ids such "
        f"as {observed}; {remedy}"
    )


@dataclass(frozen=True)
class _Look:
    """What the ids of a log look like."""

    examples: tuple[str, str]
    dtype: str
    shortest: int
    longest: int

    def __str__(self) -> str:
        first, last = self.examples
        both = f"{first!r} and {last!r}" if first != last else f"{first!r}"
        span = f"{self.shortest} to " if self.shortest < self.longest else ""
        return f"{both} ({self.dtype}, {span}{self.longest} characters)"


def _look(rows: Frame, column: str) -> _Look:
    dtype = rows.collect_schema()[column]
    text = text_of_id(rows, column)
    length = text.str.len_chars()
    found = rows.select(
        *(text.min().alias("least"), text.max().alias("greatest")),
        *(length.min().alias("shortest"), length.max().alias("longest")),
    )
    least, greatest, shortest, longest = found.collect(backend="pyarrow").row(0)
    named = next((n for kind, n in ID_NAMES.items() if isinstance(dtype, kind)), str(dtype))
    return _Look((str(least), str(greatest)), named, int(shortest or 0), int(longest or 0))


def _cast_that_may_help(scored: Sequence[str], observed: Sequence[str]) -> str | None:
    """Find the conversion that both logs' ids allow and that changes one of them."""
    texts = (*scored, *observed)
    if all(UUID_TEXT.fullmatch(text) for text in texts):
        return "uuid"
    if all(WHOLE_NUMBER.fullmatch(text) for text in texts):
        return "integer" if any(text != str(int(text)) for text in texts) else None
    return None


def _first(joined: Frame, status: Status, column: str) -> tuple[str, str]:
    """Show the first row that breaks the check, by id, and its value alone."""
    offenders = joined.filter(nw.col("status") == int(status)).sort("id", column)
    identity, value = _first_row(offenders, "id", column)
    named = (
        "" if identity == "null" and status != Status.PREDICTION_ID_MISSING else f" (id {identity})"
    )
    return f"first {value}{named}", value


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if isfinite(number) else None


def _first_row(frame: Frame, *columns: str) -> list[str]:
    """Read the first row as text, written by the engine because it supports years after 9999."""
    texts = as_duckdb_writes(frame.head(1)).select(
        nw.col(*columns).cast(nw.String).fill_null("null")
    )
    return [printable(str(text)) for text in texts.collect(backend="pyarrow").row(0)]


def _total(frame: Frame) -> int:
    return int(frame.select(nw.col("rows").sum()).collect(backend="pyarrow").item() or 0)


def _repeated(ids: Frame, of: int) -> Violation:
    rows = _total(ids)
    identity, times = _first_row(ids.sort("id"), "id", "rows")
    saying = "predictions share their id with another"
    return Violation("prediction_repeated", rows, of, saying, f"first id {identity}, {times} times")


def _conflicting(conflicts: Frame, rows: int, of: int) -> Violation:
    columns = "outcome_id", "outcome", "greatest", "nulls"
    identity, least, greatest, nulls = _first_row(conflicts.sort("outcome_id"), *columns)
    other = greatest if nulls == "0" else "null"
    example = f"first id {identity}, which has {least} and {other}"
    return Violation("outcome_conflicting", rows, of, "outcomes contradict another", example)
