"""`export table`: one row for each day and segment whose verdict stands."""

from collections.abc import Callable
from datetime import date, timedelta
from operator import itemgetter
from pathlib import Path

import duckdb
import pyarrow.parquet as pq
import pytest

from monitor.store.store import Store
from tests.conftest import Ended

MOST_COLUMNS = 25


def test_rows_are_the_verdicts_and_windows_of_the_store(
    two_models: Path, tmp_path: Path, today: date, command: Callable[..., Ended]
) -> None:
    """Each standing verdict is a row, beside the window of seven days that ends on its day."""
    first, last, path = today - timedelta(12), today, tmp_path / "past.parquet"
    span = "--from", first, "--to", last
    config = "--config", two_models / "monitor.yaml"
    database = tmp_path / "past.duckdb"
    for into in (path, database, database):  # the second time replaces what the first wrote
        ended = command("export", "table", *span, "--into", into, *config)
    table = pq.read_table(path)
    with duckdb.connect(database) as connection:
        rows = connection.sql("FROM calibration_results").to_arrow_table().to_pylist()
    found = {(row["model"], row["segment"], row["day"]): row for row in table.to_pylist()}

    assert ended.code in {0, 3}, ended.err  # a model of this world has days that cannot be read
    assert len(table.column_names) <= MOST_COLUMNS
    by = itemgetter("model", "day", "segment")
    assert sorted(rows, key=by) == sorted(table.to_pylist(), key=by)
    store, seen = Store(str(two_models / "store")), 0
    for model in ("ads", "fraud"):
        for day in store.days("verdicts", model):
            for v in store.read_verdicts(model, day)[0] if first <= day <= last else []:
                row = found.get((model, v.segment, day))
                assert (row is not None) == v.shown
                if row is None:
                    continue
                seen += 1
                assert (row["state"], row["evidence"]) == (v.state, v.reached)
                assert row["slope"] == (v.slope.value if v.slope else None)
                windows = store.read_evaluations(model, day)[0] if row["outcomes"] else []
                for e in windows:
                    if (e.segment, e.window_days) == (v.segment, 7):
                        assert (row["outcomes"], row["prevalence"]) == (e.matched, e.prevalence)
                        assert row["ece_prior"] == (e.prior.ece if e.prior else None)
    assert seen == len(found) > 10


def test_another_database_is_refused(
    two_models: Path, today: date, command: Callable[..., Ended], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What reads logs from Snowflake does not write results there."""
    monkeypatch.setenv("RESULTS", "snowflake://me:secret@account/database/schema")
    config = "--config", two_models / "monitor.yaml"
    call = "export", "table", "--from", today - timedelta(12), "--to", today
    ended = command(*call, "--into", "postgresql:RESULTS", *config)

    assert ended.code == 2
    assert "RESULTS: its address is not one of PostgreSQL" in ended.err
    assert "--into results.parquet" in ended.err
    assert "secret" not in ended.err
