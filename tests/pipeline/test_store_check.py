"""`check --store` reads everything, and lists what is damaged, missing or left over."""

import json
import shutil
from datetime import date
from pathlib import Path

import pytest

from tests.conftest import Command, Project

CHECK = ("check", "--store")
FIRST, SECOND = date(2026, 3, 1), date(2026, 3, 2)


def flip(path: Path) -> None:
    """Flip a bit in the middle of a file."""
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def test_a_sound_store_is_said_to_be_sound(project: Project, command: Command) -> None:
    """Every file of a finished store is read, and none is complained of."""
    files = [path for path in (project.folder / "store").rglob("*") if path.is_file()]

    ended = command(*CHECK, "--json")
    told = command(*CHECK)

    assert (ended.code, told.code) == (0, 0), ended.err
    (found,) = json.loads(ended.out)["models"].values()
    assert (
        found["files"] == len(files) - 2
    )  # without the lock and store.json, which are of no model
    assert (found["damaged"], found["missing"], found["left_over"]) == ([], [], [])
    assert "No file of the store is damaged or missing" in told.out


@pytest.mark.parametrize(
    ("name", "heals"),
    [
        (f"summaries/ctr/{FIRST}.parquet", "backfill --model ctr --from 2026-03-01"),
        (f"evaluations/ctr/{FIRST}.arrows.zst", "evaluate --model ctr --from 2026-03-01"),
        (f"verdicts/ctr/{SECOND}.arrows.zst", "evaluate --model ctr --from 2026-03-02"),
        ("runs/ctr/last.json", "run again"),
        (f"runs/ctr/{FIRST}.json", "run again"),
        ("runs/ctr/stale.json", "run again"),
    ],
)
def test_damage_is_listed(project: Project, command: Command, name: str, heals: str) -> None:
    """Each damaged file is named with the command that heals it, and the code is 3."""
    flip(project.folder / "store" / name)

    ended = command(*CHECK)

    assert ended.code == 3
    assert f"/{name}: is not a readable file" in ended.err
    assert heals in ended.err
    assert "damaged 1, missing 0" in ended.out


@pytest.mark.parametrize(
    ("name", "heals"),
    [
        (f"summaries/ctr/{SECOND}.parquet", "backfill --model ctr --from 2026-03-02"),
        (f"evaluations/ctr/{SECOND}.arrows.zst", "evaluate --model ctr --from 2026-03-02"),
        (f"verdicts/ctr/{SECOND}.arrows.zst", "evaluate --model ctr --from 2026-03-02"),
    ],
)
def test_what_is_missing_is_listed(
    project: Project, command: Command, name: str, heals: str
) -> None:
    """Each result that should be there is named with the command that makes it."""
    (project.folder / "store" / name).unlink()

    ended = command(*CHECK)

    assert ended.code == 3
    assert f"{name} is missing; run calibration-monitor {heals}" in ended.err


def test_what_is_left_over_is_listed(project: Project, command: Command) -> None:
    """Files of killed runs, of other programs, and of other models are named; the code is 0."""
    store = project.folder / "store"
    (store / f"summaries/ctr/.{FIRST}.parquet.77.tmp").write_bytes(b"half")
    (store / "runs/ctr/notes.txt").write_text("mine")
    shutil.copytree(store / "summaries/ctr", store / "summaries/gone")

    ended = command(*CHECK)

    assert ended.code == 0, ended.err
    assert "left over 2" in ended.out
    assert f"ctr: summaries/ctr/.{FIRST}.parquet.77.tmp is no file" in ended.out
    assert "ctr: runs/ctr/notes.txt is no file" in ended.out
    assert "gone: is in the store but not in the configuration" in ended.out
