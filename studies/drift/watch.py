"""Which streams the study of `studies/drift/run.py` watches, and what is noted of each."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from monitor.drift.reference import fit_reference
from studies.drift.rules import (
    SILENCE,
    first_alarms,
    follow_detector,
    follow_rules,
    pool,
    usual_rules,
)
from studies.drift.worlds import DRIFTS, WORLDS, Truth, World, stream

YEAR, START, FOLLOWED = 365, 150, 120  # a drift begins on day START and is followed that long
COMPARED = ("sound", "slope 0.8", "slope 0.9")
SEGMENTS = (-1.5, -0.75, 0.0, 0.75, 1.5)
NULLS = {
    "sound": Truth(),
    "odds x5 from the first day on": Truth(odds=5.0),
    "odds x0.2 from the first day on": Truth(odds=0.2),
    "scores wobble 0.3": Truth(wobble=0.3),
    "slope jitters 3 %": Truth(slope_jitter=0.03),
    "slope jitters 5 %": Truth(slope_jitter=0.05),
    "5 segments, summed": Truth(centres=SEGMENTS),
    "5 segments, pooled": Truth(centres=SEGMENTS),
}


@dataclass(frozen=True)
class Task:
    """One stream to watch: a sound one for a year, or one with a drift for 120 days after it."""

    world: World
    name: str
    seed: int
    reference: int = 28

    @property
    def drifts(self) -> bool:
        """Whether anything drifts."""
        return self.name in DRIFTS

    @property
    def compared(self) -> bool:
        """Whether the usual rules watch it too."""
        return self.name in COMPARED and self.reference == 28


def tasks(streams: int, drift_streams: int) -> Iterator[Task]:
    """List the streams, every table's in turn, so that a run cut short has some of each."""
    for seed in range(streams):
        yield from (Task(world, "sound", seed) for world in WORLDS)
    for seed in range(max(streams // 2, drift_streams)):
        if seed < drift_streams:
            yield from (Task(world, name, seed) for world in WORLDS for name in DRIFTS)
            yield from (Task(world, "slope 0.8", seed, reference=14) for world in WORLDS)
        if seed < streams // 2:
            yield from (Task(world, "sound", seed, reference=14) for world in WORLDS)
            yield from (
                Task(w, name, seed) for w in WORLDS[2:4] for name in NULLS if name != "sound"
            )


def watch(task: Task) -> dict[str, Any]:
    """Draw a stream, let every rule watch it, and note when each alerted."""
    truth = DRIFTS[task.name] if task.drifts else NULLS[task.name]
    length = START + FOLLOWED if task.drifts else YEAR
    drawn = stream(task.world, truth, task.seed, reference=task.reference, days=length, start=START)
    days = list(drawn)
    pooled = [pool(day) for day in days]
    if task.name.endswith("pooled"):
        days = [{"all": day} for day in pooled]
    reference = fit_reference(days[: task.reference])
    openings = follow_detector(reference, days[task.reference :])
    watched = {"detector": [asdict(opening) for opening in openings]}
    if not task.compared:
        return watched
    rules = usual_rules(reference, pooled[: task.reference])
    alarms = follow_rules(rules, pooled[task.reference :])
    return watched | {
        "alerts": {name: first_alarms(found) for name, found in alarms.items()},
        "days": {name: int(np.sum(found)) for name, found in alarms.items()},
        "on": {name: any(found[START - SILENCE : START]) for name, found in alarms.items()},
    }
