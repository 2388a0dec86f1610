"""A model with classes from its logs to the verdict, its gauges and its page."""

import json
import shutil
from collections.abc import Callable, Sequence
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from monitor.config import Config
from monitor.export.snapshot_reader import Reader
from monitor.export.text import exposition, lines
from monitor.store.store import Store
from tests.support.class_logs import NAMES, REFERENCE, configure_classes, draw, run_days, write_day

FIRST = date(2026, 1, 1)
DAYS = [FIRST + timedelta(days=number) for number in range(22)]
BROKEN = DAYS[16]  # from then on the logits are too large by 1 / 0.6


def configure(folder: Path, store: str = "whole", names: Sequence[str] = NAMES) -> Config:
    """Configure the model with a store of its own."""
    return configure_classes(folder, store, REFERENCE, names=names)


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the logs, and process all days in one call."""
    folder = tmp_path_factory.mktemp("pets")
    for number, day in enumerate(DAYS):
        rng = np.random.default_rng(number)
        weights = np.exp(rng.normal(0.0, 0.5, 3)) * ([4, 1, 1] if day >= DAYS[15] else [1, 1, 1])
        vectors, labels = draw(
            rng, 2_000, slope=0.6 if day >= BROKEN else 1.0, priors=list(weights)
        )
        write_day(folder / "logs", day, vectors, pa.array(np.array(NAMES)[labels]))
    run_days(configure(folder), DAYS[0], DAYS[-1], jobs=2)
    return folder


def test_the_drift_is_found_and_the_priors_are_named(logs: Path) -> None:
    """The verdict of the whole says since when, which pair, and which class is more frequent."""
    store = Store(configure(logs).store)
    whole, *pairs = store.read_verdicts("pets", DAYS[-1])[0]
    before = store.read_verdicts("pets", BROKEN - timedelta(days=1))[0][0]
    said = " ".join(whole.reasons)

    assert before.state in {"ok", "prior_shift"}
    assert whole.state == "calibration_drift"
    assert whole.detector.incident.kind == "too_extreme"
    assert abs((whole.detector.incident.started - BROKEN).days) <= 3
    assert "The worst pair is " in said
    assert "More frequent than in the reference: cat (" in said
    assert {v.segment for v in pairs} == {
        "third choices",
        "cat against dog",
        "cat against fish",
        "dog against fish",
    }


def test_gauges_have_the_class_and_its_limit(logs: Path) -> None:
    """Classes and pairs are at most as many as configured, and the others are counted."""
    config = configure(logs)

    def exported(most: int) -> str:
        snapshot = Reader(config, most_segments=most).snapshots()["pets"]
        return exposition([lines(snapshot)]).decode()

    assert exported(50).count('calibration_class_prevalence_ratio{class="') == 2 * len(NAMES)
    assert exported(1).count('calibration_class_prevalence_ratio{class="') == 2
    assert 'calibration_left_out{model="pets",of="classes"} 2.0' in exported(1)
    assert 'calibration_left_out{model="pets",of="pairs"} 0.0' in exported(50)
    assert 'segment="cat against dog"' in exported(50)


def test_show_and_the_page_have_the_classes(logs: Path, command: Callable[..., Any]) -> None:
    """People see vectors, classes and pairs."""
    configure(logs)
    place = ("--config", logs / "whole.yaml", "--model", "pets")
    shown = command("show", *place, "--windows", 7).out
    command("report", *place, "--out", logs / "pets.html")
    html = (logs / "pets.html").read_text()

    assert "pets, classes, 7 days to 2026-01-22" in shown
    assert "Vectors of 3 classes, as logged: root Brier score" in " ".join(shown.split())
    assert '<h2 id="classes">Classes</h2>' in html
    assert "Pairs of classes</h2>" in html


def test_recalibrate_begins_with_the_drift(logs: Path, command: Callable[..., Any]) -> None:
    """It fits the days since the estimated start, and names the reference that is replaced."""
    configure(logs)
    ended = command("recalibrate", "--config", logs / "whole.yaml", "--model", "pets", "--json")
    told = json.loads(ended.out)
    (factor,) = told["map"]["map"]["parameters"]

    assert (told["chosen"], told["worth_it"], told["since_drift"]) == ("temperature", True, True)
    assert told["map"]["training"]["read"] == 2_000 * told["map"]["training"]["days"]
    assert told["map"]["replaces"] == {"first": str(DAYS[0]), "last": str(DAYS[13])}
    # The logits are too large by 1 / 0.6, which 12,000 rows know to 0.015; a day more moves it.
    assert 0.55 < factor < 0.68


def test_a_change_of_the_classes_begins_again(logs: Path) -> None:
    """Days with other classes share no window, and the old reference does not judge them."""
    folder = logs / "changed"
    store = configure(logs).store
    shutil.copytree(store, folder / "store")
    day = DAYS[-1] + timedelta(days=1)
    vectors, labels = draw(np.random.default_rng(99), 500, 4)
    names = [*NAMES, "cow"]
    write_day(folder / "logs", day, vectors, pa.array(np.array(names)[labels]), names=names)
    config = configure(folder, "store", names)

    run_days(config, day, day)
    week = Store(config.store).read_evaluations("pets", day)[0][-1]
    whole = Store(config.store).read_verdicts("pets", day)[0][0]
    assert (week.window_days, week.days_present, week.matched) == (7, 1, 500)
    assert whole.state == "not_comparable"
    assert "another predictions.classes than the reference" in whole.reasons[0]
    last = Store(config.store).read_verdicts("pets", DAYS[-1])[0][0]
    assert whole.where is not None
    assert whole.where == last.where  # the day has no part in it


def test_classes_that_changed_places_are_named_without_a_search_by_value(tmp_path: Path) -> None:
    """The break is among the scores of a class, and values are counted by the first choice."""
    names, priors = ["cat", "dog", "fish", "bird"], [8.0, 6.0, 1.0, 0.7]
    for number, day in enumerate(DAYS[:17]):
        vectors, labels = draw(np.random.default_rng(number), 1_000, 4, priors=priors)
        vectors *= priors
        vectors /= vectors.sum(axis=1, keepdims=True)
        if number >= 15:
            vectors = vectors[:, [0, 1, 3, 2]]
        outcomes = pa.array(np.array(names)[labels])
        write_day(tmp_path / "logs", day, vectors, outcomes, names=names)
    config = configure(tmp_path, "swapped", names)
    run_days(config, DAYS[0], DAYS[16])

    incident = Store(config.store).read_verdicts("pets", DAYS[16])[0][0].incident

    assert (incident.kind, {incident.of_class, incident.other_class}) == (
        "class_place",
        {"fish", "bird"},
    )
