"""Sentences are made in one room, and nothing is decided by reading them."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.paths import ROOT

SEARCHES = frozenset(
    [
        "startswith",
        "endswith",
        "removeprefix",
        "removesuffix",
        "split",
        "partition",
        "find",
        "index",
    ]
)
OF_DUCKDB = "monitor/logs/engines/session.py", "first_line"  # its reasons, which are no verdict's


def docstrings(tree: ast.AST) -> set[ast.AST]:
    """Find the strings that stand for themselves."""
    return {node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)}


def of_errors(tree: ast.AST) -> set[ast.AST]:
    """Find what an error says: what is given to one, or named `msg` before."""
    found = set[ast.AST]()
    for node in ast.walk(tree):
        named = isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "msg"
        if named or isinstance(node, ast.Raise):
            found |= {*ast.walk(node)}
    return found


def sentences_in(source: str) -> list[str]:
    """List the texts of a module that end as a sentence does, but for documentation and errors."""
    tree = ast.parse(source)
    others = docstrings(tree) | of_errors(tree)
    return [
        text
        for node in ast.walk(tree)
        if node not in others and isinstance(node, ast.Constant | ast.JoinedStr)
        if (text := ast.unparse(node).strip("'\"")).endswith(".") and " " in text
    ]


def searches_in(source: str) -> list[tuple[str, str]]:
    """List the statements that look into the sentences of a verdict, each with its function."""
    if "reasons" not in source:  # to write every expression of a module again takes long
        return []
    return [
        (function.name, ast.unparse(node))
        for function in ast.walk(ast.parse(source))
        if isinstance(function, ast.FunctionDef)
        for node in ast.walk(function)
        if isinstance(node, ast.expr) and "reasons" in ast.unparse(node) and _searches(node)
    ]


def _searches(node: ast.expr) -> bool:
    if isinstance(node, ast.Compare):
        return any(isinstance(sign, ast.In | ast.NotIn) for sign in node.ops)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        of_pattern = ast.unparse(node.func.value) == "re"
        return of_pattern or node.func.attr in SEARCHES
    if isinstance(node, ast.GeneratorExp | ast.ListComp):
        inner = {*ast.walk(node)} - {node}
        return any(isinstance(one, ast.expr) and _searches(one) for one in inner)
    return isinstance(node, ast.Subscript) and ast.unparse(node.value).endswith("reasons")


def modules(room: str) -> Iterator[Path]:
    """List the modules of a room."""
    return (ROOT / "monitor" / room).rglob("*.py")


@pytest.mark.parametrize(
    "room", ["drift", "pipeline/verdicts/references.py", "pipeline/verdicts/where.py"]
)
def test_no_sentence_is_made_below_the_words(room: str) -> None:
    """What is judged are facts; their sentences are made in `monitor/words`."""
    place = ROOT / "monitor" / room
    paths = [place] if place.is_file() else list(modules(room))

    assert paths
    assert {path.name: said for path in paths if (said := sentences_in(path.read_text()))} == {}


def test_nothing_is_decided_by_what_a_verdict_says() -> None:
    """The sentences of a verdict are shown and kept, never searched."""
    found = {
        (f"{path.relative_to(ROOT)}", name)
        for path in modules("")
        for name, _ in searches_in(path.read_text())
        if path.is_relative_to(ROOT / "monitor") and "discovery" not in path.parts
    }

    assert found == {OF_DUCKDB}
