"""Each error ends with the one next step: what to write, to correct, or to run."""

import ast
import re
from collections.abc import Iterator

from tests.support.paths import ROOT

# What a person is asked to do; a last clause without one of these says what is wrong only.
STEP = re.compile(
    r"\b(add|allow|ask|begin|calibration-monitor|change|check|choose|configure|convert|correct|"
    r"delete|did you mean|divide|do|draw|drop|fit|fix|free|give|grant|install|lay|leave|let|"
    r"list|log one|look|lower|"
    r"make|map|mount|move|name|open|pass|pip|point|put|reach|read|release|remove|rename|repair|"
    r"replace|rerun|restore|run|save|say|search|see|set|shorten|start|stop|swap|take|trigger|"
    r"try|use|wait|write)\b",
    re.IGNORECASE,
)
# What a message ends with where its last words are a value that says itself what to do.
SAYS_ITSELF = re.compile(r"\{(?:remedy|AGAIN|why|said|further|options|first_line|error|doing)\b")


def clauses(node: ast.expr) -> str:
    """Write a message as it stands in the code, with its values in braces."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(map(clauses, node.values))
    if isinstance(node, ast.FormattedValue):
        return f"{{{ast.unparse(node.value)}}}"
    if isinstance(node, ast.BinOp):
        return clauses(node.left) + clauses(node.right)
    return f"{{{ast.unparse(node)}}}"


def messages(source: str) -> Iterator[tuple[int, str]]:
    """List the messages of the errors that a file raises or returns, with their lines."""
    for function in ast.walk(ast.parse(source)):
        if not isinstance(function, ast.FunctionDef):
            continue
        said = dict[str, list[tuple[int, ast.expr]]]()
        for node in ast.walk(function):
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                said.setdefault(node.targets[0].id, []).append((node.lineno, node.value))
        for node in ast.walk(function):
            named = isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
            if not (named and node.func.id in {"ConfigError", "DataError"} and node.args):
                continue
            message = node.args[0]
            if isinstance(message, ast.Name) and message.id in said:
                before = [v for line, v in said[message.id] if line <= node.lineno]
                message = before[-1] if before else message
            if isinstance(message, ast.Constant | ast.JoinedStr | ast.BinOp):
                yield node.lineno, clauses(message)


def has_step(message: str) -> bool:
    """Tell whether the last part of a message, behind a semicolon or a sentence, asks for a step.

    A step may itself be given two ways, with a semicolon between them.
    """
    parts = re.split(r"[;,:] |\. ", message)
    # Of an argument in a notebook, what it must be is the step; the parser names its --help itself.
    if "must be" in message or message.startswith("Error: "):
        return True
    return any(STEP.search(part) or SAYS_ITSELF.search(part) for part in parts[1:])


def test_messages_in_the_code_end_with_a_step() -> None:
    """Every error that a command, a file of logs or a notebook can raise."""
    found = [
        f"{path.relative_to(ROOT)}:{line}: {message}"
        for path in sorted((ROOT / "monitor").rglob("*.py"))
        for line, message in messages(path.read_text())
        if not has_step(message)
    ]

    assert found == []
    assert not has_step("ctr: the log is empty.")
    assert not has_step("--keep 5: is not a number of days; it has no unit.")
    assert sum(1 for _ in messages((ROOT / "monitor/cli/options.py").read_text())) > 3
