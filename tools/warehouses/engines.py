"""Compare the counts of a warehouse's engine with those of rows, where the tests do not start it.

`python -m tools.warehouses.engines ENGINE PYTHON`, where PYTHON has the package of the
engine: clickhouse (chdb, the embedded one), snowflake (fakesnow), bigquery (bqemulator with
google-cloud-bigquery) or databricks (pyspark, in ANSI mode). It says how many of the days are
equal, byte for byte, and how many of 300,000 scores lie elsewhere.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from monitor.config import Engine
from monitor.logs import open_databases
from monitor.logs.warehouse.counting import placing
from monitor.logs.warehouse.dialects import DIALECTS
from monitor.metrics.core.grid import locate
from tests.support.warehouse_logs import NAMES, cases, compared, model_of_rows, statement, tables

SERVER = Path(__file__).with_name("server.py")
SCORES = 300_000
Run = Callable[[str], pa.Table]


def main(engine: str, python: str) -> None:
    """Compare, and print what was found."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for table, rows in tables().items():
            pq.write_table(rows, folder / f"{table}.parquet")
        scores = np.random.default_rng(7).beta(0.4, 4, SCORES)
        pq.write_table(pa.table({"score": scores}), folder / "scores.parquet")
        call = [python, SERVER, engine, folder, *NAMES, "scores"]
        with subprocess.Popen(call, stdin=-1, stdout=-1, text=True) as server:
            run = _asking(server, folder)
            print(f"{engine}: {_days_alike(engine, folder, run)}; {_offsets(engine, scores, run)}")
            server.stdin.close()


def _asking(server: "subprocess.Popen[str]", folder: Path) -> Run:
    """Give what runs a statement in another process."""
    requests: Any = server.stdin
    answers: Any = server.stdout

    def run(sql: str) -> pa.Table:
        print(json.dumps([sql, f"{folder}/answer.parquet"]), file=requests, flush=True)
        for line in answers:  # emulators print too
            if line.startswith("done:"):
                if wrong := line.removeprefix("done:").strip():
                    raise RuntimeError(wrong)
                return pq.read_table(folder / "answer.parquet")
        msg = "the engine has ended"
        raise RuntimeError(msg)

    return run


def _days_alike(engine: str, folder: Path, run: Run) -> str:
    """Count the days whose summary has the bytes of that of the rows."""

    def of_queries(name: str) -> dict[str, Any]:
        sql = f"SELECT * FROM {name}"
        return {"format": "sql", "connection": "WAREHOUSE", "sql": sql}

    alike = total = 0
    with open_databases(Engine()) as databases:
        for case in cases():
            counts = run(statement("m", model_of_rows(case, of_queries), engine))
            for ours, theirs in compared(case, folder, counts, databases):
                alike, total = alike + (ours == theirs), total + 1
    return f"{alike} of {total} days alike in {len(cases())} models"


def _offsets(engine: str, scores: Any, run: Run) -> str:
    """Count the scores whose place in its cell, or whose cell, differs from ours."""
    place = placing(DIALECTS[engine], "SELECT score FROM scores")
    found = run(place)
    found = found.rename_columns([*map(str.lower, found.column_names)]).sort_by("score")
    cells, offsets = locate(np.sort(scores))
    moved = found["place"].to_numpy() != offsets
    other = found["cell"].to_numpy() != cells
    return (
        f"of {SCORES:,} scores {moved.sum()} lie one place off, and {other.sum()} in another cell"
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
