"""Which tests `make quick` leaves out, and what workers share."""

import ast
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.support.paths import ROOT
from tests.support.servers import free_port
from tests.support.slow import LONGEST, OF_SPARK, SERVERS, STARTERS, place
from tests.support.workers import Units, first_alone, made_once

FILES = {str(p.relative_to(ROOT)): p for p in sorted((ROOT / "tests").rglob("test_*.py"))}


def test_every_long_unit_exists() -> None:
    """A file that was renamed or removed is no longer listed."""
    for start in LONGEST:
        for one in [start] if isinstance(start, str) else start:
            assert any(file.startswith(one) for file in FILES), one


def test_one_worker_has_all_tests_of_spark() -> None:
    """Each worker with one of them would start a Java machine of its own."""
    asking = {
        name
        for name, path in FILES.items()
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef) and "spark" in [a.arg for a in node.args.args]
    }

    assert {"tests/logs/test_spark.py", "tests/fuzz/test_combinations.py"} <= asking
    assert {place(name) for name in asking} == {LONGEST.index(OF_SPARK)}


def test_every_starter_exists() -> None:
    """A helper or a fixture that was renamed is no longer listed."""
    texts = [path.read_text() for path in sorted((ROOT / "tests").rglob("*.py"))]
    for name in sorted(STARTERS | SERVERS):
        assert any(f"def {name}(" in text for text in texts), name


def test_files_that_share_a_server_are_one_unit() -> None:
    """The files of Spark go to one worker, before other files, each of which is a unit."""
    unit = Units._split_scope  # noqa: SLF001 - xdist's name for it
    names = ("logs/test_spark", "logs/test_spark_days", "fuzz/test_combinations", "test_ci")
    spark, days, fuzz, other = (f"tests/{name}.py::test" for name in names)

    assert unit(None, spark) == unit(None, days) == unit(None, fuzz)  # type: ignore[arg-type]
    assert unit(None, other) == "tests/test_ci.py"  # type: ignore[arg-type]
    assert place(spark) < place(other) == len(LONGEST)


def test_no_program_gets_the_port_of_a_test_by_chance() -> None:
    """The port is none of those that the system chooses from, and is chosen once."""
    span = Path("/proc/sys/net/ipv4/ip_local_port_range")
    lowest = int(span.read_text().split()[0]) if span.exists() else 49_152
    ports = [free_port() for _ in range(20)]

    assert len({*ports}) == 20
    assert all(1024 < port < lowest for port in ports)
    with socket.create_server(("127.0.0.1", ports[0])) as taken:
        assert taken.getsockname()[1] == ports[0]


def test_a_shared_folder_is_made_once(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever asks meanwhile waits for it; one that was left half made is made again."""
    monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)
    made = list[Path]()

    def make(folder: Path) -> None:
        made.append(folder)
        (folder / "file").touch(exist_ok=False)
        if len(made) == 1:
            raise ConnectionError

    with pytest.raises(ConnectionError):
        made_once(tmp_path_factory, "shared", make)
    with ThreadPoolExecutor(4) as threads:
        found = [*threads.map(lambda _: made_once(tmp_path_factory, "shared", make), range(8))]

    assert len(made) == 2
    assert {*found} == {tmp_path_factory.getbasetemp() / "shared"}
    assert (found[0] / "file").exists()


def test_what_is_done_once_is_waited_for(tmp_path: Path) -> None:
    """The first works alone; the three that waited for it go on together."""
    done, ready, together = threading.Event(), threading.Barrier(4), threading.Barrier(3)
    seen = list[bool]()

    def work(_: int) -> None:
        ready.wait(60)
        with first_alone(tmp_path / "folder" / "lock", done.is_set):
            seen.append(done.is_set())
            if not seen[-1]:
                time.sleep(0.1)  # in which nobody else may begin
                done.set()
            else:
                together.wait(60)

    with ThreadPoolExecutor(4) as threads:
        [*threads.map(work, range(4))]

    assert seen == [False, True, True, True]
