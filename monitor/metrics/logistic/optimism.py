"""The mean score of a map that was fitted on the very predictions it is scored on.

Such a score flatters. What is wanted is the score of the map that infinitely many predictions
would give, and how surely it is known: both follow from how far each single prediction moves the
fitted map.
"""

from dataclasses import dataclass
from math import exp, log1p

import numpy as np

from monitor.metrics.core.compiled import compiled
from monitor.metrics.core.grid import Floats, Ints
from monitor.metrics.core.tally import Tally
from monitor.metrics.scores.bounds import ScoringRule
from monitor.metrics.scores.brier import mean_loss


@dataclass(frozen=True, eq=False)
class FittedScore:
    """A mean score and what the fit did to it.

    Attributes
    ----------
    observed : float
        Mean loss on the predictions themselves: Brier, or nats.
    optimism : float
        By how much that is too low on average; add it.
    if_positive, if_negative : ndarray of shape (m,)
        Loss of a prediction by either outcome, plus what it does to the loss of all others by
        moving the fit. The variance of their mean is that of the mean score.
    curvature : float
        Variance of the mean score that is left where the map is right and the former is 0.
    """

    observed: float
    optimism: float
    if_positive: Floats
    if_negative: Floats
    curvature: float

    def corrected(self, phi: float) -> float:
        """Estimate of the mean score of the map that infinitely many predictions would give.

        `phi` is the design effect of what was fitted: 1 if the predictions are independent.
        """
        return self.observed + phi * self.optimism


def fitted_score(t: Tally, logits: Floats, design: Floats, rule: ScoringRule) -> FittedScore:
    """Score a logistic regression on the predictions it was fitted to.

    Parameters
    ----------
    t : Tally
        m groups of equal score.
    logits : ndarray of shape (m,)
        Fitted log-odds of each group.
    design : ndarray of shape (m, p)
        The p terms whose coefficients were fitted by maximum likelihood; p may be 0.
    rule : {"brier", "log"}
        Which proper score.

    Returns
    -------
    FittedScore
        Of the map as it is, if nothing was fitted: without optimism.

    Notes
    -----
    With x the terms, p the fitted probability, ``w = p (1-p)``, l the loss, ``A = mean w x x'``,
    ``psi = A^-1 x (y - p)`` the pull of a prediction on the coefficients, C their covariance
    times N, g and H the mean first and second derivative of the loss by the coefficients: each
    prediction counts ``l + g'psi``, and ::

        N optimism = -( mean l'psi + tr(H C) / 2 + g'b ),
        b = -A^-1 mean[ w (x'psi) x + w (1 - 2p) (x'C x) x / 2 ],

    the second-order expansion of a function of the sample, with b the bias of the coefficients.
    It holds whether or not the map is right. Where it is right, ``g = 0`` and the optimism is
    p/(2N) for the log score and ``tr(I^-1 J)/N`` for Brier, ``I = sum n w x x'`` and
    ``J = sum n w**2 x x'``; the curvature is p/(2 N**2) and ``2 tr((I^-1 J)**2) / N**2``.

    Examples
    --------
    >>> from monitor.metrics.core.tally import tally
    >>> t = tally([0, 0, 1, 1], [0.5] * 4)
    >>> score = fitted_score(t, np.zeros(1), np.ones((1, 1)), "log")
    >>> round(score.observed, 6), round(score.optimism, 6)  # log 2, and 1/(2N)
    (0.693147, 0.125)
    """
    derivatives = differentiate(logits, rule == "log")
    if_positive, if_negative = derivatives[0], derivatives[1]
    observed = mean_loss(t, if_positive, if_negative)
    if not design.shape[1]:
        return FittedScore(observed, 0.0, if_positive, if_negative, 0.0)
    terms = np.ascontiguousarray(design)
    information, variance, flat, slope = add_up(logits, terms, t.counts, t.positives, derivatives)
    inverse = np.linalg.inv(information)
    ratio = inverse @ flat
    curvature = 0.5 * ratio.shape[0] if rule == "log" else 2.0 * float(np.trace(ratio @ ratio))
    covariance, line = inverse @ variance @ inverse, inverse @ slope
    bias = pull(logits, terms, t.counts, t.positives, derivatives, inverse, covariance, line)
    return FittedScore(observed, -bias / t.total, if_positive, if_negative, curvature / t.total**2)


@compiled
def differentiate(logits: Floats, log: bool) -> Floats:  # noqa: FBT001 (compiled)
    """Give the loss by a positive and a negative outcome, and two derivatives; shape (6, m)."""
    rows = np.empty((6, logits.size))
    for i in range(logits.size):
        z = logits[i]
        rest = exp(-abs(z))
        small, large = rest / (1.0 + rest), 1.0 / (1.0 + rest)
        p, q = (large, small) if z > 0.0 else (small, large)
        w = p * q
        if log:
            rows[0, i], rows[1, i] = log1p(rest) - min(z, 0.0), log1p(rest) + max(z, 0.0)
            rows[2, i], rows[3, i] = -q, p
            rows[4, i] = rows[5, i] = w
        else:
            rows[0, i], rows[1, i] = q * q, p * p
            rows[2, i], rows[3, i] = -2.0 * q * w, 2.0 * p * w
            rows[4, i], rows[5, i] = 2.0 * w * q * (2.0 * p - q), 2.0 * w * p * (2.0 * q - p)
    return rows


@compiled
def add_up(
    logits: Floats, terms: Floats, counts: Ints, positives: Ints, derivatives: Floats
) -> tuple[Floats, Floats, Floats, Floats]:
    """Return the means of ``w x x'``, ``(y-p)**2 x x'``, ``w**2 x x'`` and of the slope."""
    total, size = counts.sum(), terms.shape[1]
    information, variance = np.zeros((size, size)), np.zeros((size, size))
    flat, slope = np.zeros((size, size)), np.zeros(size)
    for i in range(logits.size):
        p, q = 1.0 / (1.0 + exp(-logits[i])), 1.0 / (1.0 + exp(logits[i]))
        hits, misses = positives[i] / total, (counts[i] - positives[i]) / total
        w = (hits + misses) * p * q
        v = hits * q * q + misses * p * p
        tilt = hits * derivatives[2, i] + misses * derivatives[3, i]
        for a in range(size):
            slope[a] += tilt * terms[i, a]
            for b in range(size):
                square = terms[i, a] * terms[i, b]
                information[a, b] += w * square
                variance[a, b] += v * square
                flat[a, b] += w * p * q * square
    return information, variance, flat, slope


@compiled
def pull(
    logits: Floats,
    terms: Floats,
    counts: Ints,
    positives: Ints,
    derivatives: Floats,
    inverse: Floats,
    covariance: Floats,
    line: Floats,
) -> float:
    """Return N times the bias of the mean score, and add g'psi to the losses of each group."""
    total, size, bias = counts.sum(), terms.shape[1], 0.0
    for i in range(logits.size):
        p, q = 1.0 / (1.0 + exp(-logits[i])), 1.0 / (1.0 + exp(logits[i]))
        hits, misses = positives[i] / total, (counts[i] - positives[i]) / total
        leverage = spread = along = 0.0
        for a in range(size):
            along += line[a] * terms[i, a]
            for b in range(size):
                square = terms[i, a] * terms[i, b]
                leverage += inverse[a, b] * square
                spread += covariance[a, b] * square
        residual = hits * q - misses * p
        bias += (hits * derivatives[2, i] * q - misses * derivatives[3, i] * p) * leverage
        bias += 0.5 * (hits * derivatives[4, i] + misses * derivatives[5, i]) * spread
        bias -= along * p * q * residual * leverage
        bias -= 0.5 * along * p * q * (hits + misses) * (q - p) * spread
        derivatives[0, i] += along * q
        derivatives[1, i] -= along * p
    return bias
