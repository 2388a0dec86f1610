"""How often the interval of a start holds the first day of a drift, of steps and of ramps.

    python -m studies.drift.starts [--streams 40] [--workers 1] [--write]

With --write the table goes into docs/drift-simulations.md. A stream takes a fifth of a second.
"""

from itertools import islice
from typing import NamedTuple

from monitor.drift.curve.reference import fit_reference, what_a_reference_lacks
from studies.drift.estimates import print_median, print_share
from studies.drift.layout import in_processes, publish, read_options
from studies.drift.rules import Opening, follow_detector
from studies.drift.tables import table
from studies.drift.worlds import Truth, World, stream, tilted

BEGIN, END = "<!-- starts: studies/drift/starts.py -->", "<!-- end of starts -->"
FIRST_SEED, REFERENCE, START, FOLLOWED = 160_000, 28, 30, 150
WORLDS = (World(0.05, 20_000), World(0.5, 2_000), World(0.05, 1_000))
DRIFTS = {
    "slope 0.9": Truth(tilted(0.9)),
    "slope 0.8": Truth(tilted(0.8)),
    **{f"slope 0.8 in {ramp} days": Truth(tilted(0.8), ramp=ramp) for ramp in (30, 60, 120)},
}
INTRO = (
    f"A drift begins on day {START} and is followed for {FOLLOWED} days, counted from its first. "
    f"{{streams}} streams of each kind; ± is a standard error.\n"
)
HEADS = (
    *("world", "drift", "opened on day", "called gradual, %", "interval holds the first day, %"),
    *("from day", "to day"),
)


class Task(NamedTuple):
    """A stream: its world, its drift, its seed."""

    world: World
    drift: str
    seed: int


def watch(task: Task) -> Opening | None:
    """Find the incident that a drift opens; None if none is, or one was open before."""
    calendar = {"reference": REFERENCE, "days": START + FOLLOWED, "start": START}
    days = stream(task.world, DRIFTS[task.drift], task.seed, **calendar)
    first = list(islice(days, REFERENCE))
    if what_a_reference_lacks(first):
        return None
    found = follow_detector(fit_reference(first), days)
    return found[0] if found and found[0].day >= START else None


def row(world: World, drift: str, found: list[Opening]) -> list[str]:
    """Lay out how the starts of a drift were told in a world."""
    holds = [o.start_low <= START <= o.start_high for o in found]
    days = [[float(value) - START for value in (o.day, o.start_low, o.start_high)] for o in found]
    opened, low, high = (print_median(values, FOLLOWED) for values in zip(*days, strict=True))
    gradual = print_share([o.gradual for o in found])
    return [str(world), drift, opened, gradual, print_share(holds), low, high]


def main() -> None:
    """Watch all streams, print the table, and write it where it belongs."""
    options = read_options(__doc__, streams=40)
    seeds, rows = range(FIRST_SEED, FIRST_SEED + options.streams), []
    with in_processes(watch, options.workers) as watched:
        for world in WORLDS:
            for drift in DRIFTS:
                found = [o for o in watched([Task(world, drift, seed) for seed in seeds]) if o]
                rows.append(row(world, drift, found))
                print(rows[-1], flush=True)
    text = "\n".join([INTRO.format(streams=options.streams), *table(HEADS, rows)])
    publish(text, BEGIN, END, write=options.write)


if __name__ == "__main__":
    main()
