"""Columns whose names only case tells apart: `init` reads neither, whatever their order."""

import json
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
import yaml

from monitor.config import TODO
from tests.conftest import run_command

FIRST, DAYS = date(2026, 1, 1), 12
TWINS = ("score", "Score")


def write(root: Path, *, swapped: range, ending: str = "parquet") -> None:
    """Write scores under the first name and noise under the second; on some days the other way.

    The ending `struct` means fields of one column of Parquet, `late` twins on these days only, and
    `jsonl` an object.
    """
    rng = np.random.default_rng(1)
    root.mkdir()
    for number in range(DAYS):
        scores, day = rng.beta(1, 2, 300), FIRST + timedelta(number)
        pair = dict(zip(TWINS, (scores, rng.random(300)), strict=True))
        if number in swapped:
            pair = dict(reversed(pair.items()))
        elif ending == "late":
            pair = {"score": scores}
        whole = {"payload": pa.StructArray.from_arrays([*pair.values()], [*pair])}
        labels = (rng.random(300) < scores).astype(int)
        columns = whole if ending in ("struct", "jsonl") else pair
        table = pa.table({"Id": np.arange(300), **columns, "Label": labels})
        if ending == "csv":
            pyarrow.csv.write_csv(table, root / f"{day}.csv")
        elif ending == "jsonl":
            lines = (json.dumps(row) for row in table.to_pylist())
            (root / f"{day}.jsonl").write_text("\n".join(lines))
        else:
            pq.write_table(table, root / f"{day}.parquet")


def model_of() -> dict[str, Any]:
    """Read the only model of the file that `init` wrote."""
    (model,) = yaml.safe_load(Path("monitor.yaml").read_text())["models"].values()
    return dict(model)


def configure(score: object, where: str | None = None) -> None:
    """Write a file by hand."""
    predictions = {"path": "logs/{day}.parquet", "score": score} | (
        {"where": where} if where else {}
    )
    if list(Path("logs").glob("*.jsonl")):
        predictions |= {"path": "logs/{day}.jsonl", "format": "json"}
    outcomes = {"in_predictions": True, "outcome": "Label"}
    model = {"predictions": predictions, "outcomes": outcomes, "settled_after": 0}
    Path("monitor.yaml").write_text(yaml.safe_dump({"store": "store", "models": {"m": model}}))


@pytest.mark.parametrize(
    ("ending", "swapped"),
    [("parquet", range(0)), ("parquet", range(6)), ("csv", range(6)), ("struct", range(6, 12))],
)
def test_neither_is_the_score(
    ending: str, swapped: range, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One key is open, a person is told which columns to rename, and no name is invented."""
    monkeypatch.chdir(tmp_path)
    write(Path("logs"), swapped=swapped, ending=ending)

    ended = run_command("init", "logs")

    names = {"payload.Score", "payload.score"} if ending == "struct" else {*TWINS}
    said = ended.err.partition("no score among what can be read: the names of ")[2]
    assert {*said.partition(" differ only in case; rename")[0].split(", ")} == names
    assert [name for name in ("predictions", "outcomes") if TODO in model_of()[name].values()] == [
        "predictions"
    ]
    assert model_of()["predictions"]["score"] == TODO
    assert model_of()["outcomes"]["outcome"] == "Label"
    assert "rename all but one" in model_of()["doubts"][0]


def test_twins_of_some_days_are_a_doubt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The days that have only one of them are read; the others are refused by name."""
    monkeypatch.chdir(tmp_path)
    write(Path("logs"), swapped=range(8, 10), ending="late")

    run_command("init", "logs")
    sound, other = (run_command("check", "--day", FIRST + timedelta(n)) for n in (7, 8))

    assert model_of()["predictions"]["score"] == "score"
    assert "none of `Score`, `score` is read" in model_of()["doubts"][0]
    assert (sound.code, other.code) == (0, 3)
    assert "have 2 columns of one name, Score, score" in other.err


@pytest.mark.parametrize(
    ("score", "where"),
    [
        ({"column": "payload", "field": "score"}, None),
        ({"column": "payload", "field": "score_1"}, None),
        ({"sql": "payload.score"}, None),
        ({"sql": "payload['Score']"}, None),
        ("Label", "payload.score_1 > 0"),
    ],
)
def test_no_field_is_taken_for_its_twin(
    score: object, where: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQL would read the first of the two, and call the second by a name that no file has."""
    monkeypatch.chdir(tmp_path)
    write(Path("logs"), swapped=range(0), ending="struct")
    configure(score, where)

    ended = run_command("check", "--day", FIRST)

    assert ended.code == 3
    assert "have 2 fields of one name, payload.score, payload.Score" in ended.err


def test_keys_of_json_are_told_by_their_case(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`init` and a run read each of them by an expression."""
    monkeypatch.chdir(tmp_path)
    write(Path("logs"), swapped=range(0), ending="jsonl")

    ended = run_command("init", "logs")
    written = model_of()["predictions"]["score"]
    means = {}
    for name in TWINS:
        configure({"sql": f"payload->>'$.{name}'"})
        read = json.loads(run_command("check", "--day", FIRST, "--json").out)["models"]
        means[name] = json.dumps(read)

    assert ended.code == 0, ended.err
    assert written == {"sql": "payload->>'$.score'"}
    assert means["score"] != means["Score"]
