"""The reference period as a calibration curve with its uncertainty, and what counts as a drift.

Rule 1: a reference is a fixed set of days. It is moved by a person only, because one that
trails the present follows every slow drift and hides it.
Rule 2: every day and every segment has an intercept of its own, so no prior enters the curve.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq
from scipy.special import chdtr, chdtrc

from monitor.metrics.core.coarse import CENTRES, COARSE_COUNT, Coarse, sum_of
from monitor.metrics.core.compiled import compiled
from monitor.metrics.core.grid import Floats, Ints
from monitor.metrics.logistic.conditional import score_directions, solve_factor
from monitor.metrics.logistic.level import Level, Lift, combine_lifts, compare_levels, fit_level

DIRECTIONS = ("slope", "quadratic", "cubic", "top")  # the rows of every array of directions
LEAST_DAYS = 14
LEAST_OF_EACH = 300  # positive outcomes, and negative ones
MOST_KNOTS, INFORMATION_PER_KNOT = 6, 100.0
RIDGE = 0.5**-2  # the curve's deviations from the scores have a prior sd of 0.5 logit
FARTHEST = 4.0  # standard deviations: beyond, polynomials would be ruled by a few scores
TOP_SHARE = 0.1
STORM = 2.0  # standard deviations: beyond, a day says no more of how much days differ
MOST_STEPS, SETTLED = 50, 1e-10


@dataclass(frozen=True)
class Sensitivity:
    """What deviation from the reference is tolerated, and what is worth an alert, in logit.

    Each is a pair: of the slope, per unit of log-odds; of a shape, per standard deviation of
    it. Both grow where the reference itself is not known better.
    """

    tolerances: tuple[float, float] = (0.03, 0.05)
    effects: tuple[float, float] = (0.10, 0.20)


@dataclass(frozen=True, eq=False)
class Reference:
    """What "as before" means for one stream of predictions.

    Attributes
    ----------
    curve : ndarray of shape (1024,)
        Log-odds of a positive outcome by coarse cell; right on average over the reference.
    directions : ndarray of shape (4, 1024)
        The ways in which a curve may be distorted; see `DIRECTIONS`.
    tolerances, effects : ndarray of shape (4,)
        Deviations along each direction that are tolerated, and that are looked for, in logit.
    jitters : ndarray of shape (4,)
        The between-day variance (tau squared of a random-effects model) of the distortion along
        each direction: every day has a distortion of its own, drawn with this variance around
        the reference, in logit squared; 0 if the outcomes of a day are independent.
    dispersions : ndarray of shape (4,)
        By how much that multiplies the variance of a sum over days like these; at least 1.
    errors : ndarray of shape (4,)
        Standard errors with which the reference knows its own curve along each direction.
    counts : Coarse
        All predictions of the reference.
    prevalence : float
        Share of positive outcomes.
    levels : mapping to Level
        Intercept and prevalence of each part, with their uncertainty.
    level_dispersion : float
        Variance of a day's standardised lift kappa, at least 1.
    """

    curve: Floats
    directions: Floats
    tolerances: Floats
    effects: Floats
    jitters: Floats
    dispersions: Floats
    errors: Floats
    counts: Coarse
    prevalence: float
    levels: Mapping[Any, Level]
    level_dispersion: float


def what_a_reference_lacks(days: Sequence[Mapping[Any, Coarse]]) -> str | None:
    """Say what is missing before a reference can be fitted; None if nothing is."""
    positives = sum(int(part.positives.sum()) for day in days for part in day.values())
    total = sum(int(part.counts.sum()) for day in days for part in day.values())
    if len(days) < LEAST_DAYS:
        return f"{len(days)} of at least {LEAST_DAYS} final days"
    if positives < LEAST_OF_EACH:
        return f"{positives} of at least {LEAST_OF_EACH} positive outcomes"
    if total - positives < LEAST_OF_EACH:
        return f"{total - positives} of at least {LEAST_OF_EACH} negative outcomes"
    return None


def fit_reference(
    days: Sequence[Mapping[Any, Coarse]], sensitivity: Sensitivity = Sensitivity()
) -> Reference:
    """Learn the calibration curve of a period, whatever its priors were.

    Parameters
    ----------
    days : sequence of mapping to Coarse
        The parts of each day, each with a prior of its own, by any name.
    sensitivity : Sensitivity
        Least tolerance and least effect.

    Returns
    -------
    Reference
        For the stream whose evidence is the sum over these parts.

    Raises
    ------
    ValueError
        If `what_a_reference_lacks` names something.

    Notes
    -----
    The curve is a natural cubic spline in the logit of the score, knots at quantiles of the
    information, with a ridge towards the scores themselves and a free intercept for each day and
    segment. Its directions are: the curve itself (slope); a quadratic and a cubic, orthonormal
    under the information; the top tenth of the reference. With ``I`` a day's information on a
    direction, conditional on the intercepts, ``U`` its score, and ``x = U / I``: the jitter is
    the variance at which ``sum min(I (x - middle)**2 / (1 + jitter I), 4)`` is as large as chance
    makes it without one (Paule and Mandel, 1982, made robust as by Huber);
    ``dispersion = sum I (1 + jitter I) / sum I``,
    ``tolerance = max(least, 2 sqrt(dispersion / sum I))``, ``effect = max(least, 3 tolerance)``.

    Examples
    --------
    >>> from scipy.special import expit
    >>> n = np.where(abs(CENTRES) < 3, 50, 0)
    >>> days = [{"all": Coarse(n, np.rint(n * expit(CENTRES)).astype(np.int64))}] * 28
    >>> found = fit_reference(days)
    >>> bool(abs(found.curve - CENTRES)[n > 0].max() < 0.05)
    True
    """
    lack = what_a_reference_lacks(days)
    if lack:
        msg = f"a reference needs more: {lack}."
        raise ValueError(msg)
    strata = [part for day in days for part in day.values()]
    counts = np.stack([part.counts for part in strata])
    positives = np.stack([part.positives for part in strata])
    everything = sum_of(strata)
    curve = _fit_curve(counts, positives)
    curve = curve + fit_level(curve, everything).delta
    directions = _directions(curve, everything.counts, _weights(curve, counts, positives))
    scores, informations = _scores_by_day(curve, directions, days)
    jitters = np.array([_jitter(*both) for both in zip(scores.T, informations.T, strict=True)])
    dispersions = _dispersions(jitters, informations)
    with np.errstate(divide="ignore"):
        errors = np.sqrt(dispersions / informations.sum(axis=0))
    tolerances = np.maximum(_by_direction(sensitivity.tolerances), 2.0 * errors)
    effects = np.maximum(_by_direction(sensitivity.effects), 3.0 * tolerances)
    levels = _levels(curve, days)
    known = np.isfinite(errors)  # a direction that no score moves along is never looked at
    return Reference(
        curve=curve,
        directions=directions,
        tolerances=np.where(known, tolerances, 0.0),
        effects=np.where(known, effects, 0.0),
        jitters=jitters,
        dispersions=dispersions,
        errors=np.where(known, errors, 0.0),
        counts=everything,
        prevalence=float(everything.positives.sum() / everything.counts.sum()),
        levels=levels,
        level_dispersion=_level_dispersion(curve, levels, days),
    )


def lift_since(
    curve: Floats, levels: Mapping[Any, Level], parts: Mapping[Any, Coarse]
) -> Lift | None:
    """Compare the level of each part with its own in the reference, and average.

    Pooled, parts whose priors move apart would look like a lifted curve. A part that the
    reference has not seen says nothing.
    """
    return combine_lifts(
        [
            compare_levels(fit_level(curve, part), levels[name])
            for name, part in parts.items()
            if name in levels
        ]
    )


def _by_direction(pair: tuple[float, float]) -> Floats:
    slope, shape = pair
    return np.array([slope, shape, shape, shape])


def _fit_curve(counts: Ints, positives: Ints) -> Floats:
    """Fit the penalised spline by Newton's method with step halving."""
    basis = _basis(_weights(CENTRES, counts, positives), counts.sum(axis=0) > 0)
    deviation = np.zeros(basis.shape[0])
    fit, slope, information = _profile(CENTRES, basis, counts, positives)
    for _ in range(MOST_STEPS):
        slope = slope - RIDGE * deviation
        step = np.linalg.solve(information + RIDGE * np.eye(deviation.size), slope)
        if (step * slope).sum() < SETTLED:
            break
        while True:
            tried = deviation + step
            curve = CENTRES + (tried[:, None] * basis).sum(axis=0)
            moved, slope, information = _profile(curve, basis, counts, positives)
            moved -= 0.5 * RIDGE * (tried**2).sum()
            if moved >= fit or (step**2).sum() < SETTLED:
                break
            step = 0.5 * step
        deviation, fit = tried, moved
    return np.asarray(CENTRES + (deviation[:, None] * basis).sum(axis=0))


def _weights(curve: Floats, counts: Ints, positives: Ints) -> Floats:
    """Sum the information of each cell over the strata; shape (1024,)."""
    weights = np.zeros(COARSE_COUNT)
    _add_weights(curve, counts, positives, weights)
    return weights


def _basis(weights: Floats, seen: npt.NDArray[np.bool_]) -> Floats:
    """Give the natural cubic spline functions, orthonormal under the information."""
    total = weights.sum()
    number = int(min(MOST_KNOTS, 2 + total / INFORMATION_PER_KNOT))
    shares = np.cumsum(weights) / total
    places = np.searchsorted(shares, np.linspace(0.05, 0.95, number))
    knots = np.unique(CENTRES[places])
    functions = [CENTRES]
    if knots.size > 2:  # noqa: PLR2004 - two knots make a line
        last = _cubic_part(knots[-2], knots[-1])
        functions += [_cubic_part(knot, knots[-1]) - last for knot in knots[:-2]]
    return _orthonormal(functions, weights, seen)


def _cubic_part(knot: float, last: float) -> Floats:
    above, beyond = np.maximum(CENTRES - knot, 0.0), np.maximum(CENTRES - last, 0.0)
    return np.asarray((above**3 - beyond**3) / (last - knot))


def _orthonormal(
    functions: Sequence[Floats], weights: Floats, seen: npt.NDArray[np.bool_]
) -> Floats:
    """Make functions of mean 0 and variance 1 that are uncorrelated, in the order given."""
    shares = weights / weights.sum()
    found: list[Floats] = []
    for function in functions:
        rest = function - (shares * function).sum()
        for earlier in found * 2:  # twice: once leaves roundings of the size of the function
            rest = rest - (shares * rest * earlier).sum() * earlier
        size = np.sqrt((shares * rest**2).sum())
        if size > 1e-6 * np.abs(function[seen]).max():
            found.append(rest / size)
    return np.stack(found) if found else np.zeros((1, COARSE_COUNT))


def _directions(curve: Floats, counts: Ints, weights: Floats) -> Floats:
    shares = weights / weights.sum()
    slope = curve - (shares * curve).sum()
    spread = np.sqrt((shares * slope**2).sum())
    unit = np.clip(slope / spread, -FARTHEST, FARTHEST) if spread > 0 else slope
    shapes = _orthonormal([unit, unit**2, unit**3], weights, counts > 0)[1:]
    above = np.cumsum(counts[::-1])[::-1] / counts.sum()
    top = above <= max(TOP_SHARE, above[counts > 0][-1])
    directions = np.zeros((len(DIRECTIONS), COARSE_COUNT))
    directions[0], directions[-1] = slope, top
    directions[1 : 1 + shapes.shape[0]] = shapes
    return directions


def _scores_by_day(
    curve: Floats, directions: Floats, days: Sequence[Mapping[Any, Coarse]]
) -> tuple[Floats, Floats]:
    """Sum score and information of each direction over the parts; shape (days, 4) each."""
    sums = [
        np.sum([score_directions(curve, p.counts, p.positives, directions) for p in parts], axis=0)
        for parts in (day.values() for day in days)
    ]
    both = np.stack(sums)
    return both[:, 0], both[:, 1]


def _jitter(scores: Floats, informations: Floats) -> float:
    """Find the variance of the days' own distortions that explains how much they differ.

    It is added to the sampling variance of a day, and does not shrink with its size: one factor
    for the variances of all days would believe the largest of them far too much. A day counts
    as at most two standard deviations from the middle, so that a storm does not speak for all.
    """
    known = informations[informations > 0]
    if known.size < 2:  # noqa: PLR2004 - a single day differs from none
        return 0.0
    found = scores[informations > 0] / known
    most = STORM**2
    expected = (known.size - 1) * (chdtr(3, most) + most * chdtrc(1, most))

    def excess(jitter: float) -> float:
        precisions = known / (1.0 + jitter * known)
        deviations = found - _middle(found, precisions)
        return float(np.minimum(precisions * deviations**2, most).sum() - expected)

    if excess(0.0) <= 0.0:
        return 0.0
    return float(brentq(excess, 0.0, known.size * np.ptp(found) ** 2 / expected))


def _middle(values: Floats, precisions: Floats) -> float:
    """Find the mean of values, each pulling as at most two standard deviations (Huber)."""
    errors = np.sqrt(precisions)

    def pull(middle: float) -> float:
        return float((errors * np.clip(errors * (values - middle), -STORM, STORM)).sum())

    return float(brentq(pull, values.min(), values.max())) if np.ptp(values) else float(values[0])


def _dispersions(jitters: Floats, informations: Floats) -> Floats:
    """Compare the variance of the sum of all days' scores with that of independent outcomes."""
    sums = informations.sum(axis=0)
    squares = (informations**2).sum(axis=0)
    return np.asarray(1.0 + jitters * squares / np.where(sums > 0, sums, 1.0))


def _levels(curve: Floats, days: Sequence[Mapping[Any, Coarse]]) -> dict[Any, Level]:
    names = dict.fromkeys(name for day in days for name in day)
    return {
        name: fit_level(curve, sum_of([day[name] for day in days if name in day])) for name in names
    }


def _level_dispersion(
    curve: Floats, levels: Mapping[Any, Level], days: Sequence[Mapping[Any, Coarse]]
) -> float:
    """Take the mean square of the days' standardised lifts, at least 1."""
    found = (lift_since(curve, levels, day) for day in days)
    squares = [
        (lift.kappa / lift.kappa_error) ** 2 for lift in found if lift and lift.kappa_error > 0.0
    ]
    return max(1.0, sum(squares) / max(1, len(squares) - 1))


@compiled
def _add_weights(curve: Floats, counts: Ints, positives: Ints, weights: Floats) -> None:
    odds = np.exp(curve - curve.max())
    for s in range(counts.shape[0]):
        hits = positives[s].sum()
        if hits in (0, counts[s].sum()):
            continue
        seen = np.nonzero(counts[s])[0]
        factor, _ = solve_factor(odds[seen], counts[s][seen], hits)
        for i in seen:
            p = factor * odds[i] / (1.0 + factor * odds[i])
            weights[i] += counts[s, i] * p * (1.0 - p)


@compiled
def _profile(
    curve: Floats, basis: Floats, counts: Ints, positives: Ints
) -> tuple[float, Floats, Floats]:
    """Return log-likelihood, gradient and information of the basis, intercepts profiled out."""
    size = basis.shape[0]
    fit, gradient, information = 0.0, np.zeros(size), np.zeros((size, size))
    odds = np.exp(curve - curve.max())
    for s in range(counts.shape[0]):
        hits = positives[s].sum()
        if hits in (0, counts[s].sum()):
            continue
        seen = np.nonzero(counts[s])[0]
        factor, total = solve_factor(odds[seen], counts[s][seen], hits)
        p = factor * odds[seen] / (1.0 + factor * odds[seen])
        n, k, b = counts[s][seen], positives[s][seen], basis[:, seen]
        weights = n * p * (1.0 - p)
        fit += (k * np.log(p) + (n - k) * np.log(1.0 - p)).sum()
        for i in range(size):
            gradient[i] += (b[i] * (k - n * p)).sum()
            for j in range(i + 1):
                both = (weights * b[i] * b[j]).sum()
                both -= (weights * b[i]).sum() * (weights * b[j]).sum() / total
                information[i, j] += both
                information[j, i] = information[i, j]
    return fit, gradient, information
