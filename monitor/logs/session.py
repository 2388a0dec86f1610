"""DuckDB at work on one day: what it reads and asks, and what its errors mean."""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

import duckdb
import narwhals as nw
from fsspec import AbstractFileSystem

from monitor.config import Engine
from monitor.errors import ConfigError, DataError
from monitor.files import reaching
from monitor.logs.databases import Databases, open_databases

# The decoding error comes of a damaged column name, which DuckDB hands over as it is.
DAMAGE = (duckdb.Error, UnicodeDecodeError)

Frame = nw.LazyFrame[Any]
Written = TypeVar("Written")


@dataclass(frozen=True)
class Type:
    """The type of a column, for the program and for people."""

    dtype: nw.dtypes.DType
    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class View:
    """A name under which a query reads; with its columns and their types all it depends on."""

    name: str
    columns: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Session:
    """A DuckDB at work on one day.

    Attributes
    ----------
    what : str
        Model and day, for messages.
    connection : DuckDBPyConnection
        Runs the queries.
    files : list of str
        What was opened so far; errors look here for the file to blame.
    types : dict
        The types of the columns of every file that was asked for them.
    dtypes : dict
        Of `Databases`.
    queries : dict
        Of this DuckDB, by what they depend on.
    """

    what: str
    connection: duckdb.DuckDBPyConnection
    files: list[str] = field(default_factory=list)
    types: dict[str, Mapping[str, Type]] = field(default_factory=dict)
    dtypes: dict[str, nw.dtypes.DType] = field(default_factory=dict)
    queries: dict[Hashable, Any] = field(default_factory=dict)

    def read(self, files: Sequence[str]) -> duckdb.DuckDBPyRelation:
        """Open Parquet files of equal columns as one relation.

        Without the option union_by_name, which would take files of unequal columns: its threads
        wait for the interpreter that waits for them when the files are in an object store.
        """
        self.files.extend(file for file in files if file not in self.files)
        return self.connection.read_parquet(list(files), hive_partitioning=False)

    def types_of(self, file: str) -> Mapping[str, Type]:
        """Tell the type of every column of a file, in their order."""
        if file not in self.types:
            relation = self.read([file])
            names = [str(native) for native in relation.types]
            if not self.dtypes.keys() >= set(names):
                self.dtypes.update(zip(names, _dtypes(relation), strict=True))
            self.types[file] = {
                column: Type(self.dtypes[name], name)
                for column, name in zip(relation.columns, names, strict=True)
            }
        return self.types[file]

    def once(self, key: Hashable, write: Callable[[], Written]) -> Written:
        """Write a query, unless this DuckDB has it from another day.

        On a small day it takes longer to write the query than to run it. One over views looks
        up what they show whenever it runs, so it need not be written for every day.
        """
        if key not in self.queries:
            self.queries[key] = write()
        return self.queries[key]  # type: ignore[no-any-return]

    def show(self, name: str, relation: duckdb.DuckDBPyRelation) -> View:
        """Let the view of this name show a relation, from now on."""
        relation.create_view(name, replace=True)
        return View(name, tuple(zip(relation.columns, map(str, relation.types), strict=True)))

    def frame(self, view: View) -> Frame:
        """Begin a query over a view."""
        return nw.from_native(self.connection.view(view.name)).lazy()

    def read_through(self, filesystem: AbstractFileSystem, files: Sequence[str]) -> None:
        """Let DuckDB read these files of an object store.

        Through a filesystem that remembers the listing of this moment: DuckDB asks for size and
        age of a file at every step, and each time would be a request.
        """
        options = {**filesystem.storage_options, "use_listings_cache": True}
        reader = type(filesystem)(**options)
        for folder in {file.rpartition("/")[0] for file in files}:
            with reaching(folder):
                reader.ls(folder, refresh=True)
        protocol, *_ = [reader.protocol] if isinstance(reader.protocol, str) else reader.protocol
        if not self.connection.filesystem_is_registered(protocol):
            self.connection.register_filesystem(reader)


@contextmanager
def open_session(what: str, engine: Engine | Databases) -> Iterator[Session]:
    """Open a DuckDB that keeps to its share of the machine and spills to a folder of its own.

    Parameters
    ----------
    what : str
        Model and day, for messages.
    engine : Engine or Databases
        The share of the machine; or DuckDBs that are open already.

    Raises
    ------
    ConfigError
        If the work does not fit into the memory that it may take.
    DataError
        If a file cannot be read.
    """
    if isinstance(engine, Engine):
        with open_databases(engine) as databases, open_session(what, databases) as session:
            yield session
        return
    with engine.lend() as database:
        session = Session(what, database.connection, dtypes=engine.dtypes, queries=database.queries)
        with _understanding(session, engine.engine):
            yield session


def _dtypes(relation: duckdb.DuckDBPyRelation) -> list[nw.dtypes.DType]:
    return list(nw.from_native(relation).collect_schema().values())


@contextmanager
def _understanding(session: Session, engine: Engine) -> Iterator[None]:
    try:
        yield
    except duckdb.OutOfMemoryException as error:
        msg = (
            f"{session.what}: the day does not fit into engine.memory_mb, {engine.memory_mb}, "
            f"with engine.threads, {engine.threads} ({_first_line(error)}); "
            f"raise memory_mb or lower threads in the configuration, then rerun this day."
        )
        raise ConfigError(msg) from error
    except DAMAGE as error:
        culprit = next((f for f in session.files if _is_damaged(session, f)), "one of the logs")
        msg = (
            f"{session.what}: {culprit} cannot be read as Parquet ({_first_line(error)}); "
            f"write the file again, then rerun this day."
        )
        raise DataError(msg) from error


def _is_damaged(session: Session, file: str) -> bool:
    try:
        session.read([file]).aggregate("max(hash(COLUMNS(*)))").fetchall()
    except DAMAGE:
        return True
    return False


def _first_line(error: Exception) -> str:
    """Show an error on one line, without what could garble a terminal."""
    text = str(error).splitlines()[0] if str(error) else type(error).__name__
    return "".join(sign if sign.isprintable() else "?" for sign in text)
