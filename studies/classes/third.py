"""Watch streams whose outcomes go to a third class, and write a table of docs/class-simulations.md.

    python -m studies.classes.third [--only NAME ...] [--streams 20] [--days 180] [--write]

The same streams are watched a second time without their third choices: what the pairs of the two
highest scores see alone.
"""

import argparse
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from statistics import median

from monitor.base.segment_names import WHOLE
from monitor.drift.fold.inputs import Day, Limits, fit_model_reference
from monitor.drift.verdicts.judge import judge
from studies.classes.run import FOLLOWED, START, YEAR, day_number, page_with
from studies.classes.worlds import (
    DRIFTS,
    NONE,
    REFERENCE,
    Drift,
    World,
    day_of_pairs,
    stream,
    without_third,
)

BEGIN = "<!-- studies/classes/third.py -->"
SEED = 5_000  # no other study of classes draws these streams
WITHIN = 3  # days
LIMITS = {"guaranteed": Limits(), "calibrated": Limits(calibrated=True)}
WORLDS = (
    World("3 classes", 3),
    World("10 classes", 10),
    World("3 classes, each bent in its own way", 3, bent=0.3),
    World("10 classes, each bent in its own way", 10, bent=0.3),
    World("5 classes, 1,000 rows", 5, rows=1_000, vanishing=True),
)
MOVED = tuple(
    Drift(f"{share:.0%} of the outcomes to the third choice", third=share)
    for share in (0.1, 0.03, 0.01)
)
OTHERS = (DRIFTS[0], DRIFTS[1])
SMALL = MOVED[:2]  # of these all streams are drawn, of other drifts half as many


def openings(days: Sequence[Day], limits: Limits) -> list[int]:
    """Fit the reference of a stream, and give the days after it on which the whole opens."""
    fitted = fit_model_reference(days[:REFERENCE], limits)
    # Verdicts of single pairs change nothing of the whole, and take most of the time.
    reference = replace(fitted, streams={name: fitted.streams[name] for name in fitted.families})
    judged = judge("study", islice(days, REFERENCE, None), references=[reference], limits=limits)
    of_whole = (next(v for v in verdicts if v.segment == WHOLE) for verdicts in judged)
    return [day_number(v.day) for v in of_whole if v.incident and v.incident.opened == v.day]


def drawn(world: World, drift: Drift, seed: int, *, days: int, start: int) -> list[Day]:
    """Draw the days of a stream."""
    return [
        day_of_pairs(rows) for rows in stream(world, drift, SEED + seed, days=days, start=start)
    ]


def first_delay(opened: Sequence[int]) -> int | None:
    """Give the days from the beginning of the drift to the first opening after it."""
    return next((day - START + 1 for day in opened if day >= START), None)


def cell(delays: Sequence[int | None]) -> str:
    """Give the median delay, and how many streams were found at all and within three days."""
    known = [delay for delay in delays if delay is not None]
    if not known:
        return f"0 of {len(delays)}"
    within = sum(delay <= WITHIN for delay in known)
    return f"{median(known):.0f} days, {len(known)} of {len(delays)}, {within} by day {WITHIN}"


def row(world: World, streams: int, days: int) -> str:
    """Watch the streams of a world, and write its row."""
    opened = dict.fromkeys(LIMITS, 0)
    for seed in range(streams):
        found = drawn(world, NONE, seed, days=days, start=days + 1)
        for name, limits in LIMITS.items():
            opened[name] += len(openings(found, limits))
    cells = [world.name, *(f"{n} in {streams * days / YEAR:.1f}" for n in opened.values())]
    for drift in (*MOVED, *OTHERS):
        both, alone = list[int | None](), list[int | None]()
        for seed in range(streams if drift in SMALL else streams // 2):
            found = drawn(world, drift, 1_000 + seed, days=START + FOLLOWED, start=START)
            both.append(first_delay(openings(found, Limits())))
            alone.append(first_delay(openings([*map(without_third, found)], Limits())))
        cells.append(f"{cell(both)} (without: {cell(alone)})")
    line = " | ".join(cells)
    return f"| {line} |"


def main() -> None:
    """Read the command line and run."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--streams", type=int, default=20)
    parser.add_argument("--days", type=int, default=180)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    names = " | ".join(drift.name for drift in (*MOVED, *OTHERS))
    of_limits = " | ".join(f"openings in stream-years, {name} limit" for name in LIMITS)
    rows = [
        f"| world | {of_limits} | {names} |",
        "|---|" + "---|" * (len(LIMITS) + len(MOVED) + len(OTHERS)),
    ]
    for world in WORLDS:
        if not given.only or any(name in world.name for name in given.only):
            rows.append(row(world, given.streams, given.days))
            print(rows[-1], flush=True)
    if given.write:
        page_with(BEGIN, rows)


if __name__ == "__main__":
    main()
