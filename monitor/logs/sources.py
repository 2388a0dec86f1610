"""The files of one day as two lazy frames with fixed column names and checked types."""

import difflib
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from typing import Any, Literal

import duckdb
import narwhals as nw

from monitor.config import Engine, Model, OutcomeLog, PredictionLog
from monitor.errors import ConfigError, DataError
from monitor.files import list_days, list_files, open_filesystem

Frame = nw.LazyFrame[Any]
Kind = Literal["predictions", "outcomes"]

ID_COLUMN = {"predictions": "id", "outcomes": "outcome_id"}
ID_TYPES = "integer, string or UUID"


@dataclass(frozen=True)
class Logs:
    """Both logs of one day, ready to be joined.

    Attributes
    ----------
    predictions : LazyFrame
        Columns `id`, `score` (Float64), `segment` (place among the model's segments),
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


@contextmanager
def connect(engine: Engine) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open a DuckDB that keeps to its share of the machine and spills to a folder of its own."""
    with tempfile.TemporaryDirectory(prefix="calibration-monitor-") as spill:
        settings: dict[str, str | bool | int | float | list[str]] = {
            "memory_limit": f"{engine.memory_mb}MB",
            "threads": engine.threads,
            "temp_directory": spill,
            "preserve_insertion_order": False,
        }
        connection = duckdb.connect(config=settings)
        try:
            # Else messages would show times in the zone of this machine.
            connection.execute("SET TimeZone = 'UTC'")
            # Files are looked at one by one, then read together.
            connection.execute("SET parquet_metadata_cache = true")
            yield connection
        finally:
            connection.close()


@contextmanager
def understanding(what: str) -> Iterator[None]:
    """Turn what DuckDB says of unreadable files into a DataError that names the day."""
    try:
        yield
    except duckdb.OutOfMemoryException as error:
        msg = (
            f"{what}: the day does not fit into engine.memory_mb: {str(error).splitlines()[0]}; "
            f"raise it in the configuration, or lower engine.threads, then rerun this day."
        )
        raise ConfigError(msg) from error
    except duckdb.Error as error:
        msg = (
            f"{what}: the log files cannot be read: {str(error).splitlines()[0]}; "
            f"write the file again, then rerun this day."
        )
        raise DataError(msg) from error


def open_logs(
    connection: duckdb.DuckDBPyConnection,
    what: str,
    model: Model,
    day: date,
    outcome_days: Sequence[date],
) -> Logs:
    """Open the predictions of a day and the outcomes of some days.

    Parameters
    ----------
    connection : DuckDBPyConnection
        Runs the queries; must stay open as long as the frames are used.
    what : str
        Model and day, for messages.
    model : Model
        Where the logs are.
    day : date
        Day of the predictions.
    outcome_days : sequence of date
        Partitions of outcomes to read, each of which must exist.

    Raises
    ------
    DataError
        If a partition or a column is missing, a type is wrong, or a file is not Parquet.
    """
    scored, observed = model.predictions, model.outcomes
    timed = scored.time is not None and observed.time is not None
    predictions = _open(connection, what, "predictions", scored.path, [day])
    outcomes = _open(connection, what, "outcomes", observed.path, outcome_days)
    id_type = predictions.type_of(scored.id, "id", _is_id, ID_TYPES)
    predictions.type_of(scored.score, "score", _is_real, "floating point")
    outcomes.type_of(observed.id, "id", lambda t: t == id_type, f"{id_type}, as in predictions")
    outcomes.type_of(observed.outcome, "outcome", _is_outcome, "integer, boolean or float")
    times: dict[str, nw.Expr] = {}
    if timed:
        scored_type = predictions.type_of(str(scored.time), "time", _is_time, "timestamp")
        zoned = _has_zone(scored_type)
        wanted = f"timestamp {'with' if zoned else 'without'} time zone, as in predictions"
        for log, column in ((predictions, scored.time), (outcomes, observed.time)):
            log.type_of(
                str(column), "time", lambda t: _is_time(t) and _has_zone(t) == zoned, wanted
            )
        times = {"scored_at": nw.col(str(scored.time)), "observed_at": nw.col(str(observed.time))}
    return Logs(
        predictions=predictions.frame.select(
            id=nw.col(scored.id),
            score=nw.col(scored.score).cast(nw.Float64),
            segment=_segment(predictions, model),
            predicted=nw.lit(1, nw.Int8),
            **{k: v for k, v in times.items() if k == "scored_at"},
        ),
        outcomes=outcomes.frame.select(
            outcome_id=nw.col(observed.id),
            outcome=_number(outcomes, observed.outcome),
            observed=nw.lit(1, nw.Int8),
            **{k: v for k, v in times.items() if k == "observed_at"},
        ),
        timed=timed,
    )


def open_ids(
    connection: duckdb.DuckDBPyConnection,
    what: str,
    kind: Kind,
    log: PredictionLog | OutcomeLog,
    days: Sequence[date],
) -> Frame:
    """Open nothing but the ids of some days of a log, as `id` or `outcome_id`."""
    opened = _open(connection, what, kind, log.path, days)
    opened.type_of(log.id, "id", _is_id, ID_TYPES)
    return opened.frame.select(nw.col(log.id).alias(ID_COLUMN[kind]))


def choose(cases: Sequence[tuple[nw.Expr, nw.Expr]], otherwise: nw.Expr) -> nw.Expr:
    """Give the value of the first case that holds."""
    for condition, value in reversed(cases):
        otherwise = nw.when(condition).then(value).otherwise(otherwise)
    return otherwise


@dataclass(frozen=True)
class _Type:
    """The type of a column, for the program and for people."""

    dtype: nw.dtypes.DType
    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class _Log:
    """One opened log: its frame, and what messages need to speak of it.

    Every file is held to the contract by itself. Read together, a column that one file lacks
    would turn into nulls, and 0.4 next to a file of integers into 0.
    """

    what: str
    kind: str
    frame: Frame
    types: Mapping[str, _Type]
    types_by_file: Mapping[str, Mapping[str, _Type]]

    def type_of(
        self, column: str, setting: str, fits: Callable[[_Type], bool], wanted: str
    ) -> _Type:
        """Give the type of a needed column, or say what is wrong with it."""
        for file, types in self.types_by_file.items():
            if column not in types:
                near = difflib.get_close_matches(column, types, n=1)
                hint = f"did you mean '{near[0]}'? " if near else ""
                msg = (
                    f"{self.what}: the {self.kind} have no column '{column}', only "
                    f"{', '.join(types)} ({file}); {hint}"
                    f"correct {self.kind}.{setting} in the configuration, or the log."
                )
                raise DataError(msg)
            if not fits(types[column]):
                msg = (
                    f"{self.what}: column '{column}' of the {self.kind} is {types[column]}, "
                    f"must be {wanted} ({file}); correct the log, or {self.kind}.{setting} "
                    f"in the configuration, then rerun this day."
                )
                raise DataError(msg)
        return self.types[column]


def _open(
    connection: duckdb.DuckDBPyConnection,
    what: str,
    kind: str,
    template: str,
    days: Sequence[date],
) -> _Log:
    files = []
    for day in days:
        of_day = list_files(template, day)
        if not of_day:
            raise DataError(_no_partition(what, kind, template, day))
        files += of_day
    filesystem, _ = open_filesystem(template)
    local = filesystem.protocol == "file" or "file" in filesystem.protocol
    if local:
        files = [file.removeprefix("file://") for file in files]
    else:
        connection.register_filesystem(filesystem)
    with understanding(what):
        frame, types = _read(connection, files)
        by_file = {file: _read(connection, [file])[1] for file in files}
    return _Log(what, kind, frame, types, by_file)


def _read(
    connection: duckdb.DuckDBPyConnection, files: list[str]
) -> tuple[Frame, dict[str, _Type]]:
    # By name, so that a column becomes wide enough for what every file has in it.
    relation = connection.read_parquet(files, hive_partitioning=False, union_by_name=True)
    frame = nw.from_native(relation).lazy()
    named = zip(frame.collect_schema().items(), relation.types, strict=True)
    return frame, {column: _Type(dtype, str(name)) for (column, dtype), name in named}


def _no_partition(what: str, kind: str, template: str, day: date) -> str:
    present = list_days(template)
    range_ = (
        f"there are days {present[0]} to {present[-1]}" if present else "there is no day at all"
    )
    return (
        f"{what}: no {kind} of {day} at {template.format(day=day)}; {range_}. "
        f"Wait for the log, or correct {kind}.path in the configuration."
    )


def _segment(predictions: _Log, model: Model) -> nw.Expr:
    """Give the number of each row's segment: its place among the listed values, or the last place."""
    if model.segments is None:
        return nw.lit(0)
    column = model.segments.column
    predictions.type_of(column, "segments.column", lambda _: True, "any type")
    value = nw.col(column).cast(nw.String)
    places = enumerate(model.segments.values)
    return choose(
        [(value == name, nw.lit(place)) for place, name in places],
        nw.lit(len(model.segments.values)),
    )


def _number(outcomes: _Log, column: str) -> nw.Expr:
    """Give the outcomes as numbers; only booleans are not numbers already."""
    boolean = isinstance(outcomes.types[column].dtype, nw.Boolean)
    return nw.col(column).cast(nw.Int8) if boolean else nw.col(column)


def _is_id(found: _Type) -> bool:
    known = isinstance(found.dtype, (nw.String, nw.Binary))
    return known or found.dtype.is_integer() or found.name == "UUID"


def _is_real(found: _Type) -> bool:
    return found.dtype.is_float() or found.dtype.is_decimal()


def _is_outcome(found: _Type) -> bool:
    return found.dtype.is_integer() or found.dtype.is_float() or isinstance(found.dtype, nw.Boolean)


def _is_time(found: _Type) -> bool:
    return isinstance(found.dtype, nw.Datetime)


def _has_zone(found: _Type) -> bool:
    return getattr(found.dtype, "time_zone", None) is not None
