"""How often the whole opens falsely where priors of values move, with strata that are found.

    python -m studies.where.moving [--sound 20] [--drifting 10]

Draws streams of `studies.where.watched` whose countries, devices and channels have priors of their
own that move, and judges the whole of each three times: all rows together, with the strata that
`strata: auto` finds among the columns, and with those that it finds if devices and channels are
crossed too. Writes its table of docs/where-study.md between its marks. Seeds are fixed.
"""

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from statistics import median

import numpy as np

from monitor.base.segment_names import WHOLE
from monitor.days.summary import Columns
from monitor.drift.curve.reference import Reference, fit_reference
from monitor.drift.incidents.detecting import advance, limit, new_detector
from monitor.drift.records.detector import Detector
from monitor.drift.records.values import MovingPriors
from monitor.drift.where.moving_priors import MOST_STRATA, moving_priors, split_by
from monitor.metrics.core.coarse import Coarse
from studies.where.watched import (
    FALSE_ALERT_DAYS,
    FIRST,
    HALF_YEAR,
    PAIR,
    REFERENCE,
    SHARES,
    WORLDS,
    Part,
    draw_days,
)

PAGE = Path(__file__).parents[2] / "docs" / "where-study.md"
BEGIN = "<!-- `python -m studies.where.moving` writes the table below this line. -->\n"
END = "<!-- The table of moving priors ends here. -->\n"
COLUMNS = {"none": (), "columns": tuple(SHARES), "columns and the crossing": (*SHARES, PAIR)}
WORLD = WORLDS["also those of countries, devices and channels"]
EVERYWHERE = Part("all rows, slope 0.8", {}, 0.8, 30, None)
FIRST_SEED, MOST_DAYS = 6_000, 60
HEADING = """\
| strata among | half-years in which the whole opened | openings a year | slope 0.8 of all rows: \
median days | slowest |
|---|---:|---:|---:|---:|"""


@dataclass
class Judged:
    """A whole with the strata that were found in its reference; it opened on which day."""

    strata: MovingPriors | None
    reference: Reference
    detector: Detector
    opened: int | None = None


def parts(columns: Columns, whole: Coarse, strata: MovingPriors | None) -> Mapping[str, Coarse]:
    """Divide the rows of a day."""
    return split_by(columns[strata.column], strata) if strata else {WHOLE: whole}


def opened(seed: int, part: Part | None, days: int) -> list[int | None]:
    """Judge the days of a stream; give when the whole opened, with each choice of columns."""
    stream = draw_days(np.random.default_rng([27, seed]), WORLD, part)
    before, judged = [next(stream) for _ in range(REFERENCE)], list[Judged]()
    for names in COLUMNS.values():
        listed = [{name: columns[name] for name in names} for columns, _ in before]
        strata = moving_priors(listed, MOST_STRATA)
        reference = fit_reference([parts(*of_day, strata) for of_day in before])
        judged.append(Judged(strata, reference, new_detector()))
    for number in range(1, days + 1):
        of_day, day = next(stream), FIRST + timedelta(days=REFERENCE + number - 1)
        for one in judged:
            if one.opened is None:
                now = parts(*of_day, one.strata)
                one.detector, _ = advance(one.detector, one.reference, [day], now)
                over = one.detector.evidence >= limit(FALSE_ALERT_DAYS)
                one.opened = number if over else None
        if all(one.opened for one in judged):
            break
    return [one.opened for one in judged]


def row(name: str, sound: Sequence[int | None], drifting: Sequence[int | None]) -> str:
    """Lay out a choice of columns."""
    wrong, years = sum(day is not None for day in sound), len(sound) * HALF_YEAR / 365
    days = sorted(day or MOST_DAYS + 1 for day in drifting)
    slowest = f"{days[-1]}" if days[-1] <= MOST_DAYS else f"not within {MOST_DAYS}"
    cells = f"{wrong} of {len(sound)} | {wrong / years:.2f} | {median(days):.0f} | {slowest}"
    return f"| {name} | {cells} |"


def main() -> None:
    """Draw the streams and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sound", type=int, default=20)
    parser.add_argument("--drifting", type=int, default=10)
    chosen = parser.parse_args()
    sound, drifting = (
        [opened(FIRST_SEED + seed, part, days) for seed in range(count)]
        for part, days, count in (
            (None, HALF_YEAR, chosen.sound),
            (EVERYWHERE, MOST_DAYS, chosen.drifting),
        )
    )
    rows = [
        row(name, *both)
        for name, *both in zip(
            COLUMNS, zip(*sound, strict=True), zip(*drifting, strict=True), strict=True
        )
    ]
    before, _, rest = PAGE.read_text().partition(BEGIN)
    table = "\n".join([HEADING, *rows])
    PAGE.write_text(f"{before}{BEGIN}\n{table}\n\n{END}{rest.partition(END)[2]}")
    print(table)


if __name__ == "__main__":
    main()
