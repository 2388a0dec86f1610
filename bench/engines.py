"""One large day with each engine: time, CPU and memory, side by side in one run.

    python -m bench.engines [--rows 20000000] [--joined-rows 100000000] [--rounds 1]

Writes predictions and outcomes (nine of ten predictions have one) with integer and with UUID ids,
and one log whose rows have both score and outcome. DuckDB and Spark, on this machine with two
cores, summarise the day with every check of the contract; pandas only joins and groups. Every job
runs in a fresh process, in turn with the others. Prints the least wall time of the rounds, the CPU
time, and the largest resident memory of the process and its children together, which Spark's Java
machine is one of. Stops if two jobs matched different rows, or if DuckDB and Spark left different
counts, positives or sums of offsets.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from hashlib import sha256
from pathlib import Path
from typing import Any

import duckdb

from bench.day import DAY, KINDS, MEMORY_MB, THREADS, write_logs

JOINED = "joined"
SPARK_MEMORY = "2g"
PAUSE = 0.5  # between two looks at the processes
TICKS, PAGE = os.sysconf("SC_CLK_TCK"), os.sysconf("SC_PAGE_SIZE")


def write_joined(folder: Path, rows: int) -> None:
    """Write rows with both score and outcome, and no id."""
    (folder / JOINED).mkdir()
    with duckdb.connect(config={"temp_directory": str(folder / "spill")}) as connection:
        connection.execute(
            f"""
            set threads={THREADS}; set preserve_insertion_order=false;
            copy (select score,
                         (hash(row + 1) / 18446744073709551616.0 < score)::tinyint as outcome,
                         ['DE', 'FR', 'IT', 'US'][1 + row % 4] as country
                  from (select range as row, hash(range + 777) / 18446744073709551616.0 as score
                        from range({rows})))
            to '{folder}/{JOINED}/{DAY}.parquet' (compression zstd)
            """  # noqa: S608 - our own numbers
        )


def summarise(folder: Path, kind: str, engine: dict[str, Any]) -> tuple[int, str]:
    """Summarise the day with every check; give the matched rows and a digest of all counts."""
    from datetime import date

    from monitor.config import Engine, Model
    from monitor.logs import summarise_day

    segments = {"column": "country", "values": ["DE", "FR", "IT", "US"]}
    logs: dict[str, Any] = {
        "predictions": {
            "path": f"{folder}/{kind}/predictions/{{day}}.parquet",
            "time": "scored_at",
        },
        "outcomes": {"path": f"{folder}/{kind}/outcomes/{{day}}.parquet", "time": "observed_at"},
    }
    if kind == JOINED:
        logs = {
            "predictions": {"path": f"{folder}/{kind}/{{day}}.parquet"},
            "outcomes": {"in_predictions": True},
        }
    model = Model.model_validate({**logs, "segments": segments, "settled_after": 0})
    summary = summarise_day(
        "bench", model, DAY, as_of=date(2026, 12, 31), engine=Engine.model_validate(engine)
    )
    digest = sha256()
    for name, part in summary.segments.items():
        digest.update(name.encode())
        if part.tally.cells:
            for column in (*vars(part.tally.cells).values(), part.tally.counts):
                digest.update(column.tobytes())
            digest.update(part.tally.positives.tobytes())
    return sum(part.tally.total for part in summary.segments.values()), digest.hexdigest()


def with_duckdb(folder: Path, kind: str) -> tuple[int, str]:
    """Use the engine of the daily job."""
    return summarise(folder, kind, {"threads": THREADS, "memory_mb": MEMORY_MB})


def with_spark(folder: Path, kind: str) -> tuple[int, str]:
    """Use Spark on this machine."""
    conf = {
        "spark.driver.memory": SPARK_MEMORY,
        "spark.ui.enabled": False,
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.shuffle.partitions": 8,
        "spark.local.dir": str(folder / "spill"),
        "spark.master": f"local[{THREADS}]",
    }
    return summarise(
        folder, kind, {"kind": "spark", "conf": {**conf, "spark.master": f"local[{THREADS}]"}}
    )


def with_pandas(folder: Path, kind: str) -> tuple[int, str]:
    """Join and group without any check."""
    import numpy as np
    import pandas as pd

    if kind == JOINED:
        met = pd.read_parquet(folder / kind / f"{DAY}.parquet")
    else:
        columns = {
            "predictions": ["prediction_id", "score", "country"],
            "outcomes": ["prediction_id", "outcome"],
        }
        scored, observed = (
            pd.read_parquet(folder / kind / log / f"{DAY}.parquet", columns=names)
            for log, names in columns.items()
        )
        met = scored.merge(observed, on="prediction_id")
    met["cell"] = np.floor(met["score"] * 65536)
    groups = met.groupby(["cell", "country"])["outcome"].agg(["size", "sum"])
    return int(groups["size"].sum()), ""


JOBS = {"duckdb": with_duckdb, "spark": with_spark, "pandas": with_pandas}


def measure(job: str, kind: str, folder: Path) -> dict[str, Any]:
    """Run one job in a fresh process, and watch it and its children."""
    command = [sys.executable, "-m", "bench.engines", "--job", job, "--kind", kind]
    start = time.perf_counter()
    process = subprocess.Popen(  # noqa: S603
        [*command, "--folder", str(folder)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    cpu, memory = dict[int, float](), 0.0
    while process.poll() is None:
        tree = family(process.pid)
        cpu |= {pid: seconds for pid, (seconds, _) in tree.items()}
        memory = max(memory, sum(size for _, size in tree.values()))
        time.sleep(PAUSE)
    wall = time.perf_counter() - start
    failed = process.returncode or process.stdout is None
    matched, digest = (0, "") if failed else json.loads(process.stdout.read())
    cost = {"wall": wall, "cpu": sum(cpu.values()), "memory_mb": memory / 2**20}
    return {"matched": matched, "digest": digest, **cost}


def family(root: int) -> dict[int, tuple[float, float]]:
    """Return the CPU seconds and resident bytes of a process and all below it."""
    found = dict[int, tuple[int, float, float]]()
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it has ended
        cpu = (int(fields[11]) + int(fields[12])) / TICKS
        found[int(path.parent.name)] = (int(fields[1]), cpu, int(fields[21]) * PAGE)
    chosen = {root}
    while more := {p for p, (parent, *_) in found.items() if parent in chosen} - chosen:
        chosen |= more
    return {pid: found[pid][1:] for pid in chosen if pid in found}


def main() -> None:
    """Write the logs, run all jobs in turn, print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=20_000_000)
    parser.add_argument("--joined-rows", type=int, default=100_000_000)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--job", choices=JOBS, help=argparse.SUPPRESS)
    parser.add_argument("--kind", choices=(*KINDS, JOINED), help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.job:
        print(json.dumps(JOBS[options.job](options.folder, options.kind)))
        return
    with tempfile.TemporaryDirectory(prefix="calibration-bench-") as name:
        print("writing the logs", file=sys.stderr)
        write_logs(Path(name), options.rows)
        write_joined(Path(name), options.joined_rows)
        for kind in (*KINDS, JOINED):
            rounds = [
                {job: measure(job, kind, Path(name)) for job in JOBS} for _ in range(options.rounds)
            ]
            report(kind, rounds)


def report(kind: str, rounds: list[dict[str, dict[str, Any]]]) -> None:
    """Print a line for each engine."""
    print(f"\n{kind}")
    for job in JOBS:
        best = min((found[job] for found in rounds), key=lambda r: r["wall"])
        memory = max(found[job]["memory_mb"] for found in rounds)
        print(
            f"  {job:8s} matched {best['matched']:13,}  wall {best['wall']:7.1f} s  "
            f"cpu {best['cpu']:7.1f} s  memory {memory:6,.0f} MB",
            flush=True,
        )
    matched = {found[job]["matched"] for found in rounds for job in JOBS}
    if len(matched) > 1:
        sys.exit(f"{kind}: the engines matched different rows, or one of them failed")
    if len({found[job]["digest"] for found in rounds for job in ("duckdb", "spark")}) > 1:
        sys.exit(f"{kind}: DuckDB and Spark left different counts")


if __name__ == "__main__":
    main()
