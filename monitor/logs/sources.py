"""The rows of one day as two lazy frames with fixed column names and checked types."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

import narwhals as nw

from monitor.config import UNDATED, Model, OutcomeLog, TimeUnit
from monitor.logs.class_columns import scores_of_classes
from monitor.logs.class_labels import outcome_of_classes
from monitor.logs.column_labels import watched_columns, watched_name
from monitor.logs.conversions import Wanted, as_it_is, label, number, number_or_text, one, outcome
from monitor.logs.entities import bucket_of, entity_columns
from monitor.logs.labels import OUTCOME_TYPES, check_meanings, is_outcome, labels_of, score_of_label
from monitor.logs.opening import TEXT, TIME_TYPES, Kind, OpenLog, raise_all
from monitor.logs.partitions import open_log
from monitor.logs.rows import (
    Key,
    can_be_cast,
    choose,
    is_id,
    is_number,
    key_of,
    known_outcomes,
    likely_cast,
    prepare_outcomes,
    prepare_predictions,
)
from monitor.logs.session import Frame, Session, Type, View, by_halves
from monitor.logs.times import age_on, has_zone, is_time, known_by, moment, undated

WHOLE = Type(nw.Int128(), "HUGEINT")
ID_TYPES = "integer, string, UUID or a whole floating point number"
PROBABILITY = "probability", "probability_of_0", "probability_of_label"


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
    identical : bool
        Whether identical predictions of an id count once.
    horizon : int or None
        If the logs are of many days: how many days after its prediction an outcome counts. Then
        predictions have the number of their day, `day`, which is part of `part` too, outcomes have
        `partition`, and `predicted` is 0 for predictions of which only the id is read.
    classes : bool
        Whether the rows have the columns of `monitor.logs.class_columns`; then `outcome` is the
        class that came true.
    codes : tuple of str
        The columns of the predictions that hold codes; see `monitor.logs.column_codes`.
    entity : bool
        Whether the predictions have `entity`, the bucket of the row's entity, null if unknown.
    acted : bool
        Whether the predictions have `acted`, 1 if the row was acted on, else 0.
    undated : bool
        Whether the outcomes have `undated`; see `monitor.logs.times.undated`.
    """

    predictions: Frame
    outcomes: Frame
    timed: bool
    said: bool = False
    latest: bool = False
    joined: bool = False
    outcomes_weighted: bool = False
    identical: bool = False
    horizon: int | None = None
    classes: bool = False
    codes: tuple[str, ...] = ()
    entity: bool = False
    acted: bool = False
    undated: bool = False

    @property
    def is_coded_late(self) -> bool:
        """Whether an outcome is only one beside its prediction."""
        return self.joined or self.classes


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows of both logs under the names of `Logs`, not prepared yet."""

    predictions: Any
    outcomes: Any
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
        If a partition or a column is missing, a type is wrong, or a file cannot be read.
    """
    if model.outcomes.in_predictions:
        predictions = open_log(session, model, "predictions", [day])
        return _open_together(session, model, predictions, outcome_days)
    rows = read_rows(session, model, day, outcome_days)
    views = session.show("predictions", rows.predictions), session.show("outcomes", rows.outcomes)
    return session.once(
        (*views, *settings_of_rows(model)),
        lambda: prepare(session.frame(views[0]), session.frame(views[1]), model, timed=rows.timed),
    )


def check_columns(session: Session, model: Model, day: date, outcome_days: Sequence[date]) -> None:
    """Check the columns that `open_logs` reads, without a row; raises what it raises of them."""
    predictions = open_log(session, model, "predictions", [day])
    together = model.outcomes.in_predictions
    outcomes = predictions if together else open_log(session, model, "outcomes", outcome_days)
    if not together:
        _check_ids(predictions, outcomes, model)
    _check_columns(predictions, outcomes, model)
    predictions.check_filter(model.predictions.where)
    outcomes.check_filter(model.outcomes.where)
    raise_all(predictions, outcomes)


def read_rows(session: Session, model: Model, day: date, outcome_days: Sequence[date]) -> Rows:
    """Read the chosen rows of a day of predictions and some days of outcomes, as `open_logs`."""
    predictions = open_log(session, model, "predictions", [day])
    outcomes = open_log(session, model, "outcomes", outcome_days)
    scored, observed = model.predictions, model.outcomes
    scored_id, observed_id = _check_ids(predictions, outcomes, model)
    of_predictions, of_outcomes = _check_columns(predictions, outcomes, model)
    predictions.check_filter(scored.where)
    outcomes.check_filter(observed.where)
    raise_all(predictions, outcomes)
    scored_at = of_predictions.get("scored_at")
    return Rows(
        predictions.read(scored.where, id=scored_id.wanted, **of_predictions),
        outcomes.read(observed.where, outcome_id=observed_id.wanted, **of_outcomes)
        if outcomes.files
        else _no_outcomes(predictions, model, scored_id, observed_at=scored_at),
        timed=scored_at is not None,
    )


def settings_of_rows(model: Model) -> tuple[object, ...]:
    """Return the settings that the preparation of rows depends on."""
    parts = model.segments, model.columns, model.strata
    return *parts, model.predictions.classes, model.predictions.entity, *_meaning(model)


def prepare(predictions: Frame, outcomes: Frame, model: Model, *, timed: bool) -> Logs:
    """Prepare the rows of both logs for the join."""
    scored = prepare_predictions(predictions, model)
    observed = prepare_outcomes(known_outcomes(outcomes), model)
    return _logs(scored, observed, model, timed=timed)


def _logs(
    predictions: Frame, outcomes: Frame, model: Model, *, timed: bool, joined: bool = False
) -> Logs:
    classes = model.predictions.classes is not None
    return Logs(
        *(predictions, outcomes),
        timed=timed,
        said=model.outcomes.outcome_means is not None or classes,
        latest=model.outcomes.duplicates == "latest",
        joined=joined,
        outcomes_weighted=model.weight_column("outcomes") is not None,
        identical=model.predictions.duplicates == "keep_identical",
        classes=classes,
        entity=model.predictions.entity is not None,
        acted=model.action is not None,
        undated=may_be_undated(model),
    )


def _open_together(
    session: Session, model: Model, log: OpenLog, outcome_days: Sequence[date]
) -> Logs:
    """Open a log whose rows have both score and outcome.

    If outcomes have times, those after the last day that counts are not known yet. So a day gives
    the same whenever it is read.
    """
    of_predictions, of_outcomes = _check_columns(log, log, model)
    wanted = of_predictions | of_outcomes
    log.check_filter(model.predictions.where)
    raise_all(log)
    if "observed_at" in wanted and outcome_days:
        last, zone = outcome_days[-1], model.time_zone
        outcome, at, dated = (wanted.get(name) for name in ("outcome", "observed_at", "undated"))
        if outcome and at:
            wanted["outcome"] = known_by(last, zone, outcome, at, dated)
    rows = log.read(model.predictions.where, **wanted)
    view = session.show("predictions with outcomes", rows)
    return session.once(
        (view, *settings_of_rows(model)),
        lambda: _prepare_together(session.frame(view), model, timed="scored_at" in wanted),
    )


def _prepare_together(rows: Frame, model: Model, *, timed: bool) -> Logs:
    value = nw.col("outcome")
    unknown = value.is_null()
    if rows.collect_schema()["outcome"].is_float():
        unknown |= value.is_nan()  # pandas makes floating point of integers with gaps
    nothing = nw.lit(None, nw.Int64)
    seen = choose([(unknown, nw.lit(None, nw.Int8))], nw.lit(1, nw.Int8))
    prepared = prepare_predictions(rows.with_columns(seen=seen), model)
    prepared = prepare_outcomes(prepared, model).with_columns(
        id=nothing, outcome_id=nothing, observed=nw.col("seen")
    )
    observed = prepared.filter(~nw.col("observed").is_null())
    return _logs(prepared, observed, model, timed=timed, joined=True)


def _meaning(model: Model) -> tuple[object, ...]:
    """Return the settings that say what rows mean, on which the query depends."""
    scored, observed = model.predictions, model.outcomes
    weights = model.weight_column("predictions"), model.weight_column("outcomes")
    duplicates = scored.duplicates, observed.duplicates
    meant = scored.score_means, observed.outcome_means, may_be_undated(model)
    return *meant, *duplicates, *weights, model.action


def open_ids(
    session: Session, model: Model, prediction_days: Sequence[date], outcome_days: Sequence[date]
) -> tuple[View, View]:
    """Open only the ids of some days of both logs, as `id` and `outcome_id`.

    The filter of outcomes holds, but not that of predictions: an outcome whose prediction is in the
    log, though not chosen, is no orphan.
    """
    scored, observed = read_ids(session, model, prediction_days, outcome_days)
    return session.show("ids of predictions", scored), session.show("ids of outcomes", observed)


def read_ids(
    session: Session,
    model: Model,
    prediction_days: Sequence[date],
    outcome_days: Sequence[date],
    *,
    scored_filter: str | None = None,
) -> tuple[Any, Any]:
    """Read the ids of both logs: of predictions with a filter of their own."""
    predictions = open_log(session, model, "predictions", prediction_days)
    outcomes = open_log(session, model, "outcomes", outcome_days)
    scored_id, observed_id = _check_ids(predictions, outcomes, model)
    predictions.check_filter(scored_filter)
    outcomes.check_filter(model.outcomes.where)
    raise_all(predictions, outcomes)
    return (
        predictions.read(scored_filter, id=scored_id.wanted),
        outcomes.read(model.outcomes.where, outcome_id=observed_id.wanted),
    )


def open_dated(
    session: Session,
    model: Model,
    prediction_days: Sequence[date],
    outcome_days: Sequence[date],
    *,
    chosen: bool = True,
) -> tuple[View, Frame]:
    """Open ids and outcomes of some days, each row with the ordinal of its day.

    With `chosen`, the filter of predictions holds.

    Returns
    -------
    tuple of View and LazyFrame
        Predictions with `id` and `scored_on`; outcomes with `outcome_id`, `outcome` and `seen_on`.
    """
    row_filter = model.predictions.where if chosen else None
    scored = _open_apart(session, model, "predictions", prediction_days)
    observed = _open_apart(session, model, "outcomes", outcome_days)
    predictions, outcomes = _together(scored), _together(observed)
    scored_id, observed_id = _check_ids(predictions, outcomes, model)
    _, outcome = _check_values(predictions, outcomes, model)
    predictions.check_filter(row_filter)
    outcomes.check_filter(model.outcomes.where)
    raise_all(predictions, outcomes)
    rows = _dated(scored, "scored_on", row_filter, id=scored_id.wanted)
    outcome_id = observed_id.wanted
    seen = _dated(observed, "seen_on", model.outcomes.where, outcome_id=outcome_id, **outcome)
    shown = session.frame(session.show("dated outcomes", seen))
    known = known_outcomes(shown)
    return session.show("dated predictions", rows), prepare_outcomes(known, model)


def open_aged(session: Session, model: Model, days: Sequence[date]) -> Frame:
    """Open the outcomes that lie beside the scores of some days, by when they were observed.

    Returns
    -------
    LazyFrame
        Columns `scored_on`, `outcome`, and `age`, null where the time is unknown.
    """
    parts = []
    for day in days:
        log = open_log(session, model, "predictions", [day])
        _, outcome = _check_values(log, log, model)
        _, observed_at = _check_times(log, log, model)
        log.check_filter(model.predictions.where)
        raise_all(log)
        age = age_on(day, model.time_zone, observed_at["observed_at"])
        row_filter = model.predictions.where
        parts.append(
            nw.from_native(_dated({day: log}, "scored_on", row_filter, **outcome, age=age))
        )
    view = session.show("outcomes by age", by_halves(parts, nw.concat).to_native())
    return prepare_outcomes(session.frame(view), model)


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
    parts = [
        nw.from_native(log.read(row_filter, **wanted)).with_columns(
            nw.lit(day.toordinal()).alias(name)
        )
        for day, log in logs.items()
    ]
    return by_halves(parts, nw.concat).to_native()


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
        replace(key, text_as=tuple((type_.name, f"{log.kind}.id") for type_ in types))
        if not converted and (log.is_text or not log.files)
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
    return WHOLE if type_.dtype.is_float() else type_


def _check_columns(
    predictions: OpenLog, outcomes: OpenLog, model: Model
) -> tuple[dict[str, Wanted], dict[str, Wanted]]:
    """Check all columns but ids, and return how each log reads its own under their new names."""
    score, outcome = _check_values(predictions, outcomes, model)
    scored_at, observed_at = _check_times(predictions, outcomes, model)
    parts = _check_parts(predictions, model)
    return (
        {
            **score,
            **scored_at,
            **parts,
            **_check_weight(predictions, "predictions", model),
            **_check_action(predictions, model),
        },
        {**outcome, **observed_at, **_check_weight(outcomes, "outcomes", model)},
    )


def _check_values(
    predictions: OpenLog, outcomes: OpenLog, model: Model
) -> tuple[dict[str, Wanted], dict[str, Wanted]]:
    """Check the columns of score and outcome, and return how they are read."""
    if classes := model.predictions.classes:
        scores = scores_of_classes(predictions, classes)
        return scores, outcome_of_classes(outcomes, model, classes)
    column, means = model.predictions.score, model.predictions.score_means
    real, wanted = (
        (_is_real, "floating point") if means in PROBABILITY else (_is_number, "a number")
    )
    predictions.check(column, "predictions.score", real, wanted)
    score = number(column, "predictions.score") if predictions.is_text else as_it_is(column)
    if label := model.predictions.predicted_label:
        score = score_of_label(score, label, labels_of(predictions, label, model))
    _check_outcomes(outcomes, model.outcomes)
    return {"score": score}, {"outcome": _value_of_outcome(outcomes, model.outcomes)}


def _value_of_outcome(outcomes: OpenLog, log: OutcomeLog) -> Wanted:
    if log.outcome is None:
        return one()
    if log.outcome_means is not None:
        return as_it_is(log.outcome)
    setting = "outcomes.outcome (or list its values in outcomes.outcome_means)"
    if outcomes.is_text:
        return outcome(log.outcome, setting)
    return number_or_text(log.outcome, outcome(log.outcome, setting))


def _check_outcomes(outcomes: OpenLog, log: OutcomeLog) -> None:
    if log.outcome is None:
        return
    if log.outcome_means is None:
        clicks = log.absent_means is not None
        setting = "outcomes.outcome" + " (null if every row is a 1)" * clicks
        wanted = f"{OUTCOME_TYPES}, or text (or list its values in outcomes.outcome_means)"
        # Text is converted, as that of CSV: pandas writes True and False where values are missing.
        fits = lambda type_: is_outcome(type_) or isinstance(type_.dtype, nw.String)  # noqa: E731
        outcomes.check(log.outcome, setting, fits, wanted)
        return
    if not outcomes.check(log.outcome, "outcomes.outcome", lambda _: True, "of any type"):
        return
    check_meanings(outcomes, log.outcome, "outcomes.outcome_means", log.outcome_means)


def _check_times(
    predictions: OpenLog, outcomes: OpenLog, model: Model
) -> tuple[dict[str, Wanted], dict[str, Wanted]]:
    """Check the times that are used, and return how each log reads its own under its new name."""
    scored, observed = model.predictions, model.outcomes
    both = scored.time is not None and observed.time is not None
    times = list[_Time]()
    if scored.time and both:
        times.append(_Time(predictions, scored.time, "predictions.time", scored.time_unit))
    used = both or observed.duplicates == "latest" or observed.in_predictions
    if observed.time and (used or may_be_undated(model)):
        times.append(_Time(outcomes, observed.time, "outcomes.time", observed.time_unit))
    zones = [zone for time in times if time.is_known() and (zone := time.zone()) is not None]
    zoned = zones[0] if zones else True
    for time in times:
        time.check_zone(zoned=zoned)
    read = {
        time.setting: moment(time.column, time.setting, time.unit, zoned=zoned) for time in times
    }
    of_outcomes = {"observed_at": read["outcomes.time"]} if observed.time and used else {}
    if may_be_undated(model):
        checks, at = model.checks, read["outcomes.time"]
        missing, impossible = map(checks.of, UNDATED)
        of_outcomes["undated"] = undated(
            at, missing=missing != "accept", impossible=impossible != "accept"
        )
    return {"scored_at": read["predictions.time"]} if both else {}, of_outcomes


def may_be_undated(model: Model) -> bool:
    """Return whether an outcome of 0 may be unknown because of its time; a class never is."""
    answers = {*map(model.checks.of, UNDATED)}
    return bool(model.outcomes.time) and not model.predictions.classes and answers != {"accept"}


@dataclass(frozen=True)
class _Time:
    """The column of times of a log, its setting, and its unit if it is a number."""

    log: OpenLog
    column: str
    setting: str
    unit: TimeUnit | None

    def is_known(self) -> bool:
        """Note a type that is no time; text of CSV and JSON lines may be a number too."""
        fits = lambda type_: is_time(type_, self.unit)  # noqa: E731 - a predicate
        return self.log.check(self.column, self.setting, fits, f"a timestamp, {TIME_TYPES}")

    def zone(self) -> bool | None:
        """Return whether the times have a zone; None if they are text, which can have either."""
        if not self.log.files:
            return None
        type_ = self.log.type_of(self.column)
        return None if isinstance(type_.dtype, nw.String) else self._has_zone(type_)

    def check_zone(self, *, zoned: bool) -> None:
        """Note a file whose times cannot be compared with those of the others."""
        wanted = f"a timestamp {'with' if zoned else 'without'} time zone, as in predictions"

        def fits(type_: Type) -> bool:
            text = isinstance(type_.dtype, nw.String)
            return text or not is_time(type_, self.unit) or self._has_zone(type_) == zoned

        if all(self.column in types for types in self.log.files.values()):
            self.log.check(self.column, self.setting, fits, wanted)

    def _has_zone(self, type_: Type) -> bool:
        return type_.dtype.is_numeric() or has_zone(type_)


def _check_parts(predictions: OpenLog, model: Model) -> dict[str, Wanted]:
    """Return the configured columns of segments and strata under new names."""
    read = dict[str, Wanted]()
    for name, setting, parts in (
        ("segment", "segments.column", model.segments),
        ("stratum", "strata.column", model.strata),
    ):
        if parts:
            predictions.check(parts.column, setting, lambda _: True, "of any type")
            read[name] = label(parts.column)
    if columns := entity_columns(model.predictions):
        for column in columns:
            predictions.check(column, "predictions.entity", can_be_cast, ID_TYPES)
        read["entity"] = bucket_of(columns)
    return read | _check_watched(predictions, model)


def _check_watched(predictions: OpenLog, model: Model) -> dict[str, Wanted]:
    """Return the watched columns under new names, once each: as numbers if they are cut."""
    cut = {c for w in model.columns if getattr(w, "numeric", False) for c in w.columns}
    read = dict[str, Wanted]()
    for column in watched_columns(model):
        wanted = "a number" if column in cut else "of any type"
        fits = _is_number if column in cut else lambda _: True
        predictions.check(column, "segments", fits, wanted)
        as_text = predictions.is_text and column in cut
        read[watched_name(column)] = number(column, "segments") if as_text else label(column)
    return read


def _check_weight(log: OpenLog, kind: Kind, model: Model) -> dict[str, Wanted]:
    """Return the column of weights of a log under its new name; at most one log has it."""
    named = model.weight_column(kind)
    if named is None:
        return {}
    column, setting = named
    log.check(column, setting, _is_number, "a number")
    return {"weight": number(column, setting) if log.is_text else as_it_is(column)}


def _check_action(log: OpenLog, model: Model) -> dict[str, Wanted]:
    """Return the column that says of a row that it was acted on, under its new name."""
    column = model.action
    if column is None:
        return {}
    log.check(column, "action", _is_true_or_false, "boolean, or an integer 0 or 1")
    return {"acted": outcome(column, "action") if log.is_text else as_it_is(column)}


def _no_outcomes(
    predictions: OpenLog, model: Model, ids: Key, *, observed_at: Wanted | None
) -> Any:
    """Make an empty log with ids and times of the same types as the predictions."""
    times = {"observed_at": observed_at} if observed_at else {}
    read = predictions.read(None, outcome_id=ids.wanted, **times)
    listed = model.outcomes.outcome_means.positive[0] if model.outcomes.outcome_means else 0
    weight = {"weight": nw.lit(1.0)} if model.weight_column("outcomes") else {}
    if may_be_undated(model):
        weight["undated"] = nw.lit(0, nw.Int8)
    if model.predictions.classes:
        weight = {"said": nw.lit("")}
    empty = nw.from_native(read).lazy().head(0)
    with_outcome: Any = empty.with_columns(outcome=nw.lit(listed), **weight)
    return with_outcome.to_native()


def _is_real(type_: Type) -> bool:
    return type_.dtype.is_float() or type_.dtype.is_decimal()


def _is_true_or_false(type_: Type) -> bool:
    return type_.dtype.is_integer() or isinstance(type_.dtype, nw.Boolean)


def _is_number(type_: Type) -> bool:
    return type_.dtype.is_numeric()
