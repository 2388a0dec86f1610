"""The gauges of what people change about a model: references, deployed maps, rebases."""

import random
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from monitor.config import Config
from monitor.days.decisions import End, Rebase
from monitor.export.snapshot_reader import Reader
from monitor.measures.run_scopes import MAP_DEPLOYED, REBASED, REFERENCE_START
from monitor.measures.snapshot import Snapshot
from monitor.store.store import Store
from tests.support.cases import some
from tests.support.exporting import LOGS, fill

ZONE = "America/New_York"
FIRST, MOMENT = date(2026, 1, 1), datetime(2026, 6, 1, 12, tzinfo=UTC)


def begin(day: date) -> float:
    """Give the moment at which a day begins in New York."""
    return datetime.combine(day, datetime.min.time(), ZoneInfo(ZONE)).timestamp()


@pytest.mark.parametrize("seed", some(range(8), 3))
def test_each_change_has_its_first_moment(seed: int) -> None:
    """References of the configuration and of people are numbered together, the oldest first."""
    draw = random.Random(seed)  # noqa: S311 - dates for a test
    days = [FIRST + timedelta(days=40 * place) for place in range(8)]
    own = sorted(draw.sample(days[:5], 2))
    begun = draw.sample([day for day in days if day not in own], draw.randint(0, 2))
    deployed = sorted(draw.sample(days, draw.randint(1, 3)))
    maps = [{"file": "m.json", "since": day, "deploy": day} for day in deployed]
    if draw.random() < 0.5:
        maps.append({"file": "m.json", "since": deployed[-1] + timedelta(days=1)})
    references = [{"first": day, "last": day + timedelta(days=27)} for day in own]
    rebases = [
        Rebase(number, MOMENT + timedelta(hours=number), f"by {number}", "why", day)
        for number, day in enumerate(begun, start=1)
    ]
    model = {**LOGS, "time_zone": ZONE, "map": maps, "verdicts": {"references": references}}
    config = Config.model_validate({"store": "s", "models": {"ads": model}})
    snapshot = Snapshot(config.models, [], {}, "0", rebased={"ads": rebases})

    starts = dict(REFERENCE_START.base.records(snapshot))
    assert starts == {
        ("ads", str(number)): begin(day)
        for number, day in enumerate(sorted([*own, *begun]), start=1)
    }
    assert dict(MAP_DEPLOYED.base.records(snapshot)) == {
        ("ads", str(number)): begin(day) for number, day in enumerate(deployed, start=1)
    }
    newest = {("ads", r.by): r.at.timestamp() for r in rebases[-1:]}
    assert dict(REBASED.base.records(snapshot)) == newest


def test_a_rebase_is_exported_from_the_next_run_on(tmp_path: Path) -> None:
    """Until then it does not count, and decisions of a quiet model are not read again."""
    fill(tmp_path)
    config = Config.model_validate({"store": str(tmp_path / "store"), "models": {"well": LOGS}})
    reader, store = Reader(config, 5), Store(config.store)
    assert reader.snapshot("well").rebased == {"well": []}
    made = store.decide("well", lambda number, _: Rebase(number, MOMENT, "Ana", "new", FIRST))
    assert reader.snapshot("well").rebased == {"well": []}
    now = datetime.now(UTC) + timedelta(hours=1)
    store.write_run("well", started=now, finished=now)
    assert reader.snapshot("well").rebased == {"well": [made]}
    store.decide("well", lambda number, _: End(number, MOMENT, "Ana", "back", made.number))
    store.write_run("well", started=now, finished=now + timedelta(seconds=1))
    assert reader.snapshot("well").rebased == {"well": []}
