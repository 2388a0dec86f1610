"""Files of one folder with the same columns: parts of one log, or the logs of two models."""

from datetime import date, timedelta
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

from monitor.logs.discovery import Guess, guess
from tests.conftest import run_command

DAYS = [date(2026, 1, 1) + timedelta(n) for n in range(10)]
ROWS = 240


def write_logs(
    root: Path,
    names: list[str],
    *,
    shared: bool = False,
) -> None:
    """Write predictions into files of these names, each with its own rows, or all with all."""
    rng = np.random.default_rng(7)
    for number, day in enumerate(DAYS):
        ids = np.arange(ROWS) + number * ROWS
        scores = rng.beta(1, 2, ROWS)
        rows = np.array_split(rng.permutation(ROWS), len(names))
        for place, name in enumerate(names):
            mine = np.arange(ROWS) if shared else rows[place]
            columns = {"id": pa.array(ids[mine]), "score": pa.array(scores[mine])}
            path = root / name.format(day=day)
            path.parent.mkdir(parents=True, exist_ok=True)
            pq.write_table(pa.table(columns), path)
        (root / "truth").mkdir(exist_ok=True)
        outcomes = pa.table({"id": ids, "label": (rng.random(ROWS) < scores).astype(int)})
        pq.write_table(outcomes, root / f"truth/{day}.parquet")


def paths(models: tuple[Guess, ...], root: Path) -> list[str]:
    """List the paths of the predictions."""
    settings = (s for model in models for s in model.settings)
    return [
        f"{s.value}".removeprefix(f"{root}/")
        for s in settings
        if (s.section, s.key) == ("predictions", "path")
    ]


@pytest.mark.parametrize(
    ("names", "template"),
    [
        (["p/{day}/part-1.parquet", "p/{day}/part-2.parquet"], "p/{day}/part-*.parquet"),
        (["p/{day}-0.parquet", "p/{day}-1.parquet"], "p/{day}*.parquet"),
        (["p/w.1.{day}.parquet", "p/w.2.{day}.parquet"], "p/w.*.{day}.parquet"),
    ],
)
def test_numbers_are_parts_of_one_log(names: list[str], template: str, tmp_path: Path) -> None:
    """Their ids are different, so every outcome has its prediction."""
    write_logs(tmp_path, names)

    models = guess([str(tmp_path)]).models

    assert paths(models, tmp_path) == [template]
    assert models[0].doubts == ()


@pytest.mark.parametrize(
    "names",
    [
        ["p/{day}/part-a.parquet", "p/{day}/part-b.parquet"],
        ["p/{day}/east.parquet", "p/{day}/west.parquet"],
        ["p/{day}-x.parquet", "p/{day}-y.parquet"],
        ["p/{day}/web.parquet", "p/{day}/app.parquet", "p/{day}/tv.parquet"],
    ],
)
def test_other_names_are_models_with_a_doubt(names: list[str], tmp_path: Path) -> None:
    """Each of them has a part of the outcomes; of the others `init` says so."""
    write_logs(tmp_path, names)

    done = run_command("init", tmp_path, "--out", tmp_path / "monitor.yaml")

    assert done.code == 0, done.err
    models = yaml.safe_load((tmp_path / "monitor.yaml").read_text())["models"]
    assert len(models) == len(names)
    for model in models.values():
        assert "have no prediction in the log" in "".join(model["doubts"])


@pytest.mark.parametrize(
    "names",
    [
        ["p/{day}/champion.parquet", "p/{day}/challenger.parquet"],
        ["p/{day}/a.parquet", "p/{day}/b.parquet"],
    ],
)
def test_two_models_have_the_same_ids(names: list[str], tmp_path: Path) -> None:
    """They stay two, whatever their names."""
    write_logs(tmp_path, names, shared=True)

    assert sorted(paths(guess([str(tmp_path)]).models, tmp_path)) == sorted(names)


def test_versions_stay_apart(tmp_path: Path) -> None:
    """Each has its own rows, but another model made the scores."""
    names = ["p/{day}/model-v1.parquet", "p/{day}/model-v2.parquet"]
    write_logs(tmp_path, names)

    assert sorted(paths(guess([str(tmp_path)]).models, tmp_path)) == names


def test_many_outcomes_without_a_prediction_are_a_doubt(tmp_path: Path) -> None:
    """Half of a log was passed: `init` says so, and writes it into the file."""
    write_logs(tmp_path, ["p/{day}/a.parquet", "p/{day}/b.parquet"])
    for path in tmp_path.glob("p/*/b.parquet"):
        path.unlink()

    done = run_command("init", tmp_path, "--out", tmp_path / "monitor.yaml")

    assert done.code == 0, done.err
    said = f"{ROWS // 2} of {ROWS} outcomes (50 %) have no prediction in the log"
    assert said in done.out
    ((model,),) = [yaml.safe_load((tmp_path / "monitor.yaml").read_text())["models"].values()]
    assert said in "".join(model["doubts"])
