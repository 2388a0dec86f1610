"""Watch streams of models with classes, and write the table of docs/class-simulations.md.

    python -m studies.classes.run [--only NAME ...] [--streams 4] [--days 180] [--write]

Worlds of few classes are cheap, so they get more streams.
"""

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from itertools import islice
from pathlib import Path
from statistics import median

from monitor.base.segment_names import THIRD, WHOLE
from monitor.drift.fold.inputs import Day, Limits, fit_model_reference
from monitor.drift.verdicts.judge import judge
from studies.classes.worlds import (
    DRIFTS,
    FIRST,
    NONE,
    REFERENCE,
    WORLDS,
    World,
    day_of_pairs,
    day_of_rest,
    stream,
    without_third,
)

PAGE = Path(__file__).parents[2] / "docs/class-simulations.md"
BEGIN, END = "<!-- studies/classes/run.py -->", "<!-- end -->"
START, FOLLOWED = 30, 30  # a drift begins on this day, and is followed for so many
YEAR = 365
REST = "of one class against the rest"
FEW, MORE, MOST = 10, 2, 3  # classes, and times as many streams: sound ones, and of the first drift


@dataclass(frozen=True)
class Watched:
    """What happened in one stream.

    Attributes
    ----------
    openings : tuple of int
        Days of openings of the whole, since the reference.
    pairs : int
        Openings of single pairs.
    """

    openings: tuple[int, ...]
    pairs: int


def watch(days: Iterator[Day]) -> Watched:
    """Fit the reference of a stream, and judge the days after it one by one.

    By pairs of the two highest scores alone: `studies.classes.third` measures what the others add.
    """
    days = map(without_third, days)
    fitted = fit_model_reference(list(islice(days, REFERENCE)), Limits())
    streams = {name: of for name, of in fitted.streams.items() if name != THIRD}
    reference = replace(fitted, streams=streams)
    opened = list[tuple[str, int]]()
    for verdicts in judge("study", days, references=[reference], limits=Limits()):
        for verdict in verdicts:
            incident = verdict.detector.incident
            if incident and incident.opened == verdict.day:
                opened.append((verdict.segment, day_number(verdict.day)))
    whole = tuple(day for name, day in opened if name == WHOLE)
    return Watched(whole, len(opened) - len(whole))


def judged_share(days: Sequence[Day]) -> float:
    """Give the share of the outcomes that the verdict rests on."""
    counted = [day.classes for day in days if day.classes]
    return sum(found.judged for found in counted) / sum(found.total for found in counted)


def day_number(day: date) -> int:
    """Count the days since the reference."""
    return (day - FIRST).days - REFERENCE


def row(world: World, streams: int, days: int) -> str:
    """Watch the streams of a world, and write its row."""
    few = world.classes <= FEW
    sound, rest, judged = list[Watched](), list[Watched](), list[float]()
    for seed in range(streams * (MORE if few else 1)):
        drawn = [
            (day_of_pairs(rows), day_of_rest(rows) if few else None)
            for rows in stream(world, NONE, seed, days=days, start=days + 1)
        ]
        pairs = [one for one, _ in drawn]
        sound.append(watch(iter(pairs)))
        judged.append(judged_share(pairs[REFERENCE:]))
        rest += [watch(one for _, one in drawn if one)] if few else []
    years = f"in {len(sound) * days / YEAR:.1f}"
    cells = [
        f"{sum(len(found.openings) for found in sound)} {years}",
        f"{sum(len(found.openings) for found in rest)} {years}" if few else "",
        f"{sum(found.pairs for found in sound)}",
        f"{sum(judged) / len(judged):.0%}",
    ]
    for drift in DRIFTS:
        number = streams * (MOST if few and drift == DRIFTS[0] else 1)
        drawn_again = (
            stream(world, drift, 100 + seed, days=START + FOLLOWED, start=START)
            for seed in range(number)
        )
        cells.append(_delay([watch(map(day_of_pairs, rows)).openings for rows in drawn_again]))
    line = " | ".join([world.name, *cells])
    return f"| {line} |"


def _delay(openings: Sequence[tuple[int, ...]]) -> str:
    """Give the median number of days until a drift was found, and how often it was."""
    first = [next((day for day in days if day >= START), None) for days in openings]
    known = [day - START + 1 for day in first if day is not None]
    if not known:
        return f"0 of {len(openings)}"
    return f"{median(known):.0f} days, {len(known)} of {len(openings)}"


def rows_of(begin: str) -> list[str]:
    """Read the rows of the table between a line of the page and the next end."""
    return PAGE.read_text().partition(begin)[2].partition(END)[0].splitlines()


def page_with(begin: str, rows: Sequence[str]) -> None:
    """Write the table between a line of the page and the next end."""
    before, _, rest = PAGE.read_text().partition(begin)
    after = rest.partition(END)[2]
    PAGE.write_text(f"{before}{begin}\n\n" + "\n".join(rows) + f"\n\n{END}{after}")


def main() -> None:
    """Read the command line and run."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--streams", type=int, default=4)
    parser.add_argument("--days", type=int, default=180)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    names = " | ".join(drift.name for drift in DRIFTS)
    rows = [
        f"| world | openings in stream-years | {REST} | of pairs | judged | {names} |",
        "|---|---|---|---|---|" + "---|" * len(DRIFTS),
    ]
    for world in WORLDS:
        if not given.only or any(name in world.name for name in given.only):
            rows.append(row(world, given.streams, given.days))
            print(rows[-1], flush=True)
    if given.write:
        page_with(BEGIN, rows)


if __name__ == "__main__":
    main()
