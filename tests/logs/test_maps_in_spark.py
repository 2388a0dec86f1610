"""Calibration maps as SQL give in Spark and in DuckDB what they give in Python."""

from collections.abc import Callable
from typing import Any

import duckdb
import numpy as np
import pytest

from monitor.logs import Databases
from monitor.metrics.maps.calibration_map import apply_calibration_map
from monitor.metrics.maps.map_file import Step
from monitor.metrics.maps.part import Clause, Engine, Part
from monitor.metrics.maps.sql import sql_expression, sql_of_classes, sql_of_steps
from monitor.metrics.maps.vector_map import VectorMap, apply_vector_map
from tests.metrics.maps.test_calibration_map import MAPS, SCORES

QUOTED = "tv's \\ `best`"  # quotes of both engines, and what one of them escapes with
DEVICES = (QUOTED, "web", "", None)
ADULT = Clause("the age", low=18.0, high=65.0)
PARTS: dict[str, tuple[tuple[tuple[Clause, ...], ...], Callable[[Any, Any], bool]]] = {
    "a value": (((Clause("device", (QUOTED,)),),), lambda d, _: d == QUOTED),
    "values": (((Clause("device", ("web", "")),),), lambda d, _: d in ("web", "")),
    "others": (((Clause("device", ("web",), others=True),),), lambda d, _: d != "web"),
    "a range": (((ADULT,),), lambda _, a: a is not None and 18.0 <= a < 65.0),
    "an end": (((Clause("the age", low=65.0),),), lambda _, a: a is not None and a >= 65.0),
    "both": (
        ((Clause("device", ("web",)), ADULT),),
        lambda d, a: d == "web" and a is not None and 18.0 <= a < 65.0,
    ),
    "either": (
        ((Clause("device", ("web",)),), (ADULT,)),
        lambda d, a: d == "web" or (a is not None and 18.0 <= a < 65.0),
    ),
}
VECTORS = (
    VectorMap("temperature", ("a", "b", "c"), parameters=(0.5,)),
    VectorMap("vector", ("a", "b", "c"), (0.1, 0.0, -0.1), (0.8, 1.1, 0.9)),
)


def parted_rows() -> list[tuple[float, Any, Any]]:
    """Give each device with each age, NaN and none too, with scores of their own."""
    pairs = [(d, a) for d in DEVICES for a in (17.9, 18.0, 64.9, 65.0, float("nan"), None)]
    return [(0.03 + 0.04 * i, d, a) for i, (d, a) in enumerate(pairs)]


def mapped_in_python(name: str, part: str) -> np.ndarray:
    """Map the rows of a part, chosen in Python, and leave all others as they are."""
    rows = parted_rows()
    scores, meant = np.array([row[0] for row in rows]), PARTS[part][1]
    inside = np.array([bool(meant(d, None if a != a else a)) for _, d, a in rows])  # noqa: PLR0124
    return np.where(inside, apply_calibration_map(scores, MAPS[name]), scores)


def expressions(engine: Engine) -> dict[tuple[str, str], str]:
    """Write every family for every part."""
    return {
        (name, part): sql_of_steps([Step(**vars(found), part=Part(part, rule))], "score", engine)
        for name, found in MAPS.items()
        for part, (rule, _) in PARTS.items()
    }


def assert_as_in_python(rows: list[Any], engine: Engine) -> None:
    """Compare the columns of a query; 1e-12 relative is some thousand roundings."""
    for place, (name, part) in enumerate(expressions(engine)):
        found = [row[place] for row in rows]
        np.testing.assert_allclose(found, mapped_in_python(name, part), rtol=1e-12)


def test_duckdb_maps_the_rows_of_a_part_alone() -> None:
    """Each family for each kind of rule, whatever is missing."""
    with duckdb.connect() as session:
        session.execute(
            'CREATE TABLE t (n INTEGER, score DOUBLE, device VARCHAR, "the age" DOUBLE)'
        )
        session.executemany(
            "INSERT INTO t VALUES (?, ?, ?, ?)", [(i, *row) for i, row in enumerate(parted_rows())]
        )
        chosen = ", ".join(expressions("duckdb").values())
        rows = session.execute(f"SELECT {chosen} FROM t ORDER BY n").fetchall()  # noqa: S608

    assert_as_in_python(rows, "duckdb")


def test_spark_maps_the_rows_of_a_part_alone(spark: Databases) -> None:
    """The same with the quotes of Spark."""
    table = spark.spark.createDataFrame(
        parted_rows(), "score double, device string, `the age` double"
    ).coalesce(1)

    rows = table.selectExpr(*expressions("spark").values()).collect()

    assert_as_in_python(rows, "spark")


@pytest.mark.parametrize("found", VECTORS, ids=lambda found: found.kind)
def test_spark_maps_vectors(found: VectorMap, spark: Databases) -> None:
    """A temperature, and a slope for each class, of columns; an incomplete vector gives NULL."""
    vectors = np.random.default_rng(1).dirichlet([1.0, 2.0, 3.0], 40)
    rows = [*vectors.tolist(), [0.2, 0.3, None], [0.2, 0.3, 0.4]]
    table = spark.spark.createDataFrame(rows, "a double, b double, c double").coalesce(1)

    mapped = table.selectExpr(*sql_of_classes(found, ["a", "b", "c"])).collect()

    expected = apply_vector_map(vectors, found)
    np.testing.assert_allclose([tuple(row) for row in mapped[:-2]], expected, rtol=1e-12)
    assert [tuple(row) for row in mapped[-2:]] == [(None, None, None)] * 2


@pytest.mark.parametrize("name", MAPS)
def test_spark_computes_the_same(name: str, spark: Databases) -> None:
    """Each family, and NULL for what is no score."""
    wrong = [(None,), (float("nan"),), (-0.1,), (1.1,)]
    rows = [(score,) for score in SCORES.tolist()] + wrong
    table = spark.spark.createDataFrame(rows, "score double").coalesce(1)

    found = [row[0] for row in table.selectExpr(sql_expression(MAPS[name])).collect()]

    # Both round in every step; 1e-12 relative is some thousand roundings.
    np.testing.assert_allclose(
        found[: SCORES.size], apply_calibration_map(SCORES, MAPS[name]), rtol=1e-12
    )
    assert found[SCORES.size :] == [None] * 4
