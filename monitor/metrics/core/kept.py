"""The compiler's cache on disk, which many processes share and a power cut may damage.

Rule 1: processes take turns, so that one of them compiles a function. Without turns every process
of a fleet's first morning would compile all that it calls. And two that add a function for other
types of arguments would both give their code the next number, so that one of them would later run
the code of the other.
Rule 2: a file that cannot be read counts as missing, and is written again.
"""

import atexit
import fcntl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, BinaryIO, TypeVar
from zlib import crc32

from numba.core.compiler_lock import global_compiler_lock

from monitor.metrics.core.ahead import is_ahead, read_ahead

T = TypeVar("T")

# A lock ends when its process closes the file, so files stay open.
_FILES: dict[str, BinaryIO] = {}
CLAIMS = 1 << 32  # where the bytes of claims begin, after those of turns


def share_cache(function: Any) -> None:
    """Let one process at a time compile a function; those that wait find it in the cache.

    A function locks one byte of a file beside its machine code. It may compile those that it calls,
    and itself for other types, while it has its turn. As no function calls one that calls it, no
    two processes wait for each other.
    """
    index = _index(function)
    if index is None:  # nothing is kept on disk
        return
    index._load_index = partial(_read, index._load_index, dict)  # noqa: SLF001
    load = index.load
    index.load = partial(_read, lambda key: load(key) or read_ahead(function, key), lambda: None)
    compile_now: Callable[[object], object] = function.compile
    path, place, at_work = _path(index), _place(index), False

    def compile_in_turn(types: object) -> object:
        nonlocal at_work
        with global_compiler_lock:  # of threads
            if at_work:
                return compile_now(types)
            at_work = True
            try:
                with _turn(path, place):
                    return compile_now(types)
            finally:
                at_work = False

    function.compile = compile_in_turn


def claim(function: Any) -> bool:
    """Tell whether this process is the first to ask for a function that is not on disk.

    Examples
    --------
    >>> from numba import njit
    >>> claim(njit(lambda score: 1.0 - score))  # it is never kept
    False
    """
    index = _index(function)
    if index is None or index._load_index() or is_ahead(function):  # noqa: SLF001
        return False
    return _locked(_path(index), CLAIMS + _place(index), fcntl.LOCK_NB) is not None


def _read(read: Callable[..., T], missing: Callable[[], T], *key: object) -> T:
    """Read a file, or find it missing."""
    try:
        return read(*key)
    except Exception:  # noqa: BLE001 - damaged pickles raise anything
        return missing()


def _index(function: Any) -> Any:
    return getattr(function._cache, "_cache_file", None)  # noqa: SLF001 - here and elsewhere: no other


def _path(index: Any) -> str:
    return f"{index._cache_path}/turns.lock"  # noqa: SLF001


def _place(index: Any) -> int:
    return crc32(index._index_name.encode())  # noqa: SLF001


@contextmanager
def _turn(path: str, place: int) -> Iterator[None]:
    """Hold the lock of a byte; where files cannot be locked, go on without."""
    file = _locked(path, place)
    try:
        yield
    finally:
        if file:
            fcntl.lockf(file, fcntl.LOCK_UN, 1, place)


def _locked(path: str, place: int, option: int = 0) -> BinaryIO | None:
    """Lock a byte, after waiting for it unless the option is not to."""
    try:
        if path not in _FILES:
            _FILES[path] = open(path, "ab")  # noqa: PTH123, SIM115 - see above; no pathlib in measures
            atexit.register(_FILES[path].close)
        fcntl.lockf(_FILES[path], fcntl.LOCK_EX | option, 1, place)
    except OSError:
        return None
    return _FILES[path]
