"""What is refused of lists in records and of JSON, and what is counted of records without one."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from monitor.base.errors import DataError
from monitor.config.filters import check_expression
from tests.logs.test_row_settings import counted, summarise

OUTCOMES = {"prediction_id": ["a", "a", "b"], "place": [0, 1, 0], "outcome": [0, 1, 1]}
KEY: dict[str, Any] = {"id": ["prediction_id", "position"], "score": "element"}


def settings(**keys: Any) -> dict[str, Any]:
    """Describe both logs."""
    log = KEY | {"explode": "scores"} | keys
    return {"predictions": log, "outcomes": {"id": ["prediction_id", "place"]}}


def test_a_record_without_a_list_lacks_its_score(tmp_path: Path) -> None:
    """It fails the check of scores, unless a filter leaves it out; an empty list is no row."""
    scored = {
        "prediction_id": ["a", "b", "c", "d"],
        "scores": [[0.1, 0.8], [0.7], [], None],
        "status": [200, 200, 200, 500],
    }
    with pytest.raises(DataError, match=r"1 of 4 predictions"):
        summarise(tmp_path, scored, OUTCOMES, **settings())

    summary = summarise(tmp_path, scored, OUTCOMES, **settings(where="status = 200"))

    assert counted(summary) == (3, 3, 2)


def test_outcomes_in_lists(tmp_path: Path) -> None:
    """The log of outcomes may have lists too; a filter of elements chooses rows."""
    scored = {"prediction_id": ["a", "b"], "scores": [[0.1, 0.8], [0.7]]}
    observed = {"prediction_id": ["a", "b"], "labels": [[0, 1], [1]]}
    keys = settings(where="position = 0")
    keys["outcomes"] = {
        "explode": "labels",
        "id": ["prediction_id", "position"],
        "outcome": "element",
    }

    assert counted(summarise(tmp_path, scored, observed, **keys)) == (2, 2, 1)


@pytest.mark.parametrize(
    ("scored", "explode", "message"),
    [
        ({"scores": [[0.1]], "position": [3]}, "scores", "a column 'position' of their own"),
        ({"scores": [0.1]}, "scores", "is DOUBLE, in which no list is at this place"),
        ({"r": [{"a": [0.1]}]}, "r.b", "has no field 'b', only a .*; correct predictions.explode"),
        ({"scores": [[0.1]]}, "score", "no column 'score'.*correct predictions.explode"),
    ],
)
def test_what_has_no_list_is_named(
    scored: dict[str, Any], explode: str, message: str, tmp_path: Path
) -> None:
    """Its file, its type, and the setting."""
    rows = pa.table({"prediction_id": ["a"], **scored}).to_pydict()
    with pytest.raises(DataError, match=message):
        summarise(tmp_path, rows, OUTCOMES, **settings(explode=explode))


@pytest.mark.parametrize(
    "text",
    [
        "a->'x'->>'y'",
        "a->0",
        "(a->>'x') = 'y'",
        "a->'x'->(position + 1)->>'id'",
        "a->CAST(position AS INT)",
        "decode(from_base64(a->>'data'))",
    ],
)
def test_accesses_to_json_are_expressions(text: str) -> None:
    """They are no lambdas."""
    assert check_expression(text) == text


@pytest.mark.parametrize("text", ["a->'x' = 'y'", "a->'x' || 'b'", "a->>'x'::INT", "a->('x' + 1)"])
def test_an_access_that_takes_more_than_its_key_is_refused(text: str) -> None:
    """SQL would look for another key without a word."""
    with pytest.raises(ValueError, match="put each access in parentheses"):
        check_expression(text)
