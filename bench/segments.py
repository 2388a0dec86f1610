"""Many segments: what a segment costs on a day, in a backfill and in a morning.

    python -m bench.segments [--segments 500] [--predictions 200] [--days 36]

Writes logs in which every segment has its own predictions of each day, with score and outcome in
one table. A fresh process backfills all days but the last; another one runs the last day, as a
morning does. Both summarise, evaluate and judge every segment. Prints CPU time for each segment
and day without that of starting the program, and the largest resident memory. Exit code: 0 if the
goal is reached, 1 if not.
"""

import argparse
import gc
import json
import subprocess
import sys
import tempfile
import time
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from scipy.special import expit

from bench.spent import cpu_seconds, largest_memory_mb

FIRST, ONE = date(2026, 1, 1), timedelta(days=1)
GOAL_MS = 15.0  # of a segment and day
MODEL = """\
store: {folder}/store
models:
  ctr:
    predictions: {{path: "{folder}/logs/{{day}}.parquet"}}
    outcomes: {{in_predictions: true}}
    settled_after: 0
    segments: {{column: segment, values: [{values}]}}
"""


def write_logs(folder: Path, segments: int, predictions: int, days: int) -> None:
    """Write calibrated scores around 0.12, whose prior wanders from day to day."""
    rng = np.random.default_rng(1)
    (folder / "logs").mkdir(parents=True)
    names = np.array([f"segment-{number}" for number in range(segments)])
    for place in range(days):
        rows = segments * predictions
        logits = rng.normal(-2.0, 1.2, rows)
        outcomes = rng.random(rows) < expit(logits + rng.normal(0.0, 0.1))
        table = {
            "prediction_id": np.arange(rows) + place * rows,
            "score": expit(logits),
            "outcome": outcomes.astype(np.int8),
            "segment": names[rng.integers(segments, size=rows)],
        }
        path = folder / "logs" / f"{FIRST + place * ONE}.parquet"
        pq.write_table(pa.table(table), path, compression="zstd")
    values = ", ".join(names[:-1])  # the last one is `other`
    (folder / "monitor.yaml").write_text(MODEL.format(folder=folder, values=values))


def measure_here(folder: Path, first: date, last: date) -> None:
    """Run some days in this process; print CPU time and memory."""
    from monitor.base.machine import RARELY
    from monitor.config import load_config
    from monitor.pipeline.days.task import Task
    from monitor.pipeline.runs.run import run

    gc.set_threshold(RARELY)  # as the command does
    config = load_config(folder / "monitor.yaml")
    start, before = time.perf_counter(), cpu_seconds()
    now = lambda: datetime.now(UTC)  # noqa: E731
    report = run(config, Task("ctr", first, last, last + ONE), clock=now, jobs=2)
    if report.failures:
        sys.exit(report.failures[0].message)
    found = {
        "cpu": cpu_seconds() - before,
        "wall": time.perf_counter() - start,
        "memory_mb": largest_memory_mb(),
    }
    print(json.dumps(found))


def measure_apart(folder: Path, first: date, last: date) -> dict[str, float]:
    """Run some days in a fresh process."""
    command = [sys.executable, "-m", "bench.segments", "--here", str(folder), str(first), str(last)]
    result = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)  # noqa: S603
    return json.loads(result.stdout)


def main() -> None:
    """Write the logs, run both jobs, print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--segments", type=int, default=500)
    parser.add_argument("--predictions", type=int, default=200, help="of a segment and day")
    parser.add_argument("--days", type=int, default=36)
    parser.add_argument("--here", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.here:
        folder, first, last = options.here
        measure_here(Path(folder), date.fromisoformat(first), date.fromisoformat(last))
        return
    with tempfile.TemporaryDirectory(prefix="calibration-bench-") as name:
        folder, last = Path(name), FIRST + (options.days - 1) * ONE
        print("writing the logs", file=sys.stderr)
        write_logs(folder / "few", 3, options.predictions, 3)
        measure_apart(folder / "few", FIRST, FIRST + 2 * ONE)  # compiles what is not cached yet
        write_logs(folder / "many", options.segments, options.predictions, options.days)
        jobs = {"backfill": (FIRST, last - ONE), "morning": (last, last)}
        reached = True
        for job, (begin, end) in jobs.items():
            found = measure_apart(folder / "many", begin, end)
            each = 1000 * found["cpu"] / options.segments / ((end - begin).days + 1)
            reached &= each <= GOAL_MS
            print(
                f"{job:9s} {each:6.1f} ms of CPU for each segment and day (to reach: {GOAL_MS}), "
                f"{found['wall']:.1f} s, {found['memory_mb']:.0f} MB"
            )
    sys.exit(0 if reached else 1)


if __name__ == "__main__":
    main()
