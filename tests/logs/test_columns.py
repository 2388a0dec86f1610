"""Watched columns: every way to make segments of values, against counts of rows by hand."""

from collections import Counter
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from monitor.base.errors import DataError
from monitor.config import Config, Engine
from monitor.days.summary import Summary
from monitor.logs import (
    Databases,
    open_databases,
    parts_to_search,
    read_part_rows,
    summarise_day,
)
from monitor.metrics.core.coarse import CELLS_IN_ONE
from monitor.metrics.core.grid import locate

DAY, ROWS = date(2026, 3, 1), 4_000
LISTED: list[dict[str, Any]] = [
    {"column": "country", "values": ["DE", "FR"], "primary": True},
    {"column": "device", "top": 2},
    {"column": "age", "edges": [18, 40]},
    {"column": "price", "quantiles": 4},
    {"column": "shop", "values": ["7", "9"]},
    {"cross": ["country", "device"]},
]


def draw() -> dict[str, Any]:
    """Draw a day; a tenth of its outcomes are missing."""
    rng = np.random.default_rng(3)
    scores = rng.uniform(0.01, 0.99, ROWS)
    ages = rng.integers(10, 80, ROWS)
    return {
        "prediction_id": np.arange(ROWS),
        "score": scores,
        "country": rng.choice(["DE", "FR", "IT", "ES"], ROWS),
        "device": pa.array([None if i % 50 == 0 else f"d{i * i % 7}" for i in range(ROWS)]),
        "age": pa.array([None if i % 100 == 0 else int(a) for i, a in enumerate(ages)]),
        "price": np.exp(rng.normal(2.0, 1.0, ROWS)),
        "shop": rng.integers(5, 10, ROWS),
        "outcome": (rng.random(ROWS) < scores).astype(int),
    }


def config(folder: Path, segments: object) -> Config:
    """Configure the model that reads the day."""
    logs = {
        kind: {"path": f"{folder}/{kind}/{{day}}.parquet"} for kind in ("predictions", "outcomes")
    }
    model = {**logs, "segments": segments, "settled_after": 0}
    return Config.model_validate({"store": f"{folder}/store", "models": {"m": model}})


def write(folder: Path, drawn: dict[str, Any]) -> None:
    """Write both logs; every tenth outcome is missing."""
    known = [i for i in range(ROWS) if i % 10]
    outcomes = {name: np.asarray(drawn[name])[known] for name in ("prediction_id", "outcome")}
    predictions = {name: column for name, column in drawn.items() if name != "outcome"}
    for kind, table in (("predictions", predictions), ("outcomes", outcomes)):
        path = folder / kind / f"{DAY}.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.table(table), path)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the logs of the day once."""
    path = tmp_path_factory.mktemp("columns")
    write(path, draw())
    return path


@pytest.fixture(scope="module")
def day(folder: Path) -> Summary:
    """Read the day once."""
    model = config(folder, LISTED).model("m")
    return summarise_day("m", model, DAY, as_of=date(2026, 3, 2))


def test_spark_counts_the_same(folder: Path, day: Summary, spark: Databases) -> None:
    """Every column, value and cell, whichever engine reads the day."""
    model = config(folder, LISTED).model("m")
    there = summarise_day("m", model, DAY, as_of=date(2026, 3, 2), engine=spark)

    def as_numbers(summary: Summary) -> dict[str, Any]:
        return {
            column: {
                value: (
                    *(array.tolist() for array in (p.cells, p.counts, p.positives)),
                    p.predicted,
                )
                for value, p in values.items()
            }
            for column, values in summary.columns.items()
        }

    assert as_numbers(there) == as_numbers(day)


def test_a_search_reads_the_same_rows_with_spark(folder: Path, spark: Databases) -> None:
    """The columns are divided alike, and every row has the same cell, outcome and codes."""
    model = config(folder, LISTED).model("m")
    with open_databases(Engine()) as here:
        found = [
            parts_to_search("m", model, ["device", "age"], [DAY], each) for each in (here, spark)
        ]
        rows = [read_part_rows("m", model, DAY, found[0], each) for each in (here, spark)]

    assert found[0] == found[1]
    listed = [sorted(zip(r.cells, r.hits, *r.codes, strict=True)) for r in rows]
    assert len(listed[0]) > 100
    assert listed[0] == listed[1]


def names_by_hand(drawn: dict[str, Any]) -> dict[str, list[str]]:
    """Name the segment of every row in every column, one row at a time."""
    countries, devices = list(drawn["country"]), drawn["device"].to_pylist()
    listed = [c if c in ("DE", "FR") else "other" for c in countries]
    ages = ["other" if a is None else "below 18" if a < 18 else "18 to 40" if a < 40
            else "40 and more" for a in drawn["age"].to_pylist()]  # fmt: skip
    return {
        "device": [d or "other" for d in devices],
        "age": ages,
        "shop": [str(s) if s in (7, 9) else "other" for s in drawn["shop"]],
        "country x device": [f"{c} x {d or 'other'}" for c, d in zip(listed, devices, strict=True)],
    }


def test_values_are_counted_as_by_hand(day: Summary) -> None:
    """Rows, known outcomes, positives and cells, in every column, one of three ways and crossed."""
    drawn = draw()
    cells = locate(drawn["score"])[0] // CELLS_IN_ONE
    for column, names in names_by_hand(drawn).items():
        assert {v: p.predicted for v, p in day.columns[column].items()} == Counter(names)
        for value, part in day.columns[column].items():
            rows = [i for i, name in enumerate(names) if name == value and i % 10]
            expected = Counter(int(cells[i]) for i in rows)
            hits = Counter(int(cells[i]) for i in rows if drawn["outcome"][i])
            assert dict(zip(part.cells, part.counts, strict=True)) == expected
            assert dict(zip(part.cells, part.positives, strict=True)) == {
                cell: hits[cell] for cell in expected
            }


def test_outcomes_without_a_prediction_count_in_no_column(tmp_path: Path) -> None:
    """Neither those of a prediction that a filter leaves out, nor one whose id is nowhere."""
    drawn = draw()
    write(tmp_path, drawn)
    path = tmp_path / "outcomes" / f"{DAY}.parquet"
    orphan = pa.table({"prediction_id": [ROWS + 1], "outcome": [1]})
    pq.write_table(pa.concat_tables([pq.read_table(path), orphan]), path)
    settings = config(tmp_path, LISTED).model("m")
    chosen = settings.predictions.model_copy(update={"where": "shop > 6"})
    model = settings.model_copy(update={"predictions": chosen})

    found = summarise_day("m", model, DAY, as_of=date(2026, 3, 2))

    rows = [i for i in range(ROWS) if drawn["shop"][i] > 6]
    assert found.rejected == {"outcome_orphan": 1}
    for column, names in names_by_hand(drawn).items():
        counted = Counter(names[i] for i in rows)
        assert {v: p.predicted for v, p in found.columns[column].items()} == counted
        known = Counter(names[i] for i in rows if i % 10)
        sums = {v: int(p.counts.sum()) for v, p in found.columns[column].items()}
        assert {v: rows for v, rows in sums.items() if rows} == known


def test_missing_numbers_make_no_segment(tmp_path: Path) -> None:
    """NaN is a missing value, in the primary column, in watched ones and crossed; a text is not."""
    numbers = [float("nan") if i % 4 == 0 else float(i % 2) for i in range(ROWS)]
    words = ["nan" if i % 5 else None for i in range(ROWS)]
    write(tmp_path, draw() | {"number": numbers, "word": words})
    listed = [
        {"column": "number", "values": ["1.0", "nan"], "primary": True},
        {"column": "word", "top": 5},
        {"cross": ["number", "word"]},
    ]
    watched = [{"column": "number", "top": 5}]
    as_of = date(2026, 3, 2)
    found = summarise_day("m", config(tmp_path, listed).model("m"), DAY, as_of=as_of)
    other = summarise_day("m", config(tmp_path, watched).model("m"), DAY, as_of=as_of)

    labels = ["other" if i % 4 == 0 or i % 2 == 0 else "1.0" for i in range(ROWS)]
    rows = {name: s.predicted for name, s in found.segments.items() if s.predicted}
    assert rows == Counter(labels)
    named = ["nan" if i % 5 else "other" for i in range(ROWS)]
    assert {v: p.predicted for v, p in found.columns["word"].items()} == Counter(named)
    crossed = Counter(f"{a} x {b}" for a, b in zip(labels, named, strict=True))
    assert {v: p.predicted for v, p in found.columns["number x word"].items()} == crossed
    values = Counter("other" if i % 4 == 0 else f"{i % 2}.0" for i in range(ROWS))
    assert {v: p.predicted for v, p in other.columns["number"].items()} == values


def test_integers_with_a_gap_are_the_listed_ones(tmp_path: Path) -> None:
    """A missing value makes pandas write 1 as 1.0; a fraction stays what it is."""
    branches = [(float("nan"), 1.0, 2.0, 2.5, 3.0)[i % 5] for i in range(ROWS)]
    write(tmp_path, draw() | {"branch": branches})
    listed = [
        {"column": "branch", "values": ["1", "2"], "primary": True},
        {"cross": ["branch", "country"]},
    ]
    found = summarise_day("m", config(tmp_path, listed).model("m"), DAY, as_of=date(2026, 3, 2))

    rows = {name: s.predicted for name, s in found.segments.items()}
    assert rows == {"1": ROWS // 5, "2": ROWS // 5, "other": ROWS - 2 * (ROWS // 5)}
    assert {name for name, _ in found.unlisted} == {None, "2.5", "3"}
    crossed = {value.partition(" x ")[0] for value in found.columns["branch x country"]}
    assert crossed == {"1", "2", "other"}


@pytest.mark.parametrize(
    ("segments", "message"),
    [
        ([{"column": "a"}], "needs exactly one of values, top, edges, quantiles, got none"),
        ([{"column": "a", "top": 3, "edges": [1]}], "got top and edges"),
        ([{"column": "a", "edges": [2, 1]}], "edges must increase"),
        ([{"column": "a", "top": 3, "primary": True}], "the primary column needs values"),
        (
            [{"column": c, "values": ["1"], "primary": True} for c in "ab"],
            "only one column can be primary",
        ),
        ([{"column": "a", "top": 3}] * 2, "'a' is listed twice"),
        (
            [{"column": "a", "quantiles": 3}, {"cross": ["a", "b"]}],
            "'a' is cut at quantiles; give it edges",
        ),
        (["a"], "must be a list of columns"),
    ],
)
def test_wrong_columns_are_refused(tmp_path: Path, segments: object, message: str) -> None:
    """The message says which rule is broken."""
    with pytest.raises(ValueError, match=message):
        config(tmp_path, segments)


def test_a_column_that_is_cut_must_have_numbers(folder: Path) -> None:
    """A text cannot be cut at edges, and the message names the column."""
    model = config(folder, [{"column": "country", "edges": [1.0]}]).model("m")
    with pytest.raises(DataError, match="country"):
        summarise_day("m", model, DAY, as_of=date(2026, 3, 2))
