"""A lease in an object store, so that processes on any machine take turns.

Rule 1: leases are numbered objects, and the highest number holds. An object is only created if it
does not exist, so one of several processes gets the next number.
Rule 2: the holder renews its lease. A lease that did not change for `patience` seconds is dead,
measured by the process that waits, so clocks need not agree.
"""

import logging
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from itertools import count
from threading import Event, Thread
from time import monotonic, sleep
from uuid import uuid4

from fsspec import AbstractFileSystem

from monitor.store.holder import busy, this_process, waits_for

RELEASED = b"released"
RENEW_AFTER, PATIENCE = 20.0, 120.0  # seconds
# After which a lease counts as dead for one who only looks: clocks may differ by the rest.
SILENCE = timedelta(minutes=5)

log = logging.getLogger(__name__)


def is_leased(filesystem: AbstractFileSystem, folder: str, *, now: datetime) -> bool:
    """Return whether a process holds the lease, by the time at which it was last renewed.

    One who looks only once cannot see whether it is renewed, so this compares the clock of the
    object store with `now`.
    """
    number = max(_numbers(filesystem, folder), default=0)
    path = _path(folder, number)
    if not number or _content(filesystem, path) in {b"", RELEASED}:
        return False
    try:
        renewed: datetime = filesystem.modified(path)
    except FileNotFoundError:  # a newer lease has taken its place
        return True
    return now - renewed < SILENCE


@contextmanager
def leased(
    filesystem: AbstractFileSystem,
    folder: str,
    *,
    what: str,
    wait: bool = True,
    renew_after: float = RENEW_AFTER,
    patience: float = PATIENCE,
) -> Iterator[Callable[[], bool]]:
    """Wait for the lease of a folder, and hold it; it dies with its holder after `patience`.

    Without waiting, raise DataError with the name of the process that has it; of a dead one nobody
    knows before `patience` seconds.

    The holder gets a function that says whether the lease is still there and its own.
    """
    holder = this_process()
    path = _acquire(filesystem, folder, holder, what=what, wait=wait, patience=patience)
    done = Event()

    def is_held() -> bool:
        return _holder_of(_content(filesystem, path)) == holder

    def renew() -> None:
        for number in count(1):
            if done.wait(renew_after):
                return
            with suppress(Exception):  # there is time for some more tries
                if not is_held():  # writing it would bring a lost lease back
                    return
                filesystem.pipe_file(path, _content_of(number, holder))

    thread = Thread(target=renew, daemon=True)
    thread.start()
    try:
        yield is_held
    finally:
        done.set()
        thread.join()
        # Object stores raise errors of many libraries; then the lease dies by itself.
        with suppress(Exception):
            filesystem.pipe_file(path, RELEASED)


def _acquire(
    filesystem: AbstractFileSystem,
    folder: str,
    holder: str,
    *,
    what: str,
    wait: bool,
    patience: float,
) -> str:
    seen, since, told = (0, b""), monotonic(), False
    while True:
        number = max(_numbers(filesystem, folder), default=0)
        content = _content(filesystem, _path(folder, number)) if number else RELEASED
        if (number, content) != seen:
            seen, since = (number, content), monotonic()
        if content == RELEASED or monotonic() - since > patience:
            if _takes(filesystem, folder, number + 1, holder):
                return _path(folder, number + 1)
            continue
        if not wait:
            raise busy(what, _holder_of(content))
        if not told:
            log.warning("%s", waits_for(what, _holder_of(content)))
            told = True
        sleep(1)


def _content_of(renewed: int, holder: str) -> bytes:
    """Write a lease: a value that never comes again, and who holds it."""
    return f"{uuid4()} {renewed} {holder}".encode()


def _holder_of(content: bytes) -> str:
    """Read who holds a lease; empty if it was written by an earlier version."""
    _, _, rest = content.decode(errors="replace").partition(" ")
    return rest.partition(" ")[2]


def _takes(filesystem: AbstractFileSystem, folder: str, number: int, holder: str) -> bool:
    """Try to create a lease, and remove older ones; a newer one may have come and gone before."""
    path, content = _path(folder, number), _content_of(0, holder)
    try:
        filesystem.pipe_file(path, content, mode="create")
    except OSError:
        if not filesystem.exists(path):
            raise
        # If its answer is lost, the request is sent again, and finds what it wrote at first.
        if _content(filesystem, path) != content:
            return False
    numbers = _numbers(filesystem, folder)
    if max(numbers) > number:
        filesystem.rm_file(path)
        return False
    for older in numbers:
        if older < number:
            with suppress(FileNotFoundError):
                filesystem.rm_file(_path(folder, older))
    return True


def _content(filesystem: AbstractFileSystem, path: str) -> bytes:
    try:
        return filesystem.cat_file(path, start=0)  # type: ignore[no-any-return]
    except FileNotFoundError:  # a newer lease has taken its place
        return b""


def _numbers(filesystem: AbstractFileSystem, folder: str) -> list[int]:
    try:
        names = filesystem.ls(folder, detail=False)
    except FileNotFoundError:
        return []
    return [int(found[1]) for name in names if (found := re.search(r"/lease-(\d+)$", name))]


def _path(folder: str, number: int) -> str:
    return f"{folder}/lease-{number}"
