"""Compiled functions, called from Python and from one another."""

import os
import subprocess
import sys

import numpy as np
import pytest
from numba import version_info

from monitor.metrics.core.compiled import NEWEST_KNOWN, compiled, inner
from monitor.metrics.core.grid import Floats
from tests.support.paths import ROOT


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
