"""Process the days of a made-up model, so that what a morning calls is compiled: `python -m` this.

The build of the container image runs it, and so nobody waits for the compiler later: the image
carries the compiler's cache. With `--into monitor/machine_code` the code is for any processor of
this kind of machine, and travels with the wheel that is built next. The model drifts in its last
week, because an open drift calls more.
"""

import argparse
import os
import shutil
import tempfile
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from monitor.base.program import platform
from monitor.config import load_config
from monitor.metrics.core.compiled import export
from monitor.pipeline.days.task import Task
from monitor.pipeline.runs.run import run

MODEL = "fraud"
FIRST_DAY, DAYS, ROWS = date(2026, 1, 1), 56, 2_000
LAST_DAY = FIRST_DAY + timedelta(days=DAYS - 1)
CALIBRATED = 49  # days, before the scores become too extreme
FRAUD = 0.05  # share of the rows
CONFIG = f"""\
store: store
models:
  {MODEL}:
    predictions: {{path: "predictions/{{day}}.parquet", time: scored_at}}
    outcomes: {{path: "outcomes/{{day}}.parquet", time: observed_at}}
"""


def write_world(folder: Path) -> None:
    """Write the configuration and the logs of the model into an empty folder."""
    rng = np.random.default_rng(2026)
    for kind in ("predictions", "outcomes"):
        (folder / kind).mkdir()
    (folder / "monitor.yaml").write_text(CONFIG)
    for number in range(DAYS):
        day = FIRST_DAY + timedelta(days=number)
        noon = [datetime.combine(day, time(12), UTC)] * ROWS
        ids = number * ROWS + np.arange(ROWS)
        fraud = rng.random(ROWS) < FRAUD
        signal = 1.8 * (rng.normal(size=ROWS) + np.where(fraud, 0.9, -0.9))
        log_odds = np.log(FRAUD / (1.0 - FRAUD)) + signal * (1.0 if number < CALIBRATED else 1.5)
        predictions = {"prediction_id": ids, "score": 1 / (1 + np.exp(-log_odds))}
        seen = {"prediction_id": ids, "outcome": fraud.astype(np.int64)}
        for kind, columns in (
            ("predictions", predictions | {"scored_at": noon}),
            ("outcomes", seen | {"observed_at": noon}),
        ):
            pq.write_table(pa.table(columns), folder / kind / f"{day}.parquet")


def main() -> None:
    """Compile into the cache of this machine, or into a folder of the package."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--into", type=Path, help="a folder for each version of Python and machine")
    into: Path | None = parser.parse_args().into
    with tempfile.TemporaryDirectory(prefix="calibration-compiling-") as name:
        if into:
            print(f"compiled; entries written: {_compile_into(into, Path(name))}")  # noqa: T201
        else:
            print(f"compiled; days processed: {_process(Path(name))}")  # noqa: T201 - of a build


def _compile_into(folder: Path, work: Path) -> int:
    """Compile all for any processor, and write it; what lies there for this platform goes."""
    # The compiler reads them when it is loaded, at the first call.
    os.environ |= {"NUMBA_CPU_NAME": "generic", "NUMBA_CACHE_DIR": str(work / "cache")}
    place = folder / platform()
    shutil.rmtree(place, ignore_errors=True)
    _process(work)
    place.mkdir(parents=True)
    return export(f"{place}")


def _process(folder: Path) -> int:
    """Process the days of the model in an empty folder; give their number."""
    write_world(folder)
    config = load_config(folder / "monitor.yaml")
    days = Task(MODEL, FIRST_DAY, LAST_DAY, LAST_DAY + timedelta(days=1))
    return len(run(config, days, clock=lambda: datetime.now(UTC)).evaluated)


if __name__ == "__main__":
    main()
