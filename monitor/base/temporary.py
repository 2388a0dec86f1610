"""Temporary files and folders: names that cannot be guessed, and none left by a killed process.

Rule: a process that writes a temporary file, or keeps a temporary folder, holds a lock on it. The
system releases the lock however the process ends, so what is not locked was left behind, and the
next process removes it.
"""

import fcntl
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from typing import BinaryIO

SUFFIX = ".tmp"
FOLDERS = "calibration-monitor-"
HELD = ".held"  # the file in a temporary folder that its process locks
# Created by this process, and not through a link that somebody else has put there.
NEW_FILE = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
ANY_BYTES = 8  # random bytes in a name


@contextmanager
def temporary_file(target: Path) -> Iterator[tuple[BinaryIO, Path]]:
    """Create a file beside the one that it will replace; it is removed unless it was renamed."""
    while True:
        path = target.with_name(f".{target.name}.{token_hex(ANY_BYTES)}{SUFFIX}")
        descriptor = os.open(path, NEW_FILE, 0o666)  # less the umask, as any other file
        with suppress(OSError):  # a file system without locks; then nothing is swept
            fcntl.flock(descriptor, fcntl.LOCK_SH)
        if os.fstat(descriptor).st_nlink:  # else it was swept before it was locked
            break
        os.close(descriptor)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file, path
    finally:
        path.unlink(missing_ok=True)


def sweep(folder: Path, name: str = "") -> None:
    """Remove temporary files that killed processes left in a folder: all, or those for one name."""
    begin = f".{name}." if name else "."
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            left = entry.name.startswith(begin) and entry.name.endswith(SUFFIX)
            if left and entry.is_file(follow_symlinks=False):
                with _locked_if_left(entry.path) as is_left:
                    if is_left:
                        Path(entry.path).unlink(missing_ok=True)


@contextmanager
def temporary_folder() -> Iterator[str]:
    """Create a folder that only this user can read, and remove it at the end."""
    while True:
        folders = tempfile.TemporaryDirectory(prefix=FOLDERS, ignore_cleanup_errors=True)
        with folders as folder, _held(Path(folder, HELD)) as is_there:
            if is_there:  # else it was swept before it was locked
                yield folder
                return


@contextmanager
def _held(path: Path) -> Iterator[bool]:
    """Create and lock a file, and say whether it is still there."""
    descriptor = os.open(path, NEW_FILE, 0o600)
    try:
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_SH)
        yield os.fstat(descriptor).st_nlink > 0
    finally:
        os.close(descriptor)


def sweep_folders() -> None:
    """Remove temporary folders of this user that killed processes left."""
    with suppress(OSError), os.scandir(tempfile.gettempdir()) as entries:
        for entry in entries:
            if entry.name.startswith(FOLDERS) and _is_own_folder(entry):
                held = f"{entry.path}/{HELD}"
                with _locked_if_left(held) as is_left:
                    if is_left:
                        shutil.rmtree(entry.path, ignore_errors=True)


def _is_own_folder(entry: os.DirEntry[str]) -> bool:
    try:
        details = entry.stat(follow_symlinks=False)
    except OSError:
        return False
    return stat.S_ISDIR(details.st_mode) and details.st_uid == os.geteuid()


@contextmanager
def _locked_if_left(path: str) -> Iterator[bool]:
    """Say whether no process holds the lock of a file, and hold it while the file is removed.

    Its process may have created it and not locked it yet: it gets the lock after the block, and
    then sees that the file is gone. What cannot be known counts as held.
    """
    with ExitStack() as closed:
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
            closed.callback(os.close, descriptor)
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            is_left = False
        else:
            is_left = True
        yield is_left
