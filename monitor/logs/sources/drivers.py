"""The databases that can be asked: the ADBC driver of each, and how it says what a log needs."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote, urlsplit

from monitor.base.sql_text import text_in_sql
from monitor.logs.engines.conversions import quoted

CONNECT_SECONDS = "10"  # for each address of the host
SORT = "64MB"  # memory of a sort in PostgreSQL, at least
SNOWFLAKE = "adbc.snowflake.sql.client_option."


@dataclass(frozen=True)
class Driver:
    """One kind of database.

    Attributes
    ----------
    module, extra : str
        The package of its driver, and the extra that installs it.
    language : str
        The dialect that it speaks, of `monitor.logs.warehouse.dialects`.
    example : str
        An address.
    options : mapping of str to str
        What the driver needs to know beside the address.
    scheme : str
        The beginning of the address that its driver does not read.
    names : bool
        Whether other connections can see a snapshot by its name, and times have zones.
    prepares : bool
        Whether the driver knows the columns of a query that did not run.
    upper : bool
        Whether a name without quotes is in upper case there.
    total : str
        A value of all rows that every change of one of their texts `{}` moves.
    """

    module: str
    extra: str
    language: str
    example: str
    options: Mapping[str, str] = field(default_factory=dict)
    scheme: str = ""
    names: bool = False
    prepares: bool = True
    upper: bool = False
    total: str = ""

    def connect(self, dbapi: Any, address: str) -> Any:
        """Connect with the module of the driver."""
        if self.names:
            return dbapi.connect(address)
        options, place = {**self.options}, address.removeprefix(self.scheme)
        if not self.scheme and "@" in address:  # Flight SQL signs in beside the address
            parts = urlsplit(address)
            place = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
            options["username"] = unquote(parts.username or "")
            options["password"] = unquote(parts.password or "")
        return dbapi.connect(place, db_kwargs=options, autocommit=True)

    def quoted(self, column: str) -> str:
        """Write the name of a column as the database has it."""
        return quoted(column.upper() if self.upper and column.islower() else column)

    def unquoted(self, column: str) -> str:
        """Give the name of a column as it is written without quotes."""
        return column.lower() if self.upper and column.isupper() else column

    def total_of(self, columns: Sequence[str]) -> str:
        """Write what changes with every change of some columns."""
        texts = (f"coalesce('=' || CAST({self.quoted(c)} AS VARCHAR), '')" for c in columns)
        return self.total.format(f"concat_ws('|', '', {', '.join(texts)})")


# A sum does not depend on the order of rows; it also notices a change that was made earlier than
# the newest one, but committed later, and rows that were replaced.
POSTGRES = Driver(
    "adbc_driver_postgresql",
    "postgres",
    "postgres",
    "postgresql://host/name",
    names=True,
    total="coalesce(sum(hashtextextended({}, 0)), 0)::text",
)
FLIGHT = Driver(
    "adbc_driver_flightsql",
    "flightsql",
    "datafusion",
    "grpc+tls://user:password@host:port",
    total="md5(string_agg(md5({0}), '' ORDER BY md5({0})))",
)
# By how the address begins.
OTHERS = {
    "snowflake": Driver(
        "adbc_driver_snowflake",
        "snowflake",
        "snowflake",
        "snowflake://user:password@account/database/schema?warehouse=name",
        {f"{SNOWFLAKE}use_high_precision": "false", f"{SNOWFLAKE}login_timeout": "10s"},
        scheme="snowflake://",
        prepares=False,  # its driver gives times without a zone one
        upper=True,
        total="coalesce(sum(abs(mod(hash({}), 1000000000039))::number(38, 0)), 0)::text",
    ),
    **dict.fromkeys(("grpc", "grpc+tcp", "grpc+tls"), FLIGHT),
}


def driver_of(variable: str | None) -> Driver:
    """Choose the driver by how the address in a variable begins; PostgreSQL has several forms."""
    return OTHERS.get(os.environ.get(variable or "", "").partition("://")[0].lower(), POSTGRES)


def beginning(zone: str, snapshot: str | None) -> list[str]:
    """List the statements with which a connection to PostgreSQL begins to read.

    What a text in a query or in a fingerprint depends on is set, and the memory of a sort: with
    PostgreSQL's 4 MB, to join and group a million ids goes to the disk and takes twice as long.
    """
    zone = text_in_sql(zone)
    memory = "current_setting('work_mem')"
    settings = (
        f"SELECT set_config('TimeZone', {zone}, TRUE), set_config('DateStyle', 'ISO', TRUE), "
        "set_config('IntervalStyle', 'postgres', TRUE), "
        "set_config('extra_float_digits', '1', TRUE), "
        "set_config('jit', 'off', TRUE), "  # compiling a query takes longer than it saves
        f"set_config('work_mem', CASE WHEN pg_size_bytes({memory}) < pg_size_bytes('{SORT}') "
        f"THEN '{SORT}' ELSE {memory} END, TRUE)"
    )
    see = [f"SET TRANSACTION SNAPSHOT {text_in_sql(snapshot)}"] if snapshot else []
    return ["SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY", *see, settings]
