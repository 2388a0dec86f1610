"""The rows of one day as two lazy frames with fixed column names and checked types."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date

import duckdb
import narwhals as nw

from monitor.config import Model, OutcomeLog
from monitor.errors import DataError
from monitor.logs.conversions import Wanted, as_it_is, moment, number, outcome
from monitor.logs.opening import TEXT, OpenLog, fault_of_column, open_log, raise_all
from monitor.logs.rows import (
    Key,
    can_be_cast,
    choose,
    is_id,
    key_of,
    likely_cast,
    prepare_outcomes,
    prepare_predictions,
    wrong_meaning,
)
from monitor.logs.session import Frame, Session, Type, View

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
    joined : bool
        Whether the predictions have the columns of the outcomes already. Then no row has an id,
        and `observed` is null where the outcome is not known.
    outcomes_weighted : bool
        Whether the outcomes have the column `weight`, rather than the predictions.
    """

    predictions: Frame
    outcomes: Frame
    timed: bool
    said: bool = False
    latest: bool = False
    joined: bool = False
    outcomes_weighted: bool = False


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
        If a partition or a column is missing, a type is wrong, or a file cannot be read.
    """
    predictions = open_log(session, model, "predictions", [day])
    if model.outcomes.in_predictions:
        return _open_together(session, model, predictions)
    outcomes = open_log(session, model, "outcomes", outcome_days)
    scored, observed = model.predictions, model.outcomes
    scored_id, observed_id = _check_ids(predictions, outcomes, model)
    score, outcome = _check_values(predictions, outcomes, model)
    scored_at, observed_at = _check_times(predictions, outcomes, model)
    if observed.time and observed.duplicates == "latest" and not observed_at:
        outcomes.check(observed.time, "outcomes.time", _is_time, "a timestamp")
        observed_at = {"observed_at": _moment(outcomes, observed.time, "outcomes.time")}
    parts = _check_parts(predictions, model)
    scored_weight, observed_weight = _check_weights(predictions, outcomes, model)
    predictions.check_filter(scored.where)
    outcomes.check_filter(observed.where)
    raise_all(predictions, outcomes)
    scored_rows = predictions.read(
        scored.where, id=scored_id.wanted, score=score, **scored_at, **parts, **scored_weight
    )
    outcome_rows = (
        outcomes.read(
            observed.where,
            outcome_id=observed_id.wanted,
            outcome=outcome,
            **observed_at,
            **observed_weight,
        )
        if outcomes.files
        else _no_outcomes(predictions, model, scored_id)
    )
    views = session.show("predictions", scored_rows), session.show("outcomes", outcome_rows)
    return session.once(
        (*views, model.segments, model.strata, *_meaning(model)),
        lambda: Logs(
            prepare_predictions(session.frame(views[0]), model),
            prepare_outcomes(session.frame(views[1]), model),
            timed=bool(scored_at),
            said=observed.outcome_means is not None,
            latest=observed.duplicates == "latest",
            outcomes_weighted=observed.weight is not None,
        ),
    )


def _open_together(session: Session, model: Model, log: OpenLog) -> Logs:
    """Open a log whose rows have both score and outcome."""
    score, outcome = _check_values(log, log, model)
    scored_at, observed_at = _check_times(log, log, model)
    parts = _check_parts(log, model)
    weights = _check_weights(log, log, model)
    log.check_filter(model.predictions.where)
    raise_all(log)
    rows = log.read(
        model.predictions.where,
        score=score,
        outcome=outcome,
        **scored_at,
        **observed_at,
        **parts,
        **weights[0],
        **weights[1],
    )
    view = session.show("predictions with outcomes", rows)
    return session.once(
        (view, model.segments, model.strata, *_meaning(model)),
        lambda: _prepare_together(session.frame(view), model, timed=bool(scored_at)),
    )


def _prepare_together(rows: Frame, model: Model, *, timed: bool) -> Logs:
    value = nw.col("outcome")
    unknown = value.is_null()
    if rows.collect_schema()["outcome"].is_float():
        unknown |= value.is_nan()  # pandas makes floating point of integers with gaps
    nothing = nw.lit(None, nw.Int64)
    known = choose([(unknown, nw.lit(None, nw.Int8))], nw.lit(1, nw.Int8))
    prepared = prepare_predictions(rows.with_columns(known=known), model)
    prepared = prepare_outcomes(prepared, model).with_columns(
        id=nothing, outcome_id=nothing, observed=nw.col("known")
    )
    observed = prepared.filter(~nw.col("observed").is_null())
    said = model.outcomes.outcome_means is not None
    return Logs(prepared, observed, timed=timed, said=said, joined=True)


def _meaning(model: Model) -> tuple[object, ...]:
    """Return the settings that say what rows mean, on which the query depends."""
    scored, observed = model.predictions, model.outcomes
    weights = scored.weight, observed.weight
    return scored.score_means, observed.outcome_means, observed.duplicates, *weights


def open_ids(
    session: Session, model: Model, prediction_days: Sequence[date], outcome_days: Sequence[date]
) -> tuple[View, View]:
    """Open only the ids of some days of both logs, as `id` and `outcome_id`.

    The filter of outcomes holds, but not that of predictions: an outcome whose prediction is in the
    log, though not chosen, is no orphan.
    """
    predictions = open_log(session, model, "predictions", prediction_days)
    outcomes = open_log(session, model, "outcomes", outcome_days)
    scored_id, observed_id = _check_ids(predictions, outcomes, model)
    outcomes.check_filter(model.outcomes.where)
    raise_all(predictions, outcomes)
    scored = predictions.read(id=scored_id.wanted)
    observed = outcomes.read(model.outcomes.where, outcome_id=observed_id.wanted)
    return session.show("ids of predictions", scored), session.show("ids of outcomes", observed)


def check_readable(session: Session, model: Model, day: date) -> None:
    """Raise DataError, or an error of DuckDB, if the predictions of a day cannot be joined."""
    predictions = open_log(session, model, "predictions", [day])
    key = key_of(model.predictions, model)
    for column in key.columns:
        predictions.check(column, "predictions.id", can_be_cast if key.cast else is_id, ID_TYPES)
    raise_all(predictions)
    predictions.read(id=key.wanted)


def _check_ids(predictions: OpenLog, outcomes: OpenLog, model: Model) -> tuple[Key, Key]:
    """Check the columns of the key, and return how each log makes its ids."""
    of_predictions, of_outcomes = key_of(model.predictions, model), key_of(model.outcomes, model)
    pairs = zip(of_predictions.columns, of_outcomes.columns, strict=True)
    converted = of_predictions.cast is not None
    types = [_check_id(predictions, outcomes, *pair, converted=converted) for pair in pairs]
    scored, observed = (
        replace(key, text_as=tuple((found.name, f"{log.kind}.id") for found in types))
        if log.is_text and not converted
        else key
        for log, key in ((predictions, of_predictions), (outcomes, of_outcomes))
    )
    return scored, observed


def _check_id(
    predictions: OpenLog, outcomes: OpenLog, scored: str, observed: str, *, converted: bool
) -> Type:
    """Check one column of the key, and return its type; text takes that of the other log.

    Unless they are converted, both logs must have one type.
    """
    fits, wanted = (can_be_cast, CAST_TYPES) if converted else (is_id, ID_TYPES)
    if not predictions.check(scored, "predictions.id", fits, wanted) or converted:
        outcomes.check(observed, "outcomes.id", fits, wanted)
        return TEXT
    if predictions.is_text:
        typed = outcomes.check(observed, "outcomes.id", fits, wanted) and not outcomes.is_text
        return outcomes.type_of(observed) if typed and outcomes.files else TEXT
    id_type = predictions.type_of(scored)
    for log, column in ((predictions, scored), (outcomes, observed)):
        others = [types[column] for types in log.files.values() if column in types]
        cast = next((likely_cast(id_type, t) for t in others if t != id_type), None)
        hint = f" (or set ids: {{cast: {cast}}} in the configuration)" if cast else ""
        as_first = f"{id_type}, as in predictions{hint}"
        log.check(column, f"{log.kind}.id", lambda t: t == id_type, as_first)
    return id_type


def _check_values(predictions: OpenLog, outcomes: OpenLog, model: Model) -> tuple[Wanted, Wanted]:
    """Check the columns of score and outcome, and return how they are read."""
    column, means = model.predictions.score, model.predictions.score_means
    real, wanted = (
        (_is_real, "floating point") if means in PROBABILITY else (_is_number, "a number")
    )
    predictions.check(column, "predictions.score", real, wanted)
    score = number(column, "predictions.score") if predictions.is_text else as_it_is(column)
    _check_outcomes(outcomes, model.outcomes)
    observed, listed = model.outcomes.outcome, model.outcomes.outcome_means is not None
    as_text = outcomes.is_text and not listed
    return score, outcome(observed, "outcomes.outcome") if as_text else as_it_is(observed)


def _check_outcomes(outcomes: OpenLog, log: OutcomeLog) -> None:
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
            fault = fault_of_column(outcomes.kind, "has another type")
            outcomes.problems.append(DataError(msg, fault))


def _check_times(
    predictions: OpenLog, outcomes: OpenLog, model: Model
) -> tuple[dict[str, Wanted], dict[str, Wanted]]:
    """Return the time column of each log under its new name, or none for both."""
    scored, observed = model.predictions.time, model.outcomes.time
    if scored is None or observed is None:
        return {}, {}
    if not predictions.check(scored, "predictions.time", _is_time, "a timestamp"):
        outcomes.check(observed, "outcomes.time", _is_time, "a timestamp")
        return {}, {}
    zoned = predictions.is_text or _has_zone(predictions.type_of(scored))
    wanted = f"a timestamp {'with' if zoned else 'without'} time zone, as in predictions"
    for log, column, setting in (
        (predictions, scored, "predictions.time"),
        (outcomes, observed, "outcomes.time"),
    ):
        log.check(column, setting, lambda t: _is_time(t) and _has_zone(t) == zoned, wanted)
    return (
        {"scored_at": _moment(predictions, scored, "predictions.time")},
        {"observed_at": _moment(outcomes, observed, "outcomes.time")},
    )


def _moment(log: OpenLog, column: str, setting: str) -> Wanted:
    return moment(column, setting) if log.is_text else as_it_is(column)


def _check_parts(predictions: OpenLog, model: Model) -> dict[str, str]:
    """Return the configured columns of segments and strata under new names."""
    configured = {"segment": model.segments, "stratum": model.strata}
    columns = {name: parts.column for name, parts in configured.items() if parts}
    for name, column in columns.items():
        setting = {"segment": "segments.column", "stratum": "strata.column"}[name]
        predictions.check(column, setting, lambda _: True, "of any type")
    return columns


def _check_weights(
    predictions: OpenLog, outcomes: OpenLog, model: Model
) -> tuple[dict[str, Wanted], dict[str, Wanted]]:
    """Return the column of weights of each log under its new name; at most one has it."""
    found = list[dict[str, Wanted]]()
    for log, column, setting in (
        (predictions, model.predictions.weight, "predictions.weight"),
        (outcomes, model.outcomes.weight, "outcomes.weight"),
    ):
        if column is None:
            found.append({})
            continue
        log.check(column, setting, _is_number, "a number")
        found.append({"weight": number(column, setting) if log.is_text else as_it_is(column)})
    return found[0], found[1]


def _no_outcomes(predictions: OpenLog, model: Model, ids: Key) -> duckdb.DuckDBPyRelation:
    """Make an empty log with ids and times of the same types as the predictions."""
    column = model.predictions.time
    times = {"observed_at": _moment(predictions, column, "predictions.time")} if column else {}
    empty = predictions.read(None, outcome_id=ids.wanted, **times).limit(0)
    listed = model.outcomes.outcome_means.positive[0] if model.outcomes.outcome_means else 0
    more = [duckdb.ConstantExpression(listed).alias("outcome")]
    if model.outcomes.weight:
        more.append(duckdb.ConstantExpression(1.0).alias("weight"))
    return empty.select(duckdb.StarExpression(), *more)


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
