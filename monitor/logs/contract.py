"""What the rows of a day must satisfy, and the messages when they do not.

Each check has one name in the configuration, in the messages and in the gauge of rejected rows.
A check that is set to `fail` stops the day before anything is written; one that is set to `reject`
drops its rows and counts them.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import isfinite, isnan

import narwhals as nw

from monitor.config import UNDATED, Checks, Classes, Model
from monitor.errors import DataError, Fault
from monitor.logs.checks import OF_OTHER_ROWS, ROW_CHECKS, Check, Status
from monitor.logs.class_columns import few_classes
from monitor.logs.class_complaints import SAID_OF_CLASSES, about_vector
from monitor.logs.joining import (
    Groups,
    merge_outcomes,
    merge_predictions,
    repeated_ids,
)
from monitor.logs.session import Frame, Session
from monitor.logs.sources import Logs
from monitor.logs.spark_texts import as_duckdb_writes, text_of_id
from monitor.logs.statement import Query
from monitor.segment_names import printable
from monitor.words.plausibility import ScoreRange, about_scores


@dataclass(frozen=True)
class Example:
    """One of the rows that break a check."""

    text: str = ""  # "first 1.7 (prediction_id 88123)"
    value: str = ""  # "1.7"
    remark: str = ""  # what it looks like, and the likely setting


@dataclass(frozen=True)
class Violation:
    """Rows of one day that break one check."""

    check: str
    rows: int
    of: int
    saying: str  # "scores lie outside [0, 1]"
    show: Callable[[], Example] = Example  # only a day that is read alone shows one

    def fault(self, example: Example) -> Fault:
        """Give the same without any text of the logs."""
        log = "outcomes" if self.check.startswith("outcome") else "predictions"
        return Fault(log, self.check, self.saying, self.rows, self.of, _number(example.value))


@dataclass(frozen=True, eq=False)
class UnmatchedOutcomes:
    """Queries about the outcomes of one partition that have no prediction, not yet run."""

    outcomes: Frame
    unmatched: Frame
    counted: Frame

    def first(self) -> Example:
        """Show the first one with an id."""
        with_id = self.unmatched.filter(~nw.col("outcome_id").is_null()).sort("outcome_id")
        return Example(f"first id {_first_row(with_id, 'outcome_id')[0]}")


CONVERTED = {"integer": "an integer", "uuid": "a UUID", "text": "a text"}  # by ids.cast
# What an id of ids.cast is to one of the engines, as they should be called.
ID_NAMES = {nw.Decimal: "Int128", nw.Unknown: "String"}
UUID_TEXT = re.compile(r"\{?[0-9a-fA-F]{8}(-?[0-9a-fA-F]{4}){3}-?[0-9a-fA-F]{12}\}?")
WHOLE_NUMBER = re.compile(r"\s*[+-]?\d+\s*", re.ASCII)


def row_violations(groups: Groups, query: Query, model: Model) -> list[Violation]:
    """List the checks that single rows of the join break."""
    return [
        Violation(
            check.name,
            rows,
            groups.prediction_rows if check.of == "prediction" else groups.met_rows,
            _saying(check, model),
            partial(_example, query, check, model),
        )
        for check in ROW_CHECKS
        if (rows := groups.rows_with(check.status))
    ]


def _saying(check: Check, model: Model) -> str:
    """Word what is wrong with rows as the settings of the model have it."""
    status, saying = check.status, check.saying
    if model.predictions.classes and status in SAID_OF_CLASSES:
        return SAID_OF_CLASSES[status]
    if status == Status.OUTCOME_INVALID and model.outcomes.outcome_means:
        return "outcomes are not listed in outcome_means"
    if status == Status.SCORE_MISSING and model.predictions.predicted_label:
        return "predictions have no score or no predicted label (null or NaN)"
    return _no_id(saying, model) if status == Status.PREDICTION_ID_MISSING else saying


def _example(query: Query, check: Check, model: Model) -> Example:
    """Show the first row that breaks a check, by id."""
    status, column, joined = check.status, check.column, query.joined
    classes = model.predictions.classes
    if (
        status == Status.OUTCOME_TIME_IMPOSSIBLE
        and "observed_at" in joined.collect_schema().names()
    ):
        column = "observed_at"
    if status == Status.OUTCOME_INVALID and (model.outcomes.outcome_means or classes):
        column = "said"
    offenders = joined.filter(nw.col("status") == int(status)).sort("id", column)
    identity, value = _first_row(offenders, "id", column)
    if classes:
        value = _without_number(offenders, classes) if status == Status.SCORE_MISSING else value
        remark = about_vector(status, value, classes)
    else:
        odd = status == Status.SCORE_OUT_OF_RANGE and model.predictions.score_means == "probability"
        remark = _scale(joined) if odd else ""
    nameless = identity == "null" and status != Status.PREDICTION_ID_MISSING
    text = f"first {value}" if nameless else f"first {value} (id {identity})"
    return Example(text, value, remark)


def _without_number(offenders: Frame, classes: Classes) -> str:
    """Name the classes that have no number in the first vector."""
    table = offenders.head(1).select("vector").collect(backend="pyarrow").to_native()
    (vector,) = table["vector"].to_pylist()
    values = dict(zip(classes.names, vector or (), strict=bool(vector)))
    lacking = [name for name, value in values.items() if value is None or isnan(value)]
    return f"without {few_classes(lacking)}" if len(lacking) < len(values) else "null"


def _scale(joined: Frame) -> str:
    """Say what scale the scores seem to have; empty if only a few lie outside [0, 1]."""
    score = nw.col("score")
    finite = joined.filter(~score.is_null() & score.is_finite())
    shares = (nw.when(c).then(nw.lit(1.0)).otherwise(nw.lit(0.0)) for c in (score < 0, score > 1))
    negative, above = shares
    counted = finite.select(
        score.min().alias("lowest"),
        score.max().alias("highest"),
        negative.mean().alias("negative"),
        above.mean().alias("above"),
    )
    numbers = counted.collect(backend="pyarrow").row(0)
    remarks = about_scores(ScoreRange(*map(float, numbers))) if numbers[0] is not None else []
    return "".join(f"{remark.sentence} Else " for remark in remarks)


def _no_id(saying: str, model: Model) -> str:
    """Word that ids are missing, which they also are if they cannot be converted."""
    return f"{saying} that is {CONVERTED[model.ids.cast]}" if model.ids else saying


def without_repeats(
    session: Session, logs: Logs, groups: Groups, *, predictions: int, outcomes: int
) -> tuple[Logs, list[Violation]]:
    """Check that no id is repeated, and leave out or merge the rows of repeated ids.

    Parameters
    ----------
    session : Session
        The one that reads the day.
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
        with session.drafting():
            scored = merge_predictions(scored) if logs.identical else scored
            ids = repeated_ids(scored, "id")
        if rows := _total(session, ids):
            check, show = "prediction_repeated", partial(_repeated, ids)
            violations.append(Violation(check, rows, predictions, OF_OTHER_ROWS[check], show))
            with session.drafting():
                scored = scored.join(ids, on="id", how="anti")
    if groups.prediction_rows > predictions:
        unlike = nw.col("outcome") != nw.col("greatest")
        differs = unlike.fill_null(False) | nw.col("nulls").is_between(
            0, nw.col("rows"), closed="none"
        )
        with session.drafting():
            merged = merge_outcomes(logs)
            observed = merged.filter(~differs).with_columns(observed=nw.lit(1, nw.Int8))
            conflicts = merged.filter(differs).join(
                logs.predictions, left_on="outcome_id", right_on="id", how="semi"
            )
        if rows := _total(session, conflicts):
            check, show = (
                "outcome_conflicting",
                partial(_conflicting, conflicts, latest=logs.latest),
            )
            violations.append(Violation(check, rows, outcomes, OF_OTHER_ROWS[check], show))
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
    unmatched = outcomes.join(scored, left_on="outcome_id", right_on="id", how="anti")
    counted = unmatched.select(nw.len().alias("rows"), nw.col("outcome_id").null_count())
    return UnmatchedOutcomes(outcomes, unmatched, counted)


def outcome_violations(
    model: Model,
    *,
    of: int,
    missing: int,
    unmatched: int,
    late: int,
    show: Callable[[], Example] = Example,
) -> list[Violation]:
    """List outcomes without an id, outcomes whose id has no prediction, and those that are late.

    Parameters
    ----------
    model : Model
        The configuration.
    of : int
        Rows of the partition of outcomes.
    missing, unmatched : int
        Those without an id, and those with one that no prediction has.
    late : int
        Outcomes whose prediction is older than `settled_after`.
    show : callable
        Gives the first of those that have no prediction.
    """
    late = min(late, unmatched)
    after = f"later than settled_after ({model.settled_after} days)"
    listed = (
        (
            "outcome_id_missing",
            missing,
            _no_id(OF_OTHER_ROWS["outcome_id_missing"], model),
            partial(Example, "id null"),
        ),
        # The first one may be late: which of them are is not worth another query.
        ("outcome_orphan", unmatched - late, OF_OTHER_ROWS["outcome_orphan"], show),
        (
            "outcome_late",
            late,
            OF_OTHER_ROWS["outcome_late"],
            partial(Example, after),
        ),
    )
    return [Violation(check, rows, of, said, shown) for check, rows, said, shown in listed if rows]


# What leaving out rows does, where it does not do it to both outcomes alike.
BIASES = {
    "outcome_conflicting": ", which biases the prevalence if most corrections are to one value"
}


def enforce(what: str, violations: Sequence[Violation], checks: Checks) -> None:
    """Stop the day if a check that is set to fail is broken.

    Raises
    ------
    DataError
        With one line for each broken check.
    """
    broken = [(v, v.show()) for v in violations if fails(v, checks)]
    complaints = [
        f"{what}: {v.rows:,} of {v.of:,} {v.saying}, {example.text}; {example.remark}"
        f"fix the log, then rerun this day; or list {v.check} under {_instead(v.check)}."
        for v, example in broken
    ]
    if complaints:
        first, example = broken[0]
        raise DataError("\n".join(complaints), first.fault(example))


def _instead(check: str) -> str:
    """Name the list that does not stop the day, and what it does."""
    if check in UNDATED:
        return (
            "checks.unknown, and such rows count as without an outcome, or under checks.accept, "
            "and they count"
        )
    return f"checks.reject, and such rows are left out and counted{BIASES.get(check, '')}"


def fails(violation: Violation, checks: Checks) -> bool:
    """Return whether a violation stops the day."""
    return checks.of(violation.check) == "fail"


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
    extremes = rows.select(
        *(text.min().alias("least"), text.max().alias("greatest")),
        *(length.min().alias("shortest"), length.max().alias("longest")),
    )
    least, greatest, shortest, longest = extremes.collect(backend="pyarrow").row(0)
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


def _total(session: Session, frame: Frame) -> int:
    with session.drafting():
        summed = frame.select(nw.col("rows").sum())
    return int(summed.collect(backend="pyarrow").item() or 0)


def _repeated(ids: Frame) -> Example:
    identity, times = _first_row(ids.sort("id"), "id", "rows")
    return Example(f"first id {identity}, {times} times")


def _conflicting(conflicts: Frame, *, latest: bool) -> Example:
    columns = "outcome_id", "outcome", "greatest", "nulls"
    identity, least, greatest, nulls = _first_row(conflicts.sort("outcome_id"), *columns)
    other = greatest if nulls == "0" else "null"
    correct = "if later outcomes correct earlier ones, set outcomes.duplicates to latest. Else "
    return Example(
        f"first id {identity}, which has {least} and {other}", remark="" if latest else correct
    )
