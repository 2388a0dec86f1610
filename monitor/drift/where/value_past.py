"""What the reference says of every value of the watched columns, and what of each is looked for.

Pure. Rule: a value is compared with itself in the reference, and with the other values of its
column on the same day. What moves all values of a column alike, such as the priors of columns that
are pooled in each of them, moves none of them against the others. All scores of a value are off if
that shows in the three ways in which it shows in a stream (`monitor.drift.incidents.level_watch`),
and if what the base rate leaves over moved against the other values of the column too.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite, log, nan

import numpy as np

from monitor.days.summary import ColumnPart, Columns
from monitor.drift.curve.reference import (
    SOUGHT,
    TOLERATED,
    Reference,
    by_direction,
    dispersions,
    variance_of_kappa,
)
from monitor.drift.curve.variance import WEEK, between_day_variance
from monitor.drift.evidence.directions import LEAST_RATIO, LONG_RUN, WANDERING, bounded
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
from monitor.drift.records.day_evidence import DIRECTIONS
from monitor.drift.records.detector import LEVEL_KINDS, LEVEL_SIZES, SCORES_EQUAL, SCORES_OUTSIDE
from monitor.drift.records.places import Condition
from monitor.drift.records.values import OF_LEVEL, ValuePast
from monitor.drift.where.column_sums import LEAST_OF_EACH, known_rows
from monitor.metrics.core.coarse import CENTRES, Coarse
from monitor.metrics.core.grid import Floats, Ints
from monitor.metrics.core.ratio import ratio
from monitor.metrics.core.samples import Bools
from monitor.metrics.core.special import expit
from monitor.metrics.logistic.conditional import score_directions
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
LEAST_SPREAD = 0.1  # logit: values of a column are not taken to be more alike than this
DOUBTED = 3.0  # standard errors by which a value must vary more than its column to be believed
SOUGHT_DAYS, SOUGHT_NATS = 7, 12.0  # a drift is looked for that a week shows at the limit
TINY = 1e-12
WIDTH = len(DIRECTIONS)
ZERO = np.zeros(WIDTH)


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
    known = (rarer >= LEAST_OF_EACH) & (together[:, KNOWN].min(axis=1) > 0.0)
    information = np.where(known[:, None], together[:, KNOWN], 1.0)
    at = np.where(known[:, None], together[:, PULLS] / information, 0.0)
    errors = TOLERATED / np.sqrt(information)
    of_kappa = np.maximum(errors[:, KAPPA], USUAL * np.sqrt(variances))
    against = np.maximum(
        TOLERATED * np.sqrt(1.0 / information[:, KAPPA] + others), USUAL * np.sqrt(apart)
    )
    tolerances = np.maximum(
        LEAST_TOLERANCE, np.stack([errors[:, SHIFT], of_kappa, against], axis=1)
    )
    tolerances = np.where(known[:, None], tolerances, np.inf)
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


@dataclass(frozen=True, eq=False)
class ValueSums:
    """What the m values of a day say, each with a prior of its own.

    Attributes
    ----------
    names : tuple of Condition
        The values.
    scores, informations : ndarray of shape (m, 4)
        Along each direction of the reference, as in `DayEvidence`.
    levels : ndarray of shape (m, 10)
        `value_levels`.
    """

    names: tuple[Condition, ...]
    scores: Floats
    informations: Floats
    levels: Floats

    def of(self, names: Sequence[Condition]) -> "ValueSums":
        """Give the sums of these values; 0 of those without an outcome."""
        place = {name: i for i, name in enumerate(self.names)}
        at = np.array([place.get(name, -1) for name in names], np.int64)
        scores, informations = (
            np.vstack([of, ZERO])[at] for of in (self.scores, self.informations)
        )
        return ValueSums((*names,), scores, informations, np.vstack([self.levels, NO_LEVEL])[at])


def value_sums(reference: Reference, day: Columns) -> ValueSums:
    """Sum up what the values of a day say of each distortion.

    Examples
    --------
    >>> from monitor.drift.curve.reference import fit_reference
    >>> from monitor.metrics.core.coarse import CENTRES, Coarse
    >>> from monitor.metrics.core.special import expit
    >>> n = np.where(abs(CENTRES) < 3, 50, 0)
    >>> k = np.rint(n * expit(CENTRES)).astype(np.int64)
    >>> reference = fit_reference([{"all": Coarse(n, k)}] * 28)
    >>> cells = np.flatnonzero(n)
    >>> flat = np.full(cells.size, 25)
    >>> sums = value_sums(reference, {"os": {"ios": ColumnPart(cells, n[cells], flat, 1)}})
    >>> bool(sums.scores[0, 0] < 0.0)  # the slope of these outcomes is lower
    True
    """
    names = tuple(Condition(column, value) for column, values in day.items() for value in values)
    parts = [part for values in day.values() for part in values.values()]
    scores, informations = np.zeros((2, len(names), WIDTH))
    for i, part in enumerate(parts):
        scores[i], informations[i] = score_directions(*known_rows(reference, part))
    return ValueSums(names, scores, informations, value_levels(reference, parts))


def against_others(columns: Ints, scores: Floats, informations: Floats) -> tuple[Floats, Floats]:
    """Compare every value with the others of its column on the same day.

    Parameters
    ----------
    columns : ndarray of shape (m,)
        Number of the column of each value, from 0 on, not falling.
    scores, informations : ndarray of shape (..., m, 4)
        Of the values on a day, at their own curves.

    Returns
    -------
    tuple of ndarray of shape (..., m, 4)
        Score and information of the difference ``d = U_v / I_v - U_o / I_o``, with o all others:
        ``I = I_v I_o / (I_v + I_o)`` and ``U = d I``.

    Examples
    --------
    >>> scores = np.full((2, 4), 3.0)
    >>> known = np.full((2, 4), 10.0)
    >>> pull, left = against_others(np.zeros(2, int), scores, known)
    >>> float(pull[0, 0]), float(left[0, 0])  # both moved alike
    (0.0, 5.0)
    """
    starts = np.flatnonzero(np.append(True, columns[1:] != columns[:-1]))
    of_columns = [np.add.reduceat(of, starts, axis=-2) for of in (scores, informations)]
    both, totals = (of[..., columns, :] for of in of_columns)
    others = np.maximum(totals - informations, 0.0)
    total = np.where(totals > 0.0, totals, 1.0)
    pulls = (scores * others - informations * (both - scores)) / total
    return pulls, informations * others / total


def numbered(names: Sequence[Condition]) -> Ints:
    """Give each value the number of its column, in the order of columns."""
    order = {column: i for i, column in enumerate(dict.fromkeys(n.column for n in names))}
    return np.array([order[name.column] for name in names], np.int64)


def fit_values(reference: Reference, days: Sequence[ValueSums], together: ValueSums) -> ValuePast:
    """Learn of every value what it was in the reference.

    Parameters
    ----------
    reference : Reference
        Of the whole model.
    days : sequence of ValueSums
        Its days.
    together : ValueSums
        Of all rows of these days as one day, from which the levels are known.

    Notes
    -----
    The offset of a value is ``(U + mean / spread) / (I + 1 / spread)`` over its days, with the
    mean of its column and the variance between the column's values (at least 0.1 squared), so what
    is hardly known is taken for a usual value. Its error, that of the others, and what weeks vary
    by themselves, make tolerance and effect as for a segment: see
    `monitor.drift.evidence.directions.price`. Days vary as all values of the column do together, or
    more if the value's own days clearly do.
    """
    columns = dict.fromkeys(name.column for day in days for name in day.names)
    order = {column: i for i, column in enumerate(columns)}
    every = dict.fromkeys(name for day in days for name in day.names)
    names = sorted(every, key=lambda name: (order[name.column], name.value))
    if not names:
        none = np.zeros((0, 4, WIDTH))
        return ValuePast((), none, (), none, np.zeros((0, len(OF_LEVEL))))
    days = [day.of(names) for day in days]
    scores, informations = (
        np.stack([getattr(day, of) for day in days]) for of in ("scores", "informations")
    )
    numbers = numbered(names)
    means, spreads = _spreads(numbers, scores.sum(axis=0), informations.sum(axis=0))
    precisions = informations.sum(axis=0) + 1.0 / spreads[numbers]
    offsets = (scores.sum(axis=0) + (means / spreads)[numbers]) / precisions
    pulls, left = against_others(numbers, scores - offsets * informations, informations)
    day_variances, week_variances = _variances(numbers, pulls, left)
    errors = _errors(numbers, 1.0 / precisions, informations, day_variances)
    usual = informations.mean(axis=0)
    tolerances, effects = _price(reference, errors, week_variances, usual)
    starts = np.flatnonzero(np.append(True, numbers[1:] != numbers[:-1]))
    usual_days = [np.median(of, axis=0) for of in np.split(day_variances, starts[1:])]
    levels = _levels(numbers, days, together.of(names))
    of_new = _price(reference, spreads, np.maximum.reduceat(week_variances, starts, axis=0), None)
    return ValuePast(
        tuple(names),
        np.stack([offsets, tolerances, effects, day_variances], axis=1),
        tuple(columns),
        np.stack([means, *of_new, np.array(usual_days)], axis=1),
        levels,
    )


def _levels(numbers: Ints, days: Sequence[ValueSums], together: ValueSums) -> Floats:
    """Learn the level of every value."""
    whole, of_days = together.levels, np.stack([day.levels for day in days])
    pulls, left = of_days[..., PULLS][..., 1:], of_days[..., KNOWN][..., 1:]
    known = np.where(whole[:, KNOWN] > 0.0, whole[:, KNOWN], 1.0)
    pulls = pulls - left * (whole[:, PULLS] / known)[:, 1:]
    apart = against_others(numbers, pulls, left)
    by_itself, between = (_variances(numbers, *of)[0][:, 0] for of in ((pulls, left), apart))
    total = left.sum(axis=(0, 2))
    others = np.maximum(np.bincount(numbers, weights=total)[numbers] - total, 0.0)
    return fit_levels(whole, of_days, ratio(1.0, others), by_itself, between)


def _spreads(numbers: Ints, scores: Floats, informations: Floats) -> tuple[Floats, Floats]:
    """Find mean and variance of the values of each column, shape (columns, 4) each."""
    shape = (int(numbers[-1]) + 1, WIDTH)
    means, spreads = np.zeros(shape), np.full(shape, LEAST_SPREAD**2)
    for i, j in np.ndindex(shape):
        pull, left = scores[numbers == i, j], informations[numbers == i, j]
        total = left.sum()
        means[i, j] = pull.sum() / total if total > 0.0 else 0.0
        spreads[i, j] = max(LEAST_SPREAD**2, between_day_variance(pull, left, left**2))
    return means, spreads


def _variances(numbers: Ints, pulls: Floats, left: Floats) -> tuple[Floats, Floats]:
    """Find how much days vary, with their weeks, and how much weeks do; shape (m, 4) each."""
    gained, weights = _excess(pulls, left, left**2, 0.0)
    common = _sum_of_columns(numbers, gained) / _sum_of_columns(numbers, weights)
    own = gained / weights - DOUBTED * np.sqrt(2.0 / weights)
    of_days = np.maximum(0.0, np.maximum(common, own))
    weeks = np.arange(0, len(pulls), WEEK)
    of_weeks, left_of, squares = (np.add.reduceat(o, weeks, axis=0) for o in (pulls, left, left**2))
    gained, weights = _excess(of_weeks, left_of, squares, of_days)
    column = _clear(_sum_of_columns(numbers, gained), _sum_of_columns(numbers, weights), 2.0)
    every = _clear(gained.sum(axis=0), weights.sum(axis=0), 1.0)
    beyond = np.maximum(column, every)
    return of_days + LONG_RUN * WEEK * beyond, beyond


def _clear(gained: Floats, weights: Floats, doubt: float) -> Floats:
    """Give the excess that is left if chance made some standard errors of it, at least 0."""
    return np.asarray(np.maximum(0.0, gained / weights - doubt * np.sqrt(2.0 / weights)))


def _excess(
    pulls: Floats, left: Floats, squares: Floats, day_variances: Floats | float
) -> tuple[Floats, Floats]:
    """Add up what spans of days vary beyond chance and beyond their days, and its weight."""
    lost = len(pulls) / max(1, len(pulls) - 1)  # the offset was fitted to these days
    gained = (lost * pulls**2 - left - day_variances * squares).sum(axis=0)
    return gained, np.maximum((left**2).sum(axis=0), TINY)


def _sum_of_columns(numbers: Ints, values: Floats) -> Floats:
    """Give each value the sum over its column, shape (m, 4)."""
    starts = np.flatnonzero(np.append(True, numbers[1:] != numbers[:-1]))
    return np.asarray(np.add.reduceat(values, starts, axis=0)[numbers])


def _errors(
    numbers: Ints, variances: Floats, informations: Floats, day_variances: Floats
) -> Floats:
    """Give the variance of each offset against those of the others of its column."""
    total = informations.sum(axis=0)
    others = _sum_of_columns(numbers, total) - total
    # A value that has all rows of its column is compared with nothing.
    return dispersions(day_variances, informations) * (variances + ratio(1.0, others))


def _price(
    reference: Reference, variances: Floats, week_variances: Floats, usual: Floats | None
) -> tuple[Floats, Floats]:
    """Find what is tolerated and what is looked for; `usual` is the information of a day."""
    sensitivity = reference.sensitivity
    errors = np.sqrt(variances)
    tolerances = np.maximum(
        by_direction(sensitivity.tolerances),
        TOLERATED * np.sqrt(variances + WANDERING * week_variances),
    )
    least = np.broadcast_to(by_direction(sensitivity.effects), errors.shape)
    if usual is not None:
        shown = np.sqrt(2.0 * SOUGHT_NATS / (SOUGHT_DAYS * np.where(usual > 0.0, usual, 1.0)))
        least = np.maximum(least, np.where(usual > 0.0, shown, 0.0))
    effects = np.maximum(np.maximum(least, SOUGHT * errors), LEAST_RATIO * tolerances)
    return tolerances, effects
