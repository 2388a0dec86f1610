"""Brier score and its root: the typical distance between a predicted probability and the outcome.

There are two conventions. The *one-vector* form uses the predicted probability of the
positive outcome only, as scikit-learn does; it is ours everywhere. The *two-class* form of
[RBS] sums over the probabilities of both outcomes, which is exactly twice as much.
"""

from math import isnan, nan, sqrt
from typing import Literal

from monitor.metrics.core.grid import Floats
from monitor.metrics.core.option_check import check_option
from monitor.metrics.core.reading import reads_pairs
from monitor.metrics.core.samples import Rows
from monitor.metrics.core.tally import Tally
from monitor.metrics.scores.row_scores import mean_square

Convention = Literal["one_vector", "two_class"]
CLASSES = {"one_vector": 1, "two_class": 2}  # terms of the sum, all of them equal


@reads_pairs
def brier(t: Tally | Rows, *, convention: Convention = "one_vector") -> float:
    """Average the squared distance between scores and outcomes.

    Parameters
    ----------
    t : Tally or rows
        At least one prediction; or its rows, which are read once, not sorted.
    convention : {"one_vector", "two_class"}
        Whether the positive outcome alone counts or both do; the latter doubles the score.

    Returns
    -------
    float
        In [0, 1], or in [0, 2] for both classes, in squared units of probability. It bounds
        the squared L2 calibration error of the same convention from above.

    Raises
    ------
    ValueError
        If there is no prediction or the convention is unknown; as `tally` does for samples that
        are not valid.

    Notes
    -----
    ``BS = mean (s - y)**2``; the two-class form is [RBS, equation 1]. Interval:
    `brier_interval`, for the one-vector form.

    Examples
    --------
    >>> from monitor.metrics.core.tally import tally
    >>> brier(tally([0, 1], [0.5, 0.5]))
    0.25
    """
    check_option("convention", convention, Convention)
    if not isinstance(t, Tally):
        mean = mean_square(t)
    else:
        mean = mean_loss(t, (1.0 - t.scores) ** 2, t.scores**2) if t.total else nan
    if isnan(mean):
        msg = "the Brier score of an empty sample is undefined: give at least one prediction."
        raise ValueError(msg)
    return CLASSES[convention] * mean


@reads_pairs
def rbs(t: Tally | Rows, *, convention: Convention = "one_vector") -> float:
    """Take the root of the mean squared distance between scores and outcomes.

    Parameters
    ----------
    t : Tally or rows
        At least one prediction; or its rows, which are read once, not sorted.
    convention : {"one_vector", "two_class"}
        Whether the positive outcome alone counts or both do; the latter is the paper's and
        sqrt(2) times as large.

    Returns
    -------
    float
        In [0, 1], or in [0, sqrt(2)] for both classes, in units of probability. It bounds
        the L2 calibration error of the same convention from above.

    Raises
    ------
    ValueError
        If there is no prediction or the convention is unknown; as `tally` does for samples that
        are not valid.

    Notes
    -----
    ``RBS = sqrt(mean (s - y)**2)`` [RBS, Example 4.4]. Its level is no alarm: it is far
    from 0 on perfectly calibrated data. What bounds what: `bounds`. Interval:
    `rbs_interval`, for the one-vector form.

    Examples
    --------
    >>> from monitor.metrics.core.tally import tally
    >>> rbs(tally([0, 1], [0.5, 0.5]))
    0.5
    """
    return sqrt(brier(t, convention=convention))


def mean_loss(t: Tally, if_positive: Floats, if_negative: Floats) -> float:
    """Average over predictions what each group loses, of shape (m,), by either outcome.

    Examples
    --------
    >>> import numpy as np
    >>> from monitor.metrics.core.tally import tally
    >>> mean_loss(tally([0, 1, 1], [0.2, 0.2, 0.9]), np.array([6.0, 0.0]), np.array([3.0, 0.0]))
    3.0
    """
    # No @ here: BLAS splits long vectors among threads, which costs more than it saves at
    # these sizes and makes the last digit depend on the machine.
    losses = t.positives * if_positive + (t.counts - t.positives) * if_negative
    return float(losses.sum()) / t.total
