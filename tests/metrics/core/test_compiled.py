"""Compiled functions, called from Python and from one another."""

import os
import subprocess
import sys
from inspect import unwrap

import numpy as np
import pytest
from numba import njit, version_info

from monitor.metrics.core.compiled import NEWEST_KNOWN, compiled, inner
from monitor.metrics.core.grid import Floats
from tests.support.paths import ROOT


@compiled
def double(number: int) -> int:
    """Multiply by two."""
    return 2 * number


@compiled
def quadruple(number: int) -> int:
    """Multiply by two, twice, with another compiled function."""
    return double(double(number))


@inner
def _root(number: float) -> float:
    if number < 0.0:
        msg = "a negative number has no root."
        raise ValueError(msg)
    return np.sqrt(number)


@inner
def _roots(numbers: Floats) -> Floats:
    roots = np.empty_like(numbers)
    for i in range(numbers.size):
        roots[i] = _root(numbers[i])
    return roots


@compiled
def sum_of_roots(numbers: Floats) -> float:
    """Add up square roots, with an inner function that calls another one."""
    return _roots(numbers).sum()


def test_compiled_functions_call_each_other() -> None:
    """Also those of a module that was loaded after the compiler."""
    assert quadruple(3) == 12
    assert double(3) == 6


def test_an_error_in_an_inner_function_leaves_the_compiled_one() -> None:
    """With its type and its message."""
    with pytest.raises(ValueError, match="a negative number has no root"):
        sum_of_roots(np.array([1.0, -1.0]))


def test_an_inner_function_is_read_from_disk() -> None:
    """As by the next process, which calls it from another compiled function."""
    from monitor.metrics.core.linked import linked  # noqa: PLC0415 - not with a newer compiler

    numbers = np.array([1.0, 4.0])
    sum_of_roots(numbers)  # keeps it
    read = linked(unwrap(_roots), nogil=True, error_model="numpy")

    assert njit(lambda values: read(values)[1])(numbers) == 2.0
    assert len(read.stats.cache_hits) == 1


WITH_A_NEWER_COMPILER = """
import sys
import numpy as np
from monitor.metrics.core import compiled
compiled.NEWEST_KNOWN = 0, 0
from tests.metrics.core.test_compiled import _root, sum_of_roots
assert sum_of_roots(np.array([1.0, 4.0])) == 3.0 == _root(9.0)
assert "monitor.metrics.core.linked" not in sys.modules
"""


def test_a_newer_compiler_compiles_all_functions_alike() -> None:
    """What a linked library needs of the compiler may have changed there."""
    subprocess.run([sys.executable, "-c", WITH_A_NEWER_COMPILER], cwd=ROOT, check=True)
    assert version_info.short <= NEWEST_KNOWN


WITHOUT_A_FOLDER = """
from numba.core import caching
import numpy as np

def refuse(*_):
    raise OSError

for name, value in vars(caching).items():
    if "Locator" in name:
        value.ensure_cache_path = refuse
"""
SUMS = """
from tests.metrics.core.test_compiled import _root, sum_of_roots
from monitor.metrics.core.compiled import claim
assert sum_of_roots(np.array([1.0, 4.0])) == 3.0 == _root(9.0)
assert not claim(sum_of_roots)
"""


@pytest.mark.parametrize(
    ("program", "more", "said"),
    [(WITHOUT_A_FOLDER, {}, 1), ("import numpy as np", {"NUMBA_DISABLE_JIT": "1"}, 0)],
    ids=["no folder can be written", "the compiler is turned off"],
)
def test_functions_run_where_nothing_is_kept(program: str, more: dict[str, str], said: int) -> None:
    """Every process compiles again, and says so once, or none does; the results are the same."""
    call = [sys.executable, "-c", f"{program}\n{SUMS}"]
    env = os.environ | more
    done = subprocess.run(call, cwd=ROOT, env=env, check=True, stderr=subprocess.PIPE, text=True)
    assert done.stderr.count("set NUMBA_CACHE_DIR to a folder that this user may write") == said
