import ast
from collections.abc import Iterator
from pathlib import Path

from monitor.read.results import Results
from monitor.store.store import Store
from tests.support.paths import ROOT

# What reads or parses stored verdicts and evaluations.
READERS = {"parse_evaluations", "parse_verdicts", "read_evaluations", "read_verdicts"}
SHOW = ["monitor/report", "monitor/export", "monitor/cli", "monitor/demo", "dags"]
# What gives the verdicts of a day without saying which of them stand.
OF_ANY_DAY = {"verdicts", "briefs", "of_segment"}
MAY_READ_THEM = {
    "monitor/report/notebook/stored.py",  # gives all of them, each with whether it is shown
    "monitor/export/table.py",  # one row for each that stands
    "monitor/report/page/assemble.py",  # reads many files at a time, before `day_by_day` does
}


def named_in(folder: str) -> Iterator[tuple[Path, str]]:
    """List the attributes that the sources of a folder name."""
    for path in sorted((ROOT / folder).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Attribute):
                yield path, node.attr


def results_asked_in(folder: str) -> Iterator[tuple[str, str]]:
    """List what the sources of a folder ask of results."""
    for path in sorted((ROOT / folder).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Attribute) and ast.unparse(node.value).startswith("results"):
                yield f"{path.relative_to(ROOT)}", node.attr


def test_the_store_has_these_readers() -> None:
    """A reader with another name would be overlooked."""
    assert all(callable(getattr(Store, name)) for name in READERS)
    assert all(callable(getattr(Results, name)) for name in OF_ANY_DAY)


def test_who_shows_results_reads_none() -> None:
    """Renderers, commands and DAGs name no reader of verdicts or evaluations; `read` does."""
    found = [(path, name) for folder in SHOW for path, name in named_in(folder) if name in READERS]

    assert found == []
    assert {name for _, name in named_in("monitor/read")} >= READERS


def test_who_shows_verdicts_asks_which_stand() -> None:
    """Renderers and commands read no verdicts of a day by themselves, but where it says why."""
    asking = {
        path for folder in SHOW for path, name in results_asked_in(folder) if name in OF_ANY_DAY
    }

    assert asking == MAY_READ_THEM
