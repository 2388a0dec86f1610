"""What people try first: each ends with one message that says what was found and what to do."""

import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.undescribed import FIRST, changed, history, put, renamed, write

Command = Callable[..., Any]
LOGS = history()
NOISE = {"width": [1.5, 2.5, 3.5], "name": ["a", "b", "c"]}


def only_predictions(root: Path) -> None:
    """Write a log of predictions alone."""
    write(root, LOGS, "scores/{day}.parquet", "none/{day}.parquet")
    for path in (root / "none").iterdir():
        path.unlink()


def only_outcomes(root: Path) -> None:
    """Write a log of outcomes alone."""
    for day, rows in LOGS.outcomes.items():
        put(root / f"{day}.parquet", rows)


def other_ids(root: Path) -> None:
    """Write outcomes whose ids are of another system."""
    strange = changed(request_id=lambda rows: [f"x{n}" for n in range(len(rows["label"]))])
    write(root, LOGS, "scores/{day}.parquet", "labels/{day}.parquet", of_outcomes=strange)


def damaged(root: Path) -> None:
    """Write files that only have the name of Parquet."""
    root.mkdir()
    for day in LOGS.days:
        (root / f"{day}.parquet").write_text("no parquet")


def spreadsheets(root: Path) -> None:
    """Write a format that is not read."""
    root.mkdir()
    (root / "scores.xlsx").write_bytes(b"PK")


REFUSED: dict[str, tuple[Callable[[Path], object], int, tuple[str, ...]]] = {
    "a folder that does not exist": (
        lambda root: root.parent,
        2,
        ("logs: does not exist; pass the folder, or the files, of your logs.",),
    ),
    "an empty folder": (
        lambda root: root.mkdir(),
        2,
        ("/logs: has no files; pass the folder, or the files, of your logs.",),
    ),
    "damaged": (
        damaged,
        3,
        ("-29.parquet: cannot be read as Parquet (", "write the file again, or name othe"),
    ),
    "spreadsheets": (
        spreadsheets,
        2,
        ("has no Parquet, CSV or JSON files, only others such as scores.xlsx; pass the folder",),
    ),
}


UNFINISHED: dict[str, tuple[Callable[[Path], object], set[str], tuple[str, ...]]] = {
    "nonsense": (
        lambda root: put(root / "boxes.parquet", NOISE),
        {
            *("predictions.path", "predictions.id", "predictions.score"),
            *("outcomes.path", "outcomes.id", "outcomes.outcome"),
        },
        (
            "has neither scores (numbers from 0 to 1) nor outcomes (0 or 1)",
            "boxes.parquet: (neither its path nor a column dates its rows)",
            "\n    width DOUBLE\n",
        ),
    ),
    "only predictions": (
        only_predictions,
        {"predictions.id", "outcomes.path", "outcomes.id", "outcomes.outcome"},
        ("has predictions (scores/{day}.parquet, score score), but no outcomes", "PREDICTIONS OUT"),
    ),
    "only outcomes": (
        only_outcomes,
        {"predictions.path", "predictions.id", "predictions.score", "outcomes.id"},
        ("could be outcomes, but no scores", "{day}.parquet:\n    req"),
    ),
    "other ids": (
        other_ids,
        {"predictions.id", "outcomes.id"},
        ("no column that both have and that", "labels/{day}.parquet"),
    ),
}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Change to an empty folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_no_log_gets_a_message(case: str, here: Path, command: Command) -> None:
    """The message says what was found and what to do next; nothing is written."""
    make, code, said = REFUSED[case]
    make(here / "logs")

    ended = command("init", "logs")

    assert ended.code == code, ended.err
    assert [part for part in said if part not in ended.err] == [], ended.err
    assert not (here / "monitor.yaml").exists()


@pytest.mark.parametrize("case", UNFINISHED)
def test_what_cannot_be_guessed_is_to_decide(case: str, here: Path, command: Command) -> None:
    """A file is written; what is to decide is TODO in it, and check names exactly these keys."""
    make, wanted, said = UNFINISHED[case]
    make(here / "logs")

    ended = command("init", "logs", "--json")

    assert ended.code == 0, ended.err
    (model,) = json.loads(ended.out)["models"].values()
    told = " ".join([ended.err, *(s["why"] for s in model["to_decide"])])
    assert [part for part in said if part not in told] == [], told
    assert {f"{s['section']}.{s['key']}" for s in model["to_decide"]} == wanted
    checked = command("check")
    assert checked.code == 2
    keys = re.findall(r"models\.[^.]+\.([\w.]+): is TODO; set it", checked.err)
    assert sorted(keys) == sorted(wanted)
    assert len(checked.err.splitlines()) == len(wanted)  # no other complaint


def test_a_file_without_what_was_to_decide_is_checked(here: Path, command: Command) -> None:
    """Once a person has decided, the rest of the file is right."""
    other_ids(here / "logs")
    command("init", "logs")
    path = here / "monitor.yaml"
    number = "id: request_id"
    path.write_text(path.read_text().replace("id: TODO", number))

    ended = command("check")

    assert ended.code == 3  # these logs share no id, and the message is that of the logs
    assert "TODO" not in ended.err
    assert "x0" in ended.err


def test_a_folder_that_may_not_be_read(here: Path, command: Command) -> None:
    """The message names the folder; root may read everything, so there it is only empty."""
    (here / "logs" / "closed").mkdir(parents=True)
    (here / "logs" / "closed").chmod(0)

    ended = command("init", "logs")

    wanted = "has no files" if os.access(here / "logs" / "closed", os.R_OK) else "may not be read"
    assert wanted in ended.err


def test_nothing_is_overwritten(here: Path, command: Command) -> None:
    """A file that exists stays, and the logs are not even looked at."""
    (here / "monitor.yaml").write_text("mine")

    ended = command("init", "nowhere")

    assert ended.code == 2
    assert "--out monitor.yaml: exists already, and init overwrites nothing" in ended.err
    assert (here / "monitor.yaml").read_text() == "mine"


def test_one_file_of_each_log(here: Path, command: Command) -> None:
    """Files instead of folders: the other days of the same name are found too."""
    write(
        here / "logs",
        LOGS,
        "scores/{day}.parquet",
        "labels/{day}.parquet",
        of_predictions=renamed(score="probability"),
    )

    ended = command(
        *("init", f"logs/scores/{FIRST}.parquet", f"logs/labels/{FIRST}.parquet"), *("--out", "-")
    )

    assert ended.code == 0, ended.err
    assert "path: logs/scores/{day}.parquet" in ended.out
    assert "score: probability" in ended.out
