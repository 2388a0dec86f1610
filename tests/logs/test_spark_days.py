"""Spark reads many days in one query, as DuckDB does."""

from datetime import date
from pathlib import Path
from typing import Any

import pytest

from monitor.config import Model
from monitor.logs import Databases, count_arrivals, summarise_days
from monitor.logs.days import batches
from tests.logs.test_batches import (
    DAYS,
    LONG_AFTER,
    WAIT,
    Change,
    content,
    model_of,
    reuse_ids,
    write_logs,
)

CASES: dict[str, tuple[dict[str, Any], date, Change]] = {
    "nothing unusual": ({}, LONG_AFTER, lambda _: None),
    "a filter, and outcomes that are still arriving": (
        {"predictions": {"where": "country = 'DE'"}},
        DAYS[6],
        lambda _: None,
    ),
    "ids that are used again": ({}, LONG_AFTER, reuse_ids),
}


@pytest.mark.parametrize("case", CASES)
def test_a_batch_of_spark_equals_one_of_duckdb(
    case: str,
    spark: Databases,
    duckdb: Databases,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """All days have the bytes that DuckDB leaves, and none of them is read alone."""
    settings, as_of, change_logs = CASES[case]
    write_logs(tmp_path / "logs")
    change_logs(tmp_path / "logs")
    model = described(tmp_path / "logs", settings)
    days = [day for day in DAYS if day < as_of]
    expected = summarise_days("ctr", model, days, as_of=as_of, databases=duckdb)
    here = {day: content(found, tmp_path / "a") for day, found in expected}
    monkeypatch.setattr(batches, "summarise_day", None)

    found = summarise_days("ctr", model, days, as_of=as_of, databases=spark)
    there = {day: content(summary, tmp_path / "b") for day, summary in found}

    assert [*there] == days
    assert there == here


def described(root: Path, settings: dict[str, Any]) -> Model:
    """Describe the logs, with more settings of the predictions."""
    place = {"path": f"{root}/predictions/{{day}}.parquet"}
    return model_of(root, **{**settings, "predictions": place | settings.get("predictions", {})})


def test_arrivals_are_those_of_duckdb(spark: Databases, duckdb: Databases, tmp_path: Path) -> None:
    """The ages of outcomes, from which `check` proposes settled_after, are counted alike."""
    write_logs(tmp_path)
    model = model_of(tmp_path)

    here, there = (
        count_arrivals("ctr", model, DAYS[:3], longest=WAIT, engine=engine)
        for engine in (duckdb, spark)
    )

    assert there == here
