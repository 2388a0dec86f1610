"""The demo as a new user runs it: the real command on real flights, but only four weeks."""

import re
import shlex
import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from monitor.config import Config, load_config
from monitor.demo import demo
from monitor.demo import flight_classes as demo_classes
from monitor.demo import flights as demo_flights
from monitor.demo.flights import FlightsLogs, flight_table
from tests.support.flight_logs import class_logs, flight_logs
from tests.support.paths import ROOT

README = (ROOT / "README.md").read_text()
MODELS = ["flights", "flights-stretched", "flights-shifted", "flights-classes"]
# The longest window that ends with June; the logs are those of all ten months.
FIRST_DAY, MONTH_END = date(2013, 6, 3), date(2013, 6, 30)


@dataclass(frozen=True)
class Shown:
    """The folder of the demo, the numbers of its logs, and the output of the command."""

    folder: Path
    logs: FlightsLogs
    out: str

    @property
    def config(self) -> Config:
        """The configuration that the demo wrote."""
        return load_config(self.folder / "monitor.yaml")


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory, command: Callable[..., Any]) -> Shown:
    """Run the command; it gets all logs and processes the days of one window."""
    folder = tmp_path_factory.mktemp("demo") / "demo-data"
    flights, written, _ = flight_logs(tmp_path_factory)
    classes = class_logs(tmp_path_factory)

    def copy_and_shorten(root: Path) -> FlightsLogs:
        shutil.copytree(flights, root)
        return replace(written, first_day=FIRST_DAY, last_day=MONTH_END)

    def copy_classes(root: Path) -> None:
        shutil.copytree(classes, root, dirs_exist_ok=True)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(demo_flights, "write_flights_logs", copy_and_shorten)
        patch.setattr(demo_classes, "write_class_logs", copy_classes)
        ended = command("demo", "--into", folder, "--tables")
    assert ended.code == 0, ended.err
    return Shown(folder, written, ended.out)


def steps(shown: Shown) -> list[list[str]]:
    """Split the commands of the next steps into words, without the name of the program."""
    named = shown.out.partition("Try next:\n")[2].splitlines()
    commands = [shlex.split(line) for line in named if line.strip().startswith("calibration")]
    assert {words[0] for words in commands} == {"calibration-monitor"}
    return [words[1:] for words in commands]


def test_introduces_the_flights_as_they_are(shown: Shown) -> None:
    """The introduction has the counted numbers, and agrees with the README."""
    said = " ".join(shown.out.split())
    intro = " ".join(README.split())
    calmest, worst = (
        f"{100 * day.late_share:.0f} %" for day in (shown.logs.calmest, shown.logs.worst)
    )

    assert said.startswith(
        f"284,821 real flights from New York, {FIRST_DAY} to {MONTH_END}. A model trained on "
        "January and February predicts how likely each is to arrive more than 15 minutes late. "
        f"On the calmest day 4 % were late ({shown.logs.calmest.day}), on the worst 79 % "
        f"({shown.logs.worst.day}): these are real prior shifts."
    )
    assert (calmest, worst) == ("4 %", "79 %")
    assert f"takes {len(flight_table()):,} real flights" in intro
    assert "On the calmest day 4 % of the flights are late, on the worst 79 %" in intro
    assert "logits times 1.6 from 2013-06-01 on" in said
    assert "logits stretched by 1.6 from June on" in intro
    assert "flights-classes four classes: on time, late, very late, cancelled" in said


def test_shows_the_numbers_of_the_readme(shown: Shown) -> None:
    """The README's rows of June, one of each model, are what the command prints."""
    rows = re.findall(rf"^ *{MONTH_END}  .*%.*$", README, re.MULTILINE)

    assert len(rows) == len(MODELS)
    for row in rows:
        assert row.split() in [line.split() for line in shown.out.splitlines()]


def test_collects_the_drifts_of_every_model(shown: Shown) -> None:
    """All models are listed; four weeks are too short for a drift from a reference of four."""
    assert (
        len(shown.out.partition("All drifts that were found")[0].splitlines()) <= 80
    )  # without --tables
    assert [line.split() for line in shown.out.splitlines() if "none" in line] == [
        [name, "none"]
        for name in (*MODELS, *MODELS)  # at a first look, and of all
    ]


def test_repairs_the_stretched_model_only(shown: Shown) -> None:
    """A map of three weeks after the damage is worth it for that model, and gains afterwards."""
    found = demo.repairs(shown.config)
    stretched, untouched = found["flights-stretched"], found["flights"]
    lines = {tuple(line.split()[:3]) for line in shown.out.splitlines()}

    assert (stretched.fitted.worth_it, untouched.fitted.worth_it) == (True, False)
    assert stretched.came
    assert stretched.came.shape.value > 0.0  # nine days are too few for an interval
    assert stretched.came.last == MONTH_END
    for name, repair in found.items():
        worth_it = "yes" if repair.fitted.worth_it else "no"
        assert (name, repair.fitted.content.map.kind, worth_it) in lines
    assert demo.repair_conclusion() in shown.out


def test_what_to_try_next_can_be_done(shown: Shown, command: Callable[..., Any]) -> None:
    """Every suggested command that ends succeeds and mentions its model."""
    named = steps(shown)
    done = [words for words in named if words[0] not in {"serve", "demo"}]
    ended = {" ".join(words): command(*words) for words in done}

    assert [words[0] for words in named] == ["show", "show", "show", "check", "demo", "serve"]
    assert all(f"{shown.folder}" in " ".join(words) for words in named)
    for call, end in ended.items():
        assert end.code == 0, f"{call}: {end.err}"
        assert "flights" in end.out
        assert "Traceback" not in end.err


def test_ends_with_the_path_of_a_report_page(shown: Shown) -> None:
    """The first look ends with the page of the model that was damaged, and it is there."""
    page = Path(shown.out.partition("in your browser:\n")[2].split()[0])

    assert page == shown.folder / "reports" / "models" / "flights-stretched.html"
    assert "<title>flights-stretched: " in page.read_text()
