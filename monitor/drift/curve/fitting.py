"""The calibration curve of a reference period, with its uncertainty at every score. Pure.

Rule: every day and segment has an intercept of its own, so no prior enters the curve.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log

import numpy as np
import numpy.typing as npt

from monitor.metrics.core.coarse import CENTRES, COARSE_COUNT
from monitor.metrics.core.compiled import compiled, inner
from monitor.metrics.core.extremes import highest
from monitor.metrics.core.grid import Floats, Ints
from monitor.metrics.logistic.conditional import MOST_EXACT, exact_means, log_sets
from monitor.metrics.logistic.intercept import solve_factor

MOST_KNOTS, INFORMATION_PER_KNOT = 6, 100.0
RIDGE = 0.5**-2  # the curve's deviations from the scores have a prior sd of 0.5 logit
FARTHEST = 4.0  # standard deviations: beyond, polynomials would be ruled by a few scores
TOP_SHARE = 0.1
PILE_SHARE = 0.04  # of the information in one cell: such a pile of equal scores is fitted by itself
KNOWN_SHARE = 0.01  # of the information below the known range, and above it
LEAST_LEFT = 0.01  # of a function's spread that others do not explain, or it adds nothing
LEAST_LOG_ODDS = -500.0  # of a cell, compared with the largest: both are still numbers
LEAST_CHANCE = 1e-300
MOST_STEPS, SETTLED = 50, 1e-10
LEAST_GAIN = 0.1  # of what a step promises, or it is halved: one that goes too far meets a plateau


@dataclass(frozen=True, eq=False)
class Curve:
    """A penalised natural cubic spline in the logit of the score.

    Attributes
    ----------
    values : ndarray of shape (1024,)
        Log-odds of a positive outcome by coarse cell, up to one constant.
    shapes : ndarray of shape (3, 1024)
        Quadratic and cubic of the standardised curve, orthonormal under the information, and the
        top tenth of the scores; rows of 0 where there are too few distinct scores.
    basis : ndarray of shape (b, 1024)
        The functions that the curve was fitted with, orthonormal under the information; the
        curve itself and its shapes are among their span.
    covariance : ndarray of shape (b, b)
        Posterior covariance of their coefficients for independent outcomes.
    known : slice
        The cells between the 1 % and the 99 % quantile of the information.
    """

    values: Floats
    shapes: Floats
    basis: Floats
    covariance: Floats
    known: slice


def fit_curve(counts: Ints, positives: Ints) -> Curve:
    """Fit the curve by maximum penalised likelihood.

    Parameters
    ----------
    counts, positives : ndarray of shape (strata, 1024)
        Predictions and positive outcomes; each row has an intercept of its own.

    Returns
    -------
    Curve
        With the scores' own log-odds as the centre of its prior.

    Notes
    -----
    The posterior covariance is ``(information + ridge)**-1`` (Wahba, JRSS B 45, 1983; Wood,
    JRSS B 68, 2006). The curve is fitted twice: the shapes of the first fit join the basis of
    the second. So the score of the reference's own outcomes along every shape is 0 but for the
    ridge, and what the spline cannot follow is not taken for a change of shape. A cell that
    holds more than 4 % of the information is fitted by itself.

    Examples
    --------
    >>> from scipy.special import expit
    >>> n = np.where(abs(CENTRES) < 3, 50, 0)
    >>> k = np.rint(n * expit(0.7 * CENTRES)).astype(np.int64)
    >>> fit = fit_curve(np.stack([n] * 28), np.stack([k] * 28))
    >>> seen = fit.values[n > 0]
    >>> bool(abs(np.polyfit(CENTRES[n > 0], seen, 1)[0] - 0.7) < 0.01)
    True
    """
    strata = _strata(counts, positives)
    *_, weights = _profile_strata(CENTRES, np.zeros((0, COARSE_COUNT)), *strata)
    functions, everything = _functions(weights), counts.sum(axis=0)
    first, _, spread = _fit(_orthonormal(functions, weights, everything > 0), *strata)
    shapes = _shapes(first, everything, spread)
    basis = _orthonormal([*functions, *shapes], weights, everything > 0)
    values, information, spread = _fit(basis, *strata)
    return Curve(
        values=values,
        shapes=shapes,
        basis=basis,
        covariance=np.asarray(np.linalg.inv(information + RIDGE * np.eye(basis.shape[0]))),
        known=_known(spread),
    )


def _functions(weights: Floats) -> list[Floats]:
    """Give the natural cubic spline functions, and one for each pile of equal scores."""
    total = weights.sum()
    if not total > 0.0:  # no stratum has both outcomes
        return [CENTRES]
    number = int(min(MOST_KNOTS, 2 + total / INFORMATION_PER_KNOT))
    shares = np.cumsum(weights) / total
    ranks = np.searchsorted(shares, np.linspace(0.05, 0.95, number))
    knots = np.unique(CENTRES[ranks])
    functions = [CENTRES]
    if knots.size > 2:  # noqa: PLR2004 - two knots make a line
        last = _cubic_part(knots[-2], knots[-1])
        functions += [_cubic_part(knot, knots[-1]) - last for knot in knots[:-2]]
    piles = np.nonzero(weights > PILE_SHARE * total)[0]
    return [*functions, *(np.arange(COARSE_COUNT) == piles[:, None]).astype(float)]


def _cubic_part(knot: float, last: float) -> Floats:
    above, beyond = np.maximum(CENTRES - knot, 0.0), np.maximum(CENTRES - last, 0.0)
    return np.asarray((above**3 - beyond**3) / (last - knot))


def _orthonormal(
    functions: Sequence[Floats], weights: Floats, seen: npt.NDArray[np.bool_]
) -> Floats:
    """Make functions of mean 0 and variance 1 that are uncorrelated, in the order given."""
    shares = _shares(weights)
    orthonormal: list[Floats] = []
    for function in functions:
        whole = (shares * function).sum()
        rest = function - whole
        for earlier in orthonormal * 2:  # twice: once leaves roundings of the size of the function
            rest = rest - (shares * rest * earlier).sum() * earlier
        size, before = (np.sqrt((shares * f**2).sum()) for f in (rest, function - whole))
        if size > LEAST_LEFT * before:
            orthonormal.append(_where_unseen(rest / size, seen, line=not orthonormal))
    return np.stack(orthonormal) if orthonormal else np.zeros((1, COARSE_COUNT))


def _where_unseen(function: Floats, seen: npt.NDArray[np.bool_], *, line: bool) -> Floats:
    """Interpolate between scores that have been seen, and keep the outermost values beyond them.

    The line, which is the first function, goes on as it is.
    """
    if line:
        return function
    return np.asarray(np.interp(CENTRES, CENTRES[seen], function[seen]))


def _shapes(curve: Floats, counts: Ints, weights: Floats) -> Floats:
    shares = _shares(weights)
    slope = curve - (shares * curve).sum()
    spread = np.sqrt((shares * slope**2).sum())
    unit = np.clip(slope / spread, -FARTHEST, FARTHEST) if spread > 0 else slope
    curved = _orthonormal([unit, unit**2, unit**3], weights, counts > 0)[1:]
    above = np.cumsum(counts[::-1])[::-1] / counts.sum()
    shapes = np.zeros((3, COARSE_COUNT))
    shapes[: curved.shape[0]] = curved
    shapes[-1] = above <= max(TOP_SHARE, above[counts > 0][-1])
    return shapes


def _shares(weights: Floats) -> Floats:
    """Give the share of each cell; 0 if there is no information at all."""
    total = weights.sum()
    return np.asarray(weights / total) if total > 0.0 else np.zeros(weights.size)


def _known(weights: Floats) -> slice:
    total = weights.sum()
    if not total > 0.0:
        return slice(0, 1)  # one cell alone is no evidence
    shares = np.cumsum(weights) / total
    first = int(np.searchsorted(shares, KNOWN_SHARE, side="right"))
    last = int(np.searchsorted(shares, 1.0 - KNOWN_SHARE, side="left"))
    return slice(first, last + 1)


def _fit(basis: Floats, *strata: Ints) -> tuple[Floats, Floats, Floats]:
    """Fit by Newton's method with step halving; curve, information of the basis and of cells.

    A step is taken if it gains as much as it promises, but for a factor (Armijo, 1966).
    """
    deviation, curve = np.zeros(basis.shape[0]), CENTRES
    fit, gradient, information, spread = _profile_strata(curve, basis, *strata)
    for _ in range(MOST_STEPS):
        gradient = gradient - RIDGE * deviation
        step = np.linalg.solve(information + RIDGE * np.eye(deviation.size), gradient)
        promised = (step * gradient).sum()
        if promised < SETTLED:
            break
        while True:
            tried = deviation + step
            curve = CENTRES + (tried[:, None] * basis).sum(axis=0)
            moved, gradient, information, spread = _profile_strata(curve, basis, *strata)
            moved -= 0.5 * RIDGE * (tried**2).sum()
            if moved >= fit + LEAST_GAIN * promised or (step**2).sum() < SETTLED:
                break
            step, promised = 0.5 * step, 0.5 * promised
        deviation, fit = tried, moved
    return curve, information, spread


@inner
def _odds(curve: Floats) -> Floats:
    """Give odds of which none is 0, even if a step of the fit has stretched the curve too far."""
    odds, most = np.empty(curve.size), highest(curve)
    for cell in range(curve.size):
        odds[cell] = exp(max(curve[cell] - most, LEAST_LOG_ODDS))
    return odds


def _strata(counts: Ints, positives: Ints) -> tuple[Ints, Ints, Ints, Ints]:
    """List the cells with predictions of each stratum with both outcomes, one after the other.

    Returns where each stratum ends, the cells, and their predictions and positive outcomes.
    """
    hits = positives.sum(axis=1)
    both = (hits > 0) & (hits < counts.sum(axis=1))
    counts, positives = counts[both], positives[both]
    strata, cells = np.nonzero(counts)
    ends = np.searchsorted(strata, np.arange(counts.shape[0]), side="right")
    return ends, cells, counts[strata, cells], positives[strata, cells]


@compiled
def _profile_strata(
    curve: Floats, basis: Floats, ends: Ints, seen: Ints, counts: Ints, positives: Ints
) -> tuple[float, Floats, Floats, Floats]:
    """Profile the intercepts out of the fit of a curve, given what `_strata` lists.

    Returns log-likelihood, gradient and information of the basis, and the information of each cell.
    """
    size, cells = basis.shape  # in loops, because an expression of arrays takes long to compile
    fit, gradient, information = 0.0, np.zeros(size), np.zeros((size, size))
    of_cells, all_odds, begin = np.zeros(cells), _odds(curve), 0
    odds, weights, rest = np.empty(cells), np.empty(cells), np.empty(cells)
    along = np.empty((cells, size))
    for end in ends:
        mine, n, positive = seen[begin:end], counts[begin:end], positives[begin:end]
        m, begin, total, hits = end - begin, end, n.sum(), positive.sum()
        for c in range(m):
            odds[c] = all_odds[mine[c]]
            for i in range(size):
                along[c, i] = basis[i, mine[c]]
        factor, whole = solve_factor(odds[:m], n, hits)
        is_exact = total <= MOST_EXACT  # a free intercept for so few outcomes would bend the curve
        likely, expected = 0.0, np.zeros(size)
        for c in range(m):
            k = positive[c]
            odds[c] *= factor
            p = odds[c] / (1.0 + odds[c])
            weights[c] = n[c] * p * (1.0 - p)
            of_cells[mine[c]] += weights[c]
            if is_exact:
                rest[c] = k
                if k:
                    likely += k * log(odds[c])
            else:
                rest[c] = k - n[c] * p
                if k:
                    likely += k * log(p)
                if k < n[c]:  # a step that goes too far may reach 0
                    likely += (n[c] - k) * log(max(1.0 - p, LEAST_CHANCE))
        if is_exact:
            likely -= log_sets(odds[:m], n, hits)
            exact_means(odds[:m], n, hits, along[:m].T, expected)
        fit += likely
        _add_functions(along, rest[:m], expected, weights[:m], whole, (gradient, information))
    return fit, gradient, information, of_cells


@inner
def _add_functions(
    along: Floats,
    rest: Floats,
    expected: Floats,
    weights: Floats,
    whole: float,
    into: tuple[Floats, Floats],
) -> None:
    """Add what the cells of one stratum say of each function, less what their intercept takes."""
    gradient, information = into
    size = gradient.size
    sums, pulls, both = np.zeros(size), np.zeros(size), np.zeros((size, size))
    for c in range(rest.size):
        for i in range(size):
            weighed = weights[c] * along[c, i]
            sums[i] += weighed
            pulls[i] += along[c, i] * rest[c]
            for j in range(i + 1):
                both[i, j] += weighed * along[c, j]
    for i in range(size):
        gradient[i] += pulls[i] - expected[i]
        for j in range(i + 1):
            information[i, j] += both[i, j] - sums[i] * sums[j] / whole
            information[j, i] = information[i, j]
