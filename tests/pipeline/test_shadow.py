"""A calibration map in the shadow: its measures, its gain, and the reference when deployed."""

import re
import shutil
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from scipy.special import expit, logit
from typer.testing import CliRunner

from monitor.base.errors import ConfigError
from monitor.cli import app
from monitor.config import Config, load_config
from monitor.days.summary import ColumnPart, Segment, Summary, awaited, stratified
from monitor.drift.fold.inputs import reference_of_day
from monitor.drift.records.verdict import Verdict
from monitor.evaluation.evaluation import Evaluation
from monitor.evaluation.shadow import DayGain, Shadow, day_gains, map_columns, map_gain, map_summary
from monitor.metrics.core.coarse import coarsen
from monitor.metrics.core.tally import tally_on_grid
from monitor.metrics.maps.calibration_map import CalibrationMap, apply_calibration_map
from monitor.metrics.maps.map_file import Level, MapFile, Training
from monitor.metrics.maps.part import Clause, Part
from monitor.pipeline.runs.evaluations import evaluate_days
from monitor.pipeline.verdicts.judging import judge_days
from monitor.pipeline.verdicts.references import read_references
from monitor.store.map_file import read_map, write_map
from monitor.store.store import Store
from monitor.words.windows import map_sentence
from tests.support.cases import some

FIRST = date(2026, 1, 1)
DAYS = [FIRST + timedelta(days=i) for i in range(60)]
BROKEN, SINCE, DEPLOY, RETIRE = DAYS[14], DAYS[36], DAYS[46], DAYS[52]
SLOPE = 0.6
RIGHT = CalibrationMap("platt", parameters=(SLOPE,))
TV = Clause("device", ("tv",))
ROWS = 2_000
CONFIG = """\
store: {folder}/store
models:
  ctr:
    predictions: {{path: "p/{{day}}.parquet"}}
    outcomes: {{path: "o/{{day}}.parquet"}}
    windows: [1, 7]
    segments: {{column: country, values: [DE, FR]}}
    map: {{file: map.json, since: {since}{deploy}}}
    verdicts: {{references: [{{first: 2026-01-01, last: 2026-01-14}}]}}
"""


def rows_of(day: date, segment: str, *, repaired: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Draw scores, which from BROKEN on are too extreme until they are repaired, and outcomes."""
    rng = np.random.default_rng([day.toordinal(), ord(segment[0])])
    x = rng.normal(-1.0, 1.2, ROWS)
    slope = SLOPE if day >= BROKEN and not repaired else 1.0
    return expit(x), rng.random(ROWS) < expit(slope * x)


@cache
def summary(day: date, found: CalibrationMap | None = None, *, repaired: bool = False) -> Summary:
    """Count a day, perhaps with mapped scores in the log."""
    segments = {}
    for name in ("DE", "FR"):
        scores, outcomes = rows_of(day, name, repaired=repaired)
        counted = scores if found is None else apply_calibration_map(scores, found)
        segments[name] = Segment(tally_on_grid(outcomes, counted), ROWS)
    known_at = datetime(2026, 4, 1, tzinfo=UTC)
    return Summary("ctr", (day,), segments, {}, final=True, known_at=known_at)


def configure(
    folder: Path,
    *,
    found: CalibrationMap = RIGHT,
    deploy: date | None = None,
    retire: date | None = None,
    since: date = SINCE,
) -> Config:
    """Write a configuration and the map that it names."""
    last = DAYS[34]
    training = Training(BROKEN, last, 21, 42 * ROWS, 12 * ROWS)
    level = Level("outcomes", BROKEN, last, 0.01)
    write_map(
        str(folder / "map.json"), MapFile("ctr", "all", found, training, level, None, None, "1.0")
    )
    path = folder / "monitor.yaml"
    said = "".join(f", {key}: {on}" for key, on in (("deploy", deploy), ("retire", retire)) if on)
    path.write_text(CONFIG.format(folder=folder, since=since, deploy=said))
    return load_config(path)


def measured(config: Config, days: Sequence[date] = DAYS) -> list[Evaluation]:
    """Evaluate stored days, and read all."""
    store = Store(config.store)
    evaluate_days(config, "ctr", read_references(config, "ctr"), (days[0], days[-1]))
    return [e for day in days for e in store.read_evaluations("ctr", day)[0]]


@pytest.fixture(scope="module")
def shadowed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Config, list[Evaluation]]:
    """Store sixty days, and evaluate those around the first of the shadow."""
    config = configure(tmp_path_factory.mktemp("shadow"))
    for day in DAYS:
        Store(config.store).write_summary(summary(day))
    return config, measured(config, DAYS[33:48])


def test_only_windows_behind_its_first_day_are_mapped(
    shadowed: tuple[Config, list[Evaluation]],
) -> None:
    """A day from SINCE on, and a week once all of its days are; the gain after three days."""
    for e in shadowed[1]:
        begin = e.day - timedelta(days=e.window_days - 1)
        assert (e.map is not None) == (begin >= SINCE)
        enough = e.window_days == 1 and e.day >= SINCE + timedelta(days=2)
        assert (e.map_gain is not None) == enough
        if e.map_gain:
            assert e.map_gain.days == (e.day - SINCE).days + 1


def test_the_measures_are_those_of_a_log_with_mapped_scores(
    shadowed: tuple[Config, list[Evaluation]], tmp_path: Path
) -> None:
    """Scores that move with their cell differ from rows by at most half a cell, 1/1024 in logit."""
    day = SINCE
    other = configure(tmp_path, since=DAYS[59])
    for each in (*DAYS[:14], day):
        Store(other.store).write_summary(summary(each, RIGHT if each == day else None))
    (theirs, *_) = measured(other, [day])
    ours = next(e for e in shadowed[1] if (e.day, e.segment, e.window_days) == (day, "all", 1))

    assert ours.map.ece == pytest.approx(theirs.raw.ece, abs=5e-4)
    assert ours.map.rbs == pytest.approx(theirs.raw.rbs, abs=1e-5)
    assert ours.map_slope.value == pytest.approx(theirs.slope.value, abs=2e-3)
    assert ours.map_slope.low < 1.0 < ours.map_slope.high
    assert ours.slope.high < 1.0


def test_the_gain_is_that_of_the_rows(shadowed: tuple[Config, list[Evaluation]]) -> None:
    """Mean log loss and squared error of all rows since the first day, without and with the map."""
    days = DAYS[36:48]
    drawn = [rows_of(day, name) for day in days for name in ("DE", "FR")]
    scores, outcomes = (np.concatenate(parts) for parts in zip(*drawn, strict=True))
    mapped = apply_calibration_map(scores, RIGHT)

    def log_loss(p: np.ndarray) -> float:
        return float(-np.log(np.where(outcomes, p, 1.0 - p)).mean())

    found = next(
        e.map_gain for e in shadowed[1] if (e.day, e.segment, e.window_days) == (days[-1], "all", 1)
    )
    assert found.log_loss.value == pytest.approx(log_loss(scores) - log_loss(mapped), abs=2e-5)
    brier = float(((scores - outcomes) ** 2 - (mapped - outcomes) ** 2).mean())
    assert found.brier.value == pytest.approx(brier, abs=1e-5)
    assert found.log_loss.low > 0.0
    assert map_sentence(found).startswith(
        "Over the 12 days on which the calibration map was compared, it lowered the log loss by 0."
    )


@pytest.mark.parametrize(("slope", "harms"), [(0.6, False), (0.1, True), (1.0, False)])
def test_a_map_that_harms_is_named(slope: float, *, harms: bool) -> None:
    """A map that flattens too much has the larger loss; one that changes nothing harms nobody."""
    shadow = Shadow(CalibrationMap("platt", parameters=(slope,)))
    days = [day_gains(summary(day), shadow)["all"] for day in DAYS[36:]]
    found = map_gain(days)

    assert found.harms == harms
    assert ("Do not use it" in map_sentence(found)) == harms


@pytest.mark.parametrize("of_days", some([0.02, 0.0], 2))
def test_intervals_hold_where_entities_come_again(of_days: float) -> None:
    """Of 1,000 stretches in which buckets differ for good, and days beside them or not.

    95 % and up to 3 more, for Student's t has the degrees of the days (+- 3 standard errors).
    """
    rng, held, without = np.random.default_rng(2), 0, 0
    for _ in range(1_000):
        cells = 0.01 + rng.normal(0.0, 0.1, 64) + rng.normal(0.0, 0.02, (10, 64))
        cells += rng.normal(0.0, of_days, (10, 1))
        rows = np.full((3, 64), 100.0)
        of = [100.0 * gains for gains in cells]
        days = [DayGain(6_400.0, g.sum(), g.sum(), np.array([rows[0], g, g])) for g in of]
        for place, stretch in enumerate((days, [replace(day, held=None) for day in days])):
            found = map_gain(stretch)
            inside = found.log_loss.low <= 0.01 <= found.log_loss.high
            held, without = held + inside * (1 - place), without + inside * place
    error = 3 * (0.95 * 0.05 / 1_000) ** 0.5
    assert 0.95 - error < held / 1_000 < 0.98 + error
    assert without < 800


def test_samples_are_mapped_as_their_population() -> None:
    """Of a log that keeps every second negative, the sample's scores are moved back and again."""
    scores, outcomes = rows_of(SINCE, "DE")
    moved = expit(logit(scores) + np.log(2.0))
    waiting = awaited(np.array([8192]), np.array([5]))
    part = Segment(tally_on_grid(outcomes, moved), ROWS + 5, waiting)
    day = Summary(
        "ctr", (SINCE,), {"DE": stratified({"a": part, "b": part})}, {}, final=True,
        known_at=datetime(2026, 4, 1, tzinfo=UTC), class_weights=(2.0, 1.0),
    )  # fmt: skip
    found = map_summary(day, Shadow(RIGHT)).segments["DE"]
    expected = expit(logit(apply_calibration_map(scores, RIGHT)) + np.log(2.0))

    assert found.tally.mean_score == pytest.approx(expected.mean(), abs=1e-5)
    assert set(found.strata) == {"a", "b"}
    at_half = expit(SLOPE * (0.0 - np.log(2.0)) + np.log(2.0))
    assert found.awaited.counts.tolist() == [10]
    cell = int((logit(at_half) + 16.0) * 512)
    assert abs(int(found.awaited.cells[0]) - cell) <= 1


def test_columns_are_mapped_as_their_rows() -> None:
    """The counts by value are those of mapped scores, but for the width of a coarse cell, twice."""
    day, found = FIRST, CalibrationMap("beta", 0.3, (0.7, 1.2))
    scores, outcomes = rows_of(day, "DE")
    logged, mapped = (
        coarsen(tally_on_grid(outcomes, s)) for s in (scores, apply_calibration_map(scores, found))
    )
    cells = np.flatnonzero(logged.counts)
    part = ColumnPart(cells, logged.counts[cells], logged.positives[cells], ROWS)
    moved = map_columns(summary(day), {"device": {"tv": part}}, Shadow(found))["device"]["tv"]

    for counts, ours in ((mapped.counts, moved.counts), (mapped.positives, moved.positives)):
        places = np.repeat(np.arange(counts.size), counts)
        theirs = np.repeat(moved.cells, ours)
        assert theirs.size == places.size
        assert np.abs(places - theirs).max() <= 2
    assert moved.predicted == ROWS


@pytest.fixture(scope="module")
def undeployed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Judge the days before a map is deployed."""
    config = configure(tmp_path_factory.mktemp("undeployed"), deploy=DEPLOY)
    for day in DAYS:
        if day < DEPLOY:
            Store(config.store).write_summary(summary(day))
    judge_days(config, "ctr", read_references(config, "ctr"), FIRST)
    return Path(config.store)


def verdicts_of(
    undeployed: Path, folder: Path, logged: CalibrationMap | None
) -> dict[date, Verdict]:
    """Judge sixty days, whose logs hold mapped scores from DEPLOY on if a map is given."""
    shutil.copytree(undeployed, folder / "store")
    config = configure(folder, deploy=DEPLOY)
    store = Store(config.store)
    for day in DAYS:
        if day >= DEPLOY:
            store.write_summary(summary(day, logged))
    judge_days(config, "ctr", read_references(config, "ctr"), DEPLOY)
    return {day: store.read_verdicts("ctr", day)[0][0] for day in DAYS}


def test_a_deployed_map_that_was_forgotten_is_found(undeployed: Path, tmp_path: Path) -> None:
    """If the log keeps the scores as they were, they drift from what the map would make."""
    found = verdicts_of(undeployed, tmp_path, None)

    late = found[DAYS[-1]]
    assert late.state == "calibration_drift"
    assert late.detector.incident.kind == "too_extreme"
    assert late.detector.incident.opened >= DEPLOY


def test_a_retired_map_gives_its_reference_back(undeployed: Path, tmp_path: Path) -> None:
    """From `retire` on days are compared with the reference that the map replaced."""
    shutil.copytree(undeployed, tmp_path / "store")
    config = configure(tmp_path, deploy=DEPLOY, retire=RETIRE)
    fitted = read_references(config, "ctr").fitted
    first, mapped, before, again = (
        reference_of_day(day, fitted) for day in (FIRST, DEPLOY, RETIRE - timedelta(days=1), RETIRE)
    )

    assert mapped is before
    assert mapped.begins == DEPLOY
    assert (again.first, again.last, again.begins) == (first.first, first.last, RETIRE)
    assert again.streams is first.streams
    assert mapped.streams is not first.streams


def test_the_command_says_how_a_map_ends(tmp_path: Path) -> None:
    """The line of the configuration and the reference of the days after it; a day too early."""
    config = configure(tmp_path, deploy=DEPLOY)
    for day in DAYS[:48]:
        Store(config.store).write_summary(summary(day))
    call = ["map", "retire", "-m", "ctr", "--config", f"{tmp_path}/monitor.yaml", "--on"]
    told = CliRunner().invoke(app, [*call, f"{RETIRE}"]).output
    early = CliRunner().invoke(app, [*call, f"{DEPLOY}"])

    line = re.search(r"map: \{.*?\}", " ".join(told.split()))
    written = yaml.safe_load(line[0])["map"] if line else None
    assert written == {"file": "map.json", "since": SINCE, "deploy": DEPLOY, "retire": RETIRE}
    assert f"the reference of {DAYS[0]} to {DAYS[13]}" in " ".join(told.split())
    maps = f"{{file: map.json, since: {SINCE}, deploy: {DEPLOY}, retire: {RETIRE}}}"
    later = f"{{file: maps/second.json, since: {DAYS[55]}, deploy: {DAYS[56]}}}"
    path, other = tmp_path / "monitor.yaml", tmp_path / "maps" / "second.json"
    path.write_text(re.sub(r"map: .*", f"map: [{maps}, {later}]", path.read_text()))
    other.parent.mkdir()
    content = read_map(str(tmp_path / "map.json"))
    training = replace(content.training, first=DAYS[50], last=DAYS[54])
    write_map(str(other), replace(content, training=training))
    of_two = CliRunner().invoke(app, [*call, f"{DAYS[58]}"]).output
    retired = f"{later[:-1]}, retire: {DAYS[58]}}}"
    assert f"map: [{maps}, {retired}]" in " ".join(of_two.split())
    assert isinstance(early.exception, ConfigError)
    assert f"the map is deployed since {DEPLOY}; name a later day" in str(early.exception)


@pytest.mark.parametrize(
    ("maps", "words"),
    [
        ("[{file: a, since: 2026-02-01}, {file: b, since: 2026-03-01}]", "has neither"),
        (
            "[{file: a, since: 2026-02-01, deploy: 2026-02-05}, {file: b, since: 2026-02-03}]",
            "must not be after since of the next; the map of 2026-02-01 has 2026-02-05",
        ),
        ("{file: a, since: 2026-02-01, retire: 2026-02-05}", "retire must be after deploy"),
        ("{file: a, since: 2026-02-05, deploy: 2026-02-01}", "deploy must not be before since"),
    ],
)
def test_dates_of_maps_that_cannot_be(tmp_path: Path, maps: str, words: str) -> None:
    """The configuration says so at once."""
    one = "{file: map.json, since: 2026-02-06}"
    configure(tmp_path)
    path = tmp_path / "monitor.yaml"
    path.write_text(path.read_text().replace(one, maps))

    assert words in load_config(path).invalid["ctr"].message


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"model": "other"}, "maps scores of the model 'other'"),
        ({"segment": "IT"}, "maps scores of the segment 'IT'"),
        (
            {"part": Part("device = tv", ((TV,),))},
            "with device = tv, which no column of models.ctr",
        ),
        ({"before": (RIGHT,)}, "is composed of 2 maps, for the scores that the model itself"),
    ],
)
def test_a_map_of_something_else_is_refused(
    tmp_path: Path, change: dict[str, Any], words: str
) -> None:
    """The message names the file and what to do."""
    config = configure(tmp_path)
    training, level = Training(FIRST, BROKEN, 1, 1, 1), Level("outcomes", FIRST, BROKEN, 0.1)
    content = MapFile("ctr", "all", RIGHT, training, level, None, None, "1.0")
    write_map(str(tmp_path / "map.json"), replace(content, **change))
    Store(config.store).write_summary(summary(FIRST))

    with pytest.raises(ConfigError, match=words):
        read_shadowed(config)


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ("deploy: 2026-02-16", "compare it without deploy"),
        ("predictions: entity", "intervals would be too short; make the column primary"),
        ("values: [web]", "which no column of models.ctr.segments counts"),
    ],
)
def test_a_map_of_a_value_that_cannot_be_compared(tmp_path: Path, lines: str, words: str) -> None:
    """From `deploy` on, with entities, or where a list of values leaves the value out."""
    config = configure(tmp_path, deploy=DEPLOY if lines.startswith("deploy") else None)
    listed = "values: [web]" if lines.startswith("values") else "top: 3"
    text = (tmp_path / "monitor.yaml").read_text()
    text = text.replace(
        "segments: {column: country, values: [DE, FR]}",
        "segments: [{column: country, values: [DE, FR], primary: true}, "
        f"{{column: device, {listed}}}]",
    )
    if lines.endswith("entity"):
        text = text.replace('{day}.parquet"}', '{day}.parquet", entity: user}', 1)
    (tmp_path / "monitor.yaml").write_text(text)
    content = replace(read_map(f"{tmp_path}/map.json"), part=Part("device = tv", ((TV,),)))
    write_map(f"{tmp_path}/map.json", content)
    Store(config.store).write_summary(summary(FIRST))

    with pytest.raises(ConfigError, match=words):
        read_shadowed(load_config(tmp_path / "monitor.yaml"))


def test_a_map_is_not_compared_with_days_it_was_fitted_to(tmp_path: Path) -> None:
    """That would flatter it."""
    config = configure(tmp_path, since=DAYS[30])
    Store(config.store).write_summary(summary(FIRST))

    with pytest.raises(ConfigError, match="set since after that day"):
        read_shadowed(config)


def read_shadowed(config: Config) -> None:
    """Evaluate the first day."""
    evaluate_days(config, "ctr", read_references(config, "ctr"), (FIRST, FIRST))
