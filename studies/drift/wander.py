"""What is left of the promise where a slope wanders slowly, and how late a drift is then found.

    python -m studies.drift.wander [--streams 20] [--workers 1] [--write]

The seeds are those that nothing was chosen on. With --write the table goes into
docs/drift-simulations.md. A stream-year takes some seconds.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from math import inf
from typing import NamedTuple

import numpy as np

from monitor.drift.fold.inputs import Day, Limits, fit_model_reference
from monitor.drift.verdicts.judge import judge
from monitor.metrics.core.coarse import CENTRES, Coarse
from studies.drift.estimates import print_median, print_rate
from studies.drift.layout import in_processes, publish, read_options
from studies.drift.rules import FIRST
from studies.drift.scenario import YEAR
from studies.drift.shapes import centre, draw_priors, draw_volumes, shares
from studies.drift.tables import table
from studies.drift.worlds import World, draw_day

BEGIN, END = "<!-- wander: studies/drift/wander.py -->", "<!-- end of wander -->"
FIRST_SEED, REFERENCE, START, SLOPES = 60_000, 28, 60, (0.8, 0.9)
SIZES = World(0.05, 20_000), World(0.3, 3_000)
WANDERS = (0.0, 1.0), (0.05, 7.0), (0.05, 30.0), (0.1, 30.0)  # spread, and half-life in days
LIMITS = Limits()
MOMENT = datetime(2030, 1, 1, tzinfo=UTC)
INTRO = (
    f"The slope of a stream is an AR(1) around 1. A lasting change begins on day {START} and is "
    f"followed for a year. {{streams}} streams of each kind.\n"
)
HEADS = (
    *("slope", "size", "false openings a stream-year"),
    *(f"slope {slope}, days" for slope in SLOPES),
)


class Task(NamedTuple):
    """A stream: its size, the spread and half-life of its slope, its change, and a seed."""

    world: World
    wander: tuple[float, float]
    change: float
    seed: int


def draw_days(task: Task) -> Iterator[Coarse]:
    """Draw the days of a stream, its reference included."""
    rng = np.random.default_rng([task.seed, task.world.rows])
    days = YEAR + (START if task.change else 0)
    volumes = draw_volumes(rng, REFERENCE + days) * task.world.rows
    priors, middle = draw_priors(rng, REFERENCE, days), centre(task.world.prevalence)
    spread, half_life = task.wander
    kept, now = 0.5 ** (1.0 / half_life), rng.normal()
    for t in range(REFERENCE + days):
        change = spread * now + task.change * (t >= REFERENCE + START)
        curve = change * (CENTRES - middle)
        yield draw_day(rng, shares(middle), volumes[t], priors[t], curve)
        now = kept * now + np.sqrt(1.0 - kept**2) * rng.normal()


def watch(task: Task) -> list[int] | None:
    """List the days of openings, from the first of the change; None if it was open before."""
    days = [
        Day(FIRST + timedelta(t), True, MOMENT, 1.0, {("all", "all"): part})
        for t, part in enumerate(draw_days(task))
    ]
    start = START if task.change else 0
    reference = fit_model_reference(days[:REFERENCE], LIMITS)
    verdicts = judge("m", days[REFERENCE:], references=[reference], limits=LIMITS)
    states = [whole.state == "calibration_drift" for whole, *_ in verdicts]
    if task.change and states[start - 1]:
        return None
    opened = [t - start for t, now in enumerate(states) if now and not (t and states[t - 1])]
    return [t for t in opened if t >= 0]


def main() -> None:
    """Watch all streams, print the table, and write it where it belongs."""
    options = read_options(__doc__, streams=20, of="of each world and change")
    seeds, rows = range(FIRST_SEED, FIRST_SEED + options.streams), []
    with in_processes(watch, options.workers) as watched:
        for wander in WANDERS:
            for world in SIZES:
                found = {
                    slope: watched([Task(world, wander, slope - 1.0, s) for s in seeds])
                    for slope in (1.0, *SLOPES)
                }
                rows.append(row(world, wander, found))
                print(rows[-1], flush=True)
    text = "\n".join([INTRO.format(streams=options.streams), *table(HEADS, rows)])
    publish(text, BEGIN, END, write=options.write)


def row(
    world: World,
    wander: tuple[float, float],
    found: dict[float, list[list[int] | None]],
) -> list[str]:
    """Lay out how often and how soon a drift is opened."""
    spread, half_life = wander
    path = f"sd {spread:g}, half-life {half_life:g} days" if spread else "constant"
    counts = [len(opened or []) for opened in found[1.0]]
    waits = [
        [float(opened[0]) if opened else inf for opened in found[s] if opened is not None]
        for s in SLOPES
    ]
    delays = [print_median(of_slope, YEAR) for of_slope in waits]
    return [path, str(world), print_rate(counts), *delays]


if __name__ == "__main__":
    main()
