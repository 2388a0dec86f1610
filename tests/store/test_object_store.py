"""Logs and store in an object store instead of a folder: the same bytes."""

import json
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from time import sleep
from typing import Any

import fsspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from aiobotocore.endpoint import AioEndpoint
from scipy.special import expit

from monitor.base.errors import DataError
from monitor.base.files import open_filesystem
from monitor.config import Config, Model
from monitor.export.snapshot_reader import Reader
from monitor.pipeline.days.task import Task
from monitor.pipeline.runs.run import run
from monitor.store import lease
from monitor.store.lease import RELEASED, leased
from monitor.store.names import day_file
from monitor.store.store import Store
from tests.conftest import Ended
from tests.support.buckets import bucket_named

DAY = date(2026, 3, 1)
NEXT_DAY = DAY + timedelta(days=1)
LONG_AFTER = date(2026, 12, 31)
NOON = datetime(2026, 3, 3, 12, tzinfo=UTC)


def model_of(root: str) -> Model:
    """Describe logs that lie under a folder or a prefix."""
    return Model.model_validate(
        {
            "predictions": {"path": f"{root}/predictions/{{day}}.parquet"},
            "outcomes": {"path": f"{root}/outcomes/{{day}}.parquet"},
            "segments": {"column": "country", "values": ["DE", "FR"]},
        }
    )


def write(root: str, name: str, table: dict[str, Any]) -> None:
    """Write one file of a log, on disk or in an object store."""
    filesystem, path = fsspec.core.url_to_fs(f"{root}/{name}")
    filesystem.makedirs(path.rsplit("/", 1)[0], exist_ok=True)
    with filesystem.open(path, "wb") as file:
        pq.write_table(pa.table(table), file)


def draw(seed: int) -> dict[str, dict[str, Any]]:
    """Draw one day of 3,000 predictions, nine of ten with an outcome."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(-1, 1, 3_000)
    ids = np.array([f"p{seed}-{i}" for i in range(3_000)])
    known = rng.random(3_000) < 0.9
    return {
        "predictions": {
            "prediction_id": ids,
            "score": expit(logits),
            "country": rng.choice(["DE", "FR", "IT"], 3_000),
        },
        "outcomes": {
            "prediction_id": ids[known],
            "outcome": (rng.random(3_000) < expit(logits))[known],
        },
    }


def lay_out(root: str, table: dict[str, dict[str, Any]], day: date) -> None:
    """Write a day; after the second day, an empty partition of outcomes for the third."""
    for kind, columns in table.items():
        write(root, f"{kind}/{day}.parquet", columns)
    empty = {name: np.asarray(column)[:0] for name, column in table["outcomes"].items()}
    if day == NEXT_DAY or not Store(f"{root}/store").days("summaries", "ctr"):
        write(root, f"outcomes/{day + timedelta(days=1)}.parquet", empty)


@pytest.fixture(scope="module")
def bucket() -> Iterator[str]:
    """Run an object store on this machine, with one bucket."""
    with bucket_named("logs") as address:
        yield address


KINDS = ("summaries", "evaluations", "verdicts")


def stored(config: Config) -> dict[str, bytes]:
    """Read every result of a store, by its name within."""
    filesystem, store = fsspec.core.url_to_fs(config.store, use_listings_cache=False)
    paths = [path for kind in KINDS for path in filesystem.find(f"{store}/{kind}")]
    return {path.removeprefix(f"{store}/"): filesystem.cat_file(path) for path in paths}


def do_two_days(root: str, tables: Sequence[dict[str, dict[str, Any]]]) -> Config:
    """Run two days, and the first once more after other logs came in its place."""
    config = Config.model_validate(
        {"store": f"{root}/store", "models": {"ctr": model_of(root).model_dump()}}
    )
    for day, table in ((DAY, tables[0]), (NEXT_DAY, tables[1]), (DAY, tables[2])):
        lay_out(root, table, day)
        report = run(config, Task("ctr", day, day, LONG_AFTER), clock=lambda: NOON)
        assert report.failures == ()
    return config


def lose_and_judge(config: Config, path: Path, command: Callable[..., Ended]) -> Any:
    """Lose results of the first day, let `evaluate` make them anew, and give what `show` tells."""
    filesystem, store = fsspec.core.url_to_fs(config.store, use_listings_cache=False)
    for kind in ("evaluations", "verdicts"):
        filesystem.rm(f"{store}/{day_file(kind, 'ctr', DAY)}")
    path.write_text(yaml.safe_dump(config.model_dump(mode="json")))

    judged = command("evaluate", "--config", path, "--from", DAY, "--to", DAY, "--json")
    told = command("show", "--config", path, "--model", "ctr", "--json")

    assert judged.code == 0, judged.err
    assert json.loads(judged.out)["evaluated"] == {"ctr": [f"{DAY}"]}
    assert told.code == 0, told.err
    return json.loads(told.out)


@pytest.mark.filterwarnings("ignore:datetime.datetime.utcnow:DeprecationWarning")
def test_an_object_store_holds_the_same_bytes(
    tmp_path: Path, bucket: str, command: Callable[..., Ended]
) -> None:
    """Two days under s3://, one of them done again, give every byte that a local run gives.

    So does `evaluate` for what is lost, and `show` tells the same.
    """
    tables = [draw(seed) for seed in (1, 2, 3)]
    local, remote = (do_two_days(root, tables) for root in (str(tmp_path), bucket))

    expected = stored(local)
    assert expected.keys() == {day_file(k, "ctr", d) for k in KINDS for d in (DAY, NEXT_DAY)}
    assert stored(remote) == expected
    record = Store(remote.store).read_run("ctr")
    assert record is not None
    assert record.succeeded == NOON

    shown, of_remote = (lose_and_judge(c, tmp_path / "m.yaml", command) for c in (local, remote))
    assert stored(remote) == stored(local) == expected
    assert [e["day"] for e in shown["evaluations"]] == [f"{DAY}", f"{NEXT_DAY}"]
    assert of_remote == shown

    compacted = command("store", "compact", "--config", tmp_path / "m.yaml")
    assert compacted.code == 0, compacted.err
    assert "wrote 4 files in place of 8" in compacted.out
    store = Store(remote.store)
    assert [*stored(remote)] == [f"{kind}/ctr/2026-03.01-02.parquet" for kind in KINDS]
    assert expected == {
        day_file(k, "ctr", d): store.content(k, "ctr", d) for k in KINDS for d in (DAY, NEXT_DAY)
    }
    after = command("show", "--config", tmp_path / "m.yaml", "--model", "ctr", "--json")
    assert json.loads(after.out) == shown


@pytest.fixture
def requests(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Collect the requests to the object store."""
    sent, send = list[str](), AioEndpoint.make_request

    async def noting(endpoint: AioEndpoint, operation: Any, request: dict[str, Any]) -> Any:
        sent.append(f"{operation.name} {request['url'].partition('/logs')[2]}")
        return await send(endpoint, operation, request)

    monkeypatch.setattr(AioEndpoint, "make_request", noting)
    return sent


@pytest.mark.filterwarnings("ignore:datetime.datetime.utcnow:DeprecationWarning")
def test_requests_are_few(
    bucket: str, requests: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A day asks for each file once and for no sizes; a scrape reads three files and lists none.

    Kinds are found where folders are listed with a slash behind, too.
    """
    config = do_two_days(f"{bucket}/few", [draw(seed) for seed in (4, 5, 6)])
    requests.clear()
    run(config, Task("ctr", NEXT_DAY, NEXT_DAY, LONG_AFTER), clock=lambda: NOON)
    of_run = [*requests]
    reader = Reader(config)
    before = reader.snapshot("ctr")
    requests.clear()
    again = reader.snapshot("ctr")

    read = [request for request in of_run if request.startswith("GetObject")]
    assert len(set(read)) >= len(read) - 1  # the lease is read again before the run is recorded
    assert len([request for request in of_run if request.startswith("HeadObject")]) <= 3
    assert len(of_run) <= 70  # with four weeks to read it is twice as many; a write takes four
    assert again is before
    assert len(requests) == 3
    assert all(request.startswith("GetObject") for request in requests)

    filesystem, root = open_filesystem(config.store)
    folders = [f"{name}/" for name in filesystem.ls(root, detail=False)]
    ls = filesystem.ls
    monkeypatch.setattr(
        filesystem, "ls", lambda path, **how: folders if path == root else ls(path, **how)
    )
    store = Store(config.store)
    with store.locked("ctr"):
        assert store.days("verdicts", "ctr") == [DAY, NEXT_DAY]
        assert f"{root}/verdicts/" in folders


@pytest.mark.filterwarnings("ignore:datetime.datetime.utcnow:DeprecationWarning")
class TestLease:
    """Processes that want the same model of an object store take turns."""

    @pytest.fixture(autouse=True)
    def looking_often(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Look for a lease ten times a second."""
        monkeypatch.setattr(lease, "sleep", lambda _: sleep(0.1))

    def test_one_holds_at_a_time(self, bucket: str) -> None:
        """Of eight that want it at once each gets it, never two at a time, and one object stays."""
        filesystem, folder = open_filesystem(f"{bucket}/wanted")
        inside, most = list[int](), list[int]()

        def take(number: int) -> None:
            with leased(filesystem, folder, what="ctr"):
                inside.append(number)
                most.append(len(inside))
                sleep(0.05)
                inside.remove(number)

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(take, range(8)))

        assert most == [1] * 8
        (left,) = filesystem.ls(folder, detail=False)
        assert filesystem.cat_file(left).startswith(RELEASED)

    def test_does_not_outlive_its_holder(
        self, bucket: str, caplog: pytest.LogCaptureFixture
    ) -> None:
        """A lease that is not renewed is taken over; one that is renewed is not, and is named."""
        filesystem, folder = open_filesystem(f"{bucket}/dead")
        filesystem.pipe_file(f"{folder}/lease-7", b"of a process that was killed")
        order = []

        def wait_and_take() -> None:
            with leased(filesystem, folder, what="ctr", patience=1):
                order.append("second")

        with ThreadPoolExecutor(1) as pool:
            with leased(filesystem, folder, what="ctr", renew_after=0.1, patience=0.5):
                waiting = pool.submit(wait_and_take)
                sleep(2)
                order.append("first")
            waiting.result()

        assert order == ["first", "second"]
        assert f"ctr: waits until process {os.getpid()} on " in caplog.text
        assert [name.rpartition("/")[2] for name in filesystem.ls(folder, detail=False)] == [
            "lease-9"
        ]

    def test_one_who_only_looks_sees_whether_it_is_held(self, bucket: str) -> None:
        """A store is asked once: whether its lease is there, and was renewed of late."""
        store, now = Store(f"{bucket}/looked-at"), datetime.now(UTC)
        before = store.is_locked("ctr", now=now)
        with store.locked("ctr"):
            held = store.is_locked("ctr", now=now)
            unlike = store.is_locked("ctr", now=now + timedelta(minutes=2))  # another clock
            dead = store.is_locked("ctr", now=now + timedelta(minutes=6))
        released = store.is_locked("ctr", now=now)

        assert (before, held, unlike, dead, released) == (False, True, True, False, False)

    def test_its_holder_notices_that_it_is_gone(self, bucket: str) -> None:
        """It is held until it is removed or another process has it; it does not come back."""
        filesystem, folder = open_filesystem(f"{bucket}/gone")
        with leased(filesystem, folder, what="ctr", renew_after=0.1) as hold:
            sleep(0.3)
            held = hold.is_held()
            filesystem.rm(folder, recursive=True)
            sleep(0.3)
            gone = hold.is_held()
            left = filesystem.exists(f"{folder}/lease-1")
            filesystem.pipe_file(f"{folder}/lease-1", b"value 0 process 1 on another machine")
            taken = hold.is_held()

        assert (held, gone, left, taken) == (True, False, False, False)

    def test_what_a_successor_wrote_is_not_removed(self, bucket: str) -> None:
        """A removal that was on its way finds another object than the one that was seen."""
        filesystem, folder = open_filesystem(f"{bucket}/removing")
        path, asked = f"{folder}-result", list[bytes]()

        def before() -> None:
            if asked:
                msg = "the lease was lost"
                raise DataError(msg)
            asked.append(filesystem.cat_file(path))
            filesystem.pipe_file(path, b"of the successor")

        filesystem.pipe_file(path, b"of the first")
        with (
            leased(filesystem, folder, what="ctr") as hold,
            pytest.raises(DataError, match="the lease was lost"),
        ):
            hold.remove(path, before)

        assert asked == [b"of the first"]
        assert filesystem.cat_file(path) == b"of the successor"
