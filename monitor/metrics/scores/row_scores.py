"""Sums over rows in one pass, for the measures that are handed rows instead of a tally.

A tally serves every measure, but making one sorts all rows. The sums agree with those over the
tally to 1e-12 of the sum of their terms' magnitudes, whatever the number of rows.
"""

import math

from monitor.metrics.core.compiled import compiled
from monitor.metrics.core.grid import Floats
from monitor.metrics.core.samples import Outcomes, Rows, checked, unchecked

ROWS_AT_ONCE = 2048  # summed plainly; sums of this many are then added with compensation


def mean_square(rows: Rows) -> float:
    """Average the squared distance between scores and outcomes; nan of no rows.

    Examples
    --------
    >>> mean_square(([0, 1], [0.5, 0.5]))
    0.25
    """
    y, s = unchecked(*rows)
    sound, total = _squares(s, y)
    return _mean(total, s.size) if sound else mean_square(checked(*rows))


def mean_surprise(rows: Rows) -> float:
    """Average the negative logarithm of the probability given to the outcome; nan of no rows.

    Examples
    --------
    >>> round(mean_surprise(([0, 1], [0.5, 0.5])), 6)
    0.693147
    """
    y, s = unchecked(*rows)
    sound, total = _surprises(s, y)
    return _mean(total, s.size) if sound else mean_surprise(checked(*rows))


def sum_leans(rows: Rows) -> tuple[float, float, int]:
    """Add up ``(y - s)(1 - 2 s)`` and its variance under calibration, and count the rows.

    Examples
    --------
    >>> sum_leans(([0, 1], [0.5, 1.0]))
    (0.0, 0.0, 2)
    """
    y, s = unchecked(*rows)
    sound, total, variance = _leans(s, y)
    return (total, variance, s.size) if sound else sum_leans(checked(*rows))


def _mean(total: float, size: int) -> float:
    return total / size if size else math.nan


@compiled
def _squares(s: Floats, y: Outcomes) -> tuple[bool, float]:
    """Add up squared distances, and check all samples."""
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
    """Add up surprises, and check all samples."""
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
    """Add up the terms of Spiegelhalter's z and their variances; check the samples."""
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
