"""How the workers of pytest-xdist share the tests, and the compiler's cache."""

import fcntl
from pathlib import Path
from typing import Any

from numba.core.caching import IndexDataCacheFile
from xdist.scheduler import LoadScopeScheduling

from tests.support.slow import LONGEST, place


class Units(LoadScopeScheduling):
    """Gives a worker that has little left the next file, or the next files that stay together."""

    def _split_scope(self, nodeid: str) -> str:
        """Name the unit of a test."""
        return dict(enumerate(LONGEST)).get(place(nodeid), nodeid.partition("::")[0])


def take_turns_caching() -> None:
    """Let one worker at a time add to the compiler's cache of a function.

    Two that add it for other types of arguments would both give their files the next number.
    """
    save = IndexDataCacheFile.save

    def save_alone(self: Any, key: object, data: object) -> None:
        with Path(f"{self._index_path}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            save(self, key, data)

    IndexDataCacheFile.save = save_alone
