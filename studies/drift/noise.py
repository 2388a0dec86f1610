"""What wrong labels do to the verdict while the prior moves, and what it does about them.

    python -m studies.drift.noise [--streams 24] [--workers 1] [--write]

A share of all outcomes, from before the reference on, is recorded as its opposite. The same streams
are judged with all labels taken for right, and with the share that the detector learns. With
--write the table goes into docs/drift-simulations.md. A stream-year takes a second.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice
from math import inf
from typing import NamedTuple

import numpy as np

from monitor.drift.detecting import advance, new_detector
from monitor.drift.label_noise import wrong_share
from monitor.drift.reference import Reference, fit_reference
from monitor.metrics.core.coarse import Coarse
from studies.drift.estimates import print_median, print_rate
from studies.drift.layout import in_processes, publish, read_options
from studies.drift.rules import FALSE_ALERT_DAYS, FIRST, Segments, follow_detector
from studies.drift.scenario import SOUND, YEAR
from studies.drift.tables import table
from studies.drift.worlds import DRIFTS, Truth, World, stream, tilted

BEGIN, END = "<!-- label noise: studies/drift/noise.py -->", "<!-- end of label noise -->"
FIRST_SEED, REFERENCE, START = 60_000, 28, 60
SMALL, LARGE = World(0.3, 3_000), World(0.05, 20_000)
WORLDS = ((LARGE, 0.01), (LARGE, 0.002), (SMALL, 0.03), (LARGE, 0.0), (SMALL, 0.0))
FOUND = {
    "slope 0.9": DRIFTS["slope 0.9"],
    "slope 0.8": DRIFTS["slope 0.8"],
    "200 days to slope 0.8": Truth(tilted(0.8), ramp=200),
}
WAYS = ("right", "learned")
INTRO = (
    "A share of all outcomes is recorded as its opposite, from before the reference on. Labels are "
    "taken for right, or their share is learned. A drift begins on day {start} and is followed for "
    "a year; streams on alarm before it are left out. {streams} streams of each kind, "
    "A = {days:,}. The last two columns: the share that is used at the end of a sound year "
    "(median), and the streams that use one on any day.\n"
)


class Task(NamedTuple):
    """A stream: a world, its share of wrong labels, a drift or none, a seed."""

    world: World
    wrong: float
    drift: str
    seed: int


class Watched(NamedTuple):
    """Openings of a stream, from the first day of the drift; the shares used in a sound one."""

    days: dict[str, list[int]]
    last: float
    ever: bool


def flip(days: Iterable[Segments], wrong: float, seed: int) -> Iterator[dict[str, Coarse]]:
    """Record a share of all outcomes as their opposite."""
    rng = np.random.default_rng([seed, 2])
    for day in days:
        yield {
            name: Coarse(
                part.counts,
                part.positives
                - rng.binomial(part.positives, wrong)
                + rng.binomial(part.counts - part.positives, wrong),
            )
            for name, part in day.items()
        }


def flipped_days(
    world: World, wrong: float, seed: int, truth: Truth = SOUND, **calendar: int
) -> Iterator[dict[str, Coarse]]:
    """Draw the days of a stream with wrong labels; see `studies.drift.worlds.stream`."""
    return flip(stream(world, truth, seed, **calendar), wrong, seed)


def watch(task: Task) -> Watched:
    """Judge a stream in both ways."""
    start = START if task.drift else 0
    calendar = {"reference": REFERENCE, "days": YEAR + start, "start": start}
    days = flipped_days(task.world, task.wrong, task.seed, FOUND.get(task.drift, SOUND), **calendar)
    learned, rest = fit_reference(list(islice(days, REFERENCE))), list(days)
    found = {}
    for way, reference in zip(WAYS, (replace(learned, noise=None), learned), strict=True):
        openings = follow_detector(reference, rest)
        on = any(o.day < start <= o.day + o.lasted for o in openings)
        found[way] = [] if on else [o.day - start for o in openings if o.day >= start] or [-1]
    used = [] if task.drift else list(shares_used(learned, rest))
    return Watched(found, used[-1] if used else 0.0, any(used))


def shares_used(reference: Reference, days: Iterable[Segments]) -> Iterator[float]:
    """Give the share of wrong labels that each day is judged with."""
    detector = new_detector()
    for t, parts in enumerate(days):
        yield wrong_share(reference.noise, detector.noise)
        detector, _ = advance(
            detector, reference, [FIRST.fromordinal(FIRST.toordinal() + t)], parts
        )


def main() -> None:
    """Watch all streams, print the table, and write it where it belongs."""
    options = read_options(__doc__, streams=24)
    seeds, rows = range(FIRST_SEED, FIRST_SEED + options.streams), []
    with in_processes(watch, options.workers) as watched:
        for world, wrong in WORLDS:
            found = {
                drift: watched([Task(world, wrong, drift, seed) for seed in seeds])
                for drift in ("", *FOUND)
            }
            rows += [row(world, wrong, way, found) for way in WAYS]
            print("\n".join(map(str, rows[-2:])), flush=True)
    heads = [
        *("world", "wrong", "labels", "false openings a stream-year"),
        *(f"{name}, days" for name in FOUND),
        *("used", "streams"),
    ]
    intro = INTRO.format(start=START, streams=options.streams, days=FALSE_ALERT_DAYS)
    text = "\n".join([intro, *table(heads, rows)])
    publish(text, BEGIN, END, write=options.write)


def row(world: World, wrong: float, way: str, found: dict[str, list[Watched]]) -> list[str]:
    """Lay out how often and how soon a way of judging opens an incident in a world."""
    sound = found[""]
    counts = [sum(day >= 0 for day in f.days[way]) for f in sound]
    waits = [
        [float(f.days[way][0]) if f.days[way][0] >= 0 else inf for f in found[drift] if f.days[way]]
        for drift in FOUND
    ]
    used = f"{np.median([f.last for f in sound]):.2%}" if way == WAYS[1] else ""
    ever = f"{sum(f.ever for f in sound)} of {len(sound)}" if way == WAYS[1] else ""
    delays = [print_median(of_drift, YEAR) for of_drift in waits]
    return [str(world), f"{wrong:.1%}", way, print_rate(counts), *delays, used, ever]


if __name__ == "__main__":
    main()
