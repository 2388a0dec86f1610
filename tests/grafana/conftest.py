"""A Prometheus that holds the past of the store of two models."""

from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest

from tests.support.filled import Filled, filled_prometheus
from tests.support.two_models import first_day


@pytest.fixture(scope="session")
def filled(two_models: Path, today: date) -> Iterator[Filled]:
    """Show the store to a Prometheus."""
    with filled_prometheus(two_models, first_day(today), today) as prometheus:
        yield prometheus
