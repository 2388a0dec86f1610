"""Segments of a column, a field of a column, or an expression: what people call their values."""

from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy.special import expit

from monitor.base.segment_names import WHOLE
from tests.conftest import Ended
from tests.support.cases import some
from tests.support.drawn_days import judge_drawn_days

FIRST, REFERENCE, ROWS = date(2026, 1, 1), 14, 2_000
DAYS = [FIRST + timedelta(days=place) for place in range(REFERENCE + 8)]
CONFIG = """\
store: {folder}/store
models:
  bids:
    predictions: {{path: "{folder}/predictions/{{day}}.parquet"}}
    outcomes: {{in_predictions: true}}
    settled_after: 0
    windows: [1]
    segments: {{column: {column}, values: [tv, web]}}
    verdicts: {{references: [{{first: 2026-01-01, last: 2026-01-14}}]}}
"""
SAID = {
    "device": "device",
    "{column: event, field: device}": "event (field device)",
    "{sql: lower(event.name)}": "lower(event.name)",
}


def write_day(folder: Path, day: date) -> None:
    """Draw a day; after the reference, scores of web are too extreme."""
    rng = np.random.default_rng(day.toordinal())
    logits = rng.normal(-0.5, 1.3, ROWS)
    device = rng.choice(["tv", "web"], ROWS)
    slopes = np.where((device == "web") & (day >= DAYS[REFERENCE]), 0.4, 1.0)
    event = {"device": device, "name": np.char.upper(device)}
    table = {
        "prediction_id": np.arange(ROWS) + day.toordinal() * ROWS,
        "score": expit(logits),
        "device": device,
        "event": pa.StructArray.from_arrays([pa.array(a) for a in event.values()], [*event]),
        "outcome": (rng.random(ROWS) < expit(slopes * logits)).astype(np.int8),
    }
    pq.write_table(pa.table(table), folder / f"predictions/{day}.parquet")


@pytest.mark.parametrize("column", some([*SAID][::-1], 2))
def test_a_value_is_named_as_the_configuration_has_it(
    column: str, tmp_path: Path, command: Callable[..., Ended]
) -> None:
    """In the sentences that are stored, in `where`, and in the rule of a map of that value."""
    content = CONFIG.format(folder=tmp_path, column=column)
    store = judge_drawn_days(tmp_path, content, DAYS, write_day)
    config, name = ("--config", f"{tmp_path}/monitor.yaml"), f"{SAID[column]} = web"
    verdicts, _ = store.read_verdicts("bids", DAYS[-1])
    (whole,) = [verdict for verdict in verdicts if verdict.segment == WHOLE]

    assert name in " ".join(whole.reasons)
    where = command("where", "--model", "bids", *config)
    assert name in where.out
    assert "\0" not in where.out + "".join(whole.reasons)
    assert "x00" not in where.out

    file = tmp_path / "map.json"
    made = command("recalibrate", "--model", "bids", "--part", name, "--out", file, *config)
    assert made.code == 0, made.err
    rule = command("map", "sql", file).out
    logs = f"read_parquet('{tmp_path}/predictions/{DAYS[-1]}.parquet')"
    moved = duckdb.sql(f"FROM {logs} SELECT DISTINCT device WHERE abs(({rule}) - score) > 1e-9")
    assert moved.fetchall() == [("web",)]
