"""A model whose log becomes a sample by class, from its logs to the verdict."""

from datetime import date, timedelta
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from monitor.drift.records.verdict import Verdict
from monitor.store.store import Store
from tests.support.class_logs import NAMES, REFERENCE, configure_classes, draw, run_days, write_day

DAYS = [date(2026, 1, 1) + timedelta(days=number) for number in range(23)]
SAMPLED = DAYS[15]  # the first day of the sample
BROKEN = DAYS[19]  # the first day of logits that are too large
WEIGHTS = np.array([4.0, 1.0, 2.0])
SLOPE = 0.6


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


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory: pytest.TempPathFactory) -> dict[date, Verdict]:
    """Process the days of every row, then those of the sample; give the verdicts of the whole."""
    folder = tmp_path_factory.mktemp("sample")
    write_logs(folder)
    config = configure_classes(folder, "store", REFERENCE, windows="1")
    run_days(config, DAYS[0], SAMPLED - timedelta(days=1))
    weights = f", weights: {WEIGHTS.tolist()}"
    config = configure_classes(folder, "store", REFERENCE, windows="1", weights=weights)
    run_days(config, SAMPLED, DAYS[-1])
    store = Store(config.store)
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
