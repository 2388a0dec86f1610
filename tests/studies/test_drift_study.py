"""The study of the verdict counts, estimates and lays out what it should."""

import json
import subprocess
import sys
from dataclasses import asdict, fields
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom, chi2

from studies.drift.estimates import median, print_median, print_rate, rate
from studies.drift.layout import PAGE, replace_section
from studies.drift.page import markdown, missed
from studies.drift.picture import draw
from studies.drift.rough_tables import recovery, starts
from studies.drift.rules import Opening
from studies.drift.run import BEGIN, END, main, remembered
from studies.drift.scenario import START
from studies.drift.scenarios import SCENARIOS
from studies.drift.tables import OURS, delay, delays
from studies.drift.watch import COMPARED, FIRST_SEED, Task, since, tasks, watch
from tests.support.paths import ROOT


def opened(day: int, lasted: int = 5, kind: str = "too_extreme") -> dict[str, Any]:
    """Note an opening as the study does; its start lies in an interval of three days."""
    starts = {"started": day - 1, "start_low": day - 2, "start_high": day}
    return {"day": day, "kind": kind, "later": kind, "lasted": lasted, "gradual": False} | starts


@pytest.mark.parametrize("total", [0, 1, 3, 17])
def test_rate_of_independent_openings_has_exact_limits(total: int) -> None:
    """If no stream has two openings, the limits are those of a Poisson number."""
    value, low, high = rate([1] * total + [0] * (40 - total), years=2.0)

    assert value == total / 80
    assert high == pytest.approx(chi2.ppf(0.975, 2 * total + 2) / 2 / 80)
    assert low == pytest.approx(chi2.ppf(0.025, 2 * total) / 2 / 80 if total else 0.0)


def test_limits_of_a_rate_hold_it_though_openings_cluster() -> None:
    """95 % limits hold the true rate of gamma-Poisson streams nearly as often as they say."""
    rng = np.random.default_rng(1)
    true, shape = 0.5, 0.4  # variance 2.25 times the mean
    drawn = rng.poisson(rng.gamma(shape, true / shape, (600, 60)))
    limits = np.array([rate(list(counts)) for counts in drawn])
    held = np.mean((limits[:, 1] <= true) & (true <= limits[:, 2]))

    # 600 draws leave an error of 1 %. The ratio of variance and mean is estimated, too.
    assert held > 0.9


@pytest.mark.parametrize("n", [6, 9, 20, 40, 101])
def test_interval_of_a_median_is_the_narrowest_that_holds_it(n: int) -> None:
    """The interval of order statistics has 95 %, and the next narrower one has not."""
    _, low, high = median(range(1, n + 1))
    k = int(low)

    assert high == n + 1 - k
    assert 1 - 2 * binom.cdf(k - 1, n, 0.5) >= 0.95
    assert 1 - 2 * binom.cdf(k, n, 0.5) < 0.95


def test_few_delays_have_no_interval() -> None:
    """Three delays bound no median; what was not found is more than was followed."""
    assert print_median([3, 1, 2], 120) == "2 (0 to > 120)"
    assert print_median([inf] * 9 + [4], 120) == "> 120"
    assert print_rate([0] * 10) == "0 (to 0.37)"
    assert print_rate([1] + [0] * 9, goal=0.05).startswith("**0.10 (")


def test_delays_leave_out_streams_on_alarm() -> None:
    """An incident that was open when the drift began says nothing of the delay."""
    scenario = SCENARIOS["sound (5 %, 20k)"]
    found = [
        {"detector": [opened(START + 3)]},
        {"detector": [opened(START - 20, 5), opened(START + 8)]},
        {"detector": [opened(START - 20, 30), opened(START + 20)]},
        {"detector": []},
    ]

    assert delays(found, OURS, START) == [3, 8, inf]
    assert delay(found[2:3] * 2 + found[:1], OURS, scenario) == "always on"


def test_recovery_counts_from_the_end_of_the_drift() -> None:
    """Days until closed run from the drift's last day; an incident still open never closed."""
    scenario = SCENARIOS["sound (5 %, 20k)"]
    found = [
        {"detector": [opened(START + 2, 130 + days - 2)]} for days in (3, 5, 4, 4, 3, 5, 200, 4, 4)
    ]

    assert recovery(scenario, found) == ("1.00", "4 (3 to 5)")


def test_days_of_openings_count_from_the_last_reference() -> None:
    """What opened against an earlier reference has negative days; how long it lasted stays."""
    known = {field.name for field in fields(Opening)}
    values = {name: value for name, value in opened(10).items() if name in known}
    moved = {name: value for name, value in opened(-85).items() if name in known}

    assert since(Opening(**values), -95) == moved


def test_interval_of_the_start_is_compared_with_the_true_one() -> None:
    """An interval that ends before the drift began does not hold its start."""
    name = "sound (5 %, 20k)"
    results = {Task(name, "slope 0.8", seed): {"detector": [opened(START)]} for seed in range(8)}
    for seed in range(2):
        results[Task(name, "slope 0.8", seed)] = {"detector": [opened(START + 9)]}
    [_, _, row, _] = starts(results)

    # One in four starts eight days late; with four tries more, 8 of 12 hold it.
    assert row == "| 5 %, 20k | slope 0.8 | -1 (-1 to 8) | 75 ± 14 % | 2 |"


def test_watch_finds_a_drift_and_no_other() -> None:
    """A slope of 0.66 is found soon in 1,000 outcomes a day, after 28 sound days."""
    name = "a drift that stays (50 %, 1k)"
    found = watch(Task(name, "slope 0.66", 1))
    [first, *_] = found["detector"]

    assert START <= first["day"] <= START + 10
    assert first["kind"] == "too_extreme"


def test_tasks_are_those_of_the_worlds_asked_for() -> None:
    """A world is chosen by its name, with or without its size, and all of its drifts come."""
    some = list(tasks(2, 1, ["scores jump"]))
    one = list(tasks(2, 1, ["scores jump (5 %, 1k)"]))

    assert len(some) == 2 * len(one) == 8
    assert {task.drift for task in one} == {"sound", "slope 0.8", "slope 0.9"}


def invented(task: Task) -> dict[str, Any]:
    """Give a result without watching."""
    drifting = task.drift != "sound"
    result = {"detector": [opened(START + 2)] if drifting else [], "day_variance": 0.0}
    if SCENARIOS[task.scenario].group == "clean" and task.drift in COMPARED:
        result |= {key: {"raw ECE": value} for key, value in (("alerts", [3]), ("days", 9))}
        result["on"] = {"raw ECE": True}
    return result


def test_page_has_a_row_for_every_world() -> None:
    """Every world has a place on the page, and rows are as long as their heads."""
    text = markdown({task: invented(task) for task in tasks(2, 2)})
    blocks = [block.splitlines() for block in text.split("\n\n") if block.startswith("|")]

    for scenario in SCENARIOS.values():
        assert str(scenario.world) in text or scenario.group == "season"
        by_size = {"clean", "small", "for good", "season"}  # their rows name no world
        assert scenario.name in text or scenario.group in by_size
    assert len(blocks) >= 14
    assert all(len({line.count("|") for line in block}) == 1 for block in blocks)
    assert "nan" not in text


def test_page_of_one_world_has_its_table_only() -> None:
    """Worlds that were not watched leave no empty tables."""
    name = "clusters of one day"
    text = markdown({task: invented(task) for task in tasks(1, 1, [name])})

    assert [line for line in text.splitlines() if line.startswith("#")] == ["## Rougher worlds"]
    assert text.count("\n| ---") == 1
    assert f"| {name} |" in text


def test_picture_has_a_mark_for_every_rule(tmp_path: Path) -> None:
    """Both panels show our detector and the rule that was watched with it."""
    path = tmp_path / "picture.svg"
    draw({task: invented(task) for task in tasks(2, 9, ["sound (5 %, 20k)"])}, path)

    for words in ("slope 0.8; 5 %, 20k", "slope 0.9; 5 %, 20k", "raw ECE", OURS.strip("*")):
        assert f">{words}" in path.read_text()


def test_goals_that_are_not_reached_are_listed() -> None:
    """The promise allows 7.3 openings in 20 years; the limit of one in five is too high to tell."""
    results = {task: invented(task) for task in tasks(20, 9)}
    strict, lenient = "scores jump (5 %, 1k)", "clusters of one day (5 %, 20k)"
    slow = "sound (5 %, 20k)"
    for number in range(8):
        results[Task(strict, "sound", FIRST_SEED + number)] = {"detector": [opened(5)]}
    results[Task(lenient, "sound", FIRST_SEED)] = {"detector": [opened(5)]}
    for seed in range(FIRST_SEED, FIRST_SEED + 9):
        results[Task(slow, "slope 0.8", seed)] |= {"detector": [opened(START + 5)]}

    assert missed(results) == [
        f"{slow}: delay of slope 0.8",
        f"{strict}: 0.40 openings a stream-year",
    ]
    few = {task: found for task, found in results.items() if task.seed < FIRST_SEED + 5}
    assert f"{lenient}: up to 1.11 openings a stream-year, watch more streams" in missed(few)


def test_text_goes_between_the_markers() -> None:
    """The rest of the page stays."""
    page = f"before\n{BEGIN}\nold\n{END}\nafter\n"

    assert replace_section(page, "new\n", BEGIN, END) == f"before\n{BEGIN}\n\nnew\n\n{END}\nafter\n"
    assert replace_section(PAGE.read_text(), "new", BEGIN, END).count(END) == 1


def test_results_of_another_program_are_forgotten(tmp_path: Path) -> None:
    """Results count for the state of the method that gave them only."""
    path, task = tmp_path / "results.jsonl", Task("sound (5 %, 20k)", "sound", 3)
    lines = [{"state": s, "task": asdict(task), "result": {"of": s}} for s in ("old", "new")]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))

    assert remembered(path, "new") == {task: {"of": "new"}}
    assert remembered(path, "other") == {}
    assert remembered(tmp_path / "none", "new") == {}


def test_interrupted_run_is_taken_up_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A second run of one world watches nothing again and prints the same table."""
    asked = ["--only", "clusters of one day", "--streams", "1", "--drift-streams", "1"]
    asked += ["--results", str(tmp_path / "r.jsonl")]
    command = [sys.executable, "-m", "studies.drift.run", *asked]
    first = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    monkeypatch.setattr(sys, "argv", ["run", *asked])
    main()
    second = capsys.readouterr().out

    assert first.startswith("0 of 3 streams are known")
    assert second.startswith("3 of 3 streams are known")
    assert first.split("## ")[1:] == second.split("## ")[1:] != []
