"""Class weights: the shift of the class priors that makes every mean score equal its prevalence."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from monitor.metrics.beyond_binary.class_counts import UNIT, Batch
from monitor.metrics.beyond_binary.class_pairs import adjusted_vectors
from monitor.metrics.core.grid import Floats, Ints

USUAL_WEIGHT = 2.0  # standard deviation of the log weights that a class without outcomes has
MOST_STEPS, LONGEST_STEP = 60, 2.0
ENOUGH = 1e-7  # of a log weight
FEW_CLASSES = 100  # with more, the products of all pairs of classes take too long
NOTABLE = 2.0**-8  # with more, an adjusted score above which its products are summed
MANY = 0.1  # share of notable scores from which on a dense product is faster
COARSE_UNIT = 2.0**16  # of the second derivatives: their sums stay exact in floating point
EXACT = 2**20  # rows of a batch whose sums of squares do


@dataclass(frozen=True, eq=False)
class ScoreSums:
    """Sums over rows.

    Attributes
    ----------
    outcomes, scores : ndarray of shape (c,)
        Rows by the class that came true, and sums of adjusted scores, fixed-point.
    products : ndarray of shape (c, c)
        Sums of the products of adjusted scores, fixed-point.
    """

    outcomes: Ints
    scores: Ints
    products: Floats


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
    prior on ``log w`` keeps the weight of a class without outcomes finite. Newton's method; with
    more than 100 classes the second derivatives are exact for notable scores, and what the others
    add to them is spread in proportion to their means. The sums are fixed-point, so the order of
    the rows does not matter.

    Examples
    --------
    >>> rows = np.tile([0.5, 0.5], (400, 1)), np.repeat([0, 1], [300, 100])
    >>> np.exp(np.diff(fit_class_weights(lambda: [rows], 2))).round(2)
    array([0.33])
    """
    return solve_class_weights(lambda weights: [sum_scores(read(), weights)], classes)


def solve_class_weights(sum_up: Callable[[Floats], Sequence[ScoreSums]], classes: int) -> Floats:
    """Find what `fit_class_weights` finds, from sums over shares of the rows.

    Parameters
    ----------
    sum_up : callable
        Given log weights, returns what `sum_scores` gives of each share; called once for each step.
    classes : int
        Their number, c.

    Examples
    --------
    >>> rows = np.tile([0.5, 0.5], (400, 1)), np.repeat([0, 1], [300, 100])
    >>> weights = solve_class_weights(lambda w: [sum_scores([rows], w), sum_scores([], w)], 2)
    >>> np.exp(np.diff(weights)).round(2)
    array([0.33])
    """
    log_weights = np.zeros(classes)
    for _ in range(MOST_STEPS):
        shares = sum_up(log_weights)
        counts = np.sum([share.outcomes for share in shares], axis=0)
        means = np.sum([share.scores for share in shares], axis=0) / UNIT
        second = np.sum([share.products for share in shares], axis=0) / COARSE_UNIT**2
        if not counts.sum():
            break
        pull = counts - means - log_weights / USUAL_WEIGHT**2
        step = _step(pull, means, second)
        log_weights = np.round(log_weights + step, 12)
        if abs(step).max() < ENOUGH:
            break
    # What remains of the error of a step is below this, however many threads solved for it.
    return np.asarray(np.round(log_weights - log_weights.mean(), 6))


def sum_scores(batches: Iterable[Batch], log_weights: Floats) -> ScoreSums:
    """Sum outcomes, adjusted scores, and their products, of many classes only the notable ones.

    Parameters
    ----------
    batches : iterable
        As for `fit_class_weights`.
    log_weights : ndarray of shape (c,)
        By which scores are adjusted.

    Examples
    --------
    >>> rows = np.array([[0.5, 0.5]]), np.array([1])
    >>> (sum_scores([rows], np.zeros(2)).scores / UNIT).tolist()
    [0.5, 0.5]
    """
    classes = log_weights.size
    counts, means = np.zeros(classes, np.int64), np.zeros(classes, np.int64)
    second = np.zeros((classes, classes))
    for vectors, labels in batches:
        for start in range(0, len(labels), EXACT):
            moved = adjusted_vectors(vectors[start : start + EXACT], log_weights)
            means += np.rint(moved * UNIT).astype(np.int64).sum(axis=0)
            second += _products(moved, least=0.0 if classes <= FEW_CLASSES else NOTABLE)
        counts += np.bincount(labels, minlength=classes)
    return ScoreSums(counts, means, second)


def _products(moved: Floats, *, least: float) -> Floats:
    """Sum the products of the scores of each two classes over rows; shape (c, c), exact."""
    notable = moved > least
    if least == 0.0 or notable.mean() > MANY:
        coarse = np.where(notable, np.rint(moved * COARSE_UNIT), 0.0)
        return np.asarray(coarse.T @ coarse)
    from scipy import sparse  # noqa: PLC0415 - only many classes need it, and it loads for long

    values = np.rint(moved[notable] * COARSE_UNIT)
    rows = np.concatenate([[0], notable.sum(axis=1).cumsum()])
    matrix = sparse.csr_array((values, np.nonzero(notable)[1], rows), shape=moved.shape)
    return np.asarray((matrix.T @ matrix).toarray())


def _step(pull: Floats, means: Floats, second: Floats) -> Floats:
    """Solve for a step; a shift of all log weights alike, which changes no score, stays out."""
    ridge = 1.0 / USUAL_WEIGHT**2
    rest = np.maximum(means - second.sum(axis=1), 0.0)  # what small scores lack in the products
    curvature = np.diag(means + ridge) - second
    if rest.sum() > 0.0:
        curvature -= np.outer(rest, rest) / rest.sum()
    return np.asarray(np.clip(np.linalg.solve(curvature, pull), -LONGEST_STEP, LONGEST_STEP))
