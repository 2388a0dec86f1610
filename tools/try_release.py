"""Tries an installed calibration-monitor with nothing of the checkout: logs in, a verdict out.

    python tools/try_release.py

Where the wheel brought machine code for this platform, nothing of it may be compiled again.
"""

import json
import os
import subprocess
import sys
import sysconfig
from datetime import date, timedelta
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

CONFIG = """\
store: store
models:
  bids:
    predictions: {path: "predictions/{day}.parquet"}
    outcomes: {path: "outcomes/{day}.parquet"}
"""
FIRST, DAYS, BROKEN, ROWS = date(2026, 1, 1), 40, 35, 2_000


def write_logs(folder: Path) -> None:
    """Write forty days; on the last five the scores are twice as extreme as they should be."""
    (folder / "predictions").mkdir()
    (folder / "outcomes").mkdir()
    (folder / "monitor.yaml").write_text(CONFIG)
    rng = np.random.default_rng(1)
    for number in range(DAYS):
        day = FIRST + timedelta(number)
        logits = rng.normal(-1.0, 1.5, ROWS)
        outcomes = rng.random(ROWS) < 1.0 / (1.0 + np.exp(-logits))
        said = logits * (2.0 if number >= BROKEN else 1.0)
        ids = [f"{day}-{i}" for i in range(ROWS)]
        scores = pa.table({"prediction_id": ids, "score": 1.0 / (1.0 + np.exp(-said))})
        labels = pa.table({"prediction_id": ids, "outcome": outcomes.astype(np.int8)})
        pq.write_table(scores, folder / f"predictions/{day}.parquet")
        pq.write_table(labels, folder / f"outcomes/{day}.parquet")


def call(folder: Path, *arguments: str) -> str:
    """Run the installed command in a folder."""
    command = Path(sysconfig.get_path("scripts")) / "calibration-monitor"
    done = subprocess.run(
        [command, *arguments],
        cwd=folder,
        env=os.environ | ({"NUMBA_CACHE_DIR": f"{folder}/cache"} if brings_code() else {}),
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout


def brings_code() -> bool:
    """Tell whether the wheel has machine code for this version of Python and kind of machine."""
    name = f"{sys.implementation.cache_tag}-{sysconfig.get_platform()}"
    return (files("monitor") / "machine_code" / name).is_dir()


def main() -> None:
    """Backfill the logs, and expect the drift that was put into them."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        write_logs(folder)
        call(folder, "backfill", "--from", f"{FIRST}", "--to", f"{FIRST + timedelta(DAYS - 1)}")
        told = json.loads(call(folder, "show", "--model", "bids", "--json"))
        compiled = [path.name for path in folder.rglob("*.nbc")]
    if brings_code() and compiled:
        sys.exit(f"the wheel brings machine code, but these were compiled: {sorted(compiled)}.")
    state = told["verdict"]["state"]
    if state != "calibration_drift":
        sys.exit(f"the newest verdict is {state}, but must be calibration_drift.")


if __name__ == "__main__":
    main()
