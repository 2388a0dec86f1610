import ast
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import get_args

import pytest

from monitor.base import program
from monitor.base.program import ROOMS, Phase
from monitor.store.names import day_file
from monitor.store.store import Store
from tests.conftest import DAY, DAY_AFTER, DAY_BEFORE, Ended, Project
from tests.support.cases import some
from tests.support.paths import ROOT

PHASES: tuple[Phase, ...] = get_args(Phase)
ENTRIES: dict[Phase, str] = {
    "fits": "monitor.pipeline.verdicts.references",
    "summaries": "monitor.logs",
    "evaluations": "monitor.pipeline.runs.evaluations",
}
# Rooms that carry values and change none: their files have formats, and settings are in every
# fingerprint. The style of numbers is that of messages only. What they import is not followed.
CARRIERS = tuple(
    f"monitor.{room}"
    for room in (
        "store",
        "config",
        "days.files",
        *(
            "base.files",
            "base.temporary",
            "base.deadline",
            "base.errors",
            "base.program",
            "base.short_text",
        ),
        "words.numbers",
        *("drift.records", "words.level", "words.plausibility"),  # what `check` says, not stored
    )
)
PRINT = (
    "from typing import get_args; from monitor.base.program import Phase, digest; "
    "print(*map(digest, get_args(Phase)))"
)


def modules() -> dict[str, Path]:
    """Name every module of the program."""
    found = {}
    for path in (ROOT / "monitor").rglob("*.py"):
        parts = path.relative_to(ROOT).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports(path: Path) -> Iterator[str]:
    """List what a module imports anywhere, as modules or as names of them."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def reached(entry: str) -> set[str]:
    """Follow the imports of a module through the program, not through what carries values."""
    known, found, to_do = modules(), set[str](), [entry]
    while to_do:
        module = to_do.pop()
        if (
            module in {*found, "monitor", "monitor.base", "monitor.days"}
            or module not in known
            or is_in(module, CARRIERS)
        ):
            continue
        found.add(module)
        to_do += imports(known[module])
    return found


def is_in(module: str, rooms: tuple[str, ...]) -> bool:
    """Say whether a module is a room, or lies in one."""
    return any(module == room or module.startswith(f"{room}.") for room in rooms)


@pytest.mark.parametrize("phase", PHASES)
def test_the_imports_of_a_phase_lie_in_its_rooms(phase: Phase) -> None:
    """Whatever the modules of a phase import is part of its digest, or only carries values."""
    rooms = tuple(f"monitor.{room.removesuffix('.py').replace('/', '.')}" for room in ROOMS[phase])
    found = reached(ENTRIES[phase])

    assert len(found) > 20
    assert [module for module in sorted(found) if not is_in(module, rooms)] == []


def digests_of(source: Path) -> dict[Phase, str]:
    """Let a program that lies elsewhere say its digests."""
    printed = subprocess.run(
        [sys.executable, "-c", PRINT],
        cwd=source.parent,
        env=os.environ | {"PYTHONPATH": str(source)},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    return dict(zip(PHASES, printed.split(), strict=True))


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """Copy the program to a folder of its own."""
    shutil.copytree(
        ROOT / "monitor", tmp_path / "own/monitor", ignore=shutil.ignore_patterns("__pycache__")
    )
    return tmp_path / "own"


@pytest.mark.parametrize(
    ("source", "moved"),
    some(
        [
            ("drift/curve/reference.py", {"fits", "evaluations"}),
            ("metrics/core/tally.py", set(PHASES)),
            ("logs/statement/statement.py", set(PHASES)),
            ("evaluation/shadow.py", {"fits", "evaluations"}),
            ("pipeline/verdicts/strata.py", {"fits", "evaluations"}),
            ("days/summary.py", set(PHASES)),
            ("days/settling.py", set(PHASES)),
            ("words/where.py", {"fits", "evaluations"}),
            ("cli/printing.py", set()),
            ("measures/gauges.py", set()),
        ],
        3,
    ),
)
def test_a_change_of_a_source_changes_what_rests_on_it(
    copied: Path, source: str, moved: set[Phase]
) -> None:
    """The digests of the phases that a source takes part in move with it, and no other."""
    with (copied / "monitor" / source).open("a") as file:
        file.write("# another program\n")

    after = digests_of(copied)

    assert {phase for phase in PHASES if after[phase] != program.digest(phase)} == moved


def change(monkeypatch: pytest.MonkeyPatch, *phases: Phase) -> None:
    """Let the sources of phases be those of another program."""
    before = {phase: program.digest(phase) for phase in PHASES}
    monkeypatch.setattr(
        program, "digest", lambda phase: before[phase] + ("+" if phase in phases else "")
    )


def basis_of(project: Project) -> dict[date, str]:
    """Read what the verdicts of each day rest on."""
    store = Store(str(project.folder / "store"))
    return {day: store.read_verdicts("ctr", day)[1] for day in store.days("verdicts", "ctr")}


@pytest.mark.parametrize("rules", [program.RULES, program.RULES + 1])
def test_new_rules_judge_the_whole_fold_again(
    project: Project, command: Callable[..., Ended], monkeypatch: pytest.MonkeyPatch, rules: int
) -> None:
    """The first run with other rules judges every stored day again; new sources alone do not."""
    before, results, program_rules = basis_of(project), project.results(), program.RULES
    project.write("predictions", project.rows("predictions", DAY_AFTER), DAY_AFTER)
    project.write("outcomes", project.rows("outcomes", DAY_AFTER), DAY_AFTER)
    change(monkeypatch, *PHASES)
    monkeypatch.setattr(program, "RULES", rules)

    ended = command("run", "--day", DAY_AFTER, "--as-of", "2026-03-05")

    assert ended.code == 0, ended.err
    after = basis_of(project)
    assert [*after] == [DAY_BEFORE, DAY, DAY_AFTER]
    assert len({*after.values()}) == 1
    assert ({*after.values()} == {*before.values()}) == (rules == program_rules)
    kept = project.results()
    for kind in ("summaries", "evaluations"):  # of earlier days
        name = f"store/{day_file(kind, 'ctr', DAY_BEFORE)}"
        assert kept[name] == results[name]


@pytest.mark.parametrize(
    ("phases", "again"),
    [
        ([], []),
        (["fits"], []),
        (["summaries"], ["summarised"]),
        (["evaluations"], ["evaluated"]),
    ],
)
def test_backfill_makes_again_what_another_program_made(
    project: Project,
    command: Callable[..., Ended],
    monkeypatch: pytest.MonkeyPatch,
    phases: list[Phase],
    again: list[str],
) -> None:
    """Of days whose logs have not changed, those phases are done again whose sources have."""
    command("backfill", "--from", DAY_BEFORE, "--to", DAY)
    change(monkeypatch, *phases)
    days, before = [str(DAY_BEFORE), str(DAY)], {*project.results()}

    ended = command("backfill", "--from", DAY_BEFORE, "--to", DAY, "--json")

    assert ended.code == 0, ended.err
    assert {*project.results()} == before
    (report,) = json.loads(ended.out)["reports"]
    done = {what for what in ("summarised", "evaluated") if report[what] == days}
    assert done == set(again)
