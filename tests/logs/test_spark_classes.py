"""Vectors of classes are counted in tasks of Spark: the bytes of DuckDB, and its messages."""

from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from monitor.base.errors import DataError
from monitor.config import Model
from monitor.days.summary import Columns
from monitor.logs import (
    Databases,
    batch_of_summary,
    count_through_map,
    read_vectors,
    summarise_day,
)
from monitor.logs.statement import class_rows
from monitor.metrics.maps.vector_map import VectorMap
from monitor.store.store import Store
from tests.support.class_logs import draw, write_day

NAMES = ("cat", "dog", "fish", "bird")
DAY, AS_OF, ROWS = date(2026, 1, 1), date(2026, 1, 3), 240
BEST = pa.list_(pa.string()), pa.list_(pa.float64())


def write(folder: Path, form: str) -> None:
    """Write a day with columns to divide it by."""
    rng = np.random.default_rng(5)
    vectors, labels = draw(rng, ROWS, 4, priors=[3, 2, 1, 1])
    ranked = np.argsort(-vectors, axis=1)[:, :3]
    best = [[NAMES[k] for k in row] for row in ranked]
    more: dict[str, Any] = {
        "country": rng.choice(["DE", "FR", "PL"], ROWS).tolist(),
        "device": [None if i % 7 == 0 else f"d{i % 3}" for i in range(ROWS)],
        "age": rng.uniform(-5.0, 90.0, ROWS).tolist(),
        "best": pa.array(best, BEST[0]),
        "scores": pa.array(np.take_along_axis(vectors, ranked, axis=1).tolist(), BEST[1]),
        "true": vectors[np.arange(ROWS), labels].tolist(),
        "squares": (vectors**2).sum(axis=1).tolist(),
    }
    outcomes = pa.array([None if i % 11 == 0 else NAMES[k] for i, k in enumerate(labels)])
    write_day(folder, DAY, vectors, outcomes, form=form, names=NAMES, more=more)


def configured(folder: Path, settings: dict[str, Any], **more: Any) -> Model:
    """Configure the logs."""
    kind = {"vector": [f"p_{name}" for name in NAMES]} if "columns" in more else {"vector": "p"}
    kind = {} if "top" in settings else kind
    return Model.model_validate(
        {
            "predictions": {
                "path": f"{folder}/predictions/{{day}}.parquet",
                "classes": {"names": NAMES, **kind, **settings},
            },
            "outcomes": {"path": f"{folder}/outcomes/{{day}}.parquet"},
            "settled_after": 0,
            "checks": more.pop("checks", {"reject": ["outcome_invalid"]}),
            **{key: value for key, value in more.items() if key != "columns"},
        }
    )


TOP = {"classes": "best", "scores": "scores", "outcome": ["true", "squares"]}
COUNTRY = {"column": "country", "values": ["DE", "FR"]}
FURTHER = [
    {**COUNTRY, "primary": True},
    {"column": "device", "top": 5},
    {"column": "age", "quantiles": 4},
    {"cross": ["country", "device"]},
]
CASES: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "a map, normalised, weighted, strata": (
        *("map", {"sums": "normalise", "weights": [8, 1, 2, 1]}),
        {"strata": {"column": "device", "values": ["d0"]}},
    ),
    "columns of classes, further columns": (
        *("columns", {"watch": ["dog"]}),
        {"columns": "p", "segments": FURTHER},
    ),
    "the highest scores, segments": ("list", {"top": TOP}, {"segments": COUNTRY}),
}

IN_TASKS = "a map, normalised, weighted, strata"


def laid_out(columns: Columns) -> dict[Any, Any]:
    """List the counts of watched columns."""
    return {
        (column, value, key): (of.predicted, of.cells.tolist(), of.counts.tolist())
        for column, values in columns.items()
        for value, part in values.items()
        for key, of in {"": part, **part.pairs}.items()
    }


@pytest.mark.parametrize("case", CASES)
def test_spark_leaves_the_bytes_of_duckdb(
    case: str,
    spark: Databases,
    duckdb: Databases,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of summaries and of further columns, counted here or in tasks."""
    if case == IN_TASKS:
        monkeypatch.setattr(class_rows, "VALUES_KEPT", 0)
    form, classes, more = CASES[case]
    write(tmp_path, form)
    model = configured(tmp_path, classes, **more)
    store, read = Store(str(tmp_path / "store")), list[Any]()
    for engine in (duckdb, spark):
        summary = summarise_day("pets", model, DAY, as_of=AS_OF, engine=engine)
        store.write_summary(summary)
        read.append((store.content("summaries", "pets", DAY), laid_out(summary.columns)))

    assert read[0] == read[1]


def test_maps_and_rows_are_those_of_duckdb(
    spark: Databases, duckdb: Databases, tmp_path: Path
) -> None:
    """What a map makes of a day, and the rows that one is fitted to, in any order."""
    write(tmp_path, "list")
    model = configured(tmp_path, {}, segments=COUNTRY)
    classes = model.predictions.classes
    assert classes is not None
    summary = summarise_day("pets", model, DAY, as_of=AS_OF, engine=duckdb)
    batch, vector_map = (
        batch_of_summary("pets", model, summary),
        VectorMap("temperature", NAMES, (), (0.7,)),
    )
    here, there = (
        count_through_map(batch, classes, vector_map, engine) for engine in (duckdb, spark)
    )
    rows = [read_vectors(batch, classes, engine) for engine in (duckdb, spark)]

    assert here[0].tolist() == there[0].tolist()
    for of in ("pairs", "third"):
        assert {p: c.counts.tolist() for p, c in getattr(here[1], of).items()} == {
            p: c.counts.tolist() for p, c in getattr(there[1], of).items()
        }
    assert here[1].adjusted is not None
    assert there[1].adjusted is not None
    assert here[1].adjusted.top.counts.tolist() == there[1].adjusted.top.counts.tolist()
    assert [t.counts.tolist() for t in here[2]] == [t.counts.tolist() for t in there[2]]
    in_order = [sorted(zip(v.tolist(), k.tolist(), strict=True)) for v, k in rows]
    assert in_order[0] == in_order[1]


def test_what_a_row_lacks_is_said_as_duckdb_says_it(
    spark: Databases, duckdb: Databases, tmp_path: Path
) -> None:
    """An outcome that is no class."""
    vectors, labels = draw(np.random.default_rng(5), 30, 4)
    outcomes = pa.array([*(NAMES[k] for k in labels[:-1]), "Cat"])
    write_day(tmp_path, DAY, vectors, outcomes, names=NAMES)
    model, said = configured(tmp_path, {}, checks={"fail": ["outcome_invalid"]}), list[str]()
    for engine in (duckdb, spark):
        with pytest.raises(DataError) as error:
            summarise_day("pets", model, DAY, as_of=AS_OF, engine=engine)
        said.append(str(error.value))

    assert said[0] == said[1]
