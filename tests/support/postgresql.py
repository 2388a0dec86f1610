"""A PostgreSQL of its own for a test, started for it and stopped by its own id."""

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic, sleep
from typing import Any
from urllib.parse import quote

import psycopg
from psycopg.sql import SQL, Identifier

from tests.support.servers import PATIENCE, free_port


@contextmanager
def running(
    log: Path, *call: str | Path, stop: int = signal.SIGTERM, **options: Any
) -> Iterator["subprocess.Popen[bytes]"]:
    """Run a program and what it starts, and end them with the test."""
    with log.open("ab") as out:
        process = subprocess.Popen(
            call,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            start_new_session=True,
            **options,
        )
    try:
        yield process
    finally:
        process.send_signal(stop)
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        with suppress(ProcessLookupError):  # what it left behind in the group that it leads
            os.killpg(process.pid, signal.SIGKILL)


def demand(connection: psycopg.Connection[Any], password: str, rules: Path) -> None:
    """Give the owner a password, and let nobody in without one."""
    owner = Identifier(connection.info.user)
    connection.execute(SQL("alter role {} password {}").format(owner, password))
    rules.write_text("host all all 127.0.0.1/32 scram-sha-256\n")
    connection.execute("select pg_reload_conf()")


@contextmanager
def postgresql(folder: Path, name: str, password: str = "") -> Iterator[str]:
    """Run a PostgreSQL with an empty database and its owner, and give its address.

    Root must not run it: then the user of Debian's package does. Without a password it needs none.
    """
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    programs = found[-1] if found else Path(shutil.which("postgres") or "/").parent
    user: dict[str, Any] = {}
    data = Path(tempfile.mkdtemp(prefix="postgresql-"))  # pytest's folders are for its user only
    try:
        if os.geteuid() == 0:
            entry = pwd.getpwnam("postgres")
            os.chown(data, entry.pw_uid, entry.pw_gid)
            user = {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}
        make = [programs / "initdb", "-D", data, "-A", "trust", "-U", name, "--no-sync"]
        subprocess.run(make, check=True, capture_output=True, cwd="/", **user)
        port = free_port()
        settings = (f"-cport={port}", "-clisten_addresses=127.0.0.1", "-cfsync=off")
        call = (programs / "postgres", "-D", data, "-k", data, *settings)
        log = folder / "postgresql.log"
        with running(log, *call, stop=signal.SIGINT, cwd="/", **user):
            server = f"postgresql://{name}:{quote(password, safe='')}@127.0.0.1:{port}"
            deadline = monotonic() + PATIENCE
            while True:
                try:
                    with psycopg.connect(f"{server}/postgres", autocommit=True) as connection:
                        connection.execute(f'create database "{name}"')
                        if password:
                            demand(connection, password, data / "pg_hba.conf")
                    break
                except psycopg.OperationalError:
                    assert monotonic() < deadline, log.read_text()
                    sleep(0.1)
            yield f"{server}/{name}"
    finally:
        shutil.rmtree(data)
