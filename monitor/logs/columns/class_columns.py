"""The columns of the probabilities of a model with classes, as vectors in SQL.

A row of predictions gets `vector`, a list in the order of the configured classes; `score` and
`best`, the highest probability and the first class that has it; `total`, and `off` if that is not
1. So the checks of scores, the join and the tallies treat it like any row: its outcome is whether
the first choice was right.
"""

import difflib
from collections.abc import Mapping, Sequence
from typing import Any

from monitor.base.sql_text import text_in_sql
from monitor.config import Classes, named
from monitor.logs.columns.class_objects import of_map, of_text
from monitor.logs.columns.class_top import highest_scores, scores_of_outcome
from monitor.logs.engines.conversions import MISFIT, Wanted, number, quoted
from monitor.logs.engines.types import Type
from monitor.logs.sources.opening import OpenLog
from monitor.metrics.core.grid import END_TOLERANCE

SUM_TOLERANCE = 1e-6
NAMES_SHOWN = 3
VECTOR_TYPES = "a list, a struct or a map of floating point numbers"


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
    whole = "{v}"
    if classes.sums == "normalise":
        whole = "list_transform({v}, x -> x / list_aggr({v}, 'sum'))"
    off = "false" if classes.sums == "normalise" else f"abs({total} - 1) > {SUM_TOLERANCE}"
    off = f"{total} > 1 + {SUM_TOLERANCE}" if classes.top else off
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
            if not log.check(column, "predictions.classes.vector", _is_real, "floating point"):
                break
        return classes.columns, lambda types: _of_columns(log, classes.columns, types)
    column = classes.whole
    if log.check(column, "predictions.classes.vector", _is_vector, VECTOR_TYPES):
        for file, types in log.files.items():
            _check_fields(log, file, types[column], classes)
    return (column,), lambda types: _of_one_column(column, types[column], classes)


def _of_columns(log: OpenLog, columns: Sequence[str], types: Mapping[str, Type]) -> str:
    setting = "predictions.classes.vector"
    values = (
        number(column, setting).sql(types) if log.is_text else f"CAST({quoted(column)} AS DOUBLE)"
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
        return type_.name in {"MAP(VARCHAR, DOUBLE)", "MAP(VARCHAR, FLOAT)"}
    if type_.is_struct:
        return all(field.is_float for field in type_.fields.values())
    return type_.is_list and type_.inner.is_float
