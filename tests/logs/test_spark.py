"""Spark reads what DuckDB reads, and leaves the same bytes, messages and faults."""

import copy
import sys
from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pydantic import ValidationError

from monitor.base.errors import ConfigError, DataError
from monitor.base.files import looking_once
from monitor.base.sql_text import text_in_sql
from monitor.config import Engine, Model
from monitor.config.checks import listed
from monitor.logs import Databases, summarise_day, what_looks_wrong
from monitor.store.store import Store
from tests.logs.test_shapes import DAYS, LONG_AFTER, SEGMENTS, SHAPES, Root
from tests.logs.test_values_in_sql import STRANGE
from tests.support.cases import ALL

DAY = DAYS[0]


def found(config: Mapping[str, Any], day: date, engine: Databases, folder: Path) -> bytes | str:
    """Return the bytes of the summary of a day, or the message of its error."""
    model = Model.model_validate({"segments": SEGMENTS, "settled_after": 1, **config})
    try:
        summary = summarise_day("ctr", model, day, as_of=LONG_AFTER, engine=engine)
    except DataError as error:
        return f"{error}\n{error.fault}"
    store = Store(str(folder))
    store.write_summary(summary)
    return store.content("summaries", "ctr", day)


@pytest.fixture(scope="module")
def expected(duckdb: Databases, tmp_path_factory: pytest.TempPathFactory) -> bytes | str:
    """Return what DuckDB leaves of one shape; `test_shapes` compares the others with it."""
    folder = tmp_path_factory.mktemp("expected")
    return found(SHAPES["a file for each day"](Root(f"{folder}/logs")), DAY, duckdb, folder)


# Each format and way to a value once; `make test-all` tries every shape.
ONCE = (
    *("hours", "a column in the path of CSV", "Spark", "JSON lines", "Zstandard"),
    *("times in microseconds of CSV", "one file with a date as text", "Delta with partitions"),
    *("Iceberg with a date as text", "structs of Delta", "maps", "lists", "JSON in text"),
    *("a column renamed half-way of CSV", "a list in JSON in JSON"),
    *("CSV without a header", "base64"),
)


@pytest.mark.parametrize("shape", SHAPES if ALL else ONCE)
def test_every_shape_leaves_the_bytes_of_duckdb(
    shape: str, spark: Databases, expected: bytes | str, tmp_path: Path
) -> None:
    """Counts, positives and sums of offsets are the same."""
    config = SHAPES[shape](Root(f"{tmp_path}/logs"))

    with looking_once():
        there = found(config, DAY, spark, tmp_path)

    assert isinstance(expected, bytes)
    assert there == expected


def logs(root: Path, **changes: Any) -> dict[str, Any]:
    """Write a day whose outcomes have every fault that a check can find."""
    ids = list(range(24))
    predictions = {
        "prediction_id": [*ids, 3, None, 40, 41],
        "score": [(i + 1) / 30 for i in ids] + [0.5, 0.5, 1.7, float("nan")],
        "country": ["DE", "FR", None] * 8 + ["DE"] * 4,
        "model": ['v"1', "v2"] * 14,
        "shard": [0] * 28,
        "rate": [0.05 * (i % 7 + 1) for i in range(28)],
        "blocked": [[True, False, False, None][i % 4] for i in range(28)],
    }
    outcomes = {
        "prediction_id": [*ids[:20], 5, 7, 7, 99],
        "outcome": [i % 3 // 2 for i in ids[:20]] + [1 - 5 % 3 // 2, 7 % 3 // 2, 7 % 3 // 2, 1],
        "shard": [0] * 24,
        "rate": [0.1 * (i % 5 + 1) for i in ids],
    }
    outcomes["outcome"][8] = 4
    for kind, columns in (("predictions", predictions), ("outcomes", outcomes)):
        (root / kind).mkdir(parents=True)
        pq.write_table(pa.table(columns), root / kind / f"{DAY}.parquet")
    described = {
        kind: {"path": f"{root}/{kind}/{{day}}.parquet", **changes.pop(kind, {})}
        for kind in ("predictions", "outcomes")
    }
    return {"settled_after": 0, **described, **changes}


REJECT = dict.fromkeys(
    [
        *("prediction_id_missing", "prediction_repeated", "score_missing", "score_out_of_range"),
        *("outcome_invalid", "outcome_conflicting", "outcome_orphan"),
    ],
    "reject",
)
SETTINGS: dict[str, dict[str, Any]] = {
    "every check fails": {},
    "a filter": {
        "checks": listed(REJECT),
        "predictions": {"where": """"model" = 'v"1' AND country IS NOT NULL"""},
    },
    "other outcomes": {
        "checks": listed(REJECT),
        "outcomes": {"outcome_means": {"positive": [1, 4], "negative": [0]}},
    },
    "predictions that are delivered twice": {
        "checks": listed(REJECT),
        "predictions": {"duplicates": "keep_identical"},
    },
    "rows that were acted on": {"checks": listed(REJECT), "action": "blocked"},
    "those of outcomes, and actions": {
        "checks": listed(REJECT),
        "label_rate": {"outcomes": "rate"},
        "action": "blocked",
        "strata": {"column": "model", "values": ['v"1', "v2"]},
    },
    "actions that are none": {"checks": listed(REJECT), "action": "score"},
    "a wrong filter": {"predictions": {"where": "score + 1"}},
}


@pytest.mark.parametrize("case", SETTINGS)
def test_rows_mean_what_they_mean_to_duckdb(
    case: str, spark: Databases, duckdb: Databases, tmp_path: Path
) -> None:
    """The same rows are rejected and counted, and messages have the same examples."""
    config = logs(tmp_path / "logs", **SETTINGS[case])

    here, there = (found(config, DAY, engine, tmp_path) for engine in (duckdb, spark))

    assert there == here


NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
TIMES = {"predictions": {"time": "at"}, "outcomes": {"time": "at"}}
KEY = {"predictions": {"id": ["user", "item"]}, "outcomes": {"id": ["user", "item"]}}
SCORES = [0.1, 0.2, 0.3, 0.4]
# Predictions, outcomes, settings: what the message shows is converted or is no plain number.
SAID: dict[str, tuple[dict[str, Any], dict[str, Any], dict[str, Any]]] = {
    "ids that are cast to integers": (
        {"prediction_id": ["1", "02", "x", "1"], "score": SCORES},
        {"prediction_id": [1, 2, 9, 2], "outcome": [0, 1, 1, 0]},
        {"ids": {"cast": "integer"}},
    ),
    "ids that are UUIDs": (
        {"prediction_id": pa.array([bytes([i] * 16) for i in (1, 2, 3, 1)], pa.uuid())}
        | {"score": SCORES},
        {"prediction_id": pa.array([bytes([i] * 16) for i in (1, 2)], pa.uuid())}
        | {"outcome": [0, 1]},
        {},
    ),
    "no key of two columns in common": (
        {"user": [1, 2], "item": ["a", "b"], "score": SCORES[:2]},
        {"user": [3, 4], "item": ["a", "b"], "outcome": [0, 1]},
        KEY | {"checks": {"reject": ["outcome_orphan"]}},
    ),
    "outcomes that are early": (
        {"prediction_id": [1, 2], "score": SCORES[:2], "at": [NOON, NOON]},
        {"prediction_id": [1, 2], "outcome": [0, 1]}
        | {"at": [NOON, NOON - timedelta(microseconds=500_000)]},
        TIMES,
    ),
    "numbers that need an exponent": (
        {"prediction_id": [1, 2, 3], "score": [-1e-9, 0.2, 12345678.5]},
        {"prediction_id": [1, 2, 3], "outcome": [0.0, 1e-7, 1.0]},
        {},
    ),
}


@pytest.mark.parametrize("case", SAID)
def test_messages_show_what_duckdb_shows(
    case: str, spark: Databases, duckdb: Databases, tmp_path: Path
) -> None:
    """Ids, numbers and times are written the same way."""
    predictions, outcomes, settings = SAID[case]
    config = logs(tmp_path / "logs", **copy.deepcopy(settings))
    for kind, columns in (("predictions", predictions), ("outcomes", outcomes)):
        pq.write_table(pa.table(columns), tmp_path / f"logs/{kind}/{DAY}.parquet")

    here, there = (
        found({**config, "segments": None}, DAY, engine, tmp_path) for engine in (duckdb, spark)
    )

    assert isinstance(here, str)
    assert there == here


TEXTS = {
    "a score that is no number": ("csv", "prediction_id,score,country\n1,0.5,DE\n2,much,FR\n"),
    "a row that is cut off": ("csv", 'prediction_id,score,country\n1,0.5,DE\n2,0.5,"FR\n'),
    "a line that is no JSON": ("json", '{"prediction_id": "1", "score": 0.5}\n{"predic\n'),
    "no rows": ("csv", "prediction_id,score,country\n"),
    "no column": ("csv", "prediction_id,scores,country\n1,0.5,DE\n"),
}


@pytest.mark.parametrize("case", TEXTS)
def test_damaged_text_is_named_as_duckdb_names_it(
    case: str, spark: Databases, duckdb: Databases, tmp_path: Path
) -> None:
    """A task of Spark tells the driver what is wrong with the file that it read."""
    form, content = TEXTS[case]
    config = logs(tmp_path / "logs")
    (tmp_path / "logs/predictions" / f"{DAY}.{form}").write_text(content)
    path = f"{tmp_path}/logs/predictions/{{day}}.{form}"
    config["predictions"] |= {"path": path, "format": form}

    here, there = (found(config, DAY, engine, tmp_path) for engine in (duckdb, spark))

    assert isinstance(here, str)
    assert there == here


def test_times_far_from_their_day_are_noticed(
    spark: Databases, duckdb: Databases, tmp_path: Path
) -> None:
    """Spark finds the same median of the times, typed or as text."""
    config = logs(tmp_path / "logs", **copy.deepcopy(TIMES))
    times = [NOON - timedelta(days=400, hours=i) for i in range(5)]
    rows = {"prediction_id": range(5), "score": [*SCORES, 0.5], "country": ["DE"] * 5}
    table = {name: list(column) for name, column in rows.items()} | {"at": times}
    pq.write_table(pa.table(table), tmp_path / f"logs/predictions/{DAY}.parquet")
    seen = {"prediction_id": [0, 1], "outcome": [0, 1], "at": ["1970-01-21T06:00:00Z"] * 2}
    pq.write_table(pa.table(seen), tmp_path / f"logs/outcomes/{DAY}.parquet")
    lenient = {"outcome_early": "reject", "no_outcomes": "accept", "one_class": "accept"}
    model = Model.model_validate({**config, "checks": listed(lenient)})
    summary = summarise_day("ctr", model, DAY, as_of=LONG_AFTER, engine=duckdb)

    here, there = (
        what_looks_wrong("ctr", model, DAY, summary, engine=engine) for engine in (duckdb, spark)
    )

    assert [remark.key for remark in here] == ["predictions.time", "outcomes.time"]
    assert there == here


def test_tasks_need_this_package(spark: Databases, tmp_path: Path) -> None:
    """Another Python on the machines that run tasks is an error that says what to install."""
    config = SHAPES["JSON lines"](Root(f"{tmp_path}/logs"))
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nexec {sys.executable} -S "$@"\n')
    python.chmod(0o700)
    ours = spark.spark.sparkContext.pythonExec
    spark.spark.sparkContext.pythonExec = str(python)
    try:
        with pytest.raises(ConfigError, match=r"Python without \w+; install calibration-monitor"):
            found(config, DAY, spark, tmp_path)
    finally:
        spark.spark.sparkContext.pythonExec = ours


def test_a_damaged_file_is_named(spark: Databases, duckdb: Databases, tmp_path: Path) -> None:
    """The message names the file that a task cannot read, as it does on one machine."""
    config = logs(tmp_path / "logs")
    file = tmp_path / f"logs/outcomes/{DAY}.parquet"
    content = bytearray(file.read_bytes())
    content[4:200] = b"\xff" * 196
    file.write_bytes(content)

    here, there = (found(config, DAY, engine, tmp_path) for engine in (duckdb, spark))

    assert f"ctr {DAY}: {file} cannot be read as Parquet (" in str(here)
    assert there == here


def test_settings_of_spark_need_spark() -> None:
    """A master without kind: spark would have no effect."""
    with pytest.raises(ValidationError, match="set kind: spark"):
        Engine(conf={"spark.master": "local[2]"})
    with pytest.raises(ValidationError, match="exclude each other"):
        Engine(
            kind="spark", conf={"spark.master": "local[2]", "spark.remote": "sc://127.0.0.1:15002"}
        )


def test_texts_are_read_back(spark: Databases) -> None:
    """Whatever ends a text or a statement somewhere."""
    written = [f"{text_in_sql(text, escapes=True)} AS c{i}" for i, text in enumerate(STRANGE)]
    (row,) = spark.spark.sql(f"SELECT {', '.join(written)}").collect()
    assert [*row] == STRANGE
