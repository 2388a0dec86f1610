"""What a scheduler learns of a run that it submitted elsewhere."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pytest

from monitor.base.errors import DataError
from monitor.config import load_config
from monitor.pipeline.runs.scheduled import Scheduled, command_of, plan_run, process, submitted_days
from tests.conftest import Ended, Project

DUE, NEXT = date(2026, 3, 3), date(2026, 3, 4)


def submitted(project: Project, command: Callable[..., Ended]) -> Scheduled:
    """Do what a run would submit on the morning after which the due day has settled."""
    config = load_config(project.folder / "monitor.yaml")
    end = datetime(2026, 3, 4, tzinfo=UTC)
    end += timedelta(days=config.model("ctr").settled_after)
    began = datetime.now(UTC)
    interval = (end - timedelta(days=1), end)
    scheduled = Scheduled(config, "ctr", "a run", end, began, interval)
    # Neither the command nor a task begins a store that nobody asked for.
    task = plan_run(scheduled).task
    assert task
    elsewhere = config.model_copy(update={"store": f"{project.folder}/not mounted"})
    with pytest.raises(DataError, match="is no store"):
        process(elsewhere, task, clock=lambda: began)
    assert not Path(elsewhere.store).exists()
    asked = [replace(scheduled, **{of: True}) for of in ("begin", "is_backfill")]
    assert "--begin" not in command_of(scheduled)
    assert [("--begin" in words, words[0]) for words in map(command_of, asked)] == [
        (True, "run"),
        (False, "backfill"),
    ]
    assert command(*command_of(replace(scheduled, begin=True))).code == 0
    return scheduled


class TestSubmittedDays:
    """`submitted_days`."""

    def test_are_those_of_the_run(self, project: Project, command: Callable[..., Ended]) -> None:
        """The day that was due is named once it is in the store."""
        for kind in ("predictions", "outcomes"):
            project.write(kind, project.rows(kind, DUE), DUE)
        project.write("outcomes", pa.table(project.rows("outcomes")).slice(0, 0), NEXT)
        scheduled = submitted(project, command)

        assert submitted_days(scheduled, now=datetime.now(UTC)) == [DUE]

    def test_lack_the_day_whose_log_is_missing(
        self, project: Project, command: Callable[..., Ended]
    ) -> None:
        """The command does the day before instead; the scheduler reports the missing log."""
        scheduled = submitted(project, command)

        with pytest.raises(DataError, match=r"^ctr 2026-03-03: no predictions of 2026-03-03"):
            submitted_days(scheduled, now=datetime.now(UTC))
