"""Temporary files: nobody can guess or redirect them, and the next process removes those left."""

import fcntl
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

import pytest

from monitor.base.files import replacing
from monitor.base.temporary import sweep, sweep_folders, temporary_file, temporary_folder

DIES = """
import os, sys
from contextlib import ExitStack
from pathlib import Path
from monitor.base.temporary import temporary_file, temporary_folder

with ExitStack() as held:
    file, _ = held.enter_context(temporary_file(Path(sys.argv[1])))
    file.write(b"half")
    file.flush()
    Path(held.enter_context(temporary_folder()), "spilled").write_bytes(b"rows")
    os._exit(9)
"""


def die(target: Path) -> None:
    """Let a process die that writes a file and has a temporary folder."""
    subprocess.run([sys.executable, "-c", DIES, target], check=False)


@pytest.fixture(autouse=True)
def own_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the temporary folders of this test apart."""
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    monkeypatch.setattr(tempfile, "tempdir", None)


def test_what_a_killed_process_left_is_removed(tmp_path: Path) -> None:
    """The next writer of the same file removes the half one; the next run, the folder."""
    target = tmp_path / "past.om"
    die(target)
    left = [path for path in tmp_path.iterdir() if path.name.startswith(".past.om.")]
    (spilled,) = (tmp_path / "tmp").iterdir()

    with replacing(target) as file:
        file.write(b"whole")
    sweep_folders()

    assert len(left) == 1
    assert not left[0].exists()
    assert not spilled.exists()
    assert target.read_bytes() == b"whole"


def test_what_a_living_process_holds_stays(tmp_path: Path) -> None:
    """Neither its files nor its folders are removed, and other names are left alone."""
    (tmp_path / ".notes.tmp").write_text("mine")

    with temporary_file(tmp_path / "a") as (_, path), temporary_folder() as folder:
        sweep(tmp_path, "a")
        sweep_folders()

        assert path.exists()
        assert Path(folder).is_dir()
    assert (tmp_path / ".notes.tmp").exists()
    assert not path.exists()
    assert not Path(folder).exists()


def test_a_file_that_is_not_locked_yet_is_not_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A sweep between creating and locking: the file is created again, never removed later."""
    locks, removes = fcntl.flock, Path.unlink
    is_locked = threading.Event()
    sweeping = threading.Thread(target=sweep, args=(tmp_path, "a"))
    begins_to_remove = threading.Event()

    def lock(descriptor: int, how: int) -> None:
        if how == fcntl.LOCK_SH and not sweeping.ident:
            sweeping.start()
            assert begins_to_remove.wait(10)
        locks(descriptor, how)
        if how == fcntl.LOCK_SH:
            is_locked.set()

    def remove(path: Path, **how: Any) -> None:
        if threading.current_thread() is sweeping:
            begins_to_remove.set()
            is_locked.wait(0.2)  # it can only be locked now if the sweep does not hold the lock
        removes(path, **how)

    monkeypatch.setattr("fcntl.flock", lock)
    monkeypatch.setattr(Path, "unlink", remove)
    with temporary_file(tmp_path / "a") as (_, path):
        sweeping.join()
        assert path.exists()


def test_no_link_is_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A link under the name of a temporary file is an error, not a file written elsewhere."""
    victim = tmp_path / "victim"
    victim.write_text("precious")
    monkeypatch.setattr("monitor.base.temporary.token_hex", lambda _: "guessed")
    (tmp_path / ".a.guessed.tmp").symlink_to(victim)

    with pytest.raises(FileExistsError), temporary_file(tmp_path / "a"):
        pass
    sweep(tmp_path)
    sweep_folders()

    assert victim.read_text() == "precious"
