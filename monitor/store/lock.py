"""A lock file, so that processes on one machine take turns."""

import fcntl
import logging
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from monitor.store.holder import busy, this_process, waits_for

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
def locked(path: Path, *, what: str, wait: bool = True) -> Iterator[Callable[[], bool]]:
    """Wait for the lock, and hold it; the system releases it however the process ends.

    Without waiting, raise DataError with the name of the process that has it.

    The holder writes its name into the file, which says nothing once the lock is free. It gets a
    function that says whether the file is still the one that it locked: it is not if the folder was
    removed, replaced or unmounted.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+b") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = path.read_text(errors="replace")
            if not wait:
                raise busy(what, holder) from None
            log.warning("%s", waits_for(what, holder))
            fcntl.flock(file, fcntl.LOCK_EX)
        file.truncate(0)
        file.write(this_process().encode())
        file.flush()

        def is_held() -> bool:
            return path.exists() and os.path.samestat(os.fstat(file.fileno()), path.stat())

        yield is_held
