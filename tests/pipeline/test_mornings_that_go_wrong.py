"""Logs that are deleted, replaced, late, empty or unreadable: other days go on."""

import shutil
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy.special import expit

from monitor.config import Config, load_config
from monitor.pipeline.days.task import Task
from monitor.pipeline.runs.morning import Call, plan_morning
from monitor.pipeline.runs.planning import Plan, plan
from monitor.pipeline.runs.run import RunReport, run
from monitor.store.store import Store
from tests.support.cases import some

FIRST, STORED, ROWS = date(2026, 1, 1), 12, 120
NOON = datetime(2026, 12, 31, 12, tzinfo=UTC)
CONFIG = f"""\
store: store
models:
  m:
    predictions: {{path: "p/{{day}}.parquet", id: id, score: score}}
    outcomes: {{path: "o/{{day}}.parquet", id: id, outcome: outcome}}
    settled_after: 1
    windows: [1, 3]
    verdicts: {{references: [{{first: {FIRST}, last: {FIRST + timedelta(days=4)}}}]}}
"""
HARMS = "deleted", "replaced", "late", "no rows", "no bytes", "unreadable"
WORKS = "run", "backfill", "again", "killed"


def day(number: int) -> date:
    """Give a day by its number."""
    return FIRST + timedelta(days=number)


class Killed(BaseException):
    """Ends a run as a signal does, at a write."""


@dataclass(frozen=True)
class World:
    """The logs of a model, and its store."""

    folder: Path

    @property
    def config(self) -> Config:
        """Read its configuration."""
        return load_config(self.folder / "monitor.yaml")

    @property
    def store(self) -> Store:
        """Its store."""
        return Store(self.config.store)

    def log(self, kind: str, number: int) -> Path:
        """Name the file of a day."""
        return self.folder / kind / f"{day(number)}.parquet"

    def rows(self, number: int) -> dict[str, pa.Table]:
        """Draw both logs of a day."""
        chance = np.random.default_rng(number)
        logits = chance.normal(-1.0, 1.4, ROWS)
        came = chance.random(ROWS) < expit(logits)
        ids = np.array([f"{number}-{row}" for row in range(ROWS)])
        return {
            "p": pa.table({"id": ids, "score": expit(logits)}),
            "o": pa.table({"id": ids, "outcome": came.astype(int)}),
        }

    def write(self, number: int) -> None:
        """Write both logs of a day."""
        for kind, table in self.rows(number).items():
            self.log(kind, number).parent.mkdir(exist_ok=True)
            pq.write_table(table, self.log(kind, number))

    def harm(self, file: Path, how: str) -> None:
        """Do something to a file; one that is late is moved aside."""
        whole = self.rows((date.fromisoformat(file.stem) - FIRST).days)[file.parent.name]
        if how == "deleted":
            file.unlink()
        elif how == "replaced":
            pq.write_table(whole.slice(1), file)
        elif how == "late":
            file.rename(file.with_suffix(".late"))
        elif how == "no rows":
            pq.write_table(whole.slice(0, 0), file)
        else:
            file.write_bytes(b"" if how == "no bytes" else b"no Parquet")

    def come(self) -> None:
        """Bring the files that were late."""
        for file in [*self.folder.glob("?/*.late")]:
            file.rename(file.with_suffix(".parquet"))

    def backfill(self, first: int, last: int, *, again: bool = False) -> RunReport:
        """Process a range of days."""
        task = Task("m", day(first), day(last), day(last + 2), skip_unchanged=not again)
        return run(self.config, task, clock=lambda: NOON)

    def planned(self, first: int, last: int, *, again: bool = False) -> Plan:
        """Say what `backfill` would do."""
        task = Task("m", day(first), day(last), day(last + 2), skip_unchanged=not again)
        return plan(self.config, task)

    def task(self, number: int) -> Task:
        """Plan the morning on which a day has settled, if its logs are there."""
        task = plan_morning(self.config, "m", Call(day(number + 2))).task
        assert task
        return task

    def morning(self, number: int) -> RunReport:
        """Run that morning."""
        return run(self.config, self.task(number), clock=lambda: NOON)


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Store some days."""
    world = World(tmp_path_factory.mktemp("started"))
    (world.folder / "monitor.yaml").write_text(CONFIG)
    for number in range(STORED + 1):
        world.write(number)
    assert world.backfill(0, STORED - 1).failures == ()
    return world.folder


@pytest.fixture
def world(started: Path, tmp_path: Path) -> World:
    """Copy the world."""
    shutil.copytree(started, tmp_path / "world")
    return World(tmp_path / "world")


def test_a_day_that_cannot_be_read_again_keeps_its_result(world: World) -> None:
    """Two days are to be read again, but outcomes are deleted; the other mornings go on."""
    kept = [world.store.content("summaries", "m", day(number)) for number in (7, 8)]
    world.harm(world.log("o", 8), "deleted")
    world.harm(world.log("p", 6), "replaced")

    planned = world.planned(6, 6)
    report = world.backfill(6, 6)

    assert report.failures == ()
    assert [failure.day for failure in report.still_missing] == [day(7), day(8)]
    assert all(f"{world.log('o', 8)}" in failure.message for failure in report.still_missing)
    assert (planned.summarise, planned.still_missing) == (report.summarised, report.still_missing)
    assert set(report.evaluated) <= {*planned.evaluate, *planned.perhaps}
    assert world.store.unfinished("m") is None
    assert [world.store.content("summaries", "m", day(number)) for number in (7, 8)] == kept
    world.write(STORED + 1)
    assert world.morning(STORED).summarised == (day(STORED),)
    assert world.store.days("verdicts", "m")[-1] == day(STORED)


def test_a_run_finishes_what_one_before_it_left(world: World) -> None:
    """A killed backfill of earlier days is finished by the next morning, as the plan says."""
    shutil.rmtree(world.folder / "store")
    world.backfill(6, STORED - 1)
    whole = World(world.folder.with_name("whole"))
    shutil.copytree(world.folder, whole.folder)
    whole.backfill(0, 5)
    world.store.mark_stale("m", day(0), day(5))

    planned = world.planned(STORED - 1, STORED - 1)
    report = world.backfill(STORED - 1, STORED - 1)

    assert report.summarised == tuple(map(day, range(6)))
    assert (planned.summarise, planned.evaluate) == (report.summarised, report.evaluated)
    for number in range(STORED):
        for kind in ("summaries", "evaluations", "verdicts"):
            found, wanted = (each.store.content(kind, "m", day(number)) for each in (world, whole))
            assert found == wanted, (kind, number)


@pytest.mark.parametrize("seed", some(range(24), 6))
def test_whatever_happens_to_logs_the_newest_settled_day_is_judged(
    world: World, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    """After at most one more run it has its verdict, or the reason names its own file."""
    chance, newest = np.random.default_rng(seed), STORED - 1
    for _ in range(2):
        days = set(world.store.days("summaries", "m"))
        for _ in range(chance.integers(1, 3)):
            file = world.log(str(chance.choice(["p", "o"])), newest - int(chance.integers(-1, 11)))
            if file.exists():
                world.harm(file, str(chance.choice(HARMS)))
        first = newest - int(chance.integers(0, 8))
        last = min(newest, first + int(chance.integers(0, 4)))
        work = str(chance.choice(WORKS))
        if chance.random() < 0.5:
            world.come()
        if work == "killed":
            with monkeypatch.context() as patched:
                killed_after(patched, int(chance.integers(1, 25)))
                with suppress(Killed):
                    world.backfill(first, last, again=True)
        elif work != "run":
            check_plan(world, first, last, again=work == "again")
        world.come()
        newest += 1
        world.write(newest + 1)
        settled = world.task(newest).last
        reasons = reasons_of_no_verdict(world, newest, settled)
        number = (settled - FIRST).days
        own = [world.log("p", number), world.log("o", number), world.log("o", number + 1)]
        assert not reasons or any(str(file) in reasons for file in own), reasons
        assert days <= set(world.store.days("summaries", "m"))
        assert world.store.unfinished("m") is None


def killed_after(patched: pytest.MonkeyPatch, writes: int) -> None:
    """End a run at one of its writes."""
    write, done = Store._replace, [0]

    def writes_or_ends(store: Store, name: str, content: bytes) -> None:
        done[0] += 1
        if done[0] > writes:
            raise Killed
        write(store, name, content)

    patched.setattr(Store, "_replace", writes_or_ends)


def check_plan(world: World, first: int, last: int, *, again: bool) -> None:
    """Run a backfill, which does what its plan says, but for rows that break the contract."""
    planned = world.planned(first, last, again=again)
    report = world.backfill(first, last, again=again)
    assert set(planned.failures) <= set(report.failures)
    if planned.failures == report.failures and planned.still_missing == report.still_missing:
        assert planned.summarise == report.summarised
        assert planned.unchanged == report.unchanged
        evaluated = set(report.evaluated)
        assert {*planned.evaluate} <= evaluated <= {*planned.evaluate, *planned.perhaps}


def reasons_of_no_verdict(world: World, number: int, settled: date) -> str:
    """Run a morning, and once more if the newest settled day has no verdict; say why it has none.

    A verdict that only says why the day has no summary is none.
    """
    reasons = ""
    for _ in range(2):
        report = world.morning(number)
        reasons = "\n".join(failure.message for failure in report.failures)
        if all(settled in world.store.days(kind, "m") for kind in ("summaries", "verdicts")):
            return ""
    return reasons or "no verdict and no reason"
