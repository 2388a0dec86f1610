"""The time of a fresh process: a first measure and the commands, cold and warm.

*Cold* means an empty compiler cache: the first run after an installation or an upgrade, and every
run if numba cannot write next to the package and `NUMBA_CACHE_DIR` is not set. *Warm* is every
later run.
"""

import os
import subprocess
import sys
import tempfile
import time
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

FIRST_TCE = """
from monitor.metrics import pava_bc, tally, tce
"""
FIRST_TCE_RUN = """
t = tally([i % 2 for i in range(1000)], [i / 1000 for i in range(1000)])
tce(t, pava_bc(t, min_size=50, max_size=200))
"""
FIRST_ECE = """
from monitor.metrics import ece, uniform_bins
"""
FIRST_ECE_RUN = """
ece(uniform_bins(([i % 2 for i in range(1000)], [i / 1000 for i in range(1000)]), 15))
"""
COMMAND = "import sys; from monitor.cli import main; sys.argv[0] = 'calibration-monitor'; main()"
CONFIG = """\
store: store
models:
  ctr:
    predictions: {path: "predictions/{day}.parquet", time: scored_at}
    outcomes: {path: "outcomes/{day}.parquet", time: observed_at}
"""
FIRST_DAY, DAYS, ROWS = date(2026, 1, 1), 40, 2_000
LAST_DAY = FIRST_DAY + timedelta(days=DAYS - 1)
CHECK = ["check", "--day", LAST_DAY]
SHOW = ["show", "--model", "ctr"]
RUN = ["run", "--model", "ctr", "--day", LAST_DAY]
Took = dict[str, list[tuple[float, float]]]


def write_project(folder: Path) -> None:
    """Write a configuration and logs of calibrated days."""
    rng = np.random.default_rng(1)
    for kind in ("predictions", "outcomes"):
        (folder / kind).mkdir()
    (folder / "monitor.yaml").write_text(CONFIG)
    for number in range(DAYS + 1):
        day = FIRST_DAY + timedelta(days=number)
        noon = datetime(day.year, day.month, day.day, 12, tzinfo=UTC)
        ids = [ROWS * number + i for i in range(ROWS)]
        scores = 1.0 / (1.0 + np.exp(-rng.normal(-1.5, 1.2, ROWS)))
        outcomes = (rng.random(ROWS) < scores).astype(np.int64)
        columns = {"prediction_id": ids, "score": scores, "scored_at": [noon] * ROWS}
        pq.write_table(pa.table(columns), folder / "predictions" / f"{day}.parquet")
        seen = {"prediction_id": ids, "outcome": outcomes, "observed_at": [noon] * ROWS}
        pq.write_table(pa.table(seen), folder / "outcomes" / f"{day}.parquet")


def run(code: str, arguments: list[object], folder: Path, cache: Path) -> tuple[float, float]:
    """Run a program to its end; return wall and CPU seconds."""
    begin = time.perf_counter()
    child = subprocess.Popen(  # noqa: S603
        [sys.executable, "-c", code, *map(str, arguments)],
        env=os.environ | {"NUMBA_CACHE_DIR": str(cache)},
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,  # progress goes there
    )
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = status
    if status:
        sys.exit(f"a program failed: {code} {arguments}")
    return time.perf_counter() - begin, usage.ru_utime + usage.ru_stime


def measure_start(rounds: int) -> Took:
    """Return wall and CPU seconds of fresh processes, from start to end."""
    programs: dict[str, tuple[str, list[object]]] = {
        "first TCE": (FIRST_TCE + FIRST_TCE_RUN, []),
        "first ECE of rows": (FIRST_ECE + FIRST_ECE_RUN, []),
        "`calibration-monitor check`": (COMMAND, CHECK),
        "`calibration-monitor show`": (COMMAND, SHOW),
        "`calibration-monitor run`, a day": (COMMAND, RUN),
    }
    uncompiled = {
        "an empty program": ("pass", []),
        "import": (FIRST_TCE, []),
        "`import monitor`, all names": ("from monitor import *", []),
        "`calibration-monitor --help`": (COMMAND, ["--help"]),
    }
    found: Took = {}
    with tempfile.TemporaryDirectory(prefix="metrics-bench-") as name:
        folder = Path(name)
        write_project(folder)
        warm = folder / "cache"
        days = ["--model", "ctr", "--from", FIRST_DAY, "--to", LAST_DAY]
        run(COMMAND, ["backfill", *days], folder, warm)
        for number, (title, (code, arguments)) in enumerate(programs.items()):
            took = run(code, arguments, folder, folder / f"cold-{number}")
            found[f"{title}, cold compiler cache"] = [took]
            run(code, arguments, folder, warm)
        for _ in range(rounds):
            for title, (code, arguments) in uncompiled.items():
                found.setdefault(title, []).append(run(code, arguments, folder, warm))
            for title, (code, arguments) in programs.items():
                key = f"{title}, warm compiler cache"
                found.setdefault(key, []).append(run(code, arguments, folder, warm))
    return found
