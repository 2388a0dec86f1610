"""The level of every value of the watched columns: what it was, and what a day says of it. Pure.

Rule: all scores of a value are off if that shows in the three ways in which it shows in a stream
(`monitor.drift.incidents.level_watch`), and if what the base rate leaves over moved against the
other values of the column too. So what moves all values alike is a matter of the whole.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite, log

import numpy as np

from monitor.days.summary import ColumnPart
from monitor.drift.curve.reference import TOLERATED, Reference, variance_of_kappa
from monitor.drift.evidence.directions import bounded
from monitor.drift.incidents.level_watch import (
    HARDLY,
    LEAST_DISTINCT,
    LEAST_ROWS,
    LEAST_TOLERANCE,
    MOSTLY,
    SIDES,
    SIZES,
    USUAL,
    Moves,
    bets_of,
    continued,
    ratio_of,
)
from monitor.drift.records.detector import LEVEL_KINDS, LEVEL_SIZES, SCORES_EQUAL, SCORES_OUTSIDE
from monitor.drift.records.places import Condition
from monitor.drift.where.column_sums import LEAST_OF_EACH
from monitor.metrics.core.coarse import CENTRES, Coarse
from monitor.metrics.core.grid import Floats, Ints
from monitor.metrics.core.samples import Bools
from monitor.metrics.core.special import expit
from monitor.metrics.logistic.level import fit_level

SHIFT, KAPPA = 0, 1  # the columns of what is known of the level
LEAST_OF_A_DAY = 2  # outcomes of each class, before a day says anything of a level
TOLERANCES, DISTINCT, SEEN = slice(2, 5), 5, 6  # of what `values.OF_LEVEL` lists
SUMS = len(LEVEL_KINDS) * LEVEL_SIZES


@dataclass(frozen=True, eq=False)
class ValueLevels:
    """What the m values of a day say of their levels.

    Attributes
    ----------
    scores, informations : ndarray of shape (m, 2)
        The intercept on the curve of the whole over its variance, and one over this; the same of
        the intercept less the logit of the prevalence. 0 of values with too few outcomes.
    rows, hits, seen : ndarray of shape (m,)
        Predictions with an outcome, positive ones, and those whose curve the reference knows.
    distinct : ndarray of shape (m,)
        Number of coarse cells that have scores.
    means, expected : ndarray of shape (m,)
        Mean score, and the share of positives by the curve of the whole; nan without rows.
    """

    scores: Floats
    informations: Floats
    rows: Ints
    hits: Ints
    seen: Ints
    distinct: Ints
    means: Floats
    expected: Floats


def value_levels(reference: Reference, parts: Sequence[ColumnPart]) -> ValueLevels:
    """Sum up what the values of a day say of their levels.

    Examples
    --------
    >>> from monitor.drift.curve.reference import fit_reference
    >>> n = np.where(abs(CENTRES) < 3, 50, 0)
    >>> k = np.rint(n * expit(CENTRES)).astype(np.int64)
    >>> reference = fit_reference([{"all": Coarse(n, k)}] * 28)
    >>> cells = np.flatnonzero(n)
    >>> raised = ColumnPart(cells + 32, n[cells], k[cells], 1)  # by one logit
    >>> levels = value_levels(reference, [raised])
    >>> [round(float(of), 1) for of in levels.scores[0] / levels.informations[0]]
    [-1.0, -1.0]
    """
    curve, known, m = continued(reference), reference.known, len(parts)
    scores, informations = np.zeros((2, m, 2))
    means, expected = np.full((2, m), np.nan)
    counts = np.zeros((4, m), np.int64)
    for i, part in enumerate(parts):
        n, k = part.counts, part.positives
        rows, hits = int(n.sum()), int(k.sum())
        inside = (part.cells >= known.start) & (part.cells < known.stop)
        counts[:, i] = rows, hits, n[inside].sum(), np.count_nonzero(n)
        if rows:
            means[i] = n @ expit(CENTRES[part.cells]) / rows
            expected[i] = n @ expit(curve[part.cells]) / rows
        if min(hits, rows - hits) >= LEAST_OF_A_DAY:
            level = fit_level(curve[part.cells], Coarse(n, k))
            if isfinite(level.delta):
                informations[i] = 1.0 / level.delta_variance, 1.0 / variance_of_kappa(level)
                scores[i] = informations[i] * (level.delta, level.delta - level.log_odds)
    rows_of, hits_of, seen, distinct = counts
    return ValueLevels(scores, informations, rows_of, hits_of, seen, distinct, means, expected)


def fit_levels(
    together: ValueLevels,
    days: Sequence[ValueLevels],
    others: Floats,
    variances: Floats,
    apart: Floats,
) -> Floats:
    """Learn of every value what its level was in the reference, and how far it moves by itself.

    Parameters
    ----------
    together : ValueLevels
        Of all days of the reference as one.
    days : sequence of ValueLevels
        Of each day, with the same m values.
    others : ndarray of shape (m,)
        The variance of what the base rate leaves over, of the other values of the column.
    variances, apart : ndarray of shape (m,)
        How far that moves from day to day, by itself and against the other values.

    Returns
    -------
    ndarray of shape (m, 7)
        As in `ValuePast.levels`; infinite tolerances of values with too few outcomes.
    """
    rarer = np.minimum(together.hits, together.rows - together.hits)
    told = (rarer >= LEAST_OF_EACH) & (together.informations.min(axis=1) > 0.0)
    information = np.where(told[:, None], together.informations, 1.0)
    at = np.where(told[:, None], together.scores / information, 0.0)
    errors = TOLERATED / np.sqrt(information)
    of_kappa = np.maximum(errors[:, KAPPA], USUAL * np.sqrt(variances))
    against = np.maximum(
        TOLERATED * np.sqrt(1.0 / information[:, KAPPA] + others), USUAL * np.sqrt(apart)
    )
    tolerances = np.maximum(
        LEAST_TOLERANCE, np.stack([errors[:, SHIFT], of_kappa, against], axis=1)
    )
    tolerances = np.where(told[:, None], tolerances, np.inf)
    rows, distinct, seen = (np.stack([getattr(d, of) for d in days]) for of in
                            ("rows", "distinct", "seen"))  # fmt: skip
    enough = rows >= LEAST_ROWS
    least = np.where(enough, distinct, np.inf).min(axis=0)
    least_seen = np.where(enough, seen / np.maximum(rows, 1), np.inf).min(axis=0)
    usual = [np.where(enough.any(axis=0), of, 0.0) for of in (least, least_seen)]
    return np.column_stack([at, tolerances, *usual])


def accumulated_levels(
    known: Floats, before: Floats, own: Floats, informations: Floats, pulls: Floats, left: Floats
) -> Floats:
    """Add a day to the sums of both sides and three sizes, shape (m, 6); see `advance_level`.

    Parameters
    ----------
    known : ndarray of shape (m, 7)
        `ValuePast.levels`.
    before : ndarray of shape (m, 6)
        The sums.
    own, informations : ndarray of shape (m, 2)
        Of the day, against what the values were in the reference.
    pulls, left : ndarray of shape (m,)
        Of what the base rate leaves over, against the others of the column.
    """
    ratios, told = level_ratios(known, own, informations, pulls, left)
    return np.where(told[:, None], (before + 1.0) * 10.0**ratios, before)


def level_ratios(
    known: Floats, own: Floats, informations: Floats, pulls: Floats, left: Floats
) -> tuple[Floats, Bools]:
    """Give what is bet on a day, log10, shape (m, 6), and of which values it says anything."""
    told = (
        (informations.min(axis=1) > 0.0)
        & (left > 0.0)
        & np.isfinite(known[:, TOLERANCES]).all(axis=1)
    )
    ratios = np.zeros((len(told), SUMS))
    if told.any():
        shift, kappa = (own[told] / informations[told])[:, :, None, None].swapaxes(0, 1)
        errors = 1.0 / np.sqrt(informations[told])[:, :, None, None].swapaxes(0, 1)
        of_shift, of_kappa, against = known[told, TOLERANCES].T[:, :, None, None]
        bets = bets_of(Moves(shift, errors[0], kappa, errors[1]), np.stack([of_shift, of_kappa]))
        variance = 1.0 / left[told][:, None, None]
        apart = SIDES[:, None] * (pulls[told][:, None, None] * variance)
        against_others = ratio_of(apart, variance, against, np.maximum(SIZES, 2.0 * against))
        ratios[told] = bounded(np.minimum(bets, against_others) / log(10.0)).reshape(-1, SUMS)
    return ratios, told


def silent_values(
    known: Floats, columns: Ints, today: ValueLevels
) -> tuple[list[str | None], Bools]:
    """Say of each value whether its scores cannot be compared with the reference, and why.

    Parameters
    ----------
    known : ndarray of shape (m, 7)
        `ValuePast.levels`.
    columns : ndarray of shape (m,)
        Number of the column of each value.
    today : ValueLevels
        Of the day, with the same values.

    Returns
    -------
    tuple of list and ndarray of shape (m,)
        One of `NOT_COMPARABLE` of values whose scores were different on every day of the reference,
        and mostly known; None of others. And whether most rows of the column are not the same: else
        that is a matter of the whole.
    """
    rows, hits = today.rows, today.hits
    enough = (rows >= LEAST_ROWS) & (hits > 0) & (hits < rows)
    equal = enough & (today.distinct == 1) & (known[:, DISTINCT] >= LEAST_DISTINCT)
    outside = enough & ~equal & (today.seen < HARDLY * rows) & (known[:, SEEN] >= MOSTLY)
    totals, gone = (np.bincount(columns, weights=of) for of in (rows, rows * (equal | outside)))
    why = np.select([equal, outside], [SCORES_EQUAL, SCORES_OUTSIDE], "")
    return [each or None for each in why.tolist()], (gone <= MOSTLY * totals)[columns]


def no_levels() -> ValueLevels:
    """Give the levels of no values."""
    none, counts = np.zeros(0), np.zeros(0, np.int64)
    pairs = np.zeros((0, 2))
    return ValueLevels(pairs, pairs, counts, counts, counts, counts, none, none)


def aligned(levels: ValueLevels, place: Ints) -> ValueLevels:
    """Give the levels of values by their places; nothing of those whose place is -1."""
    ends = {"means": np.nan, "expected": np.nan}
    return ValueLevels(
        **{
            name: np.concatenate([of, np.full((1, *of.shape[1:]), ends.get(name, 0), of.dtype)])[
                place
            ]
            for name, of in vars(levels).items()
        }
    )


def places_of(names: Sequence[Condition], among: Sequence[Condition]) -> Ints:
    """Give the place of each name among others; -1 of those that are not there."""
    place = {name: i for i, name in enumerate(among)}
    return np.array([place.get(name, -1) for name in names], np.int64)
