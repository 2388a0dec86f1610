"""Many days: time and memory of a backfill and of a morning, with and without days to wait.

    python -m bench.backfill [--days 60] [--rows 200000] [--rounds 2]
                             [--large-days 16] [--large-rows 1000000]

Writes predictions with strings as ids, and outcomes that arrive over 31 days, half of them on the
first. Every job runs in a fresh process, in turn with the others, so that other work on the machine
affects all of them:

- a backfill with `settled_after` 0, and one with 30;
- a morning that settles one day, and one that also processes the 30 days after it;
- a backfill of larger days whose outcomes all come at once.

Evaluations are part of all of them. Prints the least wall time of the rounds, the CPU time, the
largest resident memory, how often a partition of outcomes was read, and each ratio of CPU times
beside the one to reach. Exit code: 0 if every goal is reached, 1 if not.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections import Counter
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb

from bench.spent import cpu_seconds, largest_memory_mb

FIRST = date(2026, 1, 1)
THREADS, MEMORY_MB, LARGE_MEMORY_MB = 2, 1500, 500
LONGEST_DELAY = 30
BACKFILL_RATIO, MORNING_RATIO, READS, LARGE_SECONDS = 1.3, 3.0, 2, 8.0
PROGRAM_MB = 400  # what the program itself takes beside engine.memory_mb
NOTHING, AWAITED = "backfill, 0 days to wait", "backfill, 30 days to wait"
MORNING, UNSETTLED = "morning, one day", "morning, and 30 unsettled"
LARGE = "large days"
MODEL = """\
store: {store}
engine: {{threads: {threads}, memory_mb: {memory}}}
models:
  ctr:
    predictions: {{path: "{logs}/predictions/{{day}}.parquet", time: scored_at}}
    outcomes: {{path: "{logs}/outcomes/{{day}}.parquet", time: observed_at}}
    settled_after: {settled_after}
    checks: {{reject: [outcome_orphan]}}
"""


def write_logs(folder: Path, days: int, rows: int, longest_delay: int) -> None:
    """Write the predictions of some days, and outcomes until the last of them has settled."""
    with duckdb.connect(config={"temp_directory": str(folder / "spill")}) as connection:
        connection.execute(f"set threads={THREADS}")
        for kind in ("predictions", "outcomes"):
            (folder / kind).mkdir(parents=True)
        delay = (
            f"least({longest_delay}, floor(-log2(1 - hash(id || 'd') / 18446744073709551616.0)))"
        )
        connection.execute(
            f"""
            create table rows as
            select md5(day::varchar || '-' || row::varchar) as id, day,
                   pow(hash(day * 7919 + row * 31) / 18446744073709551616.0, 2) as score,
                   timestamptz '{FIRST} 00:00:00+00' + to_days(day::int)
                       + to_microseconds(row * 4000) as scored_at,
                   ['DE', 'FR', 'IT', 'US'][1 + row % 4] as country,
                   day + {delay} as observed
            from range({days}) days(day), range({rows}) rows(row)
            """  # noqa: S608 - our own numbers
        )
        for place in range(days + longest_delay):
            day = FIRST + timedelta(days=place)
            if place < days:
                connection.execute(
                    f"""
                    copy (select id as prediction_id, score, scored_at, country
                          from rows where day = {place})
                    to '{folder}/predictions/{day}.parquet' (compression zstd)
                    """  # noqa: S608
                )
            connection.execute(
                f"""
                copy (select id as prediction_id,
                             (hash(id || 'o') / 18446744073709551616.0 < score)::tinyint as outcome,
                             scored_at + to_days((observed - day)::int) + interval 1 hour
                                 as observed_at
                      from rows where observed = {place} order by hash(id))
                to '{folder}/outcomes/{day}.parquet' (compression zstd)
                """  # noqa: S608
            )


def configure(folder: Path, logs: str, *, settled_after: int, memory_mb: int = MEMORY_MB) -> str:
    """Write a configuration with an empty store of its own."""
    store = tempfile.mkdtemp(prefix="store-", dir=folder)
    path = Path(store) / "monitor.yaml"
    path.write_text(
        MODEL.format(
            store=f"{store}/store",
            threads=THREADS,
            memory=memory_mb,
            logs=folder / logs,
            settled_after=settled_after,
        )
    )
    return str(path)


def measure_here(config_path: str, first: date, last: date, as_of: date) -> None:
    """Run some days in this process; print time, memory and how often outcomes were read."""
    start = time.perf_counter()
    from monitor.config import load_config
    from monitor.logs.sources.opening import OpenLog
    from monitor.pipeline.days.task import Task
    from monitor.pipeline.runs.run import run

    read, reads = OpenLog.read, Counter[str]()

    def counting(self: OpenLog, *where: Any, **columns: Any) -> Any:
        if self.kind == "outcomes" and "outcome" in columns:
            reads.update([*self.files])
        return read(self, *where, **columns)

    OpenLog.read = counting
    config = load_config(Path(config_path))
    report = run(
        config, Task("ctr", first, last, as_of), clock=lambda: datetime.now(UTC), jobs=THREADS
    )
    if report.failures:
        sys.exit(report.failures[0].message)
    print(
        json.dumps(
            {
                "days": len(report.summarised),
                "wall": time.perf_counter() - start,
                "cpu": cpu_seconds(),
                "memory_mb": largest_memory_mb(),
                "reads": max(reads.values()),
            }
        )
    )


def measure_apart(config_path: str, first: date, last: date, as_of: date) -> dict[str, float]:
    """Run some days in a fresh process."""
    days = [str(day) for day in (first, last, as_of)]
    command = [sys.executable, "-m", "bench.backfill", "--here", config_path, *days]
    result = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)  # noqa: S603
    return json.loads(result.stdout)


def main() -> None:
    """Write the logs, run all jobs in turn, print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--days", type=int, default=60)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--large-days", type=int, default=16)
    parser.add_argument("--large-rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--here", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.here:
        config, *days = options.here
        measure_here(config, *map(date.fromisoformat, days))
        return
    with tempfile.TemporaryDirectory(prefix="calibration-bench-") as name:
        folder = Path(name)
        print("writing the logs", file=sys.stderr)
        write_logs(folder / "late", options.days, options.rows, LONGEST_DELAY)
        write_logs(folder / "large", options.large_days, options.large_rows, 0)
        found = [measure_all(folder, options) for _ in range(options.rounds)]
    sys.exit(report(found))


def measure_all(folder: Path, options: argparse.Namespace) -> dict[str, dict[str, float]]:
    """Run every job once."""
    one = timedelta(days=1)
    last = FIRST + (options.days - 1) * one
    settled = last - LONGEST_DELAY * one
    large = FIRST + (options.large_days - 1) * one
    at_once = configure(folder, "late", settled_after=0)
    awaited = configure(folder, "late", settled_after=LONGEST_DELAY)
    daily = configure(folder, "late", settled_after=LONGEST_DELAY)
    wide = configure(folder, "large", settled_after=0, memory_mb=LARGE_MEMORY_MB)
    measure_apart(daily, FIRST, settled - one, last)  # what earlier mornings stored
    return {
        NOTHING: measure_apart(at_once, FIRST, last, last + (LONGEST_DELAY + 1) * one),
        AWAITED: measure_apart(awaited, FIRST, last, last + (LONGEST_DELAY + 1) * one),
        MORNING: measure_apart(daily, settled, settled, last + one),
        UNSETTLED: measure_apart(daily, settled, last, last + one),
        LARGE: measure_apart(wide, FIRST, large, large + one),
    }


def report(rounds: list[dict[str, dict[str, float]]]) -> int:
    """Print a line for each job and each goal; return 1 if a goal is missed."""
    best = {
        job: min((found[job] for found in rounds), key=lambda r: r["wall"]) for job in rounds[0]
    }
    for job, b in best.items():
        print(
            f"{job:26s} {b['days']:3} days  wall {b['wall']:6.2f} s  cpu {b['cpu']:6.2f} s  "
            f"memory {b['memory_mb']:5.0f} MB  outcomes read {b['reads']} times"
        )
    months = max(1.0, best[NOTHING]["days"] / 30)
    goals = {
        "backfill with 30 days to wait, of 0": (ratio(best, AWAITED, NOTHING), BACKFILL_RATIO),
        "readings of a partition, of a month": (best[AWAITED]["reads"] / months, READS),
        "morning with 30 unsettled days, of one": (ratio(best, UNSETTLED, MORNING), MORNING_RATIO),
        "the same in wall time": (ratio(best, UNSETTLED, MORNING, of="wall"), MORNING_RATIO),
        "large days, seconds of wall time": (best[LARGE]["wall"], LARGE_SECONDS),
        "large days, MB": (best[LARGE]["memory_mb"], LARGE_MEMORY_MB),
        "MB beside engine.memory_mb": (
            max(
                b["memory_mb"] - (LARGE_MEMORY_MB if job == LARGE else MEMORY_MB)
                for job, b in best.items()
            ),
            PROGRAM_MB,
        ),
    }
    for goal, (value, limit) in goals.items():
        print(f"{goal:40s} {value:6.2f} (to reach: {limit})")
    return int(any(value > limit for value, limit in goals.values()))


def ratio(best: dict[str, dict[str, float]], job: str, other: str, *, of: str = "cpu") -> float:
    """Compare two jobs, by default their CPU time, which other work on the machine disturbs least.

    Two threads that share a core take more CPU time than one after the other, so a job that uses
    both has a larger ratio of CPU times than of wall times.
    """
    return best[job][of] / best[other][of]


if __name__ == "__main__":
    main()
