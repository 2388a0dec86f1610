"""Logs of a healthy model whose positives arrive late, later on the later the higher their score.

The scores are calibrated on every day. Delays are exponential: of negatives with a mean of one day,
of positives of eight, so that with `settled_after: 3` two thirds of the positives come later. From
`DEPENDS_FROM` on the mean delay of a positive rises with its score.
"""

from datetime import date, timedelta
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from scipy.special import expit

FIRST = date(2026, 1, 1)
DAYS, ROWS = 66, 4_000
DEPENDS_FROM = 45  # the 46th day
LONGEST = 26.0  # days
CONFIG = """\
store: store
models:
  risk:
    predictions: {path: "logs/predictions/{day}.parquet"}
    outcomes: {path: "logs/outcomes/{day}.parquet"}
    windows: [1]
    settled_after: 3
"""


def write_late_log(folder: Path, *, rows: int = ROWS, days: int = DAYS) -> None:
    """Write the configuration and all logs, up to the last outcome."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "monitor.yaml").write_text(CONFIG)
    arriving: dict[date, list[pa.Table]] = {}
    for place in range(days):
        day, chance = FIRST + timedelta(days=place), np.random.default_rng(place)
        logits = chance.normal(-1.5, 1.3, rows)
        outcomes = chance.random(rows) < expit(logits)
        ids = np.arange(rows) + place * rows
        _write(folder, "predictions", day, pa.table({"prediction_id": ids, "score": expit(logits)}))
        mean = np.where(outcomes, 8.0, 1.0)
        if place >= DEPENDS_FROM:
            mean = np.where(outcomes, 8.0 * np.exp(0.6 * (logits + 0.5)), mean)
        delays = chance.random(rows) + np.minimum(chance.exponential(mean), LONGEST)
        ages = delays.astype(np.int64)
        for age in np.unique(ages):
            of_age = ages == age
            table = {"prediction_id": ids[of_age], "outcome": outcomes[of_age].astype(np.int8)}
            arriving.setdefault(day + timedelta(days=int(age)), []).append(pa.table(table))
    for day, tables in arriving.items():
        _write(folder, "outcomes", day, pa.concat_tables(tables))


def _write(folder: Path, kind: str, day: date, table: pa.Table) -> None:
    path = folder / "logs" / kind / f"{day}.parquet"
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(table, path)
