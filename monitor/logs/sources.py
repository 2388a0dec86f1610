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

from monitor.config import Model, OutcomeLog, PredictionLog, Segments
from monitor.errors import DataError, Fault
from monitor.files import list_days, list_files, open_filesystem
from monitor.logs.session import Frame, Session, Type, View

Kind = Literal["predictions", "outcomes"]

ID_COLUMN = {"predictions": "id", "outcomes": "outcome_id"}
MISSING = {
    log: Fault(log, "missing", "a day of the log is missing") for log in ("predictions", "outcomes")
}
ID_TYPES = "integer, string or UUID"


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
    """

    predictions: Frame
    outcomes: Frame
    timed: bool


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
    parts = _check_parts(predictions, model)
    _raise_all(predictions, outcomes)
    scored_rows = predictions.read(id=scored.id, score=scored.score, **scored_at, **parts)
    outcome_rows = (
        outcomes.read(outcome_id=observed.id, outcome=observed.outcome, **observed_at)
        if outcomes.files
        else _no_outcomes(predictions, scored)
    )
    views = session.show("predictions", scored_rows), session.show("outcomes", outcome_rows)
    return session.once(
        (*views, model.segments, model.strata),
        lambda: Logs(
            _prepare_predictions(session.frame(views[0]), model),
            _prepare_outcomes(session.frame(views[1])),
            timed=bool(scored_at),
        ),
    )


def open_ids(
    session: Session, kind: Kind, log: PredictionLog | OutcomeLog, days: Sequence[date]
) -> View:
    """Open only the ids of some days of a log, as `id` or `outcome_id`."""
    return session.show(f"ids of {kind}", read_ids(session, kind, log, days))


def read_ids(
    session: Session, kind: Kind, log: PredictionLog | OutcomeLog, days: Sequence[date]
) -> duckdb.DuckDBPyRelation:
    """Read only the ids of some days of a log; raises if they cannot be read."""
    opened = _open(session, kind, log.path, days)
    opened.check(log.id, f"{kind}.id", _is_id, ID_TYPES)
    _raise_all(opened)
    return opened.read(**{ID_COLUMN[kind]: log.id})


def choose(cases: Sequence[tuple[nw.Expr, nw.Expr]], otherwise: nw.Expr) -> nw.Expr:
    """Return the value of the first case that is true."""
    for condition, value in reversed(cases):
        otherwise = nw.when(condition).then(value).otherwise(otherwise)
    return otherwise


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

    def read(self, **columns: str) -> duckdb.DuckDBPyRelation:
        """Read some columns of all files under new names, in the widest type of any file."""
        by_types = defaultdict[tuple[Any, ...], list[str]](list)
        for file, types in self.files.items():
            by_types[tuple(types.items())].append(file)
        wanted = [duckdb.ColumnExpression(old).alias(new) for new, old in columns.items()]
        parts = [self.session.read(files).select(*wanted) for files in by_types.values()]
        return reduce(duckdb.DuckDBPyRelation.union, parts)


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
    scored, observed = model.predictions, model.outcomes
    if predictions.check(scored.id, "predictions.id", _is_id, ID_TYPES):
        id_type = predictions.type_of(scored.id)
        as_first = f"{id_type}, as in predictions"
        predictions.check(scored.id, "predictions.id", lambda t: t == id_type, as_first)
        outcomes.check(observed.id, "outcomes.id", lambda t: t == id_type, as_first)
    else:
        outcomes.check(observed.id, "outcomes.id", _is_id, ID_TYPES)
    predictions.check(scored.score, "predictions.score", _is_real, "floating point")
    outcomes.check(
        observed.outcome, "outcomes.outcome", _is_outcome, "integer, boolean or floating point"
    )


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


def _place(name: str, parts: Segments | None) -> nw.Expr:
    """Return each row's part: its index in the listed values, or the index after the last."""
    if parts is None:
        return nw.lit(0)
    value = nw.col(name).cast(nw.String)
    cases = [(value == listed, nw.lit(place)) for place, listed in enumerate(parts.values)]
    return choose(cases, nw.lit(len(parts.values)))


def _no_outcomes(predictions: _Log, log: PredictionLog) -> duckdb.DuckDBPyRelation:
    """Make an empty log with ids and times of the same types as the predictions."""
    times = {"observed_at": log.time} if log.time else {}
    empty = predictions.read(outcome_id=log.id, **times).limit(0)
    return empty.select(duckdb.StarExpression(), duckdb.ConstantExpression(0).alias("outcome"))


def _prepare_predictions(rows: Frame, model: Model) -> Frame:
    return rows.with_columns(
        score=nw.col("score").cast(nw.Float64),
        part=_place("segment", model.segments) * len(model.stratum_names)
        + _place("stratum", model.strata),
        predicted=nw.lit(1, nw.Int8),
    )


def _prepare_outcomes(rows: Frame) -> Frame:
    """Convert outcomes to numbers; only if all files have booleans is a cast needed."""
    boolean = isinstance(rows.collect_schema()["outcome"], nw.Boolean)
    outcome = nw.col("outcome").cast(nw.Int8) if boolean else nw.col("outcome")
    return rows.with_columns(outcome, observed=nw.lit(1, nw.Int8))


def _is_id(found: Type) -> bool:
    known = isinstance(found.dtype, (nw.String, nw.Binary))
    return known or found.dtype.is_integer() or found.name == "UUID"


def _is_real(found: Type) -> bool:
    return found.dtype.is_float() or found.dtype.is_decimal()


def _is_outcome(found: Type) -> bool:
    return found.dtype.is_integer() or found.dtype.is_float() or isinstance(found.dtype, nw.Boolean)


def _is_time(found: Type) -> bool:
    return isinstance(found.dtype, nw.Datetime)


def _has_zone(found: Type) -> bool:
    return getattr(found.dtype, "time_zone", None) is not None
