"""How soon scores of single classes that broke are found, and how often sound ones are called so.

    python -m studies.classes.breaks [--streams 10] [--years 5] [--only WORD] [--write]
    python -m studies.classes.breaks --highest 3 [--streams 10] [--years 5] [--only WORD]

Logits of the scores are normal around the logarithms of the priors, so vectors are calibrated. A
break begins 12 days after a reference of 28; each class against the rest is judged alone.
"""

import argparse
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date, timedelta
from math import inf, log, log10
from statistics import median
from typing import NamedTuple

import numpy as np

from monitor.drift.classes.class_scores import ADJUSTED, fit_class_scores
from monitor.drift.classes.class_watch import Rest, advance_classes, decide_classes
from monitor.drift.records.detector import Incident, LevelWatch
from monitor.metrics.beyond_binary.class_pairs import adjusted_vectors
from monitor.metrics.beyond_binary.class_priors import fit_class_weights
from monitor.metrics.core.coarse import CELLS_IN_ONE, COARSE_COUNT, Coarse
from monitor.metrics.core.grid import Floats, Ints, locate
from studies.classes.run import page_with, rows_of

BEGIN = "<!-- studies/classes/breaks.py -->"
FIRST, SEED = date(2026, 1, 1), 51_000
REFERENCE, START, FOLLOWED, YEAR, MOST_BACK = 28, 12, 30, 365, 60
SPREAD, MEMORY, DRAWN = 1.2, 0.9, 4  # of logits, of what wanders; candidates for each row
LIMIT, LEAST = log10(1_000.0), (log(1.25), log(2.0))
Change = Callable[[np.random.Generator, Floats, Ints], tuple[Floats, Ints]]


class World(NamedTuple):
    """A model: its class priors, its rows a day, and the highest scores that are logged, or 0."""

    priors: tuple[float, ...]
    rows: int
    top: int = 0

    def __str__(self) -> str:
        logged = f", {self.top} highest logged" if self.top else ""
        return f"{len(self.priors)} classes, {self.rows:,} rows{logged}"


WORLDS = (
    World((0.5, 0.35, 0.15), 3_000),
    World((0.5, 0.4, 0.06, 0.04), 3_000),
    World((0.3, 0.2, 0.1, 0.1, 0.08, 0.06, 0.05, 0.04, 0.03, 0.02, 0.01, 0.01), 3_000),
)


class Moves(NamedTuple):
    """What moves in a sound stream: the spread of what wanders, and what jumps for 60 days."""

    priors: float = 0.0
    inputs: float = 0.0
    prior_jump: float = 0.0
    input_jump: float = 0.0
    gone: bool = False


SOUND: Mapping[str, Moves] = {
    "priors wander": Moves(priors=0.8),
    "priors wander, one class five times as frequent": Moves(priors=0.8, prior_jump=log(5.0)),
    "priors wander, one class no longer occurs": Moves(priors=0.8, gone=True),
    "inputs wander": Moves(inputs=0.5),
    "inputs wander, and jump by 1": Moves(inputs=0.5, input_jump=1.0),
    "priors and inputs wander": Moves(priors=0.3, inputs=0.3),
    "priors wander, inputs jump by 1": Moves(priors=0.3, input_jump=1.0),
    "inputs wander, one class five times as frequent": Moves(inputs=0.3, prior_jump=log(5.0)),
}


def _value(share: float) -> Change:
    def change(rng: np.random.Generator, p: Floats, y: Ints) -> tuple[Floats, Ints]:
        p[rng.random(len(p)) < share] = 1.0 / p.shape[1]
        return p, y

    return change


def _dropped(share: float, value: float = 0.0) -> Change:
    def change(rng: np.random.Generator, p: Floats, y: Ints) -> tuple[Floats, Ints]:
        p[rng.random(len(p)) < share, 0] = value
        return p, y

    return change


def _highest(number: int) -> Change:
    def change(_: np.random.Generator, p: Floats, y: Ints) -> tuple[Floats, Ints]:
        return only_highest(p, number), y

    return change


def only_highest(p: Floats, number: int) -> Floats:
    """Set all but the highest probabilities of each row to 0."""
    return np.where(p >= np.sort(p, axis=1)[:, [-number]], p, 0.0)


def _one_hot(rng: np.random.Generator, p: Floats, y: Ints) -> tuple[Floats, Ints]:
    chosen = rng.random(len(p)) < 0.2
    p[chosen] = p[chosen] == p[chosen].max(axis=1, keepdims=True)
    return p, y


def _clipped(_: np.random.Generator, p: Floats, y: Ints) -> tuple[Floats, Ints]:
    return p.clip(0.02, 0.8), y


def _swapped(_: np.random.Generator, p: Floats, y: Ints) -> tuple[Floats, Ints]:
    return p[:, [*range(p.shape[1] - 2), p.shape[1] - 1, p.shape[1] - 2]], y


def _relabelled(of: int, to: int, share: float) -> Change:
    def change(rng: np.random.Generator, p: Floats, y: Ints) -> tuple[Floats, Ints]:
        chosen = (y == of % p.shape[1]) & (rng.random(len(y)) < share)
        return p, np.where(chosen, to, y)

    return change


def _to_the_last(rng: np.random.Generator, p: Floats, y: Ints) -> tuple[Floats, Ints]:
    return p, np.where(rng.random(len(y)) < 0.03, p.shape[1] - 1, y)


def biased(size: float) -> Change:
    """Add to the logit of the scores of the second class."""

    def change(_: np.random.Generator, p: Floats, y: Ints) -> tuple[Floats, Ints]:
        p[:, 1] *= np.exp(size)
        return p, y

    return change


# Each with the classes that may be named, counted from the last one if below 0; none: any.
BREAKS: Mapping[str, tuple[Change, tuple[int, ...]]] = {
    "the first class is 0": (_dropped(1.0), (0,)),
    "the same for half of the rows": (_dropped(0.5), (0,)),
    "the same for a segment with 10 %": (_dropped(0.1), (0,)),
    "the first class is 1e-6": (_dropped(1.0, 1e-6), (0,)),
    "5 % uniform vectors": (_value(0.05), ()),
    "20 % uniform vectors": (_value(0.2), ()),
    "20 % one-hot vectors": (_one_hot, ()),
    "all but the two highest are 0": (_highest(2), ()),
    "all but the three highest are 0": (_highest(3), ()),
    "clipped to 0.02 to 0.8": (_clipped, ()),
    "the last two classes changed places": (_swapped, (-1, -2)),
    "half of the last class but one labelled as the first": (_relabelled(-2, 0, 0.5), (0, -2)),
    "3 % of all outcomes become the last class": (_to_the_last, (-1,)),
    "a fifth of the first class labelled as the second": (_relabelled(0, 1, 0.2), (0, 1)),
    "logit of the second class + 0.7": (biased(0.7), (1,)),
    "logit of the second class - 0.7": (biased(-0.7), (1,)),
    "logit of the second class + 1.5": (biased(1.5), (1,)),
}


def against_the_rest(vectors: Floats, labels: Ints, top: int = 0) -> Rest:
    """Count each class against the rest, as the daily job does, of the highest scores or all."""
    readings = {"": only_highest(vectors, top) if top else vectors}
    if not top:
        weights = fit_class_weights(lambda: [(vectors, labels)], vectors.shape[1])
        readings[ADJUSTED] = adjusted_vectors(vectors, weights)
    counted = dict[str, Coarse]()
    for begin, read in readings.items():
        cells = locate(read)[0] // CELLS_IN_ONE
        for k in range(vectors.shape[1]):
            counts, hits = (
                np.bincount(found, minlength=COARSE_COUNT)
                for found in (cells[:, k], cells[labels == k, k])
            )
            counted[f"{begin}class {k}"] = Coarse(counts, hits)
    return counted


def stream(
    world: World, moves: Moves, seed: int, change: Change | None = None
) -> Iterator[tuple[Floats, Ints]]:
    """Draw vectors and outcomes, the reference first, without an end."""
    rng, classes = np.random.default_rng(seed), len(world.priors)
    prior, inputs, t = np.zeros(classes), np.zeros(classes), -REFERENCE
    while True:
        steps = rng.normal(0.0, (1.0 - MEMORY**2) ** 0.5, (2, classes))
        prior = MEMORY * prior + moves.priors * steps[0]
        inputs = MEMORY * inputs + moves.inputs * steps[1]
        jumping, weights, centres = t > 0 and t // 60 % 2 == 1, prior.copy(), inputs.copy()
        weights[-1] += moves.prior_jump * jumping
        centres[0] += moves.input_jump * jumping
        weights[1] -= 50.0 * (moves.gone and jumping)
        vectors, labels = _rows(rng, world, weights, centres)
        if change and t >= START:
            vectors, labels = change(rng, vectors, labels)
            vectors = vectors / vectors.sum(axis=1, keepdims=True)
        yield vectors, labels
        t += 1


def _rows(
    rng: np.random.Generator, world: World, weights: Floats, centres: Floats
) -> tuple[Floats, Ints]:
    """Draw rows for some inputs, and keep as many of each class as its prior says."""
    number, classes = world.rows, len(world.priors)
    if weights.any():
        number *= DRAWN
    noise = rng.standard_normal((number, classes), np.float32)
    odds = np.exp(np.log(world.priors) + centres + SPREAD * noise)
    sums = odds.cumsum(axis=1)
    labels = (sums < rng.random((number, 1)) * sums[:, -1:]).sum(axis=1)
    vectors = odds / sums[:, -1:]
    if not weights.any():
        return vectors, labels
    keys = np.exp(-weights)[labels] * rng.standard_exponential(number)  # no row twice
    kept = np.argpartition(keys, world.rows)[: world.rows]
    return vectors[kept], labels[kept]


def follow(
    days: Iterator[tuple[Floats, Ints]], number: int, top: int = 0
) -> Iterator[tuple[int, Incident]]:
    """Follow the days after the reference; give incidents as they open, or name a second class."""
    rests = [against_the_rest(*next(days), top) for _ in range(REFERENCE)]
    reference, watch = fit_class_scores(rests, highest=bool(top)), LevelWatch()
    kept = deque[tuple[date, Rest]](maxlen=MOST_BACK)
    for t in range(number if reference else 0):
        today = FIRST + timedelta(days=t), against_the_rest(*next(days), top)
        kept.appendleft(today)
        before = watch.incident
        if reference:
            watch = advance_classes(watch, reference, *today)
            watch = decide_classes(
                *(watch, reference, today), enough=LIMIT, least=LEAST, back=kept.copy
            )
        known = before and (before.opened, before.other_class)
        if watch.incident and known != (watch.incident.opened, watch.incident.other_class):
            yield t, watch.incident


def _opened(found: tuple[int, Incident]) -> bool:
    """Say whether an incident opened on the day."""
    return found[1].opened == FIRST + timedelta(days=found[0])


def sound_row(name: str, years: int, worlds: Sequence[World] = WORLDS) -> str:
    """Count openings of a sound world, and what it was watched for."""
    cells = []
    for number, world in enumerate(worlds):
        found = [
            opened
            for seed in range(SEED + 100 * number, SEED + 100 * number + years)
            for opened in follow(stream(world, SOUND[name], seed), YEAR, world.top)
            if _opened(opened)
        ]
        pages = sum(incident.urgent for _, incident in found)
        cells.append(f"{len(found)}, {pages} in {years}")
    return f"| {name} | {' | '.join(cells)} |"


def broken_row(name: str, streams: int, worlds: Sequence[World] = WORLDS) -> str:
    """Count the days to the opening, and how often the class was named."""
    change, right = BREAKS[name]
    cells = []
    for number, world in enumerate(worlds):
        classes, both, found = len(world.priors), 0, list[tuple[int, Incident]]()
        names = {f"class {k % classes}" for k in right or range(classes)}
        for seed in range(SEED + 100 * number + 50, SEED + 100 * number + 50 + streams):
            opened = follow(stream(world, Moves(), seed, change), START + FOLLOWED, world.top)
            of_break = [one for one in opened if one[0] >= START]
            found += of_break[:1]
            both += any({of.of_class, of.other_class} == names for _, of in of_break)
        named = sum(incident.of_class in names for _, incident in found)
        of_both = f", {both} both" if len(right) > 1 else ""
        delays = [t - START + 1.0 for t, _ in found] + [inf] * (streams - len(found))
        middle = "never" if median(delays) == inf else f"{median(delays):g} days"
        cells.append(f"{middle}, {len(found)} of {streams}, {named} named{of_both}")
    return f"| {name} | {' | '.join(cells)} |"


def main() -> None:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--streams", type=int, default=10)
    parser.add_argument("--years", type=int, default=5, help="of each world and size")
    parser.add_argument("--only", default="", help="the other rows stay as the page has them")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--highest", type=int, default=0, help="so many scores of a row are logged")
    given = parser.parse_args()
    worlds, kept = WORLDS, {row.split(" | ")[0]: row for row in rows_of(BEGIN)}
    if given.highest:  # the page has the table of whole vectors
        worlds, kept = tuple(world._replace(top=given.highest) for world in WORLDS[1:]), {}
    heads = " | ".join(map(str, worlds))
    rows = [f"| sound: openings, pages in stream-years | {heads} |", "|---|" + "---|" * len(worlds)]
    for name in SOUND:
        rows += [sound_row(name, given.years, worlds)] if given.only in name else _kept(kept, name)
        print(rows[-1], flush=True)
    rows += ["", f"| break | {heads} |", "|---|" + "---|" * len(worlds)]
    for name in BREAKS:
        rows += (
            [broken_row(name, given.streams, worlds)] if given.only in name else _kept(kept, name)
        )
        print(rows[-1], flush=True)
    if given.write and not given.highest:
        page_with(BEGIN, rows)


def _kept(rows: Mapping[str, str], name: str) -> list[str]:
    """Give the row that the page has of a name that is not run, if it has one."""
    return [rows[f"| {name}"]] if f"| {name}" in rows else []


if __name__ == "__main__":
    main()
