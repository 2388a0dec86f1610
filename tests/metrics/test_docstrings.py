"""Functions of the mathematics show how they are called."""

import ast
import re

from tests.support.paths import ROOT

READERS = {"reads_pairs", "takes_bins", "takes_rows", "takes_rows_by"}  # decorators of measures
FUNCTIONS = {
    f"{path.stem}.{node.name}": node
    for path in sorted((ROOT / "monitor" / "metrics").rglob("*.py"))
    for node in ast.parse(path.read_text()).body
    if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")
    if {ast.unparse(d).partition("(")[0] for d in node.decorator_list} <= READERS  # not compiled
}
WITHOUT_RESULT = {"None", "NoReturn", "Callable[P, R]"}


def test_function_has_an_example() -> None:
    """A function that returns something shows how, in lines that run with the tests."""
    for name, node in FUNCTIONS.items():
        if node.returns and ast.unparse(node.returns) not in WITHOUT_RESULT:
            assert re.search(r"^Examples\n-+\n", ast.get_docstring(node) or "", re.MULTILINE), name
            assert ">>> " in (ast.get_docstring(node) or ""), name
