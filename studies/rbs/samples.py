"""Samples of two simulated models: mean levels of estimators, and of improvements, by size.

Logits of scores are normal (mean -1, sd 1.5), rounded to 1/32, and the true logit is `slope`
times the model's. So a sample is a multinomial draw of a few hundred groups, and true errors
are finite sums.
"""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from math import sqrt

import numpy as np
import numpy.typing as npt
from scipy.special import expit, logit, rel_entr
from scipy.stats import norm

from monitor.metrics.binned.binning import Bins, monitor_sizes, pava_bc, quantile_bins, uniform_bins
from monitor.metrics.binned.ece import debiased_mean_squared_gap, ece, mean_squared_gap
from monitor.metrics.core.tally import Tally, shift
from monitor.metrics.logistic.intercept import fit_intercept
from monitor.metrics.scores.bounds import improvement
from monitor.metrics.scores.brier import brier, rbs
from monitor.metrics.scores.corp import corp
from monitor.metrics.smooth.cumulative import cumulative_differences
from monitor.metrics.smooth.skce import skce
from monitor.metrics.smooth.smooth_ece import smooth_ece

Floats = npt.NDArray[np.float64]
Means = dict[str, dict[int, tuple[float, float]]]  # of a name at a size: mean and its error

SIZES = (100, 316, 1_000, 3_162, 10_000, 31_623, 100_000)
SLOPE = 0.6
CURVES = {"calibrated": 1.0, "too extreme, slope 0.6": SLOPE}
TEMPERATURE, BANDWIDTH = 1.4, 0.2


@dataclass(frozen=True, eq=False)
class Population:
    """Scores, their frequencies and the true probabilities; shape (m,) each."""

    scores: Floats
    shares: Floats
    truths: Floats


@cache
def population(slope: float) -> Population:
    """Lay out a model whose logits are `1 / slope` times too far from 0."""
    logits = np.arange(-8 * 32, 6 * 32 + 1) / 32
    weights = norm.pdf(logits, -1.0, 1.5)
    return Population(expit(logits), weights / weights.sum(), expit(slope * logits))


def sample(p: Population, size: int, rng: np.random.Generator) -> Tally:
    """Draw rows independently."""
    counts = rng.multinomial(size, p.shares)
    positives = rng.binomial(counts, p.truths)
    kept = counts > 0
    return Tally(p.scores[kept], counts[kept], positives[kept])


def infinite_sample(p: Population) -> Tally:
    """Return the tally of a billion rows without random error: the limit of the estimators."""
    counts = np.rint(p.shares * 1e9).astype(np.int64)
    ends = np.rint(np.cumsum(counts * p.truths)).astype(np.int64)
    return Tally(p.scores, counts, np.diff(ends, prepend=0))


def average(
    p: Population, measures: dict[str, Callable[[Tally], float]], most: int, seed: int
) -> Means:
    """Average measures over samples of every size: `most` samples of the smallest, then fewer."""
    found: Means = defaultdict(dict)
    for size in SIZES:
        rng = np.random.default_rng([2022, seed, size])
        draws = [sample(p, size, rng) for _ in range(max(20, int(most * sqrt(SIZES[0] / size))))]
        for name, measure in measures.items():
            values = np.array([measure(t) for t in draws])
            found[name][size] = (values.mean(), values.std(ddof=1) / sqrt(values.size))
    return found


def our_bins(t: Tally) -> Bins:
    """Cut PAVA-BC bins of the monitor's sizes."""
    smallest, largest = monitor_sizes(t.total)
    return pava_bc(t, min_size=smallest, max_size=largest)


# All but the last three are in units of probability.
ESTIMATORS: dict[str, Callable[[Tally], float]] = {
    "RBS": rbs,
    "L2 error, 100 uniform bins": lambda t: sqrt(mean_squared_gap(uniform_bins(t, 100))),
    "L2 error, 15 uniform bins": lambda t: sqrt(mean_squared_gap(uniform_bins(t, 15))),
    "L2 error, debiased": lambda t: sqrt(max(0.0, debiased_mean_squared_gap(quantile_bins(t, 15)))),
    "root of CORP's miscalibration": lambda t: sqrt(corp(t).miscalibration),
    "ECE, PAVA-BC bins": lambda t: ece(our_bins(t)),
    "ECE, 15 uniform bins": lambda t: ece(uniform_bins(t, 15)),
    "smooth ECE": smooth_ece,
    "root of SKCE": lambda t: sqrt(max(0.0, skce(t, bandwidth=BANDWIDTH).value)),
    "KS": lambda t: cumulative_differences(t).ks,
    "Brier score": brier,
    "squared L2 error, debiased, signed, in 1e-4": lambda t: (
        1e4 * debiased_mean_squared_gap(quantile_bins(t, 15))
    ),
    "SKCE, signed, in 1e-4": lambda t: 1e4 * skce(t, bandwidth=BANDWIDTH).value,
}


def cooled(t: Tally) -> Tally:
    """Divide the logits by the temperature, an injective map fixed in advance."""
    return Tally(expit(logit(t.scores) / TEMPERATURE), t.counts, t.positives)


def overstated_gain(t: Tally) -> float:
    """Fit a shift and evaluate it on the same rows; return the gain beyond its true gain."""
    delta, p = fit_intercept(t).delta, population(SLOPE)
    moved = true_errors(p, expit(logit(p.scores) + delta))["squared"]
    true = true_errors(p, p.scores)["squared"] - moved
    return improvement(t, shift(t, delta).scores).value - true


def gain(measure: Callable[[Tally], float]) -> Callable[[Tally], float]:
    """Turn a measure into the improvement that it measures."""
    return lambda t: measure(t) - measure(cooled(t))


IMPROVEMENTS: dict[str, Callable[[Tally], float]] = {
    "Brier score": lambda t: improvement(t, cooled(t).scores).value,
    "log score": lambda t: improvement(t, cooled(t).scores, rule="log").value,
    "ECE squared, 15 uniform bins": gain(lambda t: ece(uniform_bins(t, 15)) ** 2),
    "squared L2 error, 15 uniform bins": gain(lambda t: mean_squared_gap(uniform_bins(t, 15))),
    "squared L2 error, 100 uniform bins": gain(lambda t: mean_squared_gap(uniform_bins(t, 100))),
    "squared L2 error, 15 quantile bins": gain(lambda t: mean_squared_gap(quantile_bins(t, 15))),
    "RBS": gain(rbs),
    "overstated gain of a shift fitted on the same rows, Brier score": overstated_gain,
}


def true_errors(p: Population, scores: Floats) -> dict[str, float]:
    """Sum up the true calibration errors of `scores` in place of the population's."""
    gaps, q = np.abs(scores - p.truths), p.truths
    divergence = rel_entr(q, scores) + rel_entr(1.0 - q, 1.0 - scores)
    squared = float((p.shares * gaps**2).sum())
    absolute, kullback = float((p.shares * gaps).sum()), float((p.shares * divergence).sum())
    return {
        "ECE squared": absolute**2,
        "squared": squared,
        "log": kullback,
        "root": sqrt(squared),
        "none": 0.0,
    }


def true_improvements(p: Population) -> dict[str, float]:
    """Return the quantity that each improvement estimates."""
    before, after = (true_errors(p, s) for s in (p.scores, expit(logit(p.scores) / TEMPERATURE)))
    true = {name: before[name] - after[name] for name in before}
    kinds = {"log score": "log", "ECE squared, 15 uniform bins": "ECE squared", "RBS": "root"}
    flat = dict.fromkeys((name for name in IMPROVEMENTS if "overstated" in name), "none")
    return {name: true[(kinds | flat).get(name, "squared")] for name in IMPROVEMENTS}


def not_injective(p: Population) -> tuple[float, float]:
    """Send every score to the prevalence: the true gain, and that of the Brier score."""
    rate = float((p.shares * p.truths).sum())  # which is then right, with no error left
    change = (p.scores - rate) * (p.scores + rate - 2.0 * p.truths)
    return true_errors(p, p.scores)["squared"], float((p.shares * change).sum())
