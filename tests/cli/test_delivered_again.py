"""Predictions that come again in the folder of a later day: `check` and the run say how many."""

import json
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

from monitor.config import load_config
from monitor.pipeline.days.task import Task
from monitor.pipeline.runs.scheduled import process
from tests.conftest import Ended, run_command
from tests.support.cases import some

FIRST, DAYS, ROWS = date(2026, 3, 2), 5, 400
LAST = FIRST + timedelta(DAYS - 1)
SEEM = "have id and score of one of"


def write_logs(
    root: Path,
    rng: np.random.Generator,
    *,
    again: dict[int, int],
    customers: bool = False,
    levels: int = 0,
) -> None:
    """Write logs in which some days, by number, have so many rows of the day before again.

    With `customers`, an id is that of a customer, who is scored anew every day. `levels` is the
    number of different scores, if there are few.
    """
    before: tuple[np.ndarray, np.ndarray] | None = None
    for log in ("p", "o"):
        (root / log).mkdir()
    for number in range(DAYS):
        day = FIRST + timedelta(number)
        ids = np.arange(ROWS) + (0 if customers else number * ROWS)
        scores = rng.beta(1, 3, ROWS)
        scores = np.round(scores * levels) / levels if levels else scores
        outcomes = {"id": ids, "outcome": (rng.random(ROWS) < scores).astype(int)}
        pq.write_table(pa.table(outcomes), root / f"o/{day}.parquet")
        old = again.get(number, 0)
        rows = {"id": ids, "score": scores}
        if before and old:
            chosen = rng.permutation(ROWS)[:old]
            rows = {
                n: np.append(v, b[chosen]) for (n, v), b in zip(rows.items(), before, strict=True)
            }
        pq.write_table(pa.table(rows), root / f"p/{day}.parquet")
        before = ids, scores
    model = {"predictions": {"path": "p/{day}.parquet", "id": "id"}, "settled_after": 0}
    model["outcomes"] = {"path": "o/{day}.parquet", "id": "id"}
    config = {"store": "store", "models": {"ctr": model}}
    (root / "monitor.yaml").write_text(yaml.safe_dump(config))


def call(root: Path, *arguments: object) -> Ended:
    """Run a command on the logs."""
    return run_command(*arguments, "--config", root / "monitor.yaml")


@pytest.mark.parametrize("seed", some(range(6), 5))
def test_a_day_says_how_many_were_there_the_day_before(
    seed: int, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A few after midnight, or all of a day, as where a consumer is set back.

    A scheduler such as Airflow has it in the log of its task.
    """
    rng = np.random.default_rng(seed)
    rows = int([8, ROWS][seed] if seed < 2 else rng.integers(1, ROWS + 1))
    write_logs(tmp_path, rng, again={DAYS - 1: rows})

    checked = call(tmp_path, "check", "--day", LAST)
    ran = call(tmp_path, "run", "--day", LAST, "--begin")

    said = f"{rows:,} of {ROWS + rows:,} predictions of {LAST}"
    for done in (checked, ran):
        assert done.code == 0, done.err
        (line,) = (line for line in done.out.splitlines() if SEEM in line)
        assert said in line
        assert f"{SEEM} {LAST - timedelta(1)}" in line

    config, task = (
        load_config(tmp_path / "monitor.yaml"),
        Task("ctr", LAST, LAST, LAST + timedelta(1)),
    )
    process(config, task, clock=lambda: datetime.now(UTC))
    assert any(said in record.getMessage() for record in caplog.records)


def test_a_backfill_names_the_day_that_is_too_large(tmp_path: Path) -> None:
    """It looks at the newest day, and at those with many more predictions than usual."""
    write_logs(tmp_path, np.random.default_rng(3), again={2: ROWS})

    done = call(tmp_path, "backfill", "--from", FIRST, "--to", LAST, "--json")

    ((again,),) = json.loads(done.out)["delivered_again"].values()
    assert again == {
        "day": f"{FIRST + timedelta(2)}",
        "before": f"{FIRST + timedelta(1)}",
        "rows": ROWS,
        "of": 2 * ROWS,
    }


@pytest.mark.parametrize("levels", [0, 3])
def test_what_chance_explains_is_silent(levels: int, tmp_path: Path) -> None:
    """A customer who is scored every day has scores of their own, or one of a few by chance."""
    write_logs(tmp_path, np.random.default_rng(4), again={}, customers=True, levels=levels)

    done = call(tmp_path, "backfill", "--from", FIRST, "--to", LAST)

    assert done.code == 0, done.err
    assert SEEM not in done.out + call(tmp_path, "check").out
