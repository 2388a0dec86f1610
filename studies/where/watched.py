"""How soon the drift of a small part is found by itself, and how often a value is named wrongly.

    python -m studies.where.watched [--sound 40] [--first-seed 0]

Rows have a customer, a country, a device, a channel and an hour, and devices are crossed with
channels. 28 days are the reference. Each value of each column is watched on every later day. One
part drifts from then on, or nothing does for half a year. Priors move with the day; in a second
world also those of every country, device and channel, with a standard deviation of 0.5. Writes the
tables of docs/where-study.md between its marks; with other seeds than the fixed ones, which the
constants were chosen on in part, it only prints them.
"""

import argparse
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from statistics import median

import numpy as np
from scipy.special import expit
from scipy.stats import norm

from monitor.base.segment_names import CROSSED, WHOLE
from monitor.days.summary import Columns
from monitor.drift.curve.reference import fit_reference
from monitor.drift.incidents.detecting import advance, limit, new_detector
from monitor.drift.records.places import Condition
from monitor.drift.where.value_past import ValueSums, fit_values, value_sums
from monitor.drift.where.value_watch import new_watch, watch_day
from monitor.metrics.core.coarse import CENTRES, COARSE_COUNT, Coarse
from monitor.metrics.core.grid import Floats, Ints
from studies.where.planted import count

MARK = "<!-- `python -m studies.where.watched` writes the tables below this line. -->\n"
END = "<!-- The tables end here. -->"
ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "where-study.md"
FIRST, REFERENCE, AFTER, HALF_YEAR = date(2025, 1, 1), 28, 30, 182
FALSE_ALERT_DAYS = 1000
SCORES = norm.pdf(CENTRES, 0.0, 1.2)
SCORES /= SCORES.sum()
PAIR = f"device{CROSSED}channel"
DAY_SD, LEVEL_SD, LASTING = 0.3, 0.3, 0.7  # of priors, in logit; autocorrelation of those of values
FOUND_HEADING = """\
| world | what drifts | median days | slowest | found | other values named | whole opened |
|---|---|---:|---:|---:|---:|---:|"""
SOUND_HEADING = """\
| world in which nothing drifts | half-years | values named | named a year | half-years in which \
the whole opened |
|---|---:|---:|---:|---:|"""


def zipf(count: int, shift: float) -> Floats:
    """Give unequal shares."""
    shares = 1.0 / (np.arange(count) + shift)
    return np.asarray(shares / shares.sum())


SHARES = {
    "customer": zipf(80, 4.0),
    "country": zipf(8, 1.0),
    "device": np.array([0.45, 0.25, 0.15, 0.07, 0.05, 0.03]),
    "channel": zipf(10, 2.0),
    "hour": np.full(24, 1 / 24),
}
MOVING = ("country", "device", "channel")


@dataclass(frozen=True)
class Part:
    """What drifts: rows with all these values, and the slope of their outcomes."""

    name: str
    values: Mapping[str, int]
    slope: float
    days: int
    cause: Condition


def _nearest(column: str, share: float) -> int:
    return int(np.abs(SHARES[column] - share).argmin())


CUSTOMER = _nearest("customer", 0.02)
CROSSING = {"device": 2, "channel": _nearest("channel", 0.02 / 0.15)}
PARTS = (
    Part(
        "customer, 2 % of the rows, slope 0.3",
        {"customer": CUSTOMER},
        0.3,
        15,
        Condition("customer", f"v{CUSTOMER}"),
    ),
    Part(
        "crossing, 2 % of the rows, slope 0.4",
        CROSSING,
        0.4,
        15,
        Condition(PAIR, f"v{CROSSING['device'] * 10 + CROSSING['channel']}"),
    ),
    Part("device, 7 % of the rows, slope 0.6", {"device": 3}, 0.6, 10, Condition("device", "v3")),
)


@dataclass(frozen=True)
class World:
    """Rows a day, the prior of a usual day, and by how much priors of values move, in logit."""

    rows: int
    prior: float
    moving: float


WORLDS = {
    "priors of days move": World(20_000, -3.5, 0.0),
    "also those of countries, devices and channels": World(20_000, -3.5, 0.5),
}


def draw_days(
    rng: np.random.Generator, world: World, part: Part | None
) -> Iterator[tuple[Columns, Coarse]]:
    """Draw day after day; the part drifts once the reference is over."""
    levels = {name: rng.normal(0.0, LEVEL_SD, SHARES[name].size) for name in SHARES}
    moved = {name: rng.normal(0.0, world.moving, SHARES[name].size) for name in MOVING}
    day = 0
    while True:
        of = {
            name: np.searchsorted(np.cumsum(p)[:-1], rng.random(world.rows, np.float32))
            for name, p in SHARES.items()
        }
        places = np.searchsorted(np.cumsum(SCORES)[:-1], rng.random(world.rows, np.float32))
        slopes = np.ones(world.rows)
        if part and day >= REFERENCE:
            hit = np.all([of[name] == value for name, value in part.values.items()], axis=0)
            slopes[hit] = part.slope
        logits = slopes * CENTRES[places] + world.prior + rng.normal(0.0, DAY_SD)
        for name in SHARES:
            logits += (levels[name] + moved.get(name, 0.0))[of[name]]
        yield counted(of, places, rng.random(world.rows, np.float32) < expit(logits))
        moved = {
            name: LASTING * before
            + np.sqrt(1 - LASTING**2) * rng.normal(0.0, world.moving, before.size)
            for name, before in moved.items()
        }
        day += 1


def counted(of: Mapping[str, Ints], places: Ints, hits: np.ndarray) -> tuple[Columns, Coarse]:
    """Count the rows of a day by the values of each column, and all of them."""
    codes = {**of, PAIR: of["device"] * 10 + of["channel"]}
    whole = Coarse(*(np.bincount(p, minlength=COARSE_COUNT) for p in (places, places[hits])))
    return {name: count(c, places, hits) for name, c in codes.items()}, whole


@dataclass(frozen=True)
class Outcome:
    """Which values were named on which day after the reference, and when the whole opened."""

    named: Mapping[Condition, int]
    whole: int | None
    value_days: int
    seconds: float


def watch_stream(seed: int, world: World, part: Part | None, days: int) -> Outcome:
    """Watch the values of a stream, and its whole, after a reference."""
    rng = np.random.default_rng([27, seed])
    stream = draw_days(rng, world, part)
    before = [next(stream) for _ in range(REFERENCE)]
    reference = fit_reference([{WHOLE: whole} for _, whole in before])
    counted = [value_sums(reference, columns) for columns, _ in before]
    past = fit_values(reference, counted, value_sums(reference, {}))  # no level is looked for
    watch, sums = new_watch(FIRST, past), dict[date, ValueSums]()
    detector, named, opened = new_detector(), dict[Condition, int](), None
    value_days, seconds = 0, 0.0
    for number in range(1, days + 1):
        columns, whole = next(stream)
        day = FIRST + timedelta(days=REFERENCE + number - 1)
        began = time.process_time()
        sums[day] = value_sums(reference, columns)
        watch = watch_day(
            *(watch, day, sums[day]),
            false_alert_days=FALSE_ALERT_DAYS,
            days_of=lambda first, last: {d: of for d, of in sums.items() if first <= d <= last},
        )
        seconds += time.process_time() - began
        value_days += len(sums[day].names)
        for one in watch.incidents:
            named.setdefault(one.name, number)
        detector, _ = advance(detector, reference, [day], {WHOLE: whole})
        if opened is None and detector.evidence >= limit(FALSE_ALERT_DAYS):
            opened = number
    return Outcome(named, opened, value_days, seconds)


def found_row(name: str, part: Part, found: Sequence[Outcome]) -> str:
    """Lay out how soon the drift of a part was found."""
    days = sorted(of.named.get(part.cause, AFTER + 1) for of in found)
    late = [day for day in days if day > part.days]
    others = sum(len({*of.named} - {part.cause}) for of in found)
    whole = sum(of.whole is not None for of in found)
    cells = (
        name,
        part.name,
        f"{median(days):.0f}",
        f"{days[-1]}" if days[-1] <= AFTER else f"not within {AFTER}",
        f"{len(days) - len(late)} of {len(days)} within {part.days}",
        f"{others}",
        f"{whole} of {len(found)}",
    )
    return "| " + " | ".join(cells) + " |"


def sound_row(name: str, found: Sequence[Outcome]) -> str:
    """Lay out what was named while nothing drifted."""
    years = len(found) * HALF_YEAR / 365
    names, wholes = sum(len(of.named) for of in found), sum(of.whole is not None for of in found)
    cells = (name, f"{len(found)}", f"{names}", f"{names / years:.2f}", f"{wholes}")
    return "| " + " | ".join(cells) + " |"


def main() -> None:
    """Draw the streams and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--streams", type=int, default=10)
    parser.add_argument("--sound", type=int, default=40)
    parser.add_argument("--first-seed", type=int, default=0)
    chosen = parser.parse_args()
    lines, every = [FOUND_HEADING], list[Outcome]()
    for name, world in WORLDS.items():
        for part in PARTS:
            seeds = range(chosen.first_seed, chosen.first_seed + chosen.streams)
            found = [watch_stream(seed, world, part, AFTER) for seed in seeds]
            every += found
            lines.append(found_row(name, part, found))
            print(lines[-1], flush=True)
    lines += ["", SOUND_HEADING]
    for name, world in WORLDS.items():
        seeds = range(chosen.first_seed + 1_000, chosen.first_seed + 1_000 + chosen.sound)
        found = [watch_stream(seed, world, None, HALF_YEAR) for seed in seeds]
        every += found
        lines.append(sound_row(name, found))
        print(lines[-1], flush=True)
    spent = 1e3 * sum(of.seconds for of in every) / sum(of.value_days for of in every)
    lines += ["", f"CPU time of a value on a day: {spent:.3f} ms."]
    print(lines[-1])
    if chosen.first_seed:
        return
    before, _, rest = PAGE.read_text().partition(MARK)
    PAGE.write_text(before + MARK + "\n" + "\n".join(lines) + "\n\n" + END + rest.partition(END)[2])


if __name__ == "__main__":
    main()
