"""Logs as services, warehouses and rotating programs write them: found, or refused by name."""

import base64
import gzip
import json
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from monitor.base.errors import DataError
from monitor.config import Model
from monitor.days.summary import whole
from monitor.logs import summarise_day
from monitor.logs.discovery import guess
from monitor.logs.discovery.guess import Guess

FIRST, DAYS, ROWS = date(2026, 3, 2), 6, 240
Rows = tuple[np.ndarray, np.ndarray, np.ndarray]  # ids, scores and outcomes
Write = Callable[[Path, date, Rows], None]


def write_logs(root: Path, write: Write) -> dict[date, Rows]:
    """Write some days, and give what is true of them."""
    rng, truth = np.random.default_rng(7), dict[date, Rows]()
    for number in range(DAYS):
        day = FIRST + timedelta(number)
        scores = rng.beta(1, 2, ROWS)
        ids = 10**6 + number * ROWS + np.arange(ROWS)
        truth[day] = ids, scores, (rng.random(ROWS) < scores).astype(int)
        write(root, day, truth[day])
    return truth


def parquet(root: Path, name: str, **columns: Any) -> None:
    """Write a Parquet file."""
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(columns), root / name)


def text(root: Path, name: str, content: str | bytes) -> None:
    """Write a file of text."""
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    (root / name).write_bytes(content if isinstance(content, bytes) else content.encode())


def lines(rows: list[dict[str, Any]]) -> str:
    """Write JSON lines."""
    return "".join(json.dumps(row) + "\n" for row in rows)


def labels(root: Path, day: date, rows: Rows) -> None:
    """Write the outcomes as they should be."""
    parquet(root, f"truth/{day}.parquet", id=rows[0], label=rows[2])


def rotated(root: Path, day: date, rows: Rows) -> None:
    """Two workers, whose logs have the day as their ending."""
    ids, scores, _ = rows
    for worker in (0, 1):
        kept = [{"id": int(k), "proba": p} for k, p in zip(ids, scores, strict=True)]
        ending = f".{day}" if day < FIRST + timedelta(DAYS - 1) else ""  # written still
        text(root, f"m/data/data.{worker}.log{ending}", lines(kept[worker::2]))
    labels(root, day, rows)


def compressed(root: Path, day: date, rows: Rows) -> None:
    """Members of gzip in one file, whose name says nothing else."""
    for log, values in (("p", rows[1]), ("y", rows[2])):
        kept = [{"id": int(k), log: v.item()} for k, v in zip(rows[0], values, strict=True)]
        parts = (gzip.compress(lines(kept[a : a + 60]).encode()) for a in range(0, ROWS, 60))
        name = f"{log}/{day:%Y/%m/%d}/{log}-1-{day}-00-05-{UUID(int=int(rows[0][0]))}.gz"
        text(root, name, b"".join(parts))


def quoted_late(root: Path, day: date, rows: Rows) -> None:
    """Quote a text only where it holds a comma, which the first rows do not show."""
    head = "" if day != FIRST else "day,id,score,shop,label\n"
    more = (
        f"{day},{k},{p:.6f},{'Shop' if k % 90 or day == FIRST else chr(34) + 'A, B' + chr(34)},{y}"
        for k, p, y in zip(*rows, strict=True)
    )
    with (root / "all.csv").open("a") as file:
        file.write(head + "".join(f"{line}\n" for line in more))


def encoded(root: Path, day: date, rows: Rows) -> None:
    """Write the score in base64."""
    kept = [base64.b64encode(f"{p:.6f}".encode()).decode() for p in rows[1]]
    parquet(root, f"payload/{day}.parquet", id=rows[0], data=kept)
    labels(root, day, rows)


def without_names(root: Path, day: date, rows: Rows) -> None:
    """Write whole numbers only into the outcomes, a file a day, so one file does not show it."""
    ids, scores, outcomes = rows
    of_scores = (f"{k},{p:.7f}\n" for k, p in zip(ids, scores, strict=True))
    text(root, f"p/ds={day}/p.csv", "".join(of_scores))
    text(root, f"o/{day}.csv", "".join(f"{k},{y}\n" for k, y in zip(ids, outcomes, strict=True)))


def settings_of(each: Guess) -> dict[str, Any]:
    """Give the settings as the file has them."""
    model: dict[str, Any] = {}
    for setting in each.settings:
        if setting.section == "checks":
            model.setdefault("checks", {}).setdefault(setting.value, []).append(setting.key)
        elif setting.active:
            place = model.setdefault(setting.section, {}) if setting.section else model
            place[setting.key] = setting.value
    return model


@pytest.mark.parametrize(
    "write",
    [rotated, compressed, quoted_late, without_names],
    ids=lambda write: write.__name__,
)
def test_init_reads_what_is_clear(write: Write, tmp_path: Path) -> None:
    """The guess has nothing to decide, and its counts are the truth."""
    truth = write_logs(tmp_path, write)

    (each,) = guess([str(tmp_path)]).models

    assert not each.to_decide
    model = Model.model_validate(settings_of(each))
    for day in (FIRST + timedelta(1), FIRST + timedelta(2)):  # columns may change their type
        part = whole(summarise_day("m", model, day, as_of=date(2026, 4, 1)))
        _, scores, outcomes = truth[day]
        assert (part.predicted, part.tally.total) == (ROWS, ROWS)
        assert part.tally.total_positives == outcomes.sum()
        mean = part.tally.scores @ part.tally.counts / part.tally.total
        assert mean == pytest.approx(scores.mean(), abs=1e-3)  # the grid of scores


def grown(root: Path, day: date, rows: Rows) -> None:
    """In the middle of a day the service begins to append a column."""
    later = [",12" * (j > ROWS // 2 and day == FIRST + timedelta(2)) for j in range(ROWS)]
    kept = (f"{k},{p:.6f},{y}{m}\n" for k, p, y, m in zip(*rows, later, strict=True))
    text(root, f"p/{day}.csv", "id,score,label\n" + "".join(kept))


def leftovers(root: Path, day: date, rows: Rows) -> None:
    """Beside one day lie a file of zero bytes, and one that only begins."""
    parquet(root, f"p/{day}/part-0.parquet", id=rows[0], score=rows[1], label=rows[2])
    if day == FIRST + timedelta(2):
        text(root, f"p/{day}/part-1.parquet", "PAR1")
        text(root, f"p/{day}/part-2.parquet", "")


def utf_16(root: Path, day: date, rows: Rows) -> None:
    """All files are as PowerShell writes them."""
    kept = "".join(f"{k},{p:.6f},{y}\n" for k, p, y in zip(*rows, strict=True))
    text(root, f"p/{day}.csv", ("id,score,label\n" + kept).encode("utf-16"))


def latin_1(root: Path, day: date, rows: Rows) -> None:
    """All files are in Latin-1."""
    kept = "".join(f"{k},{p:.6f},Köln,{y}\n" for k, p, y in zip(*rows, strict=True))
    text(root, f"p/{day}.csv", ("id,score,city,label\n" + kept).encode("latin-1"))


BAD = FIRST + timedelta(2)


@pytest.mark.parametrize(
    ("write", "said"),
    [
        (grown, [f"{BAD}.csv", "CSV Error on Line: 12", "Expected Number of Columns: 3 Found: 4"]),
        (leftovers, [f"{BAD}/part-1.parquet", f"{BAD}/part-2.parquet"]),
    ],
    ids=["grown", "leftovers"],
)
def test_one_bad_file_stops_nothing(write: Write, said: list[str], tmp_path: Path) -> None:
    """It is named with the reason, and the other days are the model."""
    write_logs(tmp_path, write)

    found = guess([str(tmp_path)])

    (each,) = found.models
    assert not each.to_decide
    model = Model.model_validate(settings_of(each))
    with pytest.raises(DataError) as refused:
        summarise_day("m", model, BAD, as_of=date(2026, 4, 1))
    assert f"{BAD}" in f"{refused.value}".partition(": ")[2]
    told = "\n".join(found.left_out)
    assert all(part in told or write is leftovers for part in said), told
    assert not told or said[0] in told


@pytest.mark.parametrize(
    ("write", "said"), [(utf_16, "it is UTF-16, not UTF-8"), (latin_1, "not utf-8 encoded")]
)
def test_another_encoding_is_named(write: Write, said: str, tmp_path: Path) -> None:
    """The reason is the encoding, and the remedy, too."""
    write_logs(tmp_path, write)

    with pytest.raises(DataError, match="write the file in UTF-8") as refused:
        guess([str(tmp_path)])

    assert said in f"{refused.value}"


def words_in_base64(root: Path, day: date, rows: Rows) -> None:
    """Write the score behind a word in base64."""
    kept = [base64.b64encode(f"score={p:.6f}".encode()).decode() for p in rows[1]]
    parquet(root, f"payload/{day}.parquet", id=rows[0], data=kept)
    labels(root, day, rows)


def test_what_is_not_understood_is_to_decide(tmp_path: Path) -> None:
    """The columns of the log are named with their types, where the score is to be written."""
    write_logs(tmp_path, words_in_base64)

    found = guess([str(tmp_path)])

    (each,) = found.models
    assert "data VARCHAR" in found.lacking
    assert "pass the folder" not in found.lacking
    (score,) = (s for s in each.to_decide if s.key == "score")
    assert "data VARCHAR" in score.why
    assert len(each.to_decide) <= 2
