"""The files of one day as two lazy frames with fixed column names and checked types."""

import difflib
import os
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import reduce
from pathlib import Path
from typing import Any, Literal

import duckdb
import narwhals as nw
from fsspec.implementations.local import LocalFileSystem

from monitor.config import Model, OutcomeLog, PredictionLog
from monitor.config.filters import columns_of_filter
from monitor.errors import DataError, Fault
from monitor.files import list_days, list_files, open_filesystem
from monitor.logs.rows import (
    Key,
    can_be_cast,
    is_id,
    key_of,
    key_sql,
    likely_cast,
    prepare_outcomes,
    prepare_predictions,
    wrong_meaning,
)
from monitor.logs.session import Frame, Session, Type, View

Kind = Literal["predictions", "outcomes"]

ID_COLUMN = {"predictions": "id", "outcomes": "outcome_id"}
MISSING = {
    log: Fault(log, "missing", "a day of the log is missing") for log in ("predictions", "outcomes")
}
ID_TYPES = "integer, string or UUID"
CAST_TYPES = "integer, string, UUID or a whole floating point number"
OUTCOME_TYPES = "integer, boolean or floating point"
PROBABILITY = "probability", "probability_of_0"


@dataclass(frozen=True, eq=False)
class Logs:
    """Both logs of one day, ready to be joined; the same object for days of the same shape.

    Attributes
    ----------
    predictions : LazyFrame
        Columns `id`, `score` (Float64), `part` (index of segment and stratum),
        `predicted`, which is always 1, and `scored_at` if both logs have times.
    outcomes : LazyFrame
        Columns `outcome_id`, `outcome` (a number), `observed`, which is always 1, and
        `observed_at` if both logs have times.
    timed : bool
        Whether both logs have times.
    said : bool
        Whether the outcomes have the column `said`: what the log says where `outcome` is a number
        that the configuration gives it.
    latest : bool
        Whether the outcome with the latest time counts of those with the same id.
    """

    predictions: Frame
    outcomes: Frame
    timed: bool
    said: bool = False
    latest: bool = False


def open_logs(session: Session, model: Model, day: date, outcome_days: Sequence[date]) -> Logs:
    """Open the predictions of a day and the outcomes of some days.

    Parameters
    ----------
    session : Session
        Runs the queries; must stay open as long as the frames are used.
    model : Model
        Where the logs are.
    day : date
        Day of the predictions.
    outcome_days : sequence of date
        Partitions of outcomes to read, each of which must exist; may be empty.

    Raises
    ------
    DataError
        If a partition or a column is missing, a type is wrong, or a file is not Parquet.
    """
    scored, observed = model.predictions, model.outcomes
    predictions = _open(session, "predictions", scored.path, [day])
    outcomes = _open(session, "outcomes", observed.path, outcome_days)
    _check_ids_and_values(predictions, outcomes, model)
    scored_at, observed_at = _check_times(predictions, outcomes, model)
    if observed.time and observed.duplicates == "latest" and not observed_at:
        outcomes.check(observed.time, "outcomes.time", _is_time, "a timestamp")
        observed_at = {"observed_at": observed.time}
    parts = _check_parts(predictions, model)
    predictions.check_filter(scored.where)
    outcomes.check_filter(observed.where)
    _raise_all(predictions, outcomes)
    scored_rows = predictions.read(
        scored.where, id=key_of(scored, model), score=scored.score, **scored_at, **parts
    )
    outcome_rows = (
        outcomes.read(
            observed.where,
            outcome_id=key_of(observed, model),
            outcome=observed.outcome,
            **observed_at,
        )
        if outcomes.files
        else _no_outcomes(predictions, model)
    )
    views = session.show("predictions", scored_rows), session.show("outcomes", outcome_rows)
    return session.once(
        (*views, model.segments, model.strata, scored.score_means, *_meaning(observed)),
        lambda: Logs(
            prepare_predictions(session.frame(views[0]), model),
            prepare_outcomes(session.frame(views[1]), model),
            timed=bool(scored_at),
            said=observed.outcome_means is not None,
            latest=observed.duplicates == "latest",
        ),
    )


def _meaning(log: OutcomeLog) -> tuple[object, ...]:
    """Return the settings of outcomes that the query depends on."""
    return log.outcome_means, log.duplicates


def open_ids(session: Session, kind: Kind, model: Model, days: Sequence[date]) -> View:
    """Open only the ids of some days of a log, as `id` or `outcome_id`."""
    return session.show(f"ids of {kind}", read_ids(session, kind, model, days))


def read_ids(
    session: Session, kind: Kind, model: Model, days: Sequence[date]
) -> duckdb.DuckDBPyRelation:
    """Read only the ids of some days of a log; raises if they cannot be read.

    The filter of outcomes holds, but not that of predictions: an outcome whose prediction is in the
    log, though not chosen, is no orphan.
    """
    log: PredictionLog | OutcomeLog = getattr(model, kind)
    opened = _open(session, kind, log.path, days)
    key = key_of(log, model)
    for column in key.columns:
        opened.check(column, f"{kind}.id", can_be_cast if key.cast else is_id, ID_TYPES)
    where = log.where if kind == "outcomes" else None
    opened.check_filter(where)
    _raise_all(opened)
    return opened.read(where, **{ID_COLUMN[kind]: key})


@dataclass(frozen=True)
class _Log:
    """The files of one log, and the types of the columns of each of them.

    Every file is checked separately. If all files were read like the first one, a column missing
    from another file would become null, and a 0.4 could become the integer 0.
    `problems` collects what is wrong with the columns, so that one run shows all mistakes.
    """

    session: Session
    kind: Kind
    files: Mapping[str, Mapping[str, Type]]
    problems: list[DataError] = field(default_factory=list)

    def check(self, column: str, setting: str, fits: Callable[[Type], bool], wanted: str) -> bool:
        """Note the first file in which a required column is missing or has the wrong type."""
        what = self.session.what
        for file, types in self.files.items():
            if column not in types:
                near = difflib.get_close_matches(column, types, n=1)
                hint = f"did you mean '{near[0]}'? " if near else ""
                msg = (
                    f"{what}: the {self.kind} have no column '{column}', only "
                    f"{', '.join(types)} ({file}); {hint}"
                    f"correct {setting} in the configuration, or the log."
                )
                self.problems.append(DataError(msg, _fault_of_column(self.kind, "is missing")))
                return False
            if not fits(types[column]):
                msg = (
                    f"{what}: column '{column}' of the {self.kind} is {types[column]}, "
                    f"must be {wanted} ({file}); correct the log, or {setting} "
                    f"in the configuration, then rerun this day."
                )
                self.problems.append(
                    DataError(msg, _fault_of_column(self.kind, "has another type"))
                )
                return False
        return True

    def type_of(self, column: str) -> Type:
        """Return the type of a checked column in the first file."""
        return next(iter(self.files.values()))[column]

    def check_filter(self, where: str | None) -> None:
        """Note the columns of a filter that a file lacks; SQL ignores the case of their names."""
        for column in columns_of_filter(where) if where else ():
            written = {name for types in self.files.values() for name in types}
            same = next((name for name in written if name.lower() == column.lower()), column)
            self.check(same, f"{self.kind}.where", lambda _: True, "of any type")

    def read(self, where: str | None = None, **columns: str | Key) -> duckdb.DuckDBPyRelation:
        """Read columns of the chosen rows under new names, in the widest type of any file."""
        by_types = defaultdict[tuple[Any, ...], list[str]](list)
        for file, types in self.files.items():
            by_types[tuple(types.items())].append(file)
        parts = []
        for files in by_types.values():
            types = self.files[files[0]]
            rows = self.session.read(files)
            rows = rows.filter(self._bound(rows, where)) if where else rows
            parts.append(rows.select(*[_expression(o, types).alias(n) for n, o in columns.items()]))
        return reduce(duckdb.DuckDBPyRelation.union, parts)

    def _bound(self, rows: duckdb.DuckDBPyRelation, where: str) -> duckdb.Expression:
        """Check the types of a filter with the columns that it meets."""
        condition = duckdb.SQLExpression(where)
        try:
            (found,) = rows.select(condition).types
        except duckdb.Error as error:
            wrong = f"cannot be applied ({str(error).splitlines()[0]})"
        else:
            if str(found) == "BOOLEAN":
                return condition
            wrong = f"gives {found}, not true or false"
        msg = (
            f"{self.session.what}: {self.kind}.where {wrong}: {where}; correct it in the "
            f"configuration, then rerun this day."
        )
        raise DataError(msg, Fault(self.kind, "column", "the filter does not suit the columns"))


def _expression(column: str | Key, types: Mapping[str, Type]) -> duckdb.Expression:
    if isinstance(column, Key):
        return duckdb.SQLExpression(key_sql(column, types))
    return duckdb.ColumnExpression(column)


def _fault_of_column(kind: Kind, wrong: str) -> Fault:
    return Fault(kind, "column", f"a column {wrong}")


def _raise_all(*logs: _Log) -> None:
    """Raise one DataError with everything that is wrong with the columns, if anything is."""
    problems = [problem for log in logs for problem in log.problems]
    if problems:
        raise DataError("\n".join(map(str, problems)), problems[0].fault)


def _open(session: Session, kind: Kind, template: str, days: Sequence[date]) -> _Log:
    names = []
    for day in days:
        of_day = list_files(template, day)
        if not of_day:
            msg = no_partition(session.what, kind, template, day)
            raise DataError(msg, MISSING[kind])
        names += of_day
    filesystem, _ = open_filesystem(template)
    if isinstance(filesystem, LocalFileSystem):
        names = [name.removeprefix("file://") for name in names]
        for name in names:
            _must_be_a_readable_file(session.what, kind, name)
    else:
        session.read_through(filesystem, names)
    files = {name: session.types_of(name) for name in names}
    if any(types != files[names[0]] for types in files.values()):
        # A program that writes an empty file often does not know its types, and no row needs them.
        filled = {name: types for name, types in files.items() if len(session.read([name]))}
        files = filled or files
    return _Log(session, kind, files)


def _must_be_a_readable_file(what: str, kind: Kind, name: str) -> None:
    """Raise DataError for a path that would block DuckDB or give a misleading message."""
    path = Path(name)
    if path.is_dir():
        wrong = (
            f"is a folder; name the files in it with {kind}.path in the configuration, such as "
            f"/*.parquet"
        )
    elif not path.is_file():
        wrong = "is not a regular file; replace it with a Parquet file"
    elif not os.access(path, os.R_OK, effective_ids=True):
        wrong = "may not be read by this user; grant read permission"
    else:
        return
    msg = f"{what}: {name} {wrong}, then rerun this day."
    raise DataError(msg, Fault(kind, "unreadable", "a file cannot be read"))


def no_partition(what: str, kind: str, template: str, day: date) -> str:
    """Word that a day has no file."""
    present = list_days(template)
    range_ = (
        f"there are days {present[0]} to {present[-1]}" if present else "there are no days at all"
    )
    return (
        f"{what}: no {kind} of {day} at {template.format(day=day)}; {range_}. "
        f"Wait for the log, or correct {kind}.path in the configuration."
    )


def _check_ids_and_values(predictions: _Log, outcomes: _Log, model: Model) -> None:
    of_predictions, of_outcomes = key_of(model.predictions, model), key_of(model.outcomes, model)
    for pair in zip(of_predictions.columns, of_outcomes.columns, strict=True):
        _check_ids(predictions, outcomes, *pair, converted=of_predictions.cast is not None)
    means = model.predictions.score_means
    real, wanted = (
        (_is_real, "floating point") if means in PROBABILITY else (_is_number, "a number")
    )
    predictions.check(model.predictions.score, "predictions.score", real, wanted)
    _check_outcomes(outcomes, model.outcomes)


def _check_ids(
    predictions: _Log, outcomes: _Log, scored: str, observed: str, *, converted: bool
) -> None:
    """Check one column of the key: unless they are converted, both logs must have one type."""
    fits, wanted = (can_be_cast, CAST_TYPES) if converted else (is_id, ID_TYPES)
    if not predictions.check(scored, "predictions.id", fits, wanted) or converted:
        outcomes.check(observed, "outcomes.id", fits, wanted)
        return
    id_type = predictions.type_of(scored)
    for log, column in ((predictions, scored), (outcomes, observed)):
        others = [types[column] for types in log.files.values() if column in types]
        cast = next((likely_cast(id_type, t) for t in others if t != id_type), None)
        hint = f" (or set ids: {{cast: {cast}}} in the configuration)" if cast else ""
        as_first = f"{id_type}, as in predictions{hint}"
        log.check(column, f"{log.kind}.id", lambda t: t == id_type, as_first)


def _check_outcomes(outcomes: _Log, log: OutcomeLog) -> None:
    if log.outcome_means is None:
        wanted = f"{OUTCOME_TYPES} (or list its values in outcomes.outcome_means)"
        outcomes.check(log.outcome, "outcomes.outcome", _is_outcome, wanted)
        return
    if not outcomes.check(log.outcome, "outcomes.outcome", lambda _: True, "of any type"):
        return
    for found in dict.fromkeys(types[log.outcome] for types in outcomes.files.values()):
        if kind := wrong_meaning(found, log.outcome_means):
            msg = (
                f"{outcomes.session.what}: outcomes.outcome_means lists values that column "
                f"'{log.outcome}' cannot have, because it is {found}; list {kind}."
            )
            fault = _fault_of_column(outcomes.kind, "has another type")
            outcomes.problems.append(DataError(msg, fault))


def _check_times(
    predictions: _Log, outcomes: _Log, model: Model
) -> tuple[dict[str, str], dict[str, str]]:
    """Return the time column of each log under its new name, or none for both."""
    scored, observed = model.predictions.time, model.outcomes.time
    if scored is None or observed is None:
        return {}, {}
    if not predictions.check(scored, "predictions.time", _is_time, "a timestamp"):
        outcomes.check(observed, "outcomes.time", _is_time, "a timestamp")
        return {}, {}
    zoned = _has_zone(predictions.type_of(scored))
    wanted = f"a timestamp {'with' if zoned else 'without'} time zone, as in predictions"
    for log, column in ((predictions, scored), (outcomes, observed)):
        log.check(
            column, f"{log.kind}.time", lambda t: _is_time(t) and _has_zone(t) == zoned, wanted
        )
    return {"scored_at": scored}, {"observed_at": observed}


def _check_parts(predictions: _Log, model: Model) -> dict[str, str]:
    """Return the configured columns of segments and strata under new names."""
    configured = {"segment": model.segments, "stratum": model.strata}
    columns = {name: parts.column for name, parts in configured.items() if parts}
    for name, column in columns.items():
        setting = {"segment": "segments.column", "stratum": "strata.column"}[name]
        predictions.check(column, setting, lambda _: True, "of any type")
    return columns


def _no_outcomes(predictions: _Log, model: Model) -> duckdb.DuckDBPyRelation:
    """Make an empty log with ids and times of the same types as the predictions."""
    log = model.predictions
    times = {"observed_at": log.time} if log.time else {}
    empty = predictions.read(outcome_id=key_of(log, model), **times).limit(0)
    listed = model.outcomes.outcome_means.positive[0] if model.outcomes.outcome_means else 0
    outcome = duckdb.ConstantExpression(listed).alias("outcome")
    return empty.select(duckdb.StarExpression(), outcome)


def _is_real(found: Type) -> bool:
    return found.dtype.is_float() or found.dtype.is_decimal()


def _is_number(found: Type) -> bool:
    return found.dtype.is_numeric()


def _is_outcome(found: Type) -> bool:
    return found.dtype.is_integer() or found.dtype.is_float() or isinstance(found.dtype, nw.Boolean)


def _is_time(found: Type) -> bool:
    return isinstance(found.dtype, nw.Datetime)


def _has_zone(found: Type) -> bool:
    return getattr(found.dtype, "time_zone", None) is not None
