"""The commands of this monitor on a log, with the configuration that a user would write."""

import json
import subprocess
import sys
import time
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

from studies.peers.world import LONGEST_DELAY, Log, day_of

CONFIG = f"""\
store: store
models:
  model:
    predictions: {{path: "predictions/{{day}}.parquet", time: scored_at}}
    outcomes: {{path: "outcomes/{{day}}.parquet", time: observed_at}}
    settled_after: {LONGEST_DELAY}
"""
COMMAND = "import sys; from monitor.cli import main; sys.argv[0] = 'calibration-monitor'; main()"
WORDS = {
    "verdict `calibration_drift`": "calibration_drift",
    "verdict `level_drift`": "level_drift",
    "verdict `prior_shift`": "prior_shift",
}


def verdicts(log: Log, folder: Path) -> dict[str, str]:
    """Run the daily job on a log, and give the word of each day."""
    import monitor

    (folder / "monitor.yaml").write_text(CONFIG)
    last = log.days - (LONGEST_DELAY if log.read_at_end else 0)
    _run(folder, "backfill", "--model", "model", "--from", day_of(1), "--to", day_of(last))
    if log.read_at_end:
        morning = day_of(log.days) + timedelta(days=1)
        _run(folder, "run", "--unsettled", "--as-of", morning)
    found = monitor.open_store(str(folder / "store")).verdicts()
    return {f"{day:%Y-%m-%d}": word for day, word in zip(found.day, found.state, strict=True)}


def answer(log: Log, folder: Path) -> Mapping[str, Any]:
    """Give the days of each word, as a worker of another tool does."""
    begun = time.perf_counter()
    words = verdicts(log, folder)
    return {
        "version": "this repository",
        "rules": {
            rule: [day for day, found in words.items() if found == word]
            for rule, word in WORDS.items()
        },
        "seconds": round(time.perf_counter() - begun, 1),
        "words": words,
    }


def _run(folder: Path, *arguments: object) -> None:
    ended = subprocess.run(  # noqa: S603
        [sys.executable, "-c", COMMAND, *map(str, arguments), "--json"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    if ended.returncode:
        sys.exit(f"{json.dumps(list(map(str, arguments)))}: {ended.stdout}{ended.stderr}")
