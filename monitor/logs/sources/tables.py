"""Delta Lake and Iceberg tables and queries of a database, read through their own libraries.

The files of a table include rows that were deleted or replaced since. Only its log says which
count, so reading the files would count some rows twice.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import lru_cache, partial
from typing import Any, ClassVar

import duckdb
import pyarrow as pa
from fsspec.implementations.local import LocalFileSystem

from monitor.base import files
from monitor.base.deadline import each_within, within
from monitor.base.errors import ConfigError, DataError
from monitor.base.files import keep_while_looking, list_folder, open_filesystem, reaching
from monitor.base.sql_text import text_in_sql
from monitor.config import OutcomeLog, PredictionLog
from monitor.logs.engines.conversions import quoted
from monitor.logs.sources.drivers import driver_of
from monitor.logs.sources.queries import Snapshot, batches_of, schema_of, take_snapshot

Range = tuple[Any, Any]  # from, and up to but without
Scan = Callable[[Sequence[str], str, Sequence[Range]], pa.RecordBatchReader]

# Types of PostgreSQL that would arrive as text, or as something else than they mean.
CASTS = {"numeric": "double precision", "money": "numeric::double precision"}
ROWS = "rows_of_the_log"  # what a query is called in those that are written around it
METADATA_FILE = re.compile(r"v?(\d+).*\.metadata\.json(\.gz)?$")
FOLDERS_KEPT = 1000


@dataclass(frozen=True)
class Unfit:
    """What a column of a database is, which does not arrive as that, and what to cast it to."""

    native: str
    target: str


@dataclass(frozen=True)
class Table:
    """One version of a table.

    Attributes
    ----------
    log : PredictionLog or OutcomeLog
        Where it is.
    version : str
        What identifies the version.
    number : int or None
        The version of a Delta Lake table, or the snapshot of an Iceberg table, which is None before
        the first rows. A database has none.
    schema : Schema
        Its columns.
    scan : callable
        Reads columns of the rows whose value of one column lies in one of some ranges. It may read
        more rows.
    snapshot : Snapshot or None
        The snapshot of the database.
    unfit : mapping of str to Unfit
        Columns that cannot be read as they are.
    """

    log: PredictionLog | OutcomeLog
    version: str
    number: int | None
    schema: pa.Schema = field(compare=False)
    scan: Scan = field(compare=False)
    snapshot: Snapshot | None = field(default=None, compare=False)
    unfit: Mapping[str, Unfit] = field(default_factory=dict, compare=False)
    # What readers of files have too.
    is_text: ClassVar[bool] = False
    has_keys: ClassVar[bool] = False
    has_fields: ClassVar[bool] = True

    @property
    def name(self) -> str:
        """What it is, for messages."""
        return _form_of(self.log).name

    @property
    def finds_days(self) -> bool:
        """Whether a database finds the day of a row, which it then reads batch by batch."""
        return self.snapshot is not None

    def __reduce__(self) -> tuple[Any, ...]:
        """Let another process open the same version."""
        return open_table, (self.log, self.number)


def open_table(log: PredictionLog | OutcomeLog, number: int | None = None) -> Table:
    """Open the newest version of a table, or the one with a number; of a run, once for all days.

    Raises
    ------
    ConfigError
        If the library that reads it is not installed.
    DataError
        If there is no such table, or it cannot be read.
    """
    with reading_table(log):
        opened = partial(_form_of(log).open, log, number)
        return keep_while_looking(("table", log, number), lambda _: opened()) or opened()


@contextmanager
def reading_table(log: PredictionLog | OutcomeLog) -> Iterator[None]:
    """Turn every failure to read a table into an error that names it."""
    try:
        yield
    except ImportError as error:
        msg = (
            f"{log.path}: reading {_form_of(log).name} needs a package that is not "
            f"installed ({error}); pip install 'calibration-monitor[{_form_of(log).extra}]'."
        )
        raise ConfigError(msg) from None
    except (ConfigError, DataError, MemoryError, duckdb.OutOfMemoryException):
        raise
    except Exception as error:
        why = str(error).splitlines()[0] if str(error) else type(error).__name__
        msg = (
            f"{log.path}: cannot be read as {_form_of(log).name} ({why}); check the path "
            f"and the rights of this user, then run again."
        )
        raise DataError(msg) from error


def _form_of(log: PredictionLog | OutcomeLog) -> "TableFormat":
    """Say what a table is; a folder of counts is what lies there."""
    counts = log.format != log.stored_as and not log.sql
    found = _table_in(_literal(log.path)) if counts else None
    return TABLE_FORMATS[(found and found[1]) or log.stored_as]


def _open_delta(log: PredictionLog | OutcomeLog, number: int | None) -> Table:
    from deltalake import DeltaTable  # noqa: PLC0415 - an extra

    # Plain HTTP is used only where an endpoint is configured so.
    options = {"allow_http": "true"} if "://" in log.path else None
    table = within(
        files.LONGEST,
        partial(DeltaTable, _literal(log.path), number, storage_options=options),
    )

    def scan(
        columns: Sequence[str], dated_by: str, ranges: Sequence[Range]
    ) -> pa.RecordBatchReader:
        conditions = " OR ".join(
            f"({quoted(dated_by)} >= {_delta_value(low)} "
            f"AND {quoted(dated_by)} < {_delta_value(high)})"
            for low, high in ranges
        )
        with reading_table(log):
            return _limited(
                lambda: pa.RecordBatchReader.from_stream(
                    table.scan(columns=list(columns), predicate=conditions or None)
                )
            )

    version = f"{table.metadata().id} {table.version()}"
    schema: Any = table.schema().to_arrow()  # of another Arrow library
    return Table(log, version, table.version(), pa.schema(schema), scan)


def _limited(scan: Callable[[], pa.RecordBatchReader]) -> pa.RecordBatchReader:
    """Begin to read a table, and wait for each batch as long as for one request."""
    rows = within(files.LONGEST, scan)
    return pa.RecordBatchReader.from_batches(rows.schema, each_within(files.LONGEST, rows))


def _literal(path: str) -> str:
    """Return the path of a table, whose folder may have been escaped."""
    return re.sub(r"\[([*?[])\]", r"\1", path.format())


def _delta_value(value: Any) -> str:
    if isinstance(value, datetime):
        return f"CAST('{value.isoformat()}' AS TIMESTAMP)"
    if isinstance(value, date):
        return f"CAST('{value}' AS DATE)"
    return text_in_sql(value) if isinstance(value, str) else str(value)


def _open_iceberg(log: PredictionLog | OutcomeLog, number: int | None) -> Table:
    from pyiceberg import expressions as ex  # noqa: PLC0415 - an extra
    from pyiceberg.catalog import load_catalog  # noqa: PLC0415
    from pyiceberg.table import StaticTable  # noqa: PLC0415

    place = _literal(log.path)
    table: Any = within(
        files.LONGEST,
        (lambda: load_catalog(log.catalog).load_table(place))
        if log.catalog
        else partial(StaticTable.from_metadata, _newest_metadata(place)),
    )
    snapshot = number or table.metadata.current_snapshot_id

    def scan(
        columns: Sequence[str], dated_by: str, ranges: Sequence[Range]
    ) -> pa.RecordBatchReader:
        chosen: Any = ex.AlwaysFalse() if ranges else ex.AlwaysTrue()
        for low, high in ranges:
            begin = ex.GreaterThanOrEqual(term=dated_by, value=low)
            chosen = ex.Or(chosen, ex.And(begin, ex.LessThan(term=dated_by, value=high)))
        with reading_table(log):
            fields = tuple(columns) or ("*",)
            return _limited(
                lambda: table.scan(chosen, fields, snapshot_id=snapshot).to_arrow_batch_reader()
            )

    version = f"{table.metadata.table_uuid} {snapshot}"
    return Table(log, version, snapshot, table.schema().as_arrow(), scan)


@dataclass(frozen=True)
class TableFormat:
    """One format of tables: its name for messages, the extra that reads it, and its function."""

    name: str
    extra: str
    open: Callable[[PredictionLog | OutcomeLog, int | None], Table]


TABLE_FORMATS: Mapping[str, TableFormat] = {
    "delta": TableFormat("a Delta Lake table", "delta", _open_delta),
    "iceberg": TableFormat("an Iceberg table", "iceberg", _open_iceberg),
    "sql": TableFormat("rows of a database", "postgres", lambda log, _: query_table(log)),
}


def query_table(log: PredictionLog | OutcomeLog, condition: str | None = None) -> Table:
    """Open the rows of a query as a table, all of them or those that meet a condition."""
    variable, begin = f"{log.connection}", f"FROM (\n{log.sql}\n) AS {ROWS}"
    driver = driver_of(variable)
    named, snapshot = driver.quoted, take_snapshot(variable)
    schema = schema_of(variable, snapshot, f"SELECT * {begin}")
    names = Counter(name.lower() for name in schema.names)
    if twice := [name for name, count in names.items() if count > 1]:
        msg = (
            f"the query of the database in {variable} gives two columns {twice[0]}; upper and "
            f"lower case do not differ; give one of them another name in sql, then run again."
        )
        raise DataError(msg)

    def scan(
        columns: Sequence[str], dated_by: str, ranges: Sequence[Range]
    ) -> pa.RecordBatchReader:
        by = named(dated_by)
        in_ranges = " OR ".join(f"({by} >= '{low}' AND {by} < '{high}')" for low, high in ranges)
        conditions = " AND ".join(f"({part})" for part in (in_ranges, condition) if part)
        fields = [schema.field(column) for column in columns or schema.names]
        listed = ", ".join(named(field.name) for field in fields)
        query = f"SELECT {listed} {begin}" + f" WHERE {conditions}" * bool(conditions)
        batches = batches_of(variable, snapshot, query)
        return pa.RecordBatchReader.from_batches(pa.schema(fields), batches)

    unfit = {field.name: why for field in schema if (why := _unfit(field, zoned=driver.names))}
    return Table(log, snapshot.taken, None, schema, scan, snapshot, unfit)


def _unfit(column: "pa.Field[Any]", *, zoned: bool) -> Unfit | None:
    """Find what to cast a column to that does not arrive as what it is; None if it does."""
    if not zoned and pa.types.is_timestamp(column.type) and column.type.tz:
        return Unfit("a time with a zone", "timestamp")
    name = (column.metadata or {}).get(b"POSTGRESQL:type", b"").decode()
    if not (isinstance(column.type, pa.OpaqueType) or name in CASTS):
        return None
    return Unfit(name, CASTS.get(name, "text"))


def _newest_metadata(place: str) -> str:
    """Find the metadata of a table without a catalog: what the hint says, or the newest file."""
    filesystem, folder = open_filesystem(place)
    with reaching(place):
        if filesystem.exists(f"{folder}/metadata/version-hint.text"):
            return place
        files = filesystem.glob(f"{folder}/metadata/*.metadata.json*")
    numbered = {name: m for name in files if (m := METADATA_FILE.match(name.rpartition("/")[2]))}
    newest = max((int(match[1]) for match in numbered.values()), default=None)
    names = [name for name, match in numbered.items() if int(match[1]) == newest]
    if len(names) != 1:
        wrong = f"has {len(names)} newest metadata files" if names else "has no metadata folder"
        msg = (
            f"{place}: cannot be read as an Iceberg table, because it {wrong}; correct the path, "
            f"or set connection to the catalog that has the table, and path to its name there."
        )
        raise DataError(msg)
    return str(filesystem.unstrip_protocol(names[0])) if "://" in place else str(names[0])


# What lies in the folder of a table, and the format to configure, if there is one.
MARKS: Mapping[str, tuple[str, str | None]] = {
    "_delta_log": ("a Delta Lake table", "delta"),
    "metadata/*.metadata.json*": ("an Iceberg table", "iceberg"),
    ".hoodie": ("a Hudi table", None),
}


def table_around(path: str, files: Sequence[str]) -> tuple[str, str, str | None] | None:
    """Find the table that files belong to.

    Parameters
    ----------
    path : str
        Where the files are configured to be, with wildcards and {day}.
    files : sequence of str
        Some of them.

    Returns
    -------
    tuple of (str, str, str or None) or None
        The folder of the table, what it is, and its format in the configuration.
    """
    literal = re.split(r"[*?[{]", path, maxsplit=1)[0].rpartition("/")[0]
    folders = [literal.rpartition("/")[0], literal]  # Iceberg keeps its files in a folder data
    for file in files[:1]:
        parents = file.split("/")
        folders += ["/".join(parents[:end]) for end in range(len(parents) - 1, 0, -1)]
    depth = literal.rstrip("/").count("/")
    for folder in dict.fromkeys(folders):
        if folder and folder.count("/") >= depth - 1 and (table := _table_in(folder)):
            return folder, *table
    return None


@lru_cache(FOLDERS_KEPT)
def _table_in(folder: str) -> tuple[str, str | None] | None:
    """Look whether a folder is that of a table."""
    filesystem, place = open_filesystem(folder)
    try:
        local = isinstance(filesystem, LocalFileSystem)
        inside = filesystem.ls(place, detail=False) if local else list_folder(filesystem, place)
        names = {name.rstrip("/").rpartition("/")[2] for name in inside}
        for mark, table in MARKS.items():
            if mark.partition("/")[0] in names and filesystem.glob(f"{place}/{mark}"):
                return table
    except OSError:  # a folder above that may not be read, or is not there
        return None
    return None
