"""Whether the days that `show` and `check` state are those after which a drift is found.

    python -m studies.drift.stated [--streams 16] [--workers 1] [--write]

A slope of 0.8 begins on the first day after the reference, in worlds whose rows hang together and
in a clean one, judged with the key `entity`. With --write the table goes into
docs/drift-simulations.md. A stream takes a second.
"""

from collections.abc import Sequence
from math import inf
from typing import NamedTuple

import numpy as np

from monitor.base.segment_names import WHOLE
from monitor.drift.curve.reference import Reference, with_hanging
from monitor.drift.fold.inputs import fit_model_reference
from monitor.drift.incidents.detectable import days_to_find
from studies.drift.entities import LIMITS, openings
from studies.drift.entity_worlds import WORLDS, draw_days
from studies.drift.estimates import print_median, print_share
from studies.drift.layout import in_processes, publish, read_options
from studies.drift.rules import FALSE_ALERT_DAYS
from studies.drift.tables import table

BEGIN, END = "<!-- stated: studies/drift/stated.py -->", "<!-- end of stated -->"
FIRST_SEED, REFERENCE, FOLLOWED, CHANGE = 170_000, 28, 120, 0.2
WATCHED = [name for name in WORLDS if "campaigns" not in name and "20k" not in name]
INTRO = (
    f"{{streams}} streams of each world, judged with the key; a slope of {1.0 - CHANGE} "
    "begins after the reference. *Found by then*: half of them if the statement is right, ± "
    "a standard error. *As if independent*: if rows did not hang together.\n"
)
HEADS = (
    *("world", "as if independent, days", "stated, days", "10 to 90 %", "found after, days"),
    "found by then, %",
)


class Task(NamedTuple):
    """A stream: its world, its seed."""

    world: str
    seed: int


class Watched(NamedTuple):
    """Days until a drift is found: of independent rows, as stated, and as found."""

    independent: float
    stated: float
    found: float


def watch(task: Task) -> Watched | None:
    """Find out what is stated, and what is true; None without a reference."""
    drawn = WORLDS[task.world]
    days = list(draw_days(drawn, task.seed, 1.0 - CHANGE, REFERENCE, REFERENCE + FOLLOWED))
    reference = fit_model_reference(days[:REFERENCE], LIMITS).streams[WHOLE]
    if not isinstance(reference, Reference):
        return None
    alone = with_hanging(reference, np.ones(len(reference.hanging)))
    limit = float(np.log10(FALSE_ALERT_DAYS))
    stated = [days_to_find(of, CHANGE, limit) for of in (alone, reference)]
    opened = openings(days)
    return Watched(*stated, float(opened[0][0]) + 1.0 if opened else inf)


def row(world: str, found: Sequence[Watched]) -> list[str]:
    """Lay out what was stated and what was found in a world."""
    independent, stated, waits = (list(values) for values in zip(*found, strict=True))
    low, high = np.quantile(stated, [0.1, 0.9], method="nearest")
    return [
        world,
        f"{np.median(independent):.0f}",
        f"{np.median(stated):.0f}",
        f"{low:.0f} to {high:.0f}",
        print_median(waits, FOLLOWED),
        print_share([wait <= said for wait, said in zip(waits, stated, strict=True)]),
    ]


def main() -> None:
    """Watch all streams, print the table, and write it where it belongs."""
    options = read_options(__doc__, streams=16, of="of each world")
    rows = []
    with in_processes(watch, options.workers) as watched:
        for world in WATCHED:
            tasks = [Task(world, FIRST_SEED + n) for n in range(options.streams)]
            rows.append(row(world, [found for found in watched(tasks) if found]))
            print(rows[-1], flush=True)
    text = "\n".join([INTRO.format(streams=options.streams), *table(HEADS, rows)])
    publish(text, BEGIN, END, write=options.write)


if __name__ == "__main__":
    main()
