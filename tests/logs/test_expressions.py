"""An SQL expression in the place of a name reads what a plain column holds."""

import uuid
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from monitor.base.errors import DataError
from monitor.config import Engine
from monitor.days.summary import whole
from monitor.logs import what_looks_wrong
from monitor.store.store import Store
from tests.logs.test_row_settings import DAY, Columns, model_of, summarise

ROWS = 40
Case = tuple[Columns, Columns, Mapping[str, Any]]


def plain() -> tuple[dict[str, Any], dict[str, Any]]:
    """Draw a day whose ids are UUIDs and whose scores are those of grades."""
    rng = np.random.default_rng(8)
    scores = rng.choice([0.01, 0.04, 0.2], ROWS)
    ids = [str(uuid.UUID(int=3**60 + n)) for n in range(ROWS)]
    predictions = {"prediction_id": ids, "score": scores, "kind": rng.choice(["a", "b"], ROWS)}
    outcomes = {"prediction_id": ids, "outcome": (rng.random(ROWS) < 0.4).astype(int)}
    return predictions, outcomes


def with_label(p: dict[str, Any], o: dict[str, Any]) -> Case:
    """Write a predicted label and the confidence in it."""
    fraud = np.arange(ROWS) % 2 == 0
    scored = {name: p[name] for name in ("prediction_id", "kind")} | {
        "predicted": np.where(fraud, "fraud", "ok"),
        "confidence": np.where(fraud, p["score"], 1 - p["score"]),
    }
    sql = "CASE WHEN predicted = 'fraud' THEN confidence ELSE round(1 - confidence, 12) END"
    return scored, o, {"predictions": {"score": {"sql": sql}}}


def with_durations(p: dict[str, Any], o: dict[str, Any]) -> Case:
    """Write days until the event, or until the row was last seen."""
    happened = o["outcome"] == 1
    observed = {
        "prediction_id": o["prediction_id"],
        "days": np.where(happened, 12, 45),
        "event": happened | (np.arange(ROWS) % 3 == 0),  # some after the horizon
    }
    sql = "CASE WHEN days <= 30 AND event THEN 1 WHEN days >= 30 THEN 0 END"
    return p, observed, {"outcomes": {"outcome": {"sql": sql}}}


def with_dates(p: dict[str, Any], o: dict[str, Any]) -> Case:
    """Write the day before each id of the predictions."""
    scored = p | {"prediction_id": [f"{DAY}/{i}" for i in p["prediction_id"]]}
    return scored, o, {"predictions": {"id": {"sql": "split_part(prediction_id, '/', 2)"}}}


CASES: list[Callable[[dict[str, Any], dict[str, Any]], Case]] = [
    *(with_label, with_durations, with_dates)
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_an_expression_reads_what_a_column_holds(
    case: Callable[[dict[str, Any], dict[str, Any]], Case], tmp_path: Path
) -> None:
    """The bytes of the summary are those of the plain log."""
    segments = {"segments": {"column": "kind", "values": ["a"]}}
    scored, observed, keys = case(*plain())

    wanted = summarise(tmp_path / "plain", *plain(), **segments)
    summary = summarise(tmp_path / "other", scored, observed, **{**segments, **keys})

    store = Store(str(tmp_path / "store"))
    contents = []
    for each in (wanted, summary):
        store.write_summary(each)
        contents.append(store.content("summaries", "ctr", DAY))
    assert contents[0] == contents[1]


@pytest.mark.parametrize(
    ("score", "message"),
    [
        ("a.b", "the predictions have no column 'a', .* correct predictions.score"),
        ("kind", "predictions.score gives VARCHAR, must be .*: kind .*; correct it in the config"),
        ("score.x", "predictions.score cannot be applied .*: score.x"),
    ],
)
def test_an_expression_must_suit_the_columns(tmp_path: Path, score: str, message: str) -> None:
    """A wrong column or type is a data error that names the setting and the expression."""
    with pytest.raises(DataError, match=message):
        summarise(tmp_path, *plain(), predictions={"score": {"sql": score}})


def test_a_day_without_outcomes_and_odd_times(tmp_path: Path) -> None:
    """Expressions of a log without rows are null, and `check` looks at times of expressions."""
    scored, _ = plain()
    late = datetime(2026, 3, 2, 12, tzinfo=UTC) - timedelta(days=400)
    scored |= {"event": [{"seen": late}] * ROWS}
    observed = {"key": ["x"], "y": [1], "when": [late]}
    keys: dict[str, Any] = {
        "predictions": {"time": {"sql": "event.seen"}},
        "outcomes": {"id": {"sql": "lower(key)"}, "outcome": {"sql": "y"}},
    }
    summary = summarise(tmp_path, scored, observed, **keys)
    model = model_of(tmp_path, **keys)

    found = what_looks_wrong("ctr", model, DAY, summary, engine=Engine(threads=1))

    assert [remark.key for remark in found] == ["predictions.time"]
    (tmp_path / "outcomes" / f"{DAY}.parquet").unlink()
    soon = DAY + timedelta(days=1)
    early = summarise(tmp_path, scored, as_of=soon, settled_after=5, **keys)
    assert (whole(early).predicted, whole(early).tally.total) == (ROWS, 0)
