"""Probabilities by the name of their class, as vectors in SQL: maps, and objects in text."""

from collections.abc import Sequence

from monitor.base.sql_text import text_in_sql
from monitor.config import named
from monitor.logs.engines.conversions import MISFIT, or_misfit, quoted

SETTING = "predictions.classes.vector"
NAMES_SHOWN = 3


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
    return or_misfit(column, vector, kind, SETTING)


def _shown(names: str) -> str:
    """Write the first of some names."""
    return f"coalesce(nullif(array_to_string({names}[:{NAMES_SHOWN}], ', '), ''), 'none')"
