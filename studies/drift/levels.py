"""How soon scores that are off by a factor are found, and how often sound ones are called so.

    python -m studies.drift.levels               # minutes; writes its section of the page
    python -m studies.drift.levels --streams 2   # quicker, and rougher

Beside the level of the verdict, rules that people run on the same streams (`level_rivals`).
"""

import argparse
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from datetime import date, timedelta
from math import inf, log, log10

import numpy as np

from monitor.base.segment_names import WHOLE
from monitor.drift.curve.reference import Reference, fit_reference
from monitor.drift.fold.inputs import Limits, fit_model_reference
from monitor.drift.incidents.detecting import segment_limits
from monitor.drift.incidents.level_watch import advance_level, decide_level
from monitor.drift.records.detector import Incident, LevelWatch
from monitor.metrics.core.coarse import Coarse
from monitor.metrics.core.grid import Floats
from studies.drift import entity_worlds
from studies.drift.layout import publish
from studies.drift.level_rivals import Alarms, alarms
from studies.drift.shapes import centre, remembering, shares
from studies.drift.worlds import World, draw_day

BEGIN, END = "<!-- levels: studies/drift/levels.py -->", "<!-- end of levels -->"
SEGMENT = World(0.2, 300)  # one of four segments of a model, the smallest
WORLDS = (World(0.2, 1_000), World(0.025, 3_000), World(0.07, 20_000), World(0.2, 300), SEGMENT)
OTHERS = (World(0.2, 1_000), World(0.1, 3_000), World(0.05, 1_000))  # segments beside it
IN_SEGMENT = len(WORLDS) - 1
REFERENCE, YEAR, FOLLOWED, START = 28, 365, 60, 12  # days; a break begins START days after it
SPREAD = 0.3  # logit: sd of priors and of inputs that wander
CELLS = 32  # in a logit
SOON, WEEK = 2, 7  # days after a break
LIMIT, LEAST, LEAST_TO_PAGE = log10(1_000.0), log(1.25), log(2.0)
SEGMENT_FALSE_ALERT_DAYS = 365
USUAL_STEPS = (0.7, -0.7)  # logit: what CalibrationCUSUM looks for where nothing is wrong
FIRST = date(2026, 1, 1)


@dataclass(frozen=True)
class Moves:
    """What moves on each day, in logit; each of shape (days,)."""

    prior: Floats
    inputs: Floats
    bias: Floats
    lift: Floats
    flipped: float = 0.0
    lost: float = 0.0  # of the positive outcomes


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
    "5 % of the labels wrong": lambda r, n: Moves(
        _wandering(r, n), _still(n), _still(n), _still(n), 0.05
    ),
    "5 % of the positive labels lost": lambda r, n: Moves(
        _wandering(r, n), _still(n), _still(n), _still(n), 0.0, 0.05
    ),
}
# Rows of an entity hang together there, and the key `entity` is set.
ENTITIES = (
    *("panel of 3,000, 30 days", "panel, risks change", "customers, 3 % leave a day"),
    *("customers, 10 % leave a day", "campaigns of 14 days (5 %, 20k)"),
)


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
GRADUAL = "scores + 0.05 a day"
SIZE_OF = {f"scores {size:+.2g}": size for size in SIZES}
SIZE_OF |= {f"scores {size:+.2g}, priors wander": size for size in SIZES[1:5]}
BROKEN: dict[str, Drawn] = {
    **{name: _biased(size, wandering="wander" in name) for name, size in SIZE_OF.items()},
    GRADUAL: _gradual,
}
RULES = ("z_test", "ece", "page_hinkley", "calibration_cusum")


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
        hits = (
            day.positives - rng.binomial(day.positives, moves.lost) if moves.lost else day.positives
        )
        found.append(Coarse(np.roll(day.counts, cells), np.roll(hits, cells)))
    return found


@dataclass(frozen=True)
class Incidents:
    """The days after the reference on which a ticket and a page began."""

    ticket: list[int]
    page: list[int]

    def note(self, day: int, before: Incident | None, now: Incident | None) -> None:
        """Note what began on a day."""
        if now and (before is None or before.opened != now.opened):
            self.ticket.append(day)
        if now and now.urgent and not (before and before.urgent):
            self.page.append(day)


@dataclass(frozen=True)
class Found:
    """The days after the reference on which a ticket and a page began, and other rules alarmed.

    `rest` are the tickets of the other segments, which are sound.
    """

    ticket: list[int]
    page: list[int]
    rest: list[int]
    beside: Alarms


def follow(streams: Sequence[Sequence[Coarse]], references: Sequence[Reference]) -> list[Incidents]:
    """Follow the level of a whole, or of several segments of a model with the limits of these."""
    watches = [LevelWatch() for _ in streams]
    found = [Incidents([], []) for _ in streams]
    for t in range(len(streams[0]) - REFERENCE):
        on = FIRST + timedelta(days=t)
        before = [watch.incident for watch in watches]
        watches = [
            advance_level(watch, reference, on, {"all": days[REFERENCE + t]})
            for watch, reference, days in zip(watches, references, streams, strict=True)
        ]
        enough = [LIMIT]
        if len(watches) > 1:
            named = dict(zip(map(str, range(len(watches))), watches, strict=True))
            enough = [*segment_limits(named, SEGMENT_FALSE_ALERT_DAYS).values()]
        for i, (watch, reference) in enumerate(zip(watches, references, strict=True)):
            watches[i] = decide_level(
                *(watch, reference, on), enough=enough[i], least=(LEAST, LEAST_TO_PAGE)
            )
            found[i].note(t, before[i], watches[i].incident)
    return found


def _spells(days: Sequence[int], apart: int = 7) -> list[int]:
    """Count alarms within a week of another as one."""
    return [
        day for before, day in zip([-apart - 1, *days], days, strict=False) if day - before > apart
    ]


def _of_world(task: tuple[int, str, int]) -> list[Found]:
    size, name, streams = task
    number = [*SOUND, *BROKEN, *ENTITIES].index(name)
    seeds = np.random.SeedSequence([2026, number, size]).generate_state(streams)
    return [
        _of_entities(name, seed) if name in ENTITIES else _of(size, name, seed) for seed in seeds
    ]


def _of(size: int, name: str, seed: int) -> Found:
    """Follow a stream of a size: the whole of a model, or one of its segments."""
    drawn, days = (SOUND[name], YEAR) if name in SOUND else (BROKEN[name], FOLLOWED)
    total = REFERENCE + days
    streams = [draw(WORLDS[size], drawn, seed, total)]
    if size == IN_SEGMENT:
        calm = SOUND["priors wander"]
        streams += [draw(world, calm, seed + i, total) for i, world in enumerate(OTHERS, 1)]
    references = [
        fit_reference([{"all": day} for day in days[:REFERENCE]], noise=False) for days in streams
    ]
    own, *others = follow(streams, references)
    rest = sorted(day for other in others for day in other.ticket)
    steps = USUAL_STEPS if name in SOUND else (-_size(name),)
    return Found(own.ticket, own.page, rest, alarms(streams[0], REFERENCE, steps, seed))


def _of_entities(name: str, seed: int) -> Found:
    """Follow a sound stream whose rows hang together, with the key `entity`."""
    world = entity_worlds.WORLDS[name]
    days = list(entity_worlds.draw_days(world, seed, 1.0, 0, REFERENCE + YEAR))
    reference = fit_model_reference(days[:REFERENCE], Limits()).streams[WHOLE]
    assert isinstance(reference, Reference), name
    counts = [next(iter(day.parts.values())) for day in days]
    (own,) = follow([counts], [reference])
    return Found(own.ticket, own.page, [], alarms(counts, REFERENCE, USUAL_STEPS, seed))


def _size(name: str) -> float:
    """Give the size of a break, of one that grows where it is a ticket at last."""
    return 0.7 if name == GRADUAL else SIZE_OF[name]


def sound_row(name: str, found: Sequence[Sequence[Found]]) -> str:
    """Lay out how often a year each rule begins to alarm in a sound world, over all sizes."""
    every = [each for of_world in found for each in of_world]
    counts = [[len(each.ticket) for each in every], [len(each.page) for each in every]]
    counts += [[len(_spells(getattr(each.beside, rule))) for each in every] for rule in RULES]
    rates = [f"{np.mean(of_rule):.2f}" for of_rule in counts]
    worst = max(sum(len(each.ticket) for each in of_world) / len(of_world) for of_world in found)
    return f"| {name} | {rates[0]} | {worst:.2f} | {' | '.join(rates[1:])} |\n"


def broken_row(name: str, found: Sequence[Sequence[Found]]) -> str:
    """Lay out the days to the ticket and the page: median, and what 95 % are found by."""
    cells = []
    for of_world in found:
        days = [[_delay(of_rule) for of_rule in (each.ticket, each.page)] for each in of_world]
        cells += [_days(list(rule)) for rule in zip(*days, strict=True)]
    return f"| {name} | {' | '.join(cells)} |\n"


def beside_row(name: str, found: Sequence[Found]) -> str:
    """Lay out the days to the first alarm of each rule, and how many alarmed before the break."""
    rules = [[each.ticket for each in found]]
    rules += [[getattr(each.beside, rule) for each in found] for rule in RULES]
    cells = []
    for of_rule in rules:
        before = sum(min(days, default=START) < START for days in of_rule)
        cells.append(f"{_days([_delay(days) for days in of_rule])}; {before}")
    return f"| {name} | {' | '.join(cells)} |\n"


def _delay(days: Sequence[int]) -> float:
    return next((day - START + 1.0 for day in days if day >= START), inf)


def _days(delays: Sequence[float]) -> str:
    ranked = sorted(delays)
    ends = ranked[len(ranked) // 2], ranked[max(0, int(np.ceil(0.95 * len(ranked))) - 1)]
    return ", ".join("never" if day == inf else f"{day:.0f}" for day in ends)


HEAD = """\
After 28 days of reference {years} stream-years in each sound world ({streams} streams at each \
of {worlds}; {entity_streams} with entities, judged with the key). What wanders is an AR(1) of \
sd 0.3. Beside it: a z-test of the mean score at one in 1,000; ECE over mean + 3 sd; Page- \
Hinkley, and CalibrationCUSUM (Franck, Driscoll, Szajnfarber and Woodall, 2025) with the true \
size, both set to 1,000 days at a constant base rate, so that every shift of it is an alarm.

### Sound worlds: openings a stream-year

| world | tickets | of the worst size | pages | z-test | ECE | Page-Hinkley | CalibrationCUSUM |
|---|---|---|---|---|---|---|---|
"""
MIDDLE = """
### Broken worlds: days to the ticket and to the page

The median, and the day by which 95 % are found, of {streams} streams each; "never" is not \
within {followed} days. The three sound segments beside the broken one had {rest} tickets in \
{rest_years:.0f} stream-years. Where priors wander, errors of 1.5 are a page by day 2 in \
{fast:.0f} % of the streams and by day 7 in {later:.0f} %, errors of 0.7 a ticket by day 7 in \
{tickets:.0f} %: in most of the others the base rate moved against the error, so that the odds \
were hardly off meanwhile. A rule that paged all the same would rest on kappa alone, and page for \
inputs that jump.

| break, in log-odds | {heads} |
|---|{rule}
"""
BESIDE = """
### The same breaks, with what people run beside

At {world} rows: days to the first alarm (median, 95 %), and after the semicolon how many of the \
{streams} streams had an alarm in the {start} days after the reference before the break began.

| break, in log-odds | ticket | z-test | ECE | Page-Hinkley | CalibrationCUSUM, true size |
|---|---|---|---|---|---|
"""


def page(streams: int, workers: int) -> str:
    """Simulate everything, and write the section."""
    tasks = [(i, name, streams) for name in (*SOUND, *BROKEN) for i in range(len(WORLDS))]
    tasks += [(0, name, 4 * streams) for name in ENTITIES]
    with ProcessPoolExecutor(workers) as pool:
        found = dict(
            zip(((i, name) for i, name, _ in tasks), pool.map(_of_world, tasks), strict=True)
        )
    sizes = [*map(str, WORLDS[:IN_SEGMENT]), f"{SEGMENT} in a segment"]
    text = HEAD.format(
        years=streams * len(WORLDS),
        streams=streams,
        worlds=", ".join(sizes),
        entity_streams=4 * streams,
    )
    everywhere = {name: [found[i, name] for i in range(len(WORLDS))] for name in (*SOUND, *BROKEN)}
    text += "".join(sound_row(name, everywhere[name]) for name in SOUND)
    text += "".join(sound_row(name, [found[0, name]]) for name in ENTITIES)
    text += _broken(streams, sizes, everywhere)
    text += BESIDE.format(world=WORLDS[0], streams=streams, start=START)
    return text + "".join(beside_row(name, everywhere[name][0]) for name in BROKEN)


def _broken(
    streams: int, sizes: Sequence[str], found: Mapping[str, Sequence[Sequence[Found]]]
) -> str:
    in_segment = [each for name in BROKEN for each in found[name][IN_SEGMENT]]
    small, large = (
        [each for name in SIZE_OF if f"{size}, priors" in name for w in found[name] for each in w]
        for size in ("0.69", "1.5")
    )
    pages = np.array([_delay(each.page) for each in large])
    text = MIDDLE.format(
        streams=streams,
        followed=FOLLOWED - START,
        heads=" | ".join(f"{size}: ticket | page" for size in sizes),
        rule="---|" * 2 * len(WORLDS),
        rest=sum(len(each.rest) for each in in_segment),
        rest_years=len(in_segment) * len(OTHERS) * FOLLOWED / YEAR,
        fast=100.0 * (pages <= SOON).mean(),
        later=100.0 * (pages <= WEEK).mean(),
        tickets=100.0 * np.mean([_delay(each.ticket) <= WEEK for each in small]),
    )
    return text + "".join(broken_row(name, found[name]) for name in BROKEN)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--streams", type=int, default=10, help="of each world")
    parser.add_argument("--workers", type=int, default=1, help="processes")
    options = parser.parse_args()
    publish(page(options.streams, options.workers), BEGIN, END, write=True)
