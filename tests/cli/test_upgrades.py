"""Stores of other versions of the program: messages lead forward, and nothing newer is touched."""

import json
import re
import shlex
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import IO, cast

import pytest

from monitor.store import names
from monitor.store.names import day_file
from monitor.store.sealing import FORMAT, open_record, open_table, sealed, sealed_record
from monitor.store.store import Store
from tests.conftest import DAY, DAY_BEFORE, Ended, Project, finish
from tests.support.cases import some
from tests.support.paths import GOLDEN

Command = Callable[..., Ended]
SEAL = b"digest", b"sha256"
WRITING = [
    ("run", "--day", DAY),
    ("backfill", "--from", DAY_BEFORE, "--to", DAY),
    ("backfill", "--from", DAY_BEFORE, "--to", DAY, "--again"),
    ("evaluate", "--from", DAY_BEFORE, "--to", DAY),
    ("prune", "--keep", "400d"),
    ("store", "compact"),
]
READING = [
    ("check", "--store"),
    ("show", "--model", "ctr"),
    ("textfile", "--into", "out.prom"),
]


def rewrite(path: Path, columns: tuple[str, ...] = (), **about: str) -> None:
    """Write a table again, sealed, without some columns and with other metadata."""
    table, _ = open_table(path.read_bytes())
    kept = {key: value for key, value in table.schema.metadata.items() if key not in SEAL}
    said = {key.encode(): value.encode() for key, value in about.items()}
    changed = table.drop_columns([*columns]).replace_schema_metadata({**kept, **said})
    path.write_bytes(sealed(path.name, changed))


def everything(project: Project) -> dict[Path, bytes]:
    """Read all files of the store; what the lock file says is of no importance."""
    files = (project.folder / "store").rglob("*")
    return {path: path.read_bytes() for path in files if path.is_file() and path.name != "lock"}


@pytest.mark.parametrize(
    "old", [("evaluations",), ("verdicts",), ("evaluations", "verdicts"), ("summaries",)]
)
def test_one_suggestion_makes_an_old_store_readable(
    project: Project, command: Command, old: tuple[str, ...]
) -> None:
    """The command that `show` prints for a store of an earlier version is enough for `show`."""
    sound = project.results()
    missing = {"evaluations": "raw", "verdicts": "state", "summaries": "offset_sum"}
    for kind in old:
        for path in (project.folder / "store" / kind / "ctr").iterdir():
            rewrite(path, (missing[kind],))
    shown = ("show", "--model", "ctr") if old != ("summaries",) else (*WRITING[3],)

    failed = command(*shown)
    (advice,) = re.findall(r"run\s+calibration-monitor\s+([^.]+)\.", failed.err)
    done = command(*shlex.split(advice))
    after = command(*shown)

    assert failed.code == 3
    assert done.code == 0, done.err
    assert after.code == 0, after.err
    assert project.results() == sound


def newer_record(project: Project) -> None:
    """Let a newer program have run."""
    path = project.folder / "store/runs/ctr/stale.json"
    path.write_bytes(sealed_record({**open_record(path.read_bytes()), "format": FORMAT + 1}))


def newer_table(project: Project) -> None:
    """Let a newer program have written a summary."""
    rewrite(project.folder / f"store/summaries/ctr/{DAY}.parquet", format=f"{FORMAT + 1}")


@pytest.mark.parametrize("arguments", some(WRITING, 2))
def test_nothing_is_written_to_a_newer_store(
    project: Project, command: Command, arguments: tuple[object, ...]
) -> None:
    """A command that writes ends before its first write, and names the format it does not know."""
    newer_record(project)
    before = everything(project)

    ended = command(*arguments)

    assert ended.code == 3
    assert f"in format {FORMAT + 1}" in " ".join(ended.err.split())
    assert everything(project) == before


@pytest.mark.parametrize("arguments", [*WRITING[:1], *READING[:1]])
def test_a_newer_file_is_read_by_nobody(
    project: Project, command: Command, arguments: tuple[object, ...]
) -> None:
    """A file in a newer format is no damage: it is not replaced, and no result changes."""
    newer_table(project)
    before = project.results()

    ended = command(*arguments)

    assert ended.code == 3
    assert f"in format {FORMAT + 1}" in " ".join(ended.err.split())
    assert project.results() == before


@pytest.mark.parametrize(
    ("kind", "arguments"),
    [*zip(["summaries", "evaluations", "verdicts", "revisions"], WRITING, strict=False)],
)
def test_an_older_file_of_a_newer_program_is_not_replaced(
    project: Project, command: Command, arguments: tuple[object, ...], kind: str
) -> None:
    """Whichever day a command begins with, what it goes on from may be newer."""
    first = project.folder / "store" / day_file(kind, "ctr", DAY_BEFORE)
    if kind == "revisions":
        command("backfill", "--from", DAY_BEFORE, "--to", DAY_BEFORE, "--again")
        first.parent.mkdir(parents=True, exist_ok=True)
        verdicts = project.folder / f"store/verdicts/ctr/{DAY_BEFORE}.arrows.zst"
        first.write_bytes(verdicts.read_bytes())
    rewrite(first, kind=kind, format=f"{FORMAT + 1}")
    newer = first.read_bytes()

    ended = command(*arguments)

    assert first.read_bytes() == newer
    assert "damaged" not in ended.out + ended.err


def test_a_store_that_a_newer_program_began_is_not_touched(
    project: Project, command: Command
) -> None:
    """It says its format itself, before any file of a model is read."""
    path = project.folder / "store/store.json"
    path.write_bytes(sealed_record({**open_record(path.read_bytes()), "format": FORMAT + 1}))
    before = everything(project)
    for arguments in [*WRITING, *READING]:
        ended = command(*arguments)
        assert ended.code == 3
        assert f"in format {FORMAT + 1}" in " ".join(ended.err.split())
    assert everything(project) == before


def test_a_store_of_a_program_before_is_marked_once_it_is_written(
    project: Project, command: Command
) -> None:
    """From then on the older program refuses it; it is still the same store."""
    path = project.folder / "store/store.json"
    about = open_record(path.read_bytes())
    path.write_bytes(sealed_record({**about, "format": FORMAT - 1}))
    assert command("show").code == 0
    assert open_record(path.read_bytes())["format"] == FORMAT - 1
    assert command("run", "--day", DAY).code == 0
    assert open_record(path.read_bytes()) == about


@pytest.mark.parametrize("arguments", READING)
def test_reading_a_newer_store_says_so(
    project: Project, command: Command, arguments: tuple[object, ...]
) -> None:
    """Commands that only read name the format too."""
    newer_record(project)
    for kind in ("evaluations", "verdicts"):
        rewrite(project.folder / "store" / day_file(kind, "ctr", DAY), format=f"{FORMAT + 1}")

    ended = command(*arguments)

    assert ended.code == 3
    assert f"in format {FORMAT + 1}" in " ".join(ended.err.split())


def test_files_of_before_are_read_and_replaced(
    project: Project, tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was Parquet once reads as what is a stream now, and goes when it is made again."""
    before = tmp_path / "before"
    before.mkdir()
    with monkeypatch.context() as patch:
        patch.setattr(names, "ENDINGS", {"runs": names.JSON})
        finish(before)
    store = Store(str(before / "store"))
    assert not [*before.rglob(f"*{names.ARROW}")]
    same = Store(str(project.folder / "store")).read_verdicts("ctr", DAY)[0]
    assert repr(store.read_verdicts("ctr", DAY)[0]) == repr(same)

    config = "--config", before / "monitor.yaml"
    assert command("check", "--store", *config).code == 0
    done = command("evaluate", "--from", DAY_BEFORE, "--to", DAY, *config)

    assert done.code == 0, done.err
    for kind in ("evaluations", "verdicts"):
        endings = {path.name.partition(".")[2] for path in (before / "store" / kind).rglob("2*.*")}
        assert endings == {names.ARROW[1:]}
    assert command("check", "--store", *config).code == 0


def test_a_store_of_the_first_release_is_read_and_goes_on(
    tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Version 0.1.0 wrote it: 20 days, the last five with too extreme scores; no logs."""
    with tarfile.open(GOLDEN / "store_of_0.1.0.tar.xz") as files:
        for each in filter(tarfile.TarInfo.isfile, files):
            path = tmp_path / each.name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(cast("IO[bytes]", files.extractfile(each)).read())
    monkeypatch.setenv("CALIBRATION_MONITOR_CONFIG", str(tmp_path / "monitor.yaml"))
    days = "--from", "2026-01-01", "--to", "2026-01-20"

    before = incidents(command)
    judged = command("evaluate", "--model", "ctr", *days)
    after = incidents(command)

    assert before == [("too_extreme", "2026-01-16", "2026-01-17")]
    assert judged.code == 0, judged.err
    assert "judged 20 (from 2026-01-01 on)" in judged.out
    assert after == before
    checked = command("check", "--store")
    assert checked.code == 0
    assert "damaged 0, missing 0" in checked.out


def incidents(command: Command) -> list[tuple[str, str, str]]:
    """Read what all incidents of the whole are, with their start and the day they were found."""
    shown = command("show", "--model", "ctr", "--incidents", "--json")
    assert shown.code == 0, shown.err
    found = json.loads(shown.out)["incidents"]
    return [(each["kind"], each["started"], each["opened"]) for each in found]
