"""Code that only compiled functions run: handed on as it is, and optimised where it is linked.

The compiler gives each function a library, which takes in those of the functions that it calls, is
optimised with them, and becomes machine code. Of a function that only compiled ones call, each of
these optimises a copy of its own, so its own library leaves out the last two steps. No bit of a
result depends on where code is optimised: it may not change what arithmetic gives (`fastmath` is
off).
"""

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from types import SimpleNamespace
from typing import Any, Self

from numba import njit
from numba.core.caching import CompileResultCacheImpl, FunctionCache
from numba.core.codegen import JITCodeLibrary, ll
from numba.core.compiler import Compiler

from monitor.metrics.core.kept import share_cache


def linked(function: Callable[..., object], **options: object) -> Any:
    """Compile a function at the first call from a compiled one, and keep its library on disk.

    Examples
    --------
    >>> import numpy as np
    >>> from inspect import unwrap
    >>> from monitor.metrics.core.extremes import highest
    >>> part = linked(unwrap(highest), nogil=True, error_model="numpy")
    >>> njit(lambda first, second: part(np.array([first, second])))(0.2, 0.7)
    0.7
    """
    part = njit(pipeline_class=LinkedCompiler, **options)(function)
    with suppress(RuntimeError):  # no folder can be written
        part._cache = LinkedCache(function)  # noqa: SLF001 - as `enable_caching` does with its own
    share_cache(part)
    return part


class LinkedLibrary(JITCodeLibrary):  # type: ignore[misc] # numba publishes no types
    """A library that is neither optimised as a whole nor made machine code."""

    # Takes note of what machine code needs while it runs: here nothing.
    codegen = SimpleNamespace(set_env=lambda _name, _environment: None)

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, _name: str) -> int:
        """Give null: there is no machine code."""
        return 0

    def serialize_using_object_code(self) -> tuple[str, bytes]:
        """Give what is kept on disk: the code as it is handed on."""
        return self.name, self._final_module.as_bitcode()

    @classmethod
    def read(cls, codegen: Any, kept: tuple[str, bytes]) -> Self:
        """Make the library again from what was kept."""
        name, bitcode = kept
        library = cls(codegen, name)
        library._final_module = ll.parse_bitcode(bitcode)
        library._finalized = True
        return library


class LinkedCompiler(Compiler):  # type: ignore[misc]
    """The usual compiler, whose code goes to a `LinkedLibrary` and has no wrapper for Python."""

    def define_pipelines(self) -> Any:
        """Replace the library and leave all steps as they are.

        The wrapper is left out here. As an option of the function it would be one more set of
        options, and for each set the compiler compiles once more what is called of numpy.
        """
        self.state.flags.no_cpython_wrapper = True
        name = self.state.func_id.func_qualname
        self.state.library = LinkedLibrary(self.state.targetctx.codegen(), name)
        return super().define_pipelines()


class _Kept(CompileResultCacheImpl):  # type: ignore[misc]
    def get_filename_base(self, *names: str) -> str:
        """Name the files apart from those of the same function for Python."""
        return f"{super().get_filename_base(*names)}.linked"

    def rebuild(self, target: Any, kept: Any) -> Any:
        """Read a linked library; the usual one would become machine code."""
        reader = SimpleNamespace(unserialize_library=partial(LinkedLibrary.read, target.codegen()))
        return super().rebuild(target.subtarget(_internal_codegen=reader), kept)


class LinkedCache(FunctionCache):  # type: ignore[misc]
    """The usual cache on disk, for linked libraries."""

    _impl_class = _Kept
