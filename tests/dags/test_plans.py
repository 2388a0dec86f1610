"""The command and the DAGs plan the same: in random situations both would do equal tasks."""

import json
import os
import random
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pytest
import yaml

from monitor.config import Config, load_config
from monitor.days.summary import Segment, Summary, days_between, end_of_day
from monitor.metrics.core.tally import tally_on_grid
from monitor.store.store import Store
from tests.support.paths import ROOT

SITUATIONS = 80
ZONES = "UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "Pacific/Auckland"
SEGMENT = Segment(tally_on_grid(np.array([False, True, True]), np.array([0.2, 0.4, 0.6])), 3)
ONE = timedelta(days=1)


@dataclass(frozen=True)
class Seen:
    """One model of a situation.

    `plan` is what its DAG and the command would do. `is_logged` says that nothing is missing in
    the logs of the days that its interval settled.
    """

    name: str
    of_batch: bool
    when: Mapping[str, Any]
    settings: Mapping[str, Any]
    plan: Mapping[str, Any]
    is_logged: bool

    @property
    def is_new(self) -> bool:
        """Whether the DAG waits for its first day to settle."""
        return self.plan["run"] is None

    @property
    def is_by_schedule(self) -> bool:
        """Whether it is neither a backfill nor a day that a person asks for."""
        return self.when["run_type"] == "scheduled"

    @property
    def is_one_day(self) -> bool:
        """Whether one day settled in its interval."""
        return self.plan["span"][0] == self.plan["span"][1]


def which(task: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """Give the days of a task, without how they are processed.

    A schedule knows that its days have settled, and a batch that begins again skips what is done.
    """
    return task and {k: v for k, v in task.items() if k not in {"must_settle", "skip_unchanged"}}


def draw_run(chance: random.Random) -> dict[str, Any]:
    """Draw a schedule, a moment in weeks in which clocks change, and what kind of run it is."""
    zone, kind = (
        chance.choice(ZONES),
        chance.choice(["scheduled", "scheduled", "manual", "backfill"]),
    )
    minute, hour = chance.randrange(60), chance.randrange(24)
    others = f"{minute} {hour} * * 1-5", f"{minute} * * * *", f"{minute} {hour} 1,15 * *"
    begin = datetime(2026, 3, 20, tzinfo=ZoneInfo(zone))
    moment = begin + timedelta(hours=chance.randrange(24 * 21))
    return {
        "schedule": f"{minute} {hour} * * *" if chance.random() < 0.6 else chance.choice(others),
        "time_zone": zone,
        "moment": moment.isoformat(),
        "began_after": chance.choice([1, 50, 600, 60 * 48]),
        "run_type": kind,
        "day": f"{moment.date() - ONE * chance.randrange(1, 9)}" if kind == "manual" else None,
    }


def draw_model(chance: random.Random, name: str, when: Mapping[str, Any]) -> dict[str, Any]:
    """Draw the settings of a model."""
    around = datetime.fromisoformat(when["moment"]).date()
    more = chance.choice(
        [
            {},
            {},
            {"calendar": {"weekdays": ["mon", "tue", "wed", "thu", "fri"]}},
            {"calendar": {"closed": sorted({around - ONE * chance.randrange(9) for _ in "ab"})}},
            {"checks": {"accept": ["missing_day"]}},
        ]
    )
    return {
        "predictions": {"path": f"logs/{name}/predictions/{{day}}.parquet"},
        "outcomes": {"path": f"logs/{name}/outcomes/{{day}}.parquet"},
        "schedule": when["schedule"],
        "time_zone": when["time_zone"],
        "settled_after": chance.choice([0, 1, 2, 3, 5, 28]),
        "catch_up_days": chance.randrange(8),
        "windows": [1],
    } | more


def lay_out_logs(chance: random.Random, logs: Path, moment: datetime) -> None:
    """Make the files of the logs, some of which are missing; nobody looks into them."""
    around = moment.date()
    begin = around - ONE * chance.choice([1, 2, 4, 9, 20, 30])
    holes = chance.choice([0, 0, 0.1])
    for log in ("predictions", "outcomes"):
        place = logs / log
        place.mkdir(parents=True)
        for day in days_between(begin, around - ONE * chance.choice([0, 1, 1, 1, 2, 4])):
            if chance.random() >= holes:
                (place / f"{day}.parquet").touch()


def lay_out_store(chance: random.Random, config: Config, name: str, logs: Path) -> None:
    """Store what earlier runs may have left: days that are final, or not, or without a record."""
    model, store = config.model(name), Store(config.store)
    logged = sorted((logs / "predictions").iterdir())
    for path in logged[: -chance.randrange(1, 7)]:
        if chance.random() < 0.2:
            continue
        day = date.fromisoformat(path.stem)
        known_at = end_of_day(day, model.time_zone)
        final = chance.random() < 0.8
        store.write_summary(
            Summary(name, (day,), {"all": SEGMENT}, {}, final=final, known_at=known_at)
        )


def write_config(folder: Path, models: Mapping[str, Any]) -> None:
    """Write a file for each model, so that a call for one reads no others."""
    (folder / "models").mkdir()
    (folder / "monitor.yaml").write_text("store: store\n", encoding="utf-8")
    for name, settings in models.items():
        written = yaml.safe_dump(settings)
        (folder / "models" / f"{name}.yaml").write_text(written, encoding="utf-8")


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> list[Seen]:
    """Draw situations, lay them out, and ask the DAGs and the command in a process with Airflow."""
    folder = tmp_path_factory.mktemp("plans")
    situations, models = [], dict[str, dict[str, Any]]()
    for number in range(SITUATIONS):
        chance = random.Random(number)  # noqa: S311 - no secret
        when, of_batch = draw_run(chance), chance.random() < 0.3
        names = [f"m{number}-{place}" for place in range(chance.randrange(1, 4) if of_batch else 1)]
        models |= {name: draw_model(chance, name, when) for name in names}
        situations.append({"names": names, "of_batch": of_batch, **when})
    write_config(folder, models)
    config = load_config(folder)
    assert not config.invalid
    for situation in situations:
        for name in situation["names"]:
            chance = random.Random(name)  # noqa: S311
            lay_out_logs(
                chance, folder / "logs" / name, datetime.fromisoformat(situation["moment"])
            )
            lay_out_store(chance, config, name, folder / "logs" / name)
    return [
        Seen(
            name,
            situation["of_batch"],
            situation,
            models[name],
            plan,
            is_logged(folder / "logs" / name, *plan["span"]),
        )
        for situation, plans in zip(situations, ask(folder, situations), strict=True)
        for name, plan in plans.items()
    ]


def ask(folder: Path, situations: Sequence[Mapping[str, Any]]) -> Any:
    """Let a process with Airflow say what would be done."""
    (folder / "situations.json").write_text(json.dumps(situations), encoding="utf-8")
    others = {k: v for k, v in os.environ.items() if not k.startswith(("AIRFLOW", "PYTHONWARN"))}
    done = subprocess.run(
        [sys.executable, "-m", "tests.support.airflow_plans", folder],
        env=others | {"AIRFLOW_HOME": str(folder / "airflow")},
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads((folder / "plans.json").read_text(encoding="utf-8"))


def is_logged(logs: Path, first: str, last: str, as_of: str) -> bool:
    """Say whether a log has all days, and the other all that may have outcomes of them."""
    begin, end, after = map(date.fromisoformat, (first, last, as_of))
    needed = {"predictions": days_between(begin, end), "outcomes": days_between(begin, after - ONE)}
    return all((logs / log / f"{day}.parquet").exists() for log in needed for day in needed[log])


class TestPlans:
    """Whatever is drawn, the DAG and the command would do the same."""

    def test_by_the_schedule(self, seen: list[Seen]) -> None:
        """If the logs of the day that is due are there, `run` on that morning is the same task."""
        cases = [
            one
            for one in seen
            if one.is_by_schedule and one.is_one_day and one.is_logged and not one.is_new
        ]

        for one in cases:
            assert which(one.plan["run"]) == which(one.plan["command"]), one
            assert one.plan["awaited"] is None, one
        assert len(cases) >= 10
        assert sum(bool(one.plan["run"]["catch_up"]) for one in cases) >= 5
        assert sum(one.of_batch for one in cases) >= 3

    def test_later_days(self, seen: list[Seen]) -> None:
        """The two tasks of a DAG together are what `run --unsettled` does, on that day only."""
        cases = [
            one
            for one in seen
            if one.is_by_schedule and one.is_one_day and (one.is_logged or one.is_new)
        ]

        for one in cases:
            both, later = one.plan["command_unsettled"], one.plan["unsettled"]
            is_today = one.plan["began"] == one.plan["span"][2]
            assert (later is not None) == (is_today and both["last"] > one.plan["span"][1]), one
            before = {} if one.is_new else {"catch_up": one.plan["run"]["catch_up"]}
            assert not later or which(later | before) == which(both), one
        assert sum(bool(one.plan["unsettled"]) for one in cases) >= 8

    def test_a_new_model(self, seen: list[Seen]) -> None:
        """While no day has settled, neither does anything, and nothing is awaited."""
        cases = [one for one in seen if one.is_new]

        for one in cases:
            assert one.plan["command"] is None, one
            assert one.plan["awaited"] is None, one
            assert one.of_batch or "no day has settled yet" in one.plan["said"], one
        assert len(cases) >= 8

    def test_a_day_that_is_asked_for(self, seen: list[Seen]) -> None:
        """Only that day is processed, settled or not, as by `run --day`."""
        cases = [one for one in seen if one.when["day"]]

        for one in cases:
            run = one.plan["run"]
            assert run | {"skip_unchanged": False} == one.plan["submitted"], one
            assert [run["first"], run["last"], run["catch_up"]] == [one.when["day"]] * 2 + [[]], one
            assert one.plan["unsettled"] is None, one
        assert len(cases) >= 10

    def test_spans(self, seen: list[Seen]) -> None:
        """What a backfill and a long interval process is what `backfill` does with their dates."""
        cases = [
            one
            for one in seen
            if not one.is_new
            and not one.when["day"]
            and (one.when["run_type"] == "backfill" or not one.is_one_day)
        ]

        for one in cases:
            run = one.plan["run"]
            assert one.plan["words"][0] == "backfill", one
            assert which(run | {"catch_up": []}) == which(one.plan["submitted"]), one
            assert one.is_by_schedule or run["catch_up"] == [], one
        assert len(cases) >= 10
        assert sum(one.is_by_schedule for one in cases) >= 3

    def test_a_log_that_is_missing(self, seen: list[Seen]) -> None:
        """The DAG waits, then does the day that is due; the command does an older day, if any."""
        cases = [
            one
            for one in seen
            if one.is_by_schedule and one.is_one_day and one.plan["awaited"] and not one.is_new
        ]

        for one in cases:
            due, command = one.plan["span"][1], one.plan["command"]
            assert not one.is_logged, one
            assert [one.plan["run"]["first"], one.plan["run"]["last"]] == [due, due], one
            assert command is None or command["last"] <= due, one
        assert len(cases) >= 5

    def test_how_days_are_processed(self, seen: list[Seen]) -> None:
        """Days that are due have to settle; a batch that begins again skips what is done."""
        for one in seen:
            run, later = one.plan["run"], one.plan["unsettled"]
            asked = bool(one.when["day"])
            assert not run or run["must_settle"] != asked, one
            assert not run or run["skip_unchanged"] == one.of_batch, one
            assert not later or [later["must_settle"], later["skip_unchanged"]] == [False, True]

    def test_dates(self, seen: list[Seen]) -> None:
        """A daily interval settles the day before its last one, less `settled_after`."""
        cases = [
            one
            for one in seen
            if not one.when["day"]
            and one.when["schedule"].endswith("* * *")
            and one.when["schedule"].split()[1] != "*"
        ]

        for one in cases:
            first, last, as_of = map(date.fromisoformat, one.plan["span"])
            assert as_of - last == ONE * (1 + one.settings["settled_after"]), one
            assert first == last, one
            assert as_of in {
                (moment := datetime.fromisoformat(one.when["moment"]).date()),
                moment - ONE,
            }
        assert len(cases) >= 20
