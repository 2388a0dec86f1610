"""How soon a break at one place of the scores is found, and how often none is reported as one.

    python -m studies.drift.breaks [--streams 40] [--workers 1] [--seed 51000]
                                   [--sound] [--slopes]

A break begins 30 days after a reference of 28 days: a default score, scores that a rule
overwrites, a floor, a cap, test traffic. Logits of the scores are normal, mean -1.5 and sd 1.3, and
priors move as in `studies/drift/worlds.py`. With --sound it counts the openings a year of all
families together in the sound worlds of `studies/drift/scenarios.py` instead, of one stream each;
with --slopes it compares the delays of slopes with and without places.
"""

import argparse
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from itertools import islice
from statistics import median
from typing import NamedTuple

import numpy as np
from scipy.special import expit, logit
from scipy.stats import norm

from monitor.drift.curve.reference import Reference, fit_reference, what_a_reference_lacks
from monitor.metrics.core.coarse import CENTRES, COARSE_COUNT, Coarse
from monitor.metrics.core.grid import Floats
from studies.drift.parts import locate_logits
from studies.drift.rules import follow_detector
from studies.drift.scenario import YEAR
from studies.drift.scenarios import SCENARIOS
from studies.drift.shapes import draw_priors
from studies.drift.watch import Task, draw
from studies.drift.worlds import draw_day

FIRST_SEED = 51_000
REFERENCE, BEFORE, FOLLOWED = 28, 30, 90
MEAN, SPREAD, SHARE = -1.5, 1.3, 0.05
SIZES = (2_000, 300)
SLOPES = ("slope 0.8", "slope 0.9")
WEIGHTS = norm.pdf(CENTRES, MEAN, SPREAD)
SCORES = expit(CENTRES)
Change = Callable[[np.random.Generator, Coarse], Coarse]


def cell_of(score: float) -> int:
    """Find the coarse cell of a score; 0 and 1 are in the outermost ones."""
    inside = np.clip(score, 1e-12, 1.0 - 1e-12)
    return int(locate_logits(np.array([logit(inside)]))[0])


def rerouted(shares: Floats | float, score: float) -> Change:
    """Give shares of the rows of each cell another score; their outcomes stay what they are."""
    share, cell = np.broadcast_to(shares, CENTRES.shape), cell_of(score)

    def change(rng: np.random.Generator, day: Coarse) -> Coarse:
        hits = rng.binomial(day.positives, share)
        misses = rng.binomial(day.counts - day.positives, share)
        counts, positives = day.counts - hits - misses, day.positives - hits
        counts[cell] += hits.sum() + misses.sum()
        positives[cell] += hits.sum()
        return Coarse(counts, positives)

    return change


def bots(mean: float, spread: float) -> Change:
    """Add rows that never come true, around one score."""

    def change(rng: np.random.Generator, day: Coarse) -> Coarse:
        number = int(SHARE * day.counts.sum())
        cells = locate_logits(rng.normal(mean, spread, number))
        return Coarse(day.counts + np.bincount(cells, minlength=COARSE_COUNT), day.positives)

    return change


def unchanged(_: np.random.Generator, day: Coarse) -> Coarse:
    """Leave a day as it is."""
    return day


BREAKS: Mapping[str, Change] = {
    **{
        f"{100 * share:g} % of the rows get the score {score:g}": rerouted(share, score)
        for score in (0.0, 1.0, 0.5)
        for share in (0.05, 0.01)
    },
    "scores from 0.3 to 0.5 become 0.9": rerouted(((SCORES > 0.3) & (SCORES < 0.5)) * 1.0, 0.9),
    "no score below 0.15": rerouted((SCORES < 0.15) * 1.0, 0.15),
    "no score above 0.5": rerouted((SCORES > 0.5) * 1.0, 0.5),
    "5 % bots around 0.73": bots(1.0, 0.3),
    "5 % bots around 0.38": bots(-0.5, 0.2),
    "none": unchanged,
}


class Stream(NamedTuple):
    """A stream to watch: what happens in it, its size or world, its seed."""

    name: str
    size: int
    seed: int


def days_of(of: Stream) -> Iterator[dict[str, Coarse]]:
    """Draw the days of a stream with a break."""
    rng = np.random.default_rng([of.seed, of.size, [*BREAKS].index(of.name)])
    total = REFERENCE + BEFORE + FOLLOWED
    priors = draw_priors(rng, REFERENCE, total - REFERENCE)
    for t in range(total):
        day = draw_day(rng, WEIGHTS, of.size, priors[t], 0.0)
        yield {"all": BREAKS[of.name](rng, day) if t >= REFERENCE + BEFORE else day}


def delay(of: Stream) -> int | None:
    """Count the days to the first opening since a break began; None if there is none."""
    days = days_of(of)
    reference = fit_reference([*islice(days, REFERENCE)], regions=True)
    openings = [found.day - BEFORE + 1 for found in follow_detector(reference, days)]
    return next((day for day in openings if day > 0), None)


def sound(of: Stream) -> int | None:
    """Count the openings of the first year of a sound stream; None without a reference."""
    days = iter(draw(SCENARIOS[of.name], Task(of.name, "sound", of.seed)))
    length, judged = SCENARIOS[of.name].eras[0]
    first = [*islice(days, length)]
    if what_a_reference_lacks(first):
        return None
    watched = islice(days, min(judged, YEAR))
    return len(follow_detector(fit_reference(first, regions=True), watched))


def slopes(of: Stream) -> tuple[int, int] | None:
    """Count the days to a changed slope with places and without."""
    scenario, name = next((s, n) for n, s in SCENARIOS.items() if n == of.name.partition(" | ")[0])
    drift = of.name.partition(" | ")[2]
    days = [*draw(scenario, Task(name, drift, of.seed))]
    first, rest = days[: scenario.eras[0][0]], days[scenario.eras[0][0] :]
    if what_a_reference_lacks(first):
        return None

    def found(reference: Reference) -> int:
        openings = [o.day - scenario.start + 1 for o in follow_detector(reference, rest)]
        return next((day for day in openings if day > 0), scenario.followed)

    with_places = fit_reference(first, regions=True)
    return found(with_places), found(fit_reference(first))


def main() -> None:
    """Watch all streams and print a line for each kind."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--streams", type=int, default=40)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--seed", type=int, default=FIRST_SEED, help="of the first stream")
    parser.add_argument("--sound", action="store_true")
    parser.add_argument("--slopes", action="store_true")
    parser.add_argument("--only", default="", help="part of the names")
    given = parser.parse_args()
    worlds = [n for n, s in SCENARIOS.items() if s.sound and not s.apart and s.eras[0][1] >= YEAR]
    names = worlds if given.sound else [*BREAKS]
    if given.slopes:
        clean = [n for n in worlds if SCENARIOS[n].group == "clean"]
        names = [f"{name} | {drift}" for name in clean for drift in SLOPES]
    watch = sound if given.sound else slopes if given.slopes else delay
    sizes = (0,) if given.sound or given.slopes else SIZES
    seeds = range(given.seed, given.seed + given.streams)
    with ProcessPoolExecutor(given.workers) as processes:
        for size in sizes:
            for name in (name for name in names if given.only in name):
                found = [*processes.map(watch, [Stream(name, size, seed) for seed in seeds])]
                print(size or "", name, told(found), sep=" | ", flush=True)


def told(found: list[int | None] | list[tuple[int, int] | None]) -> str:
    """Lay out what was found: numbers that add up, delays, or pairs of them."""
    known = [each for each in found if each is not None]
    pairs = [each for each in known if isinstance(each, tuple)]
    if pairs:
        with_places, without = zip(*pairs, strict=True)
        return f"median {median(with_places):g} with places, {median(without):g} without"
    numbers = [each for each in known if isinstance(each, int)]
    middle = median([each if isinstance(each, int) else FOLLOWED for each in found])
    return f"{len(numbers)} of {len(found)}; sum {sum(numbers)}; median {middle:g}; {numbers}"


if __name__ == "__main__":
    main()
