"""An object store that refuses to write: its disk is full, or it cuts the connection."""

import socket
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from math import inf
from threading import Lock, Thread

import pytest
from s3fs import S3FileSystem

from monitor.base.files import open_filesystem
from monitor.store.lease import RELEASED, leased
from tests.conftest import DAY, DAY_BEFORE, Ended, Project
from tests.support.buckets import started_server

KINDS = ("summaries", "evaluations", "verdicts")
# The status of a full disk, that of an overload, and none: the connection is cut.
REFUSALS = (507, 503, None)


@dataclass
class Space:
    """How many writes an object store accepts, and how it refuses those after them.

    Of the accepted ones, the first `unanswered` get no answer.
    """

    writes: float = inf
    refusal: int | None = 507
    unanswered: int = 0
    lock: Lock = field(default_factory=Lock)

    def is_left(self) -> bool:
        """Count a write, and return whether it is accepted."""
        with self.lock:
            self.writes -= 1
            return self.writes >= 0


class Proxy(BaseHTTPRequestHandler):
    """Passes everything on to an object store but the writes for which no space is left."""

    protocol_version = "HTTP/1.1"

    def __init__(self, port: int, space: Space, *of_request: object) -> None:
        self.port, self.space = port, space
        super().__init__(*of_request)  # type: ignore[arg-type]

    def handle_expect_100(self) -> bool:
        """Leave the answer to `pass_on`, so that a refusal comes before the body."""
        return True

    def pass_on(self) -> None:
        """Pass a request on, or refuse it with its body unread."""
        if self.command == "PUT" and not self.space.is_left():
            self.refuse()
            return
        if "Expect" in self.headers:
            self.send_response_only(100)
            self.end_headers()
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        store = HTTPConnection("127.0.0.1", self.port)
        headers = {name: value for name, value in self.headers.items() if name != "Expect"}
        store.request(self.command, self.path, body, headers)
        answer = store.getresponse()
        content = answer.read()
        store.close()
        if self.command == "PUT" and self.space.unanswered:
            self.space.unanswered -= 1
            self.cut()
            return
        self.send_response_only(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in {"connection", "transfer-encoding", "content-length"}:
                self.send_header(name, value)
        length = answer.getheader("Content-Length") if self.command == "HEAD" else len(content)
        self.send_header("Content-Length", f"{length}")
        self.end_headers()
        self.wfile.write(content)

    def refuse(self) -> None:
        """Answer with a status, or cut the connection."""
        if self.space.refusal is None:
            self.cut()
            return
        self.close_connection = True
        self.send_response_only(self.space.refusal)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def cut(self) -> None:
        """Cut the connection without an answer."""
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = pass_on  # noqa: N815 - as its base has them


@pytest.fixture
def space(monkeypatch: pytest.MonkeyPatch) -> Iterator[Space]:
    """Run an object store on this machine, with one bucket, behind a proxy."""
    server, space = started_server(), Space()
    proxy = ThreadingHTTPServer(
        ("127.0.0.1", 0), partial(Proxy, server.get_host_and_port()[1], space)
    )
    Thread(target=proxy.serve_forever, daemon=True).start()
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{proxy.server_port}")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "nobody")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "nothing")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")  # more of both take seconds
    monkeypatch.setattr(S3FileSystem, "retries", 1)
    S3FileSystem.clear_instance_cache()  # a filesystem keeps the address that it was opened with
    open_filesystem("s3://full")[0].makedirs("full", exist_ok=True)  # servers share buckets
    yield space
    S3FileSystem.clear_instance_cache()
    proxy.shutdown()
    proxy.server_close()
    server.stop()


def stored() -> dict[str, bytes]:
    """Read every result of the store in the bucket, by its name as on a local disk."""
    filesystem, root = open_filesystem("s3://full/store")
    paths = [path for kind in KINDS for path in filesystem.find(f"{root}/{kind}")]
    return {path.removeprefix("full/"): filesystem.cat_file(path) for path in paths}


def release() -> None:
    """Do at once what waiting for a dead holder does after two minutes."""
    filesystem, root = open_filesystem("s3://full/store")
    for lease in filesystem.glob(f"{root}/runs/*/leases/*"):
        filesystem.pipe_file(lease, RELEASED)


@pytest.mark.filterwarnings("ignore:datetime.datetime.utcnow:DeprecationWarning")
def test_a_run_says_so_loses_nothing_and_is_repaired(
    project: Project, command: Callable[..., Ended], space: Space
) -> None:
    """Whichever write is refused first, each result is as before, or that of a clean run.

    The command says what it could not write. With space again it leaves the bytes of a clean run.
    """
    clean = project.results()
    project.configure("store: store", "store: s3://full/store")
    call = partial(command, "run", "--begin", "--as-of", "2026-03-05", "--day")
    assert call(DAY_BEFORE).code == 0
    before = stored()

    for tries in range(20):  # every sixth write of a run, from the lease to the record
        space.writes, space.refusal = 6 * tries, REFUSALS[tries % len(REFUSALS)]
        ended = call(DAY)
        space.writes = inf
        found = stored()
        assert before.items() <= found.items() <= clean.items()
        if ended.code == 0:
            break
        assert ended.code == 3, ended.err
        assert ended.err.startswith("store: s3://full/store: cannot be written (")
        release()

    assert ended.code == 0, ended.err
    assert tries >= len(REFUSALS)
    assert stored() == clean


@pytest.mark.filterwarnings("ignore:datetime.datetime.utcnow:DeprecationWarning")
def test_a_lease_whose_answer_is_lost_is_held(
    space: Space, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The request is sent again and refused, because the lease is there: it is our own."""
    monkeypatch.setattr(S3FileSystem, "retries", 3)
    filesystem, folder = open_filesystem("s3://full/leases")
    space.unanswered = 1

    with leased(filesystem, folder, what="ctr", wait=False) as hold:
        assert hold.is_held()

    assert space.unanswered == 0
    (left,) = filesystem.ls(folder)
    assert filesystem.cat_file(left).startswith(RELEASED)
