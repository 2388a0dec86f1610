"""What the columns of a row mean: its id, its score, its part, its outcome.

All is SQL, and nothing runs. Ids are made where the files are opened, everything else in steps over
the rows that were read.

The bucket of an entity is the same with every engine, on every day, for ever: it is made of the
first eight hexadecimal digits of the MD5 of the entity as text, modulo 64, so an id has one bucket,
whether a log writes it as an integer or as text. Of several columns it is the MD5 of their MD5s one
after the other: those have one length, so no separator can be part of a value. An entity that is
null, or has a part that is null, has no bucket of its own.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from monitor.base.sql_text import text_in_sql
from monitor.config import (
    Model,
    OutcomeLog,
    OutcomeMeans,
    PredictionLog,
    Segments,
    id_columns,
    named,
)
from monitor.logs.engines.conversions import (
    LARGEST_EXACT,
    MISFIT,
    Type,
    Wanted,
    as_type,
    misfit,
    outcome,
    quoted,
)
from monitor.logs.engines.steps import KNOWN, SCORED, Steps, first_true, literal, place
from monitor.logs.sources.opening import OpenLog
from monitor.metrics.core.buckets import BUCKETS

Cast = Literal["integer", "uuid", "text"]
DIGITS_OF = {"FLOAT": 24, "DOUBLE": 53}  # binary digits of a number
WHOLE_DECIMAL = re.compile(r"DECIMAL\(\d+, ?0\)", re.IGNORECASE)  # as warehouses write integers
OUTCOME_TYPES = "integer, boolean or floating point"
PREDICTED_LABEL = "predictions.predicted_label"


@dataclass(frozen=True)
class Key:
    """The columns that identify a row, the same for both logs but for the names of columns.

    Attributes
    ----------
    columns, names : tuple of str
        The columns in this log, and the names of the parts of the key in messages.
    cast : str or None
        What every column is converted to.
    text_as : tuple of str
        The types in SQL that text columns are converted to without a `cast`, and the setting that
        is to blame; empty if the columns have types.
    """

    columns: tuple[str, ...]
    names: tuple[str, ...]
    cast: Cast | None
    text_as: tuple[tuple[str, str], ...] = ()

    @property
    def wanted(self) -> Wanted:
        """The id of a row, to be read."""
        return Wanted(self.columns, lambda types: key_sql(self, types))


def key_of(log: PredictionLog | OutcomeLog, model: Model) -> Key:
    """Return how the ids of a log are made."""
    names = tuple(map(named, id_columns(model.predictions)))
    return Key(id_columns(log), names, model.ids.cast if model.ids else None)


def key_sql(key: Key, types: Mapping[str, Type]) -> str:
    """Write the id of a row in SQL; it is null if a part is null or cannot be converted."""
    parts = [_cast_sql(column, types[column], key.cast) for column in key.columns]
    if key.text_as:
        parts = [as_type(c, *wanted) for c, wanted in zip(key.columns, key.text_as, strict=True)]
    if len(parts) == 1:
        return parts[0]
    fields = ", ".join(
        f"{text_in_sql(n)}: {part}" for n, part in zip(key.names, parts, strict=True)
    )
    incomplete = " OR ".join(f"{part} IS NULL" for part in parts)
    return f"CASE WHEN {incomplete} THEN NULL ELSE {{{fields}}} END"


def is_id(type_: Type) -> bool:
    """Return whether ids of this type are compared without a `cast`; of floats, whole numbers."""
    as_text = type_.is_text or type_.name == "BLOB"
    return as_text or is_number(type_) or type_.name == "UUID"


def is_number(type_: Type) -> bool:
    """Return whether ids of this type are compared by their value."""
    return is_whole(type_) or type_.is_float


def is_whole(type_: Type) -> bool:
    """Return whether values of this type are whole numbers, of any width; decimals may be."""
    return type_.is_integer or bool(WHOLE_DECIMAL.fullmatch(type_.name))


def can_be_cast(type_: Type) -> bool:
    """Return whether ids of this type can be converted."""
    text = type_.is_text or type_.name == "UUID"
    return text or is_whole(type_) or type_.is_float


def likely_cast(first: Type, second: Type) -> Cast:
    """Return what ids of two types would most likely have to be converted to."""
    types = first, second
    if any(type_.name == "UUID" for type_ in types):
        return "uuid"
    numbers = [type_.is_number for type_ in types]
    is_real = any(type_.is_float for type_ in types)
    return "integer" if all(numbers) or is_real else "text"


def steps_of_rows(
    model: Model,
    scored: Mapping[str, Type],
    known: Mapping[str, Type],
    *,
    of_days: bool = False,
) -> Steps:
    """Write the steps `predictions` and `outcomes`, with canonical columns, of rows that were read.

    Parameters
    ----------
    model : Model
        Says what their values mean.
    scored, known : mapping of str to Type
        The columns of the rows of both logs.
    of_days : bool
        Whether they are of many days: then `day` is part of `part`, and `own` says which
        predictions are only there for their ids.
    """
    predictions = _with(_of_predictions(model, of_days=of_days), SCORED, scored)
    if not model.outcomes.in_predictions:
        return [("predictions", predictions), *outcome_steps(model, known)]
    weighted = model.weight_column("outcomes") is not None
    outcome = _of_outcomes(model, scored["outcome"], weighted=weighted)
    unknown = "outcome IS NULL" + " OR isnan(outcome)" * scored["outcome"].is_float
    nothing = dict.fromkeys(("id", "outcome_id"), "CAST(NULL AS BIGINT)")
    seen = {"observed": f"CASE WHEN {unknown} THEN NULL ELSE CAST(1 AS TINYINT) END"}
    both = _with({**outcome, **nothing, **seen}, "prepared", scored)
    return [
        ("prepared", predictions),
        ("predictions", both),
        ("outcomes", "SELECT * FROM predictions WHERE observed IS NOT NULL"),
    ]


def outcome_steps(model: Model, known: Mapping[str, Type]) -> Steps:
    """Write the step `outcomes`; a row whose outcome is nan is one that is not known, so no row."""
    weighted = model.weight_column("outcomes") is not None and "weight" in known
    values = _of_outcomes(model, known["outcome"], weighted=weighted)
    values["observed"] = "CAST(1 AS TINYINT)"
    rows = _with(values, KNOWN, known)
    if known["outcome"].is_float:
        rows += " WHERE outcome IS NULL OR NOT isnan(outcome)"
    return [("outcomes", rows)]


def _with(values: Mapping[str, str], rows: str, columns: Mapping[str, Type]) -> str:
    """Add columns to rows, some in the place of others of the same name."""
    replaced = ", ".join(name for name in values if name in columns)
    star = f"* EXCLUDE ({replaced})" if replaced else "*"
    added = "".join(f", {value} AS {name}" for name, value in values.items())
    return f"SELECT {star}{added} FROM {rows}"


def _of_predictions(model: Model, *, of_days: bool) -> dict[str, str]:
    """Make of each score a probability, and add `part` and `predicted`."""
    segment = _place("segment", model.segments)
    part = f"{segment} * {len(model.stratum_names)} + {_place('stratum', model.strata)}"
    parts = len(model.segment_names) * len(model.stratum_names)
    values = {
        "score": as_probability("CAST(score AS DOUBLE)", model.predictions.score_means),
        "part": f"day * {parts} + {part}" if of_days else part,
        "predicted": "own" if of_days else "CAST(1 AS TINYINT)",
    }
    if model.weight_column("predictions"):
        values["weight"] = "CAST(weight AS DOUBLE)"
    if model.action:
        values["acted"] = "CASE WHEN CAST(acted AS TINYINT) = 1 THEN 1 ELSE 0 END"
    return values


def _of_outcomes(model: Model, type_: Type, *, weighted: bool) -> dict[str, str]:
    """Make of each outcome a number."""
    means = model.outcomes.outcome_means
    values = {"weight": "CAST(weight AS DOUBLE)"} if weighted else {}
    if model.predictions.classes:
        return values
    if means:
        said = "CAST(outcome AS STRING)"
        return values | {"outcome": _meant(type_, means), "said": said}
    # Only if all files have booleans, or decimals, is a cast needed.
    kind = "TINYINT" if type_.is_boolean else "DOUBLE" if type_.is_decimal else None
    return values | ({"outcome": f"CAST(outcome AS {kind})"} if kind else {})


def wrong_meaning(type_: Type, means: OutcomeMeans) -> str | None:
    """Say which kind of values `outcome_means` must list for a column, if it lists another."""
    kinds = {type(value) for value in (*means.positive, *means.negative)}
    if type_.is_boolean:
        return None if kinds == {bool} else "true or false"
    if type_.is_number:
        return None if kinds <= {int, float} else "numbers without quotes"
    return None if kinds <= {str, int} else "texts (in quotes, because YAML reads yes as true)"


def as_probability(score: str, means: str) -> str:
    """Write a score as a probability, as `predictions.score_means` says."""
    if means == "percent":
        return f"{score} / 100e0"
    if means == "logit":
        return f"1e0 / (1e0 + exp(-{score}))"
    return f"1e0 - {score}" if means == "probability_of_0" else score


def _meant(type_: Type, means: OutcomeMeans) -> str:
    """Write the outcome as 1, 0, or null for a value that is not listed."""
    as_it_is = type_.can_be_outcome
    outcome = "outcome" if as_it_is else "CAST(outcome AS STRING)"
    write = literal if as_it_is else lambda value: text_in_sql(f"{value}")
    cases = [
        (f"{outcome} IN ({', '.join(map(write, values))})", f"CAST({number} AS TINYINT)")
        for number, values in ((1, means.positive), (0, means.negative))
        if values
    ]
    return first_true(cases, "NULL")


def _place(name: str, parts: Segments | None) -> str:
    """Write each row's part: its index in the listed values, or the index after the last."""
    if parts is None:
        return "0"
    # DuckDB looks up each value of a dictionary once.
    found = place(parts.values, f"CAST({name} AS STRING)")
    return f"coalesce(CAST({found} AS INTEGER) - 1, {len(parts.values)})"


def _cast_sql(column: str, type_: Type, cast: Cast | None) -> str:
    name = quoted(column)
    if type_.is_float and cast in (None, "integer"):
        return _whole_sql(column, type_, or_null=cast is not None)
    if cast is None:
        return name
    if cast == "text":
        return f"CAST({name} AS VARCHAR)"
    if cast == "uuid":
        return f"TRY_CAST({name} AS UUID)"
    if not type_.is_text:
        return f"TRY_CAST({name} AS HUGEINT)"
    # A cast alone would round 1.5 to 2 and so join it to another id.
    whole = rf"regexp_full_match({name}, '\s*[+-]?\d+\s*')"
    return f"CASE WHEN {whole} THEN TRY_CAST({name} AS HUGEINT) END"


def _whole_sql(column: str, type_: Type, *, or_null: bool) -> str:
    """Write a floating-point number as a whole one; of one so large that it is several, an error.

    A fraction is an error too, or null.
    """
    name, native = quoted(column), type_.name
    digits = DIGITS_OF.get(native, DIGITS_OF["DOUBLE"])
    begin = text_in_sql(f"{MISFIT}column '{named(column)}' contains '")
    ids = f"CAST(least(pow(2, floor(log2(abs({name}))) - {digits - 1}), 1e18) AS HUGEINT)"
    lost = text_in_sql(
        f" ids: a {native} holds whole numbers up to {2**digits:,} one by one, so ids were lost "
        f"when the log was written; write them as integers or text"
    )
    which = text_in_sql("', which is ")
    fraction = text_in_sql("', which is no whole number, and so no id; correct the log")
    value = f"{begin} || CAST({name} AS VARCHAR)"
    otherwise = "NULL" if or_null else f"error({value} || {fraction})"
    return (
        f"CASE WHEN {name} IS NULL OR isnan({name}) THEN NULL "
        f"WHEN isfinite({name}) AND abs({name}) > {2**digits} "
        f"THEN error({value} || {which} || {ids} || {lost}) "
        f"WHEN {name} = floor({name}) AND isfinite({name}) THEN TRY_CAST({name} AS HUGEINT) "
        f"ELSE {otherwise} END"
    )


def entity_columns(log: PredictionLog) -> tuple[str, ...]:
    """List the columns that together say whom or what a row is about; none without the key."""
    named = log.entity
    return () if named is None else (named,) if isinstance(named, str) else named


def bucket_of(columns: tuple[str, ...]) -> Wanted:
    """Read the bucket of the entity that columns name; null without one."""

    def write(types: Mapping[str, Any]) -> str:
        # Of the first eight digits, these two matter modulo 64.
        digits = f"'0x' || substr({_digest_sql(columns, types)}, 7, 2)"
        return f"CAST(CAST({digits} AS INTEGER) % {BUCKETS} AS TINYINT)"

    return Wanted(columns, write)


def digest_of(columns: tuple[str, ...]) -> Wanted:
    """Read the whole digest of the entity that columns name; null without one."""
    return Wanted(columns, lambda types: _digest_sql(columns, types))


def _digest_sql(columns: tuple[str, ...], types: Mapping[str, Any]) -> str:
    digests = [f"md5({_text_sql(quoted(column), types[column])})" for column in columns]
    return digests[0] if len(digests) == 1 else f"md5({' || '.join(digests)})"


def _text_sql(column: str, type_: Any) -> str:
    """Write an id as text; a whole floating-point number, as pandas makes of ids with gaps."""
    if not type_.is_float:
        return f"CAST({column} AS VARCHAR)"
    whole = f"{column} = floor({column}) AND abs({column}) <= {LARGEST_EXACT}"
    return f"CASE WHEN {whole} THEN CAST(CAST({column} AS BIGINT) AS VARCHAR) END"


def labels_of(predictions: OpenLog, column: str, model: Model) -> OutcomeMeans | None:
    """Check the column of labels, and return what they stand for; None if they are 0 and 1."""
    means = model.predictions.label_means or model.outcomes.outcome_means
    if means is None:
        wanted = f"{OUTCOME_TYPES} (or list its values in predictions.label_means)"
        predictions.check(column, PREDICTED_LABEL, lambda type_: type_.can_be_outcome, wanted)
    elif predictions.check(column, PREDICTED_LABEL):
        own = model.predictions.label_means is not None
        setting = (
            "predictions.label_means"
            if own
            else "predictions.label_means is not set, and outcomes.outcome_means"
        )
        check_meanings(predictions, column, setting, means)
    return means


def check_meanings(log: OpenLog, column: str, setting: str, means: OutcomeMeans) -> None:
    """Note a column that cannot have the values that a setting lists."""
    for type_ in dict.fromkeys(types[column] for types in log.files.values() if column in types):
        if kind := wrong_meaning(type_, means):
            msg = (
                f"{log.session.what}: {setting} lists values that column '{column}' cannot have, "
                f"because it is {type_}; list {kind}."
            )
            log.note(msg, "has another type")


def score_of_label(score: Wanted, label: str, means: OutcomeMeans | None) -> Wanted:
    """Read a score as it is beside a label that stands for 1, and 1 minus it beside the other.

    A row without a label has no score. A label that stands for neither stops the day.

    Parameters
    ----------
    score : Wanted
        The probability of the label.
    label : str
        The column of the label.
    means : OutcomeMeans or None
        Which labels stand for 1 and 0; None if they are 1 and 0.
    """

    def write(types: Mapping[str, Any]) -> str:
        type_, name = types[label], quoted(label)
        missing = f"{name} IS NULL"
        if type_.is_float:
            missing += f" OR isnan({name})"
        said, positive, negative = _said(label, type_, means)
        wrong = misfit(
            label, "a label that stands for 1 or 0", "list it in predictions.label_means"
        )
        return (
            f"CASE WHEN {missing} THEN NULL "
            f"WHEN {said} IN ({positive}) THEN CAST({score.sql(types)} AS DOUBLE) "
            f"WHEN {said} IN ({negative}) THEN 1 - CAST({score.sql(types)} AS DOUBLE) "
            f"ELSE {wrong} END"
        )

    return Wanted((*score.columns, label), write)


def _said(label: str, type_: Type, means: OutcomeMeans | None) -> tuple[str, str, str]:
    """Write a label in SQL so that it can be compared, and the values that stand for 1 and 0."""
    as_it_is = type_.can_be_outcome
    if means is None:
        said = quoted(label) if as_it_is else outcome(label, PREDICTED_LABEL).sql({})
        return f"CAST({said} AS DOUBLE)", "1", "0"
    written = str if as_it_is else lambda value: text_in_sql(str(value))
    positive, negative = (
        ", ".join(map(written, values)) for values in (means.positive, means.negative)
    )
    return quoted(label) if as_it_is else f"CAST({quoted(label)} AS VARCHAR)", positive, negative
