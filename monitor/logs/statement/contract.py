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

from monitor.base.errors import DataError, Fault
from monitor.base.segment_names import printable
from monitor.config import UNDATED, Checks, Classes, Model
from monitor.logs.checks.checks import (
    OF_OTHER_ROWS,
    ROW_CHECKS,
    SAID_OF_CLASSES,
    Check,
    Groups,
    Status,
    about_vector,
)
from monitor.logs.columns.canonical import Logs
from monitor.logs.columns.class_columns import few_classes
from monitor.logs.engines.steps import ALL, Steps
from monitor.logs.sources.times import OBSERVED
from monitor.logs.statement.statement import Query
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


CONVERTED = {"integer": "an integer", "uuid": "a UUID", "text": "a text"}  # by ids.cast
UUID_TEXT = re.compile(r"\{?[0-9a-fA-F]{8}(-?[0-9a-fA-F]{4}){3}-?[0-9a-fA-F]{12}\}?")
OUTSIDE = "score < 0", "score > 1"
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
    status, column, logs = check.status, check.column, query.logs
    classes = model.predictions.classes
    if status == Status.OUTCOME_TIME_IMPOSSIBLE and "observed_at" in logs.columns:
        column = "observed_at"
    if status == Status.OUTCOME_INVALID and "said" in logs.columns:
        column = "said"
    broken = f"FROM rows_of_day WHERE status = {int(status)}"
    identity, value = _first_row(query.rows, broken, ("id", column))
    if classes:
        value = _without_number(query, classes) if status == Status.SCORE_MISSING else value
        remark = about_vector(status, value, classes)
    else:
        odd = status == Status.SCORE_OUT_OF_RANGE and model.predictions.score_means == "probability"
        remark = _scale(query) if odd else ""
    nameless = identity == "null" and status != Status.PREDICTION_ID_MISSING
    text = f"first {value}" if nameless else f"first {value} (id {identity})"
    return Example(text, value, remark)


def _without_number(query: Query, classes: Classes) -> str:
    """Name the classes that have no number in the first vector."""
    first = "ORDER BY id NULLS FIRST, score NULLS FIRST LIMIT 1"
    missing = f"status = {int(Status.SCORE_MISSING)}"
    chosen = f"SELECT id, score, vector FROM rows_of_day WHERE {missing} {first}"
    table = query.rows.fetch(chosen, whole=f"{ALL} {first}")
    (vector,) = table["vector"].to_pylist()
    values = dict(zip(classes.names, vector or (), strict=bool(vector)))
    lacking = [name for name, value in values.items() if value is None or isnan(value)]
    return f"without {few_classes(lacking)}" if len(lacking) < len(values) else "null"


def _scale(query: Query) -> str:
    """Say what scale the scores seem to have; empty if only a few lie outside [0, 1]."""
    counts = ", ".join(f"count(*) FILTER ({out}) AS n{i}" for i, out in enumerate(OUTSIDE))
    (numbers,) = query.rows.fetch_rows(
        f"SELECT min(score) AS a, max(score) AS b, count(*) AS n, {counts} FROM rows_of_day "
        f"WHERE NOT isnan(score) AND abs(score) < CAST('inf' AS DOUBLE)",
        whole="SELECT min(a) AS a, max(b) AS b, sum(n0) / sum(n) AS c, sum(n1) / sum(n) AS d "
        "FROM shares",
    )
    remarks = about_scores(ScoreRange(*map(float, numbers))) if numbers[0] is not None else []
    return "".join(f"{remark.sentence} Else " for remark in remarks)


def _no_id(saying: str, model: Model) -> str:
    """Word that ids are missing, which they also are if they cannot be converted."""
    return f"{saying} that is {CONVERTED[model.ids.cast]}" if model.ids else saying


def without_repeats(
    logs: Logs, model: Model, groups: Groups, *, predictions: int, outcomes: int
) -> tuple[Logs, list[Violation]]:
    """Check that no id is repeated, and leave out or merge the rows of repeated ids.

    Parameters
    ----------
    logs : Logs
        As read.
    model : Model
        The configuration.
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
    violations, clean = list[Violation](), logs
    if groups.outcome_rows > outcomes or groups.repeats.any():
        scored = logs.also(_repeated_predictions(logs, model))
        if rows := _total(scored, "repeated"):
            check, show = "prediction_repeated", partial(_repeated, scored)
            violations.append(Violation(check, rows, predictions, OF_OTHER_ROWS[check], show))
            alone = "SELECT * FROM single ANTI JOIN repeated USING (id)"
            clean = scored.also([("alone", alone)], predictions="alone")
        elif model.predictions.duplicates == "keep_identical":
            clean = replace(scored, predictions="single")
    if groups.prediction_rows > predictions:
        observed = clean.also(_merged_outcomes(logs, model))
        if rows := _total(observed, "conflicts"):
            latest = model.outcomes.duplicates == "latest"
            check, show = "outcome_conflicting", partial(_conflicting, observed, latest=latest)
            violations.append(Violation(check, rows, outcomes, OF_OTHER_ROWS[check], show))
        clean = replace(observed, outcomes="agreed")
    return clean, violations


def _repeated_predictions(logs: Logs, model: Model) -> Steps:
    """Write the predictions with identical ones as one, if that is set, and the repeated ids."""
    rows = f"SELECT * FROM {logs.predictions}"
    if model.predictions.duplicates == "keep_identical":
        rows = (
            f"SELECT DISTINCT * FROM {logs.predictions} WHERE id IS NOT NULL "
            f"UNION ALL {rows} WHERE id IS NULL"
        )
    ids = (
        "SELECT id, count(*) AS rows FROM single WHERE id IS NOT NULL "
        "GROUP BY id HAVING count(*) > 1"
    )
    return [("single", rows), ("repeated", ids)]


def outcomes_that_count(rows: str, by: str, *, undated: bool, latest: bool) -> Steps:
    """Leave out the outcomes of an id that others replace, in the last step; none if all count.

    Parameters
    ----------
    rows, by : str
        The step that has the outcomes, and the columns that identify their prediction.
    undated : bool
        Whether some may never have been observed: they count only where an id has no other.
    latest : bool
        Whether only those with the latest time of their id count.
    """
    steps = list[tuple[str, str]]()
    if undated:
        doubtful = f"CASE WHEN outcome = 0 AND undated > {OBSERVED} THEN 1 ELSE 0 END"
        of_id = f"min(doubtful) OVER (PARTITION BY {by}) AS least_doubtful"
        steps += [
            ("doubted", f"  SELECT *, {doubtful} AS doubtful\n  FROM {rows}"),
            ("compared", f"  SELECT *, {of_id}\n  FROM doubted"),
            ("dated", "  SELECT *\n  FROM compared\n  WHERE doubtful = least_doubtful"),
        ]
        rows = "dated"
    if latest:
        of_id = f"max(observed_at) OVER (PARTITION BY {by}) AS newest"
        kept = "observed_at = newest OR newest IS NULL"
        steps += [
            ("in_order", f"  SELECT *, {of_id}\n  FROM {rows}"),
            ("latest", f"  SELECT *\n  FROM in_order\n  WHERE {kept}"),
        ]
    return steps


def _merged_outcomes(logs: Logs, model: Model) -> Steps:
    """Write one row of each outcome id, those that agree and those in conflict."""
    undated, latest = "undated" in logs.columns, model.outcomes.duplicates == "latest"
    steps = outcomes_that_count(logs.outcomes, "outcome_id", undated=undated, latest=latest)
    rows = steps[-1][0] if steps else logs.outcomes
    weights = ["weight"] * (model.weight_column("outcomes") is not None)
    kept = [*(c for c in ("observed_at", "undated", "said") if c in logs.columns), *weights]
    values = "".join(f", min({column}) AS {column}" for column in kept)
    seen, ids = (
        "SELECT *, CAST(1 AS TINYINT) AS observed FROM merged",
        f"SELECT id FROM {logs.predictions}",
    )
    merged = (
        f"SELECT outcome_id, min(outcome) AS outcome, max(outcome) AS greatest, "
        f"count(*) - count(outcome) AS nulls, count(*) AS rows{values} "
        f"FROM {rows} GROUP BY outcome_id"
    )
    differs = "outcome <> greatest OR (nulls > 0 AND nulls < rows)"
    return [
        *steps,
        ("merged", merged),
        ("agreed", f"{seen} WHERE NOT coalesce({differs}, FALSE)"),
        ("conflicts", f"SELECT * FROM merged WHERE ({differs}) AND outcome_id IN ({ids})"),
    ]


def outcome_violations(
    model: Model,
    *,
    of: int,
    missing: int,
    orphans: int,
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
    missing, orphans : int
        Those without an id, and those with one that no prediction has.
    late : int
        Outcomes whose prediction is older than `settled_after`.
    show : callable
        Gives the first of those that have no prediction.
    """
    nameless = "outcome_id_missing"
    said = {**OF_OTHER_ROWS, nameless: _no_id(OF_OTHER_ROWS[nameless], model)}
    after = f"later than settled_after ({model.settled_after} days)"
    listed = (
        (nameless, missing, partial(Example, "id null")),
        ("outcome_orphan", orphans, show),
        ("outcome_late", late, partial(Example, after)),
    )
    return [Violation(check, rows, of, said[check], shown) for check, rows, shown in listed if rows]


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
    (scored, one), (observed, other) = (
        _look(logs, *of) for of in ((logs.predictions, "id"), (logs.outcomes, "outcome_id"))
    )
    cast = _cast_that_may_help((*one, *other))
    remedy = f"set ids: {{cast: {cast}}}" if cast else "check predictions.id and outcomes.id"
    return (
        f"there is no id in common: predictions have ids such as {scored}; outcomes have ids such "
        f"as {observed}; {remedy}"
    )


def _look(logs: Logs, rows: str, column: str) -> tuple[str, tuple[str, str]]:
    """Say what the ids of a log look like, and give the first and the last of them."""
    type_ = logs.session.types_in(logs.scored if column == "id" else logs.known)[column]
    text = f"CAST({column} AS VARCHAR)"
    length = f"length({text})"
    ((least, greatest, shortest, longest),) = logs.fetch_rows(
        f"SELECT min({text}) AS a, max({text}) AS b, min({length}) AS c, max({length}) AS d "
        f"FROM {rows}",
        whole="SELECT min(a) AS a, max(b) AS b, min(c) AS c, max(d) AS d FROM shares",
    )
    kind = "integers" if type_.is_number else "text"
    kind = "several columns" if type_.name.startswith("STRUCT") else kind
    examples = str(least), str(greatest)
    both = " and ".join(map(repr, dict.fromkeys(examples)))
    span = f"{shortest} to " if (shortest or 0) < (longest or 0) else ""
    return f"{both} ({kind}, {span}{longest or 0} characters)", examples


def _cast_that_may_help(texts: Sequence[str]) -> str | None:
    """Find the conversion that ids of both logs allow and that changes one of them."""
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


def _first_row(logs: Logs, rows: str, columns: Sequence[str]) -> list[str]:
    """Read the first row as text, written by DuckDB because it supports years after 9999."""
    names = [f"c{i}" for i in range(len(columns))]
    named = ", ".join(f"{column} AS {name}" for column, name in zip(columns, names, strict=True))
    first = f"ORDER BY {', '.join(f'{name} NULLS FIRST' for name in names)} LIMIT 1"
    texts = ", ".join(f"coalesce(CAST({name} AS VARCHAR), 'null') AS {name}" for name in names)
    whole = f"SELECT {texts} FROM (SELECT * FROM shares {first})"
    (row,) = logs.fetch_rows(f"SELECT {named} {rows} {first}", whole=whole)
    return [printable(str(text)) for text in row]


def _total(logs: Logs, rows: str) -> int:
    return logs.numbers(f"SELECT sum(rows) AS total FROM {rows}")[0]


def _repeated(logs: Logs) -> Example:
    identity, times = _first_row(logs, "FROM repeated", ("id", "rows"))
    return Example(f"first id {identity}, {times} times")


def _conflicting(logs: Logs, *, latest: bool) -> Example:
    columns = "outcome_id", "outcome", "greatest", "nulls"
    identity, least, greatest, nulls = _first_row(logs, "FROM conflicts", columns)
    other = greatest if nulls == "0" else "null"
    correct = "if later outcomes correct earlier ones, set outcomes.duplicates to latest. Else "
    return Example(
        f"first id {identity}, which has {least} and {other}", remark="" if latest else correct
    )
