"""Outcomes of any delay are found, and their delay is the planted one, whatever the names are."""

from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from monitor.base.errors import DataError
from monitor.logs.discovery import guess
from tests.support.cases import some
from tests.support.undescribed import active

FIRST = date(2025, 3, 1)
IDS = ("request_id", "txn", "uid", "event key", "Ref", "impression_no")
TIMES = ("scored_at", "ts", "event_time", "when")


def shuffled(rng: np.random.Generator, columns: dict[str, pa.Array]) -> pa.Table:
    """Put columns into a random order."""
    names = list(columns)
    return pa.table({names[i]: columns[names[i]] for i in rng.permutation(len(names))})


def write_logs(
    root: Path, rng: np.random.Generator, delays: Callable[[int], np.ndarray], days: int
) -> dict[str, str]:
    """Write both logs with names at random; return the names of what must be found."""
    theirs: dict[date, list[tuple[str, int, datetime]]] = {}
    ours = {"id": str(rng.choice(IDS)), "time": str(rng.choice(TIMES))}
    unit = str(rng.choice(["us", "ns", "ms"]))
    last = FIRST + timedelta(days - 1)
    for n in range(days):
        day, rows = FIRST + timedelta(n), 80
        scores = rng.beta(2, 3, rows)
        ids = [f"{n:04}-{i:03}" for i in range(rows)]
        at = datetime.combine(day, time(), UTC)
        table = shuffled(
            rng,
            {
                ours["id"]: pa.array(ids),
                "score": pa.array(scores),
                ours["time"]: pa.array([at] * rows, pa.timestamp(unit, "UTC")),
                "segment": pa.array(rng.choice(["a", "b"], rows)),
            },
        )
        (root / "p").mkdir(parents=True, exist_ok=True)
        pq.write_table(table, root / "p" / f"{day}.parquet")
        for identity, score, delay in zip(ids, scores, delays(rows), strict=True):
            came = day + timedelta(int(delay))
            if came <= last:
                row = identity, int(rng.random() < score), datetime.combine(came, time(9), UTC)
                theirs.setdefault(came, []).append(row)
    (root / "o").mkdir()
    for day, rows_of_day in theirs.items():
        ids, labels, at_of_rows = zip(*rows_of_day, strict=True)
        table = shuffled(
            rng,
            {
                "reference": pa.array(ids),
                "label": pa.array(labels),
                "labelled_at": pa.array(at_of_rows, pa.timestamp("us", "UTC")),
            },
        )
        pq.write_table(table, root / "o" / f"{day}.parquet")
    return ours


@pytest.mark.parametrize("seed", some(range(8), 3))
def test_outcomes_of_one_age(seed: int, tmp_path: Path) -> None:
    """Every outcome comes the same number of days later: that is the wait, up to 90 and beyond."""
    rng = np.random.default_rng(seed)
    delay = int([0, 14, 15, 90][seed] if seed < 4 else rng.integers(16, 130))
    days = delay + int(rng.integers(8, 30))
    names = write_logs(tmp_path, rng, lambda rows: np.full(rows, delay), days)

    (model,) = guess([str(tmp_path)]).models
    settings = active(model)

    assert settings[".settled_after"] == delay
    assert settings["predictions.id"] == names["id"]
    assert settings["outcomes.id"] == "reference"
    assert settings["predictions.time"] == names["time"]  # whatever its precision
    assert settings["outcomes.time"] == "labelled_at"


@pytest.mark.parametrize("seed", some(range(4), 2))
def test_outcomes_of_a_slow_class(seed: int, tmp_path: Path) -> None:
    """Of several classes, the slowest decides: the wait is until 99 % of its outcomes came."""
    rng = np.random.default_rng(200 + seed)
    names = ["ok", "late", "lost", "sent back"][: int(rng.integers(3, 5))]
    delays = rng.permutation([int(rng.integers(5, 15)), 0, 1, 3][: len(names)])
    slow, days, rows = names[int(np.argmax(delays))], 20, 150
    came: dict[date, list[tuple[str, str]]] = {}
    (tmp_path / "p").mkdir()
    (tmp_path / "o").mkdir()
    for n in range(days):
        p = rng.dirichlet(np.full(len(names), 2.0), rows)
        ids = [f"{n:04}-{i:03}" for i in range(rows)]
        shares = {f"p {name}": p[:, i] for i, name in enumerate(names)}
        day = FIRST + timedelta(n)
        pq.write_table(shuffled(rng, {"parcel": ids, **shares}), tmp_path / f"p/{day}.parquet")
        kinds = (p.cumsum(axis=1) < rng.random((rows, 1))).sum(axis=1)
        for identity, kind in zip(ids, kinds, strict=True):
            known = day + timedelta(int(delays[kind]))
            came.setdefault(known, []).append((identity, names[kind]))
    for day, outcomes in came.items():
        columns = dict(zip(("parcel", "end"), zip(*outcomes, strict=True), strict=True))
        pq.write_table(shuffled(rng, columns), tmp_path / f"o/{day}.parquet")

    (model,) = guess([str(tmp_path)]).models

    assert active(model)[".settled_after"] == delays.max()
    (why,) = (s.why for s in model.settings if s.key == "settled_after")
    assert f"the outcomes {slow} that came, later than those of the other classes: 0 %" in why


def test_ids_of_another_system(tmp_path: Path) -> None:
    """If no id is in both logs at any age, it says so."""
    rng = np.random.default_rng(5)
    write_logs(tmp_path, rng, lambda rows: np.full(rows, 3), 40)
    for path in (tmp_path / "o").iterdir():
        table = pq.read_table(path)
        odd = pa.array([f"x{i}" for i in range(len(table))])
        pq.write_table(
            table.set_column(table.column_names.index("reference"), "reference", odd), path
        )

    assert "no column that both have" in guess([str(tmp_path)]).lacking


def test_the_advice_is_about_what_is_wrong(tmp_path: Path) -> None:
    """Only damaged files are to be written again."""
    empty, damaged, lines = (tmp_path / name for name in ("empty", "damaged", "lines"))
    for folder in (empty, damaged, lines):
        folder.mkdir()
    pq.write_table(pa.table({"score": pa.array([], pa.float64())}), empty / "2026-01-01.parquet")
    (damaged / "2026-01-01.parquet").write_bytes(b"PAR1 no longer")
    (lines / "2026-01-01.jsonl").write_text('{"score": 0.5\n{]')

    said = {}
    for folder in (empty, damaged, lines):
        with pytest.raises(DataError) as raised:
            guess([str(folder)])
        said[folder.name] = str(raised.value)

    assert "have no rows; name files that have some." in said["empty"]
    assert "correct the file so that each line is one JSON object" in said["lines"]
    assert [name for name in said if "write the file again" in said[name]] == ["damaged"]
