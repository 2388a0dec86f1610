"""From a folder to a verdict: `init` writes a configuration with which `check` and `backfill` work.

The folders are written as people write them; what `init` must find in each is beside it.
"""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.undescribed import FIRST, history, renamed, write

Command = Callable[..., Any]
PROMPT, LATE = history(), history(delay=1.0, days=14)


def hive(root: Path) -> None:
    """Spark's folders, with the files that Spark leaves beside the data."""
    name = (
        "fraud/{log}/ds={{day}}/part-00000-0f8fad5b-d9cb-469f-a165-70867728950e.c000.snappy.parquet"
    )
    write(root, PROMPT, name.format(log="predictions"), name.format(log="outcomes"))
    for folder in root.glob("fraud/*/*"):
        (folder / "_SUCCESS").touch()
        next(folder.glob("part-*")).with_name(".part-00000.crc").write_bytes(b"crc")


def nested(root: Path) -> None:
    """Nested dates, other names of columns, and outcomes that come over several days."""
    write(
        root,
        LATE,
        "scores/{day:%Y/%m/%d}/data.parquet",
        "labels/year={day:%Y}/month={day:%m}/day={day:%d}/0.parquet",
        of_predictions=renamed(request_id="txn", score="p_fraud", scored_at="ts"),
        of_outcomes=renamed(request_id="transaction", label="is_fraud", observed_at="event_ts"),
    )


def side_by_side(root: Path) -> None:
    """Plain dated names, both logs in one folder."""
    write(root, PROMPT, "scores-{day:%Y%m%d}.parquet", "clicks-{day:%Y%m%d}.parquet")


def one_folder_a_day(root: Path) -> None:
    """Both logs in the folder of the day."""
    write(root, PROMPT, "{day}/preds.parquet", "{day}/labels.parquet")


FOLDERS: dict[str, tuple[Callable[[Path], None], dict[str, Any]]] = {
    "hive": (
        hive,
        {
            "predictions.path": "logs/fraud/predictions/ds={day}/part-*.parquet",
            "predictions.id": "request_id",
            "predictions.score": "score",
            "predictions.time": "scored_at",
            "outcomes.outcome": "label",
            "outcomes.time": "observed_at",
            "settled_after": 0,
        },
    ),
    "nested": (
        nested,
        {
            "predictions.path": "logs/scores/{day:%Y}/{day:%m}/{day:%d}/data.parquet",
            "predictions.id": "txn",
            "predictions.score": "p_fraud",
            "outcomes.path": "logs/labels/year={day:%Y}/month={day:%m}/day={day:%d}/*.parquet",
            "outcomes.id": "transaction",
            "outcomes.outcome": "is_fraud",
            "settled_after": 5,
        },
    ),
    "side by side": (
        side_by_side,
        {
            "predictions.path": "logs/scores-{day:%Y%m%d}.parquet",
            "outcomes.path": "logs/clicks-{day:%Y%m%d}.parquet",
        },
    ),
    "one folder a day": (
        one_folder_a_day,
        {
            "predictions.path": "logs/{day}/preds.parquet",
            "outcomes.path": "logs/{day}/labels.parquet",
        },
    ),
}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Change to an empty folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def settings(path: Path) -> dict[str, Any]:
    """Read the settings of the only model, with dotted keys."""
    (model,) = yaml.safe_load(path.read_text())["models"].values()
    flat = {}
    for key, value in model.items():
        if key in ("predictions", "outcomes", "checks"):
            flat |= {f"{key}.{inner}": setting for inner, setting in value.items()}
        else:
            flat[key] = value
    return flat


@pytest.mark.parametrize("case", FOLDERS)
def test_a_folder_becomes_a_verdict(case: str, here: Path, command: Command) -> None:
    """Four commands, none of which needs an edited file; the settings are those of the folder."""
    make, expected = FOLDERS[case]
    make(here / "logs")

    written = command("init", "logs")
    assert written.code == 0, written.err
    found = settings(here / "monitor.yaml")
    (name,) = yaml.safe_load((here / "monitor.yaml").read_text())["models"]

    assert {key: found.get(key) for key in expected} == expected
    ended = command("check")
    assert ended.code == 0, ended.err
    days = ("--from", FIRST, "--to", FIRST + timedelta(1))
    ended = command("backfill", "--model", name, *days)
    assert ended.code == 0, ended.err
    ended = command("show", "--model", name)
    assert ended.code == 0, ended.err
