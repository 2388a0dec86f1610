"""What wrong labels do to the verdict while the prior moves, and what it does about them.

    python -m studies.drift.noise [--streams 12] [--workers 1] [--write]

A share of all outcomes is recorded as its opposite, from before the reference on. The same streams
are judged with all labels taken for right, and with the share that the detector learns. With
--write the table goes into docs/drift-simulations.md. A stream-year takes a second; of lost labels
see `studies.drift.lost_labels`.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from math import inf, isfinite
from typing import NamedTuple

import numpy as np

from monitor.drift.curve.label_noise import wrong_labels
from monitor.drift.curve.reference import Reference, fit_reference
from monitor.drift.incidents.detecting import advance, new_detector
from monitor.drift.records.day_evidence import WrongLabels
from monitor.metrics.core.coarse import Coarse
from studies.drift.estimates import print_median, print_rate
from studies.drift.layout import in_processes, publish, read_options
from studies.drift.rules import FIRST, Segments, follow_detector
from studies.drift.scenario import FOLLOWED, SOUND, YEAR
from studies.drift.tables import table
from studies.drift.worlds import DRIFTS, Truth, World, stream

BEGIN, END = "<!-- swapped labels: studies/drift/noise.py -->", "<!-- end of swapped labels -->"
REFERENCE, START = 28, 60
WORLDS = {
    World(0.05, 20_000): WrongLabels("swapped", 0.01),
    World(0.3, 3_000): WrongLabels("swapped", 0.03),
}
FIRST_SEED = 60_000
FOUND = {name: DRIFTS[name] for name in ("slope 0.9", "slope 0.8")}
WAYS = ("right", "learned")
INTRO = (
    "A share of all outcomes is recorded as its opposite, from before the reference on; labels are "
    f"taken for right, or the share is learned. A drift begins on day {START}; its delay within "
    f"{FOLLOWED} days, and the streams in which it is found. At the end: the share that is used "
    "after a sound year, and in how many streams. {streams} streams of each kind.\n"
)


class Task(NamedTuple):
    """A stream: a world, its wrong labels, a drift or none, and a seed."""

    world: World
    wrong: WrongLabels
    drift: str
    seed: int


class Watched(NamedTuple):
    """Openings of a stream, from the first day of the drift; the shares used in a sound one."""

    days: dict[str, list[int]]
    last: float
    ever: bool


def flip(
    days: Iterable[Segments], wrong: WrongLabels | None, seed: int
) -> Iterator[dict[str, Coarse]]:
    """Record shares of the outcomes as their opposite."""
    rng = np.random.default_rng([seed, 2])
    added, lost = wrong.added_and_lost if wrong else (0.0, 0.0)
    for day in days:
        yield {
            name: Coarse(
                part.counts,
                part.positives
                - rng.binomial(part.positives, lost)
                + rng.binomial(part.counts - part.positives, added),
            )
            for name, part in day.items()
        }


def flipped_days(
    world: World, wrong: WrongLabels | None, seed: int, truth: Truth = SOUND, **calendar: int
) -> Iterator[dict[str, Coarse]]:
    """Draw the days of a stream with wrong labels; see `studies.drift.worlds.stream`."""
    return flip(stream(world, truth, seed, **calendar), wrong, seed)


def watch(task: Task) -> Watched:
    """Judge a stream in both ways."""
    start, followed = (START, FOLLOWED) if task.drift else (0, YEAR)
    calendar = {"reference": REFERENCE, "days": followed + start, "start": start}
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
        wrong = wrong_labels(reference.noise, detector.noise)
        yield wrong.share if wrong else 0.0
        detector, _ = advance(
            detector, reference, [FIRST.fromordinal(FIRST.toordinal() + t)], parts
        )


def main() -> None:
    """Watch all streams, print the table, and write it where it belongs."""
    options = read_options(__doc__, streams=12)
    with in_processes(watch, options.workers) as watched:
        text = "\n".join(lines_of(options.streams, watched))
    publish(text, BEGIN, END, write=options.write)


def lines_of(streams: int, watched: Callable[[Iterable[Task]], list[Watched]]) -> list[str]:
    """Watch the streams of the table, and lay it out."""
    seeds, rows = range(FIRST_SEED, FIRST_SEED + streams), []
    for world, wrong in WORLDS.items():
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
    return [INTRO.format(streams=streams), *table(heads, rows)]


def row(world: World, wrong: WrongLabels, way: str, found: dict[str, list[Watched]]) -> list[str]:
    """Lay out how often and how soon a way of judging opens an incident in a world."""
    sound = found[""]
    counts = [sum(day >= 0 for day in f.days[way]) for f in sound]
    delays = [delay(of_drift, way) for drift, of_drift in found.items() if drift]
    used = f"{np.median([f.last for f in sound]):.2%}" if way == WAYS[1] else ""
    ever = f"{sum(f.ever for f in sound)} of {len(sound)}" if way == WAYS[1] else ""
    return [str(world), f"{wrong.share:.1%}", way, print_rate(counts), *delays, used, ever]


def delay(watched: Sequence[Watched], way: str) -> str:
    """Lay out how long a drift takes, and in how many streams it is found."""
    seen = [f.days[way][0] for f in watched if f.days[way]]
    waits = [float(day) if day >= 0 else inf for day in seen]
    text = print_median(waits, FOLLOWED)
    return f"{text}; {sum(map(isfinite, waits))} of {len(watched)}"


if __name__ == "__main__":
    main()
