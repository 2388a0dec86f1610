"""How often values are flagged rightly and wrongly, beside MCGrad and a chi-squared test.

    python -m studies.where.run [--streams 3] [--environments FOLDER]

Rows have a value in each of five columns, a hundred values each, of unequal volume, and two columns
are crossed, so 536 values are searched. Every day has a prior of its own. 21 days are the
reference; the searches look at the seven days after it. Then a sound stream is searched once a
week, and by the monitor also every day, for 17 weeks. Writes the tables of docs/where-study.md
below its mark. Seeds are fixed. Makes MCGrad's environment, unless it is there, as
studies.peers.run does.
"""

import argparse
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from monitor.base.segment_names import WHOLE
from monitor.drift.curve.reference import Reference, fit_reference
from monitor.drift.records.places import Where
from monitor.drift.verdicts.pair_sums import sum_day
from monitor.drift.where.column_sums import DaySums
from studies.peers.run import environment
from studies.where.searches import chi_squared_search, mcgrad_search, monitor_search, timed
from studies.where.worlds import PAIR, WORLDS, Day, Names, World, draw_day

MARK = "<!-- `python -m studies.where.run` writes everything below this line. -->\n"
ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "where-study.md"
REFERENCE, WEEK, WEEKS, WEEKS_A_YEAR, DAYS_A_YEAR = 21, 7, 17, 52, 365
OURS, CHI_SQUARED, MCGRAD = "calibration-monitor", "chi-squared", "MCGrad"

HEADING = (
    "| world | monitor: rightly | wrongly | chi-squared: rightly | wrongly | MCGrad: rightly "
    "| wrongly | explained rightly |"
)
YEARLY_HEADING = (
    "| false segments a year | monitor, weekly | chi-squared, weekly | MCGrad, weekly "
    "| monitor, daily |"
)
Found = Mapping[str, Names]  # by search


def reference_of(rng: np.random.Generator, world: World) -> tuple[Reference, list[DaySums]]:
    """Draw the reference of a stream."""
    days = [draw_day(rng, world, drifted=False) for _ in range(REFERENCE)]
    reference = fit_reference([{WHOLE: day.whole} for day in days])
    return reference, [sum_day(reference, day.columns)[0] for day in days]


def flagged(where: Where) -> Names:
    """Name the flagged values."""
    return {(place.column, place.value) for place in where.flagged}


def search(
    reference: Reference,
    before: Sequence[DaySums],
    days: Sequence[Day],
    python: Path,
    seconds: dict[str, float],
) -> tuple[Where, Found]:
    """Search a week in all three ways, and add up the time of each."""
    began = time.process_time()
    where = monitor_search(reference, before, [sum_day(reference, d.columns)[0] for d in days])
    seconds[OURS] += timed(began)
    began = time.process_time()
    chi_squared = chi_squared_search(days)
    seconds[CHI_SQUARED] += timed(began)
    mcgrad, theirs = mcgrad_search(days, python)
    seconds[MCGRAD] += theirs
    return where, {OURS: flagged(where), CHI_SQUARED: chi_squared, MCGRAD: mcgrad}


def right_ones(world: World) -> Names:
    """Name the values whose rows the drift touches; of a pair, also its two values."""
    pair = {("c0", "v0"), ("c1", "v0")}
    return set(world.off) | (pair if any(column == PAIR for column, _ in world.off) else set())


def row(world: World, found: Sequence[tuple[Where, Found]]) -> str:
    """Lay out one world."""
    cells = [world.name]
    for name in (OURS, CHI_SQUARED, MCGRAD):
        right = np.mean([len(of[name] & right_ones(world)) for _, of in found])
        wrong = np.mean([len(of[name] - right_ones(world)) for _, of in found])
        cells += (
            ["", f"{wrong:.0f} flagged"] if world.everywhere else [f"{right:.1f}", f"{wrong:.2f}"]
        )
    explained = [where.explanation for where, _ in found if where.explanation]
    right = [{(c.column, c.value) for c in one.conditions} <= world.off for one in explained]
    cells.append(f"{sum(right)} of {len(found)}, wrongly {len(right) - sum(right)}")
    return "| " + " | ".join(cells) + " |"


def weekly(world: World, seed: int, python: Path) -> tuple[dict[str, int], int]:
    """Search a sound stream week by week; also count what the monitor newly flags day by day."""
    rng = np.random.default_rng([18, seed])
    reference, before = reference_of(rng, world)
    days = [draw_day(rng, world, drifted=False) for _ in range(WEEK * WEEKS)]
    sums = [sum_day(reference, day.columns)[0] for day in days]
    false = dict.fromkeys((OURS, CHI_SQUARED, MCGRAD), 0)
    for first in range(0, len(days), WEEK):
        span = slice(first, first + WEEK)
        false[OURS] += len(flagged(monitor_search(reference, before, sums[span])))
        false[CHI_SQUARED] += len(chi_squared_search(days[span]))
        false[MCGRAD] += len(mcgrad_search(days[span], python)[0])
    daily, known = 0, set[tuple[str, str]]()
    for last in range(WEEK, len(days) + 1):
        now = flagged(monitor_search(reference, before, sums[last - WEEK : last]))
        daily, known = daily + len(now - known), now
    return false, daily


def weekly_row(world: World, found: Sequence[tuple[dict[str, int], int]]) -> str:
    """Lay out one sound world: false segments a year."""
    weeks = WEEKS * len(found)
    cells = [
        world.name,
        *(
            f"{sum(of[name] for of, _ in found) * WEEKS_A_YEAR / weeks:,.1f}"
            for name in (OURS, CHI_SQUARED, MCGRAD)
        ),
    ]
    days = (WEEK * (WEEKS - 1) + 1) * len(found)
    cells.append(f"{sum(daily for _, daily in found) * DAYS_A_YEAR / days:.1f}")
    return "| " + " | ".join(cells) + " |"


def main() -> None:
    """Draw the streams and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--streams", type=int, default=3)
    parser.add_argument("--sound-streams", type=int, default=1)
    parser.add_argument("--environments", type=Path, default=ROOT / ".venv" / "peers")
    chosen = parser.parse_args()
    python = environment("mcgrad", chosen.environments)
    seconds, searches = dict.fromkeys((OURS, CHI_SQUARED, MCGRAD), 0.0), 0
    lines = [HEADING, "|---|---:|---:|---:|---:|---:|---:|---:|"]
    for world in WORLDS:
        found = []
        for seed in range(chosen.streams):
            rng = np.random.default_rng([17, seed])
            reference, before = reference_of(rng, world)
            days = [draw_day(rng, world, drifted=True) for _ in range(WEEK)]
            found.append(search(reference, before, days, python, seconds))
            searches += 1
        lines.append(row(world, found))
        print(lines[-1], flush=True)
    times = ", ".join(f"{name} {of / searches:.1f} s" for name, of in seconds.items())
    lines += ["", f"CPU time of a search: {times}.", ""]
    lines += [YEARLY_HEADING, "|---|---:|---:|---:|---:|"]
    found_weekly = [weekly(WORLDS[0], seed, python) for seed in range(chosen.sound_streams)]
    lines.append(weekly_row(WORLDS[0], found_weekly))
    print(lines[-1], flush=True)
    text, _, _ = PAGE.read_text().partition(MARK)
    PAGE.write_text(text + MARK + "\n" + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
