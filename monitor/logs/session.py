"""DuckDB for one day: its files, views and queries, and what its errors mean."""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

import duckdb
import narwhals as nw
from fsspec import AbstractFileSystem

from monitor.config import Engine
from monitor.errors import ConfigError, DataError, Fault
from monitor.files import reaching
from monitor.logs.databases import Databases, open_databases

# A damaged column name causes the decoding error, because DuckDB passes it on as it is.
DAMAGE = (duckdb.Error, UnicodeDecodeError)

Frame = nw.LazyFrame[Any]
Written = TypeVar("Written")


@dataclass(frozen=True)
class Type:
    """The type of a column, and its name for messages."""

    dtype: nw.dtypes.DType
    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class View:
    """The name of a view and its columns with types: all that a query depends on."""

    name: str
    columns: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Session:
    """A DuckDB connection in use for one day.

    Attributes
    ----------
    what : str
        Model and day, for messages.
    connection : DuckDBPyConnection
        Runs the queries.
    files : list of str
        Files opened so far; error handling searches them for the damaged one.
    types : dict
        The column types of each file that was inspected.
    dtypes : dict
        As in `Databases`.
    queries : dict
        Queries of this connection, by what they depend on.
    """

    what: str
    connection: duckdb.DuckDBPyConnection
    files: list[str] = field(default_factory=list)
    types: dict[str, Mapping[str, Type]] = field(default_factory=dict)
    dtypes: dict[str, nw.dtypes.DType] = field(default_factory=dict)
    queries: dict[Hashable, Any] = field(default_factory=dict)

    def read(self, files: Sequence[str]) -> duckdb.DuckDBPyRelation:
        """Open Parquet files of equal columns as one relation.

        The option union_by_name would allow unequal columns, but it deadlocks with files in an
        object store: its threads wait for the interpreter, which waits for them.
        """
        self.files.extend(file for file in files if file not in self.files)
        return self.connection.read_parquet(list(files), hive_partitioning=False)

    def types_of(self, file: str) -> Mapping[str, Type]:
        """Return the type of every column of a file, in their order."""
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
        """Build a query, unless this connection has it from another day.

        On a small day building the query takes longer than running it. A query over views reads
        the current content of the views, so one query serves all days.
        """
        if key not in self.queries:
            self.queries[key] = write()
        return self.queries[key]  # type: ignore[no-any-return]

    def show(self, name: str, relation: duckdb.DuckDBPyRelation) -> View:
        """Make the view of this name show a relation."""
        relation.create_view(name, replace=True)
        return View(name, tuple(zip(relation.columns, map(str, relation.types), strict=True)))

    def frame(self, view: View) -> Frame:
        """Begin a query over a view."""
        return nw.from_native(self.connection.view(view.name)).lazy()

    def read_through(self, filesystem: AbstractFileSystem, files: Sequence[str]) -> None:
        """Let DuckDB read these files of an object store.

        The filesystem caches the current listing, because DuckDB asks for the size and age of a
        file at every step and each would be a request.
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
    """Open a DuckDB connection with its share of the machine and its own spill folder.

    Parameters
    ----------
    what : str
        Model and day, for messages.
    engine : Engine or Databases
        The share of the machine, or connections that are already open.

    Raises
    ------
    ConfigError
        If the work needs more memory than it may use.
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
        fault = Fault("logs", "unreadable", "a file cannot be read")
        raise DataError(msg, fault) from error


def _is_damaged(session: Session, file: str) -> bool:
    try:
        session.read([file]).aggregate("max(hash(COLUMNS(*)))").fetchall()
    except DAMAGE:
        return True
    return False


def _first_line(error: Exception) -> str:
    """Show an error on one line, without characters that could garble a terminal."""
    text = str(error).splitlines()[0] if str(error) else type(error).__name__
    return "".join(sign if sign.isprintable() else "?" for sign in text)
