"""Four maps of the scores, each holding the one before: as scored, moved, tilted, bent.

All are increasing, so none changes the order of the predictions, and each is the
maximum-likelihood fit of its family: logistic regressions on the logit of the score.
"""

from dataclasses import dataclass
from math import exp, log1p, sqrt

import numpy as np

from monitor.base.short_text import shown_shortly
from monitor.metrics.core.compiled import compiled, inner
from monitor.metrics.core.extremes import lowest
from monitor.metrics.core.grid import Floats, Ints
from monitor.metrics.core.reading import takes_rows
from monitor.metrics.core.special import expit, logit
from monitor.metrics.core.tally import Tally
from monitor.metrics.logistic.intercept import has_intercept, solve_intercept

OUTCOMES_PER_TERM = 10  # the usual rule for logistic regressions: events per variable
MOST_BEND = 4.0  # where the curved terms end; the map is a line beyond
MOST_STEPS = 50
LEAST_STEP = 1e-6  # as a share of Newton's step
SETTLED = 1e-18  # squared distance from the maximum in standard errors
ROUNDING = 1e-13  # of a log-likelihood, relative
# Share of a direction's information that must be left at the maximum. Where outcomes are separated
# the search ends far out, where nothing is uncertain and no information is left.
LEAST_LEFT = 1e-6
LEAST_CURVE = 1e-6  # share of a power of the logit that lower powers must leave unexplained


@shown_shortly
@dataclass(frozen=True, eq=False)
class NestedMaps:
    """The fitted maps f0 to f3 on m groups of equal score.

    Attributes
    ----------
    tally : Tally
        The predictions the maps were fitted on: those with scores strictly between 0 and 1.
    logits : ndarray of shape (4, m)
        Log-odds that each map gives to each group, every row strictly increasing.
    design : ndarray of shape (m, 4)
        The terms: constant, standardised logit, and a quadratic and a cubic of it.
    terms : tuple of int
        How many terms each map uses: (0, 1, 2, 4) if all could be fitted. A map that could not
        is the one before.
    intercept, slope : float
        Of f2, in logit units: ``f2 = sigma(intercept + slope logit s)``; nan if not fitted.
    quadratic, cubic : float
        Of f3, in logit units for one standard deviation of the term; nan if not fitted.
    """

    tally: Tally
    logits: Floats
    design: Floats
    terms: tuple[int, int, int, int]
    intercept: float
    slope: float
    quadratic: float
    cubic: float

    @property
    def delta(self) -> float:
        """Intercept of f1, the prior shift in logit units."""
        return float(self.logits[1, 0] - self.logits[0, 0])


@takes_rows
def fit_nested_maps(t: Tally, *, most_terms: int = 4) -> NestedMaps | None:
    """Fit f0 to f3 to the outcomes.

    Parameters
    ----------
    t : Tally or rows
        Any tally; scores of exactly 0 or 1 cannot be moved and do not count.
    most_terms : int
        With 1 or 2 the maps after f1 or f2 are not fitted, which takes time.

    Returns
    -------
    NestedMaps or None
        None with fewer than ten outcomes of the rarer class. A map needs ten of them for each
        of its terms, a finite maximum, and to be increasing on the scores; one that misses any
        of this, and all after it, are the last that did not.

    Notes
    -----
    ``f0 = s``; ``f1 = sigma(logit s + delta)``; ``f2 = sigma(a + b logit s)``, ``b > 0``;
    ``f3`` adds ``c q + d r`` to the log-odds of f2. With w the information ``n p (1-p)`` of
    the groups under f1 and z the logit standardised with weights w, q and r are ``z**2`` and
    ``z**3`` made orthonormal to all lower powers under w, clipped at +-4.

    Examples
    --------
    >>> from monitor.metrics.core.tally import tally
    >>> outcomes = [0] * 35 + [1] * 15 + [1] * 35 + [0] * 15
    >>> maps = fit_nested_maps(tally(outcomes, [0.2] * 50 + [0.8] * 50))
    >>> maps.terms, round(maps.slope, 3)  # two scores have no shape; log(7/3) / log(4)
    ((0, 1, 2, 2), 0.611)
    """
    inside = (t.scores > 0.0) & (t.scores < 1.0)
    movable = t if inside.all() else Tally(t.scores[inside], t.counts[inside], t.positives[inside])
    rarer = min(movable.total_positives, movable.total - movable.total_positives)
    if rarer < OUTCOMES_PER_TERM or not has_intercept(movable):
        return None
    scored = np.asarray(logit(movable.scores))
    delta, _ = solve_intercept(scored, movable.counts, movable.positives)
    moved = scored + delta
    design, mean, spread = _design(scored, moved, movable.counts, most_terms)
    possible = design.shape[1]
    fits = [np.zeros(0), np.array([delta])]
    logits = [scored, moved]
    for size in (2, 4):
        enough = size <= min(possible, most_terms) and rarer >= size * OUTCOMES_PER_TERM
        fit = (
            _increasing_fit(moved, np.ascontiguousarray(design[:, :size]), movable)
            if enough
            else None
        )
        if fit is None:
            break
        logits.append(fit[0])
        fits.append(fit[1])
    return _collect(movable, logits, fits, design, mean, spread)


@compiled
def gram(design: Floats, weights: Floats) -> Floats:
    """Sum ``weights_j x_j x_j'`` over groups, shape (p, p).

    Examples
    --------
    >>> gram(np.array([[1.0, 2.0], [1.0, 3.0]]), np.array([1.0, 10.0]))
    array([[11., 32.],
           [32., 94.]])
    """
    p = design.shape[1]
    sums = np.zeros((p, p))
    for i in range(design.shape[0]):
        for a in range(p):
            for b in range(a + 1):
                sums[a, b] += weights[i] * design[i, a] * design[i, b]
    for a in range(p):
        for b in range(a):
            sums[b, a] = sums[a, b]
    return sums


@compiled
def project(design: Floats, direction: Floats) -> Floats:
    """Give ``x_j'direction`` for every group, shape (m,).

    Examples
    --------
    >>> project(np.array([[1.0, 2.0], [1.0, 3.0]]), np.array([1.0, 10.0]))
    array([21., 31.])
    """
    sums = np.zeros(design.shape[0])
    for i in range(design.shape[0]):
        for a in range(design.shape[1]):
            sums[i] += design[i, a] * direction[a]
    return sums


def _design(
    scored: Floats, moved: Floats, counts: Ints, most_terms: int
) -> tuple[Floats, float, float]:
    """Build as many terms as the scores can distinguish, and how the logit was standardised."""
    if most_terms == 1:
        return np.ones((scored.size, 1)), 0.0, 1.0
    weights = counts * expit(moved) * expit(-moved)
    weights /= weights.sum()
    mean = float((weights * scored).sum())
    terms = [np.ones(scored.size)]
    spread = sqrt(float((weights * (scored - mean) ** 2).sum()))
    # Logits one rounding apart are one logit.
    if scored.size > 1 and spread > 1e-9 * (1.0 + abs(mean)):
        z = (scored - mean) / spread
        terms.append(z)
        for power in (z**2, z**3):
            rest = power.copy()
            for term in terms * 2:  # twice, for the rounding of the first time
                rest -= (weights * rest * term).sum() * term
            square = (weights * rest**2).sum()
            if not square > LEAST_CURVE * (weights * power**2).sum():
                break
            terms.append(rest / sqrt(square))
    design = np.column_stack(terms[:2] if len(terms) < 4 else terms)  # noqa: PLR2004 (both curves)
    return np.clip(design, -MOST_BEND, MOST_BEND, where=_curved(design), out=design), mean, spread


def _curved(design: Floats) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    return np.broadcast_to(np.arange(design.shape[1]) > 1, design.shape)


def _increasing_fit(moved: Floats, design: Floats, t: Tally) -> tuple[Floats, Floats] | None:
    """Fit; None if there is no finite maximum or the map does not increase."""
    coefficients, converged = solve_logistic(moved, design, t.counts, t.positives)
    if not converged:
        return None
    fitted = moved + project(design, coefficients)
    return (fitted, coefficients) if (np.diff(fitted) > 0.0).all() else None


def _collect(
    t: Tally,
    logits: list[Floats],
    fits: list[Floats],
    design: Floats,
    mean: float,
    spread: float,
) -> NestedMaps:
    terms = [fit.size for fit in fits]
    delta, slope, intercept, curves = fits[1][0], np.nan, np.nan, (np.nan, np.nan)
    if terms[-1] > 1:
        level, tilt = fits[2][:2]
        slope = 1.0 + tilt / spread
        intercept = delta + level - tilt * mean / spread
    if terms[-1] > 2:  # noqa: PLR2004 (beyond the line)
        curves = (float(fits[3][2]), float(fits[3][3]))
    short = 4 - len(logits)
    full = terms + [terms[-1]] * short
    return NestedMaps(
        tally=t,
        logits=np.stack(logits + [logits[-1]] * short),
        design=design,
        terms=(full[0], full[1], full[2], full[3]),
        intercept=float(intercept),
        slope=float(slope),
        quadratic=curves[0],
        cubic=curves[1],
    )


@compiled
def solve_logistic(
    offsets: Floats, design: Floats, counts: Ints, positives: Ints
) -> tuple[Floats, bool]:
    """Maximise the likelihood of ``sigma(offset + x'theta)`` from 0, and say whether it was found.

    Newton's method, each step halved until the likelihood does not fall; the log-likelihood is
    concave, so this always converges.
    """
    p = design.shape[1]
    theta, gradient, information = np.zeros(p), np.zeros(p), np.zeros((p, p))
    fit = _evaluate(offsets, design, counts, positives, theta, gradient, information)
    least = LEAST_LEFT * information[0, 0]
    for _ in range(MOST_STEPS):
        step, pivot = _solve(information, gradient)
        if not pivot > least:
            return theta, False
        if (step * gradient).sum() < SETTLED:
            return theta, True
        share = 1.0
        while True:
            moved = theta + share * step
            after = _evaluate(offsets, design, counts, positives, moved, gradient, information)
            if after >= fit - ROUNDING * abs(fit) or share < LEAST_STEP:
                break
            share *= 0.5
        theta, fit = moved, after
    return theta, False


@inner
def _evaluate(
    offsets: Floats,
    design: Floats,
    counts: Ints,
    positives: Ints,
    theta: Floats,
    gradient: Floats,
    information: Floats,
) -> float:
    """Fill in gradient and information, and return the log-likelihood."""
    p = theta.size
    gradient[:] = 0.0
    information[:] = 0.0
    fit = 0.0
    for i in range(offsets.size):
        z = offsets[i]
        for a in range(p):
            z += theta[a] * design[i, a]
        # From exp(-|z|) both p and 1-p have all their digits, however extreme the score.
        rest = exp(-abs(z))
        small, large = rest / (1.0 + rest), 1.0 / (1.0 + rest)
        hit, miss = (large, small) if z > 0.0 else (small, large)
        misses = counts[i] - positives[i]
        residual, weight = positives[i] * miss - misses * hit, counts[i] * hit * miss
        fit += positives[i] * min(z, 0.0) - misses * max(z, 0.0) - counts[i] * log1p(rest)
        for a in range(p):
            gradient[a] += residual * design[i, a]
            for b in range(a + 1):
                information[a, b] += weight * design[i, a] * design[i, b]
    return fit


@inner
def _solve(matrix: Floats, right: Floats) -> tuple[Floats, float]:
    """Solve ``matrix x = right`` from the lower triangle (LDL'); also give the least pivot."""
    p = right.size
    lower, pivots, x = np.zeros((p, p)), np.zeros(p), right.copy()
    for j in range(p):
        pivots[j] = matrix[j, j]
        for c in range(j):
            pivots[j] -= lower[j, c] ** 2 * pivots[c]
        for i in range(j + 1, p):
            lower[i, j] = matrix[i, j]
            for c in range(j):
                lower[i, j] -= lower[i, c] * lower[j, c] * pivots[c]
            lower[i, j] /= pivots[j]
    for i in range(p):
        for c in range(i):
            x[i] -= lower[i, c] * x[c]
    for i in range(p):
        x[i] /= pivots[i]
    for i in range(p - 1, -1, -1):
        for c in range(i + 1, p):
            x[i] -= lower[c, i] * x[c]
    return x, lowest(pivots)
