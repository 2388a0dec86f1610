"""The worlds in which the coverage of intervals is measured; see studies/coverage/run.py."""

from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq
from scipy.special import expit
from scipy.stats import norm

from monitor.metrics.core.tally import Tally

PREVALENCES, SIZES, SLOPES = (0.5, 0.05, 0.005), (1_000, 10_000, 100_000), (1.0, 0.8)
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class World:
    """Where samples come from: prevalence, slope of the true curve, and rows in a sample."""

    prevalence: float
    slope: float
    size: int


@dataclass(frozen=True, eq=False)
class Population:
    """Scores, how often each comes, and the true probability behind it; shape (m,) each."""

    scores: Floats
    shares: Floats
    truths: Floats


@cache
def population(world: World) -> Population:
    """Find the centre and the intercept that make both means the prevalence."""
    logits = np.arange(-16 * 64, 16 * 64) / 64

    def miss(centre: float) -> float:
        weights = norm.pdf(logits, centre, 1.2)
        return float((weights * expit(logits)).sum() / weights.sum() - world.prevalence)

    weights = norm.pdf(logits, brentq(miss, -12.0, 12.0), 1.2)
    kept = weights > 1e-9 * weights.sum()
    logits, shares = logits[kept], weights[kept] / weights[kept].sum()

    def off(intercept: float) -> float:
        return float((shares * expit(intercept + world.slope * logits)).sum() - world.prevalence)

    intercept = brentq(off, -12.0, 12.0) if world.slope != 1.0 else 0.0
    return Population(expit(logits), shares, expit(intercept + world.slope * logits))


def expected(p: Population) -> Tally:
    """Make a billion rows as the population has them, without chance."""
    counts = np.rint(p.shares * 1e9).astype(np.int64)
    ends = np.floor(np.cumsum(counts * p.truths) + 0.5).astype(np.int64)
    kept = counts > 0
    return Tally(p.scores[kept], counts[kept], np.diff(ends, prepend=0)[kept])


def sample(p: Population, size: int, rng: np.random.Generator) -> Tally:
    """Draw rows independently."""
    counts = rng.multinomial(size, p.shares)
    positives = rng.binomial(counts, p.truths)
    kept = counts > 0
    return Tally(p.scores[kept], counts[kept], positives[kept])


def key(world: World) -> str:
    """Name a world in the file of counts."""
    return f"{world.prevalence} {world.slope} {world.size}"
