"""How often a constant share of lost labels opens a drift that is none, and hides one that is.

    python -m studies.drift.lost_labels [--streams 40] [--workers 1] [--write]

A share of the positive outcomes is never recorded, from before the reference on, while the prior
moves. Counted is how often an incident opens in a year in which nothing else happens, and in how
many days a slope of 0.8 is found. With --write the table goes into docs/drift-simulations.md, after
each world by itself. It takes twenty minutes.
"""

from itertools import islice
from math import inf
from typing import NamedTuple

from monitor.drift.curve.reference import fit_reference
from monitor.drift.records.day_evidence import WrongLabels
from studies.drift.estimates import print_median, print_rate
from studies.drift.layout import in_processes, publish, read_options
from studies.drift.noise import flipped_days, shares_used
from studies.drift.rules import follow_detector
from studies.drift.scenario import FOLLOWED, PROMISE, SOUND, YEAR
from studies.drift.tables import table
from studies.drift.worlds import DRIFTS, World

BEGIN, END = "<!-- lost labels: studies/drift/lost_labels.py -->", "<!-- end of lost labels -->"
REFERENCE, START = 28, 60
SOON = (3, 5)  # days within which a slope of 0.8 should be found: 20,000 rows a day, and 2,000
FIRST_SEED = 73_000
WORLDS = (
    *(World(0.5, rows) for rows in (2_000, 20_000)),
    *(World(0.18, rows) for rows in (2_000, 20_000)),
    *(World(0.5, rows) for rows in (60, 500)),
    *(World(0.05, rows) for rows in (2_000, 20_000)),
    World(0.02, 20_000),
)
SHARES = (0.02, 0.05, 0.1, 0.2)
INTRO = (
    "A share of the positive outcomes is never recorded, from before the reference on. Openings in "
    "a year without a drift, in bold above the promise; the share that is used at its end, and in "
    f"how many streams one is. A slope of 0.8 begins on day {START}; its delay within {FOLLOWED} "
    "days, and in how many streams it is found within 3 and within 5 days, of those without an "
    "incident that was open before. {streams} streams of each kind.\n"
)
HEADS = (
    *("world", "lost", "false openings a stream-year", "used", "streams"),
    *("slope 0.8, days", *(f"within {days}" for days in SOON), "without an incident before"),
)


class Task(NamedTuple):
    """A stream: a world, the share that is lost, a drift or none, and a seed."""

    world: World
    share: float
    drift: str
    seed: int


class Watched(NamedTuple):
    """What happened: openings, or the delay of a drift, None if hidden; and the share used."""

    openings: int
    delay: float | None
    used: float


def watch(task: Task) -> Watched:
    """Judge a stream."""
    start, followed = (START, FOLLOWED) if task.drift else (0, YEAR)
    truth = DRIFTS[task.drift] if task.drift else SOUND
    wrong = WrongLabels("lost", task.share)
    calendar = {"reference": REFERENCE, "days": followed + start, "start": start}
    days = flipped_days(task.world, wrong, task.seed, truth, **calendar)
    reference, rest = fit_reference(list(islice(days, REFERENCE))), list(days)
    openings = follow_detector(reference, rest)
    if not task.drift:
        *_, used = shares_used(reference, rest)
        return Watched(len(openings), None, used)
    hidden = any(o.day < start <= o.day + o.lasted for o in openings)
    delays = (float(o.day - start + 1) for o in openings if o.day >= start)
    return Watched(0, None if hidden else next(delays, inf), 0.0)


def row(world: World, share: float, sound: list[Watched], drifted: list[Watched]) -> list[str]:
    """Lay out the streams of a world and a share."""
    used = sorted(found.used for found in sound)
    delays = [found.delay for found in drifted if found.delay is not None]
    return [
        *(str(world), f"{share:.0%}", print_rate([f.openings for f in sound], goal=PROMISE)),
        *(f"{used[len(used) // 2]:.1%}", str(sum(of > 0.0 for of in used))),
        print_median(delays, FOLLOWED),
        *(str(sum(delay <= soon for delay in delays)) for soon in SOON),
        str(len(delays)),
    ]


def main() -> None:
    """Watch all streams, and write the table of the worlds so far after each."""
    options = read_options(__doc__, streams=40)
    seeds, rows = range(FIRST_SEED, FIRST_SEED + options.streams), []
    with in_processes(watch, options.workers) as watched:
        for world in WORLDS:
            for share in SHARES:
                sound, drifted = (
                    watched([Task(world, share, drift, seed) for seed in seeds])
                    for drift in ("", "slope 0.8")
                )
                rows.append(row(world, share, sound, drifted))
                print(rows[-1], flush=True)
            text = "\n".join([INTRO.format(streams=options.streams), *table(HEADS, rows)])
            publish(text, BEGIN, END, write=options.write)


if __name__ == "__main__":
    main()
