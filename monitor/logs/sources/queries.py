"""Databases through ADBC: connections in one snapshot, queries as batches of Arrow, safe errors.

Rule: what the driver says of an address never leaves this module, because it can hold the password.
Of an error of a connection only its kind is known outside; of an error of a query the message of
the server, unless a part of the address is in it.
"""

import os
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any, TypeVar
from urllib.parse import unquote

import pyarrow as pa

from monitor.base.deadline import StillRunningError, within
from monitor.base.errors import ConfigError, DataError
from monitor.base.files import keep_while_looking
from monitor.logs.sources.drivers import CONNECT_SECONDS, POSTGRES, beginning, driver_of

T = TypeVar("T")

LONGEST = 3600  # seconds until the first rows of a query, and between them
END_SECONDS = 10  # to say good-bye
# How the driver begins to say why there is no connection, and what the message says instead.
NO_CONNECTION = (
    (
        r"authenticat|incorrect username|no password|role .* exist|pg_hba",
        "the server refuses the user or password",
    ),
    (r"database .* does not exist", "the server has no such database"),
    (r"refused|No such file|unreachable|No route", "no server answers there"),
    (r"time.?out", f"no server answered within {CONNECT_SECONDS} seconds"),
    (r"translate host|resolve", "the name of its host is not known here"),
    (r"SSL|certificate", "there is no agreement on encryption"),
    (r"too many|starting up|shutting down", "the server takes no connection at the moment"),
)
# Before the first years of PostgreSQL's calendar: what infinity becomes on its way.
FIRST_MICROSECOND, FIRST_DAY = -210_866_803_200_000_000, -2_440_588
# What the address leaves out, the library of PostgreSQL takes from these.
OF_LIBPQ = "PGPASSWORD", "PGUSER", "PGHOST", "PGHOSTADDR", "PGPORT", "PGDATABASE", "PGSERVICE"
LEFT_OPEN: list[Any] = []  # closing what a thread still uses would end the process
WORD = 4  # letters that no other text has by chance
SEPARATORS = re.compile(r"[\s:/@?&=,;'\"]+")


@dataclass(frozen=True)
class Snapshot:
    """What the queries of a run see of a database: its content at one moment.

    Attributes
    ----------
    taken : str
        The time of the server.
    name : str or None
        Its name for other connections; None if it ended with the query that asked for the time.
    connection : Connection or None
        What holds it. Others share what its driver learned of the database, the hundreds of types,
        which takes 30 times as long as to connect.
    """

    taken: str
    name: str | None = None
    connection: Any = None


def take_snapshot(variable: str) -> Snapshot:
    """Take a snapshot of the database that a variable names, for all of a run that looks once.

    Raises
    ------
    ConfigError
        If the variable is not set.
    DataError
        If the database cannot be reached.
    """

    def export(release: ExitStack) -> Snapshot:
        if not driver_of(variable).names:
            return Snapshot(_now(variable))
        connection = _connect(variable, None)
        release.callback(_end, connection)
        ((now, name),) = _rows(variable, connection, "SELECT now()::text, pg_export_snapshot()")
        return Snapshot(now, name, connection)

    kept = keep_while_looking(("snapshot", variable), export)
    return kept or Snapshot(_now(variable))


def _now(variable: str) -> str:
    """Ask for the time of the server."""
    ((taken,),) = ask(variable, None, "SELECT CAST(current_timestamp AS VARCHAR) AS taken")
    return str(taken)


def ask(variable: str, snapshot: Snapshot | None, query: str) -> list[tuple[Any, ...]]:
    """Return the few rows of a query."""
    connection = _connect(variable, snapshot)
    try:
        return _rows(variable, connection, query)
    finally:
        _end(connection)


def schema_of(variable: str, snapshot: Snapshot | None, query: str) -> pa.Schema:
    """Return the columns of a query without running it."""
    connection = _connect(variable, snapshot)
    try:
        with _cursor(variable, connection) as cursor:
            call = partial(_call, variable, of=(cursor, connection))
            if driver_of(variable).prepares:
                schema: pa.Schema = call(partial(cursor.adbc_execute_schema, query))
                return schema
            call(partial(cursor.execute, f"SELECT * FROM (\n{query}\n) AS none_of_them LIMIT 0"))
            return _unquoted(variable, call(cursor.fetch_record_batch).schema)
    finally:
        _end(connection)


def _unquoted(variable: str, schema: pa.Schema) -> pa.Schema:
    """Name columns as they are written without quotes."""
    unquoted = driver_of(variable).unquoted
    return pa.schema([column.with_name(unquoted(column.name)) for column in schema])


def batches_of(
    variable: str, snapshot: Snapshot | None, query: str, zone: str = "UTC"
) -> Iterator[pa.RecordBatch]:
    """Read the rows of a query as they come; times with a zone have the days of `zone`."""
    connection = _connect(variable, snapshot, zone)
    try:
        yield from _batches(variable, connection, query)
    finally:
        _end(connection)


def replace_rows(variable: str, name: str, rows: pa.Table, old: str) -> None:
    """Write rows into a table in the place of those that meet the condition `old`.

    All of it is one transaction, which makes the table if there is none.

    Raises
    ------
    ConfigError
        If the variable is not set or names another database than PostgreSQL, or the driver is not
        installed.
    DataError
        If the database cannot be reached, or refuses the rows.
    """
    if driver_of(variable) is not POSTGRES:
        msg = (
            f"{variable}: its address is not one of PostgreSQL, and results are written into that "
            f"alone; give one that begins with postgresql://, or write a file and load that "
            f"(--into results.parquet)."
        )
        raise ConfigError(msg)
    connection = _open(variable)
    try:
        with _cursor(variable, connection) as cursor:
            call = partial(_call, variable, of=(cursor, connection))
            call(partial(cursor.adbc_ingest, name, rows.slice(0, 0), mode="create_append"))
            call(partial(cursor.execute, f"DELETE FROM {name} WHERE {old}"))
            call(partial(cursor.adbc_ingest, name, rows, mode="append"))
        _call(variable, connection.commit)
    finally:
        _end(connection)


def _rows(variable: str, connection: Any, query: str) -> list[tuple[Any, ...]]:
    batches = _batches(variable, connection, query)
    columns = ([column.to_pylist() for column in batch.columns] for batch in batches)
    return [row for of_batch in columns for row in zip(*of_batch, strict=True)]


def _batches(variable: str, connection: Any, query: str) -> Iterator[pa.RecordBatch]:
    with _cursor(variable, connection) as cursor:
        call = partial(_call, variable, of=(cursor, connection))
        call(partial(cursor.execute, query))
        reader = call(cursor.fetch_record_batch)
        while (batch := call(lambda: next(reader, None))) is not None:
            _must_be_finite(batch)
            yield batch.rename_columns(_unquoted(variable, batch.schema).names)


def _must_be_finite(batch: pa.RecordBatch) -> None:
    """Raise DataError for the time infinity, which would become a year before Christ."""
    import pyarrow.compute as pc  # noqa: PLC0415 - takes long to load, and only databases need it

    for field, values in zip(batch.schema, batch.columns, strict=True):
        is_time, is_date = pa.types.is_timestamp(field.type), pa.types.is_date32(field.type)
        if not (is_time or is_date):
            continue
        numbers = values.view(pa.int64() if is_time else pa.int32())
        least = pc.min(numbers).as_py()
        if least is not None and least < (FIRST_MICROSECOND if is_time else FIRST_DAY):
            msg = (
                f"column '{field.name}' of the query holds the time infinity, which is no time; "
                f"leave out these rows with isfinite({field.name}), or write "
                f"NULLIF({field.name}, 'infinity') in the query, then run again."
            )
            raise DataError(msg)


def _open(variable: str, snapshot: Snapshot | None = None) -> Any:
    """Connect to the database that a variable names."""
    driver = driver_of(variable)
    try:
        dbapi = import_module(f"{driver.module}.dbapi")  # an extra
    except ImportError as error:
        msg = (
            f"a database needs a package that is not installed ({error}); pip install "
            f"'calibration-monitor[{driver.extra}]'."
        )
        raise ConfigError(msg) from None
    if not os.environ.get(variable):
        msg = (
            f"the environment variable {variable} is not set; set it to the address of the "
            f"database, such as postgresql://host/name."
        )
        raise ConfigError(msg)
    os.environ.setdefault("PGCONNECT_TIMEOUT", CONNECT_SECONDS)
    kept = snapshot and snapshot.connection
    connect = kept.adbc_clone if kept else partial(driver.connect, dbapi, os.environ[variable])
    return _call(variable, connect, connecting=True)


def _connect(variable: str, snapshot: Snapshot | None, zone: str = "UTC") -> Any:
    """Connect to the database that a variable names, and see the content of a snapshot."""
    connection = _open(variable, snapshot)
    named = driver_of(variable).names
    # Drivers that name no snapshot reach the server with the first query only.
    steps = beginning(zone, snapshot.name if snapshot else None) if named else ["SELECT 1 AS there"]
    try:
        with _cursor(variable, connection) as cursor:
            for step in steps:
                do = partial(cursor.execute, step)
                _call(variable, do, of=(cursor, connection), connecting=not named)
    except BaseException:
        _end(connection)
        raise
    return connection


@contextmanager
def _cursor(variable: str, connection: Any) -> Iterator[Any]:
    cursor = _call(variable, connection.cursor)
    try:
        yield cursor
    finally:
        _end(cursor)


def _end(opened: Any) -> None:
    """Close a connection or a cursor, unless a query that did not stop still uses it."""
    if any(opened is left for left in LEFT_OPEN):
        return
    with suppress(Exception):  # of a connection that was lost, or that still waits
        within(END_SECONDS, opened.close)


def _call(
    variable: str, do: Callable[[], T], *, of: tuple[Any, ...] = (), connecting: bool = False
) -> T:
    """Call the driver; an error of its own becomes one that holds no text of it.

    `of` are the cursor and the connection of a query, which is cancelled if it takes too long.
    """
    try:
        return within(LONGEST, do, of[0].adbc_cancel if of else None)
    except MemoryError:
        raise
    except TimeoutError as error:
        if isinstance(error, StillRunningError):
            LEFT_OPEN.extend(of)
        msg = _of_slow(variable, error)
    except Exception as error:  # noqa: BLE001 - whatever a driver raises
        msg = _of_connection(variable, error) if connecting else _of_query(variable, error)
    # Outside the block, so that the error of the driver is not kept with this one.
    raise DataError(msg)


def _of_connection(variable: str, error: Exception) -> str:
    """Word why there is no connection, in texts of this program only."""
    said = f"{error}"
    unreadable = f"it is no address of a database, such as {driver_of(variable).example}"
    why = next(
        (why for sign, why in NO_CONNECTION if re.search(sign, said, re.IGNORECASE)), unreadable
    )
    return (
        f"the database of the environment variable {variable} cannot be reached: {why}; correct "
        f"the address in {variable}, or wait for the server, then run again."
    )


def _of_slow(variable: str, error: TimeoutError) -> str:
    return (
        f"the database in {variable} gave {error}; look after the server, or make the query of "
        f"sql faster, then run again."
    )


def _of_query(variable: str, error: Exception) -> str:
    """Word why a query failed: what the server says, unless it says a part of the address."""
    state = getattr(error, "sqlstate", None)
    primary = dict(_details(error)).get("PG_DIAG_MESSAGE_PRIMARY")
    # While rows come, there are no details; other drivers have none.
    of_server = re.search(r"(?:ERROR: +|\[(?:Snowflake|FlightSQL)\] )(.*)", f"{error}")
    said = primary or (of_server[1] if of_server else "")
    if _has_a_part(said, os.environ.get(variable, "")):
        said = "an error that is not shown"
    said = said or "the connection was lost"
    code = f" (SQLSTATE {state})" if re.fullmatch("[0-9A-Z]{5}", f"{state}") else ""
    return (
        f"the query of the database in {variable} failed: {said}{code}; correct sql in the "
        f"configuration or the rights of the user, or wait for the server, then run again."
    )


def _details(error: Exception) -> Iterator[tuple[str, str]]:
    for key, value in getattr(error, "details", None) or ():
        yield _text(key), _text(value)


def _text(value: bytes | str) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else value


def _has_a_part(said: str, address: str) -> bool:
    """Return whether a text has a part of an address, maybe a malformed one; a short one as a word.

    Examples
    --------
    >>> address = "postgresql://me:s3c%2Fret@host/shop"
    >>> _has_a_part('role "me" is unknown', address), _has_a_part("some column", address)
    (True, False)
    """
    whole = address, unquote(address), *(os.environ.get(name, "") for name in OF_LIBPQ)
    parts = {*whole, *(part for text in whole for part in SEPARATORS.split(text))}
    parts |= {unquote(part) for part in parts}
    return any(
        re.search(part if len(part) >= WORD else rf"(?<!\w){part}(?!\w)", said, re.IGNORECASE)
        for part in map(re.escape, parts - {""})
    )
