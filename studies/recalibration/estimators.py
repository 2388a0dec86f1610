"""The estimators of the paper's comparison, of class probabilities and labels.

All are in units of probability. RBS is an upper bound of CE_2, the others estimate it (kernel
density), or errors that are at most as large (class-wise, top-label).
"""

from collections.abc import Callable
from math import sqrt

import numpy as np

from monitor.metrics import (
    classwise_calibration_error,
    cumulative_differences,
    debiased_root_mean_squared_gap,
    kernel_density_class_error,
    kernel_density_error,
    quantile_bins,
    top_label_calibration_error,
    top_label_tally,
)
from monitor.metrics.core.grid import Floats, Ints

Estimator = Callable[[Floats, Ints], float]
MOST_ROWS = 1_000  # of a Dirichlet kernel, whose cost grows with their square


def brier_of_vectors(scores: Floats, labels: Ints) -> float:
    """Average the squared distance of the scores from the unit vector of the label."""
    hits = scores[np.arange(labels.size), labels]
    return float((scores**2).sum(axis=1).mean() - 2.0 * hits.mean() + 1.0)


def debiased(scores: Floats, labels: Ints) -> float:
    """Take the debiased top-label L2 error of the paper."""
    return debiased_root_mean_squared_gap(quantile_bins(top_label_tally(labels, scores), 15))


def ece_of_confidence(scores: Floats, labels: Ints) -> float:
    """Take the usual ECE."""
    return top_label_calibration_error(labels, scores, 15)


QUICK: dict[str, Estimator] = {
    "RBS": lambda s, y: sqrt(brier_of_vectors(s, y)),
    "class-wise L2, 15 uniform bins": lambda s, y: classwise_calibration_error(y, s, 15, order=2),
    "class-wise L2, 100 uniform bins": lambda s, y: classwise_calibration_error(y, s, 100, order=2),
    "top-label ECE, 15 uniform bins": ece_of_confidence,
    "top-label L2, 100 uniform bins": lambda s, y: top_label_calibration_error(y, s, 100, order=2),
    "top-label L2, 15 quantile bins, debiased": debiased,
    "top-label KS": lambda s, y: cumulative_differences(top_label_tally(y, s)).ks,
}
SLOW: dict[str, Estimator] = {
    "top-label L2, kernel density": lambda s, y: (
        kernel_density_error(top_label_tally(y, s), order=2).value
    ),
}
DIRICHLET = ("CE_1, kernel density", "CE_2, kernel density")
NAMES = (*QUICK, *SLOW, *DIRICHLET)


def dirichlet(scores: Floats, labels: Ints) -> list[float]:
    """Estimate CE_1 and CE_2 with one bandwidth."""
    first = kernel_density_class_error(labels, scores)
    width = first.bandwidth
    return [
        first.value,
        kernel_density_class_error(labels, scores, order=2, bandwidth=width).value,
    ]
