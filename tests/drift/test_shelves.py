"""How the room is divided: few shelves that do not import each other, and functions that fit."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import monitor.drift

ROOM = Path(monitor.drift.__file__).parent
SHELVES, FLOORS, ARROWS, FILES = 8, 7, 40, 15
LINES, ARGUMENTS = 40, 6
BEGINS_A_FOLD = {"judge": 7}  # arguments: where a fold begins, and what it is given of before
Function = ast.FunctionDef | ast.AsyncFunctionDef


@cache
def arrows() -> frozenset[tuple[str, str]]:
    """List which shelf imports which."""
    found = set[tuple[str, str]]()
    for path in ROOM.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(
                "monitor.drift."
            ):
                found.add((path.relative_to(ROOM).parts[0], (node.module or "").split(".")[2]))
    return frozenset((mine, theirs) for mine, theirs in found if mine != theirs)


def floor_of(shelf: str) -> int:
    """Count the shelves below one that rest on each other, with itself; a circle has no end."""
    return 1 + max((floor_of(below) for above, below in arrows() if above == shelf), default=0)


def functions() -> Iterator[tuple[str, Function, list[str]]]:
    """Give every function with its file's name, and its lines of code."""
    for path in ROOM.rglob("*.py"):
        text = path.read_text("utf-8")
        lines = text.splitlines()
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, Function):
                body = node.body[1:] if ast.get_docstring(node) else node.body
                code = [*range(node.lineno, node.body[0].lineno)]
                code += range(body[0].lineno, (node.end_lineno or 0) + 1) if body else []
                stripped = (lines[i - 1].strip() for i in code)
                yield path.stem, node, [of for of in stripped if of and of[0] != "#"]


def test_shelves_are_few_and_none_import_each_other() -> None:
    """A place for everything, and no circle."""
    shelves = {folder.parent.name for folder in ROOM.glob("*/__init__.py")}

    assert len(shelves) <= SHELVES
    assert len(arrows()) <= ARROWS
    assert not {pair for pair in arrows() if pair[::-1] in arrows()}
    assert max(map(floor_of, shelves)) <= FLOORS
    assert max(len([*(ROOM / shelf).glob("*.py")]) for shelf in shelves) <= FILES


def test_functions_fit_on_a_screen_and_take_few_arguments() -> None:
    """As many lines of code as can be read at once, and arguments that can be remembered."""
    long = {(file, of.name): len(code) for file, of, code in functions() if len(code) > LINES}
    many = {
        of.name: count
        for _, of, _ in functions()
        if (count := len([*of.args.posonlyargs, *of.args.args, *of.args.kwonlyargs])) > ARGUMENTS
    }

    assert not long
    assert many == BEGINS_A_FOLD
