"""Servers that send a byte now and then: each is waited for as long as is said, and no longer."""

import socket
from collections.abc import Iterator
from contextlib import suppress
from threading import Event, Thread

import pytest

from monitor import files
from monitor.config import load_config
from monitor.errors import DataError
from monitor.export import push as pushing
from monitor.export.snapshot_reader import Reader
from monitor.files import open_filesystem
from monitor.logs import summarise_day
from monitor.store.store import Store
from tests.conftest import DAY, DAY_AFTER, Project
from tests.support.buckets import bucket_named

HEAD = b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\nContent-Type: text/plain\r\n"
BEGINNINGS = {"status": b"HTTP/1.1 2", "headers": HEAD + b"X: ", "body": HEAD + b"\r\n"}


@pytest.fixture(params=[*BEGINNINGS])
def dripping(request: pytest.FixtureRequest) -> Iterator[str]:
    """Answer each request with a beginning and then a letter every tenth of a second."""
    ended, server = Event(), socket.create_server(("127.0.0.1", 0))

    def drip(connection: socket.socket) -> None:
        with connection, suppress(OSError):
            connection.recv(65_536)
            connection.sendall(BEGINNINGS[request.param])
            while not ended.wait(0.1):
                connection.sendall(b"a")

    def answer() -> None:
        with suppress(OSError):
            while not ended.is_set():
                Thread(target=drip, args=server.accept()[:1], daemon=True).start()

    Thread(target=answer, daemon=True).start()
    yield f"127.0.0.1:{server.getsockname()[1]}"
    ended.set()
    server.shutdown(socket.SHUT_RDWR)
    server.close()


def test_a_push_ends(project: Project, dripping: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever part of its answer a gateway delays."""
    monkeypatch.setattr(pushing, "TIMEOUT", 1)
    reader = Reader(load_config(project.folder / "monitor.yaml"))
    with pytest.raises(DataError, match="no whole answer within 1 seconds"):
        pushing.push(reader, "ctr", f"http://{dripping}")


@pytest.fixture
def store(dripping: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """Name a bucket of such a server."""
    monkeypatch.setattr(files, "LONGEST", 1)
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "x")
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://{dripping}")
    return f"s3://{dripping.replace(':', '-')}"  # of its own, because clients are kept


def test_a_store_is_waited_for_so_long(store: str) -> None:
    """Reading and writing."""
    with pytest.raises(DataError, match="no whole answer within 1 seconds"):
        Store(store).must_be_there()
    with pytest.raises(DataError, match="no whole answer within 1 seconds"):
        Store(store).try_to_write("probe")


def test_logs_are_waited_for_so_long(store: str, project: Project) -> None:
    """A listing is."""
    project.configure("predictions/{day}", f"{store}/p/{{day}}")
    config = load_config(project.folder / "monitor.yaml")
    with pytest.raises(DataError, match="no whole answer within 1 seconds"):
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
