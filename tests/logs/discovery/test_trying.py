"""What the reader of runs finds on some days becomes settings, each with its reason."""

from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from monitor.config import TODO
from monitor.logs.discovery import Guess, guess, trying
from tests.support.undescribed import active

FIRST, DAYS, ROWS = date(2026, 5, 4), 8, 200
Columns = dict[str, list[object]]


def found(root: Path, wrong: dict[int, float], *, early: int = 0) -> Guess:
    """Write logs, of which the first rows of some days have other scores, and guess.

    So many outcomes of a day have a time before that of their prediction.
    """
    rng = np.random.default_rng(2)
    for log in ("p", "o"):
        (root / log).mkdir()
    for n in range(DAYS):
        scores = rng.beta(2, 3, ROWS)
        ids: list[object] = [f"{n}-{i:03}" for i in range(ROWS)]
        at = datetime.combine(FIRST + timedelta(n), time(8), UTC)
        hours = [-1] * early + [1] * (ROWS - early)
        scored: Columns = {"id": ids, "score": scores.tolist(), "at": [at] * ROWS}
        observed: Columns = {
            "id": [*ids],
            "label": (rng.random(ROWS) < scores).astype(int).tolist(),
            "seen_at": [at + timedelta(hours=h) for h in hours],
        }
        if n in wrong:
            scored["score"][:4] = [wrong[n]] * 4
        for log, columns in (("p", scored), ("o", observed)):
            pq.write_table(pa.table(columns), root / log / f"{FIRST + timedelta(n)}.parquet")
    (model,) = guess([str(root)]).models
    return model


@pytest.mark.parametrize("early", [0, 3])
def test_times_that_are_too_early_are_not_set(early: int, tmp_path: Path) -> None:
    """They are offered with the number, so that a run does not fail by them."""
    model = found(tmp_path, {}, early=early)

    times = {s.section: s for s in model.settings if s.key == "time"}
    assert [times[log].active for log in ("predictions", "outcomes")] == [not early] * 2
    said = f"{early * 4} sampled outcomes are earlier than their prediction"
    assert (said in times["outcomes"].why) == bool(early)
    assert "checks.outcome_early" not in active(model)


@pytest.mark.parametrize("broken", [range(DAYS), range(DAYS - 1, DAYS)])
def test_a_check_that_one_day_breaks_is_unsure(broken: range, tmp_path: Path) -> None:
    """That several days break it is how the log is."""
    model = found(tmp_path, dict.fromkeys(broken, 1.5))

    written = active(model)
    assert written["checks.score_out_of_range"] == "reject"
    assert len(model.doubts) == (len(broken) == 1)
    assert all(f"{FIRST + timedelta(DAYS - 1)}: 4 of {ROWS} rows" in d for d in model.doubts)


@pytest.mark.parametrize("large", [ROWS - 5, ROWS])  # four rows of each day are left out
def test_of_large_days_one_is_read(
    large: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A check that every day breaks is unsure then, as on one day."""
    monkeypatch.setattr(trying, "LARGE", large)
    model = found(tmp_path, dict.fromkeys(range(DAYS), 1.5))

    assert active(model)["checks.score_out_of_range"] == "reject"
    assert len(model.doubts) == (large < ROWS - 4)


def test_outcomes_that_contradict_on_a_day_are_to_decide(tmp_path: Path) -> None:
    """Two outcomes of one prediction at the same time: none is the latest."""
    found(tmp_path, {})
    for path in (tmp_path / "o").iterdir():
        rows = pq.read_table(path)
        turned = pa.array([int(label == 0) for label in rows["label"].to_pylist()[:3]])
        other = rows.slice(0, 3).set_column(1, "label", turned)
        pq.write_table(pa.concat_tables([rows, other]), path)

    (model,) = guess([str(tmp_path)]).models

    assert active(model)["outcomes.duplicates"] == TODO
    assert "contradict another of their prediction" in "".join(s.why for s in model.to_decide)
