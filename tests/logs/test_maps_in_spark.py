"""Calibration maps as SQL give in Spark what they give in Python."""

import numpy as np
import pytest

from monitor.logs import Databases
from monitor.metrics.maps.calibration_map import apply_calibration_map
from monitor.metrics.maps.sql import sql_expression
from tests.metrics.maps.test_calibration_map import MAPS, SCORES


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
