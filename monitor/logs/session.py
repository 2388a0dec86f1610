"""DuckDB at work on one day: its share of the machine, and what its errors mean."""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import duckdb
from fsspec import AbstractFileSystem

from monitor.config import Engine
from monitor.errors import ConfigError, DataError
from monitor.files import reaching

# The decoding error comes of a damaged column name, which DuckDB hands over as it is.
DAMAGE = (duckdb.Error, UnicodeDecodeError)


@dataclass(frozen=True)
class Session:
    """An open DuckDB.

    Attributes
    ----------
    what : str
        Model and day, for messages.
    connection : DuckDBPyConnection
        Runs the queries.
    files : list of str
        What was opened so far; errors look here for the file to blame.
    """

    what: str
    connection: duckdb.DuckDBPyConnection
    files: list[str] = field(default_factory=list)

    def read(self, files: Sequence[str]) -> duckdb.DuckDBPyRelation:
        """Open Parquet files of equal columns as one relation.

        Without the option union_by_name, which would take files of unequal columns: its threads
        wait for the interpreter that waits for them when the files are in an object store.
        """
        self.files.extend(file for file in files if file not in self.files)
        return self.connection.read_parquet(list(files), hive_partitioning=False)

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
def open_session(what: str, engine: Engine) -> Iterator[Session]:
    """Open a DuckDB that keeps to its share of the machine and spills to a folder of its own.

    Raises
    ------
    ConfigError
        If the work does not fit into the memory that it may take.
    DataError
        If a file cannot be read.
    """
    with tempfile.TemporaryDirectory(prefix="calibration-monitor-") as spill:
        settings: dict[str, str | bool | int | float | list[str]] = {
            "memory_limit": f"{engine.memory_mb}MB",
            "threads": engine.threads,
            "temp_directory": spill,
            "preserve_insertion_order": False,
        }
        connection = duckdb.connect(config=settings)
        try:
            # Else messages would show times in the zone of this machine.
            connection.execute("SET TimeZone = 'UTC'")
            session = Session(what, connection)
            with _understanding(session, engine):
                yield session
        finally:
            connection.close()


@contextmanager
def _understanding(session: Session, engine: Engine) -> Iterator[None]:
    try:
        yield
    except duckdb.OutOfMemoryException as error:
        msg = (
            f"{session.what}: the day does not fit into engine.memory_mb, {engine.memory_mb}, "
            f"with engine.threads, {engine.threads} ({_first_line(error)}); "
            f"raise the one or lower the other in the configuration, then rerun this day."
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
