"""Watched values: what a value costs in a morning, in all and only for its evidence.

    python -m bench.values [--rows 20000] [--days 32] [--rounds 3]

Writes logs with five columns, two of them crossed, of 188 values together. The same logs are run
without these columns, with the columns counted, and with every value watched; each backfills all
days but the last. Then the three run the last day in turn, each time in a fresh process. Prints the
least CPU time of that morning without starting the program, the ratio of both sides, and what a
value adds. Exit code: 0 if the goal is reached, 1 if not.
"""

import argparse
import sys
import tempfile
from datetime import timedelta
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from scipy.special import expit

from bench.segments import FIRST, ONE, measure_apart

GOAL_MS = 0.5  # of a value and day, everything counted
SIZES = {"customer": 80, "country": 8, "device": 6, "channel": 10, "hour": 24}
CROSSED = ("device", "channel")
VALUES = sum(SIZES.values()) + SIZES["device"] * SIZES["channel"]
COLUMNS = (
    "".join(f"      - {{column: {name}, top: {size}}}\n" for name, size in SIZES.items())
    + f"      - {{cross: [{', '.join(CROSSED)}], top: 60}}\n"
)
SIDES = {  # what follows in the description of the model
    "without columns": "",
    "columns counted": f"    verdicts: {{value_severity: none}}\n    segments:\n{COLUMNS}",
    "values watched": f"    segments:\n{COLUMNS}",
}
MODEL = """\
store: {folder}/store
models:
  ctr:
    predictions: {{path: "{logs}/{{day}}.parquet"}}
    outcomes: {{in_predictions: true}}
    settled_after: 0
"""


def write_logs(folder: Path, rows: int, days: int) -> None:
    """Write calibrated scores of which 5 % come true, whose prior wanders from day to day."""
    rng = np.random.default_rng(1)
    folder.mkdir(parents=True)
    for place in range(days):
        logits = rng.normal(-3.5, 1.2, rows)
        outcomes = rng.random(rows) < expit(logits + rng.normal(0.0, 0.3))
        table = {
            "prediction_id": np.arange(rows) + place * rows,
            "score": expit(logits),
            "outcome": outcomes.astype(np.int8),
            **{
                name: np.char.add(name, rng.integers(size, size=rows).astype(str))
                for name, size in SIZES.items()
            },
        }
        path = folder / f"{FIRST + timedelta(days=place)}.parquet"
        pq.write_table(pa.table(table), path, compression="zstd")


def main() -> None:
    """Write the logs, run all sides, print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--days", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    last = FIRST + (options.days - 1) * ONE
    with tempfile.TemporaryDirectory(prefix="calibration-bench-") as name:
        print("writing the logs and filling the stores", file=sys.stderr)
        write_logs(Path(name, "logs"), options.rows, options.days)
        folders = {side: Path(name, f"{number}") for number, side in enumerate(SIDES)}
        for side, folder in folders.items():
            folder.mkdir()
            text = MODEL.format(folder=folder, logs=Path(name, "logs")) + SIDES[side]
            (folder / "monitor.yaml").write_text(text)
            measure_apart(folder, FIRST, last - ONE)
        rounds = [
            {side: measure_apart(folder, last, last)["cpu"] for side, folder in folders.items()}
            for _ in range(options.rounds)
        ]
    least = {side: 1000.0 * min(of[side] for of in rounds) for side in SIDES}
    plain = least["without columns"]
    for side, spent in least.items():
        each = (spent - plain) / VALUES
        print(f"{side:16s} {spent:8.0f} ms, {spent / plain:.2f} x, {each:.3f} ms more for a value")
    found = (least["values watched"] - plain) / VALUES
    print(f"{VALUES} values: {found:.3f} ms of CPU for each value and day (to reach: {GOAL_MS})")
    sys.exit(0 if found <= GOAL_MS else 1)


if __name__ == "__main__":
    main()
