"""One day of logs: the query against plain Python, on disk and in an object store."""

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import fsspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from moto.server import ThreadedMotoServer
from scipy.special import expit

from monitor.config import Config, Engine, Model
from monitor.days import Summary
from monitor.errors import DataError
from monitor.logs import newest_settled_day, summarise_day
from monitor.metrics.tally import tally_on_grid
from monitor.pipeline import run
from monitor.store import Store

DAY = date(2026, 3, 1)
LONG_AFTER = date(2026, 12, 31)
NOON = datetime(2026, 3, 3, 12, tzinfo=UTC)
NAMES = ("DE", "FR", "other")


def model_of(root: str, **changes: Any) -> Model:
    """Describe logs that lie under a folder or a prefix."""
    described = {
        "predictions": {"path": f"{root}/predictions/{{day}}/*.parquet"},
        "outcomes": {"path": f"{root}/outcomes/{{day}}/*.parquet"},
        "segments": {"column": "country", "values": ["DE", "FR"]},
        "checks": {"one_class": "accept", "no_outcomes": "accept", "empty_day": "accept"},
    }
    return Model.model_validate({**described, **changes})


def write(root: str, name: str, table: dict[str, Any]) -> None:
    """Write one file of a log, on disk or in an object store."""
    filesystem, path = fsspec.core.url_to_fs(f"{root}/{name}")
    filesystem.makedirs(path.rsplit("/", 1)[0], exist_ok=True)
    with filesystem.open(path, "wb") as file:
        pq.write_table(pa.table(table), file)


def told(summary: Summary) -> dict[str, Any]:
    """Give every integer of a summary."""
    return {
        name: (
            part.predicted,
            part.tally.cells.numbers.tolist() if part.tally.cells else None,
            part.tally.cells.offset_sums.tolist() if part.tally.cells else None,
            part.tally.counts.tolist(),
            part.tally.positives.tolist(),
        )
        for name, part in summary.segments.items()
    }


@st.composite
def days(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Draw predictions with what becomes of them."""
    score = st.one_of(st.floats(0.0, 1.0), st.sampled_from([0.0, 0.5, 1.0, 1e-9, 1 - 1e-12]))
    rows = draw(
        st.lists(
            st.fixed_dictionaries(
                {
                    "score": score,
                    "country": st.sampled_from(["DE", "FR", "IT", None]),
                    "outcome": st.sampled_from([0, 1, None]),
                    "file": st.integers(0, 1),
                    "day": st.integers(0, 1),
                    "repeats": st.integers(1, 2),
                }
            ),
            min_size=1,
            max_size=40,
        )
    )
    return [{**row, "id": i} for i, row in enumerate(draw(st.permutations(rows)))]


@given(days(), st.sampled_from([pa.int64(), pa.string()]), st.sampled_from([pa.int8(), pa.bool_()]))
@settings(
    max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
def test_a_day_equals_plain_python(
    tmp_path_factory: pytest.TempPathFactory,
    rows: list[dict[str, Any]],
    id_type: pa.DataType,
    outcome_type: pa.DataType,
) -> None:
    """Counts, cells and offsets are those of the rows joined in Python.

    Outcomes may be told twice alike, and come a day later; unlisted segments are `other`.
    """
    root = str(tmp_path_factory.mktemp("day"))
    for file in (0, 1):
        chosen = [row for row in rows if row["file"] == file]
        write(
            root,
            f"predictions/{DAY}/{file}.parquet",
            {
                "prediction_id": pa.array([row["id"] for row in chosen]).cast(id_type),
                "score": pa.array([row["score"] for row in chosen], pa.float64()),
                "country": pa.array([row["country"] for row in chosen], pa.string()),
            },
        )
        seen = [r for r in rows if r["outcome"] is not None and r["day"] == file]
        seen = [row for row in seen for _ in range(row["repeats"])]
        write(
            root,
            f"outcomes/{DAY + timedelta(days=file)}/0.parquet",
            {
                "prediction_id": pa.array([row["id"] for row in seen], pa.int64()).cast(id_type),
                "outcome": pa.array([row["outcome"] for row in seen], pa.int8()).cast(outcome_type),
            },
        )

    summary = summarise_day("ctr", model_of(root), DAY, as_of=LONG_AFTER)

    assert summary.final
    assert summary.rejected == {}
    for name in NAMES:
        own = [r for r in rows if (r["country"] if r["country"] in NAMES else "other") == name]
        known = [row for row in own if row["outcome"] is not None]
        expected = tally_on_grid([r["score"] for r in known], [r["outcome"] for r in known])
        part = summary.segments[name]
        assert part.predicted == len(own)
        assert part.tally.total == len(known)
        assert part.tally.total_positives == expected.total_positives
        # The engine takes logarithms to another base, so the last of 2**20 places may differ.
        assert part.tally.counts.tolist() == expected.counts.tolist()
        assert part.tally.scores == pytest.approx(expected.scores, rel=1e-8)


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


def lay_out(root: str, table: dict[str, dict[str, Any]], *, files: int = 1, seed: int = 0) -> None:
    """Write the day in so many files, its rows in an order of its own."""
    rng = np.random.default_rng(seed)
    for kind, columns in table.items():
        order = rng.permutation(len(columns["prediction_id"]))
        for file, rows in enumerate(np.array_split(order, files)):
            part = {name: np.asarray(column)[rows] for name, column in columns.items()}
            write(root, f"{kind}/{DAY}/{file}.parquet", part)
    empty = {name: np.asarray(column)[:0] for name, column in table["outcomes"].items()}
    write(root, f"outcomes/{DAY + timedelta(days=1)}/0.parquet", empty)


@pytest.mark.parametrize(
    ("files", "seed", "engine"),
    [
        (1, 1, Engine(threads=1)),
        (3, 2, Engine(threads=2)),
        (5, 3, Engine(threads=2, memory_mb=100)),
    ],
)
def test_order_files_and_threads_change_nothing(
    tmp_path: Path, table: dict[str, dict[str, Any]], files: int, seed: int, engine: Engine
) -> None:
    """The same rows give the same integers, however they lie and whoever counts them."""
    lay_out(str(tmp_path / "a"), table)
    lay_out(str(tmp_path / "b"), table, files=files, seed=seed)

    once = summarise_day("ctr", model_of(str(tmp_path / "a")), DAY, as_of=LONG_AFTER)
    again = summarise_day(
        "ctr", model_of(str(tmp_path / "b")), DAY, as_of=LONG_AFTER, engine=engine
    )

    assert told(again) == told(once)


def test_a_day_in_progress_is_not_read(tmp_path: Path, table: dict[str, dict[str, Any]]) -> None:
    """Partitions of `as_of` and later are ignored, and decide what is settled."""
    lay_out(str(tmp_path), table)
    model = model_of(str(tmp_path))
    tomorrow, after = DAY + timedelta(days=1), DAY + timedelta(days=2)

    assert not summarise_day("ctr", model, DAY, as_of=tomorrow).final
    assert summarise_day("ctr", model, DAY, as_of=after).final
    assert newest_settled_day("ctr", model, as_of=after) == DAY
    with pytest.raises(DataError, match=r"^ctr: no day before 2026-03-02 has predictions at "):
        newest_settled_day("ctr", model, as_of=tomorrow)


def test_folders_by_year_and_month(tmp_path: Path, table: dict[str, dict[str, Any]]) -> None:
    """A template may spread the day over folders."""
    for kind, columns in table.items():
        for offset in (0, 1):
            day = DAY + timedelta(days=offset)
            rows = {
                name: np.asarray(c)[: None if offset == 0 else 0] for name, c in columns.items()
            }
            write(str(tmp_path), f"{kind}/{day:%Y/%m/%d}.parquet", rows)
    model = model_of(
        "",
        predictions={"path": f"{tmp_path}/predictions/{{day:%Y/%m/%d}}.parquet"},
        outcomes={"path": f"{tmp_path}/outcomes/{{day:%Y/%m/%d}}.parquet"},
    )

    assert newest_settled_day("ctr", model, as_of=LONG_AFTER) == DAY
    assert summarise_day("ctr", model, DAY, as_of=LONG_AFTER).final


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
