import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from monitor.config import Config, load_config
from monitor.days.summary import days_between
from monitor.pipeline.days.task import Task
from monitor.pipeline.runs.morning import Call, plan_morning
from monitor.pipeline.runs.run import RunReport, run
from tests.support.cases import some
from tests.support.late_log import FIRST, write_late_log

DAYS, SETTLED_AFTER = 22, 3
LAST = FIRST + timedelta(days=DAYS - 1)
DRAWN = days_between(LAST - timedelta(days=4), LAST)  # the days whose order is drawn
BEFORE = DRAWN[0] - timedelta(days=1)
NOON = datetime(2026, 12, 31, 12, tzinfo=UTC)
KINDS = ("summaries", "evaluations", "verdicts")


@dataclass
class World:
    """A folder with the logs of a model and its store, in which logs come and go."""

    folder: Path
    whole: Path
    lost: set[Path] = field(default_factory=set)

    @property
    def config(self) -> Config:
        """Read its configuration."""
        return load_config(self.folder / "monitor.yaml")

    def run(self, day: date, *, catch_up: bool = False) -> RunReport:
        """Process a day as the run of its interval does in Airflow."""
        as_of = day + timedelta(days=SETTLED_AFTER + 1)
        call = Call(as_of, due=(day, day), catch_up=catch_up)
        task = plan_morning(self.config, "risk", call).task
        assert task
        return run(self.config, task, clock=lambda: NOON)

    def lose(self, log: Path, *, how: str) -> None:
        """Lose a log: all of it, half of its rows, or so that it cannot be read."""
        there = self.folder / log
        if how == "missing":
            there.unlink()
        elif how == "damaged":
            there.write_bytes(b"no Parquet")
        else:
            rows = pq.read_table(self.whole / log)
            pq.write_table(rows.slice(rows.num_rows // 2), there)
        self.lost.add(log)

    def restore(self, log: Path) -> None:
        """Bring the whole log back."""
        shutil.copyfile(self.whole / log, self.folder / log)
        self.lost.discard(log)

    def results(self) -> dict[str, bytes]:
        """Read every summary, evaluation and verdict."""
        store = self.folder / "store"
        return {
            str(path.relative_to(store)): path.read_bytes()
            for kind in KINDS
            for path in sorted((store / kind).rglob("2*.*"))
        }


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Process all days before those whose order is drawn."""
    folder = tmp_path_factory.mktemp("started")
    write_late_log(folder, rows=300, days=DAYS)
    reference = f"references: [{{first: {FIRST}, last: {FIRST + timedelta(days=13)}}}]"
    more = f"windows: [1, 3]\n    verdicts: {{{reference}}}"
    settings = (folder / "monitor.yaml").read_text().replace("windows: [1]", more)
    (folder / "monitor.yaml").write_text(settings)
    done = run(
        load_config(folder / "monitor.yaml"),
        Task("risk", FIRST, BEFORE, BEFORE + timedelta(days=SETTLED_AFTER + 1)),
        clock=lambda: NOON,
    )
    assert done.failures == ()
    return folder


@pytest.fixture(scope="module")
def serial(started: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Process the other days in their order, each once."""
    world = world_in(tmp_path_factory.mktemp("serial"), started)
    assert all(not world.run(day).failures for day in DRAWN)
    return world.results()


def world_in(folder: Path, started: Path) -> World:
    """Copy the world as it is before the days whose order is drawn."""
    shutil.copytree(started, folder, dirs_exist_ok=True)
    return World(folder, started)


def differences(found: dict[str, bytes], wanted: dict[str, bytes]) -> list[str]:
    """Name the files that differ, or are only on one side."""
    return sorted(
        name for name in found.keys() | wanted.keys() if found.get(name) != wanted.get(name)
    )


def logs_of(day: date) -> Iterator[Path]:
    """Name both logs of a day."""
    for kind in ("predictions", "outcomes"):
        yield Path("logs") / kind / f"{day}.parquet"


def logs_read_by(day: date) -> set[Path]:
    """Name the logs whose rows are those of a day."""
    due = days_between(day, day + timedelta(days=SETTLED_AFTER))
    outcomes = {Path(f"logs/outcomes/{each}.parquet") for each in due}
    return {Path(f"logs/predictions/{day}.parquet"), *outcomes}


def test_a_day_that_was_missing_leaves_no_trace(
    started: Path, serial: dict[str, bytes], tmp_path: Path
) -> None:
    """Days after it counted outcomes of its predictions as those of none, until it is there."""
    world = world_in(tmp_path, started)
    late = DRAWN[2]
    world.lose(Path(f"logs/predictions/{late}.parquet"), how="missing")
    failed = [day for day in DRAWN if world.run(day).failures]
    assert failed == [late]
    assert len(differences(world.results(), serial)) > 3

    world.restore(Path(f"logs/predictions/{late}.parquet"))
    report = world.run(late)

    assert set(report.summarised) > {late}
    assert differences(world.results(), serial) == []


@pytest.mark.parametrize("seed", some((1, 0, 2), 3))
def test_every_order_of_days_leaves_the_same_bytes(
    started: Path, serial: dict[str, bytes], tmp_path: Path, seed: int
) -> None:
    """Logs are late, damaged and cut off; days fail, are repeated, cleared and caught up."""
    world, chance = world_in(tmp_path, started), np.random.default_rng(seed)
    order = list(DRAWN)
    if seed % 3:  # else in their order, as a scheduler has them
        chance.shuffle(order)
    for log in [log for day in DRAWN for log in logs_of(day) if chance.random() < 0.25]:
        world.lose(log, how=str(chance.choice(["missing", "damaged", "cut off"])))
    world.lose(next(logs_of(order[0])), how="damaged")  # so that one fails at least
    runs = 0
    while order:
        day, lost = order.pop(0), set(world.lost)
        report = world.run(day, catch_up=chance.random() < 0.3)
        runs += 1
        if report.failures or lost.intersection(logs_read_by(day)):  # cleared, perhaps too early
            order.insert(chance.integers(len(order) + 1), day)
        elif chance.random() < 0.2:
            order.append(day)
        for log in [log for log in sorted(world.lost) if chance.random() < 0.15]:
            world.restore(log)

    assert runs > len(DRAWN)
    assert differences(world.results(), serial) == []
