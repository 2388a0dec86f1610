"""Rows behind a real server of Flight SQL (ROAPI, which is DataFusion) give the bytes of files."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from monitor.base.errors import DataError
from monitor.base.files import looking_once
from monitor.config import Engine
from monitor.logs import describe_inputs, summarise_day
from tests.support.cases import some
from tests.support.servers import free_port, started, wait_for
from tests.support.warehouse_logs import AS_OF, FIRST, LAST, cases, content, model_of_rows, tables

ADDRESS = "MONITOR_TEST_FLIGHT"
THERE = Engine(kind="warehouse", threads=1, memory_mb=200)
HERE = Engine(threads=1, memory_mb=200)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    """Serve the logs of the array, which lie in files."""
    folder = tmp_path_factory.mktemp("served")
    places = []
    for name, table in tables().items():
        pq.write_table(table, folder / f"{name}.parquet")
        places += ["-t", f"{name}={folder}/{name}.parquet"]
    http, flight, other = (f"127.0.0.1:{free_port()}" for _ in range(3))
    program = Path(sys.executable).with_name("roapi")
    call = [program, "-a", http, "--addr-flight-sql", flight, "-p", other, *places]
    with started(folder, *call) as server:
        wait_for(server, lambda: "Listening on" in server.complained.read_text() or None)
        yield folder, f"grpc://{flight}"


def rows(name: str) -> dict[str, Any]:
    """Say where a log is behind the server."""
    sql = f"SELECT * FROM {name}"  # noqa: S608
    return {"format": "sql", "connection": ADDRESS, "sql": sql}


@pytest.mark.parametrize("number", some(range(len(cases())), 9))
def test_rows_that_a_flight_server_counts_leave_the_bytes_of_files(
    number: int, served: tuple[Path, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a day that is final and of one that waits; what describes them stays while they do."""
    folder, address = served
    monkeypatch.setenv(ADDRESS, address)
    case = cases()[number]
    there = model_of_rows(case, rows)
    here = model_of_rows(case, lambda name: {"path": f"{folder}/{name}.parquet"})
    for day in (FIRST, LAST):
        with looking_once():
            theirs = summarise_day("m", there, day, as_of=AS_OF, engine=THERE)
            ours = summarise_day("m", here, day, as_of=AS_OF, engine=HERE)
        assert content(theirs) == content(ours), case
    first, again, other = (
        describe_inputs(there, day, [day])[0][-1][1:] for day in (FIRST, FIRST, LAST)
    )
    assert first == again != other


def test_a_flight_server_that_cannot_answer_is_said(
    served: tuple[Path, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A query that it refuses, a time with a zone, a server that is not there: no address in it."""
    _, address = served
    lost = f"grpc://127.0.0.1:{free_port()}"
    zoned = "SELECT *, current_timestamp AS at FROM predictions"
    for where, sql, said in (
        (address, "SELECT * FROM nowhere", "failed: .*nowhere' not found"),
        (address, zoned, "column 'at' .* is a time with a zone; write at::timestamp AS at"),
        (lost, zoned, "cannot be reached: no server answers there"),
    ):
        monkeypatch.setenv(ADDRESS, where)
        model = model_of_rows(cases()[0], rows)
        changed = {"sql": sql, "day": "at" if sql == zoned else "scored_on"}
        log = model.predictions.model_copy(update=changed)
        model = model.model_copy(update={"predictions": log})
        with pytest.raises(DataError, match=said) as raised:
            summarise_day("m", model, FIRST, as_of=AS_OF, engine=THERE)
        assert where not in f"{raised.value}"
