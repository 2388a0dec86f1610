"""The logs of the demo's model with classes: vectors that add up, and every outcome once."""

from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from monitor.demo.flight_classes import CLASSES, COLUMNS
from monitor.demo.flights import flight_table
from tests.support.flight_logs import class_logs

DAYS = 306  # from March to December


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the logs once."""
    return class_logs(tmp_path_factory)


def test_vectors_add_up(logs: Path) -> None:
    """The default check of sums, 1e-6, refuses no row."""
    rows = pq.ParquetFile(logs / "predictions/flights-classes/2013-07-10.parquet").read()
    sums = np.sum([rows[column].to_numpy() for column in COLUMNS], axis=0)

    assert len(rows) > 900
    assert abs(sums - 1.0).max() < 1e-12
    assert min(rows[column].to_numpy().min() for column in COLUMNS) > 0.0


def test_every_class_is_counted(logs: Path) -> None:
    """Outcomes from March on are those of the table; a diverted flight has none."""
    files = sorted((logs / "class-outcomes").iterdir())
    said = [one for path in files for one in pq.ParquetFile(path).read()["outcome"].to_pylist()]
    flights = flight_table()
    flights = flights[flights["month"] >= 3]
    delays = flights["arr_delay"]

    assert len(files) == DAYS + 1
    assert [said.count(name) for name in CLASSES] == [
        (delays <= 15).sum(),
        ((delays > 15) & (delays <= 60)).sum(),
        (delays > 60).sum(),
        flights["dep_delay"].isna().sum(),
    ]
