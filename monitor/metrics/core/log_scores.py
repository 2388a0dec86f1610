"""Logarithms of the probabilities of classes, which maps of class vectors work on."""

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:  # it loads what compiles, which those who only apply a map need not wait for
    from monitor.metrics.core.grid import Floats

LEAST_SCORE = 1e-12  # a score of 0 has no logarithm; no row of any log is as sure
KNOTS = 8  # of a map that bends all classes alike


def log_scores(vectors: "Floats") -> "Floats":
    """Take logarithms; a score below 1e-12 counts as that.

    Examples
    --------
    >>> log_scores(np.array([[1.0, 0.0]])).round(2)
    array([[  0.  , -27.63]])
    """
    return np.asarray(np.log(np.maximum(vectors, LEAST_SCORE)), np.float64)


def place_knots(vectors: "Floats", logs: "Floats") -> "Floats":
    """Place knots where the information is: at quantiles weighted by p (1 - p).

    Parameters
    ----------
    vectors, logs : ndarray of shape (n, c)
        Probabilities, and their logarithms.

    Returns
    -------
    ndarray of shape (m,)
        Two to eight logarithms, strictly increasing.

    Examples
    --------
    >>> place_knots(np.array([[0.5, 0.5]]), np.log([[0.5, 0.5]])).round(3)
    array([-1.693,  0.307])
    """
    order = np.argsort(logs, axis=None)
    values, weights = logs.ravel()[order], (vectors * (1.0 - vectors)).ravel()[order]
    reached = np.cumsum(weights)
    wanted = reached[-1] * (np.arange(KNOTS) + 0.5) / KNOTS
    knots = np.unique(values[np.searchsorted(reached, wanted)])
    return knots if knots.size > 1 else np.array([knots[0] - 1.0, knots[0] + 1.0])
