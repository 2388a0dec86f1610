"""Columns inside structs are found as plain ones are, and named by expressions."""

import json
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
import yaml
from scipy.special import expit

from tests.support.cases import some

Command = Callable[..., Any]
FIRST, DAYS, ROWS = date(2026, 4, 1), 6, 300
NAMES = ("prediction", "data", "Payload", "r", "event")
MAP = pa.map_(pa.string(), pa.float64())
FIELDS = ("result", "output", "x y", "inner", "meta")


def place(rng: np.random.Generator, leaf: str) -> list[str]:
    """Draw the place of a value: up to two structs above it."""
    depth = int(rng.integers(0, 3))
    above = [str(rng.choice(NAMES)), str(rng.choice(FIELDS))][:depth]
    return [*above, leaf]


def put(row: dict[str, Any], path: list[str], value: Any) -> None:
    """Put a value into its place in a row."""
    for name in path[:-1]:
        row = row.setdefault(name, {})
    row[path[-1]] = value


def sql(path: list[str], form: str) -> str | dict[str, str]:
    """Write how the configuration names a place."""
    if len(path) == 1:
        return path[0]
    simple = [name if name.islower() and " " not in name else f'"{name}"' for name in path]
    if form == "jsonl":
        return {"sql": f"{simple[0]}->>'$.{'.'.join(simple[1:])}'"}
    return {"sql": ".".join(simple)}


@pytest.mark.parametrize("form", ["parquet", "jsonl"])
@pytest.mark.parametrize("seed", some(range(6), 3))
def test_nested_columns_are_found(
    seed: int, form: str, tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Id, score, noise and outcome at random depths: what is planted is named, and passes check."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(seed)
    ours = {name: place(rng, name) for name in ("key_id", "p_bad", "noise")}
    theirs = {name: place(rng, name) for name in ("key_id", "label")}
    for n in range(DAYS):
        scores = expit(rng.normal(-1, 1.3, ROWS))
        labels = (rng.random(ROWS) < scores).astype(int).tolist()
        values = {
            "key_id": [f"{n}-{i:04}" for i in range(ROWS)],
            "p_bad": scores.tolist(),
            "noise": rng.random(ROWS).tolist(),
            "label": labels,
        }
        for log, places in (("p", ours), ("o", theirs)):
            rows: list[dict[str, Any]] = [{} for _ in range(ROWS)]
            for name, path in places.items():
                for row, value in zip(rows, values[name], strict=True):
                    put(row, path, value)
            file = tmp_path / "logs" / log / f"{FIRST + timedelta(n)}.{form}"
            file.parent.mkdir(parents=True, exist_ok=True)
            if form == "parquet":
                pq.write_table(pa.Table.from_pylist(rows), file)
            else:
                file.write_text("".join(f"{json.dumps(row)}\n" for row in rows))

    ended = command("init", "logs")

    assert ended.code == 0, ended.err
    (model,) = yaml.safe_load((tmp_path / "monitor.yaml").read_text())["models"].values()
    assert model["predictions"]["score"] == sql(ours["p_bad"], form)
    assert model["predictions"]["id"] == sql(ours["key_id"], form)
    assert model["outcomes"]["id"] == sql(theirs["key_id"], form)
    assert model["outcomes"]["outcome"] == sql(theirs["label"], form)
    assert f"{ROWS} " in ended.out  # of the table that check prints


FORMS = ("JSON in a text", "JSON in a text of CSV", "a map", "a list", "a list of JSON lines")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("seed", range(2))
def test_values_in_documents_maps_and_lists_are_found(
    seed: int, form: str, tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The score within is named by the expression of docs/logs.md, and passes check."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(20 + seed)
    name, field = str(rng.choice(NAMES)), str(rng.choice(FIELDS))
    column = name if name.islower() else f'"{name}"'
    step = field if " " not in field else f'"{field}"'
    written = {
        "JSON in a text": f"CAST({column}->>'$.{step}.p' AS DOUBLE)",
        "JSON in a text of CSV": f"CAST({column}->>'$.{step}.p' AS DOUBLE)",
        "a map": f"{column}['{field}']",
        "a list": f"{column}[2]",
        "a list of JSON lines": f"{column}->>'$[1]'",
    }[form]
    ending = {"JSON in a text of CSV": "csv", "a list of JSON lines": "jsonl"}.get(form, "parquet")
    for n in range(DAYS):
        p = expit(rng.normal(-1, 1.3, ROWS)).tolist()
        labels = (rng.random(ROWS) < p).astype(int).tolist()
        ids = [f"{n}-{i:04}" for i in range(ROWS)]
        values: Any = [json.dumps({field: {"p": x, "ok": True}, "v": "m"}) for x in p]
        if form == "a map":
            values = pa.array([[(field, x), ("age", 40.0)] for x in p], MAP)
        if form.startswith("a list"):
            values = [[1 - x, x] for x in p]
        day = FIRST + timedelta(n)
        write(tmp_path / f"logs/p/{day}.{ending}", pa.table({"key_id": ids, name: values}))
        write(tmp_path / f"logs/o/{day}.{ending}", pa.table({"key_id": ids, "label": labels}))

    ended = command("init", "logs")

    assert ended.code == 0, ended.err
    (model,) = yaml.safe_load((tmp_path / "monitor.yaml").read_text())["models"].values()
    assert model["predictions"]["score"] == {"sql": written}
    assert f"{ROWS} " in ended.out  # of the table that check prints


def write(file: Path, table: pa.Table) -> None:
    """Write a table in the format that the name says."""
    file.parent.mkdir(parents=True, exist_ok=True)
    if file.suffix == ".parquet":
        pq.write_table(table, file)
    elif file.suffix == ".csv":
        pyarrow.csv.write_csv(table, file)
    else:
        file.write_text("".join(f"{json.dumps(row)}\n" for row in table.to_pylist()))
