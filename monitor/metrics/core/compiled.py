"""The one typed way to the compiler: machine code, cached on disk, free of the interpreter lock."""

from collections.abc import Callable
from typing import ParamSpec, TypeVar

from numba import njit

P = ParamSpec("P")
R = TypeVar("R")


def compiled(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a numeric function at its first call and keep the machine code on disk.

    ``error_model="numpy"`` divides like numpy (0/0 is nan) instead of raising, and
    ``fastmath`` stays off: the same input gives the same bits on every run.
    """
    return njit(cache=True, nogil=True, error_model="numpy")(function)  # type: ignore[no-any-return]
