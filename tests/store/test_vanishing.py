"""A store that is taken away from a run that writes to it."""

import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import fsspec
import pytest

from monitor.base.errors import DataError
from monitor.config import load_config
from monitor.pipeline.days.progress import PhaseProgress
from monitor.pipeline.days.task import Task
from monitor.pipeline.runs.run import RunReport, run
from monitor.store.store import Store
from tests.conftest import DAY, DAY_BEFORE, Project

NOW = datetime(2026, 12, 31, 12, tzinfo=UTC)
LAST_RUN = "store/runs/ctr/last.json"


def run_and_take(project: Project, phase: str, take: Callable[[], object]) -> RunReport:
    """Run the two days of the project, and take the store away after a phase of the second."""
    taken = []

    def on_progress(step: PhaseProgress) -> None:
        if (step.phase, step.done) == (phase, step.total) and not taken:
            taken.append(take())

    config = load_config(project.folder / "monitor.yaml")
    return run(
        config,
        Task("ctr", DAY_BEFORE, DAY, NOW.date()),
        clock=lambda: NOW,
        on_progress=on_progress,
    )


def remove() -> None:
    """Remove every file, as an unmounted disk does."""
    fsspec.filesystem("file").rm("store", recursive=True)


def replace() -> None:
    """Put a store of before in the place of this one, as a snapshot that is restored does."""
    Path("store").rename("aside")
    fsspec.filesystem("file").cp("aside", "store", recursive=True)


@pytest.mark.parametrize("phase", ["summarise", "evaluate", "judge"])
@pytest.mark.parametrize("take", [remove, replace])
def test_it_is_noticed_before_the_run_says_that_it_is_done(
    project: Project, phase: str, take: Callable[[], None]
) -> None:
    """Whenever the store goes, the run ends with a DataError, and no record of a success."""
    before = Path(LAST_RUN).read_bytes()

    with pytest.raises(DataError) as error:
        run_and_take(project, phase, take)

    if phase == "judge" or take is replace:
        assert "was removed, replaced or unmounted while this command wrote to it" in str(
            error.value
        )
    for root in ("store", "aside"):
        record = Path(LAST_RUN.replace("store", root, 1))
        assert not record.exists() or record.read_bytes() == before


def test_one_who_only_looks_sees_whether_a_run_is_at_work(project: Project) -> None:
    """The lock of a local store is held during a run, which notes its begin, and free after it."""
    store, seen = Store("store"), []

    def look() -> None:
        seen.append((store.is_locked("ctr", now=NOW), store.read_begin("ctr")))

    look()
    run_and_take(project, "judge", look)
    look()

    (_, before), (is_locked, begun), (is_locked_after, _) = seen
    assert before is not None
    assert before[0] < NOW
    assert begun is not None
    assert begun[0] == NOW
    assert begun[1].startswith(f"process {os.getpid()} on ")
    assert is_locked
    assert not is_locked_after
    assert not store.is_locked("other", now=NOW)


def test_a_store_that_stays_is_done(project: Project) -> None:
    """If nothing is taken away, the same run succeeds."""
    assert run_and_take(project, "judge", lambda: None).failures == ()
    record = Store("store").read_run("ctr")
    assert record is not None
    assert record.succeeded == NOW
