"""Imports make no circle, not even within functions, and name what there is."""

import ast
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from importlib import import_module
from pathlib import Path

import pytest

from tests.support.paths import ROOT

PACKAGE = "monitor"
BESIDE = "bench", "grafana", "studies", "tools"


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


def asked_of_the_program(file: Path) -> Iterator[tuple[str, str]]:
    """List the modules of the program and the names that a file outside it imports from them."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ImportFrom) and f"{node.module}".split(".")[0] == PACKAGE:
            yield from ((f"{node.module}", alias.name) for alias in node.names)


def test_programs_beside_it_import_what_there_is() -> None:
    """No type checker reads them, and some import within functions that no test calls."""
    known = modules()
    asked = [
        (file, module, name)
        for folder in BESIDE
        for file in sorted((ROOT / folder).rglob("*.py"))
        for module, name in asked_of_the_program(file)
    ]
    missing = [
        f"{file.relative_to(ROOT)}: {module}.{name}"
        for file, module, name in asked
        if f"{module}.{name}" not in known and not hasattr(import_module(module), name)
    ]

    assert {file.relative_to(ROOT).parts[0] for file, _, _ in asked} == {*BESIDE}
    assert missing == []


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
