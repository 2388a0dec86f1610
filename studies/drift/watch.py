"""Which streams the study of `studies/drift/run.py` watches, and what is noted of each."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any

import numpy as np

from monitor.drift.curve.reference import fit_reference, what_a_reference_lacks
from studies.drift.rules import (
    SILENCE,
    Opening,
    Segments,
    first_alarms,
    follow_detector,
    follow_rules,
    pool,
    usual_rules,
)
from studies.drift.scenario import SOUND, Scenario
from studies.drift.scenarios import SCENARIOS
from studies.drift.worlds import DRIFTS

FIRST_SEED = 1000  # worlds and mathematics were chosen on earlier ones
SEGMENT_ALERT_DAYS = 365  # A of e-d-BH among segments
COMPARED = ("sound", "slope 0.8", "slope 0.9")  # with the usual rules, in the clean worlds
Result = dict[str, Any]


@dataclass(frozen=True)
class Task:
    """One stream to watch: a sound one, or one with a drift.

    Attributes
    ----------
    scenario : str
        One of `studies.drift.scenarios.SCENARIOS`.
    drift : str
        One of `studies.drift.worlds.DRIFTS`, or "sound".
    seed : int
        The same task always draws the same days.
    """

    scenario: str
    drift: str
    seed: int


def tasks(streams: int, drift_streams: int, only: Collection[str] = ()) -> Iterator[Task]:
    """List the streams, every table's in turn, so that a run cut short has some of each."""
    chosen = {name: s for name, s in SCENARIOS.items() if not only or {name, s.name} & set(only)}
    for number in range(max(streams, drift_streams)):
        seed = FIRST_SEED + number
        for name, scenario in chosen.items():
            if number < streams and scenario.sound:
                yield Task(name, "sound", seed)
            if number < drift_streams:
                yield from (Task(name, drift, seed) for drift in scenario.drifts)


def watch(task: Task) -> Result:
    """Draw a stream, let every rule watch it, and note when each alerted.

    Days of openings count from the last reference; those before it are negative.
    """
    scenario = SCENARIOS[task.scenario]
    if scenario.apart:
        return _watch_segments(scenario, task)
    eras = scenario.calendar(task.drift)
    days = iter(draw(scenario, task))
    openings: list[Result] = []
    for number, (length, judged) in enumerate(eras):
        first = list(islice(days, length))
        if what_a_reference_lacks(first):
            return {"refused": True}
        reference = fit_reference(first)
        watched = list(islice(days, judged))
        earlier = sum(judged for _, judged in eras[number:-1])
        openings += [since(found, -earlier) for found in follow_detector(reference, watched)]
    noted = {"detector": openings, "day_variance": float(reference.day_variances[0])}
    if scenario.group != "clean" or task.drift not in COMPARED:
        return noted
    return noted | compare(reference, first, watched, scenario.start)


def draw(scenario: Scenario, task: Task) -> Iterator[Segments]:
    """Draw the days of a stream, references included."""
    eras = scenario.calendar(task.drift)
    total, reference = sum(map(sum, eras)), eras[0][0]
    before = total - eras[-1][1] - reference  # days between the first reference and the last era
    days = scenario.draw(
        scenario.world,
        DRIFTS.get(task.drift, SOUND),
        task.seed,
        reference=reference,
        days=total - reference,
        start=before + scenario.start,
    )
    return ({"all": pool(day)} for day in days) if scenario.pooled else days


def since(opening: Opening, days: int) -> Result:
    """Note an opening, its days counted from another one."""
    noted = asdict(opening)
    for name in {"day", "started", "start_low", "start_high"} & noted.keys():
        if noted[name] is not None:
            noted[name] += days
    return noted


def compare(
    reference: Any, first: Sequence[Segments], watched: Sequence[Segments], start: int
) -> Result:
    """Let the usual rules watch the same days."""
    rules = usual_rules(reference, [pool(day) for day in first])
    alarms = follow_rules(rules, [pool(day) for day in watched])
    return {
        "alerts": {name: first_alarms(found) for name, found in alarms.items()},
        "days": {name: int(np.sum(found)) for name, found in alarms.items()},
        "on": {name: any(found[start - SILENCE : start]) for name, found in alarms.items()},
    }


def _watch_segments(scenario: Scenario, task: Task) -> Result:
    """Watch many segments, each with the limit of the first one to alert among all.

    e-d-BH flags a single segment at ``A segments``; two at once, at half of that, are as good as
    never seen in sound streams. Of a drift, one segment is drawn.
    """
    number = scenario.apart if task.drift == "sound" else 1
    openings: list[Result] = []
    for segment in range(number):
        alone = Task(task.scenario, task.drift, task.seed * scenario.apart + segment)
        days = draw(scenario, alone)
        reference = fit_reference(list(islice(days, scenario.eras[0][0])))
        limit = SEGMENT_ALERT_DAYS * scenario.apart
        openings += [
            asdict(found) for found in follow_detector(reference, days, false_alert_days=limit)
        ]
    return {"detector": openings}
