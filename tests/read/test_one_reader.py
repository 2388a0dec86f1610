import ast
from collections.abc import Iterator
from pathlib import Path

from monitor.store.store import Store
from tests.support.paths import ROOT

# What reads or parses stored verdicts and evaluations.
READERS = {"parse_evaluations", "parse_verdicts", "read_evaluations", "read_verdicts"}
SHOW = ["monitor/report", "monitor/export", "monitor/cli", "monitor/demo", "dags"]


def named_in(folder: str) -> Iterator[tuple[Path, str]]:
    """List the attributes that the sources of a folder name."""
    for path in sorted((ROOT / folder).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Attribute):
                yield path, node.attr


def test_the_store_has_these_readers() -> None:
    """A reader with another name would be overlooked."""
    assert all(callable(getattr(Store, name)) for name in READERS)


def test_who_shows_results_reads_none() -> None:
    """Renderers, commands and DAGs name no reader of verdicts or evaluations; `read` does."""
    found = [(path, name) for folder in SHOW for path, name in named_in(folder) if name in READERS]

    assert found == []
    assert {name for _, name in named_in("monitor/read")} >= READERS
