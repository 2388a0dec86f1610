"""An object store and both engines for the tests of logs."""

import sys
from collections.abc import Iterator

import fsspec
import pytest
from moto.server import ThreadedMotoServer

from monitor.config import Engine
from monitor.logs import Databases, open_databases
from tests.support.servers import free_port

OF_SPARK = {
    "spark.driver.memory": "600m",
    "spark.ui.enabled": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.shuffle.partitions": "2",
    # Compiling costs more than running queries of a few rows.
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
    # The same Java machine is a Spark Connect server too.
    "spark.plugins": "org.apache.spark.sql.connect.SparkConnectPlugin",
    "spark.connect.grpc.binding.address": "127.0.0.1",
}


@pytest.fixture(scope="session")
def spark() -> Iterator[Databases]:
    """Start Spark on this machine, once for all tests, because Java starts for many seconds."""
    conf = {**OF_SPARK, "spark.connect.grpc.binding.port": free_port()}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(
            "PYSPARK_PYTHON", sys.executable
        )  # of the server, for the tasks of its clients
        with open_databases(Engine(kind="spark", master="local[2]", conf=conf)) as databases:
            databases.spark.sparkContext.setLogLevel("OFF")
            yield databases
    databases.spark.stop()


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
