"""What additions to the evidence cost: buckets of entities, a second detector, watched values.

    python -m bench.evidence [--rows 10000] [--days 80] [--rounds 3]

Writes logs of five segments, one sound and one whose scores are too extreme from the middle on, so
that its drift is open and each stream has a second detector. Models with and without an `entity`
and watched columns backfill them. Then the later half of the days is judged again under the lock of
the model, as a run does, without the references' fit, in fresh processes in turn. Label noise is
part of all evidence, so it is in every line.

Prints the least CPU time for each segment and day, and which part of it each took: *files* reads
and writes the store, *places* finds where the open drift sits (without the files that it reads),
and *evidence* is all else. The last line says what all additions together add to a model without
such settings. The goal is one of evidence. Exit code: 0 if it is reached, 1 if not.
"""

import argparse
import gc
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from datetime import date
from functools import wraps
from pathlib import Path
from threading import local
from time import thread_time
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from scipy.special import expit

from bench.segments import FIRST, ONE, measure_apart
from bench.spent import cpu_seconds

GOAL_MS = 0.5  # of a segment and day, the evidence of all additions together
FILES = (  # what reads and writes the store
    *("days", "content", "read_summary", "read_columns", "read_volumes", "is_final"),
    *("read_verdicts", "write_verdicts", "read_arrivals", "mark_stale", "clear_stale"),
)
SEGMENTS, DEVICES, CUSTOMERS = 5, 4, 2_000
MODEL = """\
store: {folder}/store
models:
  ctr:
    predictions: {{path: "{logs}/{{day}}.parquet"{entity}}}
    outcomes: {{in_predictions: true}}
    settled_after: 0
    segments:
      - {{column: country, values: [{countries}], primary: true}}
{columns}"""
ENTITY = ", entity: customer"
WATCHED = f"      - {{column: device, top: {DEVICES}}}\n"
SIDES = {  # the logs, the entity and the watched columns
    "none": ("sound", "", ""),
    "buckets of entities": ("sound", ENTITY, ""),
    "watched values": ("sound", "", WATCHED),
    "open drift": ("drifts", "", ""),
    "all of these": ("drifts", ENTITY, WATCHED),
}


def write_logs(folder: Path, rows: int, days: int, *, drifts: bool) -> None:
    """Write scores of which 12 % come true, whose prior wanders from day to day."""
    rng = np.random.default_rng(1)
    folder.mkdir()
    for place in range(days):
        logits = rng.normal(-2.0, 1.2, rows)
        slope = 0.5 if drifts and 2 * place >= days else 1.0
        table = {
            "prediction_id": np.arange(rows) + place * rows,
            "score": expit(logits),
            "outcome": (rng.random(rows) < expit(slope * logits + rng.normal(0.0, 0.1))) * 1,
            "country": np.char.add("c", rng.integers(SEGMENTS, size=rows).astype(str)),
            "device": np.char.add("d", rng.integers(DEVICES, size=rows).astype(str)),
            "customer": rng.integers(CUSTOMERS, size=rows),
        }
        pq.write_table(pa.table(table), folder / f"{FIRST + place * ONE}.parquet")


class Parts:
    """CPU time of named parts of a process; that of a part within another counts as its own."""

    def __init__(self) -> None:
        self.spent: dict[str, float] = {}
        self._open = local()

    def of(self, part: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """Count what a function takes as a part."""

        @wraps(function)
        def counted(*args: Any, **options: Any) -> Any:
            within = self._open.__dict__.setdefault("parts", [])
            self._count(within)
            within.append(part)
            try:
                return function(*args, **options)
            finally:
                self._count(within)
                within.pop()

        return counted

    def _count(self, within: list[str]) -> None:
        """Count what has passed since the last change for the innermost part."""
        now = thread_time()
        if within:
            self.spent[within[-1]] = self.spent.get(within[-1], 0.0) + now - self._open.since
        self._open.since = now


def judge_here(folder: Path, first: date) -> None:
    """Judge the days from the first on again; print the CPU time and its parts."""
    from monitor.base.machine import RARELY
    from monitor.config import load_config
    from monitor.pipeline.verdicts import judging
    from monitor.pipeline.verdicts.references import read_references
    from monitor.store.store import Store

    gc.set_threshold(RARELY)  # as the command does
    config, parts = load_config(folder / "monitor.yaml"), Parts()
    for name in FILES:
        setattr(Store, name, parts.of("files", getattr(Store, name)))
    adder = judging.place_adder
    judging.place_adder = lambda *of: parts.of("places", adder(*of))
    store = Store(config.store)
    for _ in range(2):  # the first time compiles and imports
        with store.locked("ctr"):
            references = read_references(config, "ctr")
            parts.spent, before = {}, cpu_seconds()
            judged = judging.judge_days(config, "ctr", references, first)
            whole = cpu_seconds() - before
    each = {part: parts.spent.get(part, 0.0) for part in ("files", "places")}
    each = {"all": whole, "evidence": whole - sum(each.values()), **each}
    print(json.dumps({part: 1000.0 * of / len(judged) / SEGMENTS for part, of in each.items()}))


def judge_apart(folder: Path, first: date) -> dict[str, float]:
    """Judge in a fresh process; give the milliseconds of a segment and day, and of its parts."""
    command = [sys.executable, "-m", "bench.evidence", "--here", str(folder), str(first)]
    result = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)  # noqa: S603
    return json.loads(result.stdout)


def fill(folder: Path, side: str, last: date) -> None:
    """Write the configuration of a side and backfill its days."""
    logs, entity, columns = SIDES[side]
    folder.mkdir()
    countries = ", ".join(f"c{number}" for number in range(SEGMENTS))
    text = MODEL.format(
        folder=folder,
        logs=folder.parent / logs,
        entity=entity,
        countries=countries,
        columns=columns,
    )
    (folder / "monitor.yaml").write_text(text)
    measure_apart(folder, FIRST, last)


def main() -> None:
    """Write the logs, fill the stores, judge in turn, print a line for each side."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=10_000, help="of a day, all segments together")
    parser.add_argument("--days", type=int, default=80)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--here", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.here:
        judge_here(Path(options.here[0]), date.fromisoformat(options.here[1]))
        return
    last, middle = FIRST + (options.days - 1) * ONE, FIRST + (options.days // 2) * ONE
    with tempfile.TemporaryDirectory(prefix="calibration-bench-") as name:
        print("writing the logs and filling the stores", file=sys.stderr)
        for logs in ("sound", "drifts"):
            write_logs(Path(name, logs), options.rows, options.days, drifts=logs == "drifts")
        folders = {side: Path(name, str(number)) for number, side in enumerate(SIDES)}
        for side, folder in folders.items():
            fill(folder, side, last)
        rounds = [
            {side: judge_apart(folder, middle) for side, folder in folders.items()}
            for _ in range(options.rounds)
        ]
    # Of each side the round that took least, so that its parts add up.
    least = {side: min((of[side] for of in rounds), key=lambda took: took["all"]) for side in SIDES}
    for side, took in least.items():
        print(f"{side:20s} {_said(took)}")
    added = {part: least["all of these"][part] - took for part, took in least["none"].items()}
    print(f"{'added':20s} {_said(added)} (evidence to reach: {GOAL_MS} ms)")
    print(f"load {os.getloadavg()[0]:.1f} at the end, {os.cpu_count()} cores")
    sys.exit(0 if added["evidence"] <= GOAL_MS else 1)


def _said(took: dict[str, float]) -> str:
    parts = ", ".join(f"{part} {took[part]:6.3f}" for part in ("evidence", "places", "files"))
    return f"{took['all']:6.3f} ms for each segment and day: {parts}"


if __name__ == "__main__":
    main()
