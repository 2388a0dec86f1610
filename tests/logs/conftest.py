"""An object store, and DuckDB to compare Spark with, for the tests of logs."""

from collections.abc import Iterator

import pytest

from monitor.config import Engine
from monitor.logs import Databases, open_databases
from tests.support.buckets import bucket_named


@pytest.fixture(scope="session")
def duckdb() -> Iterator[Databases]:
    """Open the engine to compare with."""
    with open_databases(Engine(threads=2, memory_mb=200)) as databases:
        yield databases


@pytest.fixture(scope="module")
def bucket(request: pytest.FixtureRequest) -> Iterator[str]:
    """Run an object store on this machine, with one bucket."""
    name = request.module.__name__.rpartition(".")[2].replace("_", "-")
    with bucket_named(name) as address:
        yield address
