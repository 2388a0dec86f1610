"""Which class came true more or less often than its scores and the class frequencies explain. Pure.

Rule: a shift of the class priors says nothing here. It moves the level of every pair of classes by
as much as the frequencies of the two.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from monitor.drift.classes.pairs import ClassDay, PairCurves, Parts, coded, sum_of_days
from monitor.drift.curve.reference import RARE, Reference, merge_days
from monitor.drift.curve.variance import WEEK
from monitor.metrics.beyond_binary.class_counts import MOST_PAIRS
from monitor.metrics.core.coarse import Coarse
from monitor.metrics.core.estimate import Estimate
from monitor.metrics.core.grid import Floats, Ints
from monitor.metrics.core.special import expit, ndtri
from monitor.metrics.logistic.level import fit_level

LEAST_OF_EACH = 10  # outcomes of either class of a pair whose level is compared
BY_CHANCE = 1e-3  # that any class stands out in a week, if all are as before
CERTAIN = 3.29  # standard errors: one in a thousand by chance
LEAST_LEFT = 0.1  # of the variance of the levels, beside that of the frequencies
ALONE = 0.8  # of what moved: as much as that is explained by a single class
LEAST_CONNECTED = 3  # classes: of two it means nothing which one is off

Span = Sequence[tuple[Parts, ClassDay]]  # the pairs and the outcomes of each day


@dataclass(frozen=True, eq=False)
class PairLevel:
    """The level of a pair of classes over some days, on its curve in the reference.

    Attributes
    ----------
    curve : str
        Name of its curve.
    delta, variance : float
        The intercept on it, in logit, and its sampling variance.
    place : ndarray of shape (b + 4,)
        Where its scores were: the means of the functions of the curve, then of the directions,
        weighted by the information of the rows.
    """

    curve: str
    delta: float
    variance: float
    place: Floats


@dataclass(frozen=True, eq=False)
class ClassLevels:
    """The levels of pairs and the frequencies of classes over some days.

    Attributes
    ----------
    pairs : mapping of str to PairLevel
        The pairs with enough outcomes.
    outcomes : ndarray of shape (c,)
        Rows by the class that came true.
    dispersion : float
        Variance of the weeks of a reference compared with that of independent outcomes, at least 1.
    """

    pairs: Mapping[str, PairLevel]
    outcomes: Ints
    dispersion: float = 1.0


@dataclass(frozen=True)
class OffClass:
    """What moved beyond the frequencies of the classes.

    Attributes
    ----------
    name : str
        The class that is off; empty if no single one explains what moved.
    change : Estimate
        By how much its scores seem to be too low, in logit; without a name, those of the class
        that stands out most.
    """

    name: str
    change: Estimate


@dataclass(frozen=True, eq=False)
class Compared:
    """What moved of classes that pairs connect.

    Attributes
    ----------
    classes : ndarray of shape (k,)
        Their numbers.
    moved, precision : ndarray of shape (k,), (k, k)
        Their levels beyond their frequencies, and the inverse of the covariance; both up to a
        constant of all classes.
    shifted : ndarray of shape (k,)
        The standard errors by which the level of each moved at all.
    """

    classes: Ints
    moved: Floats
    precision: Floats
    shifted: Floats

    @property
    def distance(self) -> float:
        """Give a chi-squared with k - 1 degrees of freedom if only frequencies moved."""
        return float(self.moved @ self.precision @ self.moved)


def class_levels(whole: Reference, curves: PairCurves, span: Span) -> ClassLevels:
    """Find the levels of the pairs over some days.

    Parameters
    ----------
    whole : Reference
        Of all pairs.
    curves : PairCurves
        How their curves differ.
    span : sequence of (mapping to Coarse, ClassDay)
        The days: their pairs, not coded, and their outcomes.
    """
    along = np.vstack([whole.basis, whole.directions])
    parts = coded(merge_days([{**pairs, **day.equal} for pairs, day in span]), curves)
    levels = {
        pair: _level(whole.curve, along, pair if pair in curves.codes else RARE, part)
        for (*_, pair), part in sorted(parts.items(), key=lambda of: of[0])
        if all(pair in day.pairs or len(day.pairs) < MOST_PAIRS for _, day in span)
        if min(part.positives.sum(), (part.counts - part.positives).sum()) >= LEAST_OF_EACH
    }
    return ClassLevels(levels, np.sum([day.outcomes for _, day in span], axis=0))


def _level(curve: Floats, along: Floats, name: str, part: Coarse) -> PairLevel:
    level = fit_level(curve, part)
    chances = expit(curve + level.delta)
    weights = part.counts * chances * (1.0 - chances)
    return PairLevel(name, level.delta, level.delta_variance, along @ weights / weights.sum())


def fit_class_levels(whole: Reference, curves: PairCurves, span: Span) -> ClassLevels:
    """Learn the levels of a reference, and how far its weeks are from them by themselves.

    Parameters
    ----------
    whole, curves, span : Reference, PairCurves, sequence of (mapping to Coarse, ClassDay)
        As for `class_levels`.

    Returns
    -------
    ClassLevels
        Its dispersion is ``sum Q / sum (k - 1)`` over the weeks, with Q the distance of a week
        from all others.
    """
    classes, distance, degrees = sum_of_days(day for _, day in span), 0.0, 0
    for first in range(0, len(span), WEEK):
        week, rest = span[first : first + WEEK], [*span[:first], *span[first + WEEK :]]
        if rest and classes:
            now, before = (class_levels(whole, curves, days) for days in (week, rest))
            for compared in compare_levels(whole, classes, before, now):
                distance += compared.distance
                degrees += compared.classes.size - 1
    levels = class_levels(whole, curves, span)
    dispersion = max(1.0, distance / degrees) if degrees else 1.0
    return ClassLevels(levels.pairs, levels.outcomes, dispersion)


def off_class(
    whole: Reference, before: ClassLevels, now: ClassLevels, classes: ClassDay, least: float
) -> OffClass | None:
    """Find the class whose level moved otherwise than with the frequencies of the classes.

    Parameters
    ----------
    whole : Reference
        Of all pairs.
    before, now : ClassLevels
        Of the reference and of the week.
    classes : ClassDay
        Of the week.
    least : float
        The least change that is worth saying, in logit.

    Returns
    -------
    OffClass or None
        None if frequencies explain what moved, or only frequencies moved.

    Notes
    -----
    With kappa the change of the levels beyond that of the log frequencies, and A the inverse of
    its covariance, a class k that is off by b has ``kappa = b e_k``: so ``b = (A kappa)_k / A_kk``
    with the standard error ``1 / sqrt(A_kk)``, and of ``Q = kappa' A kappa`` this explains
    ``(A kappa)_k**2 / A_kk``. If the inputs of a class move and its prior too, kappa is not that of
    a single class, but for chance. Where no level moved, only the inputs did; where that of the
    class did not, its inputs may have.
    """
    compared = list(compare_levels(whole, classes, before, now))
    enough = -float(ndtri(BY_CHANCE / 2.0 / max(1, sum(group.classes.size for group in compared))))
    clear = [
        (abs(z), group, k)
        for group in compared
        for k, z in enumerate(_pull(group) / np.sqrt(np.diag(group.precision)))
        if abs(z) > enough and abs(_pull(group)[k] / group.precision[k, k]) > least
        if abs(group.shifted).max() > CERTAIN
    ]
    if not clear:
        return None
    z, group, k = max(clear, key=lambda of: of[0])
    precision = float(group.precision[k, k])
    change = Estimate.normal(float(_pull(group)[k]) / precision, precision**-0.5)
    connected = group.classes.size >= LEAST_CONNECTED and abs(group.shifted[k]) > CERTAIN
    alone = connected and z**2 > ALONE * group.distance
    return OffClass(classes.names[group.classes[k]] if alone else "", change)


def _pull(compared: Compared) -> Floats:
    return np.asarray(compared.precision @ compared.moved)


def compare_levels(
    whole: Reference, classes: ClassDay, before: ClassLevels, now: ClassLevels
) -> Iterator[Compared]:
    """Compare the levels of classes, for each set of them that pairs connect.

    Parameters
    ----------
    whole, before, now : Reference, ClassLevels, ClassLevels
        As for `off_class`, their dispersion that of `before`.
    classes : ClassDay
        Says which classes are a pair.
    """
    pairs = [pair for pair in now.pairs if pair in before.pairs]
    if not pairs:
        return
    ends = np.array([classes.pairs[pair] for pair in pairs])
    group = _groups(ends)
    for number in np.unique(group):
        chosen = np.nonzero(group == number)[0]
        yield _connected(whole, ends[chosen], [pairs[i] for i in chosen], before, now)


def _groups(ends: Ints) -> Ints:
    """Give pairs that classes connect the same number; shape (p,)."""
    lowest = np.arange(ends.max() + 1)
    while True:
        of_pair = lowest[ends].min(axis=1)
        before = lowest.copy()
        np.minimum.at(lowest, ends, of_pair[:, None])
        if np.array_equal(lowest, before):
            return np.asarray(of_pair)


def _connected(
    whole: Reference, ends: Ints, pairs: Sequence[str], before: ClassLevels, now: ClassLevels
) -> Compared:
    """Compare classes with the first of them, by weighted least squares over their pairs."""
    classes, numbers = np.unique(ends, return_inverse=True)
    incidence = np.zeros((len(pairs), classes.size))
    rows = np.arange(len(pairs))
    incidence[rows, numbers.reshape(ends.shape)[:, 0]] = 1.0
    incidence[rows, numbers.reshape(ends.shape)[:, 1]] = -1.0
    changes = np.array([now.pairs[pair].delta - before.pairs[pair].delta for pair in pairs])
    sampling = np.array([now.pairs[pair].variance + before.pairs[pair].variance for pair in pairs])
    of_curve = _curve_covariance(whole, [(before.pairs[pair], now.pairs[pair]) for pair in pairs])
    weights = 1.0 / (sampling + np.diag(of_curve))
    others = incidence[:, 1:]
    fit = np.linalg.solve((others.T * weights) @ others, others.T * weights)
    counts = np.array([before.outcomes[classes], now.outcomes[classes]], np.float64)
    logs, inverse = np.diff(np.log(counts), axis=0)[0], (1.0 / counts).sum(axis=0)
    levels, spread = fit @ changes, (fit * sampling) @ fit.T
    left = _left(spread, np.diag(inverse[1:]) + inverse[0])
    doubt, phi = fit @ of_curve @ fit.T, before.dispersion
    contrasts = np.hstack([-np.ones((classes.size - 1, 1)), np.eye(classes.size - 1)])
    precision, of_levels = (
        contrasts.T @ np.linalg.inv(phi * own + doubt) @ contrasts for own in (left, spread)
    )
    shifted = of_levels @ np.append(0.0, levels) / np.sqrt(np.diag(of_levels))
    return Compared(classes, np.append(0.0, levels - contrasts @ logs), precision, shifted)


def _curve_covariance(whole: Reference, pairs: Sequence[tuple[PairLevel, PairLevel]]) -> Floats:
    """Give what the error of the curves adds where scores are not where they were; (p, p)."""
    moved = np.array([now.place - before.place for before, now in pairs])
    functions = len(whole.basis)
    common, own = moved[:, :functions], moved[:, functions:] ** 2
    shared = whole.dispersions[0] * (common @ whole.covariance @ common.T)
    if whole.groups:
        variances = [whole.group_variances[whole.groups[level.curve]] for level, _ in pairs]
        shared = shared + np.diag((own * np.array(variances)).sum(axis=1))
    return np.asarray(shared)


def _left(spread: Floats, of_frequencies: Floats) -> Floats:
    """Subtract the variance of the frequencies, which the levels share, from that of the levels.

    If only priors move, frequencies are the efficient estimate of them, so the variance of the
    difference is the difference of the variances (Hausman 1978). Something is left of it, because
    frequencies that say nothing, or all, are no efficient estimate of few rows.
    """
    root = np.linalg.cholesky(spread)
    inside = np.linalg.solve(root, np.linalg.solve(root, of_frequencies).T)
    shares, axes = np.linalg.eigh(0.5 * (inside + inside.T))
    along = root @ axes
    return np.asarray((along * np.maximum(1.0 - shares, LEAST_LEFT)) @ along.T)
