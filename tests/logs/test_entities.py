"""The rows of a day by bucket of their entity: a plain hash, the same however a log is read."""

import hashlib
import random
from collections import Counter
from collections.abc import Callable
from datetime import date, timedelta
from math import floor, log
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from monitor.base.errors import DataError
from monitor.config import Engine, Model
from monitor.days.summary import Summary
from monitor.logs import (
    Databases,
    Returning,
    delivered_again,
    entities_of_day,
    summarise_day,
)

FIRST = date(2026, 3, 2)
DAYS = [FIRST + timedelta(days=i) for i in range(3)]
AS_OF = FIRST + timedelta(days=20)
ROWS = 400
Row = dict[str, Any]
Counts = dict[tuple[int, int], tuple[int, int]]


def drawn(seed: int) -> dict[date, list[Row]]:
    """Draw the same customers on every day, some unknown, with ids of any size."""
    rng = random.Random(seed)  # noqa: S311
    numbers = [rng.randrange(10 ** rng.randrange(1, 16)) for _ in range(60)]
    days = {}
    for place, day in enumerate(DAYS):
        days[day] = [
            {
                "prediction_id": 1000 * place + i,
                "score": rng.random(),
                "customer": rng.choice([*numbers, None]),
                "outcome": rng.randrange(2),
            }
            for i in range(ROWS)
        ]
    return days


def bucket(row: Row) -> int:
    """Hash the customer of a row; without one it is where its score lies within its cell."""
    if row["customer"] is None:
        return floor((log(row["score"] / (1 - row["score"])) + 16) * 512 % 1 * 64)
    digest = hashlib.md5(str(row["customer"]).encode()).hexdigest()  # noqa: S324 - no secret
    return int(digest[:8], 16) % 64


def counted(rows: list[Row]) -> Counts:
    """Count rows one by one, by bucket and quarter of a logit."""
    places = [
        (
            bucket(row),
            floor((log(row["score"] / (1 - row["score"])) + 16) * 4),
            row["outcome"],
        )
        for row in rows
    ]
    every, hits = Counter(p[:2] for p in places), Counter(p[:2] for p in places if p[2])
    return {place: (every[place], hits[place]) for place in every}


def found(summary: Summary) -> Counts:
    """Write the counts of a summary so."""
    (part,) = summary.entities.values()
    columns = (c.tolist() for c in (part.buckets, part.bins, part.counts, part.positives))
    return {(b, place): (rows, hits) for b, place, rows, hits in zip(*columns, strict=True)}


def as_text(rows: list[Row]) -> list[Row]:
    """Write ids as text."""
    return [
        {**row, "customer": None if row["customer"] is None else str(row["customer"])}
        for row in rows
    ]


def with_gaps(rows: list[Row]) -> list[Row]:
    """Write ids as pandas does integers with gaps."""
    nan = float("nan")
    return [
        {**row, "customer": nan if row["customer"] is None else float(row["customer"])}
        for row in rows
    ]


def write(root: Path, days: dict[date, list[Row]]) -> Model:
    """Write the logs of days and describe them."""
    root.mkdir()
    for day, rows in days.items():
        scored = [{k: v for k, v in row.items() if k != "outcome"} for row in rows]
        observed = [{k: row[k] for k in ("prediction_id", "outcome")} for row in rows]
        for name, of_log in (("p", scored), ("o", observed)):
            pq.write_table(pa.Table.from_pylist(of_log), root / f"{name}-{day}.parquet")
    return Model.model_validate(
        {
            "predictions": {"path": f"{root}/p-{{day}}.parquet", "entity": "customer"},
            "outcomes": {"path": f"{root}/o-{{day}}.parquet"},
            "settled_after": 0,
        }
    )


@pytest.mark.parametrize("engine", ["duckdb", "spark"])
@pytest.mark.parametrize("change", [as_text, with_gaps])
def test_the_bucket_is_that_of_hashlib(
    change: Callable[[list[Row]], list[Row]],
    engine: str,
    request: pytest.FixtureRequest,
    tmp_path: Path,
) -> None:
    """A random id has one bucket, as an integer, as text or as a float, and with every engine."""
    days = drawn(1)
    model = write(tmp_path / "logs", {day: change(rows) for day, rows in days.items()})
    databases: Databases = request.getfixturevalue(engine)

    summary = summarise_day("m", model, FIRST, as_of=AS_OF, engine=databases)

    assert found(summary) == counted(days[FIRST])


@pytest.mark.parametrize("engine", [Engine(), None])
def test_entities_that_come_again_are_counted(
    engine: Engine | None, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    """Rows and entities of a day, and how many of them the newest day before has, as sets say."""
    if engine is None:  # the session of this process
        request.getfixturevalue("spark")
        engine = Engine(kind="spark")
    days = drawn(6)
    days[DAYS[2]] = [{**row, "customer": row["prediction_id"]} for row in days[DAYS[2]]]
    del days[DAYS[1]][50:]
    model = write(tmp_path / "logs", days)
    known = {
        d: [r["customer"] for r in rows if r["customer"] is not None] for d, rows in days.items()
    }

    for before, day in zip([None, *DAYS], DAYS, strict=False):
        counted = entities_of_day("m", model, day, engine=engine)
        mine, theirs = {*known[day]}, {*known[before]} if before else set()
        assert counted == Returning(day, before, len(known[day]), len(mine), len(mine & theirs))
        assert ("is predictions.entity the id of the row?" in str(counted)) is (day == DAYS[2])
    log = model.predictions.model_copy(update={"entity": None})
    without = model.model_copy(update={"predictions": log})
    assert entities_of_day("m", without, FIRST, engine=engine) is None


def test_a_column_that_is_no_id_is_named(duckdb: Databases, tmp_path: Path) -> None:
    """The message says the setting, the column, its type and what it must be."""
    rows = {FIRST: [{**row, "customer": [1.0]} for row in drawn(5)[FIRST]]}
    model = write(tmp_path / "logs", rows)

    with pytest.raises(DataError, match=r"'customer'.*integer, string, UUID.*predictions.entity"):
        summarise_day("m", model, FIRST, as_of=AS_OF, engine=duckdb)


def test_a_day_before_that_cannot_be_compared_stops_no_other(tmp_path: Path) -> None:
    """It was written before the column of the filter was added, or with ids of another type."""
    ids = {FIRST: ["a", "b"], DAYS[1]: [1, 2], DAYS[2]: [1, 2]}
    for day in DAYS:
        rows = {"prediction_id": ids[day], "score": [0.5, 0.6], "customer": [1, 2]}
        added = {} if day == FIRST else {"country": ["DE", "DE"]}
        pq.write_table(pa.table(rows | added), tmp_path / f"{day}.parquet")
    path, where = f"{tmp_path}/{{day}}.parquet", {"where": "country = 'DE'"}
    log, engine = {"path": path, "entity": "customer"}, Engine(threads=1)
    plain, chosen = (
        Model.model_validate({"predictions": of, "outcomes": {"path": path}, "settled_after": 0})
        for of in (log, log | where)
    )
    for model in (plain, chosen):
        assert delivered_again("m", model, DAYS[1], rows=2, engine=engine) is None
    assert entities_of_day("m", plain, DAYS[1], engine=engine) == Returning(DAYS[1], FIRST, 2, 2, 2)
    assert entities_of_day("m", chosen, DAYS[1], engine=engine) == Returning(DAYS[1], None, 2, 2, 0)
    with pytest.raises(DataError, match="the predictions have no column 'country'"):
        entities_of_day("m", chosen, FIRST, engine=engine)
