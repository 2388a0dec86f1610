r"""Compare the counts that a warehouse gives through its ADBC driver with those of rows.

`python -m tools.warehouses.drivers ADDRESS`, where the server has the tables w_predictions,
w_outcomes and w_together of `warehouse_logs`. `--fill` writes them first: into an emulator of
Snowflake by statements, for others as Parquet into a folder that is named.

    pip install adbc-driver-snowflake 'fakesnow[server]' 'snowflake-connector-python<5'
    fakesnow -s --host 127.0.0.1 -p 18090
    python -m tools.warehouses.drivers --fill \
        'snowflake://u:p@127.0.0.1:18090/db/s?account=fakesnow&protocol=http'

    pip install adbc-driver-flightsql roapi
    python -m tools.warehouses.drivers --fill FOLDER
    roapi --addr-flight-sql 127.0.0.1:18082 -t w_predictions=FOLDER/w_predictions.parquet ...
    python -m tools.warehouses.drivers grpc://127.0.0.1:18082
"""

import math
import os
import sys
import tempfile
from datetime import date, datetime
from importlib import import_module
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from monitor.base.files import looking_once
from monitor.config import Engine
from monitor.logs import summarise_day
from monitor.logs.sources.drivers import driver_of
from tests.support.warehouse_logs import AS_OF, FIRST, LAST, cases, content, model_of_rows, tables
from tools.warehouses.server import SNOWFLAKE, columns

ADDRESS = "WAREHOUSE"
AT_ONCE = 1000  # rows of a statement that writes


def main(*arguments: str) -> None:
    """Compare, and print what was found."""
    *fill, place = arguments
    os.environ[ADDRESS] = place
    with tempfile.TemporaryDirectory() as name:
        folder = Path(place if fill and "://" not in place else name)
        for table, rows in tables().items():
            pq.write_table(rows, folder / f"w_{table}.parquet")
        if fill and "://" in place:
            write(place, folder)
        if "://" in place:
            print(days_alike(folder))


def write(address: str, folder: Path) -> None:
    """Write the tables by statements, which emulators read."""
    driver = driver_of(ADDRESS)
    connect = import_module(f"{driver.module}.dbapi").connect
    with connect(address.removeprefix(driver.scheme), autocommit=True) as connection:
        cursor = connection.cursor()
        cursor.execute("CREATE DATABASE IF NOT EXISTS db")
        cursor.execute("CREATE SCHEMA IF NOT EXISTS db.s")
        for file in folder.glob("w_*.parquet"):
            cursor.execute(f"CREATE OR REPLACE TABLE {file.stem} ({columns(file, SNOWFLAKE)})")
            rows = [f"({', '.join(map(literal, row.values()))})" for row in read(file)]
            for start in range(0, len(rows), AT_ONCE):
                values = ", ".join(rows[start : start + AT_ONCE])
                cursor.execute(f"INSERT INTO {file.stem} VALUES {values}")
        cursor.close()


def read(file: Path) -> list[dict[str, Any]]:
    """Read the rows of a file."""
    return pq.read_table(file).to_pylist()


def literal(value: Any) -> str:
    """Write a value."""
    if value is None:
        return "NULL"
    if isinstance(value, float):
        return "'NaN'::DOUBLE" if math.isnan(value) else f"{value!r}::DOUBLE"
    if isinstance(value, datetime | date):
        kind = "TIMESTAMP_NTZ" if isinstance(value, datetime) else "DATE"
        return f"'{value}'::{kind}"
    return f"'{value}'"


def days_alike(folder: Path) -> str:
    """Count the days whose summary has the bytes of that of the files."""

    def there(name: str) -> dict[str, Any]:
        return {"format": "sql", "connection": ADDRESS, "sql": f"SELECT * FROM w_{name}"}

    def here(name: str) -> dict[str, Any]:
        return {"path": f"{folder}/w_{name}.parquet"}

    alike = total = 0
    for case in cases():
        models = model_of_rows(case, there), model_of_rows(case, here)
        engines = Engine(kind="warehouse"), Engine()
        for day in (FIRST, LAST):
            with looking_once():
                theirs, ours = (
                    content(summarise_day("m", model, day, as_of=AS_OF, engine=engine))
                    for model, engine in zip(models, engines, strict=True)
                )
            alike, total = alike + (ours == theirs), total + 1
    return f"{driver_of(ADDRESS).language}: {alike} of {total} days alike in {len(cases())} models"


if __name__ == "__main__":
    main(*sys.argv[1:])
