"""Log score: the surprise at the outcomes, in nats."""

from math import isnan, nan

import numpy as np

from monitor.metrics.core.grid import Floats
from monitor.metrics.core.reading import reads_pairs
from monitor.metrics.core.samples import Rows
from monitor.metrics.core.tally import Tally
from monitor.metrics.scores.brier import mean_loss
from monitor.metrics.scores.row_scores import mean_surprise


@reads_pairs
def log_score(t: Tally | Rows) -> float:
    """Average the negative logarithm of the probability given to what happened.

    For analysis, not used by the daily job.

    Parameters
    ----------
    t : Tally or rows
        At least one prediction; or its rows, which are read once, not sorted.

    Returns
    -------
    float
        In [0, inf], in nats; half the deviance of logistic regression per prediction.
        Infinite as soon as one outcome was called impossible, that is a score of 0 came true
        or a score of 1 did not: nothing is clipped, for the value would then be that of the
        clip. Scores of 0 and 1 that were right cost nothing. A grid tally holds neither.

    Raises
    ------
    ValueError
        If there is no prediction; as `tally` does for samples that are not valid.

    Notes
    -----
    ``LS = -mean [y log s + (1 - y) log(1 - s)]`` with ``0 log 0 = 0``; the log score of
    [RBS, section 2.3], whose divergence is Kullback and Leibler's. Interval:
    `log_score_interval`.

    Examples
    --------
    >>> from monitor.metrics.core.tally import tally
    >>> round(log_score(tally([0, 1], [0.5, 0.5])), 6)
    0.693147
    >>> log_score(tally([1, 1], [0.0, 0.5]))
    inf
    """
    if not isinstance(t, Tally):
        mean = mean_surprise(t)
    else:
        mean = mean_loss(t, *surprises(t, t.scores)) if t.total else nan
    if isnan(mean):
        msg = "the log score of an empty sample is undefined: give at least one prediction."
        raise ValueError(msg)
    return mean


def surprises(t: Tally, p: Floats) -> tuple[Floats, Floats]:
    """Give the loss of probabilities `p`, one for each group, by either outcome.

    Parameters
    ----------
    t : Tally
        m groups of equal score.
    p : ndarray of shape (m,)
        Probabilities in [0, 1].

    Returns
    -------
    if_positive, if_negative : ndarray of shape (m,)
        ``-log p`` and ``-log(1 - p)`` in nats, in [0, inf]; 0 where that outcome did not
        occur, so that impossible outcomes that did not happen cost nothing.

    Examples
    --------
    >>> from monitor.metrics.core.tally import tally
    >>> surprises(tally([0, 0], [0.0, 1.0]), np.array([0.0, 1.0]))
    (array([0., 0.]), array([ 0., inf]))
    """
    if_positive, if_negative = np.zeros(p.size), np.zeros(p.size)
    with np.errstate(divide="ignore"):  # the infinite losses are meant
        np.log(p, out=if_positive, where=t.positives > 0)
        np.log1p(-p, out=if_negative, where=t.counts > t.positives)
    # Both are at most 0, and abs leaves no -0.0 behind.
    return np.abs(if_positive), np.abs(if_negative)
