"""What the columns of a row mean: its id, its score, its part, its outcome.

Ids are written in SQL, because they are made where the files are opened; everything else is written
in Narwhals. Neither runs anything.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import narwhals as nw

from monitor.config import (
    Model,
    OutcomeLog,
    OutcomeMeans,
    PredictionLog,
    Segments,
    id_columns,
    named,
)
from monitor.logs.conversions import MISFIT, Wanted, as_type, quoted
from monitor.logs.session import Frame, Type
from monitor.sql_text import text_in_sql

Cast = Literal["integer", "uuid", "text"]
LARGEST_EXACT = 2**53  # of the integers that a DOUBLE holds
DIGITS_OF = {"FLOAT": 24, "DOUBLE": 53}  # binary digits of a number


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
        as_they_are = self.columns[1:] and not (self.cast or self.text_as)
        names = self.names if as_they_are else ()
        return Wanted(self.columns, lambda types: key_sql(self, types), names)


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
    as_text = isinstance(type_.dtype, (nw.String, nw.Binary))
    return as_text or is_number(type_) or type_.name == "UUID"


def is_number(type_: Type) -> bool:
    """Return whether ids of this type are compared by their value."""
    return is_whole(type_) or type_.dtype.is_float()


def is_whole(type_: Type) -> bool:
    """Return whether values of this type are whole numbers, of any width; decimals may be."""
    return type_.dtype.is_integer() or bool(WHOLE_DECIMAL.fullmatch(type_.name))


def can_be_cast(type_: Type) -> bool:
    """Return whether ids of this type can be converted."""
    text = isinstance(type_.dtype, nw.String) or type_.name == "UUID"
    return text or is_whole(type_) or type_.dtype.is_float()


def likely_cast(first: Type, second: Type) -> Cast:
    """Return what ids of two types would most likely have to be converted to."""
    types = first, second
    if any(type_.name == "UUID" for type_ in types):
        return "uuid"
    numbers = [type_.dtype.is_numeric() for type_ in types]
    is_real = any(type_.dtype.is_float() for type_ in types)
    return "integer" if all(numbers) or is_real else "text"


def prepare_predictions(rows: Frame, model: Model) -> Frame:
    """Make of each score a probability, and add `part` and `predicted`."""
    score = nw.col("score").cast(nw.Float64)
    rows = _weighted(rows, model, "predictions")
    if model.action:
        is_acted = nw.col("acted").cast(nw.Int8) == 1
        rows = rows.with_columns(acted=choose([(is_acted, nw.lit(1))], nw.lit(0)))
    return rows.with_columns(
        score=_as_probability(score, model.predictions.score_means),
        part=_place(rows, "segment", model.segments) * len(model.stratum_names)
        + _place(rows, "stratum", model.strata),
        predicted=nw.lit(1, nw.Int8),
    )


def known_outcomes(rows: Frame) -> Frame:
    """Leave out rows of a log of outcomes whose outcome is nan: one that is not known."""
    if not rows.collect_schema()["outcome"].is_float():
        return rows
    return rows.filter(nw.col("outcome").is_null() | ~nw.col("outcome").is_nan())


def prepare_outcomes(rows: Frame, model: Model) -> Frame:
    """Make of each outcome a number, and add `observed`."""
    means = model.outcomes.outcome_means
    rows = _weighted(rows, model, "outcomes")
    observed = nw.lit(1, nw.Int8)
    if model.predictions.classes:
        return rows.with_columns(observed=observed)
    dtype = rows.collect_schema()["outcome"]
    if means:
        said = nw.col("outcome").cast(nw.String)
        return rows.with_columns(_meant(dtype, means), said=said, observed=observed)
    # Only if all files have booleans, or decimals, is a cast needed.
    outcome = nw.col("outcome")
    if isinstance(dtype, nw.Boolean):
        outcome = outcome.cast(nw.Int8)
    elif dtype.is_decimal():
        outcome = outcome.cast(nw.Float64)
    return rows.with_columns(outcome, observed=observed)


def wrong_meaning(type_: Type, means: OutcomeMeans) -> str | None:
    """Say which kind of values `outcome_means` must list for a column, if it lists another."""
    kinds = {type(value) for value in (*means.positive, *means.negative)}
    if isinstance(type_.dtype, nw.Boolean):
        return None if kinds == {bool} else "true or false"
    if type_.dtype.is_numeric():
        return None if kinds <= {int, float} else "numbers without quotes"
    return None if kinds <= {str, int} else "texts (in quotes, because YAML reads yes as true)"


WHOLE_DECIMAL = re.compile(r"DECIMAL\(\d+, ?0\)", re.IGNORECASE)  # as warehouses write integers
FEW = 16  # listed values that are compared one after the other


def choose(cases: Sequence[tuple[nw.Expr, nw.Expr]], otherwise: nw.Expr) -> nw.Expr:
    """Return the value of the first case that is true."""
    for condition, value in reversed(cases):
        otherwise = nw.when(condition).then(value).otherwise(otherwise)
    return otherwise


def _weighted(rows: Frame, model: Model, kind: Literal["predictions", "outcomes"]) -> Frame:
    """Make weights numbers, where they were read: counts of arrivals need none."""
    if not model.weight_column(kind) or "weight" not in rows.collect_schema().names():
        return rows
    return rows.with_columns(nw.col("weight").cast(nw.Float64))


def _as_probability(score: nw.Expr, means: str) -> nw.Expr:
    if means == "percent":
        return score / 100.0
    if means == "logit":
        return 1.0 / (1.0 + (-score).exp())
    return 1.0 - score if means == "probability_of_0" else score


def _meant(dtype: nw.dtypes.DType, means: OutcomeMeans) -> nw.Expr:
    """Write the outcome as 1, 0, or null for a value that is not listed."""
    outcome = nw.col("outcome")
    positive, negative = list(means.positive), list(means.negative)
    if not (dtype.is_numeric() or isinstance(dtype, nw.Boolean)):
        outcome = outcome.cast(nw.String)
        positive, negative = list(map(str, positive)), list(map(str, negative))
    hit, miss = nw.lit(1, nw.Int8), nw.lit(0, nw.Int8)
    negatives = nw.when(outcome.is_in(negative)).then(miss)
    return nw.when(outcome.is_in(positive)).then(hit).otherwise(negatives).alias("outcome")


def _place(rows: Frame, name: str, parts: Segments | None) -> nw.Expr:
    """Return each row's part: its index in the listed values, or the index after the last."""
    if parts is None:
        return nw.lit(0)
    value, listed = nw.col(name).cast(nw.String), parts.values
    if len(listed) <= FEW:
        if rows.implementation.is_duckdb():  # which looks up each value of a dictionary once
            indices = [*range(len(listed))]
            return value.replace_strict([*listed], indices, default=nw.lit(len(listed)))
        cases = [(value == item, nw.lit(place)) for place, item in enumerate(listed)]
        return choose(cases, nw.lit(len(listed)))
    is_listed = value.is_in([*listed])
    return choose([(is_listed, _place_among(value, listed, 0))], nw.lit(len(listed)))


def _place_among(value: nw.Expr, listed: Sequence[str], first: int) -> nw.Expr:
    """Find the index of a listed value by halves: a chain of 500 cases is too deep for a query."""
    if len(listed) == 1:
        return nw.lit(first)
    middle = len(listed) // 2
    low, high = listed[:middle], listed[middle:]
    below = _place_among(value, low, first)
    return choose([(value.is_in([*low]), below)], _place_among(value, high, first + middle))


def _cast_sql(column: str, type_: Type, cast: Cast | None) -> str:
    name = quoted(column)
    if type_.dtype.is_float() and cast in (None, "integer"):
        return _whole_sql(column, type_, or_null=cast is not None)
    if cast is None:
        return name
    if cast == "text":
        return f"CAST({name} AS VARCHAR)"
    if cast == "uuid":
        return f"TRY_CAST({name} AS UUID)"
    if not isinstance(type_.dtype, nw.String):
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
