"""`import monitor`: few names, typed and documented, and quick to load."""

import inspect
import re
import subprocess
import sys
from importlib import import_module

import pytest

import monitor
from monitor.base.public_names import homes_of
from tests.support.paths import ROOT

HOMES = homes_of("monitor")
HEAVY = (
    "airflow", "duckdb", "fsspec", "jinja2", "matplotlib", "numba", "numpy", "pandas",
    "pyarrow", "pydantic", "rich", "scipy", "typer",
)  # fmt: skip

NEEDS_MORE = ("Recalibrator",)  # an estimator of scikit-learn, so it cannot be loaded without


def loaded_after(code: str) -> list[str]:
    """List the heavy packages that a fresh process has loaded after some code."""
    code = f"import sys\n{code}\nprint(*(set({HEAVY}) & sys.modules.keys()))"
    ended = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return sorted(ended.stdout.split())


def test_import_loads_no_other_package() -> None:
    """`import monitor` loads nothing heavy, so it takes milliseconds."""
    assert loaded_after("import monitor; dir(monitor)") == []


def test_names_load_numpy_at_most() -> None:
    """All public names together load numpy and no other package; a call loads what it needs."""
    assert loaded_after("from monitor import *") == ["numpy"]


def test_names_are_those_of_the_stub() -> None:
    """What the stub imports is public, and all of it is offered."""
    assert sorted([*monitor.__all__, *NEEDS_MORE]) == sorted(HOMES)
    assert set(HOMES) <= set(dir(monitor))


@pytest.mark.parametrize("name", HOMES)
def test_name_resolves_and_is_documented(name: str) -> None:
    """Every name leads to a function or class that says what it is; so do its public methods."""
    found = getattr(monitor, name)
    methods = [
        m
        for key, m in vars(found).items()
        if inspect.isfunction(m) and m.__module__ == found.__module__ and key[0] != "_"
    ]

    assert found.__name__ == name
    assert found.__module__ == HOMES[name]
    for documented in (found, *methods):
        assert inspect.getdoc(documented)
    for function in filter(inspect.isfunction, (found, *methods)):
        named = inspect.signature(function).parameters.keys() - {"self"}
        assert named | {"return"} == function.__annotations__.keys()


def test_names_that_the_documentation_imports_are_public() -> None:
    """Examples import from `monitor`, its measures and its diagrams, and only what these offer."""
    used = {
        (module, name.strip())
        for page in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
        for module, names in re.findall(r"from (monitor[\w.]*) import ([\w, ]+)", page.read_text())
        for name in names.split(",")
    }
    modules = ("monitor", "monitor.metrics", "monitor.report.diagrams")
    public = {
        (module, name)
        for module in modules
        for name in (*import_module(module).__all__, *NEEDS_MORE)
    }

    assert len(used) > 20
    assert used <= public
