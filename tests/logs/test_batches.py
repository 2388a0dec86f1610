"""Many days in one query: every day as if it were read alone, and each partition read once."""

from collections.abc import Callable, Iterator
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from monitor.base.errors import DataError
from monitor.base.files import looking_once
from monitor.config import Engine, Model
from monitor.config.checks import listed
from monitor.days.summary import Summary
from monitor.logs import (
    Databases,
    days_at_a_time,
    open_databases,
    plan_batches,
    summarise_day,
    summarise_days,
)
from monitor.logs.days import batches
from monitor.logs.sources.opening import OpenLog
from monitor.store.store import Store

FIRST = date(2026, 3, 1)
DAYS = [FIRST + timedelta(days=i) for i in range(9)]
LONG_AFTER = date(2026, 12, 31)
ENGINE = Engine(threads=2, memory_mb=300)
WAIT = 3
ROWS = 60
REJECT = dict.fromkeys(
    ["prediction_repeated", "score_out_of_range", "outcome_invalid", "outcome_conflicting"],
    "reject",
)


def model_of(root: Path, **changes: Any) -> Model:
    """Describe the logs below a folder."""
    described = {
        "predictions": {"path": f"{root}/predictions/{{day}}.parquet"},
        "outcomes": {"path": f"{root}/outcomes/{{day}}.parquet"},
        "segments": {"column": "country", "values": ["DE", "FR"]},
        "settled_after": WAIT,
        "checks": {"accept": ["one_class"]},
    }
    return Model.model_validate({**described, **changes})


def path(root: Path, kind: str, day: int) -> Path:
    """Name the file of a day, by its number."""
    return root / kind / f"{FIRST + timedelta(days=day)}.parquet"


def write_logs(root: Path, *, complete: bool = False) -> None:
    """Write predictions, and outcomes some of which are too late, or have no prediction."""
    rng = np.random.default_rng(7)
    logged = dict[int, list[tuple[str, int]]]()
    for day in range(len(DAYS)):
        ids = [f"{day}-{row}" for row in range(ROWS)]
        score = rng.random(ROWS)
        change(
            root,
            "predictions",
            day,
            prediction_id=ids,
            score=score,
            country=["DE", "FR", None] * 20,
        )
        for name, positive in zip(ids, rng.random(ROWS) < score, strict=True):
            observed = day + int(rng.integers(0, WAIT + (1 if complete else 2)))
            logged.setdefault(observed, []).append((name, int(positive)))
    for day in range(len(DAYS) + WAIT):
        orphans = [] if complete else [(f"orphan {day}", 1), (f"orphan of {day}", 0)]
        rows = [*logged.get(day, []), *orphans]
        change(
            root, "outcomes", day, prediction_id=[i for i, _ in rows], outcome=[o for _, o in rows]
        )


def change(root: Path, kind: str, day: int, **columns: Any) -> None:
    """Write a file, or replace some of its columns."""
    file = path(root, kind, day)
    file.parent.mkdir(parents=True, exist_ok=True)
    known = pq.read_table(file).to_pydict() if file.exists() else {}
    pq.write_table(pa.table({**known, **columns}), file)


def add(root: Path, kind: str, day: int, *rows: dict[str, Any]) -> None:
    """Add rows to a file."""
    table = pq.read_table(path(root, kind, day))
    more = pa.Table.from_pylist([dict(row) for row in rows], schema=table.schema)
    pq.write_table(pa.concat_tables([table, more]), path(root, kind, day))


def outcome_of(day: int, outcome: float, row: int = 0) -> dict[str, Any]:
    """Make an outcome of a prediction."""
    return {"prediction_id": f"{day}-{row}", "outcome": outcome}


def prediction(name: str, score: float) -> dict[str, Any]:
    """Make a prediction."""
    return {"prediction_id": name, "score": score, "country": "DE"}


def reuse_ids(root: Path) -> None:
    """Give the predictions of day 8 the ids of day 0, whose outcomes cannot meet them."""
    ids = [f"0-{row}" for row in range(ROWS)]
    change(root, "predictions", 8, prediction_id=ids)
    for late in range(WAIT + 1):
        add(
            root,
            "outcomes",
            8 + late,
            *(outcome_of(0, row % 2, row) for row in range(late, ROWS, 9)),
        )


def add_faults(root: Path) -> None:
    """Add every fault of a row, each to another day; without its check it fails that day."""
    add(root, "predictions", 2, prediction("x", 1.5))
    add(root, "predictions", 5, prediction("5-7", 0.5))
    add(root, "predictions", 8, prediction("new", 0.5), prediction("new", 0.6))
    add(root, "outcomes", 3, outcome_of(3, 0), outcome_of(3, 1))
    add(root, "outcomes", 3, {"prediction_id": None, "outcome": 1})
    add(root, "outcomes", 4, outcome_of(4, 2))


def damage(root: Path) -> None:
    """Overwrite the rows of a file, but not its metadata."""
    file = path(root, "predictions", 4)
    content = bytearray(file.read_bytes())
    content[4:400] = b"\xff" * 396
    file.write_bytes(content)


Change = Callable[[Path], None]
CASES: dict[str, tuple[dict[str, Any], Change]] = {
    "nothing unusual": ({}, lambda _: None),
    "rows that are rejected": (
        {"checks": listed({**REJECT, "outcome_id_missing": "reject"})},
        add_faults,
    ),
    "ids that are used again": ({}, reuse_ids),
    "no outcomes": ({}, lambda r: path(r, "outcomes", 5).unlink()),
    "a damaged file": ({}, damage),
    "absent outcomes are negatives": (
        {"outcomes": "negative after 2d", "checks": {"accept": ["one_class"]}},
        lambda _: None,
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write logs in which nothing is unusual."""
    root = tmp_path_factory.mktemp("plain")
    write_logs(root)
    return root


@pytest.fixture(scope="module")
def databases() -> Iterator[Databases]:
    """Open the engine once."""
    with open_databases(ENGINE) as opened:
        yield opened


@pytest.mark.parametrize(
    ("case", "as_of"),
    [
        *((case, LONG_AFTER) for case in CASES),
        *((case, DAYS[6]) for case in ("nothing unusual", "absent outcomes are negatives")),
    ],
)
def test_a_batch_equals_its_days(
    case: str, as_of: date, plain: Path, databases: Databases, tmp_path: Path
) -> None:
    """Every day has the bytes, or the message, that it has when it is read alone.

    So has the sentence about settings that leave out most of its rows: the same rows, of as many.
    """
    settings, change_logs = CASES[case]
    root = tmp_path / "logs"
    for kind in ("predictions", "outcomes"):
        (root / kind).mkdir(parents=True)
        for file in (plain / kind).iterdir():
            (root / kind / file.name).write_bytes(file.read_bytes())
    change_logs(root)
    paths = {
        kind: {"path": f"{root}/{kind}/{{day}}.parquet"} for kind in ("predictions", "outcomes")
    }
    extra = {
        "predictions": {"where": settings.get("predictions")},
        "outcomes": {"absent_means": settings.get("outcomes")},
    }
    model = model_of(
        root, **{**settings, **{kind: {**paths[kind], **extra[kind]} for kind in paths}}
    )
    days = [day for day in DAYS if day < as_of]

    with looking_once():  # as a run does
        found = dict(summarise_days("ctr", model, days, as_of=as_of, databases=databases))
        expected = {day: alone(model, day, as_of, databases) for day in days}

    assert [*found] == days
    for day in days:
        together, apart = (
            content(found[day], tmp_path / "a"),
            content(expected[day], tmp_path / "b"),
        )
        assert together == apart
        assert left_out(found[day]) == left_out(expected[day])


def test_a_batch_counts_what_filters_leave_out_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both filters are counted from the rows of the batch, and give what each day alone gives."""
    write_logs(tmp_path, complete=True)
    model = model_of(
        tmp_path,
        predictions={"path": f"{tmp_path}/predictions/{{day}}.parquet", "where": "score < 0.7"},
        outcomes={"path": f"{tmp_path}/outcomes/{{day}}.parquet", "where": "outcome = 1"},
    )
    with open_databases(ENGINE) as databases:
        expected = {day: by_filters(alone(model, day, LONG_AFTER, databases)) for day in DAYS}
        monkeypatch.setattr(OpenLog, "left_out_by", None)
        found = dict(summarise_days("ctr", model, DAYS, as_of=LONG_AFTER, databases=databases))

    assert {day: by_filters(summary) for day, summary in found.items()} == expected
    assert all(0 < left < of for left, of in expected[DAYS[0]].values())


def test_a_batch_refuses_days_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Days with outcomes of one kind are refused as each alone would be, without reading again."""
    write_logs(tmp_path, complete=True)
    model = model_of(
        tmp_path,
        outcomes={"path": f"{tmp_path}/outcomes/{{day}}.parquet", "where": "outcome = 1"},
        checks={"fail": ["one_class"]},
    )
    with open_databases(ENGINE) as databases:
        expected = {day: str(alone(model, day, LONG_AFTER, databases)) for day in DAYS}
        monkeypatch.setattr(batches, "summarise_day", None)
        found = dict(summarise_days("ctr", model, DAYS, as_of=LONG_AFTER, databases=databases))

    assert "outcomes are 1" in expected[FIRST]
    assert {day: str(error) for day, error in found.items()} == expected


def left_out(found: Summary | DataError) -> dict[str, tuple[int, int]]:
    """Return what settings leave out of a day; nothing of one that failed."""
    return dict(found.left_out) if isinstance(found, Summary) else {}


def by_filters(found: Summary | DataError) -> dict[str, tuple[int, int]]:
    """Return what filters leave out of a day."""
    assert isinstance(found, Summary)
    return {key: rows for key, rows in found.left_out.items() if key.endswith(".where")}


def alone(model: Model, day: date, as_of: date, databases: Databases) -> Summary | DataError:
    """Summarise one day without the others."""
    try:
        return summarise_day("ctr", model, day, as_of=as_of, engine=databases)
    except DataError as error:
        return error


def content(found: Summary | DataError, folder: Path) -> bytes | tuple[str, object]:
    """Return the bytes that a summary has in a store, or what an error says."""
    if isinstance(found, DataError):
        return str(found), found.fault
    store = Store(str(folder))
    store.write_summary(found)
    return store.content("summaries", "ctr", found.days[0])


@pytest.mark.parametrize(
    ("memory_mb", "wait", "jobs", "lengths"),
    [
        (300, 3, 1, [9]),
        (300, 0, 2, [5, 4]),
        (300, 200, 1, [9]),
    ],
)
def test_batches_fit_the_memory(
    memory_mb: int, wait: int, jobs: int, lengths: list[int], plain: Path
) -> None:
    """Small days make one batch, or one for each job."""
    engine = Engine(threads=1, memory_mb=memory_mb)
    model = model_of(plain, settled_after=wait)
    with open_databases(engine) as databases:
        batches = plan_batches("ctr", model, DAYS, databases=databases, jobs=jobs)

    assert [len(batch) for batch in batches] == lengths


@pytest.mark.parametrize(
    ("rows_in_memory", "wait", "expected"),
    [(2000, 0, 4), (2, 0, 3), (1, 0, 1), (2000, 3, 1)],
)
def test_days_at_a_time_fit_the_memory(
    rows_in_memory: int, wait: int, expected: int, plain: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Large days are read one after the other, and so are days that share partitions."""
    monkeypatch.setattr("monitor.logs.days.batches.ROWS_IN_MEMORY", rows_in_memory)
    model, engine = model_of(plain, settled_after=wait), Engine(threads=4, memory_mb=100)

    assert days_at_a_time("ctr", model, DAYS, engine=engine, jobs=4) == expected
