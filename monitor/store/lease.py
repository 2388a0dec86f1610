"""A lease in an object store, so that processes on any machine take turns.

Rule 1: leases are numbered objects, and the highest number holds. An object is only created if it
does not exist, so one of several processes gets the next number.
Rule 2: the holder renews its lease. A lease that did not change for `patience` seconds is dead,
measured by the process that waits, so clocks need not agree.
Rule 3: who takes a lease over looks at the old one again after it has created its own. If that was
renewed meanwhile, it gives way.
Rule 4: what is written is first put beside the lease and then copied to its place. Who takes the
lease over begins by removing what lies there, so a copy that arrives late finds nothing to copy.
"""

import logging
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import count
from threading import Event, Thread
from time import monotonic, sleep
from typing import TYPE_CHECKING
from uuid import uuid4

from monitor.base.files import create
from monitor.store.conditional import (
    NO_TAG,
    RefusedError,
    copy,
    delete,
    has_conditions,
    put,
    tag_of,
)
from monitor.store.holder import Hold, busy, this_process, waits_for

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

RELEASED = b"released"
RENEW_AFTER, PATIENCE = 20.0, 120.0  # seconds
# After which a lease counts as dead for one who only looks: clocks may differ by the rest.
SILENCE = timedelta(minutes=5)

log = logging.getLogger(__name__)


def is_leased(filesystem: "AbstractFileSystem", folder: str, *, now: datetime) -> bool:
    """Return whether a process holds the lease, by the time at which it was last renewed.

    One who looks only once cannot see whether it is renewed, so this compares the clock of the
    object store with `now`.
    """
    number = max(_numbers(filesystem, folder), default=0)
    path = _path(folder, number)
    content = _content(filesystem, path) if number else b""
    if not content or content.startswith(RELEASED):
        return False
    try:
        renewed: datetime = filesystem.modified(path)
    except FileNotFoundError:  # a newer lease has taken its place
        return True
    return now - renewed < SILENCE


@dataclass
class Lease:
    """A lease that this process holds, or held.

    Attributes
    ----------
    filesystem, folder, number : AbstractFileSystem, str, int
        Where it lies.
    holder : str
        The name of this process.
    tag : str
        That of the object as it was written last; empty in a store without conditions.
    """

    filesystem: "AbstractFileSystem"
    folder: str
    number: int
    holder: str
    tag: str

    @property
    def path(self) -> str:
        """The object."""
        return _path(self.folder, self.number)

    def is_held(self) -> bool:
        """Ask whether it is there, this process's, and no later one exists."""
        tags = _tags(self.filesystem, self.folder)
        if max(map(_number, tags), default=0) != self.number:
            return False
        if self.tag and tags[f"lease-{self.number}"] == self.tag:
            return True
        return _holder_of(_content(self.filesystem, self.path)) == self.holder

    def successor(self) -> str:
        """Name the process that holds the newest lease or held it last, unless it is this one."""
        number = max(_numbers(self.filesystem, self.folder), default=0)
        content = _content(self.filesystem, _path(self.folder, number)) if number else b""
        holder = _holder_of(content)
        return holder if number > self.number or holder != self.holder else ""

    def replace(self, path: str, content: bytes, before: Callable[[], None]) -> None:
        """Replace an object; `before` raises DataError if the lease was lost."""
        staged = f"{self.folder}/staged-{self.number}-{uuid4()}"
        try:
            self.filesystem.pipe_file(staged, content)
            before()
            copy(self.filesystem, staged, path)
        except FileNotFoundError:
            before()
            raise
        finally:
            with suppress(Exception):  # else the next holder removes it
                self.filesystem.rm_file(staged)

    def remove(self, path: str, before: Callable[[], None]) -> None:
        """Remove an object, unless another process has changed it meanwhile."""
        seen = tag_of(self.filesystem, path) if self.tag else NO_TAG
        before()
        if not self.tag:
            self.filesystem.rm_file(path)
            return
        try:
            delete(self.filesystem, path, seen=seen)
        except RefusedError:
            before()
            if tag_of(self.filesystem, path):  # else only the answer of a try was lost
                raise

    def renew(self, content: bytes) -> bool:
        """Renew it unless it was lost, and say whether it is held."""
        if self.tag or self.is_held():
            self.write(content)
        return self.is_held()

    def write(self, content: bytes) -> None:
        """Replace its content, on the condition that nobody else did, where there are any."""
        if not self.tag:
            self.filesystem.pipe_file(self.path, content)
            return
        try:
            self.tag = put(self.filesystem, self.path, content, seen=self.tag)
        except RefusedError:
            # It arrived, only its answer was lost, or the object is not ours any more.
            arrived = _content(self.filesystem, self.path) == content
            self.tag = tag_of(self.filesystem, self.path) if arrived else NO_TAG


@contextmanager
def leased(
    filesystem: "AbstractFileSystem",
    folder: str,
    *,
    what: str,
    wait: bool = True,
    renew_after: float = RENEW_AFTER,
    patience: float = PATIENCE,
) -> Iterator[Hold]:
    """Wait for the lease of a folder, and hold it; it dies with its holder after `patience`.

    Without waiting, raise DataError with the name of the process that has it; of a dead one nobody
    knows before `patience` seconds.
    """
    lease = _acquire(filesystem, folder, what=what, wait=wait, patience=patience)
    done = Event()

    def renew() -> None:
        for number in count(1):
            if done.wait(renew_after):
                return
            with suppress(Exception):  # there is time for some more tries
                if not lease.renew(_content_of(number, lease.holder)):
                    return

    thread = Thread(target=renew, daemon=True)
    thread.start()
    try:
        yield Hold(lease.is_held, lease.successor, lease.remove, lease.replace)
    finally:
        done.set()
        thread.join()
        # Object stores raise errors of many libraries; then the lease dies by itself.
        with suppress(Exception):
            if lease.tag or lease.is_held():
                lease.write(RELEASED + f" {lease.holder}".encode())


def _acquire(
    filesystem: "AbstractFileSystem", folder: str, *, what: str, wait: bool, patience: float
) -> Lease:
    holder, seen, since, told = this_process(), (0, b""), monotonic(), False
    while True:
        number = max(_numbers(filesystem, folder), default=0)
        content = _content(filesystem, _path(folder, number)) if number else RELEASED
        if (number, content) != seen:
            seen, since = (number, content), monotonic()
        if content.startswith(RELEASED) or monotonic() - since > patience:
            own = _content_of(0, holder)
            if _takes(filesystem, folder, number, content, own):
                path = _path(folder, number + 1)
                tag = tag_of(filesystem, path) if has_conditions(filesystem, path, own) else ""
                return Lease(filesystem, folder, number + 1, holder, tag)
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
    """Read who holds a lease or released it; empty if it was written by an earlier version."""
    text = content.decode(errors="replace")
    if content.startswith(RELEASED):
        return text.removeprefix(RELEASED.decode()).strip()
    return text.partition(" ")[2].partition(" ")[2]


def _takes(
    filesystem: "AbstractFileSystem", folder: str, before: int, seen: bytes, content: bytes
) -> bool:
    """Try to create the lease after the one that was seen, and remove older ones.

    A newer one may have come and gone before, and the one that was seen may have been renewed.
    """
    number = before + 1
    path = _path(folder, number)
    if not create(filesystem, path, content):
        return False
    names = [*_tags(filesystem, folder)]
    numbers = [taken for name in names if (taken := _number(name))]
    renewed = before in numbers and _content(filesystem, _path(folder, before)) != seen
    if max(numbers) > number or renewed:
        filesystem.rm_file(path)
        return False
    for name in names:
        if _number(name) != number:  # older leases, and what their holders had put beside them
            with suppress(FileNotFoundError):
                filesystem.rm_file(f"{folder}/{name}")
    return True


def _content(filesystem: "AbstractFileSystem", path: str) -> bytes:
    try:
        return filesystem.cat_file(path, start=0)  # type: ignore[no-any-return]
    except FileNotFoundError:  # a newer lease has taken its place
        return b""


def _numbers(filesystem: "AbstractFileSystem", folder: str) -> list[int]:
    return [number for name in _tags(filesystem, folder) if (number := _number(name))]


def _number(name: str) -> int:
    """Read the number of a lease; 0 if it is something else."""
    match = re.fullmatch(r"lease-(\d+)", name)
    return int(match[1]) if match else 0


def _tags(filesystem: "AbstractFileSystem", folder: str) -> dict[str, str]:
    """List what lies in the folder: names, and the tags of objects that have some."""
    try:
        entries = filesystem.ls(folder, detail=True)
    except FileNotFoundError:
        return {}
    return {entry["name"].rpartition("/")[2]: f"{entry.get('ETag')}" for entry in entries}


def _path(folder: str, number: int) -> str:
    return f"{folder}/lease-{number}"
