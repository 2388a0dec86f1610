"""Which definitions of the mathematics the daily job reaches, found by reading the sources."""

import ast
from functools import cache
from pathlib import Path

from monitor.base.public_names import homes_of
from tests.support.paths import ROOT

MONITOR = ROOT / "monitor"
SHELVES = "monitor.metrics"
HOMES = homes_of(SHELVES)  # the module of each public name
# The rooms whose code a run, an exporter or a report executes; the demo and the commands start it.
ROOMS = [
    "summary", "evaluation", "drift", "pipeline", "logs", "store", "read", "export", "report",
]  # fmt: skip
FOR_ANALYSIS = {"diagrams", "notebook"}  # folders of these rooms: pictures, and a caller's code

Definition = tuple[str, str]  # module and name


@cache
def reached() -> set[Definition]:
    """Follow the names from the rooms of the daily job into the shelves."""
    waiting = {found for path in sources_of_rooms() for found in imported(path).values()}
    seen: set[Definition] = set()
    while waiting:
        definition = waiting.pop()
        if definition not in seen:
            seen.add(definition)
            waiting |= used_by(*definition)
    return seen


def sources_of_rooms() -> list[Path]:
    """List the files of the daily job outside the shelves."""
    return [
        path
        for room in ROOMS
        for path in [MONITOR / f"{room}.py", *(MONITOR / room).rglob("*.py")]
        if path.exists() and path.parent.name not in FOR_ANALYSIS
    ]


@cache
def imported(path: Path) -> dict[str, Definition]:
    """Read what a file imports from the shelves, by the name it has in the file."""
    found = {}
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(SHELVES):
            for alias in node.names:
                home = HOMES[alias.name] if node.module == SHELVES else node.module
                found[alias.asname or alias.name] = (str(home), alias.name)
    return found


@cache
def parts_of(module: str) -> dict[str, list[ast.stmt]]:
    """Read what a module defines on its first level: functions, classes and constants."""
    found: dict[str, list[ast.stmt]] = {}
    for node in ast.parse(path_of(module).read_text()).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.setdefault(node.name, []).append(node)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            for part in ast.walk(node):
                if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                    found.setdefault(part.id, []).append(node)
    return found


def used_by(module: str, name: str) -> set[Definition]:
    """Find the definitions in the shelves that one of them names."""
    known = imported(path_of(module)) | {part: (module, part) for part in parts_of(module)}
    return {
        known[part.id]
        for node in parts_of(module).get(name, [])
        for part in ast.walk(_undecorated(node))
        if isinstance(part, ast.Name) and part.id in known
    }


def _undecorated(node: ast.stmt) -> ast.stmt:
    """Leave out the decorators: what lets a caller give rows is not what the daily job gives."""
    if isinstance(node, ast.FunctionDef):
        return ast.FunctionDef(**{**dict(ast.iter_fields(node)), "decorator_list": []})
    return node


def path_of(module: str) -> Path:
    """Find the file of a module."""
    return ROOT / f"{module.replace('.', '/')}.py"
