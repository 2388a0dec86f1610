"""Whether the store can be written, as one more gauge of the server.

A full disk stops the daily job, and with it every record that the store has of it. So a process
that is not the job tries it.
"""

import logging
import os
import socket
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock
from time import monotonic

from monitor.base.errors import DataError
from monitor.read import reachable

NAME = "calibration_store_writable"
MEANING = "Whether the exporter could write the store when it last tried: 1 yes, 0 no."
EVERY = 60.0  # seconds

log = logging.getLogger(__name__)


@dataclass
class Probe:
    """Tries to write a store, at most once a minute.

    Attributes
    ----------
    clock : callable
        Gives seconds.
    """

    clock: Callable[[], float] = monotonic
    _last: tuple[str, float, bool] | None = field(default=None, repr=False)
    _lock: Lock = field(default_factory=Lock, repr=False)

    def text(self, root: str) -> bytes:
        """Write the gauge."""
        head = f"# HELP {NAME} {MEANING}\n# TYPE {NAME} gauge\n"
        return f"{head}{NAME} {self.can_write(root):.1f}\n".encode()

    def can_write(self, root: str) -> bool:
        """Say whether the store can be written, as it was at most a minute ago."""
        with self._lock:
            if self._last and self._last[0] == root and self.clock() - self._last[1] < EVERY:
                return self._last[2]
            try:
                reachable.try_to_write(root, f"{socket.gethostname()}-{os.getpid()}")
                writable = True
            except DataError as error:
                log.error("%s", error)  # noqa: TRY400 - the message says where; a trace would bury it
                writable = False
            self._last = root, self.clock(), writable
            return writable
