"""How soon scores that are off by a factor are found, and how often sound ones are called so.

    python -m studies.drift.levels               # minutes; writes docs/level-simulations.md
    python -m studies.drift.levels --streams 2   # quicker, and rougher

Beside the level of the verdict, three rules that people run on the same streams.
"""

import argparse
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from datetime import date, timedelta
from math import inf, log, log10
from pathlib import Path

import numpy as np
from scipy.special import expit

from monitor.drift.detector import LevelWatch
from monitor.drift.level_watch import advance_level, decide_level
from monitor.drift.reference import fit_reference
from monitor.metrics.core.coarse import CENTRES, Coarse
from monitor.metrics.core.grid import Floats
from studies.drift.shapes import centre, remembering, shares
from studies.drift.worlds import World, draw_day

PAGE = Path(__file__).parents[2] / "docs" / "level-simulations.md"
WORLDS = (World(0.2, 1_000), World(0.025, 3_000), World(0.07, 20_000), World(0.2, 300))
REFERENCE, YEAR, FOLLOWED, START = 28, 365, 60, 12  # days; a break begins START days after it
SPREAD = 0.3  # logit: sd of priors and of inputs that wander
CELLS = 32  # in a logit
LIMIT, LEAST, LEAST_TO_PAGE = log10(1_000.0), log(1.25), log(2.0)
FIRST = date(2026, 1, 1)


@dataclass(frozen=True)
class Moves:
    """What moves on each day, in logit; each of shape (days,)."""

    prior: Floats
    inputs: Floats
    bias: Floats
    lift: Floats
    flipped: float = 0.0


Drawn = Callable[[np.random.Generator, int], Moves]


def _still(days: int) -> Floats:
    return np.zeros(days)


def _wandering(rng: np.random.Generator, days: int) -> Floats:
    return np.asarray(SPREAD * remembering(rng, days))


def _from(days: int, size: float, first: int = REFERENCE + START) -> Floats:
    return np.where(np.arange(days) >= first, size, 0.0)


def _jumping(days: int, size: float, length: int) -> Floats:
    """Move up and back every so many days after the reference."""
    after = np.arange(days) - REFERENCE
    return np.where((after > 0) & (after // length % 2 == 1), size, 0.0)


SOUND: dict[str, Drawn] = {
    "priors wander": lambda r, n: Moves(_wandering(r, n), _still(n), _still(n), _still(n)),
    "priors wander, and jump by 1.5": lambda r, n: Moves(
        _wandering(r, n) + _jumping(n, r.choice([-1.5, 1.5]), 30), _still(n), _still(n), _still(n)
    ),
    "inputs wander": lambda r, n: Moves(_still(n), _wandering(r, n), _still(n), _still(n)),
    "inputs jump by 1": lambda r, n: Moves(
        _still(n), _from(n, r.choice([-1.0, 1.0])), _still(n), _still(n)
    ),
    "priors and inputs wander": lambda r, n: Moves(
        _wandering(r, n), _wandering(r, n), _still(n), _still(n)
    ),
    "priors wander, inputs jump by 1 for good": lambda r, n: Moves(
        _wandering(r, n), _from(n, r.choice([-1.0, 1.0])), _still(n), _still(n)
    ),
    "both wander, inputs jump by 1": lambda r, n: Moves(
        _wandering(r, n),
        _wandering(r, n) + _jumping(n, r.choice([-1.0, 1.0]), 40),
        _still(n),
        _still(n),
    ),
    "curve lifted by 0.7": lambda r, n: Moves(
        _wandering(r, n), _still(n), _still(n), _from(n, r.choice([-0.7, 0.7]))
    ),
    "2 % of the labels wrong": lambda r, n: Moves(
        _wandering(r, n), _still(n), _still(n), _still(n), 0.02
    ),
}


def _biased(size: float, *, wandering: bool) -> Drawn:
    """Add to the log-odds of every score; the priors wander, or stay."""

    def draw(rng: np.random.Generator, days: int) -> Moves:
        prior = _wandering(rng, days) if wandering else _still(days)
        return Moves(prior, _still(days), _from(days, size), _still(days))

    return draw


def _gradual(_: np.random.Generator, days: int) -> Moves:
    grown = 0.05 * np.clip(np.arange(days) - REFERENCE - START + 1, 0, 50)
    return Moves(_still(days), _still(days), grown, _still(days))


SIZES = (0.34375, 0.6875, -0.6875, 1.5, -1.5, 3.875)  # whole cells
BROKEN: dict[str, Drawn] = {
    **{f"scores {size:+.2g}": _biased(size, wandering=False) for size in SIZES},
    **{f"scores {size:+.2g}, priors wander": _biased(size, wandering=True) for size in SIZES[1:5]},
    "scores + 0.05 a day": _gradual,
}


def draw(world: World, drawn: Drawn, seed: int, days: int) -> list[Coarse]:
    """Draw the days of a stream, the reference first."""
    rng = np.random.default_rng(seed)
    moves, found = drawn(rng, days), []
    for t in range(days):
        day = draw_day(
            *(rng, shares(centre(world.prevalence) + moves.inputs[t]), world.rows),
            *(moves.prior[t], moves.lift[t]),
            flipped=moves.flipped,
        )
        cells = round(CELLS * float(moves.bias[t]))
        found.append(Coarse(np.roll(day.counts, cells), np.roll(day.positives, cells)))
    return found


@dataclass(frozen=True)
class Found:
    """The days after the reference on which each rule began to say that the level is off."""

    ticket: list[int]
    page: list[int]
    z_test: list[int]
    ece: list[int]
    cusum: list[int]


def follow(days: Sequence[Coarse]) -> Found:
    """Follow the level of a stream, and the three rules beside it."""
    reference = fit_reference([{"all": day} for day in days[:REFERENCE]], noise=False)
    watch, tickets, pages = LevelWatch(), list[int](), list[int]()
    for t, day in enumerate(days[REFERENCE:]):
        before, on = watch.incident, FIRST + timedelta(days=t)
        watch = advance_level(watch, reference, on, {"all": day})
        watch = decide_level(
            *(watch, reference, on),
            enough=LIMIT,
            least=LEAST,
            least_to_page=LEAST_TO_PAGE,
        )
        now = watch.incident
        if now and (before is None or before.opened != now.opened):
            tickets.append(t)
        if now and now.urgent and not (before and before.urgent):
            pages.append(t)
    return Found(tickets, pages, *map(_spells, _beside(days)))


def _beside(days: Sequence[Coarse]) -> Iterator[list[int]]:
    """Alarm by a z-test of the mean score, by ECE, and by a CUSUM for odds that double or halve."""
    p = expit(CENTRES)
    z, ece = (np.array([of(day, p) for day in days]) for of in (_z, _ece))
    own = ece[:REFERENCE]
    yield [int(t) for t in np.flatnonzero(abs(z[REFERENCE:]) > 3.29)]
    yield [int(t) for t in np.flatnonzero(ece[REFERENCE:] > own.mean() + 3.0 * own.std())]
    yield _cusum(days[REFERENCE:], p)


def _z(day: Coarse, p: Floats) -> float:
    spread = float((day.counts * p * (1.0 - p)).sum())
    return float((day.positives - day.counts * p).sum()) / spread**0.5


def _ece(day: Coarse, p: Floats) -> float:
    bins = np.minimum((10 * p).astype(int), 9)
    gaps = np.bincount(bins, day.positives - day.counts * p, 10)
    return float(abs(gaps).sum() / day.counts.sum())


def _cusum(days: Sequence[Coarse], p: Floats) -> list[int]:
    alarms = []
    for step in (log(2.0), -log(2.0)):
        other, total = expit(CENTRES + step), 0.0
        gains = np.log(other / p), np.log((1.0 - other) / (1.0 - p))
        for t, day in enumerate(days):
            gain = day.positives @ gains[0] + (day.counts - day.positives) @ gains[1]
            total = max(0.0, total + float(gain))
            if total >= log(2_000.0):
                alarms.append(t)
                total = 0.0
    return sorted(alarms)


def _spells(days: Sequence[int], apart: int = 7) -> list[int]:
    """Count alarms within a week of another as one."""
    return [
        day for before, day in zip([-apart - 1, *days], days, strict=False) if day - before > apart
    ]


def _of_world(task: tuple[World, str, int]) -> list[Found]:
    world, name, streams = task
    drawn, days = (SOUND[name], YEAR) if name in SOUND else (BROKEN[name], FOLLOWED)
    number = [*SOUND, *BROKEN].index(name)
    return [
        follow(draw(world, drawn, seed, REFERENCE + days))
        for seed in np.random.SeedSequence([2026, number, world.rows]).generate_state(streams)
    ]


def sound_row(name: str, found: Sequence[Sequence[Found]]) -> str:
    """Lay out how often a year each rule begins to alarm in a sound world, over all sizes."""
    every = [each for of_world in found for each in of_world]
    rates = [
        f"{sum(len(getattr(each, rule)) for each in every) / len(every):.2f}"
        for rule in ("ticket", "page", "z_test", "ece", "cusum")
    ]
    worst = max(sum(len(each.ticket) for each in of_world) / len(of_world) for of_world in found)
    return f"| {name} | {rates[0]} | {worst:.2f} | {' | '.join(rates[1:])} |\n"


def broken_row(name: str, found: Sequence[Sequence[Found]]) -> str:
    """Lay out the days to the ticket and the page: median, and what 95 % are found by."""
    cells = []
    for of_world in found:
        days = [[_delay(of_rule) for of_rule in (each.ticket, each.page)] for each in of_world]
        cells += [_days(list(rule)) for rule in zip(*days, strict=True)]
    return f"| {name} | {' | '.join(cells)} |\n"


def _delay(days: Sequence[int]) -> float:
    return next((day - START + 1.0 for day in days if day >= START), inf)


def _days(delays: Sequence[float]) -> str:
    ranked = sorted(delays)
    ends = ranked[len(ranked) // 2], ranked[max(0, int(np.ceil(0.95 * len(ranked))) - 1)]
    return ", ".join("never" if day == inf else f"{day:.0f}" for day in ends)


HEAD = """# Levels in simulated streams

How soon is a model found whose scores are off by a factor, and how often is a sound one called \
so? `python -m studies.drift.levels` writes this page; \
[Drift](drift.md#for-the-statistician) says how it works.

Reference 28 days, then {years} stream-years in each sound world ({streams} streams at each of \
{worlds}). Priors and inputs that wander are AR(1) with memory 0.9 and sd 0.3 in log-odds. \
Beside the level, on the same streams: a z-test of the mean score against the outcomes at one in \
1,000, ECE of a day over its mean in the reference plus three standard deviations, and a CUSUM \
of the likelihood ratio for odds that double or halve. Alarms within a week count once.

## Sound worlds: openings a stream-year

| world | tickets | of the worst size | pages | z-test | ECE | CUSUM |
|---|---|---|---|---|---|---|
"""
MIDDLE = """
The rules beside it take every shift of the base rate for a broken model. After inputs have \
jumped while the base rate goes on wandering, a few tickets cannot be told from errors of the \
level: with the inputs where they are, the scores *are* off whenever the base rate moves the \
other way.

## Broken worlds: days to the ticket and to the page

The median, and the day by which 95 % are found, of {streams} streams each; "never" is not \
within {followed} days. The prior is steady unless the row says that it wanders: then the level \
of a day is right by chance when the prior makes up for the bias.

| break, in log-odds | {heads} |
|---|{rule}
"""


def page(streams: int) -> str:
    """Simulate everything, and write the page."""
    sizes = ", ".join(map(str, WORLDS))
    tasks = [(world, name, streams) for name in (*SOUND, *BROKEN) for world in WORLDS]
    with ProcessPoolExecutor() as pool:
        found = list(pool.map(_of_world, tasks))
    by_name = {
        name: found[i * len(WORLDS) : (i + 1) * len(WORLDS)]
        for i, name in enumerate((*SOUND, *BROKEN))
    }
    text = HEAD.format(years=streams * len(WORLDS), streams=streams, worlds=sizes)
    text += "".join(sound_row(name, by_name[name]) for name in SOUND)
    heads = " | ".join(f"{world}: ticket | page" for world in WORLDS)
    text += MIDDLE.format(
        streams=streams, followed=FOLLOWED - START, heads=heads, rule="---|" * 2 * len(WORLDS)
    )
    return text + "".join(broken_row(name, by_name[name]) for name in BROKEN)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--streams", type=int, default=10, help="of each world")
    PAGE.write_text(page(parser.parse_args().streams), encoding="utf-8")
