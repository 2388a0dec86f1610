"""Default scores and overwritten ones, from a folder of logs to what is said of them."""

import json
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy.special import expit
from typer.testing import CliRunner

from monitor.cli import app
from monitor.metrics.core.grid import Floats
from tests.support.cases import some

FIRST, ROWS, SOUND, BROKEN = date(2026, 1, 1), 2_000, 30, 3
BEGUN, LAST = FIRST + timedelta(SOUND), FIRST + timedelta(SOUND + BROKEN - 1)
Rewrite = Callable[[np.random.Generator, Floats], Floats]


def default(value: float) -> Rewrite:
    """Give 5 % of the rows one score."""
    return lambda rng, scores: np.where(rng.random(ROWS) < 0.05, value, scores)


def overwritten(_: np.random.Generator, scores: Floats) -> Floats:
    """Overwrite a band of scores."""
    return np.where((scores > 0.3) & (scores < 0.5), 0.9, scores)


def write_logs(folder: Path, rewrite: Rewrite) -> None:
    """Write a file for each day, with scores and outcomes; the last days are broken."""
    rng = np.random.default_rng(20_261_128)
    folder.mkdir()
    for number in range(SOUND + BROKEN):
        logits = rng.normal(-1.5, 1.3, ROWS)
        outcomes = rng.random(ROWS) < expit(logits + rng.normal(0.0, 0.3))
        scores = expit(logits) if number < SOUND else rewrite(rng, expit(logits))
        ids = np.arange(ROWS) + ROWS * number
        table = pa.table({"id": ids, "score": scores, "label": outcomes.astype(np.int8)})
        pq.write_table(table, folder / f"{FIRST + timedelta(number)}.parquet")


def call(*arguments: str) -> Any:
    """Run a command that gives JSON."""
    done = CliRunner().invoke(app, [*arguments, "--json"])
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


@pytest.mark.parametrize(
    ("rewrite", "said"),
    some(
        [
            (default(0.0), "5 % of the rows have the score 0 (none in the reference); "),
            (overwritten, " of the rows have the score 0.90 (0.0"),
        ],
        2,
    ),
)
def test_they_are_told_with_their_first_day(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rewrite: Rewrite, said: str
) -> None:
    """`init`, `backfill` and `show`: what broke, since when, and how often these rows come true."""
    monkeypatch.chdir(tmp_path)
    write_logs(tmp_path / "joined", rewrite)
    assert CliRunner().invoke(app, ["init", "."]).exit_code == 0
    call("backfill", "--from", f"{FIRST}", "--to", f"{LAST}")

    shown, incidents = call("show"), call("show", "--incidents")["incidents"]
    (incident,) = (each for each in incidents if each["kind"] == "place")
    verdict = shown["verdict"]

    assert verdict["state"] == "calibration_drift"
    assert said in verdict["reasons"][0]
    assert shown["trust"]["answer"].startswith("No: ")
    assert "Find what gives these rows their score" in shown["trust"]["step"]
    assert incident["start_low"] <= f"{BEGUN}" <= incident["start_high"]
    assert incident["opened"] == f"{BEGUN + timedelta(1)}"  # no page comes of one day alone
