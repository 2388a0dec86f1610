"""One large day: time and memory of `summarise_day`, and of the bare join and group-by.

    python -m bench.day [--rows 20000000] [--rounds 3] [--memory-mb 1500]

Writes predictions and outcomes (nine of ten predictions have one) with integer and with UUID
ids into a temporary folder, then runs both jobs in fresh processes in turn, so that other work on
the machine affects both. The bare jobs join and group by score and segment, with DuckDB and, where
these are installed, with Polars and DataFusion; ours also makes every check of the contract. DuckDB
and DataFusion have the same limit of memory, and go to the disk beyond it; Polars has none. Prints
the least wall and CPU time of the rounds, what ours takes beyond each bare job in seconds and as a
ratio, and the largest resident memory of each process, which goes beyond the limit by what the
engine does not count.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from datetime import date
from importlib.util import find_spec
from pathlib import Path

import duckdb

from bench.spent import cpu_seconds, largest_memory_mb

DAY = date(2026, 3, 1)
KINDS = ("integer", "uuid")
THREADS, MEMORY_MB = 2, 1500
RATIOS, BEYOND_MB = {"integer": 1.4, "uuid": 1.25}, 200  # to reach


def write_logs(folder: Path, rows: int) -> None:
    """Write the same rows twice, with integer and with UUID ids, in unrelated orders."""
    with duckdb.connect(config={"temp_directory": str(folder / "spill")}) as connection:
        connection.execute(f"set threads={THREADS}")
        connection.execute(
            f"""
            create table rows as
            select (hash(range) >> 1)::bigint as id,
                   hash(range + 777) / 18446744073709551616.0 as score,
                   timestamptz '{DAY} 00:00:00+00' + to_microseconds(range * 4000) as scored_at,
                   ['DE', 'FR', 'IT', 'US'][1 + range % 4] as country,
                   hash(range + 5) as shuffle
            from range({rows})
            """  # noqa: S608 - our own numbers
        )
        for kind in KINDS:
            text = "md5(id::varchar)::uuid::varchar" if kind == "uuid" else "id"
            (folder / kind / "predictions").mkdir(parents=True)
            (folder / kind / "outcomes").mkdir(parents=True)
            connection.execute(
                f"""
                copy (select {text} as prediction_id, score, scored_at, country
                      from rows order by shuffle)
                to '{folder}/{kind}/predictions/{DAY}.parquet' (compression zstd);
                copy (select {text} as prediction_id,
                             (hash(id + 1) / 18446744073709551616.0 < score)::tinyint as outcome,
                             scored_at + interval 1 hour as observed_at
                      from rows where hash(id + 9) % 10 < 9 order by hash(shuffle))
                to '{folder}/{kind}/outcomes/{DAY}.parquet' (compression zstd);
                """  # noqa: S608
            )


def bare(folder: Path, memory_mb: int) -> int:
    """Join and group without any check."""
    with duckdb.connect(config={"temp_directory": str(folder / "spill")}) as connection:
        connection.execute(f"set threads={THREADS}; set memory_limit='{memory_mb}MB'")
        connection.execute("set preserve_insertion_order=false")
        groups = connection.sql(
            f"""
            select floor(score * 65536) as cell, country, count(*), sum(outcome), sum(score)
            from '{folder}/predictions/{DAY}.parquet'
            join '{folder}/outcomes/{DAY}.parquet' using (prediction_id)
            group by all
            """  # noqa: S608
        ).to_arrow_table()
        return sum(groups["count_star()"].to_pylist())


def polars(folder: Path, memory_mb: int) -> int:  # noqa: ARG001 - it has no limit
    """Do the same as `bare` with Polars, whose streaming engine has no limit of memory."""
    import polars as pl

    scored, observed = (
        pl.scan_parquet(f"{folder}/{name}/{DAY}.parquet") for name in ("predictions", "outcomes")
    )
    cell = (pl.col("score") * 65536).floor().alias("cell")
    joined = scored.join(observed, on="prediction_id").group_by(cell, "country")
    groups = joined.agg(pl.len(), pl.col("outcome").cast(pl.Int64).sum(), pl.col("score").sum())
    return int(groups.collect(engine="streaming")["len"].sum())


def datafusion(folder: Path, memory_mb: int) -> int:
    """Do the same as `bare` with DataFusion."""
    from datafusion import RuntimeEnvBuilder, SessionConfig, SessionContext

    runtime = RuntimeEnvBuilder().with_disk_manager_os().with_fair_spill_pool(memory_mb * 10**6)
    context = SessionContext(SessionConfig().with_target_partitions(THREADS), runtime)
    for name in ("predictions", "outcomes"):
        context.register_parquet(name, f"{folder}/{name}/{DAY}.parquet")
    rows = context.sql(
        """
        select floor(p.score * 65536) as cell, country, count(*) as rows, sum(outcome), sum(p.score)
        from predictions p join outcomes o on p.prediction_id = o.prediction_id
        group by floor(p.score * 65536), country
        """
    )
    return sum(sum(batch.column("rows").to_pylist()) for batch in rows.collect())


def checked(folder: Path, memory_mb: int) -> int:
    """Summarise the day as the daily job does."""
    from monitor.config import Engine, Model
    from monitor.logs import summarise_day

    model = Model.model_validate(
        {
            "predictions": {"path": f"{folder}/predictions/{{day}}.parquet", "time": "scored_at"},
            "outcomes": {"path": f"{folder}/outcomes/{{day}}.parquet", "time": "observed_at"},
            "segments": {"column": "country", "values": ["DE", "FR", "IT", "US"]},
            "settled_after": 0,
        }
    )
    engine = Engine(threads=THREADS, memory_mb=memory_mb)
    summary = summarise_day("bench", model, DAY, as_of=date(2026, 12, 31), engine=engine)
    return sum(part.tally.total for part in summary.segments.values())


JOBS = {"duckdb": bare, "polars": polars, "datafusion": datafusion, "checked": checked}
BARE = [job for job in JOBS if job != "checked"]


def measure_here(job: str, folder: Path, memory_mb: int) -> None:
    """Run one job in this process and print its time and memory.

    Both start with their program loaded; `metrics_start.py` measures the loading. Part of it are
    pandas, if installed, which DuckDB imports for the first constant, and the functions of SciPy,
    which are imported when the first is called.
    """
    import scipy.special  # noqa: F401

    import monitor.logs  # noqa: F401

    duckdb.ConstantExpression(0)
    start, loaded = time.perf_counter(), cpu_seconds()
    matched = JOBS[job](folder, memory_mb)
    print(
        json.dumps(
            {
                "matched": matched,
                "wall": time.perf_counter() - start,
                "cpu": cpu_seconds() - loaded,
                "memory_mb": largest_memory_mb(),
            }
        )
    )


def measure_apart(job: str, folder: Path, memory_mb: int) -> dict[str, float]:
    """Run one job in a fresh process."""
    options = ["--job", job, "--folder", str(folder), "--memory-mb", str(memory_mb)]
    command = [sys.executable, "-m", "bench.day", *options]
    environment = {**os.environ, "POLARS_MAX_THREADS": f"{THREADS}"}
    result = subprocess.run(  # noqa: S603
        command, check=True, capture_output=True, text=True, env=environment
    )
    return json.loads(result.stdout)


def main() -> None:
    """Write the logs, run both jobs in turn, print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=20_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--memory-mb", type=int, default=MEMORY_MB)
    parser.add_argument("--job", choices=JOBS, help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.job:
        measure_here(options.job, options.folder, options.memory_mb)
        return
    with tempfile.TemporaryDirectory(prefix="calibration-bench-") as name:
        there = [job for job in JOBS if job in ("duckdb", "checked") or find_spec(job)]
        print(f"writing {options.rows:,} predictions, twice", file=sys.stderr)
        write_logs(Path(name), options.rows)
        for kind in KINDS:
            found = {job: [] for job in there}
            for _ in range(options.rounds):
                for job in there:
                    found[job].append(measure_apart(job, Path(name) / kind, options.memory_mb))
            report(kind, found, options.memory_mb)


def report(kind: str, found: dict[str, list[dict[str, float]]], memory_mb: int) -> None:
    """Print a line for each job, and what is to be reached."""
    best = {job: min(rounds, key=lambda r: r["wall"]) for job, rounds in found.items()}
    if len({b["matched"] for b in best.values()}) > 1:
        sys.exit(f"{kind}: the jobs matched different rows: {best}")
    print(f"\n{kind} ids, {best['checked']['matched']:,} matched")
    for job, b in best.items():
        memory = max(r["memory_mb"] for r in found[job])
        print(
            f"  {job:10s} wall {b['wall']:6.2f} s  cpu {b['cpu']:6.2f} s  memory {memory:5.0f} MB"
        )
    for absent in JOBS.keys() - best.keys():
        print(f"  {absent:10s} is not installed")
    ours = best["checked"]
    for anchor in (job for job in best if job in BARE):
        beyond, ratios = (
            ", ".join(f"{of} {how(ours[of], best[anchor][of]):.2f}" for of in ("wall", "cpu"))
            for how in (float.__sub__, float.__truediv__)
        )
        print(f"  to {anchor:10s} {beyond} s more, ratio {ratios}")
    most = memory_mb + BEYOND_MB
    print(f"  to reach: {RATIOS[kind]} of the CPU time of duckdb, {most} MB")


if __name__ == "__main__":
    main()
