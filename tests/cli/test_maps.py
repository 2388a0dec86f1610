"""`map show`, `map sql` and `map compose`: what map files say, in SQL, and one on another."""

import re
from datetime import date
from itertools import cycle
from pathlib import Path

import duckdb
import numpy as np
import pytest

import monitor
from monitor.metrics.maps.calibration_map import CalibrationMap, apply_calibration_map
from monitor.metrics.maps.class_map_file import ClassMapFile, ClassTraining
from monitor.metrics.maps.map_file import Days, Gain, Gains, Level, MapFile, Training
from monitor.metrics.maps.vector_map import VectorMap, apply_vector_map
from monitor.store.map_file import write_map
from tests.conftest import Command
from tests.metrics.maps.test_calibration_map import MAPS

FIRST, LAST = date(2026, 3, 1), date(2026, 3, 21)
SCORES = np.concatenate([[0.0, 1e-9], np.linspace(0.001, 0.999, 101), [1.0]])
SOME = Gain(0.07, 0.01, 0.13)
GAINS = Gains(SOME, SOME, SOME, SOME)


def made(calibration_map: CalibrationMap, model: str = "bids", segment: str = "all") -> MapFile:
    """Make a map file."""
    training = Training(FIRST, LAST, 21, 19_227, 5_230)
    level = Level("outcomes", FIRST, LAST, 0.05)
    return MapFile(
        model, segment, calibration_map, training, level, Days(FIRST, LAST), GAINS, "0.1.0"
    )


def of_classes() -> ClassMapFile:
    """Make the file of a map of vectors."""
    found = VectorMap("vector", ("cat", 'a "dog"', "fish"), (0.1, 0.0, -0.1), (0.8, 1.1, 0.9))
    return ClassMapFile(
        "pets", found, ClassTraining(FIRST, LAST, 21, 900, 900, (300, 300, 300)), None, GAINS, "1"
    )


def computed(expression: str, column: str, scores: np.ndarray) -> list[float]:
    """Compute an expression of a column in DuckDB."""
    with duckdb.connect() as session:
        rows = session.execute(
            f"SELECT {expression} FROM (SELECT unnest(?::DOUBLE[]) AS {column})",  # noqa: S608
            [scores.tolist()],
        ).fetchall()
    return [row[0] for row in rows]


@pytest.mark.parametrize(("deployed", "newer"), [*zip(cycle(["platt", "spline"]), MAPS)])
def test_a_composed_map_is_one_after_the_other(
    deployed: str, newer: str, tmp_path: Path, command: Command
) -> None:
    """File, Python and SQL give what the newer map makes of what the deployed one makes.

    In DuckDB to 1e-12 of each, some thousand roundings.
    """
    paths = tmp_path / "deployed.json", tmp_path / "newer.json", tmp_path / "both.json"
    for path, name in zip(paths, (deployed, newer), strict=False):
        write_map(str(path), made(MAPS[name]))
    ended = command("map", "compose", paths[0], paths[1], "--out", paths[2])
    expected = apply_calibration_map(apply_calibration_map(SCORES, MAPS[deployed]), MAPS[newer])

    assert (ended.code, ended.err) == (0, "")
    assert ended.out == f"written: {paths[2]}\n"
    np.testing.assert_array_equal(monitor.apply_map(SCORES, paths[2]), expected)
    expression = command("map", "sql", paths[2], "--column", "p").out
    np.testing.assert_allclose(computed(expression, "p", SCORES), expected, rtol=1e-12)


def test_maps_compose_in_any_number(tmp_path: Path, command: Command) -> None:
    """Three maps, composed from either side, are the same file."""
    for name in ("platt", "beta", "isotonic"):
        write_map(str(tmp_path / f"{name}.json"), made(MAPS[name]))

    def compose(first: str, second: str, out: str) -> Path:
        paths = [tmp_path / f"{name}.json" for name in (first, second, out)]
        assert command("map", "compose", *paths[:2], "--out", paths[2]).code == 0
        return paths[2]

    compose("platt", "beta", "left")
    compose("beta", "isotonic", "right")
    one, other = compose("left", "isotonic", "one"), compose("platt", "right", "other")

    assert one.read_bytes() == other.read_bytes()
    assert len(monitor.read_map(one).steps) == 3


def test_show_says_what_a_map_does(tmp_path: Path, command: Command) -> None:
    """The family, the days, the gain, and what becomes of some scores."""
    path = tmp_path / "map.json"
    write_map(str(path), made(MAPS["platt"]))
    said = " ".join(command("map", "show", path).out.split())
    told = command("map", "show", path).out

    assert "bids, segment all: an intercept and a slope (platt), fitted to 19,227 outcomes" in said
    assert "On days left out it gained 0.0700 nats" in said
    assert "the reference of 2026-03-01 to 2026-03-21 is over" in said
    pairs = re.findall(r"^ *([01][.\d]*) +([\d.e-]+) +(?:yes|no)", told, re.MULTILINE)
    scores, mapped = np.array(pairs, float).T  # four digits are shown
    np.testing.assert_allclose(mapped, monitor.apply_map(scores, path), rtol=1e-3)


def test_a_map_of_vectors(tmp_path: Path, command: Command) -> None:
    """It is shown, and its SQL gives in DuckDB what Python does, to 1e-12."""
    path, content = tmp_path / "map.json", of_classes()
    write_map(str(path), content)
    vectors = np.random.default_rng(1).dirichlet([1.0, 2.0, 3.0], 50)
    expressions = command("map", "sql", path, "--column", "q").out
    with duckdb.connect() as session:
        rows = session.execute(
            f"SELECT {expressions} FROM (SELECT unnest(?::DOUBLE[][]) AS q)",  # noqa: S608
            [vectors.tolist()],
        ).fetchall()

    assert (
        "pets, classes: a slope and an intercept for each class" in command("map", "show", path).out
    )
    np.testing.assert_allclose(rows, apply_vector_map(vectors, content.map), rtol=1e-12)
    refused = command("map", "sql", path)
    assert refused.code == 2
    assert "name the column that holds them as lists" in refused.err


@pytest.mark.parametrize(
    ("deployed", "newer", "message"),
    [
        (made(MAPS["platt"], "ctr"), made(MAPS["platt"]), "of two models, 'ctr' and 'bids'"),
        (made(MAPS["platt"], segment="DE"), made(MAPS["platt"]), "of the segment 'DE' alone"),
        (made(MAPS["platt"]), of_classes(), "such maps are not composed"),
    ],
)
def test_what_is_not_composed(
    deployed: MapFile, newer: MapFile | ClassMapFile, message: str, tmp_path: Path, command: Command
) -> None:
    """Maps of other scores are refused, and nothing is written."""
    paths = [tmp_path / name for name in ("deployed.json", "newer.json", "both.json")]
    for path, content in zip(paths, (deployed, newer), strict=False):
        write_map(str(path), content)
    ended = command("map", "compose", *paths[:2], "--out", paths[2])

    assert ended.code == 2
    assert message in " ".join(ended.err.split())
    assert not paths[2].exists()


@pytest.mark.parametrize("content", [b"{}", b"\xff\xfe", None])
def test_what_is_no_map_file(content: bytes | None, tmp_path: Path, command: Command) -> None:
    """Whatever the file holds, or if there is none: an error that names it."""
    path = tmp_path / "map.json"
    if content is not None:
        path.write_bytes(content)
    ended = command("map", "show", path)

    assert ended.code == 3
    assert "map.json" in ended.err
