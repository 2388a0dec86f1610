"""Three classes, and means with variances: the other worlds of docs/measure-tables.md."""

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np
from scipy.special import softmax

from monitor.metrics.beyond_binary.multiclass import (
    classwise,
    classwise_calibration_error,
    top_label_calibration_error,
    top_label_tally,
)
from monitor.metrics.beyond_binary.regression import dawid_sebastiani, squared_error_ratio
from monitor.metrics.beyond_binary.variance_scaling import VarianceScaling, fit_variance_scaling
from monitor.metrics.binned.binning import Bins, monitor_sizes, pava_bc, quantile_bins, uniform_bins
from monitor.metrics.binned.ece import ace, ece
from monitor.metrics.core.grid import Floats, Ints
from monitor.metrics.core.tally import Tally
from monitor.metrics.scores.brier import rbs
from monitor.metrics.test_based.tce import tce
from tools.measure_tables.table import Table

DAYS = 20
ROWS = 5_000
CENTRES = np.array([1.0, 0.0, -1.0])  # of the classes' logits


class Labelled(NamedTuple):
    """Probabilities of shape (n, 3) and the classes that came true, of shape (n,)."""

    scores: Floats
    labels: Ints


class Moments(NamedTuple):
    """Outcomes with their predicted means and variances, of shape (n,) each."""

    outcomes: Floats
    means: Floats
    variances: Floats


def three_classes(
    rng: np.random.Generator, *, size: int = ROWS, slope: float = 1.0, odds: float = 1.0
) -> Labelled:
    """Draw normal logits; true ones are `slope` times as far from their centres, class 0 likelier.

    The odds of class 0 against either other class are multiplied by `odds`.
    """
    logits = rng.normal(CENTRES, 1.2, (size, 3))
    true = softmax(CENTRES + slope * (logits - CENTRES) + [np.log(odds), 0.0, 0.0], axis=1)
    labels = (rng.random((size, 1)) > np.cumsum(true, axis=1)[:, :2]).sum(axis=1)
    return Labelled(softmax(logits, axis=1), labels)


def outcomes(
    rng: np.random.Generator, *, size: int = ROWS, level: float = 0.0, factor: float = 1.0
) -> Moments:
    """Draw normal outcomes, off by `level`, with `factor` times the predicted variance."""
    means, variances = rng.normal(0.0, 2.0, size), rng.uniform(0.5, 2.0, size)
    return Moments(rng.normal(means + level, np.sqrt(factor * variances)), means, variances)


def our_bins(t: Tally) -> Bins:
    """Cut PAVA-BC bins of the monitor's sizes."""
    smallest, largest = monitor_sizes(t.total)
    return pava_bc(t, min_size=smallest, max_size=largest)


def averaged(measure: Callable[[Tally], float]) -> Callable[[Labelled], float]:
    """Average a measure over the classes."""
    return lambda day: classwise(measure, *day[::-1]).value


def top(order: float) -> Callable[[Labelled], float]:
    """Take the top-label calibration error of some order."""
    return lambda day: top_label_calibration_error(
        *day[::-1], lambda t: quantile_bins(t, 15), order=order
    )


def score(day: Moments) -> float:
    """Take the mean Dawid-Sebastiani score."""
    return float(dawid_sebastiani(day.outcomes, means=day.means, variances=day.variances).mean())


def ratio(day: Moments) -> float:
    """Take squared error over variance."""
    return squared_error_ratio(day.outcomes, means=day.means, variances=day.variances)


@cache
def line(outcome: bytes, mean: bytes, variance: bytes) -> VarianceScaling:
    """Fit the scaling of a day once for both of its numbers."""
    y, mu, v = (np.frombuffer(part) for part in (outcome, mean, variance))
    return fit_variance_scaling(y, means=mu, variances=v)


def scaling(day: Moments) -> VarianceScaling:
    """Fit the line through the variances."""
    return line(*(part.tobytes() for part in day))


CLASSES = Table(
    DAYS,
    {
        "calibrated classes": three_classes,
        "odds of class 0 doubled": lambda rng: three_classes(rng, odds=2.0),
        "slope 0.8": lambda rng: three_classes(rng, slope=0.8),
        "10 x volume": lambda rng: three_classes(rng, size=10 * ROWS),
    },
    {
        "class-wise TCE, monitor's bins": (averaged(lambda t: tce(t, our_bins(t)).value), 2),
        "class-wise ECE, 15 uniform bins": (averaged(lambda t: ece(uniform_bins(t, 15))), 4),
        "class-wise ACE, 10 quantile bins": (averaged(lambda t: ace(t, 10)), 4),
        "class-wise calibration error, order 2, 15 quantile bins": (
            lambda day: classwise_calibration_error(
                *day[::-1], lambda t: quantile_bins(t, 15), order=2
            ),
            4,
        ),
        "class-wise RBS": (averaged(rbs), 4),
        "top-label calibration error, order 1, 15 quantile bins": (top(1.0), 4),
        "the same, order 2": (top(2.0), 4),
        "accuracy": (lambda day: top_label_tally(*day[::-1]).prevalence, 3),
        "mean top score": (lambda day: top_label_tally(*day[::-1]).mean_score, 3),
    },
)

REGRESSION = Table(
    DAYS,
    {
        "right": outcomes,
        "level moved by 0.5": lambda rng: outcomes(rng, level=0.5),
        "twice the variance": lambda rng: outcomes(rng, factor=2.0),
        "10 x rows": lambda rng: outcomes(rng, size=10 * ROWS),
    },
    {
        "Dawid-Sebastiani score": (score, 3),
        "squared error over variance": (ratio, 3),
        "variance scaling, slope": (lambda day: scaling(day).slope, 3),
        "variance scaling, intercept": (lambda day: scaling(day).intercept, 3),
    },
)
