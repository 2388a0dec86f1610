"""What other programs recorded: their samples, their bins, their values.

The files are in `tests/golden`, whose README says where each comes from; the largest two are
compressed.
"""

import json
import lzma
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import expit
from scipy.stats import bernoulli, norm

from monitor.metrics.binned.binning import Bins
from monitor.metrics.core.grid import Floats, Ints
from monitor.metrics.core.tally import Tally
from tests.support.paths import GOLDEN


def read_golden(name: str) -> Any:
    """Read a file of `tests/golden`, given without its ending."""
    plain, compressed = GOLDEN / f"{name}.json", GOLDEN / f"{name}.json.xz"
    if plain.exists():
        return json.loads(plain.read_bytes())
    return json.loads(lzma.decompress(compressed.read_bytes()))


def gaussian(train: float, test: float) -> tuple[Floats, Ints, Floats, Ints]:
    """Draw the paper's Gaussian features and outcomes [TCE, section 4.1]: train, then test."""
    np.random.seed(0)  # noqa: NPY002 - the published stream is the legacy one, frozen by numpy
    train_outcomes = bernoulli.rvs(train, size=14_000)
    outcomes = bernoulli.rvs(test, size=6_000)
    train_x = norm.rvs(loc=0.5 * (2 * train_outcomes - 1), scale=2, size=14_000)
    x = norm.rvs(loc=0.5 * (2 * outcomes - 1), scale=2, size=6_000)
    return train_x, train_outcomes, x, outcomes


def gaussian_scores(recipe: dict[str, float]) -> tuple[Floats, Ints]:
    """Score the paper's test data with its logistic model, whose coefficients are recorded."""
    *_, x, outcomes = gaussian(recipe["train"], recipe["test"])
    return np.round(expit(recipe["intercept"] + recipe["slope"] * x), 10), outcomes


def bins_at(t: Tally, starts: npt.ArrayLike) -> Bins:
    """Cut a tally at the given groups, however another program found them."""
    cuts = np.unique(np.append(starts, t.scores.size))
    first = cuts[:-1]
    return Bins(
        cuts,
        np.add.reduceat(t.counts, first),
        np.add.reduceat(t.positives, first),
        np.add.reduceat(t.counts * t.scores, first),
    )


def bins_above(t: Tally, edges: npt.ArrayLike) -> Bins:
    """Cut above edges: a score at an edge is below it, and one not above the first is in no bin."""
    return bins_at(t, np.searchsorted(t.scores, edges, side="right"))


def paper_quantile_bins(t: Tally, n: int) -> Bins:
    """Cut untied predictions where the published program does: a product of floats, cut off.

    Now and then it is one row before our exact ``i N // n``.
    """
    assert t.scores.size == t.total
    return bins_at(t, (np.linspace(0, 1, n + 1)[:-1] * t.total).astype(int))
