"""Code that only compiled functions run: handed on as it is, and optimised where it is linked.

The compiler gives each function a library, which takes in those of the functions that it calls, is
optimised with them, and becomes machine code. Of a function that only compiled ones call, each of
these optimises a copy of its own, so its own library leaves out the last two steps. No bit of a
result depends on where code is optimised: it may not change what arithmetic gives (`fastmath` is
off).
"""

from types import SimpleNamespace
from typing import Any

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler


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


class LinkedCompiler(Compiler):  # type: ignore[misc]
    """The usual compiler, whose code goes to a `LinkedLibrary` and has no wrapper for Python."""

    def define_pipelines(self) -> Any:
        """Replace the library and leave all steps as they are.

        The wrapper is left out here. As an option of the function it would be one more set of
        options, and for each set the compiler compiles anew what is called of numpy.
        """
        self.state.flags.no_cpython_wrapper = True
        name = self.state.func_id.func_qualname
        self.state.library = LinkedLibrary(self.state.targetctx.codegen(), name)
        return super().define_pipelines()
