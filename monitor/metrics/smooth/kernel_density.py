"""Calibration error by a kernel density estimate: no bins, but a bandwidth, and a bias.

The rate of positives around each prediction is estimated from all *other* predictions, weighted by
a Beta density, so that no weight falls outside [0, 1]. The cost grows with the square of the
groups, so a tally of more than 1,024 of them is first merged into the cells of the coarse grid.
"""

from dataclasses import dataclass, replace
from math import inf, pi, sqrt

import numpy as np

from monitor.metrics.core.coarse import CELLS_IN_ONE, COARSE_COUNT
from monitor.metrics.core.grid import CELLS_PER_LOGIT, Floats, Ints, locate
from monitor.metrics.core.reading import takes_rows
from monitor.metrics.core.special import betaln, erf
from monitor.metrics.core.tally import Tally, join_groups

FEWEST = 2  # a prediction and another one
TINY = 1e-300  # scores of 0 have no logarithm, and a kernel there is as good as 0
# The candidates of Popordanoska, Sayer and Blaschko (2022).
BANDWIDTHS: tuple[float, ...] = (*np.logspace(-5, -1, 15).tolist(), 0.2, 0.4, 0.6, 0.8, 1.0)


@dataclass(frozen=True)
class KernelDensityError:
    """A calibration error by a kernel density estimate.

    Attributes
    ----------
    value : float
        At least 0, in units of probability; at most 1 for two classes, ``2**(1/order)`` for more.
    bandwidth : float
        Of the kernel: a weight around the score s has the variance ``s (1 - s) bandwidth``
        to first order.
    """

    value: float
    bandwidth: float


@takes_rows
def kernel_density_error(
    t: Tally, *, order: float = 1.0, bandwidth: float | None = None
) -> KernelDensityError:
    """Estimate the calibration error with a Beta kernel, each prediction judged by the others.

    For analysis, not used by the daily job.

    Parameters
    ----------
    t : Tally or rows
        At least two predictions. More than 1,024 groups are merged into cells 1/32 wide in logit,
        each with its mean score: below a bandwidth of about 1e-4 it is the cells that smooth.
    order : float
        The p of the norm, at least 1: 1 compares with ECE, 2 with CE_2.
    bandwidth : float, optional
        Positive; by default the one of 20 between 1e-5 and 1 under which the scores are most
        likely when each is left out in turn (its whole cell, if the tally is on a grid).

    Returns
    -------
    KernelDensityError
        Value in [0, 1], in units of probability, and the bandwidth.

    Raises
    ------
    ValueError
        If there are fewer than two predictions, the order is below 1, or the bandwidth is not a
        positive number.

    Notes
    -----
    ``(1/N sum_j |c_j - s_j|**p)**(1/p)`` with
    ``c_j = sum_{i != j} B(s_j; s_i) y_i / sum_{i != j} B(s_j; s_i)`` and ``B(.; s)`` the
    density of ``Beta(s/h + 1, (1 - s)/h + 1)``, for the bandwidth h (Popordanoska, Sayer and
    Blaschko, NeurIPS 2022, equations 7 to 10, for one of the two classes: their value of order
    p, over both, is twice its p-th power).

    Bias: the noise of ``c_j`` is taken for error, so a calibrated model is above 0, and falls as
    rows grow: in docs/metrics.md from 0.0070 at 20,000 rows to 0.0030 at 200,000. A wide
    bandwidth averages over scores and sees less of an error that changes its sign. The default
    bandwidth suits the density of the scores, not their rates; it changes with the rows, so give
    one to compare days or models.

    Interval: none, as noise and bias are of one size; `ece_interval` has one for ECE, and `skce`
    is a kernel estimate without bias.

    Examples
    --------
    >>> from monitor.metrics.core.tally import tally
    >>> error = kernel_density_error(tally([1, 1, 1, 0], [0.5, 0.5, 0.5, 0.5]), bandwidth=0.01)
    >>> round(error.value, 6)  # the three others give 2/3 to each positive, 1 to the negative
    0.25
    """
    if t.total < FEWEST:
        msg = f"a kernel density estimate needs at least two predictions, got {t.total}."
        raise ValueError(msg)
    check_kernel(order, bandwidth)
    merged = merge_neighbours(t)
    width = likeliest_bandwidth(t) if bandwidth is None else bandwidth
    ones, zeros = (np.abs(rate - merged.scores) ** order for rate in _rates(merged, width))
    negatives = merged.counts - merged.positives
    total = float((merged.positives * ones + negatives * zeros).sum())
    return KernelDensityError((total / merged.total) ** (1.0 / order), width)


def check_kernel(order: float, bandwidth: float | None) -> None:
    """Check what all kernel density estimates take.

    Examples
    --------
    >>> check_kernel(1.0, 0.01)
    """
    if not 1.0 <= order < inf:
        msg = f"the order must be at least 1, got {order}."
        raise ValueError(msg)
    if bandwidth is not None and not 0.0 < bandwidth < inf:
        msg = f"the bandwidth must be a positive number, got {bandwidth}."
        raise ValueError(msg)


def merge_neighbours(t: Tally) -> Tally:
    """Merge groups that share a coarse cell, if there are more groups than such cells.

    Parameters
    ----------
    t : Tally
        Any.

    Returns
    -------
    Tally
        At most 1,024 groups; the score of a merged one is the mean of its predictions.

    Examples
    --------
    >>> from monitor.metrics.core.tally import tally
    >>> t = tally(np.zeros(2_000), np.linspace(0.5, 0.6, 2_000))
    >>> merge_neighbours(t).counts.size
    13
    """
    if t.scores.size <= COARSE_COUNT:
        return t
    numbers = t.cells.numbers if t.cells else locate(t.scores)[0]
    starts = np.flatnonzero(np.diff(numbers // CELLS_IN_ONE, prepend=-1))
    return replace(join_groups(t, starts), cells=t.cells)


def likeliest_bandwidth(t: Tally) -> float:
    """Choose the bandwidth under which the scores are most likely, each left out in turn.

    Parameters
    ----------
    t : Tally
        At least two predictions. Equal scores of an exact tally are real, and choose a narrow
        kernel. Those of a cell are not: they count as spread over their cell.

    Returns
    -------
    float
        One of 20 candidates in [1e-5, 1].

    Notes
    -----
    The largest ``sum_j log(sum_{i != j} B(s_j; s_i))`` (Popordanoska, Sayer and Blaschko, 2022).

    Examples
    --------
    >>> from monitor.metrics.core.tally import tally
    >>> likeliest_bandwidth(tally([0, 1, 1, 1], [0.2, 0.2, 0.7, 0.7])) < 1e-4
    True
    """
    merged = merge_neighbours(t)
    cell = CELLS_IN_ONE if merged is not t else 1 if t.cells else 0
    likelihoods = [_log_likelihood(merged, cell / CELLS_PER_LOGIT, h) for h in BANDWIDTHS]
    return BANDWIDTHS[int(np.argmax(likelihoods))]


def _log_likelihood(t: Tally, cell: float, bandwidth: float) -> float:
    others = t.counts - 1
    peaks, apart, own = _weights(t, others, bandwidth)
    density = (apart * t.counts).sum(axis=1) + own * others * _mean_in_cell(t, cell, bandwidth)
    return float((t.counts * (peaks + np.log(density))).sum())


def _mean_in_cell(t: Tally, cell: float, bandwidth: float) -> Floats:
    """Average the kernel, over its peak, between two places in a cell that is `cell` logits wide.

    The kernel is nearly normal there, and the distance of two even places is triangular.
    """
    variances = t.scores * (1.0 - t.scores)
    u = np.maximum(cell * np.sqrt(variances * (1.0 / bandwidth + 3.0)), 1e-3)  # 1 below
    inside = sqrt(pi / 2.0) * u * erf(u / sqrt(2.0)) + np.expm1(-u * u / 2.0)
    return np.asarray(2.0 * inside / (u * u))


def _rates(t: Tally, bandwidth: float) -> tuple[Floats, Floats]:
    """Give the rate of positives around each score, without one positive and one negative there."""
    others = t.counts - 1
    _, apart, own = _weights(t, others, bandwidth)
    total = (apart * t.counts).sum(axis=1) + own * others
    positive = (apart * t.positives).sum(axis=1)
    # A group without negatives has no use for the second rate, and one without positives none for
    # the first; without the bounds they could lie outside [0, 1].
    ones = positive + own * np.maximum(t.positives - 1, 0)
    zeros = positive + own * np.minimum(t.positives, others)
    return ones / total, zeros / total


def _weights(t: Tally, others: Ints, bandwidth: float) -> tuple[Floats, Floats, Floats]:
    """Give kernels (m, m) at each score (rows) around the others (columns), and its own (m,).

    They are divided by the largest that counts in their row, whose logarithm comes first.
    """
    up, down = t.scores / bandwidth, (1.0 - t.scores) / bandwidth
    logs, rests = (np.log(np.maximum(s, TINY)) for s in (t.scores, 1.0 - t.scores))
    kernel = np.multiply.outer(logs, up) + np.multiply.outer(rests, down)
    kernel -= betaln(up + 1.0, down + 1.0)
    own = np.where(others > 0, kernel.diagonal(), -inf)
    np.fill_diagonal(kernel, -inf)
    peaks = np.maximum(kernel.max(axis=1), own)
    return peaks, np.exp(kernel - peaks[:, None]), np.exp(own - peaks)
