"""DuckDB connections that stay open from day to day, each with its share of the machine."""

import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import Any

import duckdb

from monitor.base.temporary import sweep_folders, temporary_folder
from monitor.config import Engine
from monitor.logs.engines.spark import connect

# Of `engine.memory_mb`, a tenth, at most 50 MB, is left for what DuckDB does not count: buffers of
# its readers, and pages that its allocator keeps. By default it keeps so many that a join of 50
# million rows took 140 to 220 MB beyond the limit; with these thresholds it took about 100 MB.
UNCOUNTED_SHARE, UNCOUNTED_MB = 10, 50
KEPT_PAGES = "16MB"


@dataclass(frozen=True)
class Database:
    """A DuckDB connection and its spill folder."""

    connection: duckdb.DuckDBPyConnection
    spill: str
    release: ExitStack  # removes the folder

    @property
    def copies(self) -> str:
        """The folder for copies of the files of a day."""
        return f"{self.spill}/copies"

    def forget(self) -> None:
        """Drop everything that was read and registered for a day."""
        shutil.rmtree(self.copies, ignore_errors=True)
        self.connection.execute("SET enable_external_file_cache = false")  # this empties the cache
        self.connection.execute("SET enable_external_file_cache = true")
        kept = self.connection.sql("SELECT table_name FROM duckdb_tables()").fetchall()
        for (table,) in kept:
            self.connection.execute(f"DROP TABLE {table}")
        for protocol in self.connection.list_filesystems():
            self.connection.unregister_filesystem(protocol)

    def close(self) -> None:
        """Release the memory and the folder."""
        self.connection.close()
        self.release.close()


@dataclass(frozen=True)
class Databases:
    """DuckDB connections that stay open, as many as days are read in parallel.

    Attributes
    ----------
    engine : Engine
        The share of the machine that each may use.
    idle : SimpleQueue
        Connections that are not in use.
    spark : SparkSession or None
        Reads the rows, if the engine is Spark; DuckDB then only looks at the columns of files.
    """

    engine: Engine
    spark: Any = None
    idle: SimpleQueue[Database] = field(default_factory=SimpleQueue)

    @contextmanager
    def lend(self) -> Iterator[Database]:
        """Lend a connection to one day. After an error it is closed instead of reused."""
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
        """Close all that are not in use."""
        with suppress(Empty):
            while True:
                self.idle.get_nowait().close()

    def _start(self) -> Database:
        release = ExitStack()
        spill = release.enter_context(temporary_folder())
        settings: dict[str, str | bool | int | float | list[str]] = {
            "memory_limit": f"{memory_of_duckdb(self.engine)}MB",
            "threads": self.engine.threads,
            "temp_directory": spill,
            "preserve_insertion_order": False,
            "allocator_flush_threshold": KEPT_PAGES,
            "allocator_bulk_deallocation_flush_threshold": KEPT_PAGES,
        }
        database = Database(duckdb.connect(config=settings), spill, release)
        # Otherwise messages would show times in the time zone of this machine.
        database.connection.execute("SET TimeZone = 'UTC'")
        return database


def memory_of_duckdb(engine: Engine) -> int:
    """Return the limit that DuckDB gets, so that the process stays near `engine.memory_mb`.

    Examples
    --------
    >>> memory_of_duckdb(Engine(memory_mb=1500)), memory_of_duckdb(Engine(memory_mb=100))
    (1450, 90)
    """
    return engine.memory_mb - min(engine.memory_mb // UNCOUNTED_SHARE, UNCOUNTED_MB)


@contextmanager
def open_databases(engine: Engine) -> Iterator[Databases]:
    """Keep connections for many days: starting one takes longer than reading a small day."""
    sweep_folders()
    databases = Databases(engine, connect(engine) if engine.kind == "spark" else None)
    try:
        yield databases
    finally:
        databases.close()
