"""What a model with classes cannot have: found by trying every setting, and listed in the docs."""

import re
from collections.abc import Mapping
from typing import Any

import pytest
from pydantic import ValidationError

from monitor.config import Model
from monitor.config.classes import Classes
from monitor.config.schema import OutcomeLog, PredictionLog
from tests.support.paths import ROOT

BASE: dict[str, Any] = {
    "predictions": {"path": "p/{day}.parquet"},
    "outcomes": {"path": "o/{day}.parquet"},
}
MAP = {"file": "map.json", "since": "2026-01-01"}
# A valid value of every setting that a model with two outcomes may have beside `BASE`.
GIVEN: dict[str, Mapping[str, Any]] = {
    "": {
        "doubts": ["look"],
        "ids": {"cast": "integer"},
        "segments": {"column": "country", "values": ["DE"]},
        "strata": {"column": "country", "values": ["DE"]},
        "map": MAP,
        "owner": "ann",
        "severity": "page",
        "time_zone": "Asia/Kolkata",
        "label_rate": "by_score",
        "action": "blocked",
        "value": {"per_nat": 1.0, "currency": "EUR"},
        "decision": {"threshold": 0.2},
        "budget": {"per_prediction": 0.01},
        "settled_after": 2,
        "windows": [1],
        "schedule": "0 7 * * *",
        "log_deadline_hours": 1,
        "catch_up_days": 1,
        "calendar": {"weekdays": ["mon"]},
        "checks": {"reject": ["score_missing"]},
        "verdicts": {"false_alert_days": 500},
    },
    "predictions": {
        "score": "p",
        "score_means": "percent",
        "weight": "w",
        "entity": "user",
        "id": "key",
        "time": "at",
        "time_unit": "ms",
        "where": "shard = 0",
        "duplicates": "keep_identical",
        "format": "csv",
        "renamed": {"old": "new"},
    },
    "outcomes": {
        "weight": "w",
        "outcome": "species",
        "outcome_means": {"positive": ["yes"], "negative": ["no"]},
        "absent_means": "negative after 0d",
        "id": "key",
        "time": "at",
        "time_unit": "ms",
        "where": "shard = 0",
        "duplicates": "keep_identical",
        "format": "csv",
        "calendar": {"weekdays": ["mon"]},
        "renamed": {"old": "new"},
    },
}
OF_CLASSES = {"sums": "normalise", "watch": ["a"], "weights": [1, 2, 3]}
# Where the rows are, which tests/combinations crosses with classes; and what is tried below.
ELSEWHERE = {
    "": {"predictions", "outcomes", "columns"},
    "predictions": {"path", "classes", "sql", "connection", "changed", "day"}
    | {"columns", "separator", "null_text", "explode"}  # tests/logs/test_row_settings.py
    | {"predicted_label", "label_means"},  # of one value of score_means
    "outcomes": {"path", "in_predictions", "sql", "connection", "changed", "day"}
    | {"owner"}  # who hears of labels
    | {"columns", "separator", "null_text", "explode"},
}
SECTIONS = {"": Model, "predictions": PredictionLog, "outcomes": OutcomeLog}
NAMES = ["a", "b", "c"]
WHOLE = {"names": NAMES, "vector": "p"}
TOP = {"names": NAMES, "top": {"scores": "best"}}


def model_of(classes: Mapping[str, Any] | None, section: str = "", **more: Any) -> Model:
    """Configure a model with one more setting."""
    content = {name: dict(of) for name, of in BASE.items()}
    if classes:
        content["predictions"]["classes"] = classes
    (content[section] if section else content).update(more)
    return Model.model_validate(content)


def is_refused(classes: Mapping[str, Any], section: str = "", **more: Any) -> bool:
    """Tell whether classes cannot have a setting, by a message that names it."""
    try:
        model_of(classes, section, **more)
    except ValidationError as error:
        return all(key in str(error) for key in more)
    return False


def refused() -> set[str]:
    """Try every setting with whole vectors, and what these may have with the highest scores."""
    found = set()
    for section, settings in GIVEN.items():
        for key, value in settings.items():
            name = f"{section}.{key}" if section else key
            model_of(None, section, **{key: value})
            if is_refused(WHOLE, section, **{key: value}):
                found.add(name)
            elif is_refused(TOP, section, **{key: value}):
                found.add(f"{name} beside top")
    for key, value in OF_CLASSES.items():
        model_of({**WHOLE, key: value})
        with pytest.raises(ValidationError, match=key):
            model_of({**TOP, key: value})
        found.add(f"{key} beside top")
    model_of(None, map=[{**MAP, "deploy": "2026-02-01"}, {**MAP, "since": "2026-03-01"}])
    if is_refused(WHOLE, map=[{**MAP, "deploy": "2026-02-01"}, {**MAP, "since": "2026-03-01"}]):
        found.add("several maps under map")
    return found


def listed() -> set[str]:
    """Read the first column of the table."""
    _, _, after = (ROOT / "docs/classes.md").read_text().partition("## What is refused")
    rows = re.findall(r"^\| (?!Setting)([^|]*[`a-z][^|]*) \|", after, re.MULTILINE)
    found = set()
    for row in rows:
        text, beside, _ = row.partition(" beside `top`")
        if text.startswith("several"):
            found.add(text.replace("`", ""))
            continue
        for name in re.findall(r"`([^`:]+)[^`]*`", text):
            found.add(f"{name} beside top" if beside else name)
    return found


def test_the_table_is_what_is_refused() -> None:
    """Each line of the table is refused, and nothing else is."""
    assert listed() == refused()


def test_every_setting_is_tried() -> None:
    """A new setting has a value here, or a reason to have none."""
    for name, section in SECTIONS.items():
        assert {*section.model_fields} == {*GIVEN[name]} | ELSEWHERE[name]
    shapes = {"names", "vector", "top"}
    assert {*Classes.model_fields} == {*OF_CLASSES} | shapes
