"""The columns of the probabilities of a model with classes, as vectors in SQL.

A row of predictions gets `vector`, a list in the order of the configured classes; `score` and
`best`, the highest probability and the first class that has it; `total`, and `off` if that is not
1. So the checks of scores, the join and the tallies treat it like any row: its outcome is whether
the first choice was right. Of a log of the highest scores only, a class that is not listed gets the
score 0: the first choice and the pairs of the three highest scores are those of the whole vector,
and what needs the other scores is not counted.
"""

import difflib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from monitor.base.sql_text import text_in_sql
from monitor.config import Classes, Highest, Model, named
from monitor.logs.engines.conversions import (
    LARGEST_EXACT,
    MISFIT,
    Type,
    Wanted,
    number,
    or_misfit,
    quoted,
)
from monitor.logs.sources.opening import OpenLog
from monitor.metrics.core.grid import END_TOLERANCE

SUM_TOLERANCE = 1e-6
NAMES_SHOWN = 3
VECTOR_TYPES = "a list, a struct or a map of floating point numbers"
LABEL_TYPES = "text or an integer"
VECTOR = "predictions.classes.vector"
TOP = "predictions.classes.top"
OF_OUTCOME = ("p_true", "squares")  # of the query, if the log has them
LEAST = 3  # scores of a row: the pairs of first and third choices need them
Write = Callable[[Mapping[str, Type]], str]


def scores_of_classes(log: OpenLog, classes: Classes) -> dict[str, Wanted]:
    """Check the columns of the probabilities, and return how a row is read."""
    columns, vector = _vector(log, classes)
    count = len(classes.names)

    def of_vector(sql: str) -> Wanted:
        def write(types: Mapping[str, Type]) -> str:
            return sql.replace("{v}", f"({_at_ends(vector(types))})")

        return Wanted(columns, write)

    # `list_sum` and its like are macros of this, which take longer to understand.
    total = "list_aggr({v}, 'sum')"
    whole, off = "{v}", f"abs({total} - 1) > {SUM_TOLERANCE}"
    if classes.sums == "normalise":
        whole, off = "list_transform({v}, x -> x / list_aggr({v}, 'sum'))", "false"
    if classes.top:
        off = f"{total} > 1 + {SUM_TOLERANCE}"
    moved, greatest = _moved(whole, classes), f"list_aggr({whole}, 'max')"
    least = "list_aggr({v}, 'min')"
    return {
        "vector": of_vector(whole),
        "score": of_vector(
            f"CASE WHEN {{v}} IS NULL OR list_aggr({{v}}, 'count') < {count} THEN NULL "
            f"WHEN {least} < 0 THEN {least} "
            + (f"WHEN {greatest} > 1 THEN {greatest} " if classes.weights else "")
            + f"ELSE list_aggr({moved}, 'max') END"
        ),
        "best": of_vector(f"list_position({moved}, list_aggr({moved}, 'max')) - 1"),
        "total": of_vector(total),
        "off": of_vector(f"CAST({off} AS TINYINT)"),
        **(scores_of_outcome(classes.top) if classes.top else {}),
    }


def _at_ends(vector: str) -> str:
    """Write a vector whose probabilities beyond an end by rounding are at that end."""
    inside = f"abs(p - 0.5) <= 0.5 OR abs(p - 0.5) > 0.5 + {END_TOLERANCE!r}"
    mended = f"list_transform(v, p -> CASE WHEN {inside} THEN p WHEN p < 0.5 THEN 0.0 ELSE 1.0 END)"
    is_odd = "list_aggr(v, 'min') < 0 OR list_aggr(v, 'max') > 1"
    # The lambda gives the vector a name, so that it is written and read once.
    return f"list_transform([{vector}], v -> CASE WHEN {is_odd} THEN {mended} ELSE v END)[1]"


def _moved(whole: str, classes: Classes) -> str:
    """Write a vector as it is right for a log that is a sample by class."""
    if not classes.weights:
        return whole
    rates = ", ".join(f"{1.0 / weight!r}::DOUBLE" for weight in classes.weights)
    thinned = f"list_transform({whole}, (p, k) -> p * [{rates}][k])"
    # The lambda gives the products a name, so that they are written and read once.
    return f"list_transform([{thinned}], v -> list_transform(v, p -> p / list_aggr(v, 'sum')))[1]"


def parts_of_vector(log: OpenLog, classes: Classes) -> list[str]:
    """Give the probability of each class in SQL, of logs that were read before."""
    if classes.columns:
        return [quoted(column) for column in classes.columns]
    name, types = quoted(classes.whole), next(iter(log.files.values()), {})
    type_ = types.get(classes.whole)
    if type_ and (type_.is_struct or type_.is_map):
        return [f"{name}[{text_in_sql(of)}]" for of in classes.names]
    as_list = f"TRY_CAST({name} AS DOUBLE[])" if log.is_text else name
    return [f"{as_list}[{place}]" for place in range(1, len(classes.names) + 1)]


def _vector(log: OpenLog, classes: Classes) -> tuple[tuple[str, ...], Any]:
    """Return the columns of the probabilities, and how to write them as a list."""
    if classes.top:
        return highest_scores(log, classes, classes.top)
    if classes.columns:
        for column in classes.columns:
            if not log.check(column, VECTOR, _is_real, "floating point"):
                break
        return classes.columns, lambda types: _of_columns(log, classes.columns, types)
    column = classes.whole
    if log.check(column, VECTOR, _is_vector, VECTOR_TYPES):
        for file, types in log.files.items():
            _check_fields(log, file, types[column], classes)
    return (column,), lambda types: _of_one_column(column, types[column], classes)


def _of_columns(log: OpenLog, columns: Sequence[str], types: Mapping[str, Type]) -> str:
    values = (
        number(column, VECTOR).sql(types) if log.is_text else f"CAST({quoted(column)} AS DOUBLE)"
        for column in columns
    )
    return f"[{', '.join(values)}]"


def _of_one_column(column: str, type_: Type, classes: Classes) -> str:
    name, count = quoted(column), len(classes.names)
    if type_.is_struct:
        of_classes = map(text_in_sql, classes.names)
        fields = (f"CAST(struct_extract({name}, {of}) AS DOUBLE)" for of in of_classes)
        return f"[{', '.join(fields)}]"
    if type_.is_map:
        return of_map(column, f"CAST({name} AS MAP(VARCHAR, DOUBLE))", classes.names)
    if type_.is_text:
        return of_text(
            column, classes.names, _of_list(column, f"TRY_CAST({name} AS DOUBLE[])", count)
        )
    return _of_list(column, f"TRY_CAST({name} AS DOUBLE[])", count)


def _of_list(column: str, as_list: str, count: int) -> str:
    begin = text_in_sql(f"{MISFIT}a row of column '{named(column)}' contains ")
    end = text_in_sql(
        f" probabilities, but predictions.classes.names has {count} classes; correct the log, or "
        f"if the classes changed, list them in the configuration"
    )
    length = f"len({as_list})"
    wrong = f"error({begin} || {length} || {end})"
    return f"CASE WHEN {length} <> {count} THEN {wrong} ELSE {as_list} END"


def _check_fields(log: OpenLog, file: str, type_: Type, classes: Classes) -> None:
    """Note a struct whose fields are not the configured classes."""
    if not type_.is_struct:
        return
    fields = [*type_.fields]
    missing = [name for name in classes.names if name not in fields]
    new = [name for name in fields if name not in classes.names]
    if not (missing or new):
        return
    wrong = " and ".join(
        f"{what} {few_classes(names)}"
        for what, names in (("lacks", missing), ("has besides them", new))
        if names
    )
    near = difflib.get_close_matches(missing[0], new, n=1) if missing else []
    hint = f"did you mean '{near[0]}' by '{missing[0]}'? " if near else ""
    msg = (
        f"{log.session.what}: the classes of column '{classes.whole}' of the predictions are not "
        f"those of predictions.classes.names: it {wrong} ({file}); {hint}"
        f"correct the log, or if the classes changed, list them in predictions.classes.names."
    )
    log.note(msg, "has other classes")


def few_classes(names: Sequence[str]) -> str:
    """List the first of some classes."""
    more = f" and {len(names) - NAMES_SHOWN} more" if len(names) > NAMES_SHOWN else ""
    return ", ".join(f"'{name}'" for name in names[:NAMES_SHOWN]) + more


def _is_real(type_: Type) -> bool:
    return type_.is_real


def _is_vector(type_: Type) -> bool:
    if type_.is_map:
        return _is_map(type_)
    if type_.is_struct:
        return all(field.is_float for field in type_.fields.values())
    return type_.is_list and type_.inner.is_float


def outcome_of_classes(log: OpenLog, model: Model, classes: Classes) -> dict[str, Wanted]:
    """Check the column of outcomes, and return how the class that came true is read.

    A class is its name, or its position from 0 if the names are no numbers. It is -1 if it is
    neither, and null if the log has none.
    """
    column = str(model.outcomes.outcome)  # with classes there always is one
    log.check(column, "outcomes.outcome", _is_label, LABEL_TYPES)

    def write(types: Mapping[str, Type]) -> str:
        said = _said(column, types)
        names = ", ".join(map(text_in_sql, classes.names))
        # Of integers with gaps pandas makes floating point, and CSV has its text: 1.0 is the same
        # as 1. A cast alone would round 1.5 to 2, which is another class.
        whole = rf"regexp_extract({said}, '^\s*(-?\d+)(\.0+)?\s*$', 1)"
        named = (f"list_position([{names}], {label}) - 1" for label in (said, whole))
        place = f"TRY_CAST({whole} AS UBIGINT)"
        inside = f"CASE WHEN {place} < {len(classes.names)} THEN {place} END"
        by_place = [] if classes.has_numbers else [inside]
        choices = [*(f"nullif({position}, -1)" for position in named), *by_place, "-1"]
        return f"CASE WHEN {said} IS NOT NULL THEN coalesce({', '.join(choices)}) END"

    return {
        "outcome": Wanted((column,), write),
        "said": Wanted((column,), lambda types: _said(column, types)),
    }


def _said(column: str, types: Mapping[str, Any]) -> str:
    """Write an outcome as text; pandas makes floating point of integers with gaps."""
    name = quoted(column)
    if not types[column].is_float:
        return f"CAST({name} AS VARCHAR)"
    whole = f"abs({name}) <= {float(LARGEST_EXACT)} AND {name} = floor({name})"
    return (
        f"(CASE WHEN isnan({name}) THEN NULL WHEN {whole} THEN CAST({name} AS BIGINT)::VARCHAR "
        f"ELSE CAST({name} AS VARCHAR) END)"
    )


def _is_label(type_: Type) -> bool:
    return type_.is_text or type_.is_integer or type_.is_float


def of_map(column: str, as_map: str, names: Sequence[str]) -> str:
    """Write a map as a list in the order of the classes; a row with other classes is an error.

    Parameters
    ----------
    column : str
        The column, for messages.
    as_map : str
        The map from text to numbers in SQL, null where the row has none.
    names : sequence of str
        The configured classes.
    """
    listed = f"[{', '.join(map(text_in_sql, names))}]"
    lacks = _shown(f"list_filter({listed}, k -> NOT map_contains(m, k))")
    new = _shown(f"list_filter(map_keys(m), k -> NOT list_contains({listed}, k))")
    begin = text_in_sql(
        f"{MISFIT}a row of column '{named(column)}' does not have the classes of "
        f"predictions.classes.names (missing: "
    )
    end = text_in_sql(
        "); correct the log, or if the classes changed, list them in the configuration"
    )
    wrong = f"error({begin} || {lacks} || '; further: ' || {new} || {end})"
    same = f"cardinality(m) = {len(names)} AND list_has_all(map_keys(m), {listed})"
    values = f"list_transform({listed}, k -> m[k])"
    of_one = f"CASE WHEN m IS NULL THEN NULL WHEN {same} THEN {values} ELSE {wrong} END"
    # The lambda gives the map a name, so that it is written and read once.
    return f"list_transform([{as_map}], m -> {of_one})[1]"


def of_text(column: str, names: Sequence[str], as_list: str) -> str:
    """Write text as a list: an object with a field for each class, or a list of numbers."""
    name = quoted(column)
    as_map = f"TRY_CAST(TRY_CAST({name} AS JSON) AS MAP(VARCHAR, DOUBLE))"
    of_object = of_map(column, as_map, names)
    vector = f"CASE WHEN ltrim({name}) LIKE '{{%' THEN {of_object} ELSE {as_list} END"
    kind = "a list of numbers, or an object with a number for each class"
    return or_misfit(column, vector, kind, VECTOR)


def _shown(names: str) -> str:
    """Write the first of some names."""
    return f"coalesce(nullif(array_to_string({names}[:{NAMES_SHOWN}], ', '), ''), 'none')"


def highest_scores(log: OpenLog, classes: Classes, top: Highest) -> tuple[tuple[str, ...], Write]:
    """Check the columns of the highest scores; return them, and how a row becomes a vector."""
    if top.map:
        log.check(top.map, f"{TOP}.scores", _is_map, "a map of text to floating point numbers")
    for name in top.classes:
        log.check(name, f"{TOP}.classes")
    for name in () if top.map else top.scores:
        log.check(name, f"{TOP}.scores", _is_score, "floating point, or a list of it")
    for name in top.outcome:
        log.check(name, TOP, lambda type_: type_.is_float, "floating point")
    columns = (*top.columns, *top.outcome)
    return columns, lambda types: _vector_of_highest(classes, top, types)


def scores_of_outcome(top: Highest) -> dict[str, Wanted]:
    """Return how the columns are read that log loss and Brier score are computed from."""
    return {name: _as_number(column) for name, column in zip(OF_OUTCOME, top.outcome, strict=False)}


def _as_number(column: str) -> Wanted:
    return Wanted((column,), lambda _: _number(column))


def _number(column: str) -> str:
    return f"TRY_CAST({quoted(column)} AS DOUBLE)"


def _vector_of_highest(classes: Classes, top: Highest, types: Mapping[str, Type]) -> str:
    if top.map:
        column = quoted(top.map)
        as_read = f"TRY_CAST({column} AS JSON)" if _is_list(types[top.map]) else column
        name = f"TRY_CAST({as_read} AS MAP(VARCHAR, DOUBLE))"
        names, scores = f"map_keys({name})", f"map_values({name})"
    else:
        names, scores = _listed(top.classes, "VARCHAR", types), _listed(top.scores, "DOUBLE", types)
    names_listed = f"[{', '.join(map(text_in_sql, classes.names))}]"
    least = min(LEAST, len(classes.names))
    begin = text_in_sql(f"{MISFIT}a row of {TOP} has ")
    end = text_in_sql(
        f"; it needs one score for each of its classes, which must differ, be at least {least} and "
        f"be listed in predictions.classes.names; correct the log, or the configuration"
    )
    said = "'the classes ' || array_to_string(t.k, ', ') || ' and ' || len(t.p) || ' scores'"
    wrong = f"error({begin} || {said} || {end})"
    fits = (
        f"len(t.k) = len(t.p) AND len(t.k) >= {least} AND list_has_all({names_listed}, t.k) "
        f"AND list_unique(t.k) = len(t.k)"
    )
    unknown = ["t.k IS NULL OR t.p IS NULL"]
    unknown += [f"list_aggr(t.{of}, 'count') < len(t.{of})" for of in "kp"]
    unknown += [f"NOT coalesce({_number(of)} BETWEEN 0 AND 1, false)" for of in top.outcome]
    whole = f"list_transform({names_listed}, n -> coalesce(t.p[list_position(t.k, n)], 0.0))"
    of_row = f"CASE WHEN {' OR '.join(unknown)} THEN NULL WHEN {fits} THEN {whole} ELSE {wrong} END"
    # The lambda gives both lists a name, so that they are written and read once.
    return f"list_transform([{{'k': {names}, 'p': {scores}}}], t -> {of_row})[1]"


def _listed(columns: Sequence[str], sql_type: str, types: Mapping[str, Type]) -> str:
    """Write one list column, or several columns, as a list."""
    if len(columns) == 1 and _is_list(types[columns[0]]):
        return f"TRY_CAST({quoted(columns[0])} AS {sql_type}[])"
    return f"[{', '.join(f'TRY_CAST({quoted(column)} AS {sql_type})' for column in columns)}]"


def _is_list(type_: Type) -> bool:
    return type_.is_list or type_.is_text


def _is_map(type_: Type) -> bool:
    return type_.name in {"MAP(VARCHAR, DOUBLE)", "MAP(VARCHAR, FLOAT)"}


def _is_score(type_: Type) -> bool:
    return type_.is_float or type_.is_list
