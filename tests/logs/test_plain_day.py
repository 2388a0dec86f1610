"""What a plain day runs: nothing of a capability that its configuration does not use."""

import ast
import sys
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from types import FrameType

import monitor
from monitor.logs import Databases, summarise_day
from tests.logs.test_new_format import DAY, write_logs

TOP = Path(monitor.__file__).parent
# The rest of `monitor.logs`: what is optional, or has time to look at what is wrong.
PLAIN = {
    *("checks/checks", "columns/canonical", "columns/rows", "days/batches", "days/daily"),
    *("days/days", "days/one_day", "engines/conversions", "engines/databases", "engines/formats"),
    *("engines/session", "engines/steps", "sources/opening", "sources/source", "sources/tables"),
    "statement/statement",
}
MOST_FILES = 25  # of all of the package
SHELVES, FLOORS, ARROWS, FILES_OF_ONE = 8, 7, 40, 15
NAMES = {"parquet", "csv", "json", "delta", "iceberg", "sql", "counts"}
# Who owns the names of formats: readers of files and of tables, the choice of a source, counts.
OWNERS = {"engines/formats", "sources/tables", "sources/source", "days/days"}


@contextmanager
def running() -> Iterator[set[str]]:
    """Collect the files of the package whose functions run."""
    files = set[str]()

    def note(frame: FrameType, event: str, _: object) -> None:
        path = Path(frame.f_code.co_filename)
        if event == "call" and path.is_relative_to(TOP):
            files.add(str(path.relative_to(TOP).with_suffix("")))

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        yield files
    finally:
        sys.setprofile(before)


def test_a_plain_day_calls_no_capability(tmp_path: Path, duckdb: Databases) -> None:
    """Files with a score and an outcome by their id, of which nothing is wrong."""
    model = write_logs(tmp_path, "parquet")
    as_of = date(2026, 3, 3)
    summarise_day("m", model, DAY, as_of=as_of, engine=duckdb)
    with running() as files:
        summarise_day("m", model, DAY, as_of=as_of, engine=duckdb)
    assert {f.removeprefix("logs/") for f in files if f.startswith("logs/")} == PLAIN
    assert len(files) <= MOST_FILES


def test_the_shelves_stay_few() -> None:
    """Of files, of shelves, and of what imports what."""
    above = defaultdict[str, set[str]](set)
    shelves = {
        path.name: [*path.glob("*.py")] for path in (TOP / "logs").iterdir() if path.is_dir()
    }
    shelves.pop("__pycache__", None)
    for shelf in shelves:
        for path in (TOP / "logs" / shelf).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.ImportFrom) and f"{node.module}".startswith(
                    "monitor.logs."
                ):
                    above[shelf].add(f"{node.module}".split(".")[2])
        above[shelf].discard(shelf)

    def floor(shelf: str) -> int:
        return 1 + max(map(floor, above[shelf]), default=0)

    assert len(shelves) <= SHELVES
    assert max(map(floor, shelves)) <= FLOORS
    assert sum(map(len, above.values())) <= ARROWS
    assert max(map(len, shelves.values())) <= FILES_OF_ONE


def test_only_its_owner_names_a_format() -> None:
    """Everything behind a source is blind to formats."""
    naming = {
        str(path.relative_to(TOP / "logs").with_suffix(""))
        for path in (TOP / "logs").rglob("*.py")
        if "discovery" not in path.parts
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Constant) and node.value in NAMES
    }
    assert naming == OWNERS
