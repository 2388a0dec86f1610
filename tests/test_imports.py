"""No module of the program needs itself: imports make no circle, not even within functions."""

import ast
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from tests.support.paths import ROOT

PACKAGE = "monitor"


def modules() -> dict[str, Path]:
    """List the modules of the program by their dotted names."""
    files = sorted((ROOT / PACKAGE).rglob("*.py"))
    return {".".join(_parts(file)): file for file in files}


def _parts(file: Path) -> tuple[str, ...]:
    parts = file.relative_to(ROOT).with_suffix("").parts
    return parts[:-1] if parts[-1] == "__init__" else parts


def imported(tree: ast.AST, known: Mapping[str, object], *, own: str) -> Iterator[str]:
    """List the modules that a module imports when it runs, at its top and within functions."""
    for node in _run(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            names = [name if name in known else f"{node.module}" for name in names]
        else:
            continue
        yield from (name for name in names if name in known and name != own)


def _run(tree: ast.AST) -> Iterator[ast.AST]:
    """Walk through what runs, which leaves out what only type checkers read."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        yield node
        yield from _run(node)


def graph() -> dict[str, set[str]]:
    """Give each module with those that it imports."""
    known = modules()
    return {
        name: set(imported(ast.parse(file.read_text()), known, own=name))
        for name, file in known.items()
    }


def test_no_circle_of_imports() -> None:
    """Each module can be read after those that it rests on; `import-linter` orders the rooms."""
    found = graph()

    assert sum(map(len, found.values())) > len(found) > 200
    try:
        TopologicalSorter(found).prepare()
    except CycleError as circle:
        pytest.fail(" -> ".join(circle.args[1]))


def test_no_module_loads_all_statistics_of_scipy() -> None:
    """They take as long as all else with which a run starts; `scipy.special` has what is needed."""
    found = {
        (name, line)
        for name, file in modules().items()
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Import | ast.ImportFrom)
        if "scipy.stats" in (line := ast.unparse(node))
    }

    assert found == set()
