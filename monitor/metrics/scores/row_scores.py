"""Brier score, log score and Spiegelhalter's z straight from rows, in one pass and without a tally.

For whoever wants one of them once: a tally serves every measure, but making one sorts all rows.
"""

import math

import numpy.typing as npt

from monitor.metrics.core.compiled import compiled
from monitor.metrics.core.grid import Floats
from monitor.metrics.core.samples import Outcomes, refuse, unchecked
from monitor.metrics.scores.brier import CLASSES, Convention
from monitor.metrics.scores.spiegelhalter import Spiegelhalter, from_sums

ROWS_AT_ONCE = 2048  # summed plainly; sums of so many are then added with compensation


def brier_of_rows(
    scores: npt.ArrayLike, outcomes: npt.ArrayLike, *, convention: Convention = "one_vector"
) -> float:
    """Average the squared distance between scores and outcomes.

    Parameters
    ----------
    scores : array-like of shape (r,)
        Predicted probabilities in [0, 1], in any order.
    outcomes : array-like of shape (r,)
        What happened, 0 or 1 (booleans too), in the same order.
    convention : {"one_vector", "two_class"}
        As for `brier`.

    Returns
    -------
    float
        ``brier(tally(scores, outcomes))`` up to rounding, below 1e-12 of it whatever the number
        of rows: in [0, 1], or in [0, 2] for both classes. Its root is the RBS.

    Raises
    ------
    ValueError
        As `tally` for samples that are none, and if there is no row.

    Notes
    -----
    ``BS = mean (s - y)**2``; the two-class form is [RBS, equation 1]. Interval: `brier_interval`
    of a tally of the rows.

    Examples
    --------
    >>> brier_of_rows([0.5, 0.5], [0, 1])
    0.25
    """
    s, y = unchecked(scores, outcomes)
    if not s.size:
        msg = "the Brier score of no predictions is undefined: give at least one."
        raise ValueError(msg)
    sound, total = _squares(s, y)
    return CLASSES[convention] * total / s.size if sound else refuse(scores, outcomes)


def log_score_of_rows(scores: npt.ArrayLike, outcomes: npt.ArrayLike) -> float:
    """Average the negative logarithm of the probability given to what happened.

    Parameters
    ----------
    scores : array-like of shape (r,)
        Predicted probabilities in [0, 1], in any order.
    outcomes : array-like of shape (r,)
        What happened, 0 or 1 (booleans too), in the same order.

    Returns
    -------
    float
        ``log_score(tally(scores, outcomes))`` up to rounding, below 1e-12 of it whatever the
        number of rows: in [0, inf], in nats; infinite as soon as one outcome was called impossible.

    Raises
    ------
    ValueError
        As `tally` for samples that are none, and if there is no row.

    Notes
    -----
    ``LS = -mean [y log s + (1 - y) log(1 - s)]`` with ``0 log 0 = 0`` [RBS, section 2.3]. Interval:
    `log_score_interval` of a tally of the rows.

    Examples
    --------
    >>> round(log_score_of_rows([0.5, 0.5], [0, 1]), 6)
    0.693147
    """
    s, y = unchecked(scores, outcomes)
    if not s.size:
        msg = "the log score of no predictions is undefined: give at least one."
        raise ValueError(msg)
    sound, total = _surprises(s, y)
    return total / s.size if sound else refuse(scores, outcomes)


def spiegelhalter_of_rows(scores: npt.ArrayLike, outcomes: npt.ArrayLike) -> Spiegelhalter:
    """Compare the Brier score with its mean and variance under calibration.

    Parameters
    ----------
    scores : array-like of shape (r,)
        Predicted probabilities in [0, 1], in any order; one of them other than 0, 0.5 and 1.
    outcomes : array-like of shape (r,)
        What happened, 0 or 1 (booleans too), in the same order.

    Returns
    -------
    Spiegelhalter
        ``spiegelhalter(tally(scores, outcomes))`` up to rounding: the two sums behind z are within
        1e-12 of the sums of their terms' magnitudes.

    Raises
    ------
    ValueError
        As `tally` for samples that are none; and if no score is other than 0, 0.5 and 1.

    Notes
    -----
    ``z = sum (y - s)(1 - 2 s) / sqrt(sum (1 - 2 s)**2 s (1 - s))`` (Spiegelhalter,
    Statistics in Medicine 5, 1986). A statistic of a test has its p-value in place of an interval.

    Examples
    --------
    >>> round(spiegelhalter_of_rows([0.2] * 4, [0, 1, 1, 0]).z, 6)
    1.5
    """
    s, y = unchecked(scores, outcomes)
    sound, total, variance = _leans(s, y)
    if not sound:
        refuse(scores, outcomes)
    return from_sums(total, variance, predictions=s.size)


@compiled
def _squares(s: Floats, y: Outcomes) -> tuple[bool, float]:
    """Add up squared distances, and tell whether all samples are sound."""
    sound = True
    total = lost = 0.0
    for start in range(0, s.size, ROWS_AT_ONCE):
        some = 0.0
        for i in range(start, min(start + ROWS_AT_ONCE, s.size)):
            sound &= (s[i] >= 0.0) & (s[i] <= 1.0) & ((y[i] == 0) | (y[i] == 1))
            distance = s[i] - y[i]
            some += distance * distance
        total, lost = _add(total, lost, some)
    return sound, total + lost


@compiled
def _surprises(s: Floats, y: Outcomes) -> tuple[bool, float]:
    """Add up surprises, and tell whether all samples are sound."""
    sound = True
    total = lost = 0.0
    for start in range(0, s.size, ROWS_AT_ONCE):
        some = 0.0
        for i in range(start, min(start + ROWS_AT_ONCE, s.size)):
            sound &= (s[i] >= 0.0) & (s[i] <= 1.0) & ((y[i] == 0) | (y[i] == 1))
            some -= math.log(s[i]) if y[i] else math.log1p(-s[i])
        if some == math.inf:
            total, lost = some, 0.0
        else:
            total, lost = _add(total, lost, some)
    return sound, total + lost


@compiled
def _leans(s: Floats, y: Outcomes) -> tuple[bool, float, float]:
    """Add up the terms of Spiegelhalter's z and their variances; tell whether samples are sound."""
    sound = True
    total = lost = variance = lost_variance = 0.0
    for start in range(0, s.size, ROWS_AT_ONCE):
        some = some_variance = 0.0
        for i in range(start, min(start + ROWS_AT_ONCE, s.size)):
            sound &= (s[i] >= 0.0) & (s[i] <= 1.0) & ((y[i] == 0) | (y[i] == 1))
            lean = 1.0 - 2.0 * s[i]
            some += (y[i] - s[i]) * lean
            some_variance += lean * lean * s[i] * (1.0 - s[i])
        total, lost = _add(total, lost, some)
        variance, lost_variance = _add(variance, lost_variance, some_variance)
    return sound, total + lost, variance + lost_variance


@compiled
def _add(total: float, lost: float, term: float) -> tuple[float, float]:
    """Add a term, and keep what rounding loses (Neumaier's sum)."""
    together = total + term
    if abs(total) >= abs(term):
        return together, lost + ((total - together) + term)
    return together, lost + ((term - together) + total)
