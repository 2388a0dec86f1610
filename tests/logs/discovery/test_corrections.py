"""Outcomes that are corrected later: `init` waits for the correction, and the latest counts."""

from datetime import date, datetime, time, timedelta
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from monitor.config import TODO
from monitor.logs.discovery import Guess, guess
from tests.support.cases import some
from tests.support.undescribed import active

FIRST, ROWS = date(2026, 1, 1), 150


def write_logs(
    root: Path,
    rng: np.random.Generator,
    *,
    prompt: int,
    corrected: int,
    share: float,
    timed: bool = True,
    scored_at: bool = True,
) -> None:
    """Write outcomes that come after `prompt` days, and `share` of the ones as 0 until corrected.

    Some of the others are delivered again, unchanged, a day after the correction.
    """
    (root / "p").mkdir(parents=True)
    (root / "o").mkdir()
    days = corrected + 15
    came = dict[date, list[tuple[str, int, datetime]]]()

    def deliver(identity: str, outcome: int, day: date) -> None:
        came.setdefault(day, []).append((identity, outcome, datetime.combine(day, time(9))))

    for day in (FIRST + timedelta(n) for n in range(days)):
        scores = rng.beta(2, 3, ROWS)
        ids = [f"{day:%m%d}-{i:03}" for i in range(ROWS)]
        columns = {"txn": pa.array(ids), "score": pa.array(scores)}
        if scored_at:
            columns["scored_at"] = pa.array([datetime.combine(day, time(8))] * ROWS)
        pq.write_table(pa.table(columns), root / "p" / f"{day}.parquet")
        for identity, one in zip(ids, rng.random(ROWS) < scores, strict=True):
            hidden = one and rng.random() < share
            deliver(identity, int(one and not hidden), day + timedelta(prompt))
            if hidden:
                deliver(identity, 1, day + timedelta(corrected))
            elif rng.random() < 0.02:
                deliver(identity, int(one), day + timedelta(corrected + 1))
    for day, rows in came.items():
        if day < FIRST + timedelta(days):
            ids, outcomes, at = map(list, zip(*rows, strict=True))
            columns = {"txn": pa.array(ids), "is_fraud": pa.array(outcomes)}
            if timed:
                columns["updated_at"] = pa.array(at, pa.timestamp("us"))
            pq.write_table(pa.table(columns), root / "o" / f"{day}.parquet")


def found(root: Path) -> tuple[Guess, dict[str, object]]:
    """Guess, and give the settings that are written."""
    (only,) = guess([str(root)]).models
    return only, active(only)


@pytest.mark.parametrize("seed", some(range(6), 2))
def test_the_wait_is_that_of_the_correction(seed: int, tmp_path: Path) -> None:
    """Most outcomes are there at once, but the ones are complete only after their correction."""
    rng = np.random.default_rng(seed)
    prompt = int(rng.integers(0, 3))
    corrected = prompt + int([30, 12][seed] if seed < 2 else rng.integers(2, 31))
    scored_at = bool(seed % 2)
    share = float(rng.uniform(0.1, 0.6))
    write_logs(tmp_path, rng, prompt=prompt, corrected=corrected, share=share, scored_at=scored_at)

    _, written = found(tmp_path)

    assert written[".settled_after"] == corrected
    assert written["outcomes.duplicates"] == "latest"
    assert written["outcomes.time"] == "updated_at"


def test_without_a_time_a_person_decides(tmp_path: Path) -> None:
    """No column says which outcome is the latest, and to leave both out would favour the zeros."""
    rng = np.random.default_rng(9)
    write_logs(tmp_path, rng, prompt=1, corrected=8, share=0.4, timed=False)

    guessed, written = found(tmp_path)

    assert written[".settled_after"] == 8
    assert written["outcomes.duplicates"] == TODO
    (why,) = (s.why for s in guessed.settings if s.key == "duplicates")
    assert "no time says which is the latest" in why


def test_outcomes_that_come_again_unchanged_are_no_corrections(tmp_path: Path) -> None:
    """The wait is that of the first."""
    write_logs(tmp_path, np.random.default_rng(3), prompt=1, corrected=10, share=0.0)

    _, written = found(tmp_path)

    assert written[".settled_after"] == 1
    assert "outcomes.duplicates" not in written
