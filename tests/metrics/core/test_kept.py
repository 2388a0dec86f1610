"""Processes that share the cache of the compiler."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest

from monitor.metrics.core import ahead, kept
from tests.metrics.core.test_compiled import double
from tests.support.paths import ROOT

# It forks a process for each type, because numba takes a second to load; all begin at once.
PROGRAM = """
import os, sys
import numpy as np
from monitor.metrics.core.compiled import compiled

@compiled
def fibonacci(n):  # it asks for itself while it is compiled
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)

@compiled
def half(n):
    return n / 2 if n > 0 else n

@compiled
def nothing():
    return 0

nothing()  # loads the compiler
called = {"fibonacci": fibonacci, "half": half}[sys.argv[1]]
ready, begin = os.pipe()
for name in sys.argv[2:]:
    if not os.fork():
        os.close(begin)
        os.read(ready, 1)  # until the parent closes its end
        result = called(getattr(np, name)(5))
        os.write(1, f"{result} {sum(called.stats.cache_misses.values())}\\n".encode())
        os._exit(0)
os.close(begin)
for _ in sys.argv[2:]:
    os.wait()
"""


def _at_once(folder: Path, *call: str) -> list[str]:
    """Call a function at once with a 5 of each type: in some order, what it gave, and misses."""
    program = folder / "program.py"
    program.write_text(PROGRAM)
    variables = os.environ | {"NUMBA_CACHE_DIR": f"{folder / 'kept'}", "PYTHONPATH": f"{ROOT}"}
    ended = subprocess.run(
        [sys.executable, program, *call], env=variables, capture_output=True, text=True, check=True
    )
    return sorted(ended.stdout.splitlines())


def test_one_of_them_compiles_a_function(tmp_path: Path) -> None:
    """The others wait, and load it."""
    assert _at_once(tmp_path, "fibonacci", *["int64"] * 3) == ["5 0", "5 0", "5 1"]


def test_types_keep_codes_of_their_own(tmp_path: Path) -> None:
    """Two that add code at the same moment do not give it the same number."""
    types = "int64", "float64", "int32", "float32", "int8", "uint8"

    assert _at_once(tmp_path, "half", *types) == ["2.5 1"] * len(types)
    assert _at_once(tmp_path, "half", *types) == ["2.5 0"] * len(types)
    assert len([*tmp_path.rglob("*half*.nbc")]) == len(types)


def test_goes_on_where_files_cannot_be_locked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some network file systems refuse it."""

    def refuse(*_: object) -> None:
        raise OSError

    monkeypatch.setattr("fcntl.lockf", refuse)

    number: Any = np.int16(4)
    assert double(number) == 8


def half(number: float) -> float:
    """Divide by two."""
    return number / 2.0


def called_afresh() -> tuple[float, bool]:
    """Call it as a new process would: what it gave, and whether it was on disk."""
    function: Any = numba.njit(cache=True)(half)
    kept.share_cache(function)
    return function(5.0), bool(function.stats.cache_hits)


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


CLAIMS = """
import sys
from monitor.metrics.core.compiled import claim
from tests.metrics.core.test_compiled import double

print(claim(double), flush=True)
sys.stdin.readline()
double(1)
print(claim(double))
"""


def test_one_process_claims_what_is_not_on_disk(tmp_path: Path) -> None:
    """Until it ends; and nobody does what is there."""
    variables = os.environ | {"NUMBA_CACHE_DIR": f"{tmp_path}", "PYTHONPATH": f"{ROOT}"}

    def started() -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-c", CLAIMS],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=variables,
        )

    first = started()
    assert first.stdout.readline() == "True\n"
    assert started().communicate("go\n")[0] == "False\nFalse\n"
    assert first.communicate("go\n")[0] == "False\n"


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
