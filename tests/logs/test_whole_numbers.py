"""Whole numbers are ids and outcomes, whatever type a warehouse or a library gives them."""

from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from monitor.config import Engine, Model
from monitor.days.summary import whole
from monitor.logs import open_databases, summarise_day, summarise_days
from monitor.logs.discovery import guess
from tests.support.cases import some

DAY, ROWS = date(2026, 3, 2), 300
TYPES = {
    "int16": pa.int16(),
    "int64": pa.int64(),
    "uint64": pa.uint64(),
    "decimal": pa.decimal128(20, 0),
    "number": pa.decimal128(38, 0),  # as Snowflake unloads a NUMBER
}
FIRST = {"int16": 0, "uint64": 2**63}  # of the ids


def column(values: Any, type_: pa.DataType) -> pa.Array:
    """Make an array of whole numbers."""
    numbers = [int(value) for value in values]
    return pa.array([Decimal(n) for n in numbers] if pa.types.is_decimal(type_) else numbers, type_)


def write_logs(root: Path, seed: int, ours: str, theirs: str, outcome: pa.DataType) -> None:
    """Write some days of both logs, with ids of two types."""
    rng = np.random.default_rng(seed)
    begin = FIRST.get(ours, FIRST.get(theirs, 10**12)) if "int16" not in (ours, theirs) else 0
    for log in ("p", "o"):
        (root / log).mkdir()
    for number in range(8):
        day = DAY + timedelta(number)
        ids = [begin + number * ROWS + i for i in range(ROWS)]
        scores = rng.beta(1, 2, ROWS)
        table = {"id": column(ids, TYPES[ours]), "score": scores}
        pq.write_table(pa.table(table), root / f"p/{day}.parquet")
        labels = column(rng.random(ROWS) < scores, outcome)
        table = {"id": column(ids, TYPES[theirs]), "label": labels}
        pq.write_table(pa.table(table), root / f"o/{day}.parquet")


PAIRS = [
    (a, b)
    for a in TYPES
    for b in TYPES
    if {a, b} != {"uint64", "int16"} and {a, b} != {"uint64", "int64"}
]


@pytest.mark.parametrize(("ours", "theirs"), some(PAIRS, 3))
def test_ids_of_any_width_meet(ours: str, theirs: str, tmp_path: Path) -> None:
    """No cast is needed, and `init` finds the ids; outcomes are decimals, too."""
    write_logs(tmp_path, 5, ours, theirs, pa.decimal128(1, 0))

    (guessed,) = guess([str(tmp_path)]).models

    found = {(s.section, s.key): s.value for s in guessed.settings if s.active}
    assert found["predictions", "id"] == found["outcomes", "id"] == "id"
    assert ("", "ids") not in found
    model = {"predictions": {"path": f"{tmp_path}/p/{{day}}.parquet", "id": "id"}}
    model["outcomes"] = {"path": f"{tmp_path}/o/{{day}}.parquet", "id": "id", "outcome": "label"}
    read = Model.model_validate(model | {"settled_after": 0})
    part = whole(summarise_day("m", read, DAY, as_of=date(2026, 4, 1)))
    expected = pq.read_table(tmp_path / f"o/{DAY}.parquet")["label"].to_pylist()
    assert (part.predicted, part.tally.total) == (ROWS, ROWS)
    assert part.tally.total_positives == sum(expected)


def test_a_gap_changes_no_segment_of_its_day_or_others(tmp_path: Path) -> None:
    """One day has integers, the next the same as floating-point numbers; alone and in a batch."""
    write_logs(tmp_path, 1, "int64", "int64", pa.int8())
    days = [DAY, DAY + timedelta(1)]
    for day, type_ in zip(days, (pa.int64(), pa.float64()), strict=True):
        table = pq.read_table(tmp_path / f"p/{day}.parquet")
        branches = [None, *(1 + row % 3 for row in range(1, ROWS))]
        table = table.append_column("branch", pa.array(branches, type_))
        pq.write_table(table, tmp_path / f"p/{day}.parquet")
    parts = {"column": "branch", "values": ["1", "2"]}
    model = Model.model_validate(
        {
            "predictions": {"path": f"{tmp_path}/p/{{day}}.parquet", "id": "id", "score": "score"},
            "outcomes": {"path": f"{tmp_path}/o/{{day}}.parquet", "id": "id", "outcome": "label"},
            "segments": parts,
            "strata": parts,
            "settled_after": 0,
        }
    )
    as_of = DAY + timedelta(9)
    with open_databases(Engine(threads=1)) as databases:
        found = dict(summarise_days("m", model, days, as_of=as_of, databases=databases))

    expected = {"1": 99, "2": 100, "other": 101}
    for day, together in found.items():
        assert not isinstance(together, Exception)
        alone = summarise_day("m", model, day, as_of=as_of)
        for summary in (alone, together):
            assert {name: part.predicted for name, part in summary.segments.items()} == expected
            strata = {n: p.predicted for n, p in summary.segments["1"].strata.items()}
            assert strata == {"1": 99, "2": 0, "other": 0}
