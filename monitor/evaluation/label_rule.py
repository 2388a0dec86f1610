"""Since when another rule chooses which predictions get an outcome. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from math import sqrt

import numpy as np

from monitor.evaluation.chosen_labels import (
    LEAST_IN_GROUP,
    LEVEL,
    TIMES,
    ScoreGroup,
    by_coarse_cell,
    score_ends,
    starts_of_groups,
)
from monitor.metrics.core.grid import Floats, Ints
from monitor.metrics.core.special import stdtr
from monitor.summary import NO_SAMPLE, Summary

LEAST_DAYS = 5  # on each side of a change
GROUPS = 5  # of scores, at most
POINTS = 0.1  # a change of a rate that counts, even if it is less than `TIMES`


@dataclass(frozen=True)
class RuleChange:
    """That the share of predictions with an outcome changed for good among some scores.

    Attributes
    ----------
    day : date
        The first day of the new rule.
    before, after : ScoreGroup
        The same scores, with the share that had an outcome until then, and has since.
    p : float
        Probability of a change this clear, at any day and among any scores, if there was none.
    """

    day: date
    before: ScoreGroup
    after: ScoreGroup
    p: float


def rule_change(days: Sequence[Summary]) -> RuleChange | None:
    """Find the day on which the share of predictions that have an outcome changed most clearly.

    Parameters
    ----------
    days : sequence of Summary
        Of single days, in order. Days whose outcomes can still arrive do not count.

    Returns
    -------
    RuleChange or None
        None if the shares may have stayed, if they changed by less than a factor of `TIMES` and
        less than `POINTS`, of fewer than twice `LEAST_DAYS` days, of several classes, and of
        samples by outcome.

    Notes
    -----
    Predictions in up to 5 groups of neighbouring scores, about as many in each. In each group, and
    at each day, the rates before and after are compared: ``t = (b - a) / sqrt(phi p (1 - p)
    (1 / n_b + 1 / n_a))``, where phi is Pearson's chi-squared of the daily counts around both
    rates, divided by its degrees of freedom and at least 1, because reviewers do not work alike on
    all days (McCullagh and Nelder, Generalized Linear Models, 1989, section 4.5). The p-value of
    Student's t is multiplied by the number of comparisons.

    Examples
    --------
    >>> from datetime import UTC, datetime, timedelta
    >>> from monitor.metrics.core.tally import tally_on_grid
    >>> from monitor.summary import Segment, awaited
    >>> known, first = datetime(2026, 4, 1, tzinfo=UTC), date(2026, 3, 1)
    >>> def day(i):
    ...     labelled = 780 if i < 9 else 410
    ...     late = awaited(np.array([9316]), np.array([1000 - labelled]))
    ...     part = Segment(tally_on_grid([0.9] * labelled, [1] * labelled), 1000, late)
    ...     return Summary("m", (first + timedelta(i),), {"all": part}, {}, True, known)
    >>> change = rule_change([day(i) for i in range(20)])
    >>> f"{change.day} {change.before.rate:.2f} {change.after.rate:.2f}"
    '2026-03-10 0.78 0.41'
    """
    kept = [d for d in days if d.final and not d.classes and d.class_weights == NO_SAMPLE]
    if len(kept) < 2 * LEAST_DAYS:
        return None
    labelled, late = (np.array(of) for of in zip(*map(_counts, kept), strict=True))
    total = (labelled + late).sum(axis=0)
    seen = np.flatnonzero(total)
    if not seen.size:
        return None
    starts = starts_of_groups(total[seen], GROUPS)
    with_, all_ = (
        np.add.reduceat(of[:, seen], starts, axis=1) for of in (labelled, labelled + late)
    )
    clearest = min(
        ((*_clearest(with_[:, i], all_[:, i]), i) for i in range(starts.size)),
        key=lambda change: change[0],
    )
    p, place, b, a, group = clearest
    p = min(1.0, p * starts.size)
    if p >= LEVEL or (max(a, b) < TIMES * min(a, b) and abs(a - b) < POINTS):
        return None
    low, high = (float(ends[group]) for ends in score_ends(seen, starts))
    return RuleChange(kept[place].days[-1], ScoreGroup(low, high, b), ScoreGroup(low, high, a), p)


def _counts(day: Summary) -> tuple[Ints, Ints]:
    """Count the predictions of a day with an outcome, and those without, by coarse cell."""
    parts = [by_coarse_cell(part) for part in day.segments.values()]
    labelled, late = np.sum(parts, axis=0)
    return labelled, late


def _clearest(with_: Ints, all_: Ints) -> tuple[float, int, float, float]:
    """Give the p-value of the clearest change of a rate, its place, and the rates around it."""
    best = 1.0, LEAST_DAYS, 0.0, 0.0
    places = range(LEAST_DAYS, with_.size - LEAST_DAYS + 1)
    for place in places:
        sides = slice(None, place), slice(place, None)
        sizes = [int(all_[side].sum()) for side in sides]
        if min(sizes) < LEAST_IN_GROUP:
            continue
        rates = [float(with_[side].sum()) / n for side, n in zip(sides, sizes, strict=True)]
        phi = max(1.0, _pearson(with_, all_, place) / (with_.size - 2))
        p = float(with_.sum()) / sum(sizes)
        error = sqrt(phi * p * (1.0 - p) * (1.0 / sizes[0] + 1.0 / sizes[1]))
        t = abs(rates[1] - rates[0]) / error if error else 0.0
        found = min(1.0, 2.0 * float(stdtr(with_.size - 2, -t)) * len(places))
        best = min(best, (found, place, rates[0], rates[1]))
    return best


def _pearson(with_: Ints, all_: Ints, place: int) -> float:
    """Sum the squared distances of daily counts from those of both sides, in their variances."""
    total = 0.0
    for side in (slice(None, place), slice(place, None)):
        n: Floats = all_[side].astype(np.float64)
        # Half a row more on each side, so that a rate of 0 or 1 has a variance.
        rate = (with_[side].sum() + 0.5) / (n.sum() + 1.0)
        variance = np.maximum(n, 1.0) * rate * (1.0 - rate)
        total += float(((with_[side] - n * rate) ** 2 / variance).sum())
    return total
