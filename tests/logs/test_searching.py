from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from monitor.config import Config, Model
from monitor.logs import Databases, parts_to_search, read_part_rows

DAY, ROWS = date(2026, 3, 1), 40


def model_of(folder: Path, **settings: Any) -> Model:
    """Configure a model that reads the logs of a folder."""
    logs = {
        kind: {"path": f"{folder}/{kind}/{{day}}.parquet"} for kind in ("predictions", "outcomes")
    }
    model = {**logs, "settled_after": 0, **settings}
    return Config.model_validate({"store": f"{folder}/store", "models": {"m": model}}).model("m")


def write(folder: Path, **columns: list[Any]) -> None:
    """Write a day whose every second row has the outcome 1, with further columns."""
    ids, scores = [*range(ROWS)], [(i + 1) / (ROWS + 2) for i in range(ROWS)]
    predictions = {"prediction_id": ids, "score": scores, **columns}
    outcomes = {"prediction_id": ids, "outcome": [i % 2 for i in ids]}
    for kind, rows in (("predictions", predictions), ("outcomes", outcomes)):
        (folder / kind).mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.table(rows), folder / kind / f"{DAY}.parquet")


def test_rows_that_the_day_rejects_are_rejected_here_too(tmp_path: Path, duckdb: Databases) -> None:
    """A search reads rows by the checks of the model, and only days may be poorer than usual."""
    write(tmp_path, device=[f"d{i % 2}" for i in range(ROWS)])
    path = tmp_path / "predictions" / f"{DAY}.parquet"
    rows = pq.read_table(path)
    scores = pa.array([None, *rows["score"].to_pylist()[1:]], pa.float64())
    pq.write_table(rows.set_column(1, "score", scores), path)
    model = model_of(tmp_path, checks={"reject": ["score_missing"]})
    watched = parts_to_search("m", model, ["device"], [DAY], duckdb)

    found = read_part_rows("m", model, DAY, watched, duckdb)

    assert np.bincount(found.codes[0]).tolist() == [0, ROWS // 2 - 1, ROWS // 2]
    # Of a row the cell, the outcome, and two bytes for a column: a search holds many days of rows.
    assert found.nbytes == (ROWS - 1) * (8 + 1 + 2)


NAN, INFINITE = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("prices", "edges"),
    [
        ([*range(ROWS - 2), NAN, None], (5.0, 10.0, 15.0, 19.0, 24.0, 29.0, 34.0)),
        ([*range(ROWS - 2), INFINITE, -INFINITE], (5.0, 10.0, 15.0, 19.0, 24.0, 29.0, 34.0)),
        ([2.0] * ROWS, None),
        ([NAN] * ROWS, None),
    ],
)
def test_numbers_are_cut_where_they_have_a_value(
    tmp_path: Path, duckdb: Databases, prices: list[Any], edges: tuple[float, ...] | None
) -> None:
    """Neither a missing number nor an infinite one moves an edge; one number alone has none."""
    write(tmp_path, price=[None if p is None else float(p) for p in prices])
    found = parts_to_search("m", model_of(tmp_path), ["price"], [DAY], duckdb)
    assert [watched.edges for watched in found] == ([edges] if edges else [])


@pytest.mark.parametrize("columns", [["device"], []])
def test_days_without_a_row_are_not_divided(
    tmp_path: Path, duckdb: Databases, columns: list[str]
) -> None:
    """Their file was replaced by one that does not even have types."""
    write(tmp_path)
    nothing = pa.table({name: pa.nulls(0) for name in ("prediction_id", "score", "device")})
    pq.write_table(nothing, tmp_path / "predictions" / f"{DAY}.parquet")
    assert parts_to_search("m", model_of(tmp_path), columns, [DAY], duckdb) == []
