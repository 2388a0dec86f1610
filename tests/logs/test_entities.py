"""The rows of a day by bucket of their entity: a plain hash, the same however a log is read."""

import csv
import hashlib
import random
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import date, timedelta
from itertools import product
from math import floor, log
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from monitor.base.errors import DataError
from monitor.config import Engine, Model
from monitor.days.summary import Summary
from monitor.logs import Databases, Returning, entities_of_day, summarise_day, summarise_days
from monitor.store.store import Store

FIRST = date(2026, 3, 2)
DAYS = [FIRST + timedelta(days=i) for i in range(3)]
AS_OF = FIRST + timedelta(days=20)
ROWS = 400
Row = dict[str, Any]
Counts = dict[tuple[int, int], tuple[int, int]]


def drawn(seed: int) -> dict[date, list[Row]]:
    """Draw the same customers on every day, some unknown, with ids of any size and any letters."""
    rng = random.Random(seed)  # noqa: S311
    numbers = [rng.randrange(10 ** rng.randrange(1, 16)) for _ in range(60)]
    tenants = ["a", "a|b", "|b", "ü" * 9, "'", ""]
    days = {}
    for place, day in enumerate(DAYS):
        days[day] = [
            {
                "prediction_id": 1000 * place + i,
                "score": rng.random(),
                "customer": rng.choice([*numbers, None]),
                "tenant": rng.choice([*tenants, None]),
                "outcome": rng.randrange(2),
            }
            for i in range(ROWS)
        ]
    return days


def digest(value: object) -> str:
    """Hash a value as text."""
    return hashlib.md5(str(value).encode()).hexdigest()  # noqa: S324 - no secret


def bucket(row: Row, *columns: str) -> int:
    """Hash the entity of a row; without one it is where its score lies within its cell."""
    parts = [row[column] for column in columns]
    if None in parts:
        return floor((log(row["score"] / (1 - row["score"])) + 16) * 512 % 1 * 64)
    digests = [digest(part) for part in parts]
    return int((digests[0] if len(parts) == 1 else digest("".join(digests)))[:8], 16) % 64


def counted(rows: list[Row], *columns: str) -> Counts:
    """Count rows one by one, by bucket and quarter of a logit."""
    places = [
        (
            bucket(row, *columns),
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


def write(root: Path, days: dict[date, list[Row]], form: str = "parquet", **settings: Any) -> Model:
    """Write the logs of days and describe them."""
    root.mkdir()
    for day, rows in days.items():
        scored = [{k: v for k, v in row.items() if k != "outcome"} for row in rows]
        pq.write_table(
            pa.Table.from_pylist([{k: r[k] for k in ("prediction_id", "outcome")} for r in rows]),
            root / f"o-{day}.parquet",
        )
        path = root / f"p-{day}.{form}"
        if form == "parquet":
            pq.write_table(pa.Table.from_pylist(scored), path)
            continue
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, [*scored[0]])
            writer.writeheader()
            writer.writerows(scored)
    entity = settings.pop("entity", "customer")
    return Model.model_validate(
        {
            "predictions": {"path": f"{root}/p-{{day}}.{form}", "entity": entity},
            "outcomes": {"path": f"{root}/o-{{day}}.parquet"},
            "settled_after": 0,
            **settings,
        }
    )


WAYS: dict[str, tuple[Callable[[list[Row]], list[Row]], str]] = {
    "text": (as_text, "parquet"),
    "floating point": (with_gaps, "parquet"),
}


@pytest.mark.parametrize(
    ("way", "engine"), [*product(WAYS, ["duckdb"]), ("text", "spark"), ("floating point", "spark")]
)
def test_the_bucket_is_that_of_hashlib(
    way: str, engine: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    """A random id has one bucket, as an integer, as text or as a float, and with every engine."""
    days, (change, form) = drawn(1), WAYS[way]
    model = write(tmp_path / "logs", {day: change(rows) for day, rows in days.items()}, form)
    databases: Databases = request.getfixturevalue(engine)

    summary = summarise_day("m", model, FIRST, as_of=AS_OF, engine=databases)

    assert found(summary) == counted(days[FIRST], "customer")


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


SETTINGS: dict[str, dict[str, Any]] = {
    "alone": {},
    "watched columns": {"segments": [{"column": "tenant", "top": 2}]},
}


def stored(summaries: Iterator[tuple[date, Summary | DataError]], root: Path) -> list[bytes]:
    """Keep days, and read the bytes of both files of each."""
    store, contents = Store(str(root)), list[bytes]()
    for day, summary in summaries:
        assert isinstance(summary, Summary)
        store.write_summary(summary)
        contents += [store.content(kind, "m", day) for kind in ("summaries", "entities")]
    return contents


@pytest.mark.parametrize("case", SETTINGS)
def test_the_bytes_do_not_depend_on_how_days_are_read(
    case: str, duckdb: Databases, spark: Databases, tmp_path: Path
) -> None:
    """Together, one by one, in any order of rows or with Spark, both files are the same."""
    days, rng = drawn(3), random.Random(3)  # noqa: S311
    shuffled = {day: rng.sample(rows, len(rows)) for day, rows in days.items()}
    model = write(tmp_path / "one", days, **SETTINGS[case])
    other = write(tmp_path / "other", shuffled, **SETTINGS[case])

    def read(model: Model, databases: Databases, days: list[date]) -> Any:
        return summarise_days("m", model, days, as_of=AS_OF, databases=databases)

    together = stored(read(model, duckdb, DAYS), tmp_path / "a")
    alone = (pair for day in DAYS for pair in read(other, duckdb, [day]))

    assert stored(alone, tmp_path / "b") == together
    assert stored(read(other, spark, DAYS[::-1]), tmp_path / "c") == [
        content for i in (4, 2, 0) for content in together[i : i + 2]
    ]


def test_a_column_that_is_no_id_is_named(duckdb: Databases, tmp_path: Path) -> None:
    """The message says the setting, the column, its type and what it must be."""
    rows = {FIRST: [{**row, "customer": [1.0]} for row in drawn(5)[FIRST]]}
    model = write(tmp_path / "logs", rows)

    with pytest.raises(DataError, match=r"'customer'.*integer, string, UUID.*predictions.entity"):
        summarise_day("m", model, FIRST, as_of=AS_OF, engine=duckdb)


def test_classes_have_no_entities_yet() -> None:
    """A model with classes is refused in one sentence that names both keys."""
    with pytest.raises(ValueError, match=r"predictions.classes cannot .* predictions.entity"):
        Model.model_validate(
            {
                "predictions": {
                    "path": "p/{day}.parquet",
                    "classes": {"names": ["a", "b", "c"], "vector": "p"},
                    "entity": "customer",
                },
                "outcomes": {"path": "o/{day}.parquet"},
            }
        )
