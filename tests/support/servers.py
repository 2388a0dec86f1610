"""Real programs for tests: find, start on a free port, wait for, query and stop them."""

import os
import random
import re
import shutil
import signal
import socket
import subprocess
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from http.client import HTTPConnection, HTTPSConnection
from pathlib import Path
from ssl import SSLContext
from time import monotonic, sleep
from typing import TypeVar

import pytest

T = TypeVar("T")

PATIENCE = 300  # seconds after which a program counts as stuck, on the busiest machine too
PORTS = 2_000  # of each worker, below those that a system gives to any program that asks for one


@dataclass(frozen=True)
class Program:
    """A program that a test started."""

    process: "subprocess.Popen[bytes]"
    printed: Path
    complained: Path

    def stop(self, number: signal.Signals) -> int:
        """Send a signal, and return the exit code."""
        self.process.send_signal(number)
        return self.process.wait(PATIENCE)


def program_path(name: str) -> str:
    """Find a program that a test drives; without it the test fails and says how to get it."""
    found = shutil.which(name)
    if not found:
        pytest.fail(f"{name} is missing; as root on a Debian, tools/install-programs installs it.")
    return found


@cache
def _ports() -> Iterator[int]:
    """Shuffle the ports of this worker."""
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    first = 20_000 + PORTS * worker
    return iter(random.SystemRandom().sample(range(first, first + PORTS), PORTS))


def free_port() -> int:
    """Choose a port for a program that cannot choose its own, or must have it again later.

    Until then no other program gets it by chance, and no test chooses it again.
    """
    for port in _ports():
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port
    return pytest.fail("no port is left")


@contextmanager
def started(folder: Path, *arguments: str | Path) -> Iterator[Program]:
    """Run a program during the test and stop it afterwards; its output goes to `folder`."""
    name = Path(arguments[0]).name
    printed, complained = folder / f"{name}.out", folder / f"{name}.err"
    with printed.open("wb") as out, complained.open("wb") as err:
        process = subprocess.Popen(arguments, stdin=subprocess.DEVNULL, stdout=out, stderr=err)
    try:
        yield Program(process, printed, complained)
    finally:
        process.kill()
        process.wait()


def wait_for(program: Program, look: Callable[[], T | None]) -> T:
    """Poll until there is a result, the program ends, or the time is up."""
    deadline = monotonic() + PATIENCE
    while monotonic() < deadline:
        if (found := look()) is not None:
            return found
        if program.process.poll() is not None:
            break
        sleep(0.02)
    return pytest.fail(f"{program.process.args}: {program.complained.read_text()}")


@contextmanager
def listening(folder: Path, name: str, *arguments: str) -> Iterator[tuple[Program, str]]:
    """Start Prometheus or Alertmanager on a free port, and wait until it is ready: host:port."""
    call = (program_path(name), *arguments, "--web.listen-address=127.0.0.1:0")
    with started(folder, *call) as program:
        heard = r'"Listening on".* address=(\S+)'
        where = wait_for(program, lambda: re.search(heard, program.complained.read_text()))[1]
        wait_for(program, lambda: get(where, "/-/ready")[0] == 200 or None)
        yield program, where


def get(
    where: str,
    path: str = "/metrics",
    *,
    method: str = "GET",
    login: str | None = None,
    secure: SSLContext | None = None,
) -> tuple[int, str]:
    """Send a request to `host:port` without any proxy; return the status and the text.

    `login` is ``name:password``; with `secure` the question goes over TLS.
    """
    connection = (
        HTTPSConnection(where, timeout=PATIENCE, context=secure)
        if secure
        else HTTPConnection(where, timeout=PATIENCE)
    )
    headers = {"Authorization": f"Basic {b64encode(login.encode()).decode()}"} if login else {}
    try:
        connection.request(method, path, headers=headers)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


def answered(where: str, path: str) -> str | None:
    """Ask once; None if nobody answers yet."""
    try:
        status, text = get(where, path)
    except ConnectionError:
        return None
    return text if status == 200 else None


@contextmanager
def pushgateway(folder: Path) -> Iterator[str]:
    """Start a Pushgateway, and give its host:port."""
    where = f"127.0.0.1:{free_port()}"
    name = program_path("prometheus-pushgateway")
    with started(folder, name, f"--web.listen-address={where}") as program:
        wait_for(program, lambda: answered(where, "/-/ready"))
        yield where
