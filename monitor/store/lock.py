"""A lock file, so that processes on one machine take turns."""

import fcntl
import logging
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import sleep
from typing import BinaryIO

from monitor.base.errors import DataError
from monitor.store.holder import Hold, began_after, busy, this_process, waits_for

TRIES, BETWEEN_TRIES = 30, 0.01  # seconds: one who looks may be kept from its processor

log = logging.getLogger(__name__)


def is_locked(path: Path) -> bool:
    """Return whether a process holds the lock, which is tried without waiting."""
    try:
        with path.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except FileNotFoundError:
        return False
    return False


@contextmanager
def locked(path: Path, *, what: str, wait: bool = True) -> Iterator[Hold]:
    """Wait for the lock, and hold it; the system releases it however the process ends.

    Without waiting, raise DataError with the name of the process that has it.

    The holder writes its name into the file, which says nothing once the lock is free. The lock is
    lost if the file is no longer the one that was locked, because it was removed or replaced, or if
    another process wrote its name, because a file server gave the lock away.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    name = this_process()
    with _opened(path) as file:
        if not _is_free(file):
            holder = path.read_text(errors="replace")
            if not wait:
                raise busy(what, holder)
            log.warning("%s", waits_for(what, holder))
            fcntl.flock(file, fcntl.LOCK_EX)
        file.truncate(0)
        file.write(name.encode())
        file.flush()

        def holder_now() -> str:
            with suppress(FileNotFoundError, NotADirectoryError):
                return path.read_text(errors="replace")
            return ""

        def is_held() -> bool:
            with suppress(FileNotFoundError, NotADirectoryError):
                same = os.path.samestat(os.fstat(file.fileno()), path.stat())
                return same and holder_now() == name
            return False

        def successor() -> str:
            other = holder_now()
            return other if began_after(other, name) else ""  # else a store of before

        def remove(target: str, before: Callable[[], None]) -> None:
            before()
            Path(target).unlink()

        yield Hold(is_held, successor, remove)


def _opened(path: Path) -> BinaryIO:
    """Open the file of a lock, which another user may have left behind."""
    try:
        return path.open("a+b")
    except PermissionError as error:
        msg = (
            f"{path}: this lock is of another user, such as root, and cannot be opened "
            f"({error.strerror}); change its owner, or delete it while no command works on the "
            f"store, then run again."
        )
        raise DataError(msg) from error


def _is_free(file: BinaryIO) -> bool:
    """Take the lock if it is free; one who only looks may have it for a moment."""
    for _ in range(TRIES):
        with suppress(BlockingIOError):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        sleep(BETWEEN_TRIES)
    return False
