"""How files of each format are read: one object for each, and all that follows is blind to them."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from duckdb import DuckDBPyConnection as Connection
from duckdb import DuckDBPyRelation as Relation

from monitor.config import FIELD, Format
from monitor.logs.engines.conversions import quoted

# How a CSV is read: nothing but the delimiter is guessed from its rows.
CSV_OPTIONS: dict[str, Any] = {
    "header": True,
    "all_varchar": True,
    "skiprows": 0,
    "quotechar": '"',
    "escapechar": '"',
    "comment": "",
}
SEPARATORS = ",;\t|"
ARRAY = (
    "is no file with an object on each line, such as an array of objects; write it as JSON lines "
    "(pandas: orient='records', lines=True)"
)


@dataclass(frozen=True)
class FileFormat:
    """One format of files.

    Attributes
    ----------
    name : str
        For messages.
    read : callable
        Opens files of equal columns, of which some are needed, with the options of a layout and
        those of every reader.
    names_in : callable
        Lists the names of columns, and of fields of columns, as a file writes them.
    look : callable or None
        Opens a file to see its columns; None if `read` does.
    wrong : callable
        Says why a file with some columns is no table, or raises an error of DuckDB; else nothing.
    is_text : bool
        Whether all values are text, whatever they contain.
    has_keys : bool
        Whether a row may leave out any column, so that columns are asked for by name.
    has_fields : bool
        Whether a column may have fields.
    of_nothing : str
        What DuckDB calls the only column of an empty file.
    remedy : str
        What to do about a file that cannot be read.
    """

    name: str
    read: Callable[[Connection, Any, Sequence[str], Mapping[str, Any], Mapping[str, Any]], Relation]
    names_in: Callable[[Connection, str], list[str]]
    look: Callable[[Connection, str], Relation] | None = None
    wrong: Callable[[Connection, str, Sequence[str]], str] = lambda *_: ""
    is_text: bool = True
    has_keys: bool = False
    has_fields: bool = True
    of_nothing: str = ""
    remedy: str = "write the file again"
    # What readers of tables have too.
    unfit: ClassVar[Mapping[str, Any]] = {}
    schema: ClassVar[Any] = None
    finds_days: ClassVar[bool] = False


def _read_parquet(
    connection: Connection, places: Any, _: Sequence[str], __: Mapping[str, Any], own: Any
) -> Relation:
    return connection.read_parquet(places, **own)


def _names_in_parquet(connection: Connection, place: str) -> list[str]:
    schema = connection.execute(
        "SELECT name, coalesce(num_children, 0) FROM parquet_schema(?)", [place]
    ).fetchall()
    names, above = list[str](), list[tuple[str, int]]()
    for name, children in schema[1:]:  # the first is the root; fields follow their column
        names.append(FIELD.join([*(whole for whole, _ in above), name]))
        above = [*above[:-1], (above[-1][0], above[-1][1] - 1)] if above else above
        above = [*above, (name, children)] if children else above
        while above and not above[-1][1]:
            above.pop()
    return names


def _read_csv(
    connection: Connection, places: Any, _: Sequence[str], layout: Mapping[str, Any], own: Any
) -> Relation:
    return connection.read_csv(places, **{**CSV_OPTIONS, **layout}, **own)


def _names_in_csv(connection: Connection, place: str) -> list[str]:
    rows = connection.read_csv(
        place, header=False, all_varchar=True, skiprows=0, quotechar='"', escapechar='"'
    )
    return [f"{name}" for head in rows.limit(1).fetchall() for name in head]


def _wrong_csv(connection: Connection, place: str, columns: Sequence[str]) -> str:
    """Raise an error for a file whose lines have not the columns of the first."""
    separator = max(SEPARATORS, key=columns[0].count)
    if len(columns) == 1 and separator in columns[0]:
        types = {f"{number}": "VARCHAR" for number in range(columns[0].count(separator) + 1)}
        how = {**CSV_OPTIONS, "all_varchar": False, "sep": separator}
        rows = connection.read_csv(place, **how, auto_detect=False, columns=types)
        rows.aggregate("max(hash(COLUMNS(*)))").fetchall()
    return ""


def _read_json(
    connection: Connection, places: Any, columns: Sequence[str], _: Mapping[str, Any], own: Any
) -> Relation:
    types = with_structs(dict.fromkeys(columns, "VARCHAR"))
    return connection.read_json(places, format="newline_delimited", columns=types, **own)


def _look_at_json(connection: Connection, place: str) -> Relation:
    """Open a file with the keys of its first rows as columns."""
    return connection.read_json(
        place, format="newline_delimited", maximum_depth=1, hive_partitioning=False
    )


def _names_in_json(connection: Connection, place: str) -> list[str]:
    keys = "SELECT DISTINCT unnest(json_keys(json)) FROM read_json_objects(?) ORDER BY 1"
    return [name for (name,) in connection.execute(keys, [place]).fetchall()]


def _wrong_json(connection: Connection, place: str, columns: Sequence[str]) -> str:
    """Say that the first line is no object; nothing is an empty log."""
    if [*columns] != [FORMATS["json"].of_nothing]:
        return ""
    lines = "SELECT json_type(json) FROM read_json_objects(?, format = 'newline_delimited')"
    rows = connection.execute(f"{lines} LIMIT 1", [place]).fetchall()
    return ARRAY if any(kind != "OBJECT" for (kind,) in rows) else ""


USUAL: Format = "parquet"
FORMATS: Mapping[str, FileFormat] = {
    "parquet": FileFormat("Parquet", _read_parquet, _names_in_parquet, is_text=False),
    "csv": FileFormat(
        *("CSV", _read_csv, _names_in_csv, None, _wrong_csv),
        has_fields=False,
        of_nothing="column0",
    ),
    "json": FileFormat(
        *("JSON lines", _read_json, _names_in_json, _look_at_json, _wrong_json),
        has_keys=True,
        of_nothing="json",
        remedy="correct the file so that each line is one JSON object, or write it again",
    ),
}


def with_structs(types: Mapping[str, str]) -> dict[str, str]:
    """Give the types of whole columns from those of columns and of fields of columns.

    Examples
    --------
    >>> with_structs({"id": "VARCHAR", "a" + FIELD + "b": "VARCHAR", "a" + FIELD + "c": "DOUBLE"})
    {'id': 'VARCHAR', 'a': 'STRUCT("b" VARCHAR, "c" DOUBLE)'}
    """
    whole_types, fields = dict[str, str](), defaultdict[str, list[str]](list)
    for column, name in types.items():
        whole, _, field = column.partition(FIELD)
        whole_types[whole] = name
        if field:
            fields[whole].append(f"{quoted(field)} {name}")
    return whole_types | {whole: f"STRUCT({', '.join(parts)})" for whole, parts in fields.items()}
