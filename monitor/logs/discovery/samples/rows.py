"""Rows of files, tables and queries that nobody has described, for the queries of DuckDB."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any, cast

import duckdb
from fsspec.implementations.local import LocalFileSystem

from monitor.base.errors import DataError
from monitor.base.sql_text import text_in_sql
from monitor.config import FIELD, Exploded, Format, PredictionLog
from monitor.days.files import list_files, open_filesystem
from monitor.logs.discovery.samples.columns import PLAIN, in_sql
from monitor.logs.engines.conversions import quoted
from monitor.logs.engines.session import NESTED, Layout, Session, readable
from monitor.logs.sources.exploding import take_apart
from monitor.logs.sources.tables import TABLE_NAMES, Table, open_table

MOST_LEAVES = 200  # values within nested columns that are looked at
MOST_PLACES = 30  # of a list that is looked into
ROUNDED = 1e-3  # how far the sum of probabilities may be from 1
MOST_FILES = 30  # whose names are looked at for twins
LOOKED_AT = 100  # rows that say what is in texts and maps
OF_JSON = {
    **dict.fromkeys(("BIGINT", "UBIGINT", "HUGEINT", "DOUBLE", "BOOLEAN"), True),
    **dict.fromkeys(("VARCHAR", "DATE", "TIMESTAMP", "TIME", "UUID"), False),
}  # types that a text in JSON is cast to, or not
# As `CSV_OPTIONS` of runs, in SQL.
CSV_AS_IT_IS = (
    "all_varchar = true, header = true, skip = 0, quote = '\"', escape = '\"', comment = ''"
)
VECTOR_OF_SPARK = ["type", "size", "indices", "values"]  # fields of a struct
LEAST_FILLED = 0.3  # share of the rows that have a list, which may be that of a failure
LEAST_OPTIONS = 3  # with a probability each
SUM_TOLERANCE = 0.01  # of the probabilities of classes
TEXTUAL = ("csv", "json")  # formats without types
LISTS = "list", "array"
WHOLE = ("tinyint", "smallint", "integer", "bigint", "utinyint", "usmallint", "uinteger", "ubigint")


@dataclass(frozen=True)
class Leaf:
    """A value within a nested column, or within JSON in a text, that is read as a column.

    Attributes
    ----------
    name : str
        Such as `payload.score`, `scores[2]` or `features['score']`.
    whole : str
        The column that has it.
    read : str
        SQL that reads it here.
    written : str
        The expression that the configuration needs.
    """

    name: str
    whole: str
    read: str
    written: str


@dataclass(frozen=True)
class Taken:
    """A list that is taken apart, so that each element is a row: the setting, and it in SQL."""

    exploded: Exploded
    listed: str


@dataclass(frozen=True)
class Source:
    """Where the rows of a log are.

    Attributes
    ----------
    place : str
        A path template, the folder of a table, or a query.
    format : str
        Such as `parquet`, `delta` or `sql`.
    connection : str or None
        The environment variable with the address of a database.
    dated_by : str or None
        The column of a query that dates its rows.
    leaves : tuple of Leaf
        What lists, maps and JSON in texts hold; the fields of structs are in their types.
    taken : Taken or None
        The list in each record that is taken apart.
    kept : str
        SQL of the rows that count, in the names of the sample; empty for all.
    layout : Layout or None
        How files of CSV are laid out, if not with a header.
    """

    place: str
    format: str
    connection: str | None = None
    dated_by: str | None = None
    leaves: tuple[Leaf, ...] = ()
    taken: Taken | None = None
    kept: str = ""
    layout: Layout | None = None


def open_rows(
    session: Session,
    source: Source,
    day: date | None,
    *,
    most: int | None = None,
    files: int | None = None,
    columns: Sequence[str] = (),
    nested: bool = False,
) -> duckdb.DuckDBPyRelation | None:
    """Open rows; columns of a format without types are texts.

    What is within nested columns is columns too, with names such as `payload.score`.

    Parameters
    ----------
    session : Session
        Runs the queries.
    source : Source
        Where they are.
    day : date or None
        The day to read; None if neither a path nor a query tells days apart.
    most : int, optional
        At most so many rows.
    files : int, optional
        At most so many files of a day.
    columns : sequence of str
        The columns to read from a table; by default all. What a list is taken apart into needs all.
    nested : bool
        Whether columns are given as they are.

    Returns
    -------
    DuckDBPyRelation or None
        None if there are no files.
    """
    if source.format in TABLE_NAMES:
        only = () if source.taken or nested else columns
        return _flat(_rows_of_table(session, source, day, most, only), source, nested=nested)
    found = files_of(source, day)
    names = [name for name in found if name not in session.refused][: files if day else None]
    if not names:
        if found and day is None:
            raise DataError(session.refused[found[0]])
        return None
    rows = _rows_of_files(session, names, source, nested=nested)
    # Parquet counts its rows in the footer, and a limit keeps filters and threads from the files.
    few = source.format == "parquet" and most and len(rows) <= most
    return rows if few or most is None else rows.limit(most)


def files_of(source: Source, day: date | None) -> list[str]:
    """List the files of a day as DuckDB names them; none of a table."""
    if source.format in TABLE_NAMES:
        return []
    # A place without {day} is a template too: any day gives its files.
    names = list_files(source.place, day or date.min)
    local = bool(names) and isinstance(open_filesystem(names[0])[0], LocalFileSystem)
    return [name.removeprefix("file://") for name in names] if local else names


def ask(session: Session, query: str) -> tuple[Any, ...]:
    """Return the only row of a query."""
    (row,) = session.connection.execute(query).fetchall()
    return tuple(row)


def has_table(session: Session, name: str) -> bool:
    """Say whether the connection has a table; to list all of them takes four times as long.

    The drafts of queries are attached beside it, and may have a table of the same name.
    """
    here = "database_name = current_database() AND schema_name = current_schema()"
    found = f"SELECT count(*) FROM duckdb_tables() WHERE {here} AND table_name = ?"
    return session.connection.execute(found, [name]).fetchall() == [(1,)]


def add(session: Session, query: str, table: str) -> None:
    """Add rows to a table, in which a column that some of them lack is null."""
    connection = session.connection
    if not has_table(session, table):
        connection.execute(f"CREATE TABLE {table} AS {query}")
    elif set(connection.sql(query).columns) <= set(connection.table(table).columns):
        connection.execute(f"INSERT INTO {table} BY NAME {query}")
    else:
        both = f"SELECT * FROM {table} UNION ALL BY NAME ({query})"
        connection.execute(f"CREATE OR REPLACE TABLE {table} AS {both}")


def leaves_of(rows: duckdb.DuckDBPyRelation, format_: str) -> list[Leaf]:
    """List the fields of structs, however deep, by their types."""
    fields = [leaf for leaf, native in walk(rows, format_) if native.id not in NESTED]
    return [leaf for leaf in fields if leaf.name not in rows.columns][:MOST_LEAVES]


def look_into(rows: duckdb.DuckDBPyRelation, format_: str) -> Iterator[Leaf]:
    """List what short lists, maps and JSON in texts hold, by some rows."""
    few, vectors = rows.limit(LOOKED_AT), set[str]()
    for leaf, native in walk(rows, format_):
        if native.id == "struct" and [name for name, _ in native.children] == VECTOR_OF_SPARK:
            vectors.add(leaf.name)
            yield _of_vector(leaf)
        elif native.id == "struct" and format_ == "json" and leaf.name != leaf.whole:
            if _has_numbers(kind.id for _, kind in native.children):
                yield Leaf(leaf.name, leaf.whole, f"to_json({leaf.read})", leaf.written)
        elif leaf.name.rpartition(".")[0] not in vectors:
            yield from _within(few, leaf, native, format_)


def _has_numbers(kinds: Iterable[str]) -> bool:
    """Tell whether an object has several numbers and nothing else, as the options of an answer."""
    listed = [kind.lower() for kind in kinds]
    return len(listed) >= LEAST_OPTIONS and {*listed} <= {"double", "float"}


def _of_vector(leaf: Leaf) -> Leaf:
    """Read the probability of 1 from a vector of Spark, which may keep only what is not 0."""
    read, written = (
        f"CASE WHEN {name}.type = 1 THEN {name}.values[2] "
        f"WHEN {name}.indices[1] = 1 THEN {name}.values[1] "
        f"WHEN {name}.indices[2] = 1 THEN {name}.values[2] "
        f"WHEN {name}.type = 0 THEN 0.0 END"
        for name in (leaf.read, leaf.written)
    )
    return Leaf(f"{leaf.name} of 1", leaf.whole, read, written)


def _within(few: duckdb.DuckDBPyRelation, leaf: Leaf, native: Any, format_: str) -> Iterator[Leaf]:
    """List what a list, a map or JSON in a text holds; fields of structs below a list too."""
    if native.id in LISTS:
        child = dict(native.children)["child"]
        if (fields := _option_of(child)) and _are_options(few, leaf, child, *fields):
            yield from _options(few, leaf, *fields, format_)
            return
        for place in range(_length(few, f"len({leaf.read})", plain=child.id not in NESTED)):
            item = _item(leaf, place, format_)
            inside = [(item, child)]
            if child.id == "struct":
                inside = [(_field(item, name, format_), kind) for name, kind in child.children]
            for inner, kind in inside:
                if kind.id not in NESTED:
                    yield inner
                yield from _within(few, inner, kind, format_)
    elif native.id == "map" and f"{native.children[0][1]}" == "VARCHAR":
        keys = few.project(f"unnest(map_keys({leaf.read})) AS k").aggregate("k").order("k")
        for (key,) in keys.limit(MOST_LEAVES).fetchall():
            yield _key_of_map(leaf, key)
    elif native.id == "varchar":
        yield from _within_text(few, leaf)


def _within_text(few: duckdb.DuckDBPyRelation, leaf: Leaf) -> Iterator[Leaf]:
    """List what JSON in a text holds, and what a text in base64 is, a number or JSON."""
    begins = f"({leaf.read} LIKE '{{%' OR {leaf.read} LIKE '[%')"
    is_json = f"{begins} AND json_valid({leaf.read})"
    document = f"TRY_CAST({leaf.read} AS JSON)"
    decoded = f"TRY(decode(from_base64({leaf.read})))"
    number = f"TRY_CAST({decoded} AS DOUBLE)"
    texts = f"({decoded} LIKE '{{%' AND json_valid({decoded}))"
    all_are = (f"coalesce(bool_and({t}), false)" for t in (f"{number} IS NOT NULL", texts))
    described = few.filter(f"{leaf.read} <> ''").aggregate(
        f"json_group_structure(CASE WHEN {is_json} THEN {document} END)::VARCHAR, "
        f"{', '.join(all_are)}"
    )
    ((structure, are_numbers, are_documents),) = described.fetchall()
    inside = f"decode(from_base64({leaf.written}))"
    if are_numbers:
        yield Leaf(f"{leaf.name} decoded", leaf.whole, number, f"CAST({inside} AS DOUBLE)")
    elif are_documents:
        yield from _within_text(few, Leaf(f"{leaf.name} decoded", leaf.whole, decoded, inside))
    yield from _within_json(few.filter(is_json), leaf, json.loads(structure) if structure else None)


def _length(few: duckdb.DuckDBPyRelation, size: str, *, plain: bool) -> int:
    """Return the length of lists that all have as many elements; 0 if they differ.

    A list of several objects is several predictions; one of several numbers may be those of the
    classes.
    """
    sizes = f"min({size}), max({size}), count({size}) >= {LEAST_FILLED} * count(*)"
    ((least, most, filled),) = few.aggregate(sizes).fetchall()
    fits = filled and least == most and 1 <= (most or 0) <= (MOST_PLACES if plain else 1)
    return int(most) if fits else 0


def _option_of(child: Any) -> tuple[str, str] | None:
    """Name the fields of a record that is an option, a text or an integer, with a probability."""
    kinds = dict(child.children) if child.id == "struct" else {}
    options = [name for name, kind in kinds.items() if kind.id in ("varchar", *WHOLE)]
    numbers = [name for name, kind in kinds.items() if kind.id in ("double", "float")]
    both = len(kinds) == len(options) + len(numbers) and len(options) == len(numbers) == 1
    return (options[0], numbers[0]) if both else None


def _are_options(
    few: duckdb.DuckDBPyRelation, leaf: Leaf, child: Any, option: str, number: str
) -> bool:
    """Tell options of one record from several predictions: their integers have all of it."""
    values = f"list_transform({leaf.read}, x -> x.{quoted(number)})"
    return dict(child.children)[option].id == "varchar" or adds_up(few, values)


def _options(
    few: duckdb.DuckDBPyRelation, leaf: Leaf, option: str, number: str, format_: str
) -> Iterator[Leaf]:
    """List the options that have a probability each, as the keys of a map."""
    of, p = quoted(option), quoted(number)
    keys = few.project(f"unnest({leaf.read}).{of} AS k").filter("k IS NOT NULL").aggregate("k")
    values = f"list_transform({leaf.read}, x -> x.{of}), list_transform({leaf.read}, x -> x.{p})"
    written = map_of_options(leaf, option, number, format_)
    for (key,) in keys.order("k").limit(MOST_LEAVES).fetchall():
        text = f"[{text_in_sql(f'{key}')}]"
        own = text if isinstance(key, str) else f"[{key}]"
        step = text if format_ == "json" else own
        yield Leaf(f"{leaf.name}{text}", leaf.whole, f"map({values}){own}", f"{written}{step}")


def map_of_options(leaf: Leaf, option: str, number: str, format_: str) -> str:
    """Write the probabilities of options as a map, as the configuration needs it."""
    if format_ != "json":
        return f"map_from_entries({leaf.written})"
    of, p = (_in_text(leaf, f"[*].{_key(key)}") for key in (option, number))
    return f"map({of}, CAST({p} AS DOUBLE[]))"


def adds_up(rows: duckdb.DuckDBPyRelation, vector: str) -> bool:
    """Return whether lists of numbers are the probabilities of classes."""
    total = f"abs(list_aggr({vector}, 'sum') - 1)"
    ((farthest,),) = rows.aggregate(f"max({total})").fetchall()
    return farthest is not None and farthest < ROUNDED


def walk(rows: duckdb.DuckDBPyRelation, format_: str) -> Iterator[tuple[Leaf, Any]]:
    """Walk through the columns, and the fields of those that are structs."""
    waiting: list[tuple[Leaf, Any]] = [
        (Leaf(name, name, quoted(name), in_sql(name)), native)
        for name, native in zip(rows.columns, rows.types, strict=True)
    ]
    while waiting:
        leaf, native = waiting.pop(0)
        yield leaf, native
        if native.id == "struct":
            waiting += [(_field(leaf, name, format_), kind) for name, kind in native.children]


def _within_json(documents: duckdb.DuckDBPyRelation, leaf: Leaf, structure: Any) -> Iterator[Leaf]:
    """List the plain values of documents, given the types of their keys."""
    waiting = [(list[str | int](), structure)] if structure else []
    listed = 0
    while waiting and listed < MOST_LEAVES:
        steps, kind = waiting.pop(0)
        path = text_in_sql("$" + "".join(map(_step, steps)))
        if isinstance(kind, dict):
            waiting += [([*steps, key], inner) for key, inner in kind.items()]
            if steps and _has_numbers(f"{inner}" for inner in kind.values()):
                name, inside = _name_within(leaf, steps), _in_text_of(leaf)
                yield Leaf(name, leaf.whole, f"({leaf.read}->>{path})", f"{inside}->>{path}")
        elif isinstance(kind, list) and kind:
            plain = isinstance(kind[0], str)
            size = f"json_array_length({leaf.read}, {path})"
            size = f"CASE WHEN json_type({leaf.read}, {path}) = 'ARRAY' THEN {size} END"
            if plain and _length(documents, size, plain=True) > 1:
                size = f"CASE WHEN {_adds_up(leaf.read, path)} THEN {size} ELSE 0 END"
            places = range(_length(documents, size, plain=plain))
            waiting += [([*steps, place], kind[0]) for place in places]
        elif isinstance(kind, str) and kind in OF_JSON and steps:
            listed += 1
            inside = _in_text_of(leaf)
            read, written = f"{leaf.read}->>{path}", f"{inside}->>{path}"
            if OF_JSON[kind]:
                read, written = f"TRY_CAST({read} AS {kind})", f"CAST({written} AS {kind})"
            within = Leaf(_name_within(leaf, steps), leaf.whole, f"({read})", written)
            yield within
            if kind == "VARCHAR":
                yield from _within_text(documents, within)


def _name_within(leaf: Leaf, steps: Sequence[str | int]) -> str:
    return leaf.name + "".join(f"[{s}]" if isinstance(s, int) else f".{s}" for s in steps)


def _adds_up(read: str, path: str) -> str:
    """Write whether numbers are the probabilities of classes, rather than several predictions."""
    numbers = f"TRY_CAST(json_extract({read}, {path}) AS DOUBLE[])"
    return f"abs(list_sum({numbers}) - 1) < {SUM_TOLERANCE}"


def _in_text_of(leaf: Leaf) -> str:
    """Write a text in which JSON is looked for; one that JSON holds itself in parentheses."""
    return f"({leaf.written})" if "->>" in leaf.written else leaf.written


def _step(step: str | int) -> str:
    return f"[{step}]" if isinstance(step, int) else f".{_key(step)}"


def json_path(keys: Sequence[str]) -> str:
    """Write the way to a value in JSON as SQL does."""
    return text_in_sql(f"$.{'.'.join(map(_key, keys))}")


def _field(leaf: Leaf, name: str, format_: str) -> Leaf:
    written = (
        _in_text(leaf, f".{_key(name)}") if format_ == "json" else f"{leaf.written}.{in_sql(name)}"
    )
    return Leaf(f"{leaf.name}.{name}", leaf.whole, f"{leaf.read}.{quoted(name)}", written)


def _key_of_map(leaf: Leaf, key: str) -> Leaf:
    step = f"[{text_in_sql(key)}]"
    return Leaf(f"{leaf.name}{step}", leaf.whole, f"{leaf.read}{step}", f"{leaf.written}{step}")


def _item(leaf: Leaf, place: int, format_: str) -> Leaf:
    first = f"[{place + 1}]"
    written = _in_text(leaf, f"[{place}]") if format_ == "json" else f"{leaf.written}{first}"
    return Leaf(f"{leaf.name}{first}", leaf.whole, f"{leaf.read}{first}", written)


def _in_text(leaf: Leaf, step: str) -> str:
    """Write a step further into an object of JSON lines, whose columns are texts."""
    return f"{leaf.written[:-1]}{step}'" if "->>" in leaf.written else f"{leaf.written}->>'${step}'"


def _key(name: str) -> str:
    return name if PLAIN.fullmatch(name) else f'"{name}"'


def _rows_of_files(
    session: Session, names: Sequence[str], source: Source, *, nested: bool
) -> duckdb.DuckDBPyRelation:
    filesystem, _ = open_filesystem(names[0])
    local = isinstance(filesystem, LocalFileSystem)
    if not local:
        session.read_through(filesystem, names)
    form = cast("Format", source.format)
    session.files.update(dict.fromkeys(names, form))
    session.lay_out(names, source.layout)
    for name in names if local else ():
        session.must_be_whole(name, form)
    if source.layout:
        return _flat(session.read(names, form), source, nested=nested)
    rows = _opened(session, names, form, by_name=local and form == "parquet")
    return _flat(rows, source, nested=nested)


def _flat(
    rows: duckdb.DuckDBPyRelation, source: Source, *, nested: bool
) -> duckdb.DuckDBPyRelation:
    """Take lists apart, and make columns of what is within others, unless they are to be nested."""
    if source.taken:
        rows = take_apart(rows, source.taken.listed)
    if nested:
        return rows
    leaves = [*leaves_of(rows, source.format)]
    kept = [
        quoted(name)
        for name in rows.columns
        if source.format not in TEXTUAL or name not in {leaf.whole for leaf in leaves}
    ]
    leaves += [leaf for leaf in source.leaves if leaf.whole in rows.columns]
    fields = [f"{leaf.read} AS {quoted(leaf.name)}" for leaf in leaves]
    flat = rows.select(", ".join([*kept, *fields])) if leaves else rows
    flat = flat if source.format != "json" else flat.select("COLUMNS(*)::VARCHAR")
    return flat.filter(source.kept) if source.kept else flat


def _opened(
    session: Session, names: Sequence[str], format_: Format, *, by_name: bool
) -> duckdb.DuckDBPyRelation:
    """Open files; `by_name`, one may have columns that others lack, or cannot say their types.

    With files in an object store that would deadlock; see `Session.read`.
    """
    listed = f"[{', '.join(map(text_in_sql, names))}]"
    columns, options = {
        "parquet": ("*", f"read_parquet({listed}, hive_types_autocast = false, "),
        "csv": ("*", f"read_csv({listed}, {CSV_AS_IT_IS}, "),
        "json": ("*", f"read_json({listed}, format = 'newline_delimited', "),
    }[format_]
    unite = "union_by_name = true, " if by_name and len(names) > 1 else ""
    query = f"SELECT {columns} FROM {options} {unite}hive_partitioning = true)"
    rows = session.connection.sql(query)
    in_path = re.findall(r"([^/=]+)=[^/]*/", names[0])
    session.must_be_a_table(names[0], format_, [c for c in rows.columns if c not in in_path])
    single = _single(session, names, format_, rows)
    if len(single) < len(rows.columns):
        query = query.replace("SELECT *", f"SELECT {', '.join(map(quoted, single))}")
        rows = session.connection.sql(query)
    types = dict(zip(rows.columns, map(str, rows.types), strict=True))
    if format_ != "json" or "UUID" not in types.values():
        return rows
    # A UUID is recognised in text, and would lose its letters in upper case.
    read = {n: "VARCHAR" if t == "UUID" else t for n, t in types.items() if n not in in_path}
    written = ", ".join(
        f"{text_in_sql(name)}: {text_in_sql(type_)}" for name, type_ in read.items()
    )
    return session.connection.sql(
        query.replace("'newline_delimited', ", f"'newline_delimited', columns = {{{written}}}, ")
    )


def _single(
    session: Session, names: Sequence[str], format_: Format, rows: duckdb.DuckDBPyRelation
) -> list[str]:
    """List the columns of some files that can be read: without twins, or structs with some.

    Raises
    ------
    DataError
        If there are none.
    """
    single = rows.columns
    for name in names[:MOST_FILES]:
        own = session.single(name, format_, rows)
        if twins := session.twins.get(name):
            whole = {twin.partition(FIELD)[0] for twin in twins}
            single = [column for column in single if column in own and column not in whole]
    if not single:
        listed = ", ".join(readable(session.twins[names[0]]))
        msg = (
            f"{names[0]}: upper and lower case do not differ in names, so none of {listed} can be "
            f"read; rename all but one."
        )
        raise DataError(msg)
    return single


def table_of(source: Source) -> Table:
    """Open a table or a query; any column may date it here."""
    rows = {"path": source.place}
    if source.format == "sql":
        rows = {"sql": source.place, "connection": f"{source.connection}"}
    return open_table(
        PredictionLog.model_validate(
            {**rows, "format": source.format, "day": source.dated_by or "-"}
        )
    )


def _rows_of_table(
    session: Session,
    source: Source,
    day: date | None,
    most: int | None,
    columns: Sequence[str],
) -> duckdb.DuckDBPyRelation:
    """Copy rows of a table, which can be read only once."""
    table = table_of(source)
    within = {leaf.name: leaf.whole for leaf in source.leaves}
    columns = [*dict.fromkeys(within.get(name, name) for name in columns)]
    known = [field.name for field in table.schema if field.name not in table.unfit]
    ranges = ((day, day + timedelta(1)),) if day else ()
    rows = session.connection.from_arrow(
        table.scan(columns or known, source.dated_by or "", ranges)
    )
    rows = rows if most is None else rows.limit(most)
    session.connection.execute("DROP TABLE IF EXISTS rows_of_table")
    rows.create("rows_of_table")
    return session.connection.table("rows_of_table")
