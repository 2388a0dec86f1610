"""Values of columns, alone and in sets: how far each moved, and the rest without them. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log

import numpy as np

from monitor.base.segment_names import CROSSED, OTHER
from monitor.drift.curve.reference import Reference
from monitor.drift.records.day_evidence import DIRECTIONS
from monitor.drift.records.places import Condition
from monitor.drift.where.column_sums import Periods, Sums, is_enough, nothing, whole_of
from monitor.metrics.core.grid import Floats, Ints
from monitor.metrics.core.samples import Bools

TINY = 1e-12
WIDTH = len(DIRECTIONS)

AllSums = Mapping[str, Periods]  # by column


@dataclass(frozen=True, eq=False)
class Values:
    """What is known of m values; period 0 is the reference, 1 the time since the drift began.

    Attributes
    ----------
    conditions : tuple of Condition
        Their names.
    parts, wholes : tuple of (Sums, Sums)
        Of each value, and of all values of its column, in both periods.
    """

    conditions: tuple[Condition, ...]
    parts: tuple[tuple[Sums, Sums], ...]
    wholes: tuple[tuple[Sums, Sums], ...]

    @property
    def past(self) -> Bools:
        """Whether the reference has enough outcomes of each value, shape (m,)."""
        return np.array([is_enough(old) for old, _ in self.parts], bool)

    @property
    def shares(self) -> Floats:
        """Share of the outcomes since the drift began that each value has, shape (m,)."""
        both = zip(self.parts, self.wholes, strict=True)
        return np.array([part.rows / whole.rows for (_, part), (_, whole) in both])

    def chosen(self, indices: Sequence[int]) -> "Values":
        """Keep some of them."""
        return Values(*(tuple(of[i] for i in indices) for of in vars(self).values()))


@dataclass(frozen=True, eq=False)
class ValueSets:
    """What n sets of s values come to, along each direction.

    Attributes
    ----------
    members : ndarray of shape (n, s)
        Places of the values.
    rest, errors : ndarray of shape (n, 4)
        Change of the rows that have none of them, with its standard error.
    effects : ndarray of shape (n, 4, s)
        By how much each value changed more than the rest, given the others.
    covariances : ndarray of shape (n, 4, s, s)
        Of the effects.
    kept_share : ndarray of shape (n,)
        Share of the information that the rest keeps, where it keeps least.
    """

    members: Ints
    rest: Floats
    errors: Floats
    effects: Floats
    covariances: Floats
    kept_share: Floats

    @property
    def evidence(self) -> Floats:
        """Log10 of how much better changes of their own fit than that of the rest, (n, 4)."""
        solved = np.linalg.solve(self.covariances, self.effects[..., None])[..., 0]
        squared = np.einsum("nds,nds->nd", self.effects, solved)
        return np.asarray((squared - self.members.shape[1]) / (2.0 * log(10.0)))


@dataclass(frozen=True, eq=False)
class Layout:
    """The sums of m values as arrays.

    Attributes
    ----------
    scores, squares : ndarray of shape (2, m, 4)
        As in `Sums`.
    informations : ndarray of shape (2, m, m, 4)
        What two values share, with their own on the diagonal.
    whole_scores, whole_informations, whole_squares : ndarray of shape (2, m, 4)
        Of all values of each one's column.
    shares : ndarray of shape (m, m)
        Share of the outcomes that have both values.
    past : ndarray of shape (m,)
        Whether the reference has enough outcomes of the value.
    """

    scores: Floats
    squares: Floats
    informations: Floats
    whole_scores: Floats
    whole_informations: Floats
    whole_squares: Floats
    shares: Floats
    past: Bools


def values_of(sums: AllSums) -> Values:
    """Lay out the values that have enough outcomes since the drift began."""
    conditions, parts, wholes = [], [], []
    for column, (old, now) in sums.items():
        whole = whole_of(old, now)
        for value, part in now.items():
            if value != OTHER and is_enough(part) and is_enough(whole[0]):
                conditions.append(Condition(column, value))
                parts.append((old.get(value, nothing()), part))
                wholes.append(whole)
    return Values(tuple(conditions), tuple(parts), tuple(wholes))


def lay_out(sums: AllSums, values: Values) -> Layout:
    """Lay out the sums of values, and what they share as far as their crossing is known."""

    def stacked(of: Sequence[tuple[Sums, Sums]], name: str) -> Floats:
        return np.array([[getattr(both[period], name) for both in of] for period in (0, 1)])

    own, whole = (stacked(of, "informations") for of in (values.parts, values.wholes))
    # Of two columns that are not crossed, as if they were independent.
    ratios = own / np.maximum(whole, TINY)
    informations = ratios[:, :, None] * own[:, None]
    shares = np.multiply.outer(values.shares, values.shares)
    for i, condition in enumerate(values.conditions):
        informations[:, i, i], shares[i, i] = own[:, i], values.shares[i]
        for j, other in enumerate(values.conditions[:i] if sums else ()):
            both = rows_of_both(sums, condition, other)
            if both is None:
                continue
            shared = np.array([of.informations for of in both])
            most = np.minimum(own[:, i], own[:, j])
            informations[:, i, j] = informations[:, j, i] = np.minimum(shared, most)
            shares[i, j] = shares[j, i] = both[1].rows / values.wholes[i][1].rows
    return Layout(
        stacked(values.parts, "scores"),
        stacked(values.parts, "squares"),
        informations,
        stacked(values.wholes, "scores"),
        whole,
        stacked(values.wholes, "squares"),
        shares,
        values.past,
    )


def rows_of_both(sums: AllSums, one: Condition, other: Condition) -> tuple[Sums, Sums] | None:
    """Find the rows that have two values; None if their columns are not crossed."""
    if one.column == other.column:
        return nothing(), nothing()
    for first, second in ((one, other), (other, one)):
        crossed = sums.get(f"{first.column}{CROSSED}{second.column}")
        if crossed:
            value = f"{first.value}{CROSSED}{second.value}"
            old, now = (period.get(value) for period in crossed)
            return (old or nothing(), now) if now else None
    return None


def fit_sets(reference: Reference, layout: Layout, members: Ints) -> ValueSets:
    """Estimate the changes of the rest and of the values of each set."""
    count, size = members.shape
    change = np.zeros((count, WIDTH, size + 1))
    covariance = np.zeros((count, WIDTH, size + 1, size + 1))
    rest_share = np.ones(count)
    for period, sign in ((1, 1.0), (0, -1.0)):
        there = layout.past[members] if period == 0 else np.ones(members.shape, bool)
        matrix = _matrix(layout, period, members, there)
        scores = np.empty((count, WIDTH, size + 1))
        scores[..., 0] = layout.whole_scores[period, members[:, 0]]
        scores[..., 1:] = np.moveaxis(layout.scores[period, members], 1, 2)
        inverse = np.linalg.inv(matrix)
        kept = np.concatenate([np.ones((count, 1), bool), there], axis=1)[:, None]
        inverse = np.where(kept[..., None] & kept[..., None, :], inverse, 0.0)
        change += sign * np.einsum("ndij,ndj->ndi", inverse, scores)
        first = inverse[..., 0, 0]
        left = np.where(first > 0.0, 1.0 / np.where(first > 0.0, first, 1.0), 0.0)
        rest_share = np.minimum(rest_share, (left / matrix[..., 0, 0]).min(axis=1))
        covariance += inverse + _wandering(reference, layout, period, members, there, left)
    return ValueSets(
        members,
        change[..., 0],
        np.sqrt(np.maximum(covariance[..., 0, 0], TINY)),
        change[..., 1:],
        covariance[..., 1:, 1:],
        rest_share,
    )


def _matrix(layout: Layout, period: int, members: Ints, there: Bools) -> Floats:
    """Lay out the information that the whole and the values share, shape (n, 4, s + 1, s + 1)."""
    count, size = members.shape
    matrix = np.zeros((count, WIDTH, size + 1, size + 1))
    matrix[..., 0, 0] = np.maximum(layout.whole_informations[period, members[:, 0]], TINY)
    shared = layout.informations[period, members[:, :, None], members[:, None]]
    shared = np.where((there[:, :, None] & there[:, None])[..., None], shared, 0.0)
    matrix[..., 1:, 1:] = np.moveaxis(shared, 3, 1)
    own = np.einsum("ndss->nds", matrix[..., 1:, 1:])
    matrix[..., 0, 1:] = matrix[..., 1:, 0] = own
    # Hardly more than it is, so that a value that has all rows of another can be inverted too.
    diagonal = np.arange(1, size + 1)
    matrix[..., diagonal, diagonal] = np.where(own > 0.0, own * (1.0 + 1e-9), 1.0)
    return matrix


def _wandering(
    reference: Reference,
    layout: Layout,
    period: int,
    members: Ints,
    there: Bools,
    left: Floats,
) -> Floats:
    """Return how much the rest, and each value beyond it, vary by themselves from day to day."""
    count, size = members.shape
    squares = np.where(there[..., None], layout.squares[period, members], 0.0)
    rest = np.maximum(layout.whole_squares[period, members[:, 0]] - squares.sum(axis=1), 0.0)
    rest = np.where(left > 0.0, rest / np.maximum(left, TINY) ** 2, 0.0)
    own = layout.informations[period, members, members]
    of_values = np.where(own > 0.0, squares / np.maximum(own, TINY) ** 2, 0.0)
    covariances = np.empty((count, WIDTH, size + 1, size + 1))
    covariances[...] = rest[..., None, None]
    covariances[..., 0, 1:] = covariances[..., 1:, 0] = -rest[..., None]
    diagonal = np.arange(1, size + 1)
    covariances[..., diagonal, diagonal] += np.moveaxis(of_values, 1, 2)
    return np.asarray(reference.day_variances[:, None, None] * covariances)
