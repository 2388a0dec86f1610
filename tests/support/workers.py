"""How the workers of pytest-xdist share the tests and folders."""

import fcntl
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from xdist.scheduler import LoadScopeScheduling

from tests.support.slow import LONGEST, place


class Units(LoadScopeScheduling):
    """Gives a worker that has little left the next file, or the next files that stay together."""

    def _split_scope(self, nodeid: str) -> str:
        """Name the unit of a test."""
        found = place(nodeid)
        return f"{LONGEST[found] if found < len(LONGEST) else nodeid.partition('::')[0]}"


@contextmanager
def turn(lock: Path) -> Iterator[None]:
    """Wait until no other process has this turn."""
    with lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


@contextmanager
def first_alone(lock: Path, done: Callable[[], bool]) -> Iterator[None]:
    """Let one process do what is not done yet; those that wait go on beside each other then."""
    with ExitStack() as alone:
        if not done():
            lock.parent.mkdir(parents=True, exist_ok=True)
            alone.enter_context(turn(lock))
        if done():
            alone.close()
        yield


def made_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]) -> Path:
    """Return a folder that tests only read; the first worker that needs it makes it for all."""
    shared = factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent
    folder, made = shared / name, shared / f"{name}.made"
    with turn(shared / f"{name}.lock"):
        if not made.exists():
            shutil.rmtree(folder, ignore_errors=True)  # of a worker that failed
            folder.mkdir()
            make(folder)
            made.touch()
    return folder
