"""Records with several predictions: each element of a list becomes a row of its own.

A row gets the columns `element` and `position`, which counts from 0, beside those of its record. A
record without a list, such as a failed request, is one row in which both are null, so that its
lack of a score is counted; one with an empty list is no row.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import duckdb

from monitor.base.sql_text import text_in_sql
from monitor.config import ELEMENT, FIELD, POSITION, Exploded, expression_of
from monitor.logs.engines.conversions import Type, columns_in, quoted
from monitor.logs.engines.session import Session

LIST = '"the list"'  # the name of the list while it is taken apart
ADDED = (ELEMENT, POSITION)
WHITE = "chr(32) || chr(9) || chr(10) || chr(13)"


@dataclass(frozen=True)
class Way:
    """A list in a record: where it is, and the steps into the value of its column.

    Attributes
    ----------
    column : str
        The column, or an expression.
    steps : tuple of str
        The fields of structs or the keys of JSON that lead to the list.
    separator : str or None
        What is between two elements of a text.
    """

    column: str
    steps: tuple[str, ...]
    separator: str | None


def way_of(exploded: Exploded, names: Iterable[str]) -> Way:
    """Find the column that a way such as response.predictions begins with.

    Examples
    --------
    >>> way_of(Exploded(list="response.predictions"), ["id", "response"])
    Way(column='response', steps=('predictions',), separator=None)
    """
    written, known = exploded.list, {*names}
    if expression_of(written) or written in known:
        return Way(written, (), exploded.separator)
    parts = written.replace(FIELD, ".").split(".")
    begins = (".".join(parts[:end]) for end in range(len(parts), 0, -1))
    column = next((name for name in begins if name in known), parts[0])
    steps = ".".join(parts).removeprefix(column).lstrip(".")
    return Way(column, tuple(steps.split(".")) if steps else (), exploded.separator)


def list_in(way: Way, type_: Type) -> str:
    """Write the list in SQL, given the type of its column; null where there is none.

    Raises
    ------
    ValueError
        If values of this type hold no list; says what they are instead.
    """
    value, kind, steps = quoted(way.column), type_, [*way.steps]
    while steps and kind.is_struct:
        of = kind.fields
        if steps[0] not in of:
            msg = f"has no field '{steps[0]}', only {', '.join(of)}"
            raise ValueError(msg)
        value, kind = f"struct_extract({value}, {text_in_sql(steps[0])})", of[steps.pop(0)]
    if kind.is_text:
        return list_in_text(value, steps, way.separator)
    if kind.is_list and not (steps or way.separator):
        return value
    msg = f"is {type_}, in which no list is at this place"
    raise ValueError(msg)


def list_in_text(value: str, steps: Sequence[str], separator: str | None) -> str:
    """Write the list that a text in SQL holds: of JSON, or of what is between separators."""
    path = text_in_sql("$" + "".join(f'."{step}"' for step in steps))
    if separator is None:
        found = f"TRY(json_extract({value}, {path}))"
        text = f"CASE json_type({found}) WHEN 'VARCHAR' THEN {found}->>'$' ELSE {found} END"
        return (
            f"CASE TRY(json_type({text})) WHEN 'ARRAY' "
            f"THEN TRY(json_extract_string({text}, '$[*]')) END"
        )
    if steps:
        value = f"TRY(json_extract_string({value}, {path}))"
    sign = text_in_sql(separator)
    shorter = f"{value}[:-{len(separator) + 1}]"
    whole = f"CASE WHEN ends_with({value}, {sign}) THEN {shorter} ELSE {value} END"
    pieces = f"list_transform(string_split({whole}, {sign}), x -> trim(x, {WHITE}))"
    return f"CASE WHEN trim({value}, {WHITE}) = '' THEN CAST([] AS VARCHAR[]) ELSE {pieces} END"


def types_of_elements(session: Session, way: Way, types: Mapping[str, Type]) -> dict[str, Type]:
    """Return the types of the columns that are added; the column of the list has a type in `types`.

    Raises
    ------
    ValueError
        If it holds no list; says what it is instead.
    """
    known = {name: f"{types[name]}" for name in columns_in(way.column)}
    element = session.type_of_expression(f"({list_in(way, types[way.column])})[1]", known)
    return {ELEMENT: element, POSITION: Type("BIGINT")}


def explode(rows: duckdb.DuckDBPyRelation, listed: str) -> duckdb.DuckDBPyRelation:
    """Make a row of each element of a list in each row, which is written in SQL."""
    whole = rows.project(f"*, {listed} AS {LIST}")
    none, count = f"CASE WHEN {LIST} IS NULL THEN [NULL]", f"range(len({LIST}))"
    return whole.project(
        f"* EXCLUDE {LIST}, unnest({none} ELSE {LIST} END) AS {ELEMENT}, "
        f"unnest({none} ELSE {count} END) AS {POSITION}"
    )
