"""The column whose values have priors that move apart from day to day. Pure.

Rule: what moves all values alike is the prior of the day, and a value that always differs is its
usual prior; neither bends a pooled curve from one day to the next.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from monitor.metrics.core.coarse import CENTRES
from monitor.metrics.core.grid import Floats
from monitor.metrics.core.special import expit
from monitor.segment_names import OTHER
from monitor.summary import ColumnPart, Columns

LEAST_DAYS = 7
LEAST_SPREAD = 0.2  # logit: pooled, less hardly bends a curve
CLEAR = 4.0  # standard errors
NEARLY = 0.9  # of the largest spread: then the column with fewer values is the simpler stratum
MOST_VALUES = 20  # that are proposed


@dataclass(frozen=True)
class MovingPriors:
    """A column whose values should have priors of their own.

    Attributes
    ----------
    column : str
        Its name.
    spread : float
        Standard deviation of its values' priors against each other, from day to day, in logit.
    values : tuple of str
        Its most frequent values.
    days : int
        The days that were compared.
    """

    column: str
    spread: float
    values: tuple[str, ...]
    days: int


def moving_priors(days: Sequence[Columns]) -> MovingPriors | None:
    """Find the column whose priors move apart most.

    Parameters
    ----------
    days : sequence of mapping
        What some days count by column and value.

    Returns
    -------
    MovingPriors or None
        None if no column's priors clearly differ by 0.2 in logit, or with fewer than seven days.

    Notes
    -----
    The level of a value on a day is ``(k - sum n p) / w`` with p the scores and
    ``w = sum n p (1 - p)``. Less the mean of the value and that of the day, its variance beyond
    chance is ``sum(w**2 r**2 - w f) / sum w**2``, with f what both means take away.
    """
    if len(days) < LEAST_DAYS:
        return None
    every = dict.fromkeys(column for day in days for column in day)
    spreads = {column: _spread([day.get(column, {}) for day in days]) for column in every}
    largest = max(spreads.values(), default=0.0)
    if largest < LEAST_SPREAD:
        return None
    near = [column for column, spread in spreads.items() if spread >= NEARLY * largest]
    values = {column: _frequent([day.get(column, {}) for day in days]) for column in near}
    best = min(near, key=lambda column: (len(values[column]), column))
    return MovingPriors(best, spreads[best], values[best][:MOST_VALUES], len(days))


def _spread(days: Sequence[Mapping[str, ColumnPart]]) -> float:
    """Give how far the priors of a column's values move apart; 0 if chance could do it."""
    names = [*dict.fromkeys(value for day in days for value in day)]
    if len(names) < 2:  # noqa: PLR2004 - a single value has nothing to differ from
        return 0.0
    pulls, informations = np.zeros((2, len(days), len(names)))
    for t, day in enumerate(days):
        for value, part in day.items():
            pulls[t, names.index(value)], informations[t, names.index(value)] = _level(part)
    kept = (informations > 0.0).sum(axis=0) > len(days) / 2
    pulls, informations = pulls[:, kept], informations[:, kept]
    rest = pulls - informations * _mean(pulls, informations, 0)
    rest = rest - informations * _mean(rest, informations, 1)
    days_left, values_left = 1.0 - 1.0 / len(days), 1.0 - 1.0 / max(2, kept.sum())
    weights = float((informations**2).sum())
    gained = float((rest**2).sum() - days_left * values_left * informations.sum())
    clear = gained > CLEAR * np.sqrt(2.0 * weights)
    return float(np.sqrt(gained / weights)) if clear else 0.0


def _mean(pulls: Floats, informations: Floats, axis: int) -> Floats:
    total = informations.sum(axis=axis, keepdims=True)
    return np.asarray(pulls.sum(axis=axis, keepdims=True) / np.where(total > 0.0, total, 1.0))


def _level(part: ColumnPart) -> tuple[float, float]:
    """Give the pull of the outcomes on the level, and what is known of it."""
    p = expit(CENTRES[part.cells])
    return float((part.positives - part.counts * p).sum()), float((part.counts * p * (1 - p)).sum())


def _frequent(days: Sequence[Mapping[str, ColumnPart]]) -> tuple[str, ...]:
    """List the values, the most frequent first."""
    volumes: dict[str, int] = {}
    for day in days:
        for value, part in day.items():
            volumes[value] = volumes.get(value, 0) + part.predicted
    return tuple(sorted((v for v in volumes if v != OTHER), key=lambda v: (-volumes[v], v)))
