from collections import Counter
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from monitor.base.errors import DataError
from monitor.config import Config, Engine, Model
from monitor.logs import columns_to_search, condition_sql, count_search

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


def test_rows_that_meet_a_condition_are_counted(tmp_path: Path) -> None:
    """The outcomes of all other rows have no prediction then."""
    devices = [f"d{i % 3}" for i in range(ROWS)]
    write(tmp_path, device=devices, shop=[i % 5 for i in range(ROWS)])
    model = model_of(tmp_path)
    shop, device = columns_to_search("m", model, ["shop", "device"], DAY, Engine())

    found = count_search("m", model, DAY, [device], {"shop": condition_sql(shop, "3")}, Engine())

    expected = Counter(devices[i] for i in range(ROWS) if i % 5 == 3)
    assert {value: part.predicted for value, part in found["device"].items()} == expected


def test_rows_that_the_day_rejects_are_rejected_here_too(tmp_path: Path) -> None:
    """A search reads rows by the checks of the model, and only days may be poorer than usual."""
    write(tmp_path, device=["d"] * ROWS)
    path = tmp_path / "predictions" / f"{DAY}.parquet"
    rows = pq.read_table(path)
    scores = pa.array([None, *rows["score"].to_pylist()[1:]], pa.float64())
    pq.write_table(rows.set_column(1, "score", scores), path)
    model = model_of(tmp_path, checks={"reject": ["score_missing"]})
    watched = columns_to_search("m", model, ["device"], DAY, Engine())

    found = count_search("m", model, DAY, watched, {}, Engine())

    assert found["device"]["d"].predicted == ROWS - 1


NAN, INFINITE = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("prices", "edges"),
    [
        ([*range(ROWS - 2), NAN, None], [9.25, 18.5, 27.75]),
        ([*range(ROWS - 2), INFINITE, -INFINITE], [9.25, 18.5, 27.75]),
        ([2.0] * ROWS, [2.0]),
    ],
)
def test_numbers_are_cut_where_they_have_a_value(
    tmp_path: Path, prices: list[Any], edges: list[float]
) -> None:
    """Neither a missing number nor an infinite one moves or removes an edge."""
    write(tmp_path, price=[None if p is None else float(p) for p in prices])
    (found,) = columns_to_search("m", model_of(tmp_path), ["price"], DAY, Engine())
    assert found.edges == tuple(edges)


def test_a_column_without_a_number_is_refused(tmp_path: Path) -> None:
    """The message names it and the day."""
    write(tmp_path, price=[NAN] * ROWS)
    with pytest.raises(DataError, match=r"m 2026-03-01: column 'price' .* has no number"):
        columns_to_search("m", model_of(tmp_path), ["price"], DAY, Engine())
