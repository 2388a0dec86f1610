"""Class weights: the shift of the class priors that makes every mean score equal its prevalence."""

from collections.abc import Callable, Iterable

import numpy as np

from monitor.metrics.beyond_binary.class_counts import UNIT, Batch, adjusted_vectors
from monitor.metrics.core.grid import Floats, Ints

USUAL_WEIGHT = 2.0  # standard deviation of the log weights that a class without outcomes has
MOST_STEPS, LONGEST_STEP = 60, 2.0
ENOUGH = 1e-7  # of a log weight
FEW_CLASSES = 100  # with more, the second derivatives of all pairs of classes take too long
COARSE_UNIT = 2.0**16  # of the second derivatives: their sums stay exact in floating point
EXACT = 2**20  # rows of a batch whose sums of squares do


def fit_class_weights(read: Callable[[], Iterable[Batch]], classes: int) -> Floats:
    """Find the log weights of the classes under which the scores are right on average.

    Parameters
    ----------
    read : callable
        Returns the batches of `count_classes`; called once for each step.
    classes : int
        Their number, c.

    Returns
    -------
    ndarray of shape (c,)
        Natural logarithms of the weights, with mean 0; the same for the same rows in any order.

    Notes
    -----
    Solves ``sum_i p_ik w_k / sum_j p_ij w_j = n_k`` for every class k: the maximum of the
    likelihood over the class priors, if the vectors were right before these moved. A weak normal
    prior on ``log w`` keeps the weight of a class without outcomes finite. Newton's method; the
    sums are fixed-point, so the order of the rows does not matter.

    Examples
    --------
    >>> rows = np.tile([0.5, 0.5], (400, 1)), np.repeat([0, 1], [300, 100])
    >>> np.exp(np.diff(fit_class_weights(lambda: [rows], 2))).round(2)
    array([0.33])
    """
    found = np.zeros(classes)
    for _ in range(MOST_STEPS):
        counts, means, second = _sums(read(), found, classes)
        if not counts.sum():
            break
        pull = counts - means - found / USUAL_WEIGHT**2
        step = _step(pull, means, second)
        found = np.round(found + step, 12)
        if abs(step).max() < ENOUGH:
            break
    return np.asarray(np.round(found - found.mean(), 9))


def _sums(
    batches: Iterable[Batch], log_weights: Floats, classes: int
) -> tuple[Ints, Floats, Floats]:
    """Sum outcomes, adjusted scores, and their products (squares only if classes are many)."""
    counts, means = np.zeros(classes, np.int64), np.zeros(classes, np.int64)
    second = np.zeros((classes, classes) if classes <= FEW_CLASSES else classes)
    for vectors, labels in batches:
        for start in range(0, len(labels), EXACT):
            moved = adjusted_vectors(vectors[start : start + EXACT], log_weights)
            means += np.rint(moved * UNIT).astype(np.int64).sum(axis=0)
            coarse = np.rint(moved * COARSE_UNIT)
            second += coarse.T @ coarse if second.ndim > 1 else (coarse**2).sum(axis=0)
        counts += np.bincount(labels, minlength=classes)
    return counts, means / UNIT, second / COARSE_UNIT**2


def _step(pull: Floats, means: Floats, second: Floats) -> Floats:
    ridge = 1.0 / USUAL_WEIGHT**2
    if second.ndim > 1:
        step = np.linalg.solve(np.diag(means + ridge) - second, pull)
    else:  # half of what each class by itself would take: that cannot overshoot
        step = 0.5 * pull / (means - second + ridge)
    return np.asarray(np.clip(step, -LONGEST_STEP, LONGEST_STEP))
