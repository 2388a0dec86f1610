"""Outcomes of some days of the week, and columns that change their name, are found by `init`."""

from datetime import date, timedelta
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from monitor.config import WEEKDAYS
from monitor.logs.discovery import Guess, configuration, guess
from tests.support.undescribed import active

FIRST = date(2026, 3, 2)  # a Monday
DAYS = [FIRST + timedelta(days=i) for i in range(25)]
RENAMED = DAYS[15]


def found(
    root: Path, reviewed_on: list[str], *, score: tuple[str, str], further: str | None = None
) -> Guess:
    """Write logs whose outcomes come on the next of some days of the week, and guess.

    The score has its first name on the first 15 days; `further` is a column that has come since.
    """
    rng = np.random.default_rng(3)
    awaited = list[tuple[int, int]]()
    for log in ("p", "o"):
        (root / log).mkdir(parents=True)
    for number, day in enumerate(DAYS):
        scores = rng.beta(2, 4, 120)
        ids = [number * 1000 + i for i in range(120)]
        columns = {"request": pa.array(ids), score[day >= RENAMED]: pa.array(scores)}
        if further and day >= RENAMED:
            columns[further] = pa.array(rng.integers(0, 900, 120))
        pq.write_table(pa.table(columns), root / "p" / f"{day}.parquet")
        awaited += zip(ids, (rng.random(120) < scores).astype(int).tolist(), strict=True)
        if WEEKDAYS[day.weekday()] in reviewed_on:
            requests, labels = map(list, zip(*awaited, strict=True))
            rows = pa.table({"request": requests, "label": labels})
            pq.write_table(rows, root / "o" / f"{day}.parquet")
            awaited = []
    (only,) = guess([str(root / "p"), str(root / "o")]).models
    return only


@pytest.mark.parametrize(("weekdays", "wait"), [(["fri"], 6), (["tue", "thu"], 4)])
def test_outcomes_of_some_days_of_the_week(weekdays: list[str], wait: int, tmp_path: Path) -> None:
    """They get a calendar, and a day waits a whole round, whatever days the sample has."""
    written = active(found(tmp_path, weekdays, score=("score", "score")))

    assert written["outcomes.calendar"] == {"weekdays": weekdays}
    assert written[".settled_after"] == wait


@pytest.mark.parametrize("days", [1, 5])
def test_outcomes_that_begin_later_have_a_calendar(days: int, tmp_path: Path) -> None:
    """The days before are closed, so that the days of predictions before need no file."""
    found(tmp_path, [*WEEKDAYS], score=("score", "score"))
    for day in DAYS[:days]:
        (tmp_path / "o" / f"{day}.parquet").unlink()
    (only,) = guess([str(tmp_path / "p"), str(tmp_path / "o")]).models

    first, last = DAYS[0], DAYS[days - 1]
    assert active(only)["outcomes.calendar"] == {"closed": [f"{first}/{last}"]}
    assert f"calendar: {{closed: [{first}/{last}]}}" in configuration([only], [])


def test_outcomes_of_all_days_have_no_calendar(tmp_path: Path) -> None:
    """Neither have those that come on the days of the predictions."""
    written = active(found(tmp_path, [*WEEKDAYS], score=("score", "score")))

    assert "outcomes.calendar" not in written


def test_a_score_that_got_another_name(tmp_path: Path) -> None:
    """The newest name counts; no row is said to lack its score, and the doubt has the setting."""
    one = found(tmp_path, [*WEEKDAYS], score=("prob", "score"))

    written = active(one)
    assert written["predictions.score"] == "score"
    assert "checks.score_missing" not in written
    assert any("write renamed: {prob: score} for that log" in doubt for doubt in one.doubts)


def test_a_column_that_came_is_no_doubt(tmp_path: Path) -> None:
    """Only where another went."""
    one = found(tmp_path, [*WEEKDAYS], score=("score", "score"), further="clicks_before")

    assert one.doubts == ()
    assert active(one)["predictions.score"] == "score"
