"""The engine of the rougher worlds: days made of parts, each with scores and a curve of its own.

A part lists the scores that can occur, anywhere inside their cells, with how often they do and the
true log-odds of an outcome. The detector sees only counts by cell, all parts in one.
Priors and volumes move as in `studies/drift/shapes.py`, and drifts are those of `worlds.py`.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from monitor.metrics.core.coarse import CELLS_IN_ONE, CENTRES, COARSE_COUNT, Coarse
from monitor.metrics.core.grid import CELLS_PER_LOGIT, LOGIT_LIMIT, Floats, Ints
from studies.drift.shapes import draw_priors, draw_volumes
from studies.drift.worlds import Truth, World, grown, whole_drift

SMALLEST_CLUSTER, LARGEST_CLUSTER = 10, 50


@dataclass(frozen=True, eq=False)
class Part:
    """Predictions of one day before chance.

    Attributes
    ----------
    cells : ndarray of shape (m,)
        Coarse cell of each score that can occur.
    shares : ndarray of shape (m,)
        How often it occurs, relative to the others; the sum is the part's share of the day.
    curve : ndarray of shape (m,)
        Log-odds of an outcome at each score, while the prior is as in training.
    shift : float
        What is added to the log-odds of the day's prior in this part.
    correlation : float
        Of two outcomes in one cluster of rows with the same score; 0 if there are no clusters.
    """

    cells: Ints
    shares: Floats
    curve: Floats
    shift: float = 0.0
    correlation: float = 0.0


Days = Callable[[int], Sequence[Part]]  # of a day, counted from the first of the reference
Rough = Callable[[np.random.Generator, World, int, int], Days]  # reference and all days


def locate_logits(logits: Floats) -> Ints:
    """Find the coarse cells of scores given by their logits."""
    cells = np.floor((logits + LOGIT_LIMIT) * CELLS_PER_LOGIT / CELLS_IN_ONE).astype(np.int64)
    return np.asarray(np.clip(cells, 0, COARSE_COUNT - 1))


def rough_stream(
    rough: Rough,
    world: World,
    truth: Truth,
    seed: int,
    *,
    reference: int = 28,
    days: int = 365,
    start: int = 0,
) -> Iterator[dict[str, Coarse]]:
    """Draw the days of a rougher world; arguments as those of `studies.drift.worlds.stream`."""
    rng = np.random.default_rng([seed, world.rows, round(world.prevalence * 10_000), 1])
    total = reference + days
    volumes = draw_volumes(rng, total) * world.rows
    priors = draw_priors(rng, reference, days)
    parts_of = rough(rng, world, reference, total)
    drift = whole_drift(world, truth)
    for t in range(total):
        share = grown(truth, t - reference - start)
        counts, positives = np.zeros(COARSE_COUNT), np.zeros(COARSE_COUNT)
        for part in parts_of(t):
            moved = np.interp(part.curve, CENTRES, share * drift) if share else 0.0
            n, right = expect(part, volumes[t], priors[t], moved)
            drawn, hits = _draw(rng, n, right + share * truth.flipped * (1 - 2 * right), part)
            counts += np.bincount(part.cells, drawn, COARSE_COUNT)
            positives += np.bincount(part.cells, hits, COARSE_COUNT)
        yield {"all": Coarse(counts.astype(np.int64), positives.astype(np.int64))}


def expect(part: Part, rows: float, prior: float, drift: Floats | float) -> tuple[Floats, Floats]:
    """Give the mean number of rows at each score, and the probability of an outcome there.

    As in `studies.drift.worlds.draw_day`: the scores given the outcome stay under a prior shift.
    """
    odds = prior + part.shift
    moved = part.shares * (1.0 + np.expm1(odds) * expit(part.curve))
    right = expit(part.curve + odds + drift)
    return rows * part.shares.sum() * moved / moved.sum(), np.asarray(right)


def _draw(
    rng: np.random.Generator, expected: Floats, right: Floats, part: Part
) -> tuple[Ints, Ints]:
    if not part.correlation:
        counts = rng.poisson(expected)
        return counts, rng.binomial(counts, right)
    return draw_clusters(rng, expected, right, part.correlation)


def draw_clusters(
    rng: np.random.Generator, expected: Floats, right: Floats, correlation: float
) -> tuple[Ints, Ints]:
    """Draw clusters of 10 to 50 rows with one score; a beta-binomial number has the outcome."""
    middle = (SMALLEST_CLUSTER + LARGEST_CLUSTER) / 2
    places = np.repeat(np.arange(expected.size), rng.poisson(expected / middle))
    sizes = rng.integers(SMALLEST_CLUSTER, LARGEST_CLUSTER, places.size, endpoint=True)
    strength = 1.0 / correlation - 1.0
    p = rng.beta(right[places] * strength, (1.0 - right[places]) * strength)
    hits = rng.binomial(sizes, p)
    counts = np.bincount(places, sizes, expected.size).astype(np.int64)
    return counts, np.bincount(places, hits, expected.size).astype(np.int64)
