"""The life of a map as its page tells it: its commands in their order, dates and claims."""

import re
import shlex
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import duckdb
import numpy as np
import pytest
from scipy.special import expit
from typer.testing import CliRunner

import monitor
from monitor.cli import app
from monitor.config import Config, load_config
from monitor.days.summary import Segment, Summary
from monitor.drift.records.verdict import Verdict
from monitor.metrics.core.tally import tally_on_grid
from monitor.metrics.maps.map_file import MapFile
from monitor.pipeline.runs.evaluations import evaluate_days
from monitor.pipeline.verdicts.judging import judge_days
from monitor.pipeline.verdicts.references import read_references
from monitor.store.store import Store
from tests.support.paths import ROOT

_, _, PAGE = (ROOT / "docs" / "recalibrate.md").read_text().partition("\n## The life of a")
FIRST = date(2026, 1, 1)
FIRST_DRIFT, SECOND_DRIFT = date(2026, 1, 15), date(2026, 2, 18)
SINCE, DEPLOY = date(2026, 2, 1), date(2026, 2, 8)
SECOND_SINCE, SECOND_DEPLOY = date(2026, 3, 5), date(2026, 3, 8)
RETIRE, LAST = date(2026, 3, 18), date(2026, 3, 26)
SLOPES, ROWS = {"DE": 0.5, "FR": 0.6}, 1_000
CONFIG = """\
store: {folder}/store
models:
  fraud:
    predictions: {{path: "p/{{day}}.parquet"}}
    outcomes: {{path: "o/{{day}}.parquet"}}
    windows: [1]
    segments: {{column: country, values: [DE, FR]}}
    verdicts: {{references: [{{first: 2026-01-01, last: 2026-01-14}}]}}
"""


class World:
    """A model that lives through the page, a day at a time."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.commands = folder, _commands()
        self.ahead, self.maps = FIRST, ""

    @property
    def config(self) -> Config:
        """The configuration with the maps that are named now."""
        path = self.folder / "monitor.yaml"
        path.write_text(CONFIG.format(folder=self.folder) + self.maps)
        return load_config(path)

    def until(self, last: date) -> Verdict:
        """Store, evaluate and judge the next days; give the verdict of the whole on the last."""
        first, config = self.ahead, self.config
        store = Store(config.store)
        while self.ahead <= last:
            store.write_summary(self._summary(self.ahead))
            self.ahead += timedelta(days=1)
        references = read_references(config, "fraud")
        evaluate_days(config, "fraud", references, (last, last))
        judge_days(config, "fraud", references, first)
        return store.read_verdicts("fraud", last)[0][0]

    def next_command(self) -> str:
        """Execute the next command of the page, in the folder of the files."""
        words = next(self.commands)
        config = ["--config", f"{self.folder}/monitor.yaml"] if "--model" in words else []
        files = [f"{self.folder}/{w}" if w.endswith(".json") else w for w in words]
        done = CliRunner().invoke(app, [*files, *config])
        assert done.exit_code == 0, (words, done.output, done.exception)
        return " ".join(str(done.output).split())

    def _summary(self, day: date) -> Summary:
        segments = {}
        for name in SLOPES:
            scores, outcomes = drawn(day, name)
            segments[name] = Segment(tally_on_grid(outcomes, self._logged(scores, day, name)), ROWS)
        known_at = datetime(2026, 6, 1, tzinfo=UTC)
        return Summary("fraud", (day,), segments, {}, final=True, known_at=known_at)

    def _logged(self, scores: np.ndarray, day: date, segment: str) -> np.ndarray:
        """Map scores as the program that serves the model does."""
        if segment == "DE" and day >= DEPLOY:
            return monitor.apply_map(scores, self.folder / "map.json")
        if segment == "FR" and SECOND_DEPLOY <= day < RETIRE:
            return monitor.apply_map(scores, self.folder / "second.json")
        return scores


def drawn(day: date, segment: str) -> tuple[np.ndarray, np.ndarray]:
    """Draw what the model says, and outcomes; FR is mended on the day of the retirement."""
    rng = np.random.default_rng([day.toordinal(), ord(segment[0])])
    x = rng.normal(-0.5, 1.3, ROWS)
    off = day >= FIRST_DRIFT if segment == "DE" else SECOND_DRIFT <= day < RETIRE
    return expit(x), rng.random(ROWS) < expit((SLOPES[segment] if off else 1.0) * x)


def _commands() -> Iterator[list[str]]:
    for line in PAGE.splitlines():
        if line.startswith("    calibration-monitor "):
            yield shlex.split(line)[1:]


def _maps(place: int) -> str:
    """Give a configuration of the page."""
    return "    " + re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)[place].strip() + "\n"


def test_the_life_of_a_map(tmp_path: Path) -> None:
    """Two drifts, two maps, and the end of one: what the page says at each step is so."""
    world = World(tmp_path)
    assert world.until(SINCE - timedelta(days=1)).state == "calibration_drift"
    said = world.next_command()
    assert "comes from country = DE" in said
    assert said.endswith("--part 'country = DE' --out map.json")
    assert "so this map is for these rows alone" in world.next_command()
    assert "fraud, country = DE: " in world.next_command()
    assert fitted(tmp_path / "map.json").segment == "DE"

    world.maps = _maps(0).replace("map.json", f"{tmp_path}/map.json")
    assert world.until(DEPLOY - timedelta(days=1)).state == "calibration_drift"
    store = Store(world.config.store)
    (whole, *_), _ = store.read_evaluations("fraud", DEPLOY - timedelta(days=1))
    assert whole.map_gain
    assert whole.map_gain.log_loss.low > 0.0

    assert """CASE WHEN CAST("country" AS STRING) = 'DE'""" in world.next_command()
    world.maps = _maps(1).replace("map.json", f"{tmp_path}/map.json")
    verdict = world.until(SECOND_DRIFT - timedelta(days=1))
    assert verdict.state == "ok"
    begun = store.read_verdicts("fraud", DEPLOY)[0][0].detector.ended
    assert begun
    assert begun.reason == "rebased"

    assert world.until(SECOND_SINCE - timedelta(days=1)).state == "calibration_drift"
    assert "comes from country = FR" in world.next_command()
    world.next_command()
    second = fitted(tmp_path / "second.json")
    assert (second.segment, second.map.parameters[0]) == (
        "FR",
        pytest.approx(SLOPES["FR"], abs=0.1),
    )

    both = _maps(2)
    for name in ("map.json", "second.json"):
        both = both.replace(name, f"{tmp_path}/{name}")
    world.maps = both
    assert world.until(RETIRE - timedelta(days=1)).state == "ok"
    world.next_command()
    expression = world.next_command()
    assert_each_segment_has_its_map(expression, tmp_path)

    assert "with the reference of" in world.next_command()
    assert next(world.commands, None) is None
    world.maps = both.replace(
        f"deploy: {SECOND_DEPLOY}", f"deploy: {SECOND_DEPLOY}, retire: {RETIRE}"
    )
    assert f"deploy: {SECOND_DEPLOY}, retire: {RETIRE}" in _maps(3)
    states = {store.read_verdicts("fraud", day)[0][0].state for day in judged(world)}
    assert states == {"ok"}


def fitted(path: Path) -> MapFile:
    """Read a map of scores."""
    found = monitor.read_map(path)
    assert isinstance(found, MapFile)
    return found


def judged(world: World) -> list[date]:
    """Judge the days behind the retirement, and list them."""
    world.until(LAST)
    return [RETIRE + timedelta(days=i) for i in range((LAST - RETIRE).days + 1)]


def assert_each_segment_has_its_map(expression: str, folder: Path) -> None:
    """Compute the SQL of both maps: each segment has its own, others keep their scores."""
    scores = expit(np.linspace(-3.0, 3.0, 7))
    expected = {name: monitor.apply_map(scores, folder / file) for name, file in
                (("DE", "map.json"), ("FR", "second.json"))} | {"IT": scores}  # fmt: skip
    with duckdb.connect() as session:
        for country, mapped in expected.items():
            rows = session.execute(
                f"SELECT {expression} FROM (SELECT unnest(?::DOUBLE[]) AS score, ? AS country)",  # noqa: S608
                [scores.tolist(), country],
            ).fetchall()
            np.testing.assert_allclose([row[0] for row in rows], mapped, rtol=1e-12)
