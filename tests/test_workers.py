"""Which tests `make quick` leaves out, and what workers share."""

import ast

from tests.support.paths import ROOT
from tests.support.slow import LONGEST, OF_SPARK, SERVERS, STARTERS, place

FILES = {str(p.relative_to(ROOT)): p for p in sorted((ROOT / "tests").rglob("test_*.py"))}


def test_every_long_unit_exists() -> None:
    """A file that was renamed or removed is no longer listed."""
    for start in LONGEST:
        for one in [start] if isinstance(start, str) else start:
            assert any(file.startswith(one) for file in FILES), one


def test_one_worker_has_all_tests_of_spark() -> None:
    """Each worker with one of them would start a Java machine of its own."""
    asking = {
        name
        for name, path in FILES.items()
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef) and "spark" in [a.arg for a in node.args.args]
    }

    assert {"tests/logs/test_spark.py", "tests/fuzz/test_combinations.py"} <= asking
    assert {place(name) for name in asking} == {LONGEST.index(OF_SPARK)}


def test_every_starter_exists() -> None:
    """A helper or a fixture that was renamed is no longer listed."""
    texts = [path.read_text() for path in sorted((ROOT / "tests").rglob("*.py"))]
    for name in sorted(STARTERS | SERVERS):
        assert any(f"def {name}(" in text for text in texts), name
