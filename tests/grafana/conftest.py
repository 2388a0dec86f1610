"""The store of two models, and a Prometheus that holds its past."""

from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from tests.support.filled import Filled, filled_prometheus
from tests.support.two_models import first_day, write_store

TODAY = datetime.now(UTC).date()


@pytest.fixture(scope="session")
def today() -> date:
    """Name the day after the last logs."""
    return TODAY


@pytest.fixture(scope="session")
def two_models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run the daily job on the logs of two models."""
    folder = tmp_path_factory.mktemp("two")
    write_store(folder, TODAY)
    return folder


@pytest.fixture(scope="session")
def filled(two_models: Path) -> Iterator[Filled]:
    """Show the store to a Prometheus."""
    with filled_prometheus(two_models, first_day(TODAY), TODAY) as prometheus:
        yield prometheus
