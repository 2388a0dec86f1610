"""Servers that send a byte now and then: each is waited for as long as is said, and no longer."""

import os
import socket
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from threading import Event

import pyarrow as pa
import pyiceberg.catalog
import pytest
from deltalake import write_deltalake
from fsspec.implementations.memory import MemoryFileSystem
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.utils.config import Config
from s3fs import S3FileSystem

from monitor.base import files
from monitor.base.errors import DataError
from monitor.base.files import limited, open_filesystem
from monitor.config import PredictionLog, load_config
from monitor.export import push as pushing
from monitor.export.snapshot_reader import Reader
from monitor.logs import summarise_day
from monitor.logs.sources.tables import open_table
from monitor.store.store import Store
from tests.conftest import DAY, DAY_AFTER, Project
from tests.support.buckets import bucket_named
from tests.support.slowing import SECONDS, listen, place_of, slowing, stop

SAID = r"no whole answer within 0\.3 seconds"
HEAD = b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\nContent-Type: text/plain\r\n"
BEGINNINGS = {"status": b"HTTP/1.1 2", "headers": HEAD + b"X: ", "body": HEAD + b"\r\n"}


@pytest.fixture
def dripping(request: pytest.FixtureRequest) -> Iterator[str]:
    """Answer each request with a beginning and then a letter every tenth of a second."""
    ended = Event()

    def drip(connection: socket.socket) -> None:
        with connection, suppress(OSError):
            connection.recv(65_536)
            connection.sendall(BEGINNINGS[getattr(request, "param", "body")])
            while not ended.wait(SECONDS):
                connection.sendall(b"a")

    server = listen(drip)
    yield place_of(server)
    ended.set()
    stop(server)


@pytest.mark.parametrize("dripping", BEGINNINGS, indirect=True)
def test_a_push_ends(project: Project, dripping: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever part of its answer a gateway delays."""
    monkeypatch.setattr(pushing, "TIMEOUT", 0.3)
    reader = Reader(load_config(project.folder / "monitor.yaml"))
    with pytest.raises(DataError, match=SAID):
        pushing.push(reader, "ctr", f"http://{dripping}")


@pytest.fixture
def store(dripping: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Name a bucket of such a server."""
    monkeypatch.setattr(files, "LONGEST", 0.3)
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "x")
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://{dripping}")
    S3FileSystem.clear_instance_cache()  # which keep the address that they were opened with
    yield "s3://slow"
    S3FileSystem.clear_instance_cache()


def test_a_store_is_waited_for_so_long(store: str) -> None:
    """Reading and writing."""
    with pytest.raises(DataError, match=SAID):
        Store(store).must_be_there()
    with pytest.raises(DataError, match=SAID):
        Store(store).try_to_write("probe")


def test_logs_are_waited_for_so_long(store: str, project: Project) -> None:
    """A listing is."""
    project.configure("predictions/{day}", f"{store}/p/{{day}}")
    config = load_config(project.folder / "monitor.yaml")
    with pytest.raises(DataError, match=SAID):
        summarise_day("ctr", config.model("ctr"), DAY, as_of=DAY_AFTER, engine=config.engine)


def test_parts_of_an_open_file_are_waited_for_so_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """DuckDB asks for them while it reads; a whole file comes through."""
    with bucket_named("parts") as bucket:
        filesystem, path = open_filesystem(f"{bucket}/whole")
        filesystem.pipe_file(path, b"abc" * 9)
        with filesystem.open(path) as file:
            assert file.read() == b"abc" * 9
        with filesystem.open(path) as file:
            monkeypatch.setattr(files, "LONGEST", 0)
            with pytest.raises(TimeoutError, match="no whole answer"):
                file.read()


def test_other_filesystems_are_waited_for_so_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those whose library waits for one request at a time, such as SFTP and Hadoop."""
    server, ended = MemoryFileSystem(skip_instance_cache=True), Event()
    monkeypatch.setattr(server, "cat_file", lambda *_: ended.wait(60))
    monkeypatch.setattr(files, "LONGEST", 0.1)
    with pytest.raises(TimeoutError, match=r"no whole answer within 0\.1 seconds"):
        limited(server).cat_file("x")
    ended.set()


@pytest.mark.parametrize("kind", ["delta", "iceberg"])
def test_tables_are_waited_for_so_long(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While they are opened, and while their rows come."""
    with bucket_named(kind) as bucket:
        table = pa.table({"id": range(9), "at": [datetime(2026, 3, 1, tzinfo=UTC)] * 9})
        served = os.environ["AWS_ENDPOINT_URL"].removeprefix("http://")
        with slowing(served) as (place, slow):
            log = PredictionLog.model_validate(
                {**written(kind, bucket, table, tmp_path, monkeypatch, place), "day": "at"}
            )
            opened = open_table(log)
            monkeypatch.setattr(files, "LONGEST", 0.3)
            slow.set()
            with pytest.raises(DataError, match=SAID):
                open_table(log)
            with pytest.raises((DataError, TimeoutError), match=SAID):
                opened.scan(["id"], "", []).read_all()


def written(
    kind: str,
    bucket: str,
    table: pa.Table,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    place: str,
) -> dict[str, str]:
    """Write a table into a bucket, and configure that it is read by way of a place."""
    if kind == "delta":
        write_deltalake(f"{bucket}/t", table, storage_options={"allow_http": "true"})
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://{place}")
        return {"path": f"{bucket}/t", "format": "delta"}
    uri, endpoint = f"sqlite:///{folder}/catalog.db", os.environ["AWS_ENDPOINT_URL"]
    catalog = SqlCatalog("slow", uri=uri, warehouse=bucket, **{"s3.endpoint": endpoint})
    catalog.create_namespace("logs")
    catalog.create_table("logs.t", schema=table.schema).append(table)
    for key, value in {"URI": uri, "TYPE": "sql", "S3__ENDPOINT": f"http://{place}"}.items():
        monkeypatch.setenv(f"PYICEBERG_CATALOG__SLOW__{key}", value)
    monkeypatch.setattr(pyiceberg.catalog, "_ENV_CONFIG", Config())  # read at the import
    return {"path": "logs.t", "format": "iceberg", "connection": "slow"}
