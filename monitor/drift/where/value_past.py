"""What the reference says of every value of the watched columns, and what of each is looked for.

Pure. Rule: a value is compared with itself in the reference, and with the other values of its
column on the same day. What moves all values of a column alike, such as the priors of columns that
are pooled in each of them, moves none of them against the others.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from monitor.days.summary import ColumnPart, Columns
from monitor.drift.curve.reference import SOUGHT, TOLERATED, Reference, by_direction
from monitor.drift.curve.variance import WEEK, between_day_variance
from monitor.drift.evidence.directions import LEAST_RATIO, LONG_RUN, WANDERING
from monitor.drift.records.day_evidence import DIRECTIONS
from monitor.drift.records.places import Condition
from monitor.drift.records.values import ValuePast
from monitor.drift.where.value_levels import KNOWN, NO_LEVEL, PULLS, fit_levels, value_levels
from monitor.metrics.core.grid import Floats, Ints
from monitor.metrics.logistic.conditional import score_directions

LEAST_SPREAD = 0.1  # logit: values of a column are not taken to be more alike than this
DOUBTED = 3.0  # standard errors by which a value must vary more than its column to be believed
SOUGHT_DAYS, SOUGHT_NATS = 7, 12.0  # a drift is looked for that a week shows at the limit
TINY = 1e-12
WIDTH = len(DIRECTIONS)
ZERO = np.zeros(WIDTH)


@dataclass(frozen=True, eq=False)
class ValueSums:
    """What the m values of a day say, each with a prior of its own.

    Attributes
    ----------
    names : tuple of Condition
        The values.
    scores, informations : ndarray of shape (m, 4)
        Along each direction of the reference, as in `DayEvidence`.
    levels : ndarray of shape (m, 10) or None
        `value_levels`; None if these are not looked at.
    """

    names: tuple[Condition, ...]
    scores: Floats
    informations: Floats
    levels: Floats | None = None

    def of(self, names: Sequence[Condition]) -> "ValueSums":
        """Give the sums of these values; 0 of those without an outcome."""
        place = {name: i for i, name in enumerate(self.names)}
        at = np.array([place.get(name, -1) for name in names], np.int64)
        scores, informations = (
            np.vstack([of, ZERO])[at] for of in (self.scores, self.informations)
        )
        levels = None if self.levels is None else np.vstack([self.levels, NO_LEVEL])[at]
        return ValueSums((*names,), scores, informations, levels)


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
        scores[i], informations[i] = _part_sums(reference, part)
    return ValueSums(names, scores, informations, value_levels(reference, parts))


def _part_sums(reference: Reference, part: ColumnPart) -> tuple[Floats, Floats]:
    first, last = np.searchsorted(part.cells, (reference.known.start, reference.known.stop))
    cells = part.cells[first:last]
    return score_directions(
        reference.curve[cells],
        np.ascontiguousarray(part.counts[first:last]),
        np.ascontiguousarray(part.positives[first:last]),
        np.ascontiguousarray(reference.directions[:, cells]),
    )


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


def fit_values(
    reference: Reference, days: Sequence[ValueSums], together: ValueSums | None = None
) -> ValuePast:
    """Learn of every value what it was in the reference.

    Parameters
    ----------
    reference : Reference
        Of the whole model.
    days : sequence of ValueSums
        Its days.
    together : ValueSums, optional
        Of all rows of these days as one day; without it no level is known.

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
        return ValuePast((), none, (), none)
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
    levels = _levels(numbers, days, together.of(names)) if together else None
    of_new = _price(reference, spreads, np.maximum.reduceat(week_variances, starts, axis=0), None)
    return ValuePast(
        tuple(names),
        np.stack([offsets, tolerances, effects, day_variances], axis=1),
        tuple(columns),
        np.stack([means, *of_new, np.array(usual_days)], axis=1),
        levels,
    )


def _levels(numbers: Ints, days: Sequence[ValueSums], together: ValueSums) -> Floats | None:
    """Learn the level of every value; None if these days do not say it."""
    whole, of_days = together.levels, [day.levels for day in days if day.levels is not None]
    if whole is None or len(of_days) < len(days):
        return None
    told = np.stack(of_days)
    pulls, left = told[..., PULLS][..., 1:], told[..., KNOWN][..., 1:]
    known = np.where(whole[:, KNOWN] > 0.0, whole[:, KNOWN], 1.0)
    pulls = pulls - left * (whole[:, PULLS] / known)[:, 1:]
    apart = against_others(numbers, pulls, left)
    by_itself, between = (_variances(numbers, *of)[0][:, 0] for of in ((pulls, left), apart))
    total = left.sum(axis=(0, 2))
    others = np.maximum(np.bincount(numbers, weights=total)[numbers] - total, 0.0)
    of_others = np.where(others > 0.0, 1.0 / np.where(others > 0.0, others, 1.0), 0.0)
    return fit_levels(whole, told, of_others, by_itself, between)


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
    squares = (informations**2).sum(axis=0)
    hanging = 1.0 + day_variances * squares / np.where(total > 0.0, total, 1.0)
    others = _sum_of_columns(numbers, total) - total
    # A value that has all rows of its column is compared with nothing.
    of_others = np.where(others > 0.0, 1.0 / np.where(others > 0.0, others, 1.0), 0.0)
    return np.asarray(hanging * (variances + of_others))


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
