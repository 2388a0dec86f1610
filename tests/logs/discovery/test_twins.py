"""Columns whose names only case tells apart: `init` reads neither, whatever their order."""

from datetime import date, timedelta
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from monitor.config import TODO
from monitor.logs.discovery import Guesses, guess

DAYS = [date(2026, 1, 1) + timedelta(n) for n in range(12)]


def found(root: Path, twins: tuple[str, str], *, swapped: int, ending: str = "parquet") -> Guesses:
    """Write scores under the first name, noise under the second, and `chance`, another score."""
    rng = np.random.default_rng(1)
    for number, day in enumerate(DAYS):
        scores = rng.beta(1, 2, 300)
        pair = {twins[0]: scores, twins[1]: rng.random(300)}
        pair = pair if number < swapped else dict(reversed(pair.items()))
        labels = (rng.random(300) < scores).astype(int)
        table = pa.table({"Id": np.arange(300), **pair, "Label": labels})
        if ending == "csv":
            pyarrow.csv.write_csv(table, root / f"{day}.csv")
        else:
            pq.write_table(table, root / f"{day}.parquet")
    return guess([str(root)])


@pytest.mark.parametrize("ending", ["parquet", "csv"])
@pytest.mark.parametrize("swapped", [0, 6, 12])
def test_neither_is_the_score(swapped: int, ending: str, tmp_path: Path) -> None:
    """A person is told which columns to rename, and no name is invented."""
    (model,) = found(tmp_path, ("score", "Score"), swapped=swapped, ending=ending).models

    (score,) = (s.value for s in model.settings if s.key == "score")
    assert score == TODO
    assert any("Score" in doubt and "rename all but one" in doubt for doubt in model.doubts)


def test_twins_beside_the_score_are_no_trouble(tmp_path: Path) -> None:
    """The other columns are read as they are."""
    (model,) = found(tmp_path, ("chance", "notes"), swapped=12).models
    (plain,) = (s.value for s in model.settings if s.key == "score")
    for path in tmp_path.iterdir():
        table = pq.read_table(path)
        pq.write_table(table.append_column("Notes", table["notes"]), path)

    (model,) = guess([str(tmp_path)]).models
    (score,) = (s.value for s in model.settings if s.key == "score")
    assert score == plain == "chance"
