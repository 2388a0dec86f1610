"""Which tests `make quick` leaves out, and what workers share."""

import socket
from pathlib import Path

import pytest

from tests.support.paths import ROOT
from tests.support.servers import free_port
from tests.support.slow import LONGEST, SERVERS, STARTERS, place
from tests.support.workers import Units


@pytest.mark.parametrize("start", LONGEST)
def test_every_long_unit_exists(start: str) -> None:
    """A file that was renamed or removed is no longer listed."""
    files = [str(path.relative_to(ROOT)) for path in sorted((ROOT / "tests").rglob("test_*.py"))]

    assert any(file.startswith(start) for file in files)


@pytest.mark.parametrize("name", sorted(STARTERS | SERVERS))
def test_every_starter_exists(name: str) -> None:
    """A helper or a fixture that was renamed is no longer listed."""
    places = [ROOT / "tests" / "support", ROOT / "tests"]
    texts = [path.read_text() for place in places for path in sorted(place.rglob("*.py"))]

    assert any(f"def {name}(" in text for text in texts)


def test_files_that_share_a_server_are_one_unit() -> None:
    """The files of Spark go to one worker, before other files, each of which is a unit."""
    unit = Units._split_scope  # noqa: SLF001 - xdist's name for it
    spark, days, other = (
        f"tests/{name}.py::test" for name in ("logs/test_spark", "logs/test_spark_days", "test_ci")
    )

    assert unit(None, spark) == unit(None, days) == "tests/logs/test_spark"  # type: ignore[arg-type]
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
