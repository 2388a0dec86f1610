"""Calibration error of whole vectors of class probabilities, by a kernel density estimate.

The rates of all classes around each prediction are estimated from all other predictions, weighted
by a Dirichlet density. Few estimators see whole vectors; the price is a cost that grows with the
square of the rows, and a bias that grows with the classes.
"""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from monitor.metrics.beyond_binary.multiclass import check_class_scores
from monitor.metrics.core.grid import Floats, Ints
from monitor.metrics.core.special import gammaln
from monitor.metrics.smooth.kernel_density import (
    BANDWIDTHS,
    FEWEST,
    TINY,
    KernelDensityError,
    check_kernel,
)

ROWS_AT_ONCE = 256  # each needs a kernel for every other row


def kernel_density_class_error(
    y_true: npt.ArrayLike,
    y_prob: npt.ArrayLike,
    *,
    order: float = 1.0,
    bandwidth: float | None = None,
) -> KernelDensityError:
    """Estimate the calibration error of class probabilities with a Dirichlet kernel.

    For analysis, not used by the daily job.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        The class that came true, an integer in [0, c).
    y_prob : array-like of shape (n, c)
        Predicted probabilities in [0, 1] of c >= 2 classes; every row sums to 1 within 1e-4. At
        least two rows, at most some thousands: the cost grows with their square.
    order : float
        The p of the norm, at least 1.
    bandwidth : float, optional
        Positive; by default the one of 20 between 1e-5 and 1 under which the scores are most
        likely when each is left out in turn.

    Returns
    -------
    KernelDensityError
        Value in [0, ``2**(1/p)``], in units of probability, and the bandwidth.

    Raises
    ------
    ValueError
        As `classwise_tallies` does; if there are fewer than two rows, the order is below 1, or
        the bandwidth is not a positive number.

    Notes
    -----
    ``(1/n sum_j sum_k |c_jk - f_jk|**p)**(1/p)`` with
    ``c_j = sum_{i != j} D(f_j; f_i) e_i / sum_{i != j} D(f_j; f_i)``, e_i the unit vector of
    the label, and ``D(.; f)`` the density of ``Dirichlet(f/h + 1)`` for the bandwidth h
    (Popordanoska, Sayer and Blaschko, NeurIPS 2022, who give its p-th power). For two classes it
    is ``2**(1/p)`` times `kernel_density_error`.

    Bias: the noise of ``c_j`` is taken for error. Neighbours become rare as classes are added, so
    the same rows give more noise or a wider bandwidth, which averages the error away; the
    default bandwidth suits the density of the scores, not their rates. docs/gain-estimators.md
    shows both against known truth.

    Interval: none, as noise and bias are of one size; `improvement` of proper scores has one.

    Examples
    --------
    >>> scores = [[0.5, 0.25, 0.25]] * 4
    >>> error = kernel_density_class_error([0, 0, 1, 2], scores, bandwidth=0.01)
    >>> round(error.value, 6)  # every row is judged by three others, of equal weight
    0.416667
    """
    classes, rows = check_class_scores(y_true, y_prob)
    if classes.size < FEWEST:
        msg = f"a kernel density estimate needs at least two rows, got {classes.size}."
        raise ValueError(msg)
    check_kernel(order, bandwidth)
    width = likeliest_class_bandwidth(rows) if bandwidth is None else bandwidth
    came_true = np.eye(rows.shape[1])[classes]
    total = 0.0
    for chosen, peaks, logs in _log_kernels(rows, width):
        kernels = np.exp(logs - peaks[:, None])
        rates = kernels @ came_true / kernels.sum(axis=1, keepdims=True)
        total += float((np.abs(rates - rows[chosen]) ** order).sum())
    return KernelDensityError((total / classes.size) ** (1.0 / order), width)


def likeliest_class_bandwidth(rows: Floats) -> float:
    """Choose the bandwidth under which the rows are most likely, each left out in turn.

    Parameters
    ----------
    rows : ndarray of shape (n, c)
        At least two rows of probabilities.

    Returns
    -------
    float
        One of 20 candidates in [1e-5, 1].

    Notes
    -----
    The largest ``sum_j log(sum_{i != j} D(f_j; f_i))`` (Popordanoska, Sayer and Blaschko, 2022).

    Examples
    --------
    >>> round(likeliest_class_bandwidth(np.array([[0.2, 0.3, 0.5], [0.3, 0.3, 0.4]])), 4)
    0.0268
    """
    likelihoods = np.zeros(len(BANDWIDTHS))
    for number, width in enumerate(BANDWIDTHS):
        for _, peaks, logs in _log_kernels(rows, width):
            densities = np.log(np.exp(logs - peaks[:, None]).sum(axis=1))
            likelihoods[number] += float((peaks + densities).sum())
    return BANDWIDTHS[int(np.argmax(likelihoods))]


def _log_kernels(rows: Floats, bandwidth: float) -> Iterator[tuple[Ints, Floats, Floats]]:
    """Give kernels at some rows (first axis) around all rows but themselves, and their largest."""
    logs, powers = np.log(np.maximum(rows, TINY)), rows / bandwidth
    heights = gammaln((powers + 1.0).sum(axis=1)) - gammaln(powers + 1.0).sum(axis=1)
    for start in range(0, len(rows), ROWS_AT_ONCE):
        chosen = np.arange(start, min(start + ROWS_AT_ONCE, len(rows)))
        log_kernels = logs[chosen] @ powers.T + heights
        log_kernels[np.arange(chosen.size), chosen] = -np.inf
        yield chosen, log_kernels.max(axis=1), log_kernels
