"""The level of every value of the watched columns: what it was, and what a day says of it. Pure.

Rule: all scores of a value are off if that shows in the three ways in which it shows in a stream
(`monitor.drift.incidents.level_watch`), and if what the base rate leaves over moved against the
other values of the column too. So what moves all values alike is a matter of the whole.
"""

from collections.abc import Sequence
from math import isfinite, log, nan

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
from monitor.drift.where.column_sums import LEAST_OF_EACH
from monitor.metrics.core.coarse import CENTRES, Coarse
from monitor.metrics.core.grid import Floats, Ints
from monitor.metrics.core.samples import Bools
from monitor.metrics.core.special import expit
from monitor.metrics.logistic.level import fit_level

SHIFT, KAPPA = 0, 1  # the columns of what is known of the level
LEAST_OF_A_DAY = 2  # outcomes of each class, before a day says anything of a level
TOLERANCES, USUAL_DISTINCT, USUAL_SEEN = slice(2, 5), 5, 6  # of what `values.OF_LEVEL` lists
SUMS = len(LEVEL_KINDS) * LEVEL_SIZES
# What a day says of the level of a value: the intercept on the curve of the whole over its variance
# and the same of that less the logit of the prevalence; one over both variances, 0 with too few
# outcomes; predictions with an outcome, positive ones, and those whose curve the reference knows;
# the coarse cells that have scores; the mean score, and the share of positives by the curve.
PULLS, KNOWN = slice(0, 2), slice(2, 4)
ROWS, HITS, SEEN, DISTINCT, MEAN, EXPECTED = range(4, 10)
NO_LEVEL = np.array([*(0.0,) * 8, nan, nan])


def value_levels(reference: Reference, parts: Sequence[ColumnPart]) -> Floats:
    """Sum up what the m values of a day say of their levels, shape (m, 10): see `NO_LEVEL`.

    Examples
    --------
    >>> from monitor.drift.curve.reference import fit_reference
    >>> n = np.where(abs(CENTRES) < 3, 50, 0)
    >>> k = np.rint(n * expit(CENTRES)).astype(np.int64)
    >>> reference = fit_reference([{"all": Coarse(n, k)}] * 28)
    >>> cells = np.flatnonzero(n)
    >>> raised = ColumnPart(cells + 32, n[cells], k[cells], 1)  # by one logit
    >>> levels = value_levels(reference, [raised])
    >>> (levels[0, PULLS] / levels[0, KNOWN]).round(1).tolist()
    [-1.0, -1.0]
    """
    curve, known = continued(reference), reference.known
    levels = np.tile(NO_LEVEL, (len(parts), 1))
    for said, part in zip(levels, parts, strict=True):
        n, k = part.counts, part.positives
        rows, hits = int(n.sum()), int(k.sum())
        inside = (part.cells >= known.start) & (part.cells < known.stop)
        said[ROWS : DISTINCT + 1] = rows, hits, n[inside].sum(), np.count_nonzero(n)
        if rows:
            said[MEAN] = n @ expit(CENTRES[part.cells]) / rows
            said[EXPECTED] = n @ expit(curve[part.cells]) / rows
        if min(hits, rows - hits) >= LEAST_OF_A_DAY:
            level = fit_level(curve[part.cells], Coarse(n, k))
            if isfinite(level.delta):
                said[KNOWN] = 1.0 / level.delta_variance, 1.0 / variance_of_kappa(level)
                said[PULLS] = said[KNOWN] * (level.delta, level.delta - level.log_odds)
    return levels


def fit_levels(
    together: Floats, days: Floats, others: Floats, variances: Floats, apart: Floats
) -> Floats:
    """Learn of every value what its level was in the reference, and how far it moves by itself.

    Parameters
    ----------
    together : ndarray of shape (m, 10)
        `value_levels` of all days of the reference as one.
    days : ndarray of shape (days, m, 10)
        Of each day, with the same values.
    others : ndarray of shape (m,)
        The variance of what the base rate leaves over, of the other values of the column.
    variances, apart : ndarray of shape (m,)
        How far that moves from day to day, by itself and against the other values.

    Returns
    -------
    ndarray of shape (m, 7)
        As in `ValuePast.levels`; infinite tolerances of values with too few outcomes.
    """
    rarer = np.minimum(together[:, HITS], together[:, ROWS] - together[:, HITS])
    told = (rarer >= LEAST_OF_EACH) & (together[:, KNOWN].min(axis=1) > 0.0)
    information = np.where(told[:, None], together[:, KNOWN], 1.0)
    at = np.where(told[:, None], together[:, PULLS] / information, 0.0)
    errors = TOLERATED / np.sqrt(information)
    of_kappa = np.maximum(errors[:, KAPPA], USUAL * np.sqrt(variances))
    against = np.maximum(
        TOLERATED * np.sqrt(1.0 / information[:, KAPPA] + others), USUAL * np.sqrt(apart)
    )
    tolerances = np.maximum(
        LEAST_TOLERANCE, np.stack([errors[:, SHIFT], of_kappa, against], axis=1)
    )
    tolerances = np.where(told[:, None], tolerances, np.inf)
    rows = days[..., ROWS]
    each = np.stack([days[..., DISTINCT], days[..., SEEN] / np.maximum(rows, 1)], axis=-1)
    enough = (rows >= LEAST_ROWS)[..., None]
    least = np.where(enough, each, np.inf).min(axis=0)
    return np.column_stack([at, tolerances, np.where(enough.any(axis=0), least, 0.0)])


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


def silent_values(known: Floats, columns: Ints, today: Floats) -> tuple[list[str | None], Bools]:
    """Say of each value whether its scores cannot be compared with the reference, and why.

    Parameters
    ----------
    known : ndarray of shape (m, 7)
        `ValuePast.levels`.
    columns : ndarray of shape (m,)
        Number of the column of each value.
    today : ndarray of shape (m, 10)
        `value_levels` of the day, with the same values.

    Returns
    -------
    tuple of list and ndarray of shape (m,)
        One of `NOT_COMPARABLE` of values whose scores were different on every day of the reference,
        and mostly known; None of others. And whether most rows of the column are not the same: else
        that is a matter of the whole.
    """
    rows = today[:, ROWS]
    enough = can_tell(rows, today[:, HITS])
    equal = enough & (today[:, DISTINCT] == 1) & (known[:, USUAL_DISTINCT] >= LEAST_DISTINCT)
    outside = enough & ~equal & (today[:, SEEN] < HARDLY * rows) & (known[:, USUAL_SEEN] >= MOSTLY)
    totals, gone = (np.bincount(columns, weights=of) for of in (rows, rows * (equal | outside)))
    why = np.select([equal, outside], [SCORES_EQUAL, SCORES_OUTSIDE], "")
    return [each or None for each in why.tolist()], (gone <= MOSTLY * totals)[columns]


def can_tell(rows: Floats, hits: Floats) -> Bools:
    """Say where rows are enough, and outcomes different, to call their scores no scores."""
    return np.asarray((rows >= LEAST_ROWS) & (hits > 0) & (hits < rows))
