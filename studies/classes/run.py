"""Watch streams of models with classes, and write the table of docs/classes.md.

    python -m studies.classes.run [--only NAME ...] [--streams 4] [--days 180] [--write]

A stream of 180 days takes 2 s of 3 classes and 15 s of 100.
"""

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import islice
from pathlib import Path
from statistics import median

from monitor.drift.inputs import Day, Limits, fit_model_reference
from monitor.drift.verdict import judge
from monitor.segment_names import WHOLE
from studies.classes.worlds import DRIFTS, FIRST, NONE, REFERENCE, WORLDS, Drift, World, stream

PAGE = Path(__file__).parents[2] / "docs/classes.md"
BEGIN, END = "<!-- studies/classes/run.py -->", "<!-- end -->"
START, FOLLOWED = 30, 30  # a drift begins on this day, and is followed for so many
YEAR = 365


@dataclass(frozen=True)
class Watched:
    """What happened in one stream.

    Attributes
    ----------
    openings : tuple of int
        Days of openings of the whole, since the reference.
    pairs : int
        Openings of single pairs.
    judged : float
        Share of the outcomes that the verdict rests on.
    """

    openings: tuple[int, ...]
    pairs: int
    judged: float


def watch(world: World, drift: Drift, seed: int, *, days: int, start: int) -> Watched:
    """Judge a stream day by day."""
    drawn = stream(world, drift, seed, days=days, start=start)
    reference = fit_model_reference(list(islice(drawn, REFERENCE)), Limits())
    seen = list[tuple[int, int]]()

    def noted() -> Iterator[Day]:
        for day in drawn:
            if day.classes:
                seen.append((day.classes.judged, day.classes.total))
            yield day

    opened = list[tuple[str, int]]()
    for verdicts in judge("study", noted(), references=[reference], lack="", limits=Limits()):
        for verdict in verdicts:
            incident = verdict.detector.incident
            if incident and incident.opened == verdict.day:
                opened.append((verdict.segment, _number(verdict.day)))
    whole = tuple(day for name, day in opened if name == WHOLE)
    judged, outcomes = map(sum, zip(*seen, strict=True))
    return Watched(whole, len(opened) - len(whole), judged / outcomes)


def _number(day: date) -> int:
    return (day - FIRST).days - REFERENCE


def row(world: World, streams: int, drift_streams: int, days: int) -> str:
    """Watch the streams of a world, and write its row."""
    sound = [watch(world, NONE, seed, days=days, start=days + 1) for seed in range(streams)]
    years = streams * days / YEAR
    cells = [
        f"{sum(len(found.openings) for found in sound)} in {years:.1f}",
        f"{sum(found.pairs for found in sound)}",
        f"{sum(found.judged for found in sound) / streams:.0%}",
    ]
    for drift in DRIFTS:
        found = [
            watch(world, drift, 100 + seed, days=START + FOLLOWED, start=START)
            for seed in range(drift_streams)
        ]
        cells.append(_delay([one.openings for one in found]))
    line = " | ".join([world.name, *cells])
    return f"| {line} |"


def _delay(openings: Sequence[tuple[int, ...]]) -> str:
    """Give the median number of days until a drift was found, and how often it was."""
    first = [next((day for day in days if day >= START), None) for days in openings]
    known = [day - START + 1 for day in first if day is not None]
    if not known:
        return f"0 of {len(openings)}"
    return f"{median(known):.0f} days, {len(known)} of {len(openings)}"


def main() -> None:
    """Read the command line and run."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--streams", type=int, default=4)
    parser.add_argument("--drift-streams", type=int, default=4)
    parser.add_argument("--days", type=int, default=180)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    names = " | ".join(drift.name for drift in DRIFTS)
    rows = [
        f"| world | openings in stream-years | of pairs | judged | {names} |",
        "|---|---|---|---|" + "---|" * len(DRIFTS),
    ]
    for world in WORLDS:
        if not given.only or any(name in world.name for name in given.only):
            rows.append(row(world, given.streams, given.drift_streams, given.days))
            print(rows[-1], flush=True)
    if given.write:
        before, _, rest = PAGE.read_text().partition(BEGIN)
        after = rest.partition(END)[2]
        PAGE.write_text(f"{before}{BEGIN}\n\n" + "\n".join(rows) + f"\n\n{END}{after}")


if __name__ == "__main__":
    main()
