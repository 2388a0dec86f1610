"""Rows of files and tables that nobody has described, for the queries of DuckDB."""

import re
from collections.abc import Sequence
from datetime import date
from typing import Any

import duckdb
import pyarrow as pa
from fsspec.implementations.local import LocalFileSystem

from monitor.config import PredictionLog
from monitor.files import list_files, open_filesystem
from monitor.logs.conversions import quoted, text
from monitor.logs.session import Session
from monitor.logs.tables import TABLE_NAMES, open_table

MOST_LEAVES = 200  # fields of structs that are looked at


def open_rows(
    session: Session,
    place: str,
    format_: str,
    day: date | None,
    *,
    most: int | None = None,
    files: int | None = None,
    columns: Sequence[str] = (),
    nested: bool = False,
) -> duckdb.DuckDBPyRelation | None:
    """Open rows; columns of a format without types are texts.

    The fields of structs of files are columns too, with dotted names.

    Parameters
    ----------
    session : Session
        Runs the queries.
    place : str
        A path template, or the folder of a table.
    format_ : str
        Such as `parquet` or `delta`.
    day : date or None
        The day to read; None if the path names none.
    most : int, optional
        At most so many rows.
    files : int, optional
        At most so many files of a day.
    columns : sequence of str
        The columns to read from a table; by default all that are not nested.
    nested : bool
        Whether columns of files are given as they are.

    Returns
    -------
    DuckDBPyRelation or None
        None if there are no files.
    """
    if format_ in TABLE_NAMES:
        return _rows_of_table(session, place, format_, most, columns)
    # A place without {day} is a template too: any day gives its files.
    names = list_files(place, day or date.min)[: files if day else None]
    if not names:
        return None
    rows = _rows_of_files(session, names, format_, nested=nested)
    # Parquet counts its rows in the footer, and a limit keeps filters and threads from the files.
    few = format_ == "parquet" and most and len(rows) <= most
    return rows if few or most is None else rows.limit(most)


def ask(session: Session, query: str) -> tuple[Any, ...]:
    """Return the only row of a query."""
    row = session.connection.execute(query).fetchone()
    assert row is not None
    return row


def tables(session: Session) -> set[str]:
    """List the tables and views of the connection."""
    return {name for (name,) in session.connection.execute("SHOW TABLES").fetchall()}


def add(session: Session, query: str, table: str) -> None:
    """Add rows to a table, in which a column that some of them lack is null."""
    connection = session.connection
    if table not in tables(session):
        connection.execute(f"CREATE TABLE {table} AS {query}")
    elif set(connection.sql(query).columns) <= set(connection.table(table).columns):
        connection.execute(f"INSERT INTO {table} BY NAME {query}")
    else:
        both = f"SELECT * FROM {table} UNION ALL BY NAME ({query})"
        connection.execute(f"CREATE OR REPLACE TABLE {table} AS {both}")


def _rows_of_files(
    session: Session, names: Sequence[str], format_: str, *, nested: bool
) -> duckdb.DuckDBPyRelation:
    filesystem, _ = open_filesystem(names[0])
    if isinstance(filesystem, LocalFileSystem):
        names = [name.removeprefix("file://") for name in names]
    else:
        session.read_through(filesystem, names)
    rows = _opened(session, names, format_)
    if nested:
        return rows
    leaves = leaves_of(rows)
    kept = [
        quoted(name)
        for name in rows.columns
        if format_ == "parquet" or name not in {leaf.partition(".")[0] for leaf in leaves}
    ]
    fields = [f"{sql} AS {quoted(name)}" for name, sql in leaves.items()]
    flat = rows.select(", ".join([*kept, *fields])) if leaves else rows
    return flat if format_ != "json" else flat.select("COLUMNS(*)::VARCHAR")


def leaves_of(rows: duckdb.DuckDBPyRelation) -> dict[str, str]:
    """List the fields of structs, however deep, as a dotted name and as SQL.

    A name that is also that of a column is left out.
    """
    leaves = dict[str, str]()
    waiting: list[tuple[str, str, Any]] = [
        (name, quoted(name), native)
        for name, native in zip(rows.columns, rows.types, strict=True)
        if native.id == "struct"
    ]
    while waiting:
        name, sql, native = waiting.pop(0)
        for field, inner in native.children:
            below = f"{name}.{field}", f"{sql}.{quoted(field)}", inner
            if inner.id == "struct":
                waiting.append(below)
            elif inner.id not in ("list", "map", "array", "union") and len(leaves) < MOST_LEAVES:
                leaves[below[0]] = below[1]
    return {name: sql for name, sql in leaves.items() if name not in rows.columns}


def _opened(session: Session, names: Sequence[str], format_: str) -> duckdb.DuckDBPyRelation:
    listed = "[" + ", ".join("'" + name.replace("'", "''") + "'" for name in names) + "]"
    columns, options = {
        "parquet": ("*", f"read_parquet({listed}, hive_types_autocast = false, "),
        "csv": ("*", f"read_csv({listed}, all_varchar = true, "),
        "json": ("*", f"read_json({listed}, format = 'auto', "),
    }[format_]
    query = f"SELECT {columns} FROM {options} hive_partitioning = true)"
    rows = session.connection.sql(query)
    types = dict(zip(rows.columns, map(str, rows.types), strict=True))
    if format_ != "json" or "UUID" not in types.values():
        return rows
    # A UUID is recognised in text, and would lose its letters in upper case.
    in_path = re.findall(r"([^/=]+)=[^/]*/", names[0])
    read = {n: "VARCHAR" if t == "UUID" else t for n, t in types.items() if n not in in_path}
    written = ", ".join(f"{text(name)}: {text(type_)}" for name, type_ in read.items())
    return session.connection.sql(query.replace("'auto', ", f"'auto', columns = {{{written}}}, "))


def _rows_of_table(
    session: Session, place: str, format_: str, most: int | None, columns: Sequence[str]
) -> duckdb.DuckDBPyRelation:
    """Copy rows of a table, which can be read only once; any column may date it here."""
    table = open_table(PredictionLog.model_validate({"path": place, "format": format_, "day": "-"}))
    plain = [field.name for field in table.schema if not pa.types.is_nested(field.type)]
    rows = session.connection.from_arrow(table.scan(columns or plain, "", ()))
    rows = rows if most is None else rows.limit(most)
    session.connection.execute("DROP TABLE IF EXISTS rows_of_table")
    rows.create("rows_of_table")
    return session.connection.table("rows_of_table")
