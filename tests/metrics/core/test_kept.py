"""Processes that share the cache of the compiler."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numba
import pytest

from monitor.metrics.core import ahead, kept
from tests.support.paths import ROOT

# It forks three processes, because numba takes a second to load; all begin at once.
PROGRAM = """
import os
from monitor.metrics.core.compiled import compiled

@compiled
def fibonacci(n):  # it asks for itself while it is compiled
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)

@compiled
def nothing():
    return 0

nothing()  # loads the compiler
ready, begin = os.pipe()
for _ in range(3):
    if not os.fork():
        os.close(begin)
        os.read(ready, 1)  # until the parent closes its end
        result = fibonacci(5)
        os.write(1, f"{result} {sum(fibonacci.stats.cache_misses.values())}\\n".encode())
        os._exit(0)
os.close(begin)
for _ in range(3):
    os.wait()
"""


def test_one_of_them_compiles_a_function(tmp_path: Path) -> None:
    """The others wait, and load it."""
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    variables = os.environ | {"NUMBA_CACHE_DIR": f"{tmp_path / 'kept'}", "PYTHONPATH": f"{ROOT}"}
    ended = subprocess.run(
        [sys.executable, program], env=variables, capture_output=True, text=True, check=True
    )

    assert sorted(ended.stdout.splitlines()) == ["5 0", "5 0", "5 1"]


def half(number: float) -> float:
    """Divide by two."""
    return number / 2.0


def called_afresh() -> tuple[float, bool]:
    """Call it as a new process would: what it gave, and whether it was on disk."""
    function: Any = numba.njit(cache=True)(half)
    kept.share_cache(function)
    return function(5.0), bool(function.stats.cache_hits)


def test_goes_on_where_files_cannot_be_locked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some network file systems refuse it."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", f"{tmp_path}")
    monkeypatch.setattr("fcntl.lockf", Mock(side_effect=OSError))

    assert called_afresh() == (2.5, False)


@pytest.mark.parametrize("left", [0, 1, 100])
@pytest.mark.parametrize("kind", ["nbi", "nbc"])
def test_damaged_files_are_compiled_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, left: int
) -> None:
    """A power cut may leave them empty or cut off, and then no command would run."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", f"{tmp_path}")
    assert called_afresh() == (2.5, False)
    for path in tmp_path.rglob(f"*.{kind}"):
        path.write_bytes(path.read_bytes()[:left])

    assert called_afresh() == (2.5, False)
    assert called_afresh() == (2.5, True)


def test_a_wheel_brings_code_for_its_own_sources(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A machine without a cache loads it, and compiles when any source is another one."""
    machine = numba.core.registry.cpu_target.target_context.codegen().magic_tuple()
    monkeypatch.setattr(ahead, "ANY_PROCESSOR", machine[1:])
    monkeypatch.setattr(numba.config, "CACHE_DIR", f"{tmp_path / 'built'}")
    built: Any = numba.njit(cache=True)(half)
    built(5.0)
    wheel = tmp_path / "machine_code"
    wheel.mkdir()
    assert ahead.write_ahead([built], f"{wheel}") == 1

    monkeypatch.setattr(ahead, "_folder", lambda: f"{wheel}")
    monkeypatch.setattr(numba.config, "CACHE_DIR", f"{tmp_path / 'fresh'}")
    assert called_afresh() == (2.5, True)
    monkeypatch.setattr(ahead, "digest", lambda _: "of other sources")
    assert called_afresh() == (2.5, False)
