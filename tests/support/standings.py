"""Stores of drawn days, cut at moments that matter: what was stored on some mornings of a model.

Of each world three drifts are drawn: one that recovers, one that is known ahead, and one that stays
open or that late outcomes could explain. Drawn too are a day whose logs fail, and how many of the
newest days await outcomes on each morning.
"""

import shutil
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from functools import cached_property
from pathlib import Path

import numpy as np
import yaml
from scipy.special import expit

from monitor.config import Config, load_config
from monitor.days.arrivals import Late
from monitor.days.summary import Segment, Summary
from monitor.drift.fold.inputs import Day, failed_day, inputs_of
from monitor.drift.records.verdict import Verdict
from monitor.drift.verdicts.judge import judge
from monitor.metrics.core.tally import tally_on_grid
from monitor.metrics.maps.calibration_map import CalibrationMap
from monitor.metrics.maps.map_file import Level, MapFile, Training
from monitor.pipeline.runs.evaluations import evaluate_days
from monitor.pipeline.verdicts.references import References, limits_of, read_references
from monitor.store.map_file import write_map
from monitor.store.names import day_of
from monitor.store.store import Store

FIRST, ROWS, REFERENCE_DAYS = date(2026, 1, 1), 2_000, 14
KINDS = ("summaries", "evaluations", "verdicts")


@dataclass(frozen=True)
class World:
    """What happens to a model, day by day.

    Attributes
    ----------
    seed, days : int
        Of the random numbers, and how many days there are.
    segments, mapped, referenced, late : bool
        Whether it has segments, a map and a reference, and whether outcomes come late in the end.
    folder : Path
        Where all days are stored as final ones.
    """

    seed: int
    days: int
    segments: bool
    mapped: bool
    referenced: bool
    late: bool
    folder: Path

    @cached_property
    def chance(self) -> np.random.Generator:
        """Random numbers that decide what happens."""
        return np.random.default_rng(self.seed)

    @cached_property
    def drifts(self) -> tuple[range, range, range]:
        """Places of the days that drift: found and over; known ahead; open in the end."""
        begins = [low + int(self.chance.integers(3)) for low in (16, 33, 44)]
        return (
            range(begins[0], begins[0] + 8),
            range(begins[1], begins[1] + 5),
            range(begins[2], 60),
        )

    @cached_property
    def failed(self) -> int:
        """Place of the day whose logs fail a check."""
        return int(self.chance.integers(3, self.days - 3))

    @cached_property
    def config(self) -> Config:
        """The configuration, of all days."""
        return self.configure(self.folder)

    def configure(self, folder: Path) -> Config:
        """Write the configuration, and the map that it names."""
        folder.mkdir(parents=True, exist_ok=True)
        model: dict[str, object] = {
            "predictions": {"path": "p/{day}.parquet"},
            "outcomes": {"path": "o/{day}.parquet"},
            "windows": [1],
            "settled_after": 3,
        }
        if self.segments:
            model["segments"] = {"column": "country", "values": ["DE", "FR"]}
        if self.referenced:
            known = self.drifts[1]
            model["verdicts"] = {
                "references": [{"first": day_at(0), "last": day_at(REFERENCE_DAYS - 1)}],
                "known_drifts": [{"first": day_at(known.start), "last": day_at(known.stop)}],
            }
        if self.mapped:
            model["map"] = {"file": "map.json", "since": day_at(REFERENCE_DAYS)}
            training = Training(day_at(0), day_at(9), 10, 20 * ROWS, 6 * ROWS)
            level = Level("outcomes", day_at(0), day_at(9), 0.01)
            shape = CalibrationMap("platt", parameters=(0.9,))
            found = MapFile("ctr", "all", shape, training, level, None, None, "1.0")
            write_map(str(folder / "map.json"), found)
        content = {"store": str(folder / "store"), "models": {"ctr": model}}
        (folder / "monitor.yaml").write_text(yaml.safe_dump(content))
        return load_config(folder / "monitor.yaml")

    def summary(self, place: int) -> Summary:
        """Draw a settled day."""
        rng, parts = np.random.default_rng([self.seed, place]), {}
        tilt = 0.5 if any(place in drift for drift in self.drifts) else 1.0
        for name, centre in (("DE", -1.0), ("FR", 0.0)) if self.segments else (("all", -0.5),):
            x = rng.normal(centre, 1.2, ROWS)
            outcomes = rng.random(ROWS) < expit(tilt * x + rng.normal(0.0, 0.3))
            parts[name] = Segment(tally_on_grid(outcomes, expit(x)), ROWS)
        known_at = datetime.combine(day_at(place + 4), datetime.min.time(), UTC)
        return Summary("ctr", (day_at(place),), parts, {}, final=True, known_at=known_at)

    def input(self, place: int) -> Day:
        """Give what the verdict of a settled day rests on."""
        if place == self.failed:
            day, known_at = day_at(place), self.summary(place).known_at
            return failed_day(day, known_at, f"ctr {day}: score: 3 rows are above 1; log them so.")
        late = Late(3, 0.6, 0.05, 20) if self.late and place >= self.drifts[2].start - 2 else None
        return replace(inputs_of(self.summary(place)), late=late)

    @cached_property
    def inputs(self) -> list[Day]:
        """Give what the verdicts of all settled days rest on."""
        return [self.input(place) for place in range(self.days)]

    @cached_property
    def references(self) -> References:
        """What the days are compared with, after all of them were stored."""
        for place in range(self.days):
            if place != self.failed:
                Store(self.config.store).write_summary(self.summary(place))
        return read_references(self.config, "ctr")

    @cached_property
    def verdicts(self) -> dict[date, list[Verdict]]:
        """Of all days, as final ones; stored, and evaluated."""
        references = self.references
        evaluate_days(self.config, "ctr", references, (day_at(0), day_at(self.days - 1)))
        return self.judged(Store(self.config.store), self.inputs, {})

    def judged(
        self, store: Store, days: list[Day], before: dict[str, Verdict], recent: int = 0
    ) -> dict[date, list[Verdict]]:
        """Judge days, and store the verdicts."""
        found = judge(
            "ctr",
            days,
            references=self.references.fitted,
            limits=limits_of(self.config.model("ctr")),
            recent=self.inputs[:recent],
            detectors={name: v.detector for name, v in before.items()},
        )
        kept = {of_day[0].day: of_day for of_day in found}
        for day, of_day in kept.items():
            store.write_verdicts("ctr", day, of_day, basis="")
        return kept


@dataclass(frozen=True)
class Morning:
    """What was stored of a world on one morning.

    Attributes
    ----------
    world : World
        Whose days.
    config : Config
        Names the store.
    verdicts : dict of date to dict of str to Verdict
        All that are stored, by day and segment.
    waiting : list of date
        The newest days, whose outcomes were still arriving.
    """

    world: World
    config: Config
    verdicts: dict[date, dict[str, Verdict]]
    waiting: list[date]

    @property
    def newest(self) -> dict[str, Verdict]:
        """Of the newest day that was judged or failed, by segment."""
        return self.verdicts[max(self.verdicts.keys() - {*self.waiting})]


def morning(world: World, folder: Path, settled: int, waiting: int) -> Morning:
    """Store the first days of a world, and then days whose outcomes are still arriving."""
    config, whole = world.configure(folder), world.verdicts
    store, last = Store(config.store), day_at(settled - 1)
    for kind in KINDS:
        for path in (Path(world.config.store) / kind / "ctr").glob("2*.*"):
            if day_at(0) <= (day_of(path.name) or day_at(0)) <= last:
                (folder / "store" / kind / "ctr").mkdir(parents=True, exist_ok=True)
                shutil.copy(path, folder / "store" / kind / "ctr")
    known_at = datetime.combine(day_at(settled + waiting), datetime.min.time(), UTC)
    awaited = [awaiting(world.summary(settled + place), known_at) for place in range(waiting)]
    for summary in awaited:
        store.write_summary(summary)
    if awaited:
        span = last + timedelta(1), day_at(settled + waiting)
        evaluate_days(config, "ctr", world.references, span)
    before = {v.segment: v for v in whole[last]}
    later = world.judged(store, [*map(inputs_of, awaited)], before, settled)
    kept = {day: of_day for day, of_day in whole.items() if day <= last} | later
    by_segment = {day: {v.segment: v for v in of_day} for day, of_day in kept.items()}
    return Morning(world, config, by_segment, [*later])


def awaiting(summary: Summary, known_at: datetime) -> Summary:
    """Make a day of twice as many predictions, of which half have no outcome yet."""
    parts = {name: Segment(part.tally, 2 * ROWS) for name, part in summary.segments.items()}
    return replace(summary, segments=parts, final=False, known_at=known_at)


def day_at(place: int) -> date:
    """Give a day by its place."""
    return FIRST + timedelta(days=place)
