"""Random damage to files of the store: an error or the same numbers, never other numbers."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.base.errors import DataError
from monitor.days.arrivals import Arrivals
from monitor.export.http.app import Exporter
from monitor.store.store import Store
from tests.conftest import DAY, DAY_AFTER, DAY_BEFORE, Command, Project
from tests.support.fuzzing import fuzzed

Change = Callable[[bytes, list[bytes]], bytes]

LONG_AFTER = date(2026, 12, 31)
KINDS = {"summaries", "evaluations", "verdicts", "arrivals", "revisions", "runs"}
SHOWN = (
    ("show", "--model", "ctr", "--days", 2, "--json"),
    ("show", "--model", "ctr", "--revisions", "--json"),
    ("show", "--model", "ctr", "--segment", "DE", "--windows", 3, "--json"),
)


def flipped(content: bytes, place: int, bit: int) -> bytes:
    """Flip one bit."""
    damaged = bytearray(content)
    damaged[place % len(content)] ^= 1 << bit
    return bytes(damaged)


PLACES = st.integers(0, 1 << 16)
CHANGES: st.SearchStrategy[Change] = st.one_of(
    st.builds(lambda at, bit: lambda c, _: flipped(c, at, bit), PLACES, st.integers(0, 7)),
    st.builds(lambda at: lambda c, _: c[: at % len(c)], PLACES),
    st.builds(
        lambda at, new: lambda c, _: c[: at % len(c)] + new + c[at % len(c) :],
        PLACES,
        st.binary(min_size=1, max_size=40),
    ),
    st.builds(  # a block that the disk lost
        lambda at: lambda c, _: (c[: at % len(c)] + bytes(512) + c[at % len(c) + 512 :])[: len(c)],
        PLACES,
    ),
    st.builds(lambda at: lambda _, others: others[at % len(others)], PLACES),
    st.builds(lambda new: lambda _, __: new, st.binary(max_size=80)),
)


def files_of(project: Project) -> list[Path]:
    """List all files of the store that hold results or records."""
    found = sorted((project.folder / "store").rglob("*"))
    return [path for path in found if path.is_file() and path.name not in {"lock", "store.json"}]


@dataclass(frozen=True)
class Damaged:
    """A project whose store is damaged, what it told before, and all of its files."""

    project: Project
    told: list[Any]
    results: dict[str, bytes]
    files: dict[Path, bytes]

    def choose(self, number: int, change: Change) -> tuple[Path, bytes]:
        """Choose a file, and what becomes of it."""
        path = list(self.files)[number % len(self.files)]
        return path, change(self.files[path], list(self.files.values()))

    def restore(self) -> None:
        """Undo the damage, and whatever was done since."""
        for path in files_of(self.project):
            if path not in self.files:
                path.unlink()
        for path, content in self.files.items():
            path.write_bytes(content)


@pytest.fixture
def damaged(project: Project, command: Command) -> Damaged:
    """Prepare a store that has a file of every kind, also of revisions and arrivals."""
    project.configure("windows: [1, 3]", "windows: [1, 3]\n    settled_after: 1")
    for as_of in (DAY_AFTER, LONG_AFTER):  # first provisional, then final: a revision
        ended = command("backfill", "--from", DAY, "--to", DAY, "--as-of", as_of, "--recompute")
        assert ended.code == 0, ended.err
    counted = Arrivals(DAY - timedelta(days=35), (30, 2), (60, 4))
    Store("store").write_arrivals("ctr", counted)
    files = {path: path.read_bytes() for path in files_of(project)}
    assert {path.parent.parent.name for path in files} == KINDS
    return Damaged(project, read(project, command), project.results(), files)


def read(project: Project, command: Command) -> list[Any]:
    """Collect what `show` and the exporter tell of the store; an error that names a file is None.

    After damage to the record of unfinished runs, `show` warns that one may be; this is no number.
    """
    told = list[Any]()
    for arguments in SHOWN:
        ended = command(*arguments)
        assert ended.code == 0 or (ended.code == 3 and "store/" in ended.err), ended.err
        found = json.loads(ended.out) if ended.code == 0 else None
        told.append({k: found[k] for k in found if k != "unfinished"} if found else None)
    try:
        told.append(Exporter(project.folder / "monitor.yaml").text())
    except DataError:
        told.append(None)
    return told


@fuzzed(150)
@given(number=st.integers(0, 999), change=CHANGES)
def test_a_damaged_file_is_an_error_or_changes_no_number(
    number: int, change: Change, damaged: Damaged, command: Command
) -> None:
    """Whatever becomes of a file, `show` and a scrape tell what they told, or of an error."""
    path, content = damaged.choose(number, change)

    path.write_bytes(content)
    told = read(damaged.project, command)
    damaged.restore()

    for was, now in zip(damaged.told, told, strict=True):
        assert now is None or now == was, path


SPAN = ("--from", DAY_BEFORE, "--to", DAY)
WRITING = (
    ("backfill", *SPAN, "--as-of", LONG_AFTER),
    ("backfill", *SPAN, "--as-of", LONG_AFTER, "--again"),
    ("evaluate", *SPAN),
    ("run", "--day", DAY, "--as-of", LONG_AFTER),
)


@fuzzed(30)
@given(number=st.integers(0, 999), change=CHANGES, call=st.sampled_from(WRITING))
def test_a_command_that_writes_leaves_the_same_results(
    number: int, change: Change, call: tuple[object, ...], damaged: Damaged, command: Command
) -> None:
    """Whatever becomes of a file, a command leaves the results of before, or fails."""
    path, content = damaged.choose(number, change)

    path.write_bytes(content)
    ended = command(*call)
    results, told = damaged.project.results(), read(damaged.project, command)
    damaged.restore()

    assert ended.code in {0, 3}, ended.err
    for file, now in results.items():
        assert now in (damaged.results[file], content), file  # mended, or as it was damaged
    if ended.code == 0:
        for was, now in zip(damaged.told[:-1], told[:-1], strict=True):  # without times of runs
            assert now is None or now == was, path
