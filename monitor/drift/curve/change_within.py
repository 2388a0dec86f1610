"""Whether the days of a reference are of one kind, or changed on one of them. Pure.

A break among them is in the curve that all later days are compared with, and makes days seem to
differ by nature: without a word nothing would be found any more.
"""

from typing import NamedTuple

import numpy as np

from monitor.metrics.core.grid import Floats, Ints
from monitor.metrics.core.ratio import ratio

LEAST_SIDE = 3  # days before a change, and after it
ORDERS = 1000  # so many times rarer than chance a change must be
FIRST_ORDERS = 50  # most sound references are through after so many
SEED = 0  # the same days give the same answer
AS_CLEAR = 1.0  # standard errors: a change of the slope that is nearly as clear is called one


class Split(NamedTuple):
    """A change within a reference.

    Attributes
    ----------
    row : int
        The first of the days that differ from those before.
    direction : int
        Along which of the directions of the reference.
    difference : float
        How far these days are from those before along it, in logit.
    """

    row: int
    direction: int
    difference: float


def change_within(scores: Floats, informations: Floats, day_variances: Floats) -> Split | None:
    """Find the day on which the days of a reference change, if chance hardly ever looks like it.

    Parameters
    ----------
    scores, informations : ndarray of shape (days, 4)
        What each day says of each direction.
    day_variances : ndarray of shape (4,)
        Between-day variances.

    Returns
    -------
    Split or None
        None of fewer than seven days.

    Notes
    -----
    With ``x = U / I`` and the weights ``I / (1 + day_variance I)``, the statistic is the largest
    difference of two weighted means, of the days before and from one on, in standard errors: over
    all such days and directions. It must exceed that of each of 1,000 orders of the same days, a
    permutation test (Fisher, 1935): exact where days are exchangeable, whatever their distribution.

    Examples
    --------
    >>> rng, known = np.random.default_rng(1), np.full((28, 4), 100.0)
    >>> days = rng.normal(size=(28, 4)) * 10.0
    >>> change_within(days, known, np.zeros(4)) is None
    True
    >>> days[20:, 0] -= 0.4 * known[20:, 0]
    >>> split = change_within(days, known, np.zeros(4))
    >>> split.row, split.direction, round(split.difference, 1)
    (20, 0, -0.3)
    """
    number = len(scores)
    if number <= 2 * LEAST_SIDE:
        return None
    weights = informations / (1.0 + day_variances * informations)
    pulls = weights * ratio(scores, informations)
    differences, clear = (of[0] for of in _contrasts(weights, pulls, np.arange(number)[None]))
    split, direction = np.unravel_index(clear.argmax(), clear.shape)
    most, rng = clear[split, direction], np.random.default_rng(SEED)
    left, size = ORDERS, FIRST_ORDERS
    while left:
        orders = rng.permuted(np.tile(np.arange(number), (size, 1)), axis=1)
        if _contrasts(weights, pulls, orders)[1].max() >= most:
            return None
        left -= size
        size = left
    told = 0 if clear[split, 0] > most - AS_CLEAR else int(direction)
    return Split(int(split) + LEAST_SIDE, told, float(differences[split, told]))


def _contrasts(weights: Floats, pulls: Floats, orders: Ints) -> tuple[Floats, Floats]:
    """Compare the days from each one on with those before, in several orders of them.

    Two arrays of shape (orders, days, 4): the differences, and the same in standard errors.
    """
    held, pulled = (of[orders].cumsum(axis=1) for of in (weights, pulls))
    inner = slice(LEAST_SIDE - 1, -LEAST_SIDE)
    before, after = held[:, inner], held[:, -1:] - held[:, inner]
    told = (before > 0.0) & (after > 0.0)
    before, after = np.where(told, before, 1.0), np.where(told, after, 1.0)
    means = (pulled[:, -1:] - pulled[:, inner]) / after - pulled[:, inner] / before
    differences = np.where(told, means, 0.0)
    return differences, np.abs(differences) / np.sqrt(1.0 / before + 1.0 / after)
