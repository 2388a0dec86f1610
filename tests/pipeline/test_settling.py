"""`settled_after: auto`: found once from the first complete days, and then kept."""

import json
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from monitor.config import Config, load_config
from monitor.export.snapshot_reader import Reader
from monitor.logs import count_arrivals
from monitor.pipeline.scheduled import Scheduled, span_of
from monitor.pipeline.settling import settle
from monitor.store.sealing import FORMAT, sealed_record
from monitor.store.store import Store
from tests.conftest import Ended

FIRST, DAYS, ROWS = date(2026, 3, 1), 9, 400
COMPLETE = FIRST + timedelta(days=6 + 28 + 1)  # the morning on which seven days are
CONFIG = """\
store: store
models:
  risk:
    predictions: {path: "predictions/{day}.parquet"}
    outcomes: {path: "outcomes/{day}.parquet"}
    settled_after: auto
    windows: [1]
"""


def delays_of(place: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw the outcomes of a day, a quarter of them 1, and their ages: 0 to 2, and 0 to 12 days."""
    chance = np.random.default_rng(place)
    outcomes = np.arange(ROWS) % 4 == 0
    negative, positive = chance.integers(0, 3, ROWS), np.arange(ROWS) // 4 % 100 // 8
    return outcomes, np.where(outcomes, positive, negative)


@pytest.fixture
def config(tmp_path: Path) -> Config:
    """Write nine days of predictions, and their outcomes on the days on which they come."""
    (tmp_path / "monitor.yaml").write_text(CONFIG)
    for kind in ("predictions", "outcomes"):
        (tmp_path / kind).mkdir()
    arriving: dict[date, list[pa.Table]] = {}
    for place in range(DAYS):
        day, ids = FIRST + timedelta(days=place), np.arange(ROWS) + place * ROWS
        scores = pa.table({"prediction_id": ids, "score": np.linspace(0.01, 0.6, ROWS)})
        pq.write_table(scores, tmp_path / f"predictions/{day}.parquet")
        outcomes, ages = delays_of(place)
        for age in np.unique(ages):
            rows = ages == age
            table = {"prediction_id": ids[rows], "outcome": outcomes[rows].astype(np.int8)}
            table["kept"] = np.where(outcomes[rows], 1.0, 2.0)  # every second negative
            arriving.setdefault(day + timedelta(days=int(age)), []).append(pa.table(table))
    for day, tables in arriving.items():
        pq.write_table(pa.concat_tables(tables), tmp_path / f"outcomes/{day}.parquet")
    return load_config(tmp_path / "monitor.yaml")


def test_it_is_the_age_by_which_95_percent_of_each_have_arrived(config: Config) -> None:
    """Of the positives, 8 of 100 come on each day and 4 on the last: 95 are there after day 11."""
    before = settle(config, "risk", as_of=COMPLETE - timedelta(days=1)).model("risk")
    looked = settle(config, "risk", as_of=COMPLETE).model("risk")

    assert (before.settled_after, looked.settled_after) == (28, 11)
    assert Store(config.store).read_settled_after("risk") is None


def test_it_is_kept(config: Config) -> None:
    """Once found, it stays, whatever becomes of the logs, and other settings are as they were."""
    with Store(config.store).locked("risk"):
        found = settle(config, "risk", as_of=COMPLETE, keep=True)
    for path in (Path(config.store).parent / "predictions").iterdir():
        path.unlink()
    later = settle(config, "risk", as_of=COMPLETE + timedelta(days=99), look=False)

    assert found.model("risk") == later.model("risk")
    assert later.model("risk").settled_after == 11
    assert settle(later, "risk", as_of=COMPLETE) is later


def test_it_is_kept_only_by_who_holds_the_lock(
    config: Config, command: Callable[..., Ended]
) -> None:
    """A run that finds the lock taken, or a newer store, has written nothing."""
    store, path = Store(config.store), Path(config.store).parent / "monitor.yaml"
    morning = ("run", "--begin", "--as-of", COMPLETE, "--config", path)
    with store.locked("risk"):
        busy = command(*morning, "--no-wait")
    assert busy.code == 3, busy.err
    assert store.read_settled_after("risk") is None

    stale = Path(config.store) / "runs/risk/stale.json"
    stale.write_bytes(sealed_record({"format": FORMAT + 1}))
    newer = command(*morning)
    assert newer.code == 3
    assert f"in format {FORMAT + 1}" in " ".join(newer.err.split())
    assert store.read_settled_after("risk") is None

    stale.unlink()
    assert command(*morning).code == 0
    assert store.read_settled_after("risk") == 11


def test_runs_wait_as_long(config: Config, command: Callable[..., Ended]) -> None:
    """A run and a plan settle days by it."""
    path = Path(config.store).parent / "monitor.yaml"
    last = FIRST + timedelta(days=DAYS - 1)
    span = ("--from", FIRST, "--to", last, "--as-of", COMPLETE, "--config", path, "--json")
    planned = command("backfill", *span, "--dry-run")
    assert not Path(config.store).exists()

    ended = command("backfill", *span)

    assert ended.code == 0, ended.err
    (report,) = json.loads(ended.out)["reports"]
    assert json.loads(planned.out)["plans"][0]["summarise"] == report["summarised"]
    snapshot = Reader(config).snapshot("risk")
    assert snapshot.models["risk"].settled_after == 11  # the exporter names it too
    summary, _ = Store(config.store).read_summary("risk", FIRST)
    assert summary.final
    assert summary.known_at.date() == FIRST + timedelta(days=12)


def test_the_first_run_of_a_scheduler_waits_as_long(config: Config) -> None:
    """Before a run has kept the number, the day that is due rests on what the logs say already."""
    morning = datetime.combine(COMPLETE, time(6), UTC)
    first = Scheduled(
        *(config, "risk", "first"), due=morning, interval=(morning - timedelta(days=1), morning)
    )

    due = COMPLETE - timedelta(days=12)
    assert span_of(first) == (due, due, COMPLETE)


@pytest.mark.parametrize("zoned", [True, False])
def test_outcomes_beside_the_scores_arrive_when_their_time_says(
    zoned: bool,  # noqa: FBT001
    config: Config,
) -> None:
    """One log with a column of times gives the arrivals of the two logs, in the model's zone."""
    folder, zone = Path(config.store).parent, ZoneInfo("Asia/Tokyo") if zoned else None
    (folder / "together").mkdir()
    for place in range(DAYS):
        day, (outcomes, ages) = FIRST + timedelta(days=place), delays_of(place)
        night = datetime.combine(day, time(1), zone)  # in Tokyo; the day before in UTC
        rows = {
            "score": np.linspace(0.01, 0.6, ROWS),
            "outcome": outcomes.astype(np.int8),
            "seen_at": [night + timedelta(days=int(age)) for age in ages],
        }
        pq.write_table(pa.table(rows), folder / f"together/{day}.parquet")
    text = CONFIG.replace("predictions/{", "together/{")
    text = text.replace('path: "outcomes/{day}.parquet"', "in_predictions: true, time: seen_at")
    (folder / "one.yaml").write_text(f"{text}    time_zone: Asia/Tokyo\n")
    one, days = load_config(folder / "one.yaml"), [FIRST + timedelta(days=i) for i in range(7)]

    arrived = [
        count_arrivals("risk", each.model("risk"), days, longest=28, engine=each.engine)
        for each in (config, one)
    ]

    assert arrived[0] == arrived[1]
    assert settle(one, "risk", as_of=COMPLETE).model("risk").settled_after == 11


@pytest.mark.usefixtures("config")
def test_weights_change_no_arrival(tmp_path: Path) -> None:
    """A log of outcomes that keeps some of the negatives is settled after the same days."""
    text = CONFIG.replace("outcomes/{day}.parquet", 'outcomes/{day}.parquet", weight: "kept')
    (tmp_path / "weighted.yaml").write_text(text)
    weighted = load_config(tmp_path / "weighted.yaml")
    assert weighted.models["risk"].outcomes.weight == "kept"

    found = settle(weighted, "risk", as_of=COMPLETE)

    assert found.models["risk"].settled_after == 11
