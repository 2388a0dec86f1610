"""What `monitor.metrics` offers: every public name, loaded when it is first used."""

import ast
import inspect
import subprocess
import sys

import pytest

import monitor.metrics
from tests.support.paths import ROOT
from tests.support.public_names import HOMES, path_of

HEAVY = ("numba", "numpy", "scipy")
FUNCTIONS = [name for name in HOMES if inspect.isfunction(getattr(monitor.metrics, name))]


def test_loads_nothing_until_it_is_used() -> None:
    """In a fresh process the import loads no numeric package; a measure loads what it needs."""
    code = f"""
import sys, monitor.metrics
print([name for name in {HEAVY} if name in sys.modules], "tce" in dir(monitor.metrics))
from monitor.metrics import tally, tce, pava_bc, rbs, ece
print("numba" in sys.modules, rbs(tally([0, 1], [0.5, 0.5])), "numba" in sys.modules)
"""
    ended = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )

    assert ended.stderr == ""
    assert ended.stdout.splitlines() == ["[] True", "False 0.5 True"]


def test_names_are_those_of_the_stub() -> None:
    """What the stub imports is public, and all of it is offered."""
    assert sorted(monitor.metrics.__all__) == sorted(HOMES)
    assert set(HOMES) <= set(dir(monitor.metrics))


def test_name_resolves() -> None:
    """Every name leads to the function or class of that name, defined where the table says."""
    for name in HOMES:
        found = getattr(monitor.metrics, name)

        assert found.__name__ == name
        assert found.__module__ == HOMES[name]


def test_unknown_names_are_unknown() -> None:
    """A name that is none fails as in any module."""
    with pytest.raises(AttributeError, match=r"'monitor\.metrics' has no attribute 'tec'"):
        monitor.metrics.__getattr__("tec")


def test_no_shelf_has_the_name_of_a_function() -> None:
    """Else what `from monitor.metrics import NAME` gives would depend on earlier imports."""
    assert not {path.name for path in (ROOT / "monitor" / "metrics").iterdir()} & set(HOMES)


def test_what_public_functions_give_is_public() -> None:
    """The class of a result can be imported from the same place as the function."""
    given = {
        part.id
        for name in FUNCTIONS
        for node in ast.parse(path_of(HOMES[name]).read_text()).body
        if isinstance(node, ast.FunctionDef) and node.name == name and node.returns
        for part in ast.walk(node.returns)
        if isinstance(part, ast.Name) and part.id[0].isupper()
    }

    assert given - {"Floats", "Ints"} <= set(HOMES)
