"""DuckDB for one day: its files, views and queries, and what its errors mean."""

import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from traceback import walk_tb
from typing import Any, TypeVar

import duckdb
import pyarrow as pa
from fsspec import AbstractFileSystem

from monitor.base.errors import DataError, Fault
from monitor.base.files import limited, list_folder, reaching
from monitor.config import FIELD, Engine, Format
from monitor.logs.engines.compressed import LONGEST_MAGIC, PACKED, how_packed, what_is_damaged
from monitor.logs.engines.conversions import MISFIT, Type, quoted
from monitor.logs.engines.databases import Databases, open_databases
from monitor.logs.engines.formats import FORMATS, USUAL
from monitor.logs.engines.spark import is_of_spark, word
from monitor.logs.engines.steps import ALL, KNOWN, SCORED, added

T = TypeVar("T")
# A damaged column name causes the decoding error, because DuckDB passes it on as it is; a column
# that is nested too deeply that of recursion.
DAMAGE = (duckdb.Error, UnicodeDecodeError, RecursionError)
# Whatever else these raise is about what they read, too.
READERS = {"duckdb", "_duckdb", "pyarrow", "fsspec"}

NUMBERED = re.compile(r"(.+)_\d+")  # what DuckDB calls all but the first of the columns of one name
CSV_LINE, REASONS = "CSV Error on Line", ("Expected", "Invalid", "Value ", "Error", "Maximum")
NESTED = ("list", "array", "map", "struct", "union")
ENCODINGS = ("utf-16", "utf-8")
REMEDIES = {  # by what DuckDB says, or how_packed
    ENCODINGS: "write the file in UTF-8",
    ("maximum line size", "maximum_object_size", "maximum object size"): (
        "its lines are longer than can be read: leave out what is long, or write Parquet"
    ),
    ("permission denied",): "grant read permission",
    ("is compressed with",): "write it with gzip (.gz), Zstandard (.zst), or not compressed",
    ("duplicate name",): (
        "keys of an object in it differ only in case: rename one of them, or write the "
        "configuration by hand with an expression such as payload->>'$.score', which tells them "
        "by their case"
    ),
    (CSV_LINE.lower(),): (
        "correct the line, or write the file again with one header for all of its lines"
    ),
}
ROW = "file_row_number"  # what DuckDB calls the number of a row of Parquet
SMALL = 16_000_000  # bytes of a file that is read whole, though only some of its columns are needed
NO_ROOM = Fault("logs", "memory", "the day does not fit into the memory")
UNREADABLE = Fault("logs", "unreadable", "a file cannot be read")

FORMAT_NAMES = {form: of.name for form, of in FORMATS.items()}


@dataclass(frozen=True)
class Layout:
    """How files of CSV are laid out, as far as the configuration says it.

    Attributes
    ----------
    columns : tuple of str
        Names for all columns of files without a header.
    separator : str or None
        What is between two values; by default a comma if there is no header, else it is found.
    null_text : str or None
        What stands for no value, besides nothing.
    """

    columns: tuple[str, ...] = ()
    separator: str | None = None
    null_text: str | None = None

    @property
    def options(self) -> dict[str, Any]:
        """The options of DuckDB's reader."""
        options: dict[str, Any] = {"sep": self.separator} if self.separator else {}
        if self.null_text:
            options["na_values"] = [self.null_text, ""]
        if self.columns:
            options |= {"columns": dict.fromkeys(self.columns, "VARCHAR"), "header": False}
            options |= {"sep": self.separator or ",", "auto_detect": False}
        return options


@dataclass(frozen=True)
class Session:
    """A DuckDB connection in use for one day.

    Attributes
    ----------
    what : str
        Model and day, for messages.
    connection : DuckDBPyConnection
        Runs the queries.
    files : dict
        Files opened so far, with their formats; error handling searches them for the damaged one.
    folder : str
        A folder that lasts as long as the day.
    copies : dict
        The files of an object store that were copied there, each with its copy.
    kept : list of str
        Names of tables that were stored for the day.
    types : dict
        The column types of each file that was inspected.
    twins : dict
        The columns of a file whose names differ in nothing but upper and lower case.
    whole : set of str
        Compressed files that have been read to their end.
    refused : dict of str to str
        Damaged files that are left out, each with the reason; only `init` leaves any out.
    spark : SparkSession or None
        Runs the queries instead, if the engine is Spark.
    frames : dict
        The shares of rows that tasks of Spark have read.
    layouts : dict
        How files of CSV are laid out that do not say it themselves.
    """

    what: str
    connection: duckdb.DuckDBPyConnection
    files: dict[str, Format] = field(default_factory=dict)
    folder: str = ""
    copies: dict[str, str] = field(default_factory=dict)
    kept: list[str] = field(default_factory=list)
    types: dict[str, Mapping[str, Type]] = field(default_factory=dict)
    twins: dict[str, list[str]] = field(default_factory=dict)
    whole: set[str] = field(default_factory=set)
    refused: dict[str, str] = field(default_factory=dict)
    spark: Any = None
    frames: dict[Hashable, Any] = field(default_factory=dict)
    layouts: dict[str, Layout] = field(default_factory=dict)

    def lay_out(self, files: Iterable[str], layout: Layout) -> None:
        """Remember how files of CSV are laid out."""
        self.layouts.update(dict.fromkeys(files, layout))

    def read(
        self,
        files: Sequence[str],
        form: Format = USUAL,
        *,
        columns: Sequence[str] = (),
        with_name: bool = False,
        span: tuple[int, int] | None = None,
    ) -> duckdb.DuckDBPyRelation:
        """Open files of equal columns as one relation.

        The option union_by_name would allow unequal columns, but it deadlocks with files in an
        object store: its threads wait for the interpreter, which waits for them.

        Parameters
        ----------
        files : sequence of str
            At least one.
        form : str
            Their format. All columns of CSV and JSON lines are text.
        columns : sequence of str
            The columns to read of JSON lines; a row without one of them has null.
        with_name : bool
            Add the column `filename`.
        span : tuple of (int, int) or None
            The rows to read of a file of Parquet, if they are not all.
        """
        self.files.update(dict.fromkeys(files, form))
        places = [self.copies.get(file, file) for file in files]
        layout = self.layouts[files[0]].options if files[0] in self.layouts else {}
        own = {"hive_partitioning": False, "filename": with_name}
        if span is None:
            return FORMATS[form].read(self.connection, places, columns, layout, own)
        own[ROW] = True
        rows = FORMATS[form].read(self.connection, places, columns, layout, own)
        return rows.filter(f"{ROW} >= {span[0]} AND {ROW} < {span[1]}")

    def types_of(self, file: str, form: Format = USUAL) -> Mapping[str, Type]:
        """Return the type of every column of a file but twins, in their order."""
        if file not in self.types:
            if wrong := self.broken(file, form):
                msg = f"{self.what}: {file} {wrong}; write the file again, then rerun this day."
                raise DataError(msg, UNREADABLE)
            look = FORMATS[form].look
            self.files[file] = form
            place = self.copies.get(file, file)
            relation = look(self.connection, place) if look else self.read([file], form)
            if wrong := FORMATS[form].wrong(self.connection, place, relation.columns):
                msg = f"{self.what}: {file} {wrong}, then rerun this day."
                raise DataError(msg, UNREADABLE)
            single = self.single(file, form, relation)
            self.types[file] = {
                column: Type(str(native))
                for column, native in zip(relation.columns, relation.types, strict=True)
                if column in single
            }
        return self.types[file]

    def broken(self, file: str, form: Format) -> str | None:
        """Say what is wrong with a compressed file as a whole; Parquet has its own end."""
        if not FORMATS[form].is_text or file in self.whole:
            return None
        wrong = what_is_damaged(self.copies.get(file, file))
        if wrong is None:
            self.whole.add(file)
        return wrong

    def type_of_field(self, file: str, column: str, schema: pa.Schema | None) -> Type | None:
        """Return the type of a field of a struct of a Parquet file, or of a table with a schema.

        It is None if there is no such field.
        """
        rows = (
            self.read([file])
            if schema is None
            else self.connection.from_arrow(schema.empty_table())
        )
        whole, _, field = column.partition(FIELD)
        native = dict(zip(rows.columns, rows.types, strict=True)).get(whole)
        if native is None or native.id != "struct" or field not in dict(native.children):
            return None
        return Type(str(dict(native.children)[field]))

    def type_of_expression(self, expression: str, columns: Mapping[str, str]) -> Type:
        """Return the type of an expression on columns of some types."""
        nulls = ", ".join(f"CAST(NULL AS {name}) AS {quoted(c)}" for c, name in columns.items())
        rows = self.connection.sql(f"SELECT {nulls or 'NULL'} LIMIT 0")
        value = rows.select(duckdb.SQLExpression(expression).alias("value"))
        (native,) = value.types
        return Type(str(native))

    def single(self, file: str, form: Format, rows: duckdb.DuckDBPyRelation) -> list[str]:
        """List the columns that have a name of their own, and note the others as twins.

        Names in SQL have no case, so DuckDB adds a number to those of a file that it has had, also
        to fields of structs. What it calls them then no file has, and depends on their order.
        """
        if _has_numbered(zip(rows.columns, rows.types, strict=True)):
            self.twins[file] = twins_of(
                FORMATS[form].names_in(self.connection, self.copies.get(file, file))
            )
        return without_twins(rows.columns, self.twins.get(file, ()))

    def types_of_arrow(self, place: str, schema: pa.Schema) -> Mapping[str, Type]:
        """Return the type of every column of a table but twins, in their order."""
        relation = self.connection.from_arrow(schema.empty_table())
        self.twins[place] = twins_of(schema.names)
        single = without_twins(relation.columns, self.twins[place])
        types = (Type(str(native)) for native in relation.types)
        named = zip(relation.columns, types, strict=True)
        return {column: type_ for column, type_ in named if column in single}

    def keep(self, rows: pa.RecordBatchReader) -> duckdb.DuckDBPyRelation:
        """Store rows that can be read only once, within the memory and the disk of the engine."""
        name = f"kept_{len(self.kept)}"
        self.kept.append(name)
        self.connection.from_arrow(rows).create(name)
        return self.connection.table(name)

    def keep_batches(self, rows: pa.RecordBatchReader) -> duckdb.DuckDBPyRelation:
        """Store rows as `keep`, batch by batch: an error of reading is then raised as it is."""
        kept = self.keep(rows.schema.empty_table().to_reader())
        for batch in rows:
            self.connection.from_arrow(pa.Table.from_batches([batch])).insert_into(self.kept[-1])
        return kept

    def types_in(self, rows: Any) -> dict[str, Type]:
        """Return the types of the columns of rows."""
        return {n: Type(str(of)) for n, of in zip(rows.columns, rows.types, strict=True)}

    def over(
        self,
        query: str,
        scored: Any = None,  # noqa: ARG002 - DuckDB finds rows by the names of locals
        known: Any = None,  # noqa: ARG002
    ) -> duckdb.DuckDBPyRelation:
        """Begin a query in SQL, in which `SCORED` and `KNOWN` stand for rows."""
        return self.connection.sql(query.replace(SCORED, "scored").replace(KNOWN, "known"))

    def each(
        self, query: str, of: Callable[["Session", Any], T], scored: Any = None, known: Any = None
    ) -> list[T]:
        """Give what a function makes of a query over each share of rows: here, there is one.

        Tasks of Spark run the function, so it is one of a module; what it makes of two shares, its
        caller adds up.
        """
        if self.spark is None:
            return [of(self, self.over(query, scored, known))]
        spread = known if scored is None else scored
        return list(spread.each_in_tasks(self, query, of, (scored, known)))

    def fetch(
        self, query: str, scored: Any = None, known: Any = None, whole: str = ALL
    ) -> pa.Table:
        """Run a query over each share of rows, and another over what all of them give, `shares`."""
        if self.spark is None:
            return self.over(f"WITH shares AS ({query}) {whole}", scored, known).to_arrow_table()
        shares = pa.concat_tables(self.each(query, as_table, scored, known))  # noqa: F841 - in SQL
        return self.connection.sql(f"{whole}").to_arrow_table()

    def fetch_rows(
        self, query: str, scored: Any = None, known: Any = None, whole: str = ALL
    ) -> list[tuple[Any, ...]]:
        """Run a query that gives few rows."""
        columns = self.fetch(query, scored, known, whole).to_pydict().values()
        return [*zip(*columns, strict=True)]

    def count(self, rows: Any) -> int:
        """Count rows."""
        if self.spark is None:
            return len(rows)
        each = f"SELECT count(*) AS rows FROM {SCORED}"
        return int(self.fetch_rows(each, rows, whole=added())[0][0])

    def reach(self, filesystem: AbstractFileSystem, files: Sequence[str], form: Format) -> None:
        """Let DuckDB read these files of an object store, or a copy of them.

        A small file is copied: it is one request, where DuckDB would send dozens for its parts.
        """
        if FORMATS[form].is_text:
            self._copy(filesystem, files)
            return
        new = [file for file in files if file not in self.copies]
        small = [file for file, size in _sizes(filesystem, new).items() if size <= SMALL]
        self._copy(filesystem, small)
        if len(small) < len(new):
            self.read_through(filesystem, files)

    def read_through(self, filesystem: AbstractFileSystem, files: Sequence[str]) -> None:
        """Let DuckDB read these files through the library of the object store.

        The filesystem caches the current listing, because DuckDB asks for the size and age of a
        file at every step and each would be a request.
        """
        options = {**filesystem.storage_options, "use_listings_cache": True}
        reader = limited(type(filesystem)(**options))
        for folder in {file.rpartition("/")[0] for file in files}:
            with reaching(folder):
                reader.ls(folder, refresh=True)
        protocol, *_ = [reader.protocol] if isinstance(reader.protocol, str) else reader.protocol
        if not self.connection.filesystem_is_registered(protocol):
            self.connection.register_filesystem(reader)

    def _copy(self, filesystem: AbstractFileSystem, files: Sequence[str]) -> None:
        """Copy files of an object store to the disk of this machine.

        CSV and JSON lines have to be read whole anyway. DuckDB's threads read several such files
        at once while it holds the interpreter, which the files of an object store need, so it would
        wait forever.
        """
        copies = {file: f"{self.folder}/{file.replace('://', '/')}" for file in files}
        for file, copied in copies.items():
            if file not in self.copies:
                Path(copied).parent.mkdir(parents=True, exist_ok=True)
                with reaching(file):
                    filesystem.get_file(file, copied)
        self.copies.update(copies)


def _has_numbered(columns: Iterable[tuple[str, Any]]) -> bool:
    """Return whether a name, of a field too, may be another one with a number from DuckDB."""
    named = [*columns]
    lowered = {name.lower() for name, _ in named}
    numbered = (match[1].lower() for name, _ in named if (match := NUMBERED.fullmatch(name)))
    return not lowered.isdisjoint(numbered) or any(
        _has_numbered(native.children)
        for _, native in named
        if getattr(native, "id", None) in NESTED
    )


def twins_of(names: Sequence[str]) -> list[str]:
    """List the names that differ from another in nothing but upper and lower case.

    Examples
    --------
    >>> twins_of(["id", "Score", "score"])
    ['Score', 'score']
    """
    times = Counter(name.lower() for name in names)
    return [name for name in names if times[name.lower()] > 1]


def readable(twins: Iterable[str]) -> list[str]:
    """Write the names of twins for people."""
    return [name.replace(FIELD, ".") for name in twins]


def without_twins(columns: Sequence[str], twins: Sequence[str]) -> list[str]:
    """Leave out twins, and what DuckDB may call one of them.

    Examples
    --------
    >>> without_twins(["id", "Score", "score_1"], ["Score", "score"])
    ['id']
    """
    lowered = {name.lower() for name in twins}
    return [c for c in columns if lowered.isdisjoint((c.lower(), without_number(c).lower()))]


def without_number(column: str) -> str:
    """Return the name that DuckDB may have given a number to."""
    match = NUMBERED.fullmatch(column)
    return match[1] if match else column


def _sizes(filesystem: AbstractFileSystem, files: Sequence[str]) -> dict[str, int]:
    """Look up how many bytes files of an object store have, with one request for each folder."""
    sizes = dict[str, int]()
    for folder in {file.rpartition("/")[0] for file in files}:
        with reaching(folder):
            entries = list_folder(filesystem, str(filesystem._strip_protocol(folder)))  # noqa: SLF001
        sizes |= {
            filesystem.unstrip_protocol(name): entry["size"] for name, entry in entries.items()
        }
    return {file: sizes[file] for file in files if file in sizes}


@contextmanager
def open_session(what: str, engine: Engine | Databases) -> Iterator[Session]:
    """Open a DuckDB connection with its share of the machine and its own spill folder.

    Parameters
    ----------
    what : str
        Model and day, for messages.
    engine : Engine or Databases
        The share of the machine, or connections that are already open.

    Raises
    ------
    DataError
        If a file cannot be read, or the work needs more memory than it may use.
    """
    if isinstance(engine, Engine):
        with open_databases(engine) as databases, open_session(what, databases) as session:
            yield session
        return
    with engine.lend() as database:
        session = Session(what, database.connection, folder=database.copies, spark=engine.spark)
        try:
            with _understanding(session, engine.engine):
                yield session
        finally:
            for frame in session.frames.values():
                frame.unpersist()


@contextmanager
def _understanding(session: Session, engine: Engine) -> Iterator[None]:
    try:
        yield
    except (duckdb.OutOfMemoryException, MemoryError) as error:
        msg = (
            f"{session.what}: the day does not fit into engine.memory_mb, {engine.memory_mb}, "
            f"with engine.threads, {engine.threads} ({first_line(error)}); "
            f"raise memory_mb or lower threads in the configuration, then rerun this day."
        )
        raise DataError(msg, NO_ROOM) from error
    except DAMAGE as error:
        raise _worded(session, error) from error
    except Exception as error:
        if session.spark is not None and is_of_spark(error):
            raise word(session.what, error) from error
        if _is_of_reader(error):
            raise _worded(session, error) from error
        raise


def _is_of_reader(error: Exception) -> bool:
    """Know an error of a library that reads logs by its class, or by the last code that ran."""
    frames = [frame.f_globals.get("__name__", "") for frame, _ in walk_tb(error.__traceback__)]
    modules = type(error).__module__, *frames[-1:]
    return any(module.partition(".")[0] in READERS for module in modules)


def _worded(session: Session, error: Exception) -> DataError:
    """Word an error of reading: a value that does not fit, or else the file that is damaged."""
    before, misfit, value = str(error).partition(MISFIT)
    if misfit:
        msg = f"{session.what}: {first_line(value)}, then rerun this day."
        return DataError(msg, Fault("logs", "column", "a column has another type"))
    if isinstance(error, RecursionError):
        before = "a column is nested too deeply"
    damaged = ((f, wrong) for f in session.files if (wrong := damage_of(session, f)))
    culprit, why = next(damaged, ("one of the logs", before))
    for file, copied in session.copies.items():
        why = why.replace(copied, file)
    form = session.files.get(culprit, next(iter(session.files.values()), USUAL))
    msg = (
        f"{session.what}: {culprit} cannot be read as {FORMAT_NAMES[form]} ({first_line(why)}); "
        f"{remedy_of(why, form)}, then rerun this day."
    )
    return DataError(msg, UNREADABLE)


def damage_of(session: Session, file: str) -> str | None:
    """Say why a file that was opened cannot be read; None if it can."""
    form, place = session.files[file], session.copies.get(file, file)
    with suppress(duckdb.Error):  # after an error, DuckDB may refuse all but this
        session.connection.rollback()
    if wrong := session.broken(file, form):
        return wrong
    try:
        keys = [*session.types_of(file, form)]
        session.read([file], form, columns=keys).aggregate("max(hash(COLUMNS(*)))").fetchall()
    except RecursionError:
        return "a column is nested too deeply"
    except Exception as error:  # noqa: BLE001 - whatever a library raises about this file alone
        head = _head_of(place)
        if FORMATS[form].is_text and head.startswith((b"\xff\xfe", b"\xfe\xff")):
            return "it is UTF-16, not UTF-8"
        packed = "" if place.endswith((*PACKED,)) else how_packed(head)
        return packed or f"{error}" or type(error).__name__
    return None


def _head_of(place: str) -> bytes:
    """Read how a file on this machine begins."""
    if not Path(place).is_file():
        return b""
    with Path(place).open("rb") as file:
        return file.read(LONGEST_MAGIC)


def remedy_of(why: str, form: str) -> str:
    """Say what to do about a file, given why it cannot be read."""
    lowered = first_line(why).lower()
    for signs, remedy in REMEDIES.items():
        if any(sign in lowered for sign in signs) and (FORMATS[form].is_text or signs != ENCODINGS):
            return remedy
    return FORMATS[form].remedy


def as_table(_: Session, rows: duckdb.DuckDBPyRelation) -> pa.Table:
    """Read all rows of a query."""
    return rows.to_arrow_table()


def first_line(error: Exception | str) -> str:
    """Show an error on one line, without characters that could garble a terminal.

    What DuckDB says of a CSV begins with the number of the line, and the reason follows below it.

    Examples
    --------
    >>> print(first_line(ValueError("too long")))
    too long
    """
    first, *more = str(error).splitlines() or [type(error).__name__]
    reasons = [line for line in more if CSV_LINE in first and line.startswith(REASONS)]
    text = "; ".join([first, *reasons[:1]])
    return "".join(sign if sign.isprintable() else "?" for sign in text)
