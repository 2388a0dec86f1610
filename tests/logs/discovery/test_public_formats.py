"""Logs as other programs export them: `init` reads them, or names what has to be changed."""

import gzip
import json
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from monitor.base.errors import ConfigError, DataError
from monitor.logs.discovery import guess
from tests.conftest import run_command

FIRST, DAYS, ROWS = date(2026, 1, 1), 8, 300
Row = tuple[int, float, int]


def days() -> list[tuple[date, list[Row]]]:
    """Draw rows of id, score and outcome, by day."""
    rng, found = np.random.default_rng(4), []
    for number in range(DAYS):
        scores = rng.beta(1, 2, ROWS)
        outcomes = (rng.random(ROWS) < scores).astype(int)
        ids = range(number * ROWS, (number + 1) * ROWS)
        rows = zip(ids, scores.tolist(), outcomes.tolist(), strict=True)
        found.append((FIRST + timedelta(number), [*rows]))
    return found


def write(root: Path, row: Callable[[int, float, int], dict[str, Any]]) -> Path:
    """Write a file of Parquet for each day."""
    root.mkdir()
    for day, rows in days():
        pq.write_table(pa.Table.from_pylist([row(*one) for one in rows]), root / f"{day}.parquet")
    return root


def settings(root: Path) -> dict[str, object]:
    """Guess the settings of the only model."""
    (model,) = guess([str(root)]).models
    return {s.key: s.value for s in model.settings if s.active and s.section}


@pytest.mark.parametrize("kind", [int, str])
def test_options_with_their_probability_in_the_order_of_these(
    kind: type[int | str], tmp_path: Path
) -> None:
    """BigQuery writes the likelier class first, so no place of the list is that of a class."""

    def row(number: int, score: float, outcome: int) -> dict[str, Any]:
        both = [{"label": kind(1), "prob": score}, {"label": kind(0), "prob": 1 - score}]
        both.sort(key=lambda option: -option["prob"])
        return {"id": number, "predicted_label_probs": both, "label": outcome}

    found = settings(write(tmp_path / "logs", row))

    assert found["score"] == {"sql": f"map_from_entries(predicted_label_probs)[{kind(1)!r}]"}
    assert "explode" not in found


def test_one_word_that_is_known_tells_the_other(tmp_path: Path) -> None:
    """Evidently names the columns of probabilities after the classes."""

    def row(number: int, score: float, outcome: int) -> dict[str, Any]:
        target = "churn" if outcome else "remain"
        return {"age": number % 60, "target": target, "churn": score, "remain": 1 - score}

    found = settings(write(tmp_path / "logs", row))

    assert found["outcome_means"] == {"positive": ["churn"], "negative": ["remain"]}
    assert (found["score"], found["outcome"]) == ("churn", "target")


@pytest.mark.parametrize("changed", [3, DAYS])
def test_a_scale_that_changes_is_a_doubt(changed: int, tmp_path: Path) -> None:
    """Percent from a day on; where all days have percent, no doubt speaks of it."""

    def row(number: int, score: float, outcome: int) -> dict[str, Any]:
        percent = changed == DAYS or number // ROWS >= changed
        return {"id": number, "score": 100 * score if percent else score, "y": outcome}

    (model,) = guess([str(write(tmp_path / "logs", row))]).models

    found = [doubt for doubt in model.doubts if "as if its scale had changed" in doubt]
    assert len(found) == (changed < DAYS)
    assert all(f"from 0 to 1 on {FIRST + timedelta(1)} and reaches" in doubt for doubt in found)


def test_a_decision_named_score_is_no_outcome(tmp_path: Path) -> None:
    """A probability predicts the decision that was made by it better than anything else."""

    def row(number: int, score: float, outcome: int) -> dict[str, Any]:
        return {"id": number, "score": int(score > 0.4), "raw": score, "y": outcome}

    assert settings(write(tmp_path / "logs", row))["outcome"] == "y"


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.csv.bz2", b"BZh91AY&SY", "compressed with bzip2, not with gzip or Zstandard"),
        ("a", gzip.compress(b'{"id": 1}\n'), "with gzip, but its name does not end with .gz"),
        ("a", b'{"id": 1}{"id": 2}', "not one object alone on each line"),
        ("a.gz", gzip.compress(b'2026-01-01T00:00 {"id": 1, "p": 2}\n' * 9), "not one object"),
    ],
    ids=["bzip2", "gzip without its ending", "objects without lines", "a time before the object"],
)
def test_what_is_no_log_is_named(name: str, content: bytes, said: str, tmp_path: Path) -> None:
    """With the reason, which the ending of the name does not say."""
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ConfigError, match=said):
        guess([str(tmp_path)])


def test_an_array_of_objects_is_refused_as_a_run_refuses_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The default of pandas; an empty file beside it is no array."""
    monkeypatch.chdir(tmp_path)
    config = (
        "store: store\nmodels: {m: {predictions: {path: '{day}.json', format: json, score: p}, "
        "outcomes: {in_predictions: true, outcome: y}, settled_after: 0}}\n"
    )
    Path("monitor.yaml").write_text(config)
    (day, rows), *_ = days()
    Path(f"{day}.json").write_text(json.dumps([{"p": p, "y": y} for _, p, y in rows]))

    ended = run_command("check", "--day", day)

    assert (ended.code, "is no file with an object on each line" in ended.err) == (3, True)
    with pytest.raises(DataError, match=r"lines=True.*or name other files"):
        guess([f"{day}.json"])
