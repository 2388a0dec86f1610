"""One day from Parquet files and from PostgreSQL: time and memory of `summarise_day`, in turn.

PostgreSQL sends its rows, and with `engine.kind: warehouse` its counts.

    python -m bench.databases [--rows 1000000] [--rounds 3]

Writes predictions and outcomes (nine of ten predictions have one) into files and, the same rows,
into an indexed PostgreSQL of its own on this machine. Each job runs in a fresh process. Prints the
least wall and CPU time of the rounds, their ratio, and the largest resident memory; the server's
own CPU time is in the wall time only. Stops if the two jobs counted different rows.
"""

import argparse
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import date
from hashlib import sha256
from pathlib import Path
from threading import Thread
from typing import Any

from bench.day import DAY, MEMORY_MB, THREADS, write_logs
from bench.spent import cpu_seconds, largest_memory_mb

VARIABLE = "BENCH_DATABASE"
LOGS = {"predictions": "scored_at", "outcomes": "observed_at"}
SOURCES = "files", "rows", "counts"
RATIO, MOST_MB = 1.2, 2.0  # to reach by counts, of wall times and on the wire


def fill(folder: Path, address: str) -> None:
    """Write the rows of the files into tables with an index."""
    import pyarrow.parquet as pq
    from adbc_driver_postgresql import dbapi

    with dbapi.connect(address) as connection, connection.cursor() as cursor:
        for name, time_column in LOGS.items():
            rows = pq.read_table(folder / "integer" / name / f"{DAY}.parquet")
            cursor.adbc_ingest(name, rows, mode="create")
            cursor.execute(f"CREATE INDEX ON {name} ({time_column})")
        cursor.execute("ANALYZE")
        connection.commit()


def summarise(folder: Path, source: str) -> str:
    """Summarise the day with every check, as a run does; give a digest of all counts."""
    from monitor.base.files import looking_once
    from monitor.config import Engine, Model
    from monitor.logs import summarise_day

    logs: dict[str, dict[str, Any]] = {
        name: {"path": f"{folder}/integer/{name}/{{day}}.parquet", "time": time_column}
        if source == "files"
        else {
            "format": "sql",
            "sql": f"SELECT * FROM {name}",  # noqa: S608 - our own names
            "connection": VARIABLE,
            "day": time_column,
            "time": time_column,
        }
        for name, time_column in LOGS.items()
    }
    segments = {"column": "country", "values": ["DE", "FR", "IT", "US"]}
    model = Model.model_validate({**logs, "segments": segments, "settled_after": 0})
    kind = "warehouse" if source == "counts" else "duckdb"
    engine = Engine(kind=kind, threads=THREADS, memory_mb=MEMORY_MB)
    with looking_once():
        summary = summarise_day("bench", model, DAY, as_of=date(2026, 12, 31), engine=engine)
    digest = sha256()
    for name, part in summary.segments.items():
        digest.update(name.encode())
        digest.update(part.tally.counts.tobytes() + part.tally.positives.tobytes())
    return digest.hexdigest()


def measure(source: str, folder: Path, address: str) -> dict[str, Any]:
    """Run one job in a fresh process."""
    command = [sys.executable, "-m", "bench.databases", "--source", source, "--folder", str(folder)]
    environment = {**os.environ, VARIABLE: address}
    done = subprocess.run(  # noqa: S603
        command, env=environment, capture_output=True, check=True, text=True
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def main() -> None:
    """Write the logs, run both jobs in turn, print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--source", choices=SOURCES, help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.source:
        start = time.perf_counter()
        digest = summarise(options.folder, options.source)
        wall = time.perf_counter() - start
        spent = {"wall": wall, "cpu": cpu_seconds(), "memory_mb": largest_memory_mb()}
        print(json.dumps({"digest": digest, **spent}))
        return
    from tests.support.postgresql import postgresql

    with tempfile.TemporaryDirectory(prefix="calibration-bench-") as name:
        folder = Path(name)
        write_logs(folder, options.rows)
        with postgresql(folder, "bench") as address:
            fill(folder, address)
            sent = {source: sent_for(source, folder, address) for source in SOURCES[1:]}
            rounds = [
                {source: measure(source, folder, address) for source in SOURCES}
                for _ in range(options.rounds)
            ]
    if len({found["digest"] for each in rounds for found in each.values()}) > 1:
        sys.exit("the files and the database gave different counts")
    wall = {source: min(each[source]["wall"] for each in rounds) for source in SOURCES}
    for source in SOURCES:
        cpu = min(each[source]["cpu"] for each in rounds)
        memory = max(each[source]["memory_mb"] for each in rounds)
        ratio = wall[source] / wall["files"]
        print(
            f"{source:7s} wall {wall[source]:6.2f} s ({ratio:4.2f})  cpu {cpu:6.2f} s  "
            f"{memory:5.0f} MB  {sent.get(source, 0) / 1e6:6.2f} MB sent"
        )
    print(f"to reach by counts: {RATIO} times the wall time of files, {MOST_MB} MB sent")


def sent_for(source: str, folder: Path, address: str) -> int:
    """Count the bytes that the server sends, in a round that is not timed."""
    host, _, port = address.rpartition("@")[2].partition("/")[0].partition(":")
    with counting_proxy(host, int(port)) as (own_port, sent):
        measure(source, folder, address.replace(f":{port}/", f":{own_port}/"))
        return sent[0]


@contextmanager
def counting_proxy(host: str, port: int) -> Iterator[tuple[int, list[int]]]:
    """Pass on connections, and count the bytes of the answers."""
    sent = [0]

    def pump(source: socket.socket, target: socket.socket, *, counted: bool) -> None:
        with suppress(OSError):
            while data := source.recv(1 << 16):
                sent[0] += len(data) * counted
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)

    def serve(listener: socket.socket) -> None:
        with suppress(OSError):
            while True:
                client, _ = listener.accept()
                server = socket.create_connection((host, port))
                for ends, counted in (((client, server), False), ((server, client), True)):
                    Thread(target=pump, args=ends, kwargs={"counted": counted}, daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        Thread(target=serve, args=[listener], daemon=True).start()
        yield listener.getsockname()[1], sent


if __name__ == "__main__":
    main()
