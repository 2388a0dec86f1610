"""What is wrong with one model stops no other one."""

import json
import shutil
from collections.abc import Callable
from copy import deepcopy
from datetime import date
from typing import Any

import pyarrow as pa
import pytest
import yaml

from tests.conftest import DAY, DAY_AFTER, DAY_BEFORE, Ended, Project

RANGE = ("--from", DAY_BEFORE, "--to", DAY)
FAULTY, WELL = ("too_large", "elsewhere", "damaged"), "ctr"


@pytest.fixture
def many(project: Project) -> Project:
    """Configure the model of the project four times, first with a fault each."""
    config = yaml.safe_load((project.folder / "monitor.yaml").read_text())
    sound = config["models"]["ctr"]
    config["models"] = {name: deepcopy(sound) for name in (*FAULTY, WELL)}
    for kind in ("predictions", "outcomes"):
        config["models"]["too_large"][kind]["path"] = f"large_{kind}/{{day}}.parquet"
        for day in (DAY_BEFORE, DAY, DAY_AFTER):
            project.write(f"large_{kind}", rows_with_text_ids(project, kind, day), day)
    config["models"]["elsewhere"]["outcomes"]["path"] = "s9://nowhere/{day}.parquet"
    config["engine"] = {"threads": 1, "memory_mb": 100}
    (project.folder / "monitor.yaml").write_text(json.dumps(config))
    return project


def rows_with_text_ids(project: Project, kind: str, day: date) -> dict[str, Any]:
    """Give rows whose ids are texts; of one day they are larger than the memory of the engine."""
    rows = project.rows(kind, day)
    if day == DAY_AFTER:
        rows = {name: column[:0] for name, column in rows.items()}
    size = 60_000_000 if day == DAY and kind == "predictions" else 1
    ids = [f"{number}" for number in rows["prediction_id"]]
    if size > 1:
        rows = {name: column[:3] for name, column in rows.items()}
        ids = [sign * size for sign in "abc"]  # compressed, a few kB
    return rows | {"prediction_id": pa.array(ids, pa.string())}


def test_faults_of_three_models_leave_the_fourth_running(
    many: Project, command: Callable[..., Ended]
) -> None:
    """Memory, configuration and store fail a model each; the last one gets its usual bytes."""
    expected = many.results()
    shutil.rmtree("store")

    backfilled = command("backfill", *RANGE, "--json")
    damaged = many.folder / "store" / "summaries" / "damaged" / f"{DAY_BEFORE}.parquet"
    damaged.write_bytes(damaged.read_bytes()[:-9])
    evaluated = command("evaluate", *RANGE, "--json")

    assert (backfilled.code, evaluated.code) == (2, 3)  # one is an error of the configuration
    too_large, elsewhere = messages(backfilled)
    assert too_large.startswith(f"too_large {DAY}: the day does not fit into engine.memory_mb, 100")
    assert "s9" in elsewhere
    reports = {report["model"]: report for report in json.loads(backfilled.out)["reports"]}
    assert reports["too_large"]["summarised"] == [f"{DAY_BEFORE}"]
    assert reports[WELL]["failures"] == []
    assert f"summaries/damaged/{DAY_BEFORE}.parquet" in "".join(messages(evaluated))
    assert json.loads(evaluated.out)["judged"][WELL] == [f"{DAY_BEFORE}", f"{DAY}"]
    results = many.results()
    assert {path: results[path] for path in results if f"/{WELL}/" in path} == expected


def messages(ended: Ended) -> list[str]:
    """Read what a command printed about its errors."""
    return list(json.loads(ended.err)["error"]["messages"])
