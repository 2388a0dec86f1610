"""Outcomes beside the scores: the wait is their delay, and a share that never comes is none."""

from datetime import date, datetime, timedelta
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from monitor.logs.discovery import guess
from tests.support.cases import some

FIRST, DAYS = date(2026, 1, 1), 45


def found(root: Path, rng: np.random.Generator, came: np.ndarray, rows: int) -> object:
    """Write labels of which a share has come, by the age of the day; return `settled_after`."""
    for number, share in enumerate(came[::-1]):
        scores = rng.beta(2, 4, rows)
        ones = (rng.random(rows) < scores).astype(int).tolist()
        kept = rng.random(rows) < share
        labels = [one if keep else None for one, keep in zip(ones, kept, strict=True)]
        table = {"score": scores, "label": pa.array(labels, pa.int32())}
        pq.write_table(pa.table(table), root / f"{FIRST + timedelta(number)}.parquet")
    (model,) = guess([str(root)]).models
    (wait,) = (s.value for s in model.settings if s.key == "settled_after")
    return wait


@pytest.mark.parametrize("seed", some(range(9), 3))
def test_outcomes_that_never_come_are_not_waited_for(seed: int, tmp_path: Path) -> None:
    """Whatever share is never labelled, and if that share is another one each day."""
    rng = np.random.default_rng(seed)
    usual = rng.uniform(0.1, 0.99) if seed else 0.7
    moves = 0.1 * usual * (1 - usual) * rng.normal(size=DAYS) * (seed % 2)

    assert found(tmp_path, rng, usual + moves, int(rng.integers(200, 1500))) == 0


@pytest.mark.parametrize("sentinel", [None, datetime.combine(date.max, datetime.min.time())])
def test_a_0_whose_time_means_not_yet_is_no_outcome(
    sentinel: datetime | None, tmp_path: Path
) -> None:
    """The label is 0 until somebody looked; a time that only positives have says nothing of it."""
    rng, rows = np.random.default_rng(7), 900
    days = np.repeat([datetime.combine(FIRST, datetime.min.time())], rows * DAYS).astype("M8[us]")
    days += np.repeat(np.arange(DAYS), rows) * np.timedelta64(1, "D")
    scores = rng.beta(2, 4, days.size)
    ones = rng.random(days.size) < scores
    waits = (days >= days[-1] - np.timedelta64(9, "D")) & (rng.random(days.size) < 0.4)
    seen = [
        sentinel if w else at for w, at in zip(waits, (days + 3_600_000_000).tolist(), strict=True)
    ]
    clicked = [at if one else None for one, at in zip(ones & ~waits, days.tolist(), strict=True)]
    table = {"score": scores, "scored_at": days, "label": np.where(waits, 0, ones).astype(int)}
    for name, times in (("seen", seen), ("clicked", clicked)):
        of = pa.table({**table, "observed_at": pa.array(times, pa.timestamp("us"))})
        (tmp_path / name).mkdir()
        pq.write_table(of, tmp_path / name / "all.parquet")

    (seen_model,), (clicked_model,) = (
        guess([str(tmp_path / name)]).models for name in ("seen", "clicked")
    )

    settings = {f"{s.section}.{s.key}".strip("."): s.value for s in seen_model.settings if s.active}
    check = "checks.outcome_time_" + ("impossible" if sentinel else "missing")
    assert settings["outcomes.time"] == "observed_at"
    assert (settings[check], settings["settled_after"]) == ("unknown", 10)
    assert not [s for s in clicked_model.settings if s.section == "outcomes" and s.key == "time"]


@pytest.mark.parametrize("seed", some(range(9), 3))
def test_a_delay_is_found_where_others_never_come(seed: int, tmp_path: Path) -> None:
    """Outcomes come evenly over some days, and some never."""
    rng = np.random.default_rng(100 + seed)
    delay, usual = int(rng.integers(1, 15)), float(rng.uniform(0.5, 1.0))
    came = usual * np.minimum(1.0, np.arange(DAYS) / delay)

    wait = found(tmp_path, rng, came, 1500)

    assert isinstance(wait, int)
    assert delay - 1 <= wait <= delay
