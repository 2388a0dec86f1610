"""Which class came true, in SQL."""

from collections.abc import Mapping
from typing import Any

from monitor.base.sql_text import text_in_sql
from monitor.config import Classes, Model
from monitor.logs.engines.conversions import Wanted, quoted
from monitor.logs.engines.types import Type
from monitor.logs.sources.opening import OpenLog

LABEL_TYPES = "text or an integer"
LARGEST_EXACT = 2.0**53  # integers up to this one are exact in floating point


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
        by_place = [] if has_numbers(classes) else [inside]
        choices = [*(f"nullif({position}, -1)" for position in named), *by_place, "-1"]
        return f"CASE WHEN {said} IS NOT NULL THEN coalesce({', '.join(choices)}) END"

    return {
        "outcome": Wanted((column,), write),
        "said": Wanted((column,), lambda types: _said(column, types)),
    }


def has_numbers(classes: Classes) -> bool:
    """Return whether all names are integers, so that a number in the log is a name."""
    return all(name.lstrip("-").isdecimal() for name in classes.names)


def _said(column: str, types: Mapping[str, Any]) -> str:
    """Write an outcome as text; pandas makes floating point of integers with gaps."""
    name = quoted(column)
    if not types[column].is_float:
        return f"CAST({name} AS VARCHAR)"
    whole = f"abs({name}) <= {LARGEST_EXACT} AND {name} = floor({name})"
    return (
        f"(CASE WHEN isnan({name}) THEN NULL WHEN {whole} THEN CAST({name} AS BIGINT)::VARCHAR "
        f"ELSE CAST({name} AS VARCHAR) END)"
    )


def _is_label(type_: Type) -> bool:
    return type_.is_text or type_.is_integer or type_.is_float
