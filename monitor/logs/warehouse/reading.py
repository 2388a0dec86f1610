"""What the statement reads of the logs of a model: the rows of some days, and their values."""

from collections.abc import Sequence
from dataclasses import dataclass

from monitor.config import OutcomeMeans, Segments, id_columns
from monitor.logs.columns.rows import as_probability
from monitor.logs.engines.steps import first_true
from monitor.logs.warehouse.asked import Asked, Log
from monitor.logs.warehouse.dialects import translated

LARGEST_LOGIT = 700  # whose exponential is a number in every warehouse
Named = Sequence[tuple[str, str]]  # values with their names


@dataclass(frozen=True)
class Span:
    """The days that are counted, in SQL.

    Attributes
    ----------
    first, last : str
        The first and the last day of predictions.
    known : str
        The last day whose outcomes are there.
    """

    first: str
    last: str
    known: str


def select(columns: Named, rest: str) -> str:
    """Write a query of values with names."""
    listed = ",\n    ".join(f"{value} AS {name}" for name, value in columns)
    return f"  SELECT {listed}\n  {rest}"


def scored(asked: Asked, span: Span, among: str | None = None) -> str:
    """Read the predictions of the days, of all ids or of those that a table has."""
    log = asked.model.predictions
    rows = _of_days(asked, log, span.first, span.last) + _among(asked, log, among)
    return select(_of_prediction(asked), rows)


def observed(asked: Asked, span: Span, among: str | None = None) -> str:
    """Read the outcomes that may belong to the days, of all ids or of those that a table has."""
    log = asked.model.outcomes
    columns = [
        ("seen_on", asked.as_day(asked.day_of(log))),
        *((f"outcome_{name}", value) for name, value in _ids(asked, log)),
        *_outcome(asked),
    ]
    last = asked.dialect.after(span.last, asked.model.settled_after)
    known = "".join(f" AND ({part})" for part in _known(asked))
    rows = _of_days(asked, log, span.first, last, span.known)
    return select(columns, rows + known + _among(asked, log, among))


def ids_before(asked: Asked, span: Span, days: int, among: str | None = None) -> str:
    """Read the ids of the predictions of the days and of some days before, whatever the filter."""
    log = asked.model.predictions
    columns = [("asked_on", asked.as_day(asked.day_of(log))), *_ids(asked, log)]
    first = asked.dialect.after(span.first, -days)
    rows = _of_days(asked, log, first, span.last, chosen_only=False)
    return select(columns, rows + _among(asked, log, among))


def scored_before(asked: Asked, span: Span, days: int) -> str:
    """Read the predictions of the days and of some days before; `own` is 1 for those that count."""
    log = asked.model.predictions
    counts = [f"{asked.day_of(log)} >= {span.first}"]
    if log.where:
        place = f"models.{asked.name}.predictions.where"
        counts.append(translated(log.where, asked.language, place))
    own = ("own", f"CASE WHEN {' AND '.join(counts)} THEN 1 ELSE 0 END")
    first = asked.dialect.after(span.first, -days)
    rows = _of_days(asked, log, first, span.last, chosen_only=False)
    return select([*_of_prediction(asked), own], rows)


def _of_prediction(asked: Asked) -> list[tuple[str, str]]:
    """Write the values of a prediction."""
    log = asked.model.predictions
    times = [("scored_at", asked.value(log.time, "predictions.time"))] if log.time else []
    return [
        ("scored_on", asked.as_day(asked.day_of(log))),
        *([] if asked.joined else _ids(asked, log)),
        ("score", _probability(asked)),
        *((name, _label(asked, name, parts)) for name, parts in parts_of(asked)),
        *(times if asked.timed else []),
        *(_outcome(asked) if asked.joined else []),
    ]


def _among(asked: Asked, log: Log, table: str | None) -> str:
    """Choose the rows whose id a table has, and those without one."""
    if table is None:
        return ""
    ids = [value for _, value in _ids(asked, log)]
    missing = " OR ".join(f"{value} IS NULL" for value in ids)
    return f" AND (({', '.join(ids)}) IN (SELECT * FROM {table}) OR {missing})"


def parts_of(asked: Asked) -> list[tuple[str, Segments]]:
    """List the columns whose values are counted separately, with the names they get."""
    both = ("segment", asked.model.segments), ("stratum", asked.model.strata)
    return [(name, parts) for name, parts in both if parts]


def _of_days(asked: Asked, log: Log, first: str, *until: str, chosen_only: bool = True) -> str:
    """Choose the rows from one day to others, by the column as it is."""
    day, kind = asked.day_of(log), asked.kind_of(log)
    conditions = [f"{day} >= {first}"]
    conditions += [f"{day} < {asked.dialect.after(end, 1)}" for end in until]
    if log.where and chosen_only:
        place = f"models.{asked.name}.{kind}.where"
        conditions.append(translated(log.where, asked.language, place))
    return f"FROM {rows_of_log(log, kind)}\n  WHERE {' AND '.join(conditions)}"


def rows_of_log(log: Log, kind: str) -> str:
    """Write where the rows of a log are."""
    named = log.path if log.catalog else kind
    return f"(\n{log.sql}\n  ) AS {kind}" if log.sql else named


def left_out(asked: Asked, log: Log, span: Span) -> str:
    """Count the rows of each day that the filter of a log leaves out, and all rows."""
    place = f"models.{asked.name}.{asked.kind_of(log)}.where"
    chosen = f"CASE WHEN {translated(f'{log.where}', asked.language, place)} THEN 0 ELSE 1 END"
    columns = [
        ("on_day", asked.as_day(asked.day_of(log))),
        ("left_out", asked.as_whole(f"sum({chosen})")),
        ("of", asked.as_whole("count(*)")),
    ]
    columns = [(asked.dialect.quoted(name), value) for name, value in columns]
    rows = _of_days(asked, log, span.first, span.last, chosen_only=False)
    return select(columns, f"{rows}\n  GROUP BY {columns[0][1]}")


def _ids(asked: Asked, log: Log) -> list[tuple[str, str]]:
    """Write the parts of an id."""
    setting = f"{asked.kind_of(log)}.id"
    values = [asked.value(column, setting) for column in id_columns(log)]
    values = [asked.as_text(value) for value in values] if asked.model.ids else values
    return [*zip(asked.keys, values, strict=True)]


def _label(asked: Asked, name: str, parts: Segments) -> str:
    """Write the value of a segment or stratum."""
    setting = "segments.column" if name == "segment" else "strata.column"
    return asked.as_text(asked.value(parts.column, setting))


def _probability(asked: Asked) -> str:
    """Write the score as a probability."""
    log = asked.model.predictions
    score = asked.as_real(asked.value(log.score, "predictions.score"))
    probability = as_probability(score, log.score_means)
    if log.score_means != "logit":
        return probability
    cases = [
        (f"{score} IS NULL OR {asked.dialect.is_nan.format(score)}", score),
        (f"{score} < -{LARGEST_LOGIT}", "0e0"),
        (f"{score} > {LARGEST_LOGIT}", "1e0"),
    ]
    return first_true(cases, probability)


def _outcome(asked: Asked) -> list[tuple[str, str]]:
    """Write the outcome as a number, whether there is one, and its time if it is needed."""
    log = asked.model.outcomes
    if log.outcome is None:
        columns = [("outcome", asked.as_real("1"))]
    else:
        value = asked.value(log.outcome, "outcomes.outcome")
        means = log.outcome_means
        number = _meant(asked, value, means) if means else value
        columns = [("outcome", asked.as_real(number))]
        if asked.joined:
            there = " AND ".join([f"{value} IS NOT NULL", *(f"({p})" for p in _known(asked))])
            columns.append(("has_outcome", f"CASE WHEN {there} THEN 1 ELSE 0 END"))
    if asked.keeps_times and log.time:
        columns.append(("observed_at", asked.value(log.time, "outcomes.time")))
    return columns


def _known(asked: Asked) -> list[str]:
    """Write that an outcome is not nan, as pandas writes what is not known; if it is a number."""
    log = asked.model.outcomes
    means = log.outcome_means
    listed = (*means.positive, *means.negative) if means else ()
    if log.outcome is None or any(isinstance(each, str | bool) for each in listed):
        return []
    value = asked.value(log.outcome, "outcomes.outcome")
    return [f"{value} IS NULL OR NOT {asked.dialect.is_nan.format(asked.as_real(value))}"]


def _meant(asked: Asked, value: str, means: OutcomeMeans) -> str:
    """Write an outcome as 1 or 0, or null for a value that is not listed."""
    as_text = any(isinstance(each, str) for each in (*means.positive, *means.negative))

    def listed(values: Sequence[str | bool | float]) -> str:
        write = asked.dialect.literal if as_text else str.upper
        return ", ".join(write(str(each)) for each in values)

    value = asked.as_text(value) if as_text else value
    cases = [(f"{value} IN ({listed(means.positive)})", "1")]
    return first_true([*cases, (f"{value} IN ({listed(means.negative)})", "0")], "NULL")
