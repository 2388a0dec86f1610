"""The study of the verdict counts, estimates and lays out what it should."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from studies.drift.page import markdown
from studies.drift.run import remembered
from studies.drift.scenario import START
from studies.drift.scenarios import SCENARIOS
from studies.drift.watch import COMPARED, Task, tasks


def opened(day: int, lasted: int = 5, kind: str = "too_extreme") -> dict[str, Any]:
    """Note an opening as the study does; its start lies in an interval of three days."""
    starts = {"started": day - 1, "start_low": day - 2, "start_high": day}
    return {"day": day, "kind": kind, "later": kind, "lasted": lasted, "gradual": False} | starts


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
