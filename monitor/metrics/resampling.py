"""What a measure would say of a calibrated model: worlds resampled from the scores themselves."""

from dataclasses import dataclass
from math import exp, isinf

import numpy as np
from scipy.special import logit

from monitor.metrics.binning import pool
from monitor.metrics.compiled import compiled
from monitor.metrics.grid import Floats, Ints
from monitor.metrics.intercept import solve_intercept
from monitor.metrics.tally import Tally
from monitor.metrics.tce import count_rejected

QUANTILES = (0.05, 0.5, 0.95, 0.99)
ONE_BY_ONE = 32  # up to so many trials, single draws are faster than a binomial generator


@dataclass(frozen=True)
class NullReference:
    """TCE of a calibrated model with the same predictions.

    Attributes
    ----------
    mean : float
        Mean over the resampled worlds, a ratio in [0, 1].
    quantiles : tuple of float
        Its 5, 50, 95 and 99 % quantiles, ratios in [0, 1].
    """

    mean: float
    quantiles: tuple[float, float, float, float]


def tce_null_reference(
    t: Tally,
    *,
    min_size: int,
    max_size: int,
    alpha: float = 0.05,
    replicates: int = 100,
    rng: np.random.Generator,
) -> NullReference:
    """Find what TCE over PAVA-BC bins says of a perfectly calibrated model.

    Parameters
    ----------
    t : Tally
        At least one prediction; only its scores and counts are used. Give the scores that
        are taken for true, usually the prior-adjusted ones.
    min_size, max_size : int
        Bin sizes, as for `pava_bc`.
    alpha : float
        Level of the test inside TCE.
    replicates : int
        Number of resampled worlds.
    rng : numpy Generator
        Source of chance; the same seed gives the same result.

    Returns
    -------
    NullReference
        Ratios in [0, 1].

    Raises
    ------
    ValueError
        If the tally is empty.

    Notes
    -----
    In each world ``y* ~ Bernoulli(s)``; the intercept is fitted anew and forgiven, bins are
    found anew, and TCE is taken. TCE of a calibrated model has no fixed level: it depends on
    how many predictions there are and how their scores spread, so it is only read against
    this reference.

    Examples
    --------
    >>> from monitor.metrics.tally import tally
    >>> t = tally(np.linspace(0.1, 0.9, 400), np.zeros(400))
    >>> null = tce_null_reference(t, min_size=20, max_size=80, rng=np.random.default_rng(1))
    >>> 0 <= null.quantiles[0] <= null.mean <= null.quantiles[3] <= 1
    True
    """
    if not t.total:
        msg = "an empty tally has no null reference: give at least one prediction."
        raise ValueError(msg)
    logits = np.asarray(logit(t.scores))
    values = _null_values(
        rng, t.scores, logits, t.counts, min_size, max_size, alpha, np.empty(replicates)
    )
    low, middle, high, highest = np.quantile(values, QUANTILES).tolist()
    return NullReference(float(values.mean()), (low, middle, high, highest))


@compiled
def _null_values(
    rng: np.random.Generator,
    scores: Floats,
    logits: Floats,
    counts: Ints,
    min_size: int,
    max_size: int,
    alpha: float,
    values: Floats,
) -> Floats:
    """Fill `values` with the TCE of so many resampled worlds."""
    positives = np.empty(counts.size, np.int64)
    moved = np.empty(counts.size, np.float64)
    for replicate in range(values.size):
        for i in range(counts.size):
            if counts[i] > ONE_BY_ONE:
                positives[i] = rng.binomial(counts[i], scores[i])
            else:
                positives[i] = 0
                for _ in range(counts[i]):
                    positives[i] += rng.random() < scores[i]
        delta, _ = solve_intercept(logits, counts, positives)
        if isinf(delta):  # one class only: the refitted scores are all 0 or all 1, and right
            values[replicate] = 0.0
            continue
        for i in range(counts.size):
            moved[i] = 1.0 / (1.0 + exp(-(logits[i] + delta)))
        starts = pool(counts, positives, min_size, max_size, 0)
        rejected = count_rejected(moved, counts, positives, starts, alpha)
        values[replicate] = rejected.sum() / counts.sum()
    return values
