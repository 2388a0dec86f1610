"""Map files: written and read exactly, refused if changed, and as the published schema says."""

import json
from dataclasses import replace
from datetime import date
from pathlib import Path

import jsonschema
import numpy as np
import pytest

import monitor
from monitor.base.errors import DataError
from monitor.metrics.maps.calibration_map import CalibrationMap, apply_calibration_map
from monitor.metrics.maps.class_map_file import ClassMapFile, ClassTraining
from monitor.metrics.maps.map_file import (
    Days,
    Gain,
    Gains,
    Level,
    MapFile,
    Training,
    checksum,
    map_text,
    with_level,
)
from monitor.metrics.maps.vector_map import VectorMap, apply_vector_map
from monitor.store.map_file import AnyMapFile, read_map, write_map
from tools.pages import SCHEMA, SCHEMA_OF_CLASSES, pages

MAY, JUNE = date(2026, 5, 1), date(2026, 6, 1)
CONTENT = MapFile(
    model="bids",
    segment="DE",
    map=CalibrationMap("beta", -0.1 - 2.0**-50, (0.1 + 0.2, 1e-3), (), (1e-7 / 3.0, 0.75)),
    training=Training(MAY, JUNE, 32, 64_000, 3_201),
    level=Level("outcomes", MAY, JUNE, 0.02),
    replaces=Days(MAY, MAY),
    gains=Gains(*[Gain(0.1, 0.05, 0.15)] * 4),
    version="1.2.3",
)
OF_CLASSES = ClassMapFile(
    model="pets",
    map=VectorMap(
        "vector", ("cat", 'a "dog"', "ü"), (0.1, 0.0, -0.1), (0.1 + 0.2, 1.0, 1e-7 / 3.0)
    ),
    training=ClassTraining(MAY, JUNE, 32, 64_000, 50_000, (30_000, 20_000, 0)),
    replaces=None,
    gains=Gains(*[Gain(0.1, 0.05, 0.15)] * 4),
    version="1.2.3",
)


def test_reads_a_map_of_classes_that_was_written(tmp_path: Path) -> None:
    """Every number and name comes back, and so do mapped vectors."""
    path = tmp_path / "map.json"
    write_map(str(path), OF_CLASSES)
    vectors = np.array([[0.2, 0.3, 0.5], [1.0, 0.0, 0.0]])

    assert read_map(str(path)) == OF_CLASSES
    assert (monitor.apply_map(vectors, path) == apply_vector_map(vectors, OF_CLASSES.map)).all()


def test_refuses_a_map_of_classes_that_lacks_one(tmp_path: Path) -> None:
    """A valid document with a valid check sum, but two slopes for three classes."""
    path = tmp_path / "map.json"
    write_map(str(path), replace(OF_CLASSES, map=replace(OF_CLASSES.map, parameters=(1.0, 1.0))))

    with pytest.raises(DataError, match="has 3 parameters, got 2"):
        read_map(str(path))


def test_reads_what_was_written(tmp_path: Path) -> None:
    """Every number comes back to the last bit, and so do mapped scores."""
    path = tmp_path / "maps" / "map.json"
    write_map(str(path), CONTENT)
    scores = np.linspace(0.0, 1.0, 1001)

    assert read_map(str(path)) == CONTENT
    assert monitor.read_map(path) == CONTENT
    assert (monitor.apply_map(scores, path) == apply_calibration_map(scores, CONTENT.map)).all()


@pytest.mark.parametrize(
    ("schema", "content"), [(SCHEMA, CONTENT), (SCHEMA_OF_CLASSES, OF_CLASSES)]
)
def test_file_is_as_the_published_schema_says(schema: Path, content: AnyMapFile) -> None:
    """The schema in the documentation is that of the code, and a map file is valid under it."""
    text = schema.read_text(encoding="utf-8")
    published = json.loads(text)
    document = json.loads(map_text(content))

    assert text == pages()[schema], "run: make pages"
    jsonschema.validate(document, published)
    for change in ({"format": 2}, {"extra": 1}, {"checksum": "md5:0"}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(document | change, published)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"model": "clicks"}, "was changed after it was written"),
        ({"format": 2}, "format: Input should be 1"),
        ({"checksum": None}, "is not a map file"),
    ],
)
def test_refuses_other_files(tmp_path: Path, change: dict[str, object], message: str) -> None:
    """A file that was changed, or is of another format, is refused with the file's name."""
    document = json.loads(map_text(CONTENT)) | change
    path = tmp_path / "map.json"
    path.write_text(json.dumps({k: v for k, v in document.items() if v is not None}))

    with pytest.raises(DataError, match=f"{path}: {message}"):
        read_map(str(path))


@pytest.mark.parametrize(
    "text", ["[" * 100_000, "", "[]", "3", "not json", '{"checksum": 1}', "\x80abc"]
)
def test_refuses_what_is_no_map(tmp_path: Path, text: str) -> None:
    """Whatever a file holds, it is a map file or the same error."""
    path = tmp_path / "map.json"
    path.write_bytes(text.encode("latin-1"))

    with pytest.raises(DataError, match=r"recalibrate --out\.$"):
        read_map(str(path))


def test_refuses_a_map_that_reorders(tmp_path: Path) -> None:
    """A valid document with a valid check sum whose map falls is refused too."""
    falling = replace(CONTENT, map=CalibrationMap("platt", parameters=(-1.0,)))
    path = tmp_path / "map.json"
    write_map(str(path), falling)

    with pytest.raises(DataError, match="not strictly increasing"):
        read_map(str(path))


def test_missing_file_is_named(tmp_path: Path) -> None:
    """A file that is not there is a DataError that names it."""
    with pytest.raises(DataError, match=r"map\.json: cannot be reached"):
        read_map(str(tmp_path / "map.json"))


def test_check_sum_ignores_the_order_of_keys() -> None:
    """The same content in another order has the same check sum."""
    assert checksum({"a": 1, "b": 2.5}) == checksum({"b": 2.5, "a": 1})


def test_level_can_be_replaced() -> None:
    """A new level keeps the shape and drops the gains, which were those of the old one."""
    moved = with_level(CONTENT, 0.4, Level("scores", JUNE, JUNE, 0.1))

    assert moved.map == replace(CONTENT.map, level=0.4)
    assert moved.gains is None
    assert moved.training == CONTENT.training


@pytest.mark.parametrize("scores", [[0.5, float("nan")], [1.5], ["high"]])
def test_apply_refuses_what_is_no_score(scores: list[object]) -> None:
    """Missing values, values outside [0, 1] and text are named."""
    with pytest.raises(DataError, match="scores"):
        monitor.apply_map(scores, CONTENT)
