"""Which pair of classes a row counts in, and where. Pure.

Rule: the pair is chosen by the scores alone, so it favours no outcome.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from monitor.metrics.core.coarse import CELLS_IN_ONE, Coarse, sum_of
from monitor.metrics.core.grid import Floats, Ints, locate
from monitor.metrics.core.samples import Bools

Pairs = Mapping[tuple[int, int], Coarse]
SECOND, THIRD = 2, 3  # rank of the score that makes a pair with the highest one


def ranks(classes: int) -> range:
    """List the ranks that make a pair with the highest score.

    Examples
    --------
    >>> list(ranks(2)), list(ranks(100))
    ([2], [2, 3])
    """
    return range(SECOND, min(THIRD, classes) + 1)


def rank_classes(vectors: Floats) -> list[Ints]:
    """Find the classes that each vector ranks highest, the highest first; at most three.

    Examples
    --------
    >>> rank_classes(np.array([[0.1, 0.7, 0.2]]))
    [array([1]), array([2]), array([0])]
    """
    rest, ranked, rows = vectors.copy(), list[Ints](), np.arange(len(vectors))
    for _ in range(min(THIRD, vectors.shape[1])):
        ranked.append(rest.argmax(axis=1))
        rest[rows, ranked[-1]] = -1.0
    return ranked


def with_first(ranked: Sequence[Ints], rank: int) -> tuple[Ints, Ints]:
    """Give the pair of the highest score and that of a rank, the lower class first.

    Examples
    --------
    >>> with_first([np.array([1]), np.array([2]), np.array([0])], THIRD)
    (array([0]), array([1]))
    """
    first, other = ranked[0], ranked[rank - 1]
    return np.minimum(first, other), np.maximum(first, other)


def rows_of_pairs(vectors: Floats, labels: Ints, low: Ints, high: Ints) -> tuple[Bools, Ints]:
    """Find the rows whose outcome is one of their pair, and the coarse cells of their scores.

    Parameters
    ----------
    vectors : ndarray of shape (n, c)
        Probabilities.
    labels, low, high : ndarray of shape (n,)
        The class that came true, and the two of the pair.

    Returns
    -------
    kept : ndarray of shape (n,)
        Whether the outcome is one of both.
    cells : ndarray of shape (m,)
        Of these rows, where ``p_low / (p_low + p_high)`` lies.

    Examples
    --------
    >>> vectors, low, high = np.full((2, 4), 0.25), np.array([0, 0]), np.array([1, 1])
    >>> rows_of_pairs(vectors, np.array([1, 2]), low, high)
    (array([ True, False]), array([512]))
    """
    kept = (labels == low) | (labels == high)
    rows = np.nonzero(kept)[0]
    of_low, of_high = vectors[rows, low[rows]], vectors[rows, high[rows]]
    return kept, locate(of_low / (of_low + of_high))[0] // CELLS_IN_ONE


def adjusted_vectors(vectors: Floats, log_weights: Floats) -> Floats:
    """Move vectors to other class priors: ``p_k w_k / sum_j p_j w_j``.

    Examples
    --------
    >>> adjusted_vectors(np.array([[0.5, 0.5]]), np.log([3.0, 1.0]))
    array([[0.75, 0.25]])
    """
    moved = vectors * np.exp(log_weights - log_weights.max())
    return np.asarray(moved / moved.sum(axis=1, keepdims=True))


def sampled_vectors(vectors: Floats, log_offsets: Floats | None) -> Floats:
    """Move the vectors of a log that is a sample by class, so that they are right for the sample.

    Parameters
    ----------
    vectors : ndarray of shape (n, c)
        Probabilities in the population.
    log_offsets : ndarray of shape (c,), or None
        Natural logarithms of the rates at which the rows of each class were kept; None of a log
        with every row.

    Notes
    -----
    With r_k the rate of class k, ``P(k | x, kept) = r_k p_k(x) / sum_j r_j p_j(x)`` is exact, as is
    the move of the log-odds of a pair by ``log r_a - log r_b``.

    Examples
    --------
    >>> sampled_vectors(np.array([[0.9, 0.1]]), np.log([1 / 9, 1.0])).round(3)
    array([[0.5, 0.5]])
    """
    return vectors if log_offsets is None else adjusted_vectors(vectors, log_offsets)


def sum_of_pairs(parts: Sequence[Pairs]) -> dict[tuple[int, int], Coarse]:
    """Add the tallies of pairs up.

    Examples
    --------
    >>> day = {(0, 1): Coarse(np.array([2, 0]), np.array([1, 0]))}
    >>> sum_of_pairs([day, day])[0, 1].counts
    array([4, 0])
    """
    every = dict.fromkeys(pair for part in parts for pair in part)
    return {pair: sum_of([part[pair] for part in parts if pair in part]) for pair in every}
