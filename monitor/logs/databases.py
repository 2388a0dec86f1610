"""DuckDBs that stay open from day to day, each with its share of the machine."""

import tempfile
from collections.abc import Hashable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import Any

import duckdb
import narwhals as nw

from monitor.config import Engine


@dataclass(frozen=True)
class Database:
    """A DuckDB, the folder it spills to, and the queries over its views, by what they rest on."""

    connection: duckdb.DuckDBPyConnection
    spill: tempfile.TemporaryDirectory[str]
    queries: dict[Hashable, Any] = field(default_factory=dict)

    def forget(self) -> None:
        """Drop what was read and registered for a day, so that the next finds nothing of it."""
        self.connection.execute("SET enable_external_file_cache = false")  # which empties it
        self.connection.execute("SET enable_external_file_cache = true")
        for protocol in self.connection.list_filesystems():
            self.connection.unregister_filesystem(protocol)

    def close(self) -> None:
        """Give the memory and the folder back."""
        self.queries.clear()
        self.connection.close()
        self.spill.cleanup()


@dataclass(frozen=True)
class Databases:
    """DuckDBs that stay open from day to day, as many as days are read at a time.

    Attributes
    ----------
    engine : Engine
        The share of the machine that each may take.
    idle : SimpleQueue
        Those that wait for a day.
    dtypes : dict
        What type of column each of DuckDB's type names is, as far as it was asked: another query
        for every file, else.
    """

    engine: Engine
    idle: SimpleQueue[Database] = field(default_factory=SimpleQueue)
    dtypes: dict[str, nw.dtypes.DType] = field(default_factory=dict)

    @contextmanager
    def lend(self) -> Iterator[Database]:
        """Lend a DuckDB to one day. After an error it is closed, and nobody gets it again."""
        try:
            database = self.idle.get_nowait()
        except Empty:
            database = self._start()
        try:
            yield database
            database.forget()
        except BaseException:
            database.close()
            raise
        self.idle.put(database)

    def close(self) -> None:
        """Close all that are not lent."""
        with suppress(Empty):
            while True:
                self.idle.get_nowait().close()

    def _start(self) -> Database:
        spill = tempfile.TemporaryDirectory(prefix="calibration-monitor-")
        settings: dict[str, str | bool | int | float | list[str]] = {
            "memory_limit": f"{self.engine.memory_mb}MB",
            "threads": self.engine.threads,
            "temp_directory": spill.name,
            "preserve_insertion_order": False,
        }
        database = Database(duckdb.connect(config=settings), spill)
        # Else messages would show times in the zone of this machine.
        database.connection.execute("SET TimeZone = 'UTC'")
        return database


@contextmanager
def open_databases(engine: Engine) -> Iterator[Databases]:
    """Keep DuckDBs for many days: to start one takes longer than to read a small day."""
    databases = Databases(engine)
    try:
        yield databases
    finally:
        databases.close()
