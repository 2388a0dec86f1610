"""A lock file, so that processes on one machine take turns."""

import fcntl
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from monitor.store.holder import this_process, waits_for

log = logging.getLogger(__name__)


@contextmanager
def locked(path: Path, *, what: str) -> Iterator[None]:
    """Wait for the lock, and hold it; the system releases it however the process ends.

    The holder writes its name into the file, which says nothing once the lock is free.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+b") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            log.warning("%s", waits_for(what, path.read_text(errors="replace")))
            fcntl.flock(file, fcntl.LOCK_EX)
        file.truncate(0)
        file.write(this_process().encode())
        file.flush()
        yield
