"""The likelihood of a shape, with an intercept for each day so that no prior enters it."""

from math import log, sqrt

import numpy as np

from monitor.metrics.core.compiled import compiled, inner
from monitor.metrics.core.extremes import highest, lowest
from monitor.metrics.core.grid import Floats
from monitor.metrics.maps.calibration_map import LEAST_SLOPE, MOST_SLOPE

MOST_STEPS = 60
SETTLED = 1e-12  # squared distance from the maximum in standard errors
LEAST_SHARE = 1e-6  # of Newton's step
TOLERANCE = 1e-11  # in logit


@compiled
def solve_level(shape: Floats, counts: Floats, hits: float) -> tuple[float, float]:
    """Return the intercept that makes the expected positives right, and its information.

    Newton's method inside a shrinking bracket; both outcomes must have occurred.
    """
    total = counts.sum()
    target = log(hits / (total - hits))
    low, high = target - highest(shape), target - lowest(shape)
    level, information = 0.5 * (low + high), 0.0
    odds = np.exp(shape)
    for _ in range(200):
        expected = information = 0.0
        factor = np.exp(level)
        for i in range(shape.size):
            if counts[i] > 0.0:
                p = factor * odds[i] / (1.0 + factor * odds[i])
                expected += counts[i] * p
                information += counts[i] * p * (1.0 - p)
        if expected < hits:
            low = level
        else:
            high = level
        moved = level + (hits - expected) / information if information > 0.0 else 0.5 * (low + high)
        if not low <= moved <= high:
            moved = 0.5 * (low + high)
        if abs(moved - level) <= TOLERANCE:
            break
        level = moved
    return level, information


@inner
def profile(
    shape: Floats, functions: Floats, counts: Floats, positives: Floats
) -> tuple[float, Floats, Floats]:
    """Return log-likelihood, gradient and information, the intercept of each day profiled out.

    Days with one outcome only say nothing about a shape.
    """
    size = functions.shape[0]
    fit, gradient, information = 0.0, np.zeros(size), np.zeros((size, size))
    first, spread = np.zeros(size), np.zeros(size)
    for day in range(counts.shape[0]):
        hits = positives[day].sum()
        if hits <= 0.0 or hits >= counts[day].sum():
            continue
        level, total = solve_level(shape, counts[day], hits)
        first[:] = 0.0
        for j in range(shape.size):
            n, z = counts[day, j], shape[j] + level
            rest = np.exp(-abs(z))
            p = 1.0 / (1.0 + rest) if z > 0.0 else rest / (1.0 + rest)
            fit += positives[day, j] * z - n * (max(z, 0.0) + np.log1p(rest))
            weight, residual = n * p * (1.0 - p), positives[day, j] - n * p
            for a in range(size):
                gradient[a] += residual * functions[a, j]
                spread[a] = weight * functions[a, j]
                first[a] += spread[a]
                for b in range(a + 1):
                    information[a, b] += spread[a] * functions[b, j]
        for a in range(size):
            for b in range(a + 1):
                information[a, b] -= first[a] * first[b] / total
    for a in range(size):
        for b in range(a):
            information[b, a] = information[a, b]
    return fit, gradient, information


@compiled
def fit_slopes(
    functions: Floats, counts: Floats, positives: Floats, start: Floats, roughness: float
) -> Floats:
    """Maximise the likelihood of a sum of increasing functions over coefficients above 0.

    Newton's method on the coefficients that are not held at a bound, each step halved until the
    likelihood does not fall (Bertsekas, SIAM Journal on Control and Optimization 20, 1982). The
    log-likelihood is concave. Squared differences of neighbouring coefficients cost
    ``roughness / 2`` each.
    """
    slopes, size = start.copy(), start.size
    fit, gradient, information = _penalised(slopes, functions, counts, positives, roughness)
    for _ in range(MOST_STEPS):
        free = np.zeros(size, np.bool_)
        for a in range(size):
            down = slopes[a] <= LEAST_SLOPE and gradient[a] <= 0.0
            up = slopes[a] >= MOST_SLOPE and gradient[a] >= 0.0
            free[a] = not (down or up)
        chosen = np.nonzero(free)[0]
        if not chosen.size:
            break
        inner = np.empty((chosen.size, chosen.size))
        for a in range(chosen.size):
            for b in range(chosen.size):
                inner[a, b] = information[chosen[a], chosen[b]]
            inner[a, a] += 1e-9 * (1.0 + inner[a, a])  # functions that are alike on the data
        step = np.linalg.solve(inner, gradient[chosen])
        if (step * gradient[chosen]).sum() < SETTLED:
            break
        share = 1.0
        while True:
            tried = slopes.copy()
            tried[chosen] = np.clip(slopes[chosen] + share * step, LEAST_SLOPE, MOST_SLOPE)
            moved, gradient, information = _penalised(
                tried, functions, counts, positives, roughness
            )
            if moved >= fit - 1e-12 * abs(fit) or share < LEAST_SHARE:
                break
            share *= 0.5
        slopes, fit = tried, moved
    return slopes


@inner
def _penalised(
    slopes: Floats, functions: Floats, counts: Floats, positives: Floats, roughness: float
) -> tuple[float, Floats, Floats]:
    shape = np.zeros(functions.shape[1])
    for a in range(slopes.size):
        shape += slopes[a] * functions[a]
    fit, gradient, information = profile(shape, functions, counts, positives)
    for a in range(1, slopes.size):
        step = slopes[a] - slopes[a - 1]
        fit -= 0.5 * roughness * step**2
        gradient[a] -= roughness * step
        gradient[a - 1] += roughness * step
        information[a, a] += roughness
        information[a - 1, a - 1] += roughness
        information[a, a - 1] -= roughness
        information[a - 1, a] -= roughness
    return fit, gradient, information


@compiled
def day_levels(shape: Floats, counts: Floats, positives: Floats) -> Floats:
    """Return the intercept of each day; nan where only one outcome occurred."""
    levels = np.full(counts.shape[0], np.nan)
    for day in range(counts.shape[0]):
        hits = positives[day].sum()
        if 0.0 < hits < counts[day].sum():
            levels[day] = solve_level(shape, counts[day], hits)[0]
    return levels


@compiled
def own_losses(shape: Floats, counts: Floats, positives: Floats) -> Floats:
    """Return the log loss of each day, summed, at the intercept that suits it."""
    losses, none = np.zeros(counts.shape[0]), np.zeros((0, shape.size))
    for day in range(counts.shape[0]):
        losses[day] = -profile(shape, none, counts[day : day + 1], positives[day : day + 1])[0]
    return losses


def pooled_level(shape: Floats, counts: Floats, positives: Floats) -> tuple[float, float]:
    """Fit one level to all days, with a standard error that lets days differ.

    Parameters
    ----------
    shape : ndarray of shape (m,)
        Log-odds by the shape.
    counts, positives : ndarray of shape (days, m)
        With both outcomes.

    Returns
    -------
    level, standard_error : float
        In logit. The error takes days as clusters, if there are several:
        ``sqrt(D/(D-1) sum U_t**2) / I``, U_t the score of a day and I the information.

    Examples
    --------
    >>> counts, positives = np.array([[4.0], [4.0]]), np.array([[3.0], [3.0]])
    >>> level, error = pooled_level(np.zeros(1), counts, positives)
    >>> round(level, 6), round(error, 6)  # log 3; both days alike
    (1.098612, 0.0)
    """
    level, information = solve_level(shape, counts.sum(axis=0), float(positives.sum()))
    if counts.shape[0] == 1:
        return level, 1.0 / sqrt(information)
    p = 1.0 / (1.0 + np.exp(-(shape + level)))
    scores = (positives - counts * p).sum(axis=1)
    between = float((scores**2).sum()) * counts.shape[0] / (counts.shape[0] - 1)
    return level, sqrt(between) / information
