"""An object store, and DuckDB to compare Spark with, for the tests of logs."""

from collections.abc import Iterator

import fsspec
import pytest
from moto.server import ThreadedMotoServer

from monitor.config import Engine
from monitor.logs import Databases, open_databases


@pytest.fixture(scope="session")
def duckdb() -> Iterator[Databases]:
    """Open the engine to compare with."""
    with open_databases(Engine(threads=2, memory_mb=200)) as databases:
        yield databases


@pytest.fixture(scope="module")
def bucket(request: pytest.FixtureRequest) -> Iterator[str]:
    """Run an object store on this machine, with one bucket."""
    server = ThreadedMotoServer("127.0.0.1", 0)
    server.start()
    host, port = server.get_host_and_port()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
        patch.setenv("AWS_ACCESS_KEY_ID", "nobody")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "nothing")
        patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        fsspec.filesystem("s3").clear_instance_cache()  # of earlier tests, with another server
        # All servers of this process share their buckets.
        name = request.module.__name__.rpartition(".")[2].replace("_", "-")
        fsspec.filesystem("s3", use_listings_cache=False).mkdir(name)
        yield f"s3://{name}"
        fsspec.filesystem("s3").clear_instance_cache()
    server.stop()
