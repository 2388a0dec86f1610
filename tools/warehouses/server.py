"""Runs SQL in a warehouse's engine for `engines.py`, in a Python that has its package.

Arguments: the engine, a folder, and the tables that it has as Parquet. Each line of the input is a
statement and the file for its answer.
"""

import atexit
import json
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

Run = Callable[[str], Any]

DDL = {"string": 0, "double": 1, "date32[day]": 2, "timestamp[us]": 3}
SNOWFLAKE = "VARCHAR", "DOUBLE", "DATE", "TIMESTAMP_NTZ"
BIGQUERY = "STRING", "FLOAT64", "DATE", "DATETIME"


def columns(file: Path, types: Sequence[str]) -> str:
    """Write the columns of a file for CREATE TABLE."""
    schema = pq.read_schema(file)
    return ", ".join(f"{field.name} {types[DDL[str(field.type)]]}" for field in schema)


def clickhouse(folder: Path, names: Sequence[str]) -> Run:
    """Use chdb."""
    from chdb import session  # noqa: PLC0415

    server = session.Session()
    server.query("CREATE DATABASE w ENGINE = Atomic")
    server.query("USE w")
    for name in names:
        file = f"file('{folder}/{name}.parquet')"
        server.query(
            f"CREATE TABLE {name} ENGINE = MergeTree ORDER BY tuple() AS SELECT * FROM {file}"
        )

    def run(sql: str) -> Any:
        answer = server.query(sql, "Arrow").bytes()
        table = pa.ipc.open_file(pa.BufferReader(answer)).read_all()
        texts = [n for n in table.column_names if pa.types.is_binary(table[n].type)]
        for name in texts:
            place = table.column_names.index(name)
            table = table.set_column(place, name, table[name].cast(pa.string()))
        return table

    return run


def snowflake(folder: Path, names: Sequence[str]) -> Run:
    """Use fakesnow."""
    import fakesnow  # noqa: PLC0415
    import snowflake.connector  # noqa: PLC0415

    patched = fakesnow.patch()
    patched.__enter__()
    atexit.register(patched.__exit__, None, None, None)
    connection = snowflake.connector.connect(user="u", account="a", database="db", schema="s")
    cursor = connection.cursor()
    for name in names:
        file = folder / f"{name}.parquet"
        cursor.execute(f"CREATE TABLE {name} ({columns(file, SNOWFLAKE)})")
        # The emulator is DuckDB, which reads the file itself.
        connection._duck_conn.execute(f"INSERT INTO db.s.{name} SELECT * FROM '{file}'")  # noqa: SLF001

    def run(sql: str) -> Any:
        cursor.execute(sql)
        rows = cursor.fetchall()
        return pa.table({d[0]: [row[i] for row in rows] for i, d in enumerate(cursor.description)})

    return run


def bigquery(folder: Path, names: Sequence[str]) -> Run:
    """Use bqemulator, without its types of geography, which it would download."""
    from google.auth.credentials import AnonymousCredentials  # noqa: PLC0415
    from google.cloud import bigquery as bq  # noqa: PLC0415

    port = "19050"
    code = (
        "import bqemulator.storage.engine as e\n"
        "for c in vars(e).values():\n"
        "    if hasattr(c, '_load_spatial'): c._load_spatial = lambda self: None\n"
        "from bqemulator.cli import main\nmain()"
    )
    call = [sys.executable, "-c", code, "start", "--rest-port", port, "--project", "p"]
    server = subprocess.Popen(call, stdout=-3, stderr=-3)
    atexit.register(server.terminate)
    time.sleep(10)
    client = bq.Client(
        project="p",
        credentials=AnonymousCredentials(),
        client_options={"api_endpoint": f"http://127.0.0.1:{port}"},
    )
    client.create_dataset("d")
    for name in names:
        file = folder / f"{name}.parquet"
        client.query(f"CREATE TABLE d.{name} ({columns(file, BIGQUERY)})").result()
        with file.open("rb") as rows:
            settings = bq.LoadJobConfig(source_format="PARQUET")
            client.load_table_from_file(rows, f"p.d.{name}", job_config=settings).result()

    def run(sql: str) -> Any:
        settings = bq.QueryJobConfig(default_dataset="p.d")
        rows = [dict(row) for row in client.query(sql, job_config=settings).result()]
        return pa.Table.from_pylist(rows)

    return run


def databricks(folder: Path, names: Sequence[str]) -> Run:
    """Use Spark in ANSI mode."""
    from pyspark.sql import SparkSession  # noqa: PLC0415

    builder = SparkSession.builder.master("local[2]").config("spark.sql.ansi.enabled", "true")
    builder = builder.config("spark.ui.enabled", "false").config("spark.sql.shuffle.partitions", 4)
    spark = builder.config("spark.sql.session.timeZone", "UTC").getOrCreate()
    for name in names:
        spark.read.parquet(f"{folder}/{name}.parquet").createOrReplaceTempView(name)
    return lambda sql: spark.sql(sql).toArrow()


def main(engine: str, folder: str, *names: str) -> None:
    """Answer each line of the input."""
    run = globals()[engine](Path(folder), names)
    for line in sys.stdin:
        sql, answer = json.loads(line)
        try:
            pq.write_table(run(sql), answer)
            wrong = ""
        except Exception as error:  # noqa: BLE001 - whatever an engine raises is said
            wrong = repr(error)[:2000]
        print(f"done:{wrong}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
