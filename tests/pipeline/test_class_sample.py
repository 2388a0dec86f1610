"""A model whose log becomes a sample by class, from its logs to the verdict."""

from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from monitor.config import load_config
from monitor.drift.records.verdict import Verdict
from monitor.pipeline.days.task import Task
from monitor.pipeline.runs.run import run
from monitor.store.store import Store
from tests.support.class_logs import NAMES, draw, write_day

DAYS = [date(2026, 1, 1) + timedelta(days=number) for number in range(23)]
SAMPLED = DAYS[15]  # the first day of the sample
BROKEN = DAYS[19]  # the first day of logits that are too large
WEIGHTS = np.array([4.0, 1.0, 2.0])
SLOPE = 0.6
CONFIG = """\
store: store
models:
  pets:
    predictions:
      path: "logs/predictions/{{day}}.parquet"
      classes: {{names: [{names}], vector: p{weights}}}
    outcomes: {{path: "logs/outcomes/{{day}}.parquet"}}
    settled_after: 0
    windows: [1]
    verdicts: {{references: [{{first: 2026-01-01, last: 2026-01-14}}]}}
"""


def write_logs(folder: Path) -> None:
    """Write days whose priors wander; later ones keep the rows of each class at its rate."""
    for number, day in enumerate(DAYS):
        rng = np.random.default_rng([26, number])
        slope = SLOPE if day >= BROKEN else 1.0
        priors = np.exp(rng.normal(0.0, 0.3, 3))
        vectors, labels = draw(rng, 2_000, slope=slope, priors=list(priors))
        if day >= SAMPLED:
            kept = rng.random(labels.size) < 1.0 / WEIGHTS[labels]
            vectors, labels = vectors[kept], labels[kept]
        write_day(folder / "logs", day, vectors, pa.array(np.array(NAMES)[labels]))


def process(folder: Path, first: date, last: date, weights: str = "") -> None:
    """Process days with the weights of a configuration."""
    path = folder / "monitor.yaml"
    path.write_text(CONFIG.format(names=", ".join(NAMES), weights=weights))
    task = Task("pets", first, last, DAYS[-1] + timedelta(days=1))
    report = run(load_config(path), task, clock=lambda: datetime(2026, 3, 1, tzinfo=UTC))
    assert report.failures == ()


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory: pytest.TempPathFactory) -> dict[date, Verdict]:
    """Process the days of every row, then those of the sample; give the verdicts of the whole."""
    folder = tmp_path_factory.mktemp("sample")
    write_logs(folder)
    process(folder, DAYS[0], SAMPLED - timedelta(days=1))
    process(folder, SAMPLED, DAYS[-1], f", weights: {WEIGHTS.tolist()}")
    store = Store(load_config(folder / "monitor.yaml").store)
    return {day: store.read_verdicts("pets", day)[0][0] for day in DAYS[14:]}


def test_a_sample_is_no_drift_and_moves_no_level(verdicts: dict[date, Verdict]) -> None:
    """A quarter of one class and half of another; the reference has all rows."""
    before = [verdict for day, verdict in verdicts.items() if day < BROKEN]

    assert {verdict.state for verdict in before} <= {"ok", "prior_shift"}


def test_a_drift_of_the_sample_is_that_of_its_population(verdicts: dict[date, Verdict]) -> None:
    """It is found as soon as of all rows, and its slope is theirs."""
    last = verdicts[DAYS[-1]]

    assert last.incident.kind == "too_extreme"
    assert BROKEN <= last.incident.opened <= BROKEN + timedelta(days=2)
    assert last.slope.low < SLOPE < last.slope.high
