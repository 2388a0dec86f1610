"""Logs and store in an object store instead of a folder: the same bytes."""

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import fsspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from moto.server import ThreadedMotoServer
from scipy.special import expit

from monitor.config import Config, Model
from monitor.pipeline import run
from monitor.store import Store

DAY = date(2026, 3, 1)
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


@pytest.fixture(scope="module")
def table() -> dict[str, dict[str, Any]]:
    """Draw one day of 3,000 predictions, nine of ten with an outcome."""
    rng = np.random.default_rng(1)
    logits = rng.normal(-1, 1, 3_000)
    ids = np.array([f"p{i}" for i in range(3_000)])
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


def lay_out(root: str, table: dict[str, dict[str, Any]]) -> None:
    """Write the day, and an empty partition of outcomes for the next."""
    for kind, columns in table.items():
        write(root, f"{kind}/{DAY}.parquet", columns)
    empty = {name: np.asarray(column)[:0] for name, column in table["outcomes"].items()}
    write(root, f"outcomes/{DAY + timedelta(days=1)}.parquet", empty)


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Run an object store on this machine, with one bucket."""
    server = ThreadedMotoServer("127.0.0.1", 0)
    server.start()
    host, port = server.get_host_and_port()
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "nobody")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "nothing")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    fsspec.filesystem("s3", use_listings_cache=False, skip_instance_cache=True).mkdir("logs")
    yield "s3://logs"
    server.stop()


@pytest.mark.filterwarnings("ignore:datetime.datetime.utcnow:DeprecationWarning")
def test_an_object_store_holds_the_same_bytes(
    tmp_path: Path, bucket: str, table: dict[str, dict[str, Any]]
) -> None:
    """Logs and store under s3:// give the summaries and evaluations of a local run, bit by bit."""
    results = []
    for root in (str(tmp_path), bucket):
        lay_out(root, table)
        config = Config.model_validate(
            {"store": f"{root}/store", "models": {"ctr": model_of(root).model_dump()}}
        )
        report = run(config, "ctr", DAY, DAY, as_of=LONG_AFTER, clock=lambda: NOON)
        assert report.failures == ()
        filesystem, store = fsspec.core.url_to_fs(config.store, use_listings_cache=False)
        results.append(
            [
                filesystem.cat_file(f"{store}/{kind}/ctr/{DAY}.parquet")
                for kind in ("summaries", "evaluations")
            ]
        )
        assert Store(config.store).days("summaries", "ctr") == [DAY]
        record = Store(config.store).read_run("ctr")
        assert record is not None
        assert record.succeeded == NOON

    assert results[0] == results[1]
