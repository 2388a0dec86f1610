"""Machine code that travels with the wheel: made before it is built, checked when it is used.

A job in a fresh container has no cache of the compiler and would compile for half a minute.
Rule: an entry counts for the same sources of the program, version of the compiler, version of
Python and kind of machine; otherwise the function is compiled as ever. The code runs on every
processor of its kind, and no bit of a result depends on it: arithmetic keeps its order.
"""

from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from typing import Any

from numba.core.caching import IndexDataCacheFile

from monitor.base.program import digest, platform

# What the compiler calls a target when `NUMBA_CPU_NAME` is generic: its name and its features.
ANY_PROCESSOR = "generic", ""
FOLDER = "machine_code"  # in the package


def read_ahead(function: Any, key: Any) -> Any:
    """Read what was compiled for any processor under the key of this one, or give None.

    Examples
    --------
    >>> from numba import njit
    >>> read_ahead(njit(lambda score: 1.0 - score), ("()", ("here", "znver4", "+avx"), "code"))
    """
    folder = _folder()
    if folder is None:
        return None
    signature, (machine, *_), code = key
    return _entries(function, folder).load((signature, (machine, *ANY_PROCESSOR), code))


def is_ahead(function: Any) -> bool:
    """Tell whether the wheel brought something of this function.

    Examples
    --------
    >>> from numba import njit
    >>> is_ahead(njit(lambda score: 1.0 - score))  # a checkout brings nothing
    False
    """
    folder = _folder()
    return folder is not None and bool(_entries(function, folder)._load_index())  # noqa: SLF001


def write_ahead(functions: Iterable[Any], folder: str) -> int:
    """Write what the cache on disk has of functions, for any processor; give the number of entries.

    Parameters
    ----------
    functions : iterable of dispatchers
        Compiled functions, also those that only compiled ones call.
    folder : str
        That of this platform, which is empty; later a part of the wheel.

    Examples
    --------
    >>> from numba import njit
    >>> write_ahead([njit(lambda score: 1.0 - score)], "nowhere")  # it is never kept
    0
    """
    count = 0
    for function in functions:
        kept: Any = getattr(function._cache, "_cache_file", None)  # noqa: SLF001
        for key, name in kept._load_index().items() if kept else ():  # noqa: SLF001
            if key[1][1:] == ANY_PROCESSOR:
                _entries(function, folder).save(key, kept._load_data(name))  # noqa: SLF001
                count += 1
    return count


@cache
def _folder() -> str | None:
    """Find the folder of this platform in the package; a checkout and a zip have none."""
    folder = files("monitor") / FOLDER / platform()
    return str(folder) if folder.is_dir() else None


def _entries(function: Any, folder: str) -> Any:
    """Give the index of a function's entries, which holds those of other sources for missing."""
    base = function._cache._impl.filename_base  # noqa: SLF001
    name = f"{function.py_func.__module__}.{base}"
    return IndexDataCacheFile(folder, name, digest("evaluations"))
