"""The rows of both logs with canonical column names and checked types, ready to be joined."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import partial
from typing import Any, TypeVar

import pyarrow as pa

from monitor.config import UNDATED, Model, OutcomeLog, TimeUnit, WatchedColumn
from monitor.logs.columns.class_columns import outcome_of_classes, scores_of_classes
from monitor.logs.columns.column_labels import watched_columns, watched_name
from monitor.logs.columns.rows import (
    OUTCOME_TYPES,
    bucket_of,
    can_be_cast,
    check_meanings,
    entity_columns,
    is_id,
    is_number,
    key_of,
    labels_of,
    likely_cast,
    outcome_steps,
    score_of_label,
    steps_of_rows,
)
from monitor.logs.engines.conversions import (
    Type,
    Wanted,
    as_it_is,
    label,
    number,
    number_or_text,
    one,
    outcome,
)
from monitor.logs.engines.session import Session
from monitor.logs.engines.steps import ALL, SCORED, Steps, literal, written
from monitor.logs.sources.opening import TEXT, TIME_TYPES, Kind, OpenLog, raise_all
from monitor.logs.sources.source import open_log
from monitor.logs.sources.times import age_on, is_time, known_by, moment, undated

T = TypeVar("T")
Read = dict[str, Wanted]  # how a log is read, by canonical column
Check = Callable[[OpenLog, OpenLog, Model], tuple[Read, Read]]
WHOLE = Type("HUGEINT")
ID_TYPES = "integer, string, UUID or a whole floating point number"
PROBABILITY = "probability", "probability_of_0", "probability_of_label"


@dataclass(frozen=True, eq=False)
class Logs:
    """Both logs, ready to be joined: rows that were read, and steps that prepare them.

    Attributes
    ----------
    session : Session
        Reads them.
    scored, known : relation or frame
        The rows of predictions and of outcomes; `known` is None if they lie beside the scores.
    steps : sequence of tuple of (str, str)
        Make of them rows with canonical columns.
    columns : frozenset of str
        The canonical columns, of those that not all logs have. Predictions have `id`, `score`,
        `part`, and `predicted`, which is 0 for those of which only the id is read; outcomes have
        `outcome_id`, `outcome` and `observed`. Besides these there may be `scored_at` and
        `observed_at`; `said`, what the log says where `outcome` is a number that the configuration
        gives it; `weight`, and `rated` if that is a probability; `entity`, a bucket; `acted`;
        `undated`, as `sources.times` reads it; and the columns of classes, as `class_columns` reads
        them.
    predictions, outcomes : str
        The steps that have them.
    horizon : int or None
        If the logs are of many days: how many days after its prediction an outcome counts. Then
        predictions have the number of their day, `day`, and outcomes have `partition`.
    codes : tuple of str
        The columns of the predictions that hold codes; see `monitor.logs.statement.column_codes`.
    """

    session: Session
    scored: Any
    known: Any
    steps: Steps
    columns: frozenset[str] = frozenset()
    predictions: str = "predictions"
    outcomes: str = "outcomes"
    horizon: int | None = None
    codes: tuple[str, ...] = ()

    @property
    def joined(self) -> bool:
        """Whether the predictions have the columns of the outcomes already, and no ids."""
        return self.known is None

    @property
    def is_coded_late(self) -> bool:
        """Whether an outcome is only one beside its prediction."""
        return self.joined or "vector" in self.columns

    def text(self, query: str, steps: Steps = ()) -> str:
        """Write a query over the steps, and over further ones."""
        return written([*self.steps, *steps, ("asked", query)])

    def each(self, query: str, of: Callable[[Session, Any], T], steps: Steps = ()) -> list[T]:
        """Give what a function makes of a query over each share of the rows, as `Session.each`."""
        return self.session.each(self.text(query, steps), of, self.scored, self.known)

    def fetch(self, query: str, steps: Steps = (), whole: str = ALL) -> pa.Table:
        """Run a query, as `Session.fetch`."""
        return self.session.fetch(self.text(query, steps), self.scored, self.known, whole)

    def fetch_rows(self, query: str, steps: Steps = (), whole: str = ALL) -> list[tuple[Any, ...]]:
        """Run a query that gives few rows."""
        return self.session.fetch_rows(self.text(query, steps), self.scored, self.known, whole)

    def numbers(self, query: str, steps: Steps = ()) -> tuple[int, ...]:
        """Run a query that gives counts, and add them up; a null, the sum of no rows, is 0."""
        counts = self.fetch(query, steps).to_pydict().values()
        return tuple(sum(int(count or 0) for count in column) for column in counts)

    def also(self, steps: Steps, **changes: Any) -> "Logs":
        """Add steps, and name those that the logs now have."""
        return replace(self, steps=[*self.steps, *steps], **changes)


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows of both logs under the names of `Logs`, not prepared yet."""

    predictions: Any
    outcomes: Any
    columns: frozenset[str]


def open_logs(session: Session, model: Model, day: date, outcome_days: Sequence[date]) -> Logs:
    """Open the predictions of a day and the outcomes of some days.

    Parameters
    ----------
    session : Session
        Runs the queries; must stay open as long as the logs are used.
    model : Model
        Where the logs are.
    day : date
        Day of the predictions.
    outcome_days : sequence of date
        Partitions of outcomes to read, each of which must exist; may be empty.

    Raises
    ------
    DataError
        If a partition or a column is missing, a type is wrong, or a file cannot be read.
    """
    return prepare(session, read_rows(session, model, day, outcome_days), model)


def prepare(session: Session, rows: Rows, model: Model, *, of_days: bool = False) -> Logs:
    """Write the steps that prepare the rows of both logs for the join."""
    scored, known = (
        {} if each is None else session.types_in(each) for each in (rows.predictions, rows.outcomes)
    )
    steps = steps_of_rows(model, scored, known, of_days=of_days)
    columns = rows.columns | {"said"} if model.outcomes.outcome_means else rows.columns
    columns |= {"rated"} if model.rates_in_log else frozenset()
    horizon = model.settled_after if of_days else None
    return Logs(session, rows.predictions, rows.outcomes, steps, columns, horizon=horizon)


def check_columns(session: Session, model: Model, day: date, outcome_days: Sequence[date]) -> None:
    """Check the columns that `open_logs` reads, without a row; raises what it raises of them."""
    _opened(session, model, day, outcome_days)


def read_rows(session: Session, model: Model, day: date, outcome_days: Sequence[date]) -> Rows:
    """Read the chosen rows of a day of predictions and some days of outcomes, as `open_logs`.

    If outcomes beside their scores have times, those after the last day that counts are not known
    yet. So a day gives the same whenever it is read.
    """
    predictions, outcomes, scored, observed = _opened(session, model, day, outcome_days)
    columns = frozenset([*scored, *observed]) - {"id"}
    row_filter = model.predictions.where
    if not model.outcomes.in_predictions:
        known = (
            outcomes.read(model.outcomes.where, **observed)
            if outcomes.files
            else _no_outcomes(predictions, model, scored)
        )
        return Rows(predictions.read(row_filter, **scored), known, columns)
    if "observed_at" in observed and outcome_days:
        observed["outcome"] = known_by(
            *(outcome_days[-1], model.time_zone, observed["outcome"]),
            *(observed["observed_at"], observed.get("undated")),
        )
    return Rows(predictions.read(row_filter, **scored, **observed), None, columns)


def _opened(
    session: Session, model: Model, day: date, outcome_days: Sequence[date]
) -> tuple[OpenLog, OpenLog, Read, Read]:
    """Open both logs, check their columns, and return how each reads its own."""
    predictions = open_log(session, model, "predictions", [day])
    if model.outcomes.in_predictions:
        checks = _checks_of(model)
        read = _checked(predictions, predictions, model, checks, model.predictions.where)
        return predictions, predictions, *read
    outcomes = open_log(session, model, "outcomes", outcome_days)
    apart = [_check_ids, *_checks_of(model)]
    read = _checked(predictions, outcomes, model, apart, model.predictions.where)
    return predictions, outcomes, *read


def _checked(
    predictions: OpenLog,
    outcomes: OpenLog,
    model: Model,
    checks: Sequence[Check],
    scored_filter: str | None,
) -> tuple[Read, Read]:
    """Check columns of both logs and their filters, and return how each log reads its own."""
    scored, observed = dict[str, Wanted](), dict[str, Wanted]()
    for check in checks:
        of_predictions, of_outcomes = check(predictions, outcomes, model)
        scored |= of_predictions
        observed |= of_outcomes
    if scored_filter:
        predictions.check_filter(scored_filter)
    if model.outcomes.where and outcomes is not predictions:
        outcomes.check_filter(model.outcomes.where)
    raise_all(predictions, *[outcomes] * (outcomes is not predictions))
    return scored, observed


def read_ids(
    session: Session,
    model: Model,
    days: Sequence[date],
    outcome_days: Sequence[date],
    *,
    scored_filter: str | None = None,
) -> Any:
    """Read the ids of predictions that the filter chooses, as those of the outcomes are written.

    Raises
    ------
    DataError
        If they cannot be read, or not be compared with those of the outcomes.
    """
    predictions = open_log(session, model, "predictions", days)
    outcomes = open_log(session, model, "outcomes", outcome_days)
    scored, _ = _checked(predictions, outcomes, model, (_check_ids,), scored_filter)
    return predictions.read(scored_filter, **scored)


def open_dated(
    session: Session,
    model: Model,
    prediction_days: Sequence[date],
    outcome_days: Sequence[date],
    *,
    chosen: bool = True,
) -> Logs:
    """Open ids and outcomes of some days, each row with the ordinal of its day.

    With `chosen`, the filter of predictions holds. An outcome whose prediction is in the log,
    though not chosen, is no orphan.

    Returns
    -------
    Logs
        Predictions with `id` and `scored_on`; outcomes with `outcome_id`, `outcome` and `seen_on`.
    """
    row_filter = model.predictions.where if chosen else None
    scored = _open_apart(session, model, "predictions", prediction_days)
    observed = _open_apart(session, model, "outcomes", outcome_days)
    checks = _check_ids, _check_values
    own, theirs = _checked(_together(scored), _together(observed), model, checks, row_filter)
    rows = _dated(scored, "scored_on", row_filter, id=own["id"])
    seen = _dated(observed, "seen_on", model.outcomes.where, **theirs)
    ids: Steps = [("predictions", f"SELECT * FROM {SCORED}")]
    known = outcome_steps(model, session.types_in(seen))
    return Logs(session, rows, seen, [*ids, *known])


def open_aged(session: Session, model: Model, days: Sequence[date]) -> Logs:
    """Open the outcomes that lie beside the scores of some days, by when they were observed.

    Returns
    -------
    Logs
        Outcomes with `scored_on`, `outcome`, and `age`, null where the time is unknown.
    """
    parts = []
    for day in days:
        log = open_log(session, model, "predictions", [day])
        row_filter = model.predictions.where
        _, observed = _checked(log, log, model, (_check_values, _check_times), row_filter)
        observed["age"] = age_on(day, model.time_zone, observed["observed_at"])
        parts.append(_dated({day: log}, "scored_on", row_filter, **observed))
    seen = union(parts)
    return Logs(session, None, seen, outcome_steps(model, session.types_in(seen)))


def tag(rows: Any, **numbers: int) -> Any:
    """Add columns of whole numbers that are the same in every row."""
    # The join stores some of them beside every outcome, so they are no larger than they must be.
    values = (f"CAST({number} AS INTEGER) AS {name}" for name, number in numbers.items())
    return rows.project(", ".join(["*", *values]))


def union(parts: Sequence[Any]) -> Any:
    """Put rows below one another, in a tree: a chain of many would be nested too deeply."""
    middle = len(parts) // 2
    return parts[0] if not middle else union(parts[:middle]).union(union(parts[middle:]))


def _open_apart(
    session: Session, model: Model, kind: Kind, days: Sequence[date]
) -> dict[date, OpenLog]:
    """Open each day of a log; days that are rows of one file share its types.

    A check adds the types of fields.
    """
    files = dict[str, dict[str, Type]]()
    logs = {day: open_log(session, model, kind, [day]) for day in days}
    return {
        day: replace(log, files={f: files.setdefault(f, types) for f, types in log.files.items()})
        for day, log in logs.items()
    }


def _together(logs: Mapping[date, OpenLog]) -> OpenLog:
    """Join the open files of some days into one log, to check them as one."""
    first = next(iter(logs.values()))
    files = {file: types for log in logs.values() for file, types in log.files.items()}
    return replace(first, files=files, problems=[])


def _dated(
    logs: Mapping[date, OpenLog], name: str, row_filter: str | None, **wanted: Wanted
) -> Any:
    """Read values of some days, each row with the ordinal of its day.

    A day without rows may have no types, and is left out.
    """
    logs = {day: log for day, log in logs.items() if log.files} or logs
    read = (
        tag(log.read(row_filter, **wanted), **{name: day.toordinal()}) for day, log in logs.items()
    )
    return union([*read])


def _check_ids(predictions: OpenLog, outcomes: OpenLog, model: Model) -> tuple[Read, Read]:
    """Check the columns of the key."""
    of_predictions, of_outcomes = key_of(model.predictions, model), key_of(model.outcomes, model)
    pairs = zip(of_predictions.columns, of_outcomes.columns, strict=True)
    converted = of_predictions.cast is not None
    types = [_check_id(predictions, outcomes, *pair, converted=converted) for pair in pairs]
    scored, observed = (
        replace(key, text_as=tuple((type_.name, f"{log.kind}.id") for type_ in types))
        if not converted and (log.is_text or not log.files)
        else key
        for log, key in ((predictions, of_predictions), (outcomes, of_outcomes))
    )
    return {"id": scored.wanted}, {"outcome_id": observed.wanted}


def _check_id(
    predictions: OpenLog, outcomes: OpenLog, scored: str, observed: str, *, converted: bool
) -> Type:
    """Check one column of the key, and return its type; text takes that of the other log.

    Unless they are converted, both logs must have one type.
    """
    fits, wanted = (can_be_cast if converted else is_id), ID_TYPES
    if not predictions.check(scored, "predictions.id", fits, wanted) or converted:
        outcomes.check(observed, "outcomes.id", fits, wanted)
        return TEXT
    if predictions.is_text or not predictions.files:
        typed = outcomes.check(observed, "outcomes.id", fits, wanted) and not outcomes.is_text
        return _as_id(outcomes.type_of(observed)) if typed and outcomes.files else TEXT
    id_type = predictions.type_of(scored)
    for log, column in ((predictions, scored), (outcomes, observed)):
        others = [types[column] for types in log.files.values() if column in types]
        cast = next((likely_cast(id_type, t) for t in others if t != id_type), None)
        hint = f" (or set ids: {{cast: {cast}}} in the configuration)" if cast else ""
        as_first = f"{id_type}, as in predictions{hint}"
        # Whole numbers are compared by their value, whatever their type.
        alike = lambda t: t == id_type or (is_number(t) and is_number(id_type))  # noqa: E731
        log.check(column, f"{log.kind}.id", alike, as_first)
    return _as_id(id_type)


def _as_id(type_: Type) -> Type:
    """Return the type that ids of this type are read as."""
    return WHOLE if type_.is_float else type_


def _check_values(predictions: OpenLog, outcomes: OpenLog, model: Model) -> tuple[Read, Read]:
    """Check the columns of score and outcome."""
    if classes := model.predictions.classes:
        scores = scores_of_classes(predictions, classes)
        return scores, outcome_of_classes(outcomes, model, classes)
    column, means = model.predictions.score, model.predictions.score_means
    real, wanted = (
        ((lambda t: t.is_real), "floating point")
        if means in PROBABILITY
        else (_is_number, "a number")
    )
    predictions.check(column, "predictions.score", real, wanted)
    score = number(column, "predictions.score") if predictions.is_text else as_it_is(column)
    if label := model.predictions.predicted_label:
        score = score_of_label(score, label, labels_of(predictions, label, model))
    return {"score": score}, {"outcome": _value_of_outcome(outcomes, model.outcomes)}


def _value_of_outcome(outcomes: OpenLog, log: OutcomeLog) -> Wanted:
    """Check the column of outcomes, and return how it is read."""
    column, means = log.outcome, log.outcome_means
    if column is None:
        return one()
    if means is not None:
        if outcomes.check(column, "outcomes.outcome"):
            check_meanings(outcomes, column, "outcomes.outcome_means", means)
        return as_it_is(column)
    listed = "(or list its values in outcomes.outcome_means)"
    clicks = " (null if every row is a 1)" * (log.absent_means is not None)
    # Text is converted, as that of CSV: pandas writes True and False where values are missing.
    fits = lambda type_: type_.can_be_outcome or type_.is_text  # noqa: E731
    outcomes.check(column, f"outcomes.outcome{clicks}", fits, f"{OUTCOME_TYPES}, or text {listed}")
    of_text = outcome(column, f"outcomes.outcome {listed}")
    return of_text if outcomes.is_text else number_or_text(column, of_text)


def _check_times(predictions: OpenLog, outcomes: OpenLog, model: Model) -> tuple[Read, Read]:
    """Check the times that are used."""
    scored, observed = model.predictions, model.outcomes
    times = list[tuple[OpenLog, str, str, TimeUnit | None]]()
    if scored.time and observed.time:
        times.append((predictions, scored.time, "predictions.time", scored.time_unit))
    if observed.time and (needs_times(model) or may_be_undated(model)):
        times.append((outcomes, observed.time, "outcomes.time", observed.time_unit))
    zones, wanted = list[bool](), f"a timestamp, {TIME_TYPES}"
    for log, column, setting, unit in times:  # text of CSV and JSON lines may be a number too
        known = log.check(column, setting, partial(is_time, unit=unit), wanted)
        if known and log.files and not log.type_of(column).is_text:
            zones.append(_has_zone(log.type_of(column)))
    zoned = zones[0] if zones else True
    wanted = f"a timestamp {'with' if zoned else 'without'} time zone, as in predictions"
    for log, column, setting, unit in times:
        if all(column in types for types in log.files.values()):
            log.check(column, setting, partial(_is_comparable, unit=unit, zoned=zoned), wanted)
    read = {
        setting: moment(column, setting, unit, zoned=zoned) for _, column, setting, unit in times
    }
    of_outcomes = dict[str, Wanted]()
    if observed.time and needs_times(model):
        of_outcomes["observed_at"] = read["outcomes.time"]
    if may_be_undated(model):
        missing, impossible = (model.checks.of(check) != "accept" for check in UNDATED)
        at = read["outcomes.time"]
        of_outcomes["undated"] = undated(at, missing=missing, impossible=impossible)
    scored_at = read.get("predictions.time")
    return {"scored_at": scored_at} if scored_at else {}, of_outcomes


def needs_times(model: Model) -> bool:
    """Return whether the times of outcomes, if they have any, are compared with something."""
    observed = model.outcomes
    both = None not in (model.predictions.time, observed.time)
    return both or observed.duplicates == "latest" or observed.in_predictions


def may_be_undated(model: Model) -> bool:
    """Return whether an outcome of 0 may be unknown because of its time; a class never is."""
    answers = {*map(model.checks.of, UNDATED)}
    return bool(model.outcomes.time) and not model.predictions.classes and answers != {"accept"}


def _is_comparable(type_: Type, unit: TimeUnit | None, *, zoned: bool) -> bool:
    """Return whether times of a type can be compared with those of the others; text has either."""
    return type_.is_text or not is_time(type_, unit) or _has_zone(type_) == zoned


def _has_zone(type_: Type) -> bool:
    return type_.is_number or type_.has_zone


def _check_parts(predictions: OpenLog, _: OpenLog, model: Model) -> tuple[Read, Read]:
    """Check the columns of segments and strata, of entities, and those that are watched."""
    read = dict[str, Wanted]()
    for name, setting, parts in (
        ("segment", "segments.column", model.segments),
        ("stratum", "strata.column", model.strata),
    ):
        if parts:
            predictions.check(parts.column, setting)
            read[name] = label(parts.column, _listed(model, parts.column))
    if model.predictions.entity:
        columns = entity_columns(model.predictions)
        for column in columns:
            predictions.check(column, "predictions.entity", can_be_cast, ID_TYPES)
        read["entity"] = bucket_of(columns)
    return read | (_check_watched(predictions, model) if model.columns else {}), {}


def _check_watched(predictions: OpenLog, model: Model) -> dict[str, Wanted]:
    """Return the watched columns under new names, once each: as numbers if they are cut."""
    cut = {c for w in model.columns if getattr(w, "numeric", False) for c in w.columns}
    read = dict[str, Wanted]()
    for column in watched_columns(model):
        of_type = (_is_number, "a number") if column in cut else ()
        predictions.check(column, "segments", *of_type)
        as_text = predictions.is_text and column in cut
        value = label(column, _listed(model, column))
        read[watched_name(column)] = number(column, "segments") if as_text else value
    return read


def _listed(model: Model, column: str) -> list[str]:
    """List the values of a column that the configuration names."""
    watched = (w for w in model.columns if isinstance(w, WatchedColumn))
    parts = [model.segments, model.strata, *watched]
    return [v for part in parts if part and part.column == column for v in part.values or ()]


def _check_weights(predictions: OpenLog, outcomes: OpenLog, model: Model) -> tuple[Read, Read]:
    """Check the column of weights, which at most one log has."""

    def of(log: OpenLog, kind: Kind) -> Read:
        if (given := model.weight_column(kind)) is None:
            return {}
        column, setting = given
        log.check(column, setting, _is_number, "a number")
        return {"weight": number(column, setting) if log.is_text else as_it_is(column)}

    return of(predictions, "predictions"), of(outcomes, "outcomes")


def _check_action(log: OpenLog, _: OpenLog, model: Model) -> tuple[Read, Read]:
    """Check the column that says of a row that it was acted on."""
    column = f"{model.action}"
    log.check(column, "action", _is_true_or_false, "boolean, or an integer 0 or 1")
    return {"acted": outcome(column, "action") if log.is_text else as_it_is(column)}, {}


def _checks_of(model: Model) -> list[Check]:
    """List what checks the columns that a model has but ids, in the order of their complaints."""
    scored, observed = model.predictions, model.outcomes
    parts = model.segments or model.strata or scored.entity or model.columns
    of_capabilities = (
        (_check_times, scored.time or observed.time),
        (_check_parts, parts),
        (_check_weights, model.weight_column("predictions") or model.weight_column("outcomes")),
        (_check_action, model.action),
    )
    return [_check_values, *(check for check, used in of_capabilities if used)]


def _no_outcomes(predictions: OpenLog, model: Model, scored: Read) -> Any:
    """Make an empty log with ids and times of the same types as the predictions."""
    names = {"outcome_id": "id", "observed_at": "scored_at"}
    read = predictions.read(
        None, **{new: scored[own] for new, own in names.items() if own in scored}
    )
    means = model.outcomes.outcome_means
    values = {"outcome": literal(means.positive[0]) if means else "0"}
    if model.weight_column("outcomes"):
        values["weight"] = "1e0"
    if may_be_undated(model):
        values["undated"] = "CAST(0 AS TINYINT)"
    if model.predictions.classes:
        values["said"] = "''"
    added = ", ".join(f"{value} AS {name}" for name, value in values.items())
    return read.project(f"*, {added}").filter("FALSE")


def _is_true_or_false(type_: Type) -> bool:
    return type_.is_integer or type_.is_boolean


def _is_number(type_: Type) -> bool:
    return type_.is_number
