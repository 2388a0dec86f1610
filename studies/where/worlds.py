"""The worlds of the study: rows with five columns of a hundred values each, and what drifts."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import expit
from scipy.stats import norm

from monitor.base.segment_names import CROSSED
from monitor.days.summary import ColumnPart, Columns
from monitor.metrics.core.coarse import CENTRES, COARSE_COUNT, Coarse
from monitor.metrics.core.grid import Floats, Ints

COLUMNS, VALUES, ROWS = 5, 100, 60_000
PAIR = f"c0{CROSSED}c1"
PRIOR = -1.0  # of a usual day
SCORES = norm.pdf(CENTRES, -0.3, 1.2)
SCORES /= SCORES.sum()

Slopes = Callable[[Ints], Floats]  # of each row, given its values, shape (rows, columns)
Names = set[tuple[str, str]]


@dataclass(frozen=True)
class World:
    """What happens after the reference, and which values it happens to."""

    name: str
    slopes: Slopes
    off: Names
    everywhere: bool = False
    prior_sd: float = 0.4  # of the days' priors, in logit


def five(values: Ints) -> Floats:
    """Make one value of each column too extreme."""
    hit = np.zeros(len(values), bool)
    for column in range(COLUMNS):
        hit |= values[:, column] == 40 + column
    return np.where(hit, 0.6, 1.0)


def crossing(values: Ints) -> Floats:
    """Make a pair of frequent values too extreme."""
    return np.where((values[:, 0] == 0) & (values[:, 1] == 0), 0.4, 1.0)


WORLDS = (
    World("nothing changes", lambda v: np.ones(len(v)), set()),
    World(
        "nothing changes, one prior for all days", lambda v: np.ones(len(v)), set(), prior_sd=0.0
    ),
    World("5 of 500 values, slope 0.6", five, {(f"c{i}", f"v{40 + i}") for i in range(COLUMNS)}),
    World("one crossing, slope 0.4", crossing, {(PAIR, "v0 x v0")}),
    World("everywhere, slope 0.85", lambda v: np.full(len(v), 0.85), set(), everywhere=True),
)


@dataclass(frozen=True)
class Day:
    """The rows of a day: values of every column, the pair, score's place, and outcome."""

    values: Ints
    places: Ints
    hits: np.ndarray

    @property
    def columns(self) -> Columns:
        """The rows by the values of every column, and by the pairs of two."""
        found = {
            f"c{i}": count(self.places, self.hits, self.values[:, i], NAMES) for i in range(COLUMNS)
        }
        found[PAIR] = count(self.places, self.hits, pair_codes(self.values), PAIRS)
        return found

    @property
    def whole(self) -> Coarse:
        """All rows."""
        return Coarse(
            np.bincount(self.places, minlength=COARSE_COUNT),
            np.bincount(self.places[self.hits], minlength=COARSE_COUNT),
        )


NAMES = [f"v{v}" for v in range(VALUES)]
PAIRS = [
    f"v{a}{CROSSED}v{b}" if max(a, b) < 5 else f"{a}-{b} other" for a in range(6) for b in range(6)
]


def pair_codes(values: Ints) -> Ints:
    """Combine the first two columns: their five most frequent values, and the rest."""
    frequent = np.minimum(values[:, :2], 5)
    return np.asarray(frequent[:, 0] * 6 + frequent[:, 1])


def draw_day(rng: np.random.Generator, world: World, *, drifted: bool) -> Day:
    """Draw the rows of a day."""
    shares = 1.0 / (np.arange(VALUES) + 5.0)
    values = rng.choice(VALUES, (ROWS, COLUMNS), p=shares / shares.sum())
    places = rng.choice(COARSE_COUNT, ROWS, p=SCORES)
    prior = rng.normal(PRIOR, world.prior_sd)
    slopes = world.slopes(values) if drifted else np.ones(ROWS)
    return Day(values, places, rng.random(ROWS) < expit(slopes * CENTRES[places] + prior))


def count(places: Ints, hits: np.ndarray, codes: Ints, names: list[str]) -> dict[str, ColumnPart]:
    """Count rows by value and place."""
    size = len(names) * COARSE_COUNT
    keys = codes * COARSE_COUNT + places
    counts = np.bincount(keys, minlength=size).reshape(len(names), COARSE_COUNT)
    positives = np.bincount(keys[hits], minlength=size).reshape(len(names), COARSE_COUNT)
    found = {}
    for i, name in enumerate(names):
        cells = np.flatnonzero(counts[i])
        found[name] = ColumnPart(cells, counts[i, cells], positives[i, cells], int(counts[i].sum()))
    return found
