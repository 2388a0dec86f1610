"""Which few values explain a drift: without them the rest is as before, in every way. Pure.

Rule 1: some values explain a drift if the rest of the rows is as before along every direction, if
each of them is off given the others, and if no fewer of them do.
Rule 2: of several such sets the one with most evidence is named. Rows that share a part of those
that drifted have less of it, whether they are more or fewer. What has hardly less is named beside.
Rule 3: what is off beside them is named too, unless it may be off by rows that it shares with them:
then its column is off in several values, or the rest is no nearer to what it was without it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import log, log10
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from monitor.base.segment_names import CROSSED, OTHER
from monitor.drift.curve.reference import Reference
from monitor.drift.records.day_evidence import DIRECTIONS, kind_of
from monitor.drift.records.places import Condition, Explanation, Opposite, name_all
from monitor.drift.where.column_sums import (
    AS_BEFORE,
    Periods,
    Sums,
    all_exceeding,
    change_of,
    evidence_of,
    exceeding,
    is_enough,
    nothing,
    relative_slope,
    whole_of,
)
from monitor.metrics.core.estimate import Estimate
from monitor.metrics.core.grid import Floats, Ints
from monitor.metrics.core.ratio import ratio
from monitor.metrics.core.samples import Bools
from monitor.metrics.core.special import chdtrc

TINY = 1e-12
WIDTH = len(DIRECTIONS)

AllSums = Mapping[str, Periods]  # by column
MOST_TOGETHER = 5  # values that are called few
MOST_TRIED = 50  # values, the clearest ones, of which a few are combined
MOST_KEPT = 20  # sets of a size, with the least left in the rest, that a value is added to
MOST_ROWS = 0.5  # of the outcomes: what is off in most rows is off in the whole
LEAST_EXPLAINED = 0.5  # of the evidence, by the values that are said to explain it
LEAST_REST = 0.1  # of the information: from less, "as before" would only mean that it is small
CHANCE = 0.05  # that a value is called off in its own right by chance, of all values
NOTHING_LEFT = 0.01  # a rest that is less likely without a change may need another value
NEARLY = 2.0  # log10: sets of values with so much less evidence are named as well
NOT_SHARED: AllSums = MappingProxyType({})
NEARER = 1.0  # squared standard errors by which the rest without a further value must be nearer
FURTHER = 4.0  # by which a rest that is further away shows that it only shares rows
ALONE = 0.01  # less likely changes of the other values of its column say that these are off too
STILL = 50.0  # times less likely may a sound rest be without values that were named before


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

    def named(self, indices: Sequence[int]) -> tuple[Condition, ...]:
        """Name some of them."""
        return tuple(self.conditions[i] for i in indices)

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
        left = ratio(1.0, first)
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


@dataclass(frozen=True, eq=False)
class _Found:
    """A set of values that explains the drift.

    Attributes
    ----------
    members : tuple of int
        Places of its values.
    direction : int
        Along which its evidence is largest.
    score : float
        That evidence, log10, less the price of its values.
    change : float
        Mean change of its values along that direction, in logit.
    rest, errors : ndarray of shape (4,)
        As in `ValueSets`.
    rows : float
        Share of the outcomes that have any of its values.
    """

    members: tuple[int, ...]
    direction: int
    score: float
    change: float
    rest: Floats
    errors: Floats
    rows: float


def explain(
    reference: Reference,
    sums: AllSums,
    held: Sequence[Condition] = (),
    shared: AllSums = NOT_SHARED,
) -> Explanation | None:
    """Find the few values without which all is as before.

    Parameters
    ----------
    reference : Reference
        Of the whole model.
    sums : mapping of str to (mapping, mapping)
        The values of every column, in the reference and since the drift began.
    held : sequence of Condition
        Values that were named before: they stay unless the outcomes speak against them.
    shared : mapping of str to (mapping, mapping)
        Crossings of these columns whose values are not named themselves.

    Returns
    -------
    Explanation or None
        Values of one column or of several, with the distortion that they have.

    Notes
    -----
    One step of a logistic regression with a change for the rest and a further one for each
    value: in each period ``M b = u``, where u holds the score of all rows and of the rows of each
    value, and M their information and that of the rows that they share. Values of one column share
    no rows, so b of the rest is ``(U - U_v) / (I - I_v)``. What two columns share is known where
    their crossing is counted; otherwise they count as independent. A value without a past is
    compared with the curve of all.

    With the s further changes d of a set and their covariance V, its evidence is
    ``(d' V^-1 d - s) / (2 ln 10)`` along the direction that has most of it, less ``log10 m`` for
    each of its values, of m values.
    """
    every, known = values_of(sums), {**sums, **shared}
    if not every.conditions:
        return None
    values = _clearest(reference, every, held)
    before = frozenset(i for i, each in enumerate(values.conditions) if each in held)
    price = log10(len(every.conditions))
    sets = _explaining(reference, lay_out(known, values), before, price)
    if not sets:
        return None
    sets.sort(key=lambda each: -each.score)
    clear = [each for each in sets if each.score > sets[0].score - NEARLY]
    chosen = next((each for each in clear if {*each.members} == before), clear[0])
    instead = [name_all(values.named(each.members)) for each in clear if each is not chosen]
    named = [every.conditions.index(condition) for condition in values.named(chosen.members)]
    named, beside = _with_further(reference, every, known, named)
    if len(named) > len(chosen.members):
        values = every.chosen(named)
        layout, members = lay_out(known, values), np.arange(len(named))
        rows = _rows_of(layout, members)
        chosen = _found(layout, fit_sets(reference, layout, members[None]), 0, rows, price)
    explanation = _explanation(reference, values, chosen, instead, beside)
    if explanation is None:
        return None
    pairs = combinations(explanation.conditions, 2)
    counted = all(rows_of_both(known, *pair) is not None for pair in pairs)
    return replace(explanation, counted=counted)


def _clearest(reference: Reference, values: Values, held: Sequence[Condition]) -> Values:
    """Keep the values with most evidence, and those that were named before."""
    count = len(values.conditions)
    parts = [range(i, min(count, i + MOST_TRIED)) for i in range(0, count, MOST_TRIED)]
    # A part of them at a time, because what values share is laid out for each pair.
    fitted = [
        fit_sets(reference, lay_out({}, values.chosen(part)), np.arange(len(part))[:, None])
        for part in parts
    ]
    evidence = np.concatenate([sets.evidence.max(axis=1) for sets in fitted])
    kept = {*np.argsort(-evidence, kind="stable")[:MOST_TRIED].tolist()}
    kept |= {i for i, condition in enumerate(values.conditions) if condition in held}
    return values.chosen(sorted(kept))


def _explaining(
    reference: Reference,
    layout: Layout,
    held: frozenset[int],
    price: float,
) -> list[_Found]:
    """Find the sets that explain the drift: of the smallest size that does, and of one more."""
    explaining: list[_Found] = []
    sound: list[frozenset[int]] = []  # what leaves nothing in the rest
    count, last = len(layout.past), MOST_TOGETHER
    members = np.arange(count)[:, None]
    while members.size and members.shape[1] <= last:
        sets = fit_sets(reference, layout, members)
        chances = _chances_of_the_rest(sets, reference.tolerances)
        unmoved = _chances_of_the_rest(sets, np.zeros(WIDTH)) >= NOTHING_LEFT
        needed = _all_needed(reference, sets, CHANCE / 10.0**price)
        for place in np.flatnonzero(chances >= AS_BEFORE / STILL).tolist():
            together = frozenset(members[place].tolist())
            least = AS_BEFORE / (STILL if together == held else 1.0)
            if chances[place] < least or any(fewer < together for fewer in sound):
                continue
            sound += [together] if unmoved[place] else []
            rows = _rows_of(layout, members[place])
            if needed[place] and rows <= MOST_ROWS:
                explaining.append(_found(layout, sets, place, rows, price))
        if sound:
            last = min(last, len(sound[0]) + 1)
        members = _one_more(members if members.shape[1] == 1 else _least_left(sets), count)
    return explaining


def _with_further(
    reference: Reference, every: Values, sums: AllSums, named: list[int]
) -> tuple[list[int], tuple[str, ...]]:
    """Add what is off beside some values; give the names of what may only share rows with them."""
    unclear: list[int] = []
    while len(named) < MOST_TOGETHER:
        columns = dict.fromkeys(condition.column for condition in every.conditions)
        tested = [
            further
            for column in columns
            if (further := _further(reference, every, sums, named, column))
        ]
        tested = sorted(further for further in tested if further[2] <= FURTHER)
        unclear = [value for _, value, _ in tested]
        clear = [value for _, value, nearer in tested if nearer <= -NEARER]
        if not clear:
            break
        named = [*named, clear[0]]
    return named, tuple(name_all([every.conditions[i]]) for i in unclear if i not in named)


def _further(
    reference: Reference, every: Values, sums: AllSums, named: Sequence[int], column: str
) -> tuple[float, int, float] | None:
    """Find the value of a column that is off beside some others, if it is the only one.

    Gives how likely that is by chance, its place, and by how much the square of the rest, in
    standard errors, is larger without it.
    """
    own = [i for i, c in enumerate(every.conditions) if c.column == column and i not in named]
    values, size = every.chosen([*named, *own]), len(named)
    layout = lay_out(sums, values)

    def fitted(beside: Sequence[Sequence[int]]) -> ValueSets:
        members = [[*range(size), *(size + i for i in positions)] for positions in beside]
        return fit_sets(reference, layout, np.array(members))

    if not own:
        return None
    sets, without = fitted([[place] for place in range(len(own))]), fitted([[]])
    chances = WIDTH * _beyond_tolerance(reference, sets)[:, :, -1].min(axis=1)
    best = int(chances.argmin())
    limit = CHANCE / len(every.conditions)
    rows = _rows_of(layout, sets.members[best])
    if chances[best] > limit or rows > MOST_ROWS or sets.kept_share[best] < LEAST_REST:
        return None
    direction = int(sets.evidence[best].argmax())
    others = [[best, place] for place in range(len(own)) if place != best]
    if others:
        beside = fitted(others)
        squares = beside.effects[:, direction, -1] ** 2 / beside.covariances[:, direction, -1, -1]
        if chdtrc(len(others), squares.sum()) < ALONE:
            return None
    rests = [
        float((of.rest[place, direction] / of.errors[place, direction]) ** 2)
        for of, place in ((sets, best), (without, 0))
    ]
    return float(chances[best]), own[best], rests[0] - rests[1]


def _found(layout: Layout, sets: ValueSets, place: int, rows: float, price: float) -> _Found:
    """Say along which direction a set is clearest, and how clear it is."""
    members, evidence = sets.members[place], sets.evidence[place]
    direction = int(evidence.argmax())
    changes = sets.rest[place, direction] + sets.effects[place, direction]
    return _Found(
        tuple(members.tolist()),
        direction,
        score=float(evidence[direction]) - price * len(members),
        change=float(
            np.average(changes, weights=layout.informations[1, members, members, direction])
        ),
        rest=sets.rest[place],
        errors=sets.errors[place],
        rows=rows,
    )


def _one_more(members: Ints, count: int) -> Ints:
    """Add a value to each set, in all ways."""
    size = members.shape[1] + 1
    larger = {
        tuple(sorted({*chosen, value})) for chosen in members.tolist() for value in range(count)
    }
    return np.array(sorted(chosen for chosen in larger if len(chosen) == size), np.int64).reshape(
        -1, size
    )


def _least_left(sets: ValueSets) -> Ints:
    """Choose the sets that leave the least in the rest."""
    left = np.abs(sets.rest / sets.errors).max(axis=1)
    return sets.members[np.argsort(left, kind="stable")[:MOST_KEPT]]


def _rows_of(layout: Layout, members: Ints) -> float:
    """Estimate the share of the outcomes that have any of some values, up to shares of three."""
    shares = layout.shares[np.ix_(members, members)]
    return float(min(1.0, np.trace(shares) - np.triu(shares, 1).sum()))


def _chances_of_the_rest(sets: ValueSets, tolerances: Floats) -> Floats:
    """Return the p-value of a rest that is as before in every way; 0 if too little is left."""
    beyond = all_exceeding(sets.rest, sets.errors, tolerances)
    chances = np.minimum(1.0, WIDTH * beyond.min(axis=1))
    return np.where(sets.kept_share >= LEAST_REST, chances, 0.0)


def _all_needed(reference: Reference, sets: ValueSets, chance: float) -> Bools:
    """Say whether each value of a set changed otherwise than the rest, in some way."""
    beyond = _beyond_tolerance(reference, sets)
    return np.asarray((WIDTH * beyond.min(axis=1) <= chance).all(axis=1))


def _beyond_tolerance(reference: Reference, sets: ValueSets) -> Floats:
    """Return the p-values of effects within the tolerance, shape (n, 4, s)."""
    errors = np.sqrt(np.maximum(np.einsum("ndss->nds", sets.covariances), TINY))
    return all_exceeding(sets.effects, errors, reference.tolerances[:, None])


def _explanation(
    reference: Reference,
    values: Values,
    chosen: _Found,
    instead: Sequence[str],
    beside: Sequence[str],
) -> Explanation | None:
    """Explain by values; None if they leave more than half of the evidence."""
    members = chosen.members
    old, now = whole = values.wholes[members[0]]
    changes = [change_of(reference, j, *whole) for j in range(WIDTH)]
    evidence = max(evidence_of(change) for change in changes)
    rests = [
        Estimate.normal(*of)
        for of in zip(chosen.rest.tolist(), chosen.errors.tolist(), strict=True)
    ]
    share = 1.0 - max(map(evidence_of, rests)) / evidence if evidence else 0.0
    if share < LEAST_EXPLAINED:
        return None
    sides = _sides(reference, values, chosen)
    every, alike = (_of_members(values, of) for of in (members, sides.alike))
    if len({condition.column for condition in values.named(members)}) == 1:
        rest = relative_slope(old - every[0], now - every[1])
    else:
        rest = Estimate.normal(1.0 + rests[0].value, rests[0].error)
    return Explanation(
        values.named(sides.alike),
        share,
        relative_slope(alike[0] if values.past[sides.alike].all() else old, alike[1]),
        rest,
        rows=chosen.rows,
        kind=kind_of(chosen.direction, sides.size),
        size=sides.size,
        instead=tuple(instead),
        beside=tuple(beside),
        opposite=tuple(
            _opposite(values, i, kind_of(chosen.direction, change))
            for i, change in sides.opposite.items()
        ),
    )


def _opposite(values: Values, i: int, kind: str) -> Opposite:
    return Opposite(values.conditions[i], kind, relative_slope(*values.parts[i]))


class _Sides(NamedTuple):
    """The values of a set by the way in which they moved; of the opposite ones with their change.

    The size is the mean change of the others, in logit.
    """

    alike: list[int]
    opposite: dict[int, float]
    size: float


def _sides(reference: Reference, values: Values, chosen: _Found) -> _Sides:
    """Part the values that clearly moved the other way from those with most of the evidence."""
    tolerance = float(reference.tolerances[chosen.direction])
    changes = {
        i: change
        for i in chosen.members
        if values.past[i] and (change := change_of(reference, chosen.direction, *values.parts[i]))
    }
    clear = {i: c for i, c in changes.items() if exceeding(c, tolerance) < AS_BEFORE}
    if len({change.value > 0.0 for change in clear.values()}) < 2:  # noqa: PLR2004 - both ways
        return _Sides([*chosen.members], {}, chosen.change)
    lead = changes[max(clear, key=lambda i: evidence_of(clear[i]))].value
    opposite = {i: c.value for i, c in clear.items() if c.value * lead < 0.0}
    alike = [i for i in chosen.members if i not in opposite]
    own = [changes[i].value for i in alike if i in changes]
    return _Sides(alike, opposite, sum(own) / len(own))


def _of_members(values: Values, members: Sequence[int]) -> tuple[Sums, Sums]:
    """Add up some values, in the reference those that have a past there."""
    past = [values.parts[i][0] for i in members if values.past[i]]
    return sum(past, nothing()), sum((values.parts[i][1] for i in members), nothing())
