"""Whether a drift that gets worse is found while it is open, and how often that is said falsely.

    python -m studies.drift.second [--streams 10] [--lasting 6] [--seasons 6] [--write]

Also how often a drift that lasts becomes undecided, and what becomes of a record like that of
seventeen seasons of public forecasts. Every stream is judged as `evaluate` judges stored days, with
seeds that nothing was chosen on. With --write the tables go into docs/drift-simulations.md.
"""

import argparse
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from math import inf
from typing import NamedTuple

import numpy as np

from monitor.drift.fold.inputs import Day, Limits, fit_model_reference
from monitor.drift.records.verdict import Verdict
from monitor.drift.verdicts.judge import judge
from monitor.metrics.core.coarse import Coarse
from monitor.metrics.core.grid import Floats
from studies.drift.estimates import print_median
from studies.drift.layout import PAGE, publish
from studies.drift.scenarios import SCENARIOS
from studies.drift.tables import table
from studies.drift.worlds import Truth, World, lowered_top, stream, tilted

BEGIN, END = "<!-- second detector: studies/drift/second.py -->", "<!-- end of second -->"
FIRST, FIRST_SEED, YEAR = date(2001, 9, 1), 110_000, 365
CHANGE = 60  # days after the start of a drift on which it changes
MANY, SOME = World(0.05, 20_000), World(0.3, 500)
WANDERS = "slope wanders (5 %, 20k)"
Segments = dict[str, Coarse]


def and_top(prevalence: float) -> Floats:
    """Add odds of 1.8 in the top tenth to a slope of 0.85."""
    return np.asarray(tilted(0.85)(prevalence) - np.log(1.8) / 0.4 * lowered_top(prevalence))


CHANGES = {
    "0.85, then 0.7": (tilted(0.85), tilted(0.7)),
    "0.85, then 0.4": (tilted(0.85), tilted(0.4)),
    "0.85, then 1.25": (tilted(0.85), tilted(1.25)),
    "0.85, then the top tenth x1.8 too": (tilted(0.85), and_top),
    "0.8, then 0.93": (tilted(0.8), tilted(0.93)),
    "0.8, then as before": (tilted(0.8), tilted(1.0)),
}
LASTING = {
    "0.85 (5 %, 20k)": (MANY, 0.85, 28),
    "0.9 (5 %, 20k)": (MANY, 0.9, 28),
    "0.8 (30 %, 500)": (SOME, 0.8, 28),
    "0.8 (30 %, 100)": (World(0.3, 100), 0.8, 42),
    "0.6 (50 %, 15)": (World(0.5, 15), 0.6, 120),
}


class Followed(NamedTuple):
    """What became of a stream: days count from the first after the reference, -1 is never."""

    opened: list[int]
    closed: int
    worse: list[int]
    open_days: int
    undecided: int
    spells: int


HEADS = (
    ["drift, then its change on day 60", "open then", "paged again", "of them after it had closed",
     "within 3 days", "days until then", "days until it closed", "paged again before the change"],
    ["open drift that lasts", "open years", "paged again", "a year", "became undecided", "a year",
     "of its days undecided"],
    ["slope in two seasons, then in fifteen", "opened", "closed", "seasons open",
     "of them not undecided", "became undecided", "paged again"],
)  # fmt: skip
INTRO = (
    "{} streams of each change, {} of each drift that lasts for two years, {} of the seasons, "
    "which are 120 days of 15 games; the first three are the reference. *Paged again*: the drift "
    "was found to be worse, or it closed and opened again.\n"
)


def follow(days: Sequence[Segments], reference: int, when: Sequence[date] = ()) -> Followed:
    """Judge a stream from the end of its reference on."""
    when = when or [FIRST + timedelta(n) for n in range(len(days))]
    moment = datetime(2030, 1, 1, tzinfo=UTC)
    drawn = [
        Day(of, True, moment, 1.0, {("all", f"{name}"): part for name, part in parts.items()})
        for of, parts in zip(when, days, strict=True)
    ]
    found = fit_model_reference(drawn[:reference], Limits())
    verdicts = judge("study", drawn[reference:], references=[found], limits=Limits())
    return summed([whole for whole, *_ in verdicts])


def summed(verdicts: Sequence[Verdict]) -> Followed:
    """Count what a stream's verdicts said."""
    incidents = [v.detector.incident for v in verdicts]
    opened = [
        n
        for n, (v, i) in enumerate(zip(verdicts, incidents, strict=True))
        if i and i.opened == v.day
    ]
    worse = [
        n
        for n, (v, i) in enumerate(zip(verdicts, incidents, strict=True))
        if i and i.worse and i.worse.found == v.day
    ]
    closed = [n for n in range(1, len(incidents)) if incidents[n - 1] and not incidents[n]]
    undecided = np.array([v.state == "undecided" for v in verdicts])
    return Followed(
        opened,
        closed[0] if closed else -1,
        worse,
        sum(i is not None for i in incidents),
        int(undecided.sum()),
        int((undecided & ~np.append(False, undecided[:-1])).sum()),
    )


def spliced(world: World, name: str, seed: int) -> list[Segments]:
    """Draw a stream whose drift changes 60 days after it began."""
    before, after = (
        list(stream(world, Truth(distortion), seed, days=CHANGE + YEAR // 2))
        for distortion in CHANGES[name]
    )
    place = 28 + CHANGE
    return before[:place] + after[place:]


def changes(streams: int) -> Iterator[list[str]]:
    """Follow drifts that change, and lay out when that is said."""
    for world in (MANY, SOME):
        for name in CHANGES:
            all_of = [follow(spliced(world, name, FIRST_SEED + n), 28) for n in range(streams)]
            of = [f for f in all_of if open_at_change(f)]
            early = sum(day < CHANGE for f in of for day in f.worse)
            waits = [
                min((float(d - CHANGE + 1) for d in pages(f) if d >= CHANGE), default=inf)
                for f in of
            ]
            soon = sum(wait <= 3 for wait in waits)
            paged = sum(wait < inf for wait in waits)
            reopened = sum(bool(f.opened[1:]) and not f.worse for f in of)
            ends = [float(f.closed - CHANGE + 1) if f.closed >= CHANGE else inf for f in of]
            yield [
                f"{name} ({world})",
                f"{len(of)}",
                f"{paged}",
                f"{reopened}",
                f"{soon}",
                print_median(waits, YEAR // 2) if paged else "",
                print_median(ends, YEAR // 2),
                f"{early}",
            ]


def open_at_change(found: Followed) -> bool:
    """Say whether a drift was open from its first alert until it changed."""
    return bool(found.opened) and found.opened[0] < CHANGE and not 0 <= found.closed < CHANGE


def pages(found: Followed) -> list[int]:
    """List the days of pages after the first: a drift became worse, or closed and opened again."""
    return [*found.worse, *found.opened[1:]]


def lasting(streams: int) -> Iterator[list[str]]:
    """Follow drifts that last, and lay out what is said falsely while they are open."""

    def row(name: str, draw: Callable[[int], list[Segments]], reference: int) -> list[str]:
        of = [follow(draw(FIRST_SEED + n), reference) for n in range(streams)]
        years = sum(f.open_days for f in of) / YEAR
        worse, spells = sum(len(f.worse) for f in of), sum(f.spells for f in of)
        days = sum(f.undecided for f in of) / (years * YEAR)
        return [
            name,
            f"{years:.1f}",
            f"{worse}",
            f"{worse / years:.2f}",
            f"{spells}",
            f"{spells / years:.2f}",
            f"{days:.1%}",
        ]

    for name, (world, slope, reference) in LASTING.items():

        def draw(
            seed: int, of: tuple[World, float, int] = (world, slope, reference)
        ) -> list[Segments]:
            return list(stream(of[0], Truth(tilted(of[1])), seed, reference=of[2], days=2 * YEAR))

        yield row(name, draw, reference)
    scenario = SCENARIOS[WANDERS]

    def wandering(seed: int) -> list[Segments]:
        return list(
            scenario.draw(
                scenario.world, Truth(tilted(0.8)), seed, reference=28, days=2 * YEAR, start=0
            )
        )

    yield row(f"0.8, {WANDERS}", wandering, 28)


SEASONS, SEASON, LEARNT, BROKEN = 20, 120, 3, 2  # the first three are the reference


def seasons(streams: int) -> Iterator[list[str]]:
    """Follow the twin of a record of games: slope 0.6 in two seasons, 0.94 in the fifteen after."""
    world = World(0.5, 15)
    when = [
        FIRST.replace(year=FIRST.year + year) + timedelta(n)
        for year in range(SEASONS)
        for n in range(SEASON)
    ]
    for slope in (0.94, 0.6):
        of = []
        for n in range(streams):
            total = (SEASONS - LEARNT) * SEASON
            before, after = (
                list(
                    stream(
                        world,
                        Truth(tilted(s)),
                        FIRST_SEED + n,
                        reference=LEARNT * SEASON,
                        days=total,
                    )
                )
                for s in (0.6, slope)
            )
            place = (LEARNT + BROKEN) * SEASON
            of.append(follow(before[:place] + after[place:], LEARNT * SEASON, when))
        opened = [f for f in of if f.opened]
        yield [
            f"0.6, then {slope:g}",
            f"{len(opened)} of {streams}",
            f"{sum(f.closed >= 0 for f in opened)}",
            f"{np.mean([f.open_days / SEASON for f in opened]):.1f}",
            f"{np.mean([(f.open_days - f.undecided) / SEASON for f in opened]):.1f}",
            f"{sum(f.spells for f in opened)}",
            f"{sum(len(f.worse) for f in opened)}",
        ]


def main() -> None:
    """Follow all streams, print the tables, and write them where they belong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--streams", type=int, default=10, help="of each kind")
    parser.add_argument("--lasting", type=int, default=6, help="streams of drifts that last")
    parser.add_argument("--seasons", type=int, default=6, help="streams of seasons")
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.name}")
    options = parser.parse_args()
    found = changes(options.streams), lasting(options.lasting), seasons(options.seasons)
    text = laid_out([list(r) for r in found], options.streams, options.lasting, options.seasons)
    publish(text, BEGIN, END, write=options.write)


def laid_out(found: Sequence[Sequence[list[str]]], *streams: int) -> str:
    """Lay out the three tables."""
    tables = ["\n".join(table(heads, rows)) for heads, rows in zip(HEADS, found, strict=True)]
    return "\n\n".join([INTRO.format(*streams), *tables])


if __name__ == "__main__":
    main()
