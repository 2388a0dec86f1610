"""Days whose logs came too late for their run, and processes that want the same model."""

import os
import shutil
import sys
from collections.abc import Callable
from contextlib import ExitStack
from datetime import date
from pathlib import Path

import pytest

from monitor.store.store import Store
from tests.conftest import Command, Ended, Project
from tests.support.servers import PATIENCE, started, wait_for

COMMAND = Path(sys.executable).with_name("calibration-monitor")
SECOND, THIRD, FOURTH, FIFTH, SIXTH = (date(2026, 3, n) for n in (2, 3, 4, 5, 6))
RUN = ("run", "--as-of", "2026-03-07")


@pytest.fixture
def gap(project: Project) -> Project:
    """Give a project with two stored days, then one without predictions, and two with all logs."""
    for day in (FOURTH, FIFTH):
        project.write("predictions", project.rows("predictions", day), day)
    for day in (THIRD, FOURTH, FIFTH, SIXTH):
        project.write("outcomes", project.rows("outcomes", day), day)
    return project


def stored_days(project: Project) -> list[int]:
    """List the days of March that have a summary."""
    return [day.day for day in Store(str(project.folder / "store")).days("summaries", "ctr")]


class TestCatchUp:
    """`run` also processes the missing days of `catch_up_days`."""

    def test_does_missing_days_once_their_logs_are_there(
        self, gap: Project, command: Command
    ) -> None:
        """A day is left out while its logs are missing, and done by the first run after that."""
        first = command(*RUN, "--json")
        before = stored_days(gap)
        gap.write("predictions", gap.rows("predictions", THIRD), THIRD)
        second = command(*RUN, "--json")
        results = gap.results()
        shutil.rmtree(gap.folder / "store")
        serial = command("backfill", "--model", "ctr", "--from", "2026-03-01", "--to", FIFTH)

        assert [first.code, second.code, serial.code] == [0, 0, 0]
        assert '"failures": []' in first.out
        assert before == [1, 2, 4, 5]
        assert results == gap.results()

    @pytest.mark.parametrize(("days", "done"), [(0, [1, 2, 5]), (1, [1, 2, 4, 5])])
    def test_reaches_as_far_as_configured(
        self, days: int, done: list[int], gap: Project, command: Command
    ) -> None:
        """Only the last `catch_up_days` before the day of the run are looked at."""
        gap.write("predictions", gap.rows("predictions", THIRD), THIRD)
        gap.configure("windows:", f"catch_up_days: {days}\n    windows:")

        assert command(*RUN).code == 0
        assert stored_days(gap) == done

    def test_says_whose_logs_changed(self, project: Project, command: Command) -> None:
        """A file that was read before it was whole: its day is final, and no run reads it again."""
        whole = project.rows("outcomes", FOURTH)
        for day in (THIRD, FOURTH, FIFTH, SIXTH):
            for kind in ("predictions", "outcomes"):
                project.write(kind, project.rows(kind, day), day)
        project.write("outcomes", {name: each[:20] for name, each in whole.items()}, FOURTH)
        half = command("backfill", "--model", "ctr", "--from", "2026-03-01", "--to", FOURTH)
        project.write("outcomes", whole, FOURTH)
        then = command(*RUN)
        again = command("backfill", "--model", "ctr", "--from", FOURTH, "--to", FOURTH)
        project.configure("windows:", "checks: {accept: [one_class]}\n    windows:")
        other_setting = command(*RUN)

        said = "ctr: the logs of 2026-03-03 to 2026-03-04 (2 days) have changed since they were"
        assert said in then.out  # outcomes of the third may come on the fourth
        assert "backfill --model ctr --from 2026-03-03 --to 2026-03-04 reads them" in then.out
        assert "have changed since" not in half.out + again.out + other_setting.out

    def test_makes_up_no_past(self, gap: Project, command: Command) -> None:
        """Without a stored day there is nothing to catch up: `backfill` does the past."""
        shutil.rmtree(gap.folder / "store")

        assert command(*RUN, "--begin").code == 0
        assert stored_days(gap) == [5]

    def test_a_day_that_is_damaged_fails_no_later_run(self, gap: Project, command: Command) -> None:
        """The message says that the day is still missing, and the run ends with code 0."""
        gap.path("predictions", THIRD).write_bytes(b"no Parquet")

        ended = command(*RUN)

        assert ended.code == 0
        assert "Still missing: ctr 2026-03-03: " in ended.out
        assert stored_days(gap) == [1, 2, 4, 5]


class TestTurns:
    """Two processes never write results of the same model at once."""

    def test_a_second_process_waits(self, project: Project, tmp_path: Path) -> None:
        """It names the first one, and goes on when that has finished."""
        call = "evaluate --from 2026-03-01 --to 2026-03-02"
        before = project.results()
        with ExitStack() as held:
            held.enter_context(Store(str(project.folder / "store")).locked("ctr"))
            with started(tmp_path, COMMAND, *call.split()) as second:
                said = second.complained
                waits = f"ctr: waits until process {os.getpid()} on "
                wait_for(second, lambda: waits in said.read_text() or None)
                held.close()
                code = second.process.wait(PATIENCE)

        assert code == 0
        assert project.results() == before

    def test_a_second_process_stops_if_it_must_not_wait(
        self, project: Project, command: Callable[..., Ended]
    ) -> None:
        """It names the first one, changes nothing, and ends like a run of bad logs."""
        call = "run --day 2026-03-02"
        before = project.results()
        with Store(str(project.folder / "store")).locked("ctr"):
            ended = command(*call.split(), "--no-wait")

        assert ended.code == 3
        assert f"ctr: process {os.getpid()} on " in ended.err
        assert "works on this model; run again when it has finished" in " ".join(ended.err.split())
        assert project.results() == before
