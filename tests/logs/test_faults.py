"""What a run remembers of broken logs, for the gauges: log, check, words, rows and first value."""

from datetime import date

import pytest

from monitor.base.errors import Fault
from monitor.days.run_record import FailedDay, RunRecord
from monitor.store.store import Store
from tests.support.damages import (
    DAY,
    RUN,
    Command,
    Damage,
    Project,
    content,
    removed,
    values,
    without_column,
)

MISSING = "a day of the log is missing"
FAULTS: dict[str, tuple[Damage, Fault]] = {
    "scores above 1": (
        values("predictions", "score", {3: 1.7, 4: 1.8}),
        Fault("predictions", "score_out_of_range", "scores lie outside [0, 1]", 2, 40, 1.7),
    ),
    "a score that is missing": (
        values("predictions", "score", {1: None}),
        Fault("predictions", "score_missing", "predictions have no score (null or NaN)", 1, 40),
    ),
    "an outcome of 2": (
        values("outcomes", "outcome", {6: 2}),
        Fault("outcomes", "outcome_invalid", "outcomes are neither 0 nor 1", 1, 40, 2.0),
    ),
    "no outcomes": (removed("outcomes", DAY), Fault("outcomes", "missing_day", MISSING)),
    "no predictions": (removed("predictions", DAY), Fault("predictions", "missing_day", MISSING)),
    "no score column": (
        without_column("predictions", "score"),
        Fault("predictions", "column", "a column is missing"),
    ),
    "no Parquet": (
        content("predictions", lambda _: b"not Parquet"),
        Fault("logs", "unreadable", "a file cannot be read"),
    ),
}


def record(project: Project) -> RunRecord:
    """Read what the store says of the last run."""
    found = Store(str(project.folder / "store")).read_run("ctr")
    assert found is not None
    return found


@pytest.mark.parametrize("case", FAULTS)
def test_a_run_remembers_what_was_wrong(case: str, project: Project, command: Command) -> None:
    """The day and its fault are in the record of the run."""
    damage, fault = FAULTS[case]
    damage(project)
    command(*RUN)

    assert record(project).failed == FailedDay(date.fromisoformat(str(DAY)), fault)


def test_runs_fail_since_the_first_of_them(project: Project, command: Command) -> None:
    """A second failed run does not move the time, and a good one forgets it."""
    whole = project.path("predictions", DAY).read_bytes()
    removed("predictions", DAY)(project)
    command(*RUN)
    first = record(project)
    command(*RUN)
    second = record(project)
    project.path("predictions", DAY).write_bytes(whole)
    command(*RUN)
    good = record(project)

    assert first.failing_since == second.failing_since == first.finished
    assert second.finished > first.finished
    assert (good.failing_since, good.failed, good.succeeded) == (None, None, good.finished)
