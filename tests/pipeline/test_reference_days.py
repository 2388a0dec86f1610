"""A model with rare events: what is kept of its past, and that it is never trusted blindly."""

from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from monitor.config import Config
from monitor.days.summary import Segment, Summary
from monitor.metrics.core.tally import tally_on_grid
from monitor.pipeline.verdicts.references import read_references
from monitor.store.store import Store

FIRST = date(2026, 1, 1)
POSITIVES, ROWS = 4, 400  # a day: 300 positives take 75 days


def day_of(place: int) -> date:
    """Name a day of the history."""
    return FIRST + timedelta(days=place)


def write(store: Store, places: Iterable[int], positives: int = POSITIVES) -> None:
    """Write the summaries of some days."""
    for place in places:
        rng = np.random.default_rng(place)
        scores = rng.uniform(0.005, 0.02, ROWS)
        part = Segment(tally_on_grid(np.arange(ROWS) < positives, scores), ROWS)
        known = datetime(2026, 1, 3, tzinfo=UTC) + timedelta(days=place)
        store.write_summary(
            Summary("rare", (day_of(place),), {"all": part}, {}, final=True, known_at=known)
        )


@pytest.fixture
def config(tmp_path: Path) -> Config:
    """Configure the model."""
    logs = {log: {"path": f"{tmp_path}/{log}/{{day}}"} for log in ("predictions", "outcomes")}
    return Config.model_validate({"store": str(tmp_path / "store"), "models": {"rare": logs}})


def fitted_on(config: Config) -> list[list[str]]:
    """Read the references as a run does, and give the marks of their days."""
    with Store(config.store).locked("rare"):
        return read_references(config, "rare").marks


def test_a_file_that_was_replaced_is_counted_again(config: Config) -> None:
    """Counts are kept beside the file that they are of; a damaged record is made again."""
    store = Store(config.store)
    write(store, range(70))
    assert fitted_on(config) == []
    record = Path(config.store) / "runs/rare/counts.json"
    sound = record.read_bytes()
    record.write_bytes(sound.replace(b"4", b"9", 1))
    assert fitted_on(config) == []
    assert record.read_bytes() == sound

    write(store, [65], positives=100)
    (marks,) = fitted_on(config)
    assert len(marks) == 66
