"""Centred isotonic regression with an intercept for each day: an injective step curve.

Isotonic regression is constant on blocks, so it merges scores. Centred isotonic regression (Oron
and Flournoy, Statistics in Biopharmaceutical Research 9, 2017) puts each block's value at the
middle of the block, and joins these points by lines.
"""

from math import exp, inf, log

import numpy as np

from monitor.metrics.core.compiled import compiled, inner
from monitor.metrics.core.grid import Floats
from monitor.metrics.maps.calibration_map import LEAST_SLOPE, LIMIT
from monitor.metrics.maps.likelihood import day_levels

ROUNDS = 6  # of levels given the curve, then the curve given the levels; they settle in three
NEARLY = 1e-9


def fit_centred_isotonic(
    logits: Floats, counts: Floats, positives: Floats
) -> tuple[Floats, Floats]:
    """Fit the points of an increasing curve.

    Parameters
    ----------
    logits : ndarray of shape (m,)
        Log-odds of the scores, strictly increasing.
    counts, positives : ndarray of shape (days, m)
        Each day has an intercept of its own.

    Returns
    -------
    knots, values : ndarray of shape (b,)
        Log-odds of scores, and of outcomes up to one constant; both strictly increasing. At least
        two, or one if the curve is flat.

    Notes
    -----
    Blocks are those of the pool-adjacent-violators algorithm for the separable likelihood
    ``sum_t k log p + (n - k) log(1 - p)``, ``p = sigma(g + level_t)`` (Best, Chakravarti and
    Ubhaya, SIAM Journal on Optimization 10, 2000). Each block then gets half an outcome of each
    kind more, so that no rate is 0 or 1, and blocks whose values no longer increase are joined.

    Examples
    --------
    >>> n, k = np.full((1, 4), 99.0), np.array([[20.0, 30.0, 28.0, 60.0]])
    >>> knots, values = fit_centred_isotonic(np.array([-2.0, -1.0, 0.0, 1.0]), n, k)
    >>> knots, values.round(3) - values[0].round(3)
    (array([-2. , -0.5,  1. ]), array([0.   , 0.48 , 1.782]))
    """
    shape = logits
    for _ in range(ROUNDS if counts.shape[0] > 1 else 1):
        levels = day_levels(shape, counts, positives)
        days = np.flatnonzero(~np.isnan(levels))
        levels = levels[days] - levels[days].mean()
        knots, values = _curve(logits, levels, counts[days], positives[days])
        beyond = logits - np.clip(logits, knots[0], knots[-1])
        before, shape = shape, np.interp(logits, knots, values) + beyond
        if np.ptp(shape - before) < NEARLY:
            break
    return knots, values - values.mean() + knots.mean()


@compiled
def _curve(
    logits: Floats, levels: Floats, counts: Floats, positives: Floats
) -> tuple[Floats, Floats]:
    size, days = logits.size, levels.size
    rows, hits = np.zeros((size, days)), np.zeros(size)
    positions, weights, values = np.zeros(size), np.zeros(size), np.zeros(size)
    blocks = 0
    for j in range(size):  # the pool-adjacent-violators algorithm
        n = counts[:, j].sum()
        if n <= 0.0:
            continue
        rows[blocks], hits[blocks] = counts[:, j], positives[:, j].sum()
        positions[blocks], weights[blocks] = logits[j], n
        values[blocks] = _value(rows[blocks], hits[blocks], levels, 0.0)
        blocks += 1
        while blocks > 1 and values[blocks - 2] >= values[blocks - 1]:
            blocks -= 1
            _join(blocks - 1, rows, hits, positions, weights)
            values[blocks - 1] = _value(rows[blocks - 1], hits[blocks - 1], levels, 0.0)
    kept = 0
    for b in range(blocks):
        rows[kept], hits[kept] = rows[b], hits[b]
        positions[kept], weights[kept] = positions[b], weights[b]
        values[kept] = _value(rows[kept], hits[kept], levels, 0.5)
        kept += 1
        while kept > 1 and not (
            values[kept - 1] - values[kept - 2]
            >= LEAST_SLOPE * (positions[kept - 1] - positions[kept - 2])
        ):
            kept -= 1
            _join(kept - 1, rows, hits, positions, weights)
            values[kept - 1] = _value(rows[kept - 1], hits[kept - 1], levels, 0.5)
    return positions[:kept].copy(), values[:kept].copy()


@inner
def _join(place: int, rows: Floats, hits: Floats, positions: Floats, weights: Floats) -> None:
    """Add the block after `place` to the one at it."""
    total = weights[place] + weights[place + 1]
    positions[place] = (
        positions[place] * weights[place] + positions[place + 1] * weights[place + 1]
    ) / total
    weights[place] = total
    hits[place] += hits[place + 1]
    rows[place] += rows[place + 1]


@inner
def _value(counts: Floats, hits: float, levels: Floats, extra: float) -> float:
    """Solve ``sum_t n_t sigma(g + level_t) = hits``, with `extra` outcomes of each kind at 0."""
    total = counts.sum() + 2.0 * extra
    wanted = hits + extra
    if wanted <= 0.0:
        return -inf
    if wanted >= total:
        return inf
    low, high = -LIMIT - np.abs(levels).max(), LIMIT + np.abs(levels).max()
    g = log(wanted / (total - wanted))
    for _ in range(100):
        base = 1.0 / (1.0 + exp(-g))
        expected, information = 2.0 * extra * base, 2.0 * extra * base * (1.0 - base)
        for t in range(levels.size):
            if counts[t] > 0.0:
                p = 1.0 / (1.0 + exp(-(g + levels[t])))
                expected += counts[t] * p
                information += counts[t] * p * (1.0 - p)
        if expected < wanted:
            low = g
        else:
            high = g
        moved = g + (wanted - expected) / information if information > 0.0 else 0.5 * (low + high)
        if not low <= moved <= high:
            moved = 0.5 * (low + high)
        if abs(moved - g) < NEARLY:
            return moved
        g = moved
    return g
