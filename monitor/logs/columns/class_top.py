"""The highest scores of a row with their classes, as vectors in SQL.

A class that is not listed gets the score 0. So the first choice and the pairs of the three highest
scores are those of the whole vector; what needs the other scores is not counted.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from monitor.base.sql_text import text_in_sql
from monitor.config import Classes, Highest
from monitor.logs.engines.conversions import MISFIT, Wanted, quoted
from monitor.logs.engines.types import Type
from monitor.logs.sources.opening import OpenLog

SETTING = "predictions.classes.top"
OF_OUTCOME = ("p_true", "squares")  # of the query, if the log has them
LEAST = 3  # scores of a row: the pairs of first and third choices need them

Write = Callable[[Mapping[str, Type]], str]


def highest_scores(log: OpenLog, classes: Classes, top: Highest) -> tuple[tuple[str, ...], Write]:
    """Check the columns of the highest scores; return them, and how a row becomes a vector."""
    if top.map:
        log.check(top.map, f"{SETTING}.scores", _is_map, "a map of text to floating point numbers")
    for name in top.classes:
        log.check(name, f"{SETTING}.classes", lambda _: True, "of any type")
    for name in () if top.map else top.scores:
        log.check(name, f"{SETTING}.scores", _is_score, "floating point, or a list of it")
    for name in top.outcome:
        log.check(name, SETTING, lambda type_: type_.is_float, "floating point")
    columns = (*top.columns, *top.outcome)
    return columns, lambda types: _vector(classes, top, types)


def scores_of_outcome(top: Highest) -> dict[str, Wanted]:
    """Return how the columns are read that log loss and Brier score are computed from."""
    return {
        name: Wanted((column,), partial(_as_number, column))
        for name, column in zip(OF_OUTCOME, top.outcome, strict=False)
    }


def _as_number(column: str, _: Mapping[str, Type]) -> str:
    return _number(column)


def _number(column: str) -> str:
    return f"TRY_CAST({quoted(column)} AS DOUBLE)"


def _vector(classes: Classes, top: Highest, types: Mapping[str, Type]) -> str:
    if top.map:
        column = quoted(top.map)
        as_read = f"TRY_CAST({column} AS JSON)" if _is_list(types[top.map]) else column
        name = f"TRY_CAST({as_read} AS MAP(VARCHAR, DOUBLE))"
        names, scores = f"map_keys({name})", f"map_values({name})"
    else:
        names, scores = _listed(top.classes, "VARCHAR", types), _listed(top.scores, "DOUBLE", types)
    names_listed = f"[{', '.join(map(text_in_sql, classes.names))}]"
    least = min(LEAST, len(classes.names))
    begin = text_in_sql(f"{MISFIT}a row of {SETTING} has ")
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
