"""The study of the verdict counts, estimates and lays out what it should."""

import json
from dataclasses import asdict
from math import inf
from pathlib import Path
from typing import Any

import pytest
from scipy.stats import binom, chi2

from studies.drift.estimates import median, rate
from studies.drift.page import markdown
from studies.drift.run import remembered
from studies.drift.scenario import START
from studies.drift.scenarios import SCENARIOS
from studies.drift.tables import OURS, delay, delays
from studies.drift.watch import COMPARED, Task, tasks, watch


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


@pytest.mark.parametrize("n", [6, 9, 20, 40, 101])
def test_interval_of_a_median_is_the_narrowest_that_holds_it(n: int) -> None:
    """The interval of order statistics has 95 %, and the next narrower one has not."""
    _, low, high = median(range(1, n + 1))
    k = int(low)

    assert high == n + 1 - k
    assert 1 - 2 * binom.cdf(k - 1, n, 0.5) >= 0.95
    assert 1 - 2 * binom.cdf(k, n, 0.5) < 0.95


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


def test_watch_finds_a_drift_and_no_other() -> None:
    """A slope of 0.66 is found soon in 1,000 outcomes a day, after 28 sound days."""
    name = "a drift that stays (50 %, 1k)"
    found = watch(Task(name, "slope 0.66", 1))
    [first, *_] = found["detector"]

    assert START <= first["day"] <= START + 10
    assert first["kind"] == "too_extreme"


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


def test_results_of_another_program_are_forgotten(tmp_path: Path) -> None:
    """Results count for the state of the method that gave them only."""
    path, task = tmp_path / "results.jsonl", Task("sound (5 %, 20k)", "sound", 3)
    lines = [{"state": s, "task": asdict(task), "result": {"of": s}} for s in ("old", "new")]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))

    assert remembered(path, "new") == {task: {"of": "new"}}
    assert remembered(path, "other") == {}
    assert remembered(tmp_path / "none", "new") == {}
