"""Suspend a run at each of its writes, let another one take its model over, and let it continue.

`python -m tests.torture.suspensions --place both`; `make torture` calls it, and `make test` tries
some of the writes.

A run is a process of its own. In an object store its requests pass a proxy, which stops the process
(SIGSTOP) before a write reaches the store. The logs are then changed, a second run takes the lease
over once it is dead and works to its end, and the first one continues: the write that was on its
way arrives. On a disk the process stops where it opens a file. The lock of a stopped process is not
given away, so the second run takes over after somebody removed the lock file.
"""

import argparse
import logging
import os
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from multiprocessing import get_context
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from threading import Lock, Thread
from time import sleep
from typing import Any

import fsspec
import pyarrow.parquet as pq

from tests.conftest import CONFIG, DAY, DAY_AFTER, DAY_BEFORE, Project
from tests.support.buckets import started_server

KINDS = ("summaries", "evaluations", "verdicts", "arrivals")
SPAN = ["--from", f"{DAY_BEFORE}", "--to", f"{DAY}"]
RUN = ["run", "--day", f"{DAY}", "--as-of", "2026-03-05"]
PATIENCE = 0.5  # seconds in which a lease dies, instead of two minutes
BUCKET = "suspended"
LOST = "took this model over. Nothing is wrong"


@dataclass
class Gate:
    """Counts requests of a process, and calls `meanwhile` while one of them waits.

    Attributes
    ----------
    counts : callable
        Says of a method and a path whether the request is counted.
    at : int
        The number of the request that waits; 0 for none.
    meanwhile : callable
        What is called.
    with_conditions : bool
        Whether the store sees `If-Match`; without, it behaves as one that does not know it.
    """

    counts: Callable[[str, str], bool] = lambda *_: False
    at: int = 0
    meanwhile: Callable[[], object] = lambda: None
    with_conditions: bool = True
    seen: int = 0
    lock: Lock = field(default_factory=Lock)

    def is_due(self, method: str, path: str) -> bool:
        """Count a request, and say whether it is the one that waits."""
        with self.lock:
            self.seen += self.counts(method, path)
            return self.counts(method, path) and self.seen == self.at


def is_write(method: str, _: str) -> bool:
    """Say whether a request changes the store."""
    return method in {"PUT", "DELETE", "POST"}


def asks_for_lease(method: str, path: str) -> bool:
    """Say whether a request lists the leases."""
    return method == "GET" and "leases" in path and "list-type" in path


class Proxy(BaseHTTPRequestHandler):
    """Passes requests on to an object store, one of them only after something else was done."""

    protocol_version = "HTTP/1.1"

    def __init__(self, port: int, gate: Gate, *of_request: object) -> None:
        self.port, self.gate = port, gate
        super().__init__(*of_request)  # type: ignore[arg-type]

    def pass_on(self) -> None:
        """Pass a request on."""
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.gate.is_due(self.command, self.path):
            self.gate.meanwhile()
        left_out = {"expect"} | (set() if self.gate.with_conditions else {"if-match"})
        headers = {name: v for name, v in self.headers.items() if name.lower() not in left_out}
        store = HTTPConnection("127.0.0.1", self.port)
        store.request(self.command, self.path, body, headers)
        answer = store.getresponse()
        content = answer.read()
        store.close()
        self.send_response_only(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in {"connection", "transfer-encoding", "content-length"}:
                self.send_header(name, value)
        length = answer.getheader("Content-Length") if self.command == "HEAD" else len(content)
        self.send_header("Content-Length", f"{length}")
        self.end_headers()
        with suppress(OSError):
            self.wfile.write(content)

    def log_message(self, *_: Any) -> None:
        """Do not log requests."""

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = pass_on  # noqa: N815 - as its base has them


@contextmanager
def object_store(gate: Gate) -> Iterator[dict[str, str]]:
    """Run an object store behind the proxy, and give the environment that leads to it."""
    server = started_server()
    port = server.get_host_and_port()[1]
    proxy = ThreadingHTTPServer(("127.0.0.1", 0), partial(Proxy, port, gate))
    Thread(target=proxy.serve_forever, daemon=True).start()
    try:
        yield {
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{proxy.server_port}",
            "AWS_ACCESS_KEY_ID": "nobody",
            "AWS_SECRET_ACCESS_KEY": "nothing",
            "AWS_DEFAULT_REGION": "us-east-1",
        }
    finally:
        proxy.shutdown()
        proxy.server_close()
        server.stop()


def work(folder: Path, environment: dict[str, str], call: list[str], stop_at: int) -> None:
    """Do a command in this process, which stops itself before it opens its n-th file to write."""
    from monitor import cli  # noqa: PLC0415 - in the process that does it
    from monitor.store import lease  # noqa: PLC0415

    os.chdir(folder)
    os.environ |= environment
    lease.sleep = lambda _: sleep(0.1)  # between two looks
    output = os.open(f"{os.getpid()}.log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(output, 1)
    os.dup2(output, 2)
    # Shorter, and without renewals, which would come between the writes that are counted.
    lease.leased.__wrapped__.__kwdefaults__ |= {"patience": PATIENCE, "renew_after": 600}  # type: ignore[attr-defined]
    opened = 0

    def note(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal opened
        if event == "open" and f"{arguments[0]}".endswith(".tmp") and "store" in f"{arguments[0]}":
            opened += 1
            if opened == stop_at:
                os.kill(os.getpid(), signal.SIGSTOP)

    sys.addaudithook(note)
    sys.argv = ["calibration-monitor", *call]
    cli.main()


@dataclass
class Suspensions:
    """A store with two days, logs of three states, and what a run makes of the last one.

    Attributes
    ----------
    project : Project
        Its logs, configuration and local store of two days.
    environment : dict of str to str
        What leads to the object store.
    gate : Gate
        What its requests pass; None for a local store.
    """

    project: Project
    environment: dict[str, str]
    gate: Gate | None
    alone: dict[str, bytes] = field(default_factory=dict)
    writes: int = 0
    tried: int = 0

    def begin(self, call: list[str], *, stop_at: int = 0) -> ForkServerProcess:
        """Start a command."""
        context = get_context("forkserver")
        context.set_forkserver_preload(["tests.torture.loaded", __name__])
        process = context.Process(
            target=work, args=(self.project.folder, self.environment, call, stop_at)
        )
        process.start()
        return process

    def finish(self, process: ForkServerProcess) -> tuple[int, str]:
        """Wait until a command has ended, and give its exit code and what it printed."""
        process.join()
        said = (self.project.folder / f"{process.pid}.log").read_text()
        return int(process.exitcode or 0), " ".join(said.split())

    def files(self) -> dict[str, bytes]:
        """Read every file of the store but locks and temporary ones, leases included."""
        filesystem, root = self.place()
        filesystem.invalidate_cache()
        return {
            name.removeprefix(f"{root}/"): filesystem.cat_file(name)
            for name in filesystem.find(root)
            if not name.endswith(("/lock", ".tmp")) and "/staged-" not in name
        }

    def results(self) -> dict[str, bytes]:
        """Read what does not depend on when runs were."""
        return {name: it for name, it in self.files().items() if name.startswith(KINDS)}

    def place(self) -> tuple[Any, str]:
        """Give the filesystem of the store, and where it is in it."""
        if self.gate is None:
            return fsspec.filesystem("file"), str(self.project.folder / "store")
        options = {"endpoint_url": self.environment["AWS_ENDPOINT_URL"]}
        secrets = {"key": "nobody", "secret": "nothing"}
        filesystem = fsspec.filesystem("s3", client_kwargs=options, **secrets)
        return filesystem, f"{BUCKET}/store"

    def lay_out(self) -> None:
        """Put the store of two days in its place, and the logs that the first run finds."""
        filesystem, root = self.place()
        if filesystem.exists(root):
            filesystem.rm(root, recursive=True)
        filesystem.put(f"{self.project.folder}/base/", f"{root}/", recursive=True)
        self.change_logs(1)

    def change_logs(self, state: int) -> None:
        """Write other outcomes of the second day."""
        rows = self.project.rows("outcomes")
        rows["outcome"] = [(i + state) % 3 // 2 for i in range(len(rows["outcome"]))]
        self.project.write("outcomes", rows)

    def measure(self) -> None:
        """Note how many writes a run has, and what its successor makes alone."""
        self.lay_out()
        if self.gate:
            self.gate.counts, self.gate.seen = is_write, 0
            code, said = self.finish(self.begin(RUN))
            assert code == 0, said
        self.writes = self.gate.seen if self.gate else WRITES_AT_MOST
        self.lay_out()
        self._succeed()
        self.alone = self.results()

    def suspend(self, at: int, *, counts: Callable[[str, str], bool] = is_write) -> str:
        """Suspend a run at a write, and compare at the end; give what it said."""
        self.lay_out()
        self.tried += 1
        code, said, before = (self._on_disk if self.gate is None else self._remote)(at, counts)
        after = self.files()
        assert code in {0, 3}, said
        if code:
            assert LOST in said, said
            changed = {name for name in {*before, *after} if before.get(name) != after.get(name)}
            assert not changed, f"write {at}: wrote {sorted(changed)} after it lost the model"
        assert self.results() == self.alone, f"write {at}: other bytes than of the successor alone"
        return said if code else ""

    def _succeed(self) -> dict[str, bytes]:
        """Let the successor work on changed logs, and give every file that is there then."""
        self.change_logs(2)
        code, said = self.finish(self.begin(RUN))
        assert code == 0, said
        return self.files()

    def _remote(self, at: int, counts: Callable[[str, str], bool]) -> tuple[int, str, Any]:
        assert self.gate
        before = list[dict[str, bytes]]()

        def meanwhile() -> None:
            os.kill(int(first.pid or 0), signal.SIGSTOP)
            before.append(self._succeed())
            os.kill(int(first.pid or 0), signal.SIGCONT)

        self.gate.counts, self.gate.seen, self.gate.at = counts, 0, at
        self.gate.meanwhile = meanwhile
        first = self.begin(RUN)
        code, said = self.finish(first)
        self.gate.at = 0
        assert before, f"there is no request {at}: {said}"
        return code, said, before[0]

    def _on_disk(self, at: int, _: object) -> tuple[int, str, Any]:
        first = self.begin(RUN, stop_at=at)
        while first.is_alive() and not is_stopped(int(first.pid or 0)):
            sleep(0.01)
        if not first.is_alive():
            self.writes = at - 1
            self._succeed()
            return 0, "", self.files()
        code, said = self.finish(self.begin([*RUN, "--no-wait"]))  # its lock is really held
        assert (code, "works on this model" in said) == (3, True), said
        (self.project.folder / "store" / "runs" / "ctr" / "lock").unlink()
        before = self._succeed()
        os.kill(int(first.pid or 0), signal.SIGCONT)
        return *self.finish(first), before


WRITES_AT_MOST = 100


def is_stopped(process: int) -> bool:
    """Say whether a process is suspended."""
    with suppress(FileNotFoundError):
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "T"
    return False


@contextmanager
def suspensions(
    folder: Path, *, remote: bool, with_conditions: bool = True
) -> Iterator[Suspensions]:
    """Make a project with a store of two days, on this disk or in an object store."""
    project, gate = Project(folder), Gate(with_conditions=with_conditions)
    (folder / "monitor.yaml").write_text(CONFIG)
    for day in (DAY_BEFORE, DAY):
        project.write("predictions", project.rows("predictions", day), day)
        project.write("outcomes", project.rows("outcomes", day), day)
    project.write("outcomes", pq.read_table(project.path("outcomes")).slice(0, 0), DAY_AFTER)
    made = Suspensions(project, {}, None)
    code, said = made.finish(made.begin(["backfill", *SPAN]))
    assert code == 0, said
    (folder / "store").rename(folder / "base")
    if not remote:
        made.measure()
        yield made
        return
    project.configure("store: store", f"store: s3://{BUCKET}/store")
    with object_store(gate) as environment:
        made = Suspensions(project, environment, gate)
        filesystem, _ = made.place()
        filesystem.makedirs(BUCKET, exist_ok=True)
        made.measure()
        yield made


def main() -> None:
    """Read the arguments, suspend runs at all of their writes, and say what was done."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--place", choices=["local", "s3", "both"], default="both")
    arguments = parser.parse_args()
    logging.getLogger("werkzeug").setLevel(logging.ERROR)  # which notes every request
    for place in ("local", "s3"):
        if arguments.place not in {place, "both"}:
            continue
        with (
            tempfile.TemporaryDirectory() as name,
            suspensions(Path(name), remote=place == "s3") as made,
        ):
            lost = at = 0
            while at < made.writes:
                at += 1
                lost += bool(made.suspend(at))
            print(
                f"{place}: suspended at each of {made.writes} writes; {lost} lost the model: "
                f"every successor's bytes stayed",
                flush=True,
            )


if __name__ == "__main__":
    main()
