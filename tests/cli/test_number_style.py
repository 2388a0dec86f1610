"""Numbers are written in one style, whatever command prints them: 41 %, and -0.5 with a hyphen."""

import re
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from tests.support.undescribed import Rows, changed, history, put

Command = Callable[..., Any]
LOGS = history(delay=0.5, days=30, rows=200)
REFERENCE = {"first": LOGS.days[0], "last": LOGS.days[13]}
DRIFT_FROM = LOGS.days[18]
OTHER_STYLES = re.compile(r"\d%|\d\s?\u2212|\u2212\d|\d\u202f%|\d percent\b")
CALLS: tuple[tuple[str, ...], ...] = (
    ("check",),
    ("show",),
    ("show", "--model", "ctr", "--days", "20"),
    ("show", "--model", "ctr", "--incidents"),
    ("where", "--model", "ctr"),
    ("recalibrate", "--model", "ctr"),
    ("plan-labels", "ctr", "--budget", "50"),
    ("evaluate", "--model", "ctr", "--from", f"{LOGS.days[14]}", "--to", f"{LOGS.days[24]}"),
    ("report", "--out", "pages"),
)


def drifted(rows: Rows) -> list[float]:
    """Make scores too extreme."""
    log_odds = np.log(rows["score"]) - np.log1p(-np.array(rows["score"]))
    return [float(value) for value in 1 / (1 + np.exp(-2.2 * log_odds))]


def test_all_commands_write_numbers_alike(
    tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From `init` to the verdict nothing is printed in another style; some numbers are ratios."""
    monkeypatch.chdir(tmp_path)
    for day, rows in LOGS.predictions.items():
        shown = changed(score=drifted)(rows) if day >= DRIFT_FROM else rows
        put(tmp_path / f"ctr/p/{day}.parquet", shown)
    for day, rows in LOGS.outcomes.items():
        put(tmp_path / f"ctr/o/{day}.parquet", rows)

    printed = {("init",): command("init", "ctr")}
    config = yaml.safe_load((tmp_path / "monitor.yaml").read_text())
    by_country = {"column": "country", "values": ["DE", "FR"], "primary": True}
    settings = {"segments": [by_country], "windows": [1], "verdicts": {"references": [REFERENCE]}}
    config["models"]["ctr"] |= settings
    (tmp_path / "monitor.yaml").write_text(yaml.safe_dump(config))
    span = "--from", LOGS.days[0], "--to", LOGS.days[-1]
    until = LOGS.days[-1] + timedelta(20)
    printed["backfill",] = command("backfill", "--model", "ctr", *span, "--as-of", until)
    printed |= {call: command(*call) for call in CALLS}

    told = {call: ended.out + ended.err for call, ended in printed.items()}
    assert {call: ended.code for call, ended in printed.items() if ended.code} == {}
    for call, text in told.items():
        assert OTHER_STYLES.findall(text) == [], call
    assert sum(len(re.findall(r"\d %", text)) for text in told.values()) > 20
    assert not OTHER_STYLES.findall((tmp_path / "monitor.yaml").read_text())
