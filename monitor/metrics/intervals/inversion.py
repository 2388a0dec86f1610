"""Which worlds an observed value does not surprise: the search behind inverted intervals.

Worlds differ by one number, the amplitude of their error: 0 is calibrated, 1 errs as observed.
The more a world errs, the larger the values of its resamples, so the worlds in which the observed
value is neither among the lowest nor among the highest form one run. Its two ends are searched as
a root is: each visit takes resamples, so there should be few.
"""

from math import copysign, log1p, sqrt
from typing import NamedTuple

import numpy as np

from monitor.metrics.core.grid import Floats
from monitor.metrics.core.special import ndtri

FIRST_AMPLITUDES, LARGER_AMPLITUDES = (0.0, 1.0), (1.5, 2.0, 3.0, 4.5, 7.0, 10.0)
NEAR = 0.5  # normal quantiles between an end and a world that are near enough
FINEST = 1 / 64  # amplitudes nearer than this count as the same
SHORTEST = 0.1  # of the way between two worlds, from either
FEW = 50  # resamples: of fewer, hardly one lies in a tail of 2.5 %, so ranks say little of it


class Visit(NamedTuple):
    """A world that was visited.

    Attributes
    ----------
    truth : float
        Its population value of the measure.
    at_least, above : float
        Shares of its resamples at or above the observed value, and above it, as normal quantiles:
        they rise with the amplitude, and nearly straight.
    """

    truth: float
    at_least: float
    above: float


Visits = dict[float, Visit]  # by amplitude, in any order


def height(values: Floats, observed: float) -> float:
    """Turn the share of values that are not below the observed one into a normal quantile.

    A share of 0 or 1 only says "far"; how far is measured in standard deviations.

    Notes
    -----
    Fewer than 50 values that differ are taken for normal ones: with the mean m and the standard
    deviation s of n of them, ``t = (m - observed) / (s sqrt(1 + 1/n))`` is a Student's t with
    ``n - 1`` degrees of freedom, because m and s are known from n values only, and is turned into
    the normal quantile of the same share (Wallace, Annals of Mathematical Statistics 30, 1959).

    Examples
    --------
    >>> height(np.arange(100.0), 50.0)
    0.0
    >>> height(np.repeat([1.0, 3.0], 50), 22.0)
    -20.0
    >>> round(height(np.array([1.0, 2.0, 3.0, 4.0]), 5.0), 2)
    -1.34
    """
    if 1 < values.size < FEW and values.std() > 0.0:
        return _predictive(values, observed)
    share, least = float(np.mean(values >= observed)), 0.5 / (values.size + 1)
    if 0.0 < share < 1.0:
        return float(ndtri(share))
    deviation = float(values.std())
    away = abs(float(values.mean()) - observed) / deviation if deviation > 0.0 else 0.0
    return (2.0 * share - 1.0) * max(away, float(-ndtri(least)))


def _predictive(values: Floats, observed: float) -> float:
    degrees = values.size - 1
    error = float(values.std(ddof=1)) * sqrt(1.0 + 1.0 / values.size)
    t = (float(values.mean()) - observed) / error
    shrunk = (8.0 * degrees + 1.0) / (8.0 * degrees + 3.0)
    return copysign(shrunk * sqrt(degrees * log1p(t * t / degrees)), t)


def next_amplitude(visits: Visits, outside: float) -> float | None:
    """Choose the world that narrows down an end the most; None if both ends are known well enough.

    After the calibrated world and the observed one: worlds that err more, as long as the observed
    value would be no surprise in any; then where an end seems to be, until one is next to it.

    Parameters
    ----------
    visits : dict of float to Visit
        By amplitude.
    outside : float
        Share of the resamples of an end's world that lie beyond the observed value, in (0, 1/2).

    Examples
    --------
    >>> amplitude = next_amplitude({0.0: Visit(0.0, -8.0, -8.0), 1.0: Visit(0.1, 2.0, 3.0)}, 0.025)
    >>> round(amplitude, 3)
    0.604
    """
    for amplitude in FIRST_AMPLITUDES:
        if amplitude not in visits:
            return amplitude
    amplitudes = sorted(visits)
    for heights, level in _heights(visits, outside):
        right = _first_above(heights, level)
        if right is None:
            further = [a for a in LARGER_AMPLITUDES if a > amplitudes[-1]]
            if further:
                return further[0]
        elif right:
            below, above = level - heights[right - 1], heights[right] - level
            step = amplitudes[right] - amplitudes[right - 1]
            if min(below, above) > NEAR and step > FINEST:
                share = min(max(below / (below + above), SHORTEST), 1.0 - SHORTEST)
                return amplitudes[right - 1] + share * step
    return None


def both_ends(visits: Visits, outside: float) -> tuple[float, float]:
    """Interpolate the population values between worlds; parameters as for `next_amplitude`.

    Examples
    --------
    >>> low, high = both_ends({0.0: Visit(0.0, -1.0, -1.0), 1.0: Visit(0.1, 2.0, 3.0)}, 0.025)
    >>> low, round(high, 3)
    (0.0, 0.074)
    """
    truths = [visits[amplitude].truth for amplitude in sorted(visits)]
    low, high = (_crossing(*end, truths) for end in _heights(visits, outside))
    return min(low, high), max(low, high)


def _heights(visits: Visits, outside: float) -> list[tuple[list[float], float]]:
    """Give, for either end, the heights in the order of the worlds and the one it must have."""
    in_order, level = [visits[amplitude] for amplitude in sorted(visits)], float(ndtri(outside))
    return [([v.at_least for v in in_order], level), ([v.above for v in in_order], -level)]


def _first_above(heights: list[float], level: float) -> int | None:
    return next((i for i, height in enumerate(heights) if height > level), None)


def _crossing(heights: list[float], level: float, truths: list[float]) -> float:
    """Interpolate linearly where the heights first rise above the level; else take the last."""
    i = _first_above(heights, level)
    if i is None:
        return truths[-1]
    if i == 0:
        return truths[0]
    share = (level - heights[i - 1]) / (heights[i] - heights[i - 1])
    return truths[i - 1] + share * (truths[i] - truths[i - 1])
