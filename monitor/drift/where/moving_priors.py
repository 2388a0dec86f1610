"""The column whose values have priors that move apart from day to day. Pure.

Rule: what moves all values alike is the prior of the day, and a value that always differs is its
usual prior; neither bends a pooled curve from one day to the next.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from monitor.base.segment_names import OTHER
from monitor.days.summary import ColumnPart, Columns
from monitor.drift.curve.reference import Reference
from monitor.drift.records.day_evidence import direction_of
from monitor.drift.records.values import MovingPriors
from monitor.drift.where.column_sums import AS_BEFORE, change_of, exceeding, nothing, sum_part
from monitor.drift.where.part_counts import coarse_of_parts, merge_parts, regrouped
from monitor.metrics.core.coarse import CENTRES, Coarse
from monitor.metrics.core.estimate import Estimate
from monitor.metrics.core.grid import Floats
from monitor.metrics.core.ratio import ratio
from monitor.metrics.core.special import expit
from monitor.metrics.logistic.level import fit_level

LEAST_DAYS = 7
LEAST_SPREAD = 0.2  # logit: pooled, less hardly bends a curve
CLEAR = 4.0  # standard errors
NEARLY = 0.9  # of the largest spread: then the column with fewer values is the simpler stratum
MOST_VALUES = 20  # that are proposed
MOST_STRATA = 100  # that are counted without being named

Values = Mapping[str, ColumnPart]  # what a day counts by the values of a column


def moving_priors(days: Sequence[Columns], most: int = MOST_VALUES) -> MovingPriors | None:
    """Find the column whose priors move apart most.

    Parameters
    ----------
    days : sequence of mapping
        What some days count by column and value.
    most : int
        Number of its values that are named, the most frequent ones.

    Returns
    -------
    MovingPriors or None
        None if no column's priors clearly differ by 0.2 in logit, or with fewer than seven days.

    Notes
    -----
    The level of a value on a day is ``(k - sum n p) / w`` with p the scores, moved by one constant
    that fits the outcomes of all days, and ``w = sum n p (1 - p)``. Less the mean of the value and
    that of the day, its variance beyond chance is ``sum(w**2 r**2 - w f) / sum w**2``, with f what
    both means take away.
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
    return MovingPriors(best, spreads[best], values[best][:most], len(days))


def _spread(days: Sequence[Values]) -> float:
    """Give how far the priors of a column's values move apart; 0 if chance could do it."""
    names = [*dict.fromkeys(value for day in days for value in day)]
    if len(names) < 2:  # noqa: PLR2004 - a single value has nothing to differ from
        return 0.0
    positions = {name: i for i, name in enumerate(names)}
    expected = _expected([part for day in days for part in day.values()])
    pulls, informations = np.zeros((2, len(days), len(names)))
    for t, day in enumerate(days):
        for value, part in day.items():
            i = positions[value]
            pulls[t, i], informations[t, i] = _level(part, expected)
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
    return ratio(*(of.sum(axis=axis, keepdims=True) for of in (pulls, informations)))


def _expected(parts: Sequence[ColumnPart]) -> Floats:
    """Give the probability of each cell, with the prior of all rows: scores may be of another."""
    level = fit_level(CENTRES, coarse_of_parts(parts)).delta
    return np.asarray(expit(CENTRES + np.nan_to_num(level)))


def _level(part: ColumnPart, expected: Floats) -> tuple[float, float]:
    """Give the pull of the outcomes on the level, and what is known of it."""
    p = expected[part.cells]
    return float((part.positives - part.counts * p).sum()), float((part.counts * p * (1 - p)).sum())


def _frequent(days: Sequence[Values]) -> tuple[str, ...]:
    """List the values, the most frequent first."""
    volumes: dict[str, int] = {}
    for day in days:
        for value, part in day.items():
            volumes[value] = volumes.get(value, 0) + part.predicted
    return tuple(sorted((v for v in volumes if v != OTHER), key=lambda v: (-volumes[v], v)))


def explained_by_priors(
    reference: Reference, kind: str, before: Sequence[Values], after: Sequence[Values]
) -> bool:
    """Say whether a drift is gone within the values of a column, each with a prior on every day.

    The change within them must be within the tolerance, and less than half of that of all rows.

    Parameters
    ----------
    reference : Reference
        Of the whole.
    kind : str
        The distortion; see `monitor.drift.records.day_evidence.KINDS`.
    before, after : sequence of mapping of str to ColumnPart
        What the days of the reference, and those since, count by the values of the column.
    """

    def change(parts_of: Callable[[Values], Iterable[ColumnPart]]) -> Estimate | None:
        old, now = (
            sum((sum_part(reference, part) for day in days for part in parts_of(day)), nothing())
            for days in (before, after)
        )
        return change_of(reference, direction, old, now)

    direction = direction_of(kind)
    within = change(lambda day: day.values())
    pooled = change(lambda day: [merge_parts([*day.values()])])
    if within is None or pooled is None:
        return False
    as_before = exceeding(within, float(reference.tolerances[direction])) >= AS_BEFORE
    return as_before and abs(within.value) < 0.5 * abs(pooled.value)


def split_by(column: Values, moving: MovingPriors) -> dict[str, Coarse]:
    """Divide the rows of a day by the values of a column, into parts with priors of their own.

    Parameters
    ----------
    column : mapping of str to ColumnPart
        What the day counts by the values of the column.
    moving : MovingPriors
        Which of them have a part of their own; all others are together.

    Returns
    -------
    dict of str to Coarse
        Only values with predictions.
    """
    parts = regrouped(column, {value: OTHER for value in column if value not in moving.values})
    return {
        name: coarse_of_parts([parts[name]]) for name in (*moving.values, OTHER) if name in parts
    }
