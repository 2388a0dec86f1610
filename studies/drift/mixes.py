"""How often the rule on shares of segments alerts where nothing is wrong, and what it finds.

    python -m studies.drift.mixes [--streams 40] [--workers 1] [--write]

A stream is a year of days after a reference. With --write the tables go into
docs/drift-simulations.md. A stream-year takes a tenth of a second.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from monitor.base.segment_names import NO_VALUE, OTHER
from monitor.days.summary import Unlisted
from monitor.drift.records.mix import Counts, mix_of_days, moved_mix
from monitor.metrics.core.grid import Floats
from studies.drift.estimates import print_rate
from studies.drift.layout import in_processes, publish, read_options
from studies.drift.scenario import PROMISE, YEAR
from studies.drift.tables import table

BEGIN, END = "<!-- mixes: studies/drift/mixes.py -->", "<!-- end of mixes -->"
FIRST_SEED, REFERENCE, BROKEN, QUIET = 61_000, 28, 88, 7
NAMES = "A", "B", "C", "D", "E", OTHER
BASE = np.log([0.4, 0.25, 0.15, 0.08, 0.03, 0.09])
OTHERS, OF_OTHER, NO_VALUES = ("f", "g", "h"), (0.5, 0.3, 0.2), 0.1  # within other
SIZES = 300, 3_000, 50_000
INTRO = (
    "A reference of 28 days, five listed segments of 3 % to 40 % and 9 % of other values, a tenth "
    "of them null. The log-odds of all shares move: each day by itself (sd 0.05), on weekends by "
    "sd 0.4, as an AR(1), and in campaigns of 3 to 14 days for one segment. False alerts a "
    f"stream-year, after a week without one; the goal is {PROMISE:.3g}. {{streams}} stream-years "
    "each.\n"
)
FOUND = (
    'Then values of a segment are written otherwise, from day 60 on, in the world "{world}": '
    "how many streams say so on the first day, and within a week.\n"
)
HARDEST = "weekends, wander, campaigns"


class Worlds(NamedTuple):
    """How the log-odds of shares move: spread of a day, of the week, of an AR(1); campaigns."""

    noise: float = 0.05
    week: float = 0.0
    wander: float = 0.0
    half_life: float = 30.0
    campaigns: int = 0  # a year
    factor: float = 2.0  # of the segment that a campaign is for


WORLDS = {
    "steady": Worlds(),
    "weekends": Worlds(week=0.4),
    "wander, sd 0.3, half-life 30 days": Worlds(wander=0.3),
    "wander, sd 0.5, half-life 90 days": Worlds(wander=0.5, half_life=90.0),
    "six campaigns a year, three times the share": Worlds(campaigns=6, factor=3.0),
    "weekends, wander, campaigns": Worlds(week=0.4, wander=0.3, campaigns=6),
}
# What goes wrong with the values, as the part of each segment that is counted in `other`.
BREAKS = {
    "one of 25 % is written otherwise": {"B": 1.0},
    "one of 3 % is written otherwise": {"E": 1.0},
    "half of one of 40 % is": {"A": 0.5},
    "all are": dict.fromkeys(NAMES[:-1], 1.0),
}


class Task(NamedTuple):
    """A stream, what goes wrong with it, and a seed."""

    world: Worlds
    rows: int
    wrong: str
    seed: int


def draw_days(task: Task, days: int) -> Iterator[tuple[Counts, Unlisted]]:
    """Draw how many predictions of each day are in which segment, and the values of `other`."""
    rng = np.random.default_rng([task.seed, task.rows])
    world, parts = task.world, len(NAMES)
    week = world.week * rng.normal(size=parts)
    kept = 0.5 ** (1.0 / world.half_life)
    wander, pushed, until = world.wander * rng.normal(size=parts), 0, -1
    for day in range(days):
        if day > until and rng.random() < world.campaigns / YEAR:
            pushed, until = int(rng.integers(parts - 1)), day + int(rng.integers(3, 15))
        odds = BASE + wander + world.noise * rng.normal(size=parts)
        odds += week * (day % 7 >= 5)
        odds[pushed] += np.log(world.factor) * (day <= until)
        shares = np.exp(odds) / np.exp(odds).sum()
        yield _counts(rng, shares, task.rows, BREAKS.get(task.wrong if day >= BROKEN else "", {}))
        wander = kept * wander + np.sqrt(1 - kept**2) * world.wander * rng.normal(size=parts)


def _counts(
    rng: np.random.Generator, shares: Floats, rows: int, wrong: Mapping[str, float]
) -> tuple[Counts, Unlisted]:
    drawn = rng.multinomial(int(rng.poisson(rows)), shares)
    found = dict(zip(NAMES, map(int, drawn), strict=True))
    none = int(rng.binomial(found[OTHER], NO_VALUES))
    known = rng.multinomial(found[OTHER] - none, OF_OTHER)
    values = [*zip(OTHERS, map(int, known), strict=True)]
    for name, part in wrong.items():
        moved = int(rng.binomial(found[name], part))
        found |= {name: found[name] - moved, OTHER: found[OTHER] + moved}
        values.append((name.lower(), moved))
    return found | {NO_VALUE: none}, tuple((v, n) for v, n in values if n)


def watch(task: Task) -> list[int]:
    """List the days of alerts after a week without one, from the first of what goes wrong."""
    days = [*draw_days(task, REFERENCE + YEAR)]
    mix = mix_of_days(days[:REFERENCE])
    assert mix
    start = BROKEN - REFERENCE if task.wrong else 0
    told = [t for t, day in enumerate(days[REFERENCE:]) if moved_mix(*day, mix)]
    new = [t for i, t in enumerate(told) if not i or t - told[i - 1] > QUIET]
    return [t - start for t in (told if task.wrong else new) if t >= start]


def main() -> None:
    """Watch all streams, print the tables, and write them where they belong."""
    options = read_options(__doc__, streams=40)
    seeds = range(FIRST_SEED, FIRST_SEED + options.streams)
    with in_processes(watch, options.workers) as watched:

        def alerts(world: Worlds, wrong: str) -> list[list[list[int]]]:
            return [watched([Task(world, n, wrong, s) for s in seeds]) for n in SIZES]

        sound = [
            [name, *(print_rate([*map(len, of)], goal=PROMISE) for of in alerts(world, ""))]
            for name, world in WORLDS.items()
        ]
        found = [
            [wrong, *(_first_days(of) for of in alerts(WORLDS[HARDEST], wrong))] for wrong in BREAKS
        ]
    sizes = [f"{rows:,} a day" for rows in SIZES]
    text = [INTRO.format(streams=options.streams), *table(("shares", *sizes), sound)]
    text += ["", FOUND.format(world=HARDEST), *table(("values", *sizes), found)]
    publish("\n".join(text), BEGIN, END, write=options.write)


def _first_days(alerts: Sequence[Sequence[int]]) -> str:
    """Say how many streams are told of on the first day of what goes wrong, and within a week."""
    first, week = (sum(any(t <= day for t in of) for of in alerts) for day in (0, QUIET - 1))
    return f"{first}, {week} of {len(alerts)}"


if __name__ == "__main__":
    main()
