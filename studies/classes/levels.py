"""Compare the levels of classes week by week, and write a table of docs/class-simulations.md.

    python -m studies.classes.levels [--streams 10] [--weeks 20] [--drifts 12] [--write]

No stream of the first columns drifts, so everything that is found there is false.
"""

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from math import log

from monitor.base.segment_names import WHOLE
from monitor.drift.classes.class_levels import WEEK, OffClass, class_levels, off_class
from monitor.drift.classes.pairs import sum_of_days
from monitor.drift.curve.reference import Reference
from monitor.drift.fold.inputs import Limits, class_span, fit_model_reference
from studies.classes.run import page_with
from studies.classes.worlds import NONE, REFERENCE, Drift, World, day_of_pairs, stream

BEGIN = "<!-- studies/classes/levels.py -->"
ROWS, LEAST, SEED = 1_000, log(1.10), 40_000
OFF = "class 0"  # the one that drifts
WORLDS = (
    World("3 classes", 3),
    World("5 classes", 5, group=5),
    World("20 classes, confused in fives", 20, group=5),
    World("3 classes, each bent in its own way", 3, bent=0.3),
    World("5 classes, each bent in its own way", 5, group=5, bent=0.3),
)
DRIFTS = (
    Drift("scores 0.5 too high", biased=0.5),
    Drift("scores 0.5 too low", biased=-0.5),
    Drift("log-odds lifted by 0.5", lifted=0.5),
    Drift("inputs alone", followed=0.0),
    Drift("priors and inputs", followed=0.5),
)


def weeks(world: World, drift: Drift, seed: int, number: int) -> Iterator[OffClass | None]:
    """Fit the reference of a stream, and compare the weeks after it."""
    drawn = map(day_of_pairs, stream(world, drift, seed, days=WEEK * number, start=0))
    reference = fit_model_reference(list(islice(drawn, REFERENCE)), Limits())
    whole, levels = reference.streams[WHOLE], reference.levels
    for _ in range(number):
        days = list(islice(drawn, WEEK))
        classes = sum_of_days(day.classes for day in days)
        if levels and classes and isinstance(whole, Reference):
            now = class_levels(whole, reference.curves, class_span(days, classes))
            yield off_class(whole, levels, now, classes, LEAST)


def row(world: World, streams: int, number: int, drifts: int) -> str:
    """Write the row of a world."""
    sound = replace(world, rows=ROWS, vanishing=True)
    found = [off for i in range(streams) for off in weeks(sound, NONE, SEED + i, number)]
    cells = [f"{sum(off is not None for off in found)} of {len(found)}"]
    for drift in DRIFTS:
        first = [next(weeks(sound, drift, SEED + 500 + i, 1)) for i in range(drifts)]
        cells.append(_told(first))
    line = " | ".join([world.name, *cells])
    return f"| {line} |"


def _told(found: Sequence[OffClass | None]) -> str:
    """Count the weeks in which anything was found, the class was named, and another one was."""
    names = [off.name for off in found if off]
    others = sum(name not in ("", OFF) for name in names)
    return f"{len(names)}, {names.count(OFF)}, {others}"


def main() -> None:
    """Read the command line and run."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--streams", type=int, default=10)
    parser.add_argument("--weeks", type=int, default=20)
    parser.add_argument("--drifts", type=int, default=12)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    names = " | ".join(f"{drift.name}, {given.drifts} weeks" for drift in DRIFTS)
    rows = [f"| world | false weeks | {names} |", "|---|---|" + "---|" * len(DRIFTS)]
    for world in WORLDS:
        rows.append(row(world, given.streams, given.weeks, given.drifts))
        print(rows[-1], flush=True)
    if given.write:
        page_with(BEGIN, rows)


if __name__ == "__main__":
    main()
