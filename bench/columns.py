"""What watched columns cost: a day with five columns against the same day with one.

    python -m bench.columns [--rows 20000000]

CPU seconds of summarising one day of Parquet logs, all outcomes known: with the primary column
alone, with one more column, with four more, so five in all, and with five more. The orders of the
lists are mixed, so that other work on the machine meets them alike.
"""

import argparse
import tempfile
import time
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from monitor.config import Config
from monitor.logs import summarise_day

DAY, AT_ONCE = date(2026, 3, 1), 1_000_000
PRIMARY: dict[str, Any] = {"column": "c0", "values": ["v0", "v1", "v2"], "primary": True}
OTHERS: list[dict[str, Any]] = [
    *({"column": f"c{i}", "top": 20} for i in range(1, 3)),
    {"column": "c3", "values": ["v0", "v1", "v2"]},
    {"column": "x", "edges": [0.5, 1.0, 2.0]},
    {"column": "c4", "top": 20},
]
LISTS: Mapping[str, list[dict[str, Any]]] = {
    "the primary column": [PRIMARY],
    "and one more": [PRIMARY, {"column": "c1", "top": 20}],
    "and four more": [PRIMARY, *OTHERS[:4]],
    "and five more": [PRIMARY, *OTHERS],
}


def write_logs(folder: Path, rows: int) -> None:
    """Write a day of both logs, a million rows at a time."""
    for kind in ("predictions", "outcomes"):
        (folder / kind).mkdir()
    values = pa.array([f"v{i}" for i in range(30)])
    for part, first in enumerate(range(0, rows, AT_ONCE)):
        rng = np.random.default_rng([1, part])
        size = min(AT_ONCE, rows - first)
        ids, scores = np.arange(first, first + size), rng.beta(1.0, 9.0, size)
        texts = {
            f"c{i}": values.take(pa.array(np.minimum(rng.geometric(0.2, size), 29)))
            for i in range(5)
        }
        table = {"prediction_id": ids, "score": scores, "x": rng.gamma(1.0, 1.0, size), **texts}
        pq.write_table(pa.table(table), folder / f"predictions/{DAY}_{part}.parquet")
        outcomes = {"prediction_id": ids, "outcome": (rng.random(size) < scores).astype(np.int8)}
        pq.write_table(pa.table(outcomes), folder / f"outcomes/{DAY}_{part}.parquet")


def main() -> None:
    """Write the logs, time the lists, and print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=20_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_logs(folder, chosen.rows)
        times: dict[str, list[float]] = {listed: [] for listed in LISTS}
        for number in range(chosen.rounds):
            for listed in list(LISTS)[:: 1 if number % 2 else -1]:
                model = {
                    kind: {"path": f"{folder}/{kind}/{{day}}_*.parquet"}
                    for kind in ("predictions", "outcomes")
                } | {"segments": LISTS[listed], "settled_after": 0}
                config = Config.model_validate({"store": name, "models": {"m": model}})
                began = time.process_time()
                summarise_day("m", config.model("m"), DAY, as_of=date(2026, 3, 2))
                times[listed].append(time.process_time() - began)
    least = {listed: min(of) for listed, of in times.items()}
    for listed, seconds in least.items():
        ratio = seconds / least["the primary column"]
        print(f"{listed:20} {seconds:7.1f} s CPU, {ratio:.2f} times the primary column alone")


if __name__ == "__main__":
    main()
