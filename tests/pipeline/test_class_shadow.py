"""A map of class vectors in the shadow: what it gains, what `show` says, and its deployment."""

import shutil
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from monitor.config import Classes, Config, Engine, load_config
from monitor.drift.records.verdict import Verdict
from monitor.evaluation.evaluate import evaluate
from monitor.evaluation.evaluation import Evaluation
from monitor.evaluation.score_errors import Settings
from monitor.evaluation.shadow import mapped_summary
from monitor.logs import batch_of_summary, count_through_map, open_databases, summarise_day
from monitor.metrics.maps.calibration_map import CalibrationMap
from monitor.metrics.maps.class_map_file import ClassMapFile, ClassTraining
from monitor.metrics.maps.map_file import Gain, Gains, Level, MapFile, Training
from monitor.metrics.maps.vector_map import VectorMap, apply_vector_map
from monitor.pipeline.housekeeping.prune import plan
from monitor.pipeline.housekeeping.store_check import check_store
from monitor.pipeline.verdicts.asked_where import answer_where
from monitor.store.map_file import write_map
from monitor.store.store import Store
from monitor.store.summary_table import summary_table
from tests.conftest import Ended
from tests.support.class_logs import NAMES, REFERENCE, configure_classes, draw, run_days, write_day
from tests.support.workers import made_once

Run = Callable[..., Ended]
FIRST, ROWS = date(2026, 1, 1), 600
DAYS = [FIRST + timedelta(days=number) for number in range(24)]
TRAINED, SINCE, DEPLOY = DAYS[:14], DAYS[15], DAYS[18]
RIGHT = VectorMap("temperature", NAMES, parameters=(0.6,))
FEW = Settings(0.05, 100)
NOTHING = Gains(*[Gain(0.0, 0.0, 0.0)] * 4)


def rows_of(number: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw a day whose logits are too large by 1 / 0.6."""
    return draw(np.random.default_rng(number), ROWS, slope=0.6)


def write_content(path: Path, found: VectorMap, model: str = "pets") -> None:
    """Write a map file."""
    training = ClassTraining(TRAINED[0], TRAINED[-1], 14, 14 * ROWS, 14 * ROWS, (14 * ROWS, 0, 0))
    write_map(str(path), ClassMapFile(model, found, training, None, NOTHING, "1.0"))


def configure(
    folder: Path,
    logs: Path,
    *,
    found: VectorMap | None = RIGHT,
    since: date = SINCE,
    deploy: date | None = None,
) -> Config:
    """Configure the model, with a map or without."""
    more = []
    if found:
        write_content(folder / "map.json", found)
        end = f", deploy: {deploy}" if deploy else ""
        more.append(f"map: {{file: map.json, since: {since}{end}}}")
    if deploy:
        more.append(REFERENCE)
    windows = "1" if deploy else "1, 7"
    return configure_classes(folder, "store", *more, logs=logs, windows=windows, file="monitor")


def evaluated(config: Config, day: date, window: int = 1) -> Evaluation:
    """Read what was measured of a window."""
    stored = Store(config.store).read_evaluations("pets", day)[0]
    return next(e for e in stored if e.window_days == window)


def contents(config: Config) -> dict[str, bytes]:
    """Read the results."""
    folder = Path(config.store)
    return {
        f"{path.relative_to(folder)}": path.read_bytes()
        for kind in ("summaries", "mapped", "evaluations", "verdicts")
        for path in (folder / kind).rglob("2*.*")
    }


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the logs of all days."""

    def make(folder: Path) -> None:
        for number, day in enumerate(DAYS):
            vectors, labels = rows_of(number)
            write_day(folder, day, vectors, pa.array(np.array(NAMES)[labels]))

    return made_once(tmp_path_factory, "class-shadow-logs", make)


@pytest.fixture(scope="module")
def begun(logs: Path, tmp_path_factory: pytest.TempPathFactory) -> Config:
    """Process the days before those that are compared, without a map."""
    config = configure(tmp_path_factory.mktemp("begun"), logs, found=None)
    run_days(config, DAYS[0], DAYS[14])
    return config


@pytest.fixture(scope="module")
def plain(begun: Config, logs: Path, tmp_path_factory: pytest.TempPathFactory) -> Config:
    """Process all days without a map."""
    folder = tmp_path_factory.mktemp("plain")
    copy(begun, folder)
    config = configure(folder, logs, found=None)
    run_days(config, SINCE, DAYS[-1])
    return config


@pytest.fixture(scope="module")
def shadowed(logs: Path, tmp_path_factory: pytest.TempPathFactory) -> Config:
    """Process all days in one call."""
    config = configure(tmp_path_factory.mktemp("shadow"), logs)
    report = run_days(config, DAYS[0], DAYS[-1])
    assert not report.still_missing
    return config


def copy(config: Config, folder: Path) -> None:
    """Copy a store to where `configure` has it."""
    shutil.copytree(config.store, folder / "store")


def test_the_gain_is_that_of_the_rows(shadowed: Config) -> None:
    """Mean log loss and Brier score of all rows since the first day, without and with the map.

    Sums are in units of 2**-32, so means of 5,400 rows are right to a billionth.
    """
    found = evaluated(shadowed, DAYS[-1]).map_gain
    drawn = [rows_of(number) for number in range(15, 24)]
    vectors, labels = (np.concatenate(parts) for parts in zip(*drawn, strict=True))
    mapped, at = apply_vector_map(vectors, RIGHT), (np.arange(labels.size), labels)
    hits = np.eye(3)[labels]

    expected = np.mean(np.log(mapped[at]) - np.log(vectors[at]))
    assert found.log_loss.value == pytest.approx(expected, abs=1e-9)
    brier = ((vectors - hits) ** 2 - (mapped - hits) ** 2).sum(axis=1).mean()
    assert found.brier.value == pytest.approx(brier, abs=1e-9)
    assert found.log_loss.low > 0.0
    assert not found.harms


def test_a_map_that_is_named_later_counts_its_days(
    plain: Config, shadowed: Config, logs: Path, tmp_path: Path
) -> None:
    """The next run reads the logs of the days that it needs; without a map all is as before."""
    copy(plain, tmp_path)
    assert not Store(plain.store).days("mapped", "pets")

    config = configure(tmp_path, logs)
    run_days(config, SINCE, DAYS[-1])
    assert contents(config) == contents(shadowed)

    run_days(configure(tmp_path, logs, found=None), SINCE, DAYS[-1])
    assert contents(config) == contents(plain)


def test_logs_that_are_gone_or_others_are_named(plain: Config, logs: Path, tmp_path: Path) -> None:
    """The days are left out of the comparison, and said to be missing; the run is no failed one."""
    shutil.copytree(logs, tmp_path / "logs")
    copy(plain, tmp_path)
    (tmp_path / f"logs/predictions/{DAYS[16]}.parquet").unlink()
    vectors, labels = rows_of(99)
    write_day(tmp_path / "logs", DAYS[17], vectors, pa.array(np.array(NAMES)[labels]))
    config = configure(tmp_path, tmp_path / "logs")

    report = run_days(config, DAYS[-1], DAYS[-1])

    gone, others = report.still_missing
    assert (gone.day, others.day) == (DAYS[16], DAYS[17])
    assert "Until then the map of pets lacks this day" in gone.message
    assert "the logs are no longer those that were summarised" in others.message
    assert f"backfill --model pets --from {DAYS[17]}" in others.message
    assert Store(config.store).days("mapped", "pets") == [DAYS[15], *DAYS[18:]]
    last = evaluated(config, DAYS[-1])
    assert last.map_gain.days == 7
    assert evaluated(config, DAYS[-1], 7).map is None


def test_another_map_and_a_damaged_day_are_counted_again(
    shadowed: Config, logs: Path, tmp_path: Path
) -> None:
    """`check --store` names the day and the command that heals it; a gain is of one map alone."""
    copy(shadowed, tmp_path)
    config = configure(tmp_path, logs)
    path = Path(config.store) / f"mapped/pets/{DAYS[17]}.parquet"
    sound = path.read_bytes()
    path.write_bytes(sound[:-9])
    (said,) = check_store(Store(config.store), "pets").damaged
    run_days(config, DAYS[17], DAYS[17])

    assert f"backfill --model pets --from {DAYS[17]} --to {DAYS[17]}" in said
    assert path.read_bytes() == sound

    config = configure(tmp_path, logs, found=VectorMap("temperature", NAMES, parameters=(0.7,)))
    run_days(config, DAYS[-1], DAYS[-1])
    gain, earlier = (evaluated(of, DAYS[-1]).map_gain for of in (config, shadowed))
    assert gain.days == earlier.days == 9
    assert gain.log_loss.value < earlier.log_loss.value
    assert check_store(Store(config.store), "pets").damaged == ()


@pytest.fixture(scope="module")
def undeployed(begun: Config, logs: Path, tmp_path_factory: pytest.TempPathFactory) -> Config:
    """Process the days from which on there is a map that will be deployed."""
    folder = tmp_path_factory.mktemp("undeployed")
    copy(begun, folder)
    config = configure(folder, logs, deploy=DEPLOY)
    report = run_days(config, SINCE, DAYS[17])
    assert not report.still_missing
    return config


def verdicts_of(
    undeployed: Config, logs: Path, folder: Path, found: VectorMap | None
) -> dict[date, Verdict]:
    """Judge all days, whose logs hold mapped vectors from DEPLOY on if a map is given."""
    copy(undeployed, folder)
    shutil.copytree(logs, folder / "logs")
    for number, day in enumerate(DAYS):
        if found and day >= DEPLOY:
            vectors, labels = rows_of(number)
            logged = apply_vector_map(vectors, found)
            write_day(folder / "logs", day, logged, pa.array(np.array(NAMES)[labels]))
    config = configure(folder, folder / "logs", deploy=DEPLOY)
    report = run_days(config, DEPLOY, DAYS[-1])
    assert not report.still_missing
    store = Store(config.store)
    assert store.days("mapped", "pets") == [*TRAINED, *DAYS[15:18]]
    assert all(evaluated(config, day).map is None for day in DAYS if day >= DEPLOY)
    return {day: store.read_verdicts("pets", day)[0][0] for day in DAYS}


def test_deploying_begins_a_reference(undeployed: Config, logs: Path, tmp_path: Path) -> None:
    """The mapped training days are what mapped vectors are compared with at once: ok.

    `prune` keeps them, however old.
    """
    found = verdicts_of(undeployed, logs, tmp_path, RIGHT)

    assert {found[day].state for day in DAYS[14:]} == {"ok"}
    before, after = (found[day].reference_slope for day in (DAYS[17], DEPLOY))
    assert before.low < 0.6 < before.high < 0.8
    assert after.low < 1.0 < after.high
    config = load_config(tmp_path / "monitor.yaml")
    places = answer_where(config, "pets").where.places
    assert len(places) == 3
    for place in places:  # compared with mapped days: with logged ones the slope would be 1.7
        assert place.slope.low < 1.0 < place.slope.high < 1.4
    pruning = plan(config, "pets", keep_days=8, today=DAYS[-1] + timedelta(days=60))
    assert pruning.days["mapped"] == []
    assert pruning.reference == TRAINED[:11]  # the later ones are needed to go on from the 19th


def write_other(path: Path, change: str) -> None:
    """Write the map of something else."""
    training, level = Training(*TRAINED[:2], 1, 1, 1), Level("outcomes", *TRAINED[:2], 0.1)
    of_scores = CalibrationMap("platt", parameters=(0.6,))
    names = {"order": NAMES[::-1], "number": NAMES[:2]}.get(change, NAMES)
    found = VectorMap("temperature", names, parameters=(0.6,))
    if change == "score":
        write_map(str(path), MapFile("pets", "all", of_scores, training, level, None, None, "1.0"))
    else:
        write_content(path, found, "birds" if change == "model" else "pets")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("score", "map.json maps one score, but pets predicts 3 classes; fit one with"),
        ("number", "maps vectors of 2 classes, but pets predicts 3 classes; fit one with"),
        ("order", "maps class 1 as 'fish', but predictions.classes.names has 'cat' there"),
        ("model", "maps scores of the model 'birds'; fit one with calibration-monitor"),
    ],
)
def test_a_map_of_something_else_is_refused(
    logs: Path, tmp_path: Path, change: str, words: str, command: Run
) -> None:
    """The message names the file and what to do."""
    configure(tmp_path, logs)
    write_other(tmp_path / "map.json", change)

    ended = command("run", "--begin", "--config", tmp_path / "monitor.yaml", "--day", DAYS[0])

    assert ended.code == 2
    said = " ".join(ended.err.split())
    assert "models.pets.map.file" in said
    assert words in said


def test_the_parts_of_a_day_are_those_of_a_log_with_mapped_vectors(tmp_path: Path) -> None:
    """First choices and pairs of each segment and stratum, as if the model had been mapped."""
    (vectors, labels), rng = rows_of(1), np.random.default_rng(2)
    more = {name: [*rng.choice(["a", "b", "c"], ROWS)] for name in ("country", "tier")}
    parts = ("segments: {column: country, values: [a, b]}", "strata: {column: tier, values: [a]}")
    summaries = []
    for name, logged in (("mapped", apply_vector_map(vectors, RIGHT)), ("plain", vectors)):
        folder = tmp_path / name
        folder.mkdir()
        write_day(folder, FIRST, logged, pa.array(np.array(NAMES)[labels]), more=more)
        model = configure_classes(folder, "store", *parts, logs=folder, windows="1").model("pets")
        summaries.append(summarise_day("pets", model, FIRST, as_of=DAYS[2], engine=Engine()))
    classes = Classes(names=NAMES, vector="p")
    wanted, logged = summaries
    batch = batch_of_summary("pets", model, logged)
    with open_databases(Engine()) as databases:
        sums, counts, tops = count_through_map(batch, classes, RIGHT, databases)
    found = mapped_summary(logged, counts, tops)

    np.testing.assert_array_equal(sums, logged.classes.score_sums)
    assert summary_table(found).equals(summary_table(wanted), check_metadata=True)
    compared, of_log = (
        {e.segment: e for e in evaluate(days, window_days=1, settings=FEW, mapped=mapped)}
        for days, mapped in (([logged], [found]), ([wanted], []))
    )
    assert [*compared] == ["all", "a", "b", "other"]
    for name, e in compared.items():
        assert (e.map.ece, e.map_slope) == (of_log[name].raw.ece, of_log[name].slope)
