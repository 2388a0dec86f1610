"""What the calibrated limit gains, and what it costs, beside the guaranteed one.

    python -m studies.drift.calibrated [--streams 40] [--workers 1] [--write]

Both limits watch the same streams, of seeds that nothing was chosen on. With --write the table goes
into docs/drift-simulations.md. A stream-year takes half a second.
"""

from collections.abc import Iterator
from itertools import islice
from math import inf
from typing import NamedTuple

from monitor.drift.curve.reference import fit_reference, what_a_reference_lacks
from monitor.drift.incidents.detectable import calibrated_limit
from studies.drift.estimates import print_median, print_rate
from studies.drift.layout import in_processes, publish, read_options
from studies.drift.rules import FALSE_ALERT_DAYS, follow_detector
from studies.drift.scenario import SOUND, YEAR
from studies.drift.scenarios import SCENARIOS
from studies.drift.tables import table
from studies.drift.worlds import DRIFTS, World, stream

BEGIN, END = "<!-- calibrated limit: studies/drift/calibrated.py -->", "<!-- end of calibrated -->"
FIRST_SEED, REFERENCE, START = 40_000, 28, 60
WORLDS = (
    World(0.5, 60),
    World(0.3, 500),
    World(0.05, 1_000),
    World(0.5, 2_000),
    World(0.05, 5_000),
    World(0.05, 20_000),
)
FOUND = ("slope 0.8", "slope 0.9", "top tenth -0.4")
ROUGH = (
    "clusters of one day (5 %, 20k)",
    "scores jump (5 %, 1k)",
    "hidden groups, mix moves (5 %, 20k)",
    "campaigns of 7 days (5 %, 20k)",
    "slope wanders (5 %, 20k)",
    "hidden groups, priors apart (5 %, 20k)",
)
LIMITS = ("guaranteed", "calibrated")
INTRO = (
    f"A drift begins on day {START} and is followed for a year. {{streams}} streams of each kind.\n"
)


class Task(NamedTuple):
    """A stream: a world or the name of a rough one, a drift or none, a seed."""

    world: World | str
    drift: str
    seed: int


def watch(task: Task) -> dict[str, list[int]] | None:
    """List the days of openings under each limit; None without a reference.

    The days count from the first of the drift.
    """
    days = draw(task)
    first = list(islice(days, REFERENCE))
    if what_a_reference_lacks(first):
        return None
    reference, rest = fit_reference(first), list(days)
    limits = FALSE_ALERT_DAYS, 10.0 ** calibrated_limit(reference, FALSE_ALERT_DAYS)
    start = START if task.drift in DRIFTS else 0
    found = {}
    for name, enough in zip(LIMITS, limits, strict=True):
        openings = follow_detector(reference, rest, false_alert_days=enough)
        on = any(o.day < start <= o.day + o.lasted for o in openings)
        found[name] = [] if on else [o.day - start for o in openings if o.day >= start] or [-1]
    return found


def draw(task: Task) -> Iterator:
    """Draw the days of a stream, its reference included."""
    truth, days = DRIFTS.get(task.drift, SOUND), YEAR + (START if task.drift in DRIFTS else 0)
    begun = START if task.drift in DRIFTS else 0
    calendar = {"reference": REFERENCE, "days": days, "start": begun}
    if isinstance(task.world, World):
        return iter(stream(task.world, truth, task.seed, **calendar))
    scenario = SCENARIOS[task.world]
    return iter(scenario.draw(scenario.world, truth, task.seed, **calendar))


def main() -> None:
    """Watch all streams, print the table, and write it where it belongs."""
    options = read_options(__doc__, streams=40)
    seeds = range(FIRST_SEED, FIRST_SEED + options.streams)
    rows = []
    with in_processes(watch, options.workers) as watched:
        for world, drifts in [*((w, FOUND) for w in WORLDS), *((name, ()) for name in ROUGH)]:
            kinds = ("sound", *drifts)
            found = {
                kind: [f for f in watched([Task(world, kind, seed) for seed in seeds]) if f]
                for kind in kinds
            }
            rows += [row(world, limit, found) for limit in LIMITS]
            print("\n".join(map(str, rows[-2:])), flush=True)
    heads = ["world", "limit", "false openings a stream-year", *(f"{name}, days" for name in FOUND)]
    text = "\n".join([INTRO.format(streams=options.streams), *table(heads, rows)])
    publish(text, BEGIN, END, write=options.write)


def row(world: World | str, limit: str, found: dict[str, list[dict[str, list[int]]]]) -> list[str]:
    """Lay out how often and how soon a limit is reached in a world."""
    counts = [sum(day >= 0 for day in f[limit]) for f in found["sound"]]
    waits = {
        drift: [float(f[limit][0]) if f[limit][0] >= 0 else inf for f in found[drift] if f[limit]]
        for drift in FOUND
        if drift in found
    }
    delays = [print_median(waits[drift], YEAR) if drift in waits else "" for drift in FOUND]
    return [str(world), limit, print_rate(counts), *delays]


if __name__ == "__main__":
    main()
