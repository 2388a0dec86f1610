"""A lock file, so that processes on one machine take turns."""

import fcntl
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

log = logging.getLogger(__name__)


@contextmanager
def locked(path: Path, *, what: str) -> Iterator[None]:
    """Wait for the lock, and hold it; the system releases it however the process ends."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            log.warning("%s: waits until another process has finished with this model", what)
            fcntl.flock(file, fcntl.LOCK_EX)
        yield
