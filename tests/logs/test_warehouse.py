"""The statement for warehouses counts what the rows count: the same bytes, in DuckDB here."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import duckdb as engine
import pyarrow.parquet as pq
import pytest
import sqlglot
import yaml

from monitor.base.errors import ConfigError
from monitor.cli.counting import Form, Language
from monitor.config import Model
from monitor.logs import Databases
from monitor.logs.warehouse.dialects import DIALECTS, translated
from monitor.logs.warehouse.forms import statement as written
from tests.conftest import run_command
from tests.support.cases import some
from tests.support.warehouse_logs import (
    cases,
    compared,
    model_of_rows,
    statement,
    tables,
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the logs."""
    root = tmp_path_factory.mktemp("logs")
    for name, table in tables().items():
        pq.write_table(table, root / f"{name}.parquet")
    return root


@pytest.fixture(scope="module")
def warehouse(folder: Path) -> Iterator[engine.DuckDBPyConnection]:
    """Put the logs where their statement looks for them."""
    with engine.connect() as connection:
        for name in ("predictions", "outcomes", "together"):
            connection.read_parquet(f"{folder}/{name}.parquet").create_view(name)
        yield connection


def of_queries(name: str) -> dict[str, Any]:
    """Say where a log is in a warehouse."""
    return {"format": "sql", "connection": "WAREHOUSE", "sql": f"SELECT * FROM {name}"}  # noqa: S608


@pytest.mark.parametrize("number", some(range(len(cases())), 4))
def test_counts_of_the_statement_leave_the_bytes_of_rows(
    number: int, folder: Path, warehouse: engine.DuckDBPyConnection, duckdb: Databases
) -> None:
    """Also what is left out and why, of a day that is final and of one that waits."""
    case = cases()[number]
    text = statement("m", model_of_rows(case, of_queries), "duckdb")
    counts = warehouse.sql(text).to_arrow_table()

    ours, theirs = zip(*compared(case, folder, counts, duckdb), strict=True)

    assert theirs == ours, case
    assert [final for *_, final in ours] == [True, False]


def configured(folder: Path, **model: Any) -> Path:
    """Write a configuration whose rows are in a warehouse."""
    predictions = of_queries("scores") | {"day": "scored_on"} | model.pop("predictions", {})
    outcomes = of_queries("labels") | {"day": "seen_on"} | model.pop("outcomes", {})
    described = {"predictions": predictions, "outcomes": outcomes, "settled_after": 7, **model}
    path = folder / "monitor.yaml"
    path.write_text(yaml.safe_dump({"store": "store", "models": {"fraud": described}}))
    return path


def test_every_form_of_every_dialect_is_sql(tmp_path: Path) -> None:
    """The parser of each dialect reads it; the filter on the day stands on the column as it is."""
    filtered = {"where": "country <> 'it''s' AND NOT isnan(amount)"}
    path = configured(
        tmp_path, predictions=filtered, segments={"column": "order", "values": ["a\\b"]}
    )
    assert {*get_args(Language), "datafusion"} == set(DIALECTS)  # which only the engine sends
    for dialect in get_args(Language):
        for form in get_args(Form):
            done = run_command("sql", "fraud", dialect, form, "--config", f"{path}")
            if (dialect, form) == ("trino", "plain"):
                assert done.code == 2
                assert "no parameters with names; print it as dbt or as scheduled" in done.err
                continue
            assert done.code == 0, done.err
            text = re.sub(r"\{[#%].*?[#%]\}|\{\{ config.*?\}\}\n", "", done.out, flags=re.DOTALL)
            text = re.sub(r"\{\{ (\w+) \}\}", "2026-03-01", text)
            text = re.sub(r":'\w+'|\{\w+:Date32\}", "'2026-03-01'", text)
            parsed = sqlglot.parse(text, read=dialect)
            assert not any(isinstance(each, sqlglot.exp.Command) for each in parsed), (
                dialect,
                form,
            )
            assert re.search(r"WHERE scored_on >= \S", text), (dialect, form)


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "field": (
        {"predictions": {"score": {"column": "a", "field": "p"}}},
        ".predictions.score: warehouses write the field of a column each in their own way; give a",
    ),
    "function": (
        {"predictions": {"where": "regexp_matches(country, 'D.')"}},
        ".predictions.where: REGEXP_MATCHES.* may mean something else in snowflake; compute it in",
    ),
    "columns": (
        {"segments": [{"column": "kind", "top": 2}, {"column": "age", "edges": [30]}]},
        ": more columns of segments: counts have one column of segments",
    ),
    "entity": ({"predictions": {"entity": "customer"}}, ": predictions.entity: counts do not say"),
    "numbers": (
        {"outcomes": {"time_unit": "s"}},
        ": outcomes.time_unit: make times of",
    ),
    "cast": ({"ids": {"cast": "uuid"}}, ": ids.cast: convert the ids in the query under sql"),
    "action": ({"action": "blocked"}, ": action: leave out the rows that were acted on"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_one_statement_cannot_count_is_refused(case: str) -> None:
    """With the setting, the reason, and what works instead."""
    settings, said = REFUSED[case]
    sections = ("predictions", "scores", "scored_on"), ("outcomes", "labels", "seen_on")
    logs = {
        kind: of_queries(table) | {"day": day} | settings.get(kind, {})
        for kind, table, day in sections
    }
    model = Model.model_validate({**settings, **logs, "settled_after": 7})
    with pytest.raises(ConfigError, match=f"^models.fraud{said}"):
        written("fraud", model, "snowflake", "plain")


def test_what_only_duckdb_parses_is_named() -> None:
    """A newer DuckDB knows more than the translator."""
    said = "^models.fraud.predictions.where: age! > 6 cannot be translated; compute it in the query"
    with pytest.raises(ConfigError, match=said):
        translated("age! > 6", "snowflake", "models.fraud.predictions.where")


def test_files_need_a_column_that_dates_their_rows() -> None:
    """A table has no path that names the day."""
    logs = {name: {"path": f"{name}/{{day}}.parquet"} for name in ("predictions", "outcomes")}
    with pytest.raises(ConfigError, match=r"fraud: predictions\.day: .*\n.*outcomes\.day: name"):
        written("fraud", Model.model_validate({**logs, "settled_after": 7}), "trino", "dbt")


def test_the_scheduled_form_replaces_the_days_that_wait(
    warehouse: engine.DuckDBPyConnection,
) -> None:
    """Run twice, it leaves each row once; days that are settled stay."""
    model = model_of_rows(cases()[0] | {"together": "no"}, of_queries)
    text = written("m", model, "duckdb", "scheduled").replace("CURRENT_DATE", "DATE '2026-03-13'")
    days = "SELECT day, sum(rows)::INT FROM calibration_counts_m GROUP BY 1 ORDER BY 1"
    warehouse.execute(text)
    warehouse.execute("INSERT INTO calibration_counts_m (day, rows) VALUES ('2026-03-01', 7)")
    first = warehouse.sql(days).fetchall()
    warehouse.execute(text)

    assert warehouse.sql(days).fetchall() == first
    assert [f"{day:%d}" for day, _ in first] == ["01", "09", "10", "11", "12"]
