"""Messages about a configuration name the keys as they are written, and nothing internal."""

import copy
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import yaml

from monitor.base.errors import ConfigError
from monitor.config import load_config
from tests.support.cases import some
from tests.support.fuzzing import INTERNAL

# One model with every setting that can be written in several ways.
SOUND: dict[str, Any] = {
    "store": "store",
    "engine": {"kind": "spark", "conf": {"spark.a": 1}},
    "models": {
        "ctr": {
            "predictions": {"path": "p/{day}", "id": ["a", "b"], "score": "s", "weight": "w"},
            "outcomes": {
                "path": "o/{day}",
                "id": ["a", {"column": "c", "field": "f"}],
                "outcome_means": {"positive": ["yes", 1], "negative": ["no", False]},
            },
            "ids": {"cast": "text"},
            "segments": [
                {"column": "device", "top": 5},
                {"column": "country", "values": ["AT", "DE"], "primary": True},
                {"column": "age", "edges": [18, 65.5]},
                {"cross": ["device", "age"], "top": 4},
            ],
            "strata": {"column": "product", "values": ["x"]},
            "settled_after": 28,
            "windows": [1, 7],
            "calendar": {"weekdays": ["mon"], "closed": [date(2026, 1, 1)]},
            "verdicts": {
                "references": [{"first": date(2026, 1, 1), "last": date(2026, 1, 9)}],
                "known_drifts": [
                    {"first": date(2026, 3, 1), "last": date(2026, 3, 9), "segment": "all"}
                ],
            },
        }
    },
}  # fmt: skip
ODD = [None, True, 5, -1.5, "x", "", date(2026, 1, 1), [], [5], [None], ["x", "x"], {}, {"a": 1},
       {5: None}, {"column": "c"}, {"column": 5, "top": 2}, {"cross": 5}, {"cross": ["a"]},
       [{"column": "c"}], [{"cross": [5, None]}], [{"column": "a", "valuess": ["b"], "top": 3}],
       [[["x"]]], {"\0one": {"\0several": 1}}]  # fmt: skip


def places(tree: Any, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """List the places of a configuration, the whole left out."""
    for key in tree if isinstance(tree, dict) else range(len(tree) * isinstance(tree, list)):
        yield (*above, key)
        if isinstance(tree[key], dict | list):
            yield from places(tree[key], (*above, key))


def complaints(folder: Path, content: Any) -> list[str]:
    """Load a configuration, and list what is said about it."""
    path = folder / "monitor.yaml"
    path.write_text(yaml.dump(content, Dumper=yaml.CSafeDumper))
    try:
        invalid = load_config(path).invalid
    except ConfigError as error:
        return str(error).split("\n")
    return [line for model in invalid.values() for line in model.message.split("\n")]


def test_the_configuration_is_sound(tmp_path: Path) -> None:
    """Otherwise every message below would be about something else."""
    assert complaints(tmp_path, SOUND) == []


PLACES = [*places(SOUND)]


@pytest.mark.parametrize("place", PLACES, ids=lambda place: ".".join(map(str, place)))
def test_no_message_shows_how_it_is_checked(place: tuple[Any, ...], tmp_path: Path) -> None:
    """Whatever value a setting has, messages about it have no names of classes or functions.

    They are about the setting, one below it, or one above it.
    """
    written, said, turn = ".".join(map(str, place)), list[str](), PLACES.index(place) % len(ODD)
    for odd in some([*ODD[turn:], *ODD[:turn]], 3):
        content = copy.deepcopy(SOUND)
        node: Any = content
        for key in place[:-1]:
            node = node[key]
        node[place[-1]] = odd
        messages = complaints(tmp_path, content)
        said += messages
        for message in messages:
            about = message.removeprefix(f"{tmp_path}/monitor.yaml: ").partition(": ")[0]
            parts = [about.removesuffix(":"), written]
            assert len(message) < 500
            assert parts[0].startswith(parts[1]) or parts[1].startswith(parts[0]), message

    assert said
    assert not [message for message in said if INTERNAL.search(message)]


def test_a_list_of_segments_is_named_as_it_is_written(tmp_path: Path) -> None:
    """The numbers are those of the list, whichever entry is the primary one."""
    content = copy.deepcopy(SOUND)
    listed = content["models"]["ctr"]["segments"]
    listed[0]["topp"], listed[1]["values"], listed[3]["cross"] = 3, [None], ["a"]
    where = f"{tmp_path}/monitor.yaml: models.ctr.segments"

    assert complaints(tmp_path, content) == [
        f"{where}.1.values.0: Input should be a valid string, got None; correct the value.",
        f"{where}.0.topp: is not a known key; did you mean 'top'?",
        f"{where}.3.cross: must have at least 2 items, got ['a']; correct the value.",
    ]


def test_a_plan_is_for_segments_that_there_are(tmp_path: Path) -> None:
    """The whole, a listed value, the others, and of classes their pairs; else it covers nothing."""
    for segment in ("all", "AT", "other", "FR", "device = tv"):
        content = copy.deepcopy(SOUND)
        content["models"]["ctr"]["verdicts"]["known_drifts"][0]["segment"] = segment
        said = " ".join(complaints(tmp_path, content))
        unknown = segment in ("FR", "device = tv")
        assert ("name one of all, AT, DE, other" in said) == unknown
