"""The one typed way to the compiler: machine code, cached on disk, free of the interpreter lock.

Rule: the compiler is imported at the first call of any compiled function, because a command that
only shows results needs none of them.
"""

import inspect
import logging
import sys
from collections.abc import Callable
from functools import cache, wraps
from threading import RLock
from types import FunctionType
from typing import Any, ParamSpec, TypeVar, cast

import numpy as np

P = ParamSpec("P")
R = TypeVar("R")

# The compiler takes each of Python's constants for a type of its own, for which it compiles again
# what is called with it. Compiled functions count from this one.
ZERO = cast("int", np.int64(0))

# Parts of compiled functions need what the compiler does not publish. With a newer one than the
# tests know, they are compiled like all others.
NEWEST_KNOWN = 0, 68

_LOCK = RLock()
_WAITING: dict[Callable[..., object], Callable[..., object]] = {}  # by stand-in: what it is
_LOADED: dict[Callable[..., object], Callable[..., object]] = {}  # by stand-in: what replaces it
_INNER: dict[Callable[..., object], Any] = {}  # by stand-in: what compiled functions call


def compiled(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a numeric function at its first call and keep the machine code on disk.

    ``error_model="numpy"`` divides like numpy (0/0 is nan) instead of raising, and
    ``fastmath`` stays off: the same input gives the same bits on every run. No wrapper for callers
    in C is made, which would take a twentieth of the time.
    """

    @wraps(function)
    def stand_in(*args: P.args, **kwargs: P.kwargs) -> R:
        if stand_in not in _LOADED:
            _load()
        return _LOADED[stand_in](*args, **kwargs)  # type: ignore[return-value]

    _WAITING[stand_in] = function
    return stand_in


def inner(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a function for the compiled ones that call it, of which it becomes a part.

    That takes half the time, see `monitor.metrics.core.linked`. If Python calls it all the same, as
    tests do, it is compiled once more, like the others.
    """
    stand_in = compiled(function)
    _INNER[stand_in] = None  # known when the compiler is loaded
    return stand_in


def claim(function: Callable[..., object]) -> bool:
    """Tell whether this process shall compile a function ahead: no other has or does so.

    None shall with a compiler that is newer than the tests know, or that is turned off.

    Examples
    --------
    >>> import numpy as np
    >>> from monitor.metrics.core.resampling import index_rows
    >>> _ = index_rows(np.array([2, 5]))
    >>> claim(index_rows)  # it has just been compiled
    False
    """
    if function in _WAITING:
        _load()
    if not _is_known():
        return False
    from monitor.metrics.core.kept import claim as claim_kept  # noqa: PLC0415

    return claim_kept(_LOADED.get(function, function))


def export(folder: str) -> int:
    """Write what was compiled for any processor into a folder that travels with the wheel.

    It is that of this platform, and empty. Gives the number of entries, see
    `monitor.metrics.core.ahead`; only what runs with `NUMBA_CPU_NAME=generic` writes any.

    Examples
    --------
    >>> export("nowhere")
    0
    """
    from monitor.metrics.core.ahead import write_ahead  # noqa: PLC0415

    return write_ahead([*_LOADED.values(), *filter(None, _INNER.values())], folder)


def _is_known() -> bool:
    """Tell whether the compiler has what it does not publish: it is no newer than tests know.

    With `NUMBA_DISABLE_JIT` it leaves functions as they are.
    """
    from numba import config, version_info  # noqa: PLC0415 - see the rule above

    return version_info.short <= NEWEST_KNOWN and not config.DISABLE_JIT


@cache
def _say_once(*, kept: bool) -> None:
    """Say that nothing is kept on disk: a run of a second takes fifteen then."""
    if not kept:
        logging.getLogger(__name__).warning(
            "what is compiled cannot be kept, so every run compiles for some 15 seconds again; set "
            "NUMBA_CACHE_DIR to a folder that this user may write and that survives."
        )


def _load() -> None:
    """Put the compiler's functions in the place of all stand-ins.

    A compiled function finds those that it calls among the names of its module, so the names are
    replaced, too. Those of inner functions stay: for the compiler they have a type.
    """
    with _LOCK:
        from numba import njit  # noqa: PLC0415 - see the rule above

        is_known = _is_known()
        if is_known:
            from monitor.metrics.core.kept import share_cache  # noqa: PLC0415
            from monitor.metrics.core.linked import linked  # noqa: PLC0415
        else:
            _INNER.clear()
        kept = True
        options = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
        for stand_in, function in list(_WAITING.items()):
            try:
                _LOADED[stand_in] = njit(cache=True, **options)(function)
            except RuntimeError:  # no folder can be written, so every process compiles again
                kept = False
                _LOADED[stand_in] = njit(**options)(function)
            if is_known:
                share_cache(_LOADED[stand_in])
            if stand_in in _INNER:
                _INNER[stand_in] = linked(function, **options)
                vars(stand_in)["_numba_type_"] = _INNER[stand_in]._numba_type_
            del _WAITING[stand_in]
        _say_once(kept=kept)
        package = __name__.partition(".")[0]
        ours = [vars(module) for name, module in [*sys.modules.items()] if name.startswith(package)]
        for names in [*ours, *(inspect.unwrap(function).__globals__ for function in _LOADED)]:
            for name, value in [*names.items()]:
                if isinstance(value, FunctionType) and value in _LOADED and value not in _INNER:
                    names[name] = _LOADED[value]
