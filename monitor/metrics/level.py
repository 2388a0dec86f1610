"""The level of a calibration curve: whether its intercept moved with the prior, or on its own.

Under a prior shift the scores move with the prevalence. If the prevalence moved and the scores
did not, the curve itself was lifted. The two look alike until both are compared.
"""

from dataclasses import dataclass
from math import log, nan, sqrt

import numpy as np

from monitor.metrics.coarse import Coarse
from monitor.metrics.compiled import compiled
from monitor.metrics.conditional import solve_factor
from monitor.metrics.grid import Floats, Ints


@dataclass(frozen=True)
class Level:
    """Intercept and prevalence of a period on a given curve; nan with one class only.

    Attributes
    ----------
    delta : float
        Intercept on the curve, in logit.
    log_odds : float
        Logit of the prevalence.
    delta_variance : float
        Sampling variance of the intercept.
    difference_variance : float
        Sampling variance of ``delta - log_odds``.
    prevalence : float
        Share of positive outcomes, in [0, 1].
    mean_weight : float
        Mean of p (1 - p) at the intercept.
    """

    delta: float
    log_odds: float
    delta_variance: float
    difference_variance: float
    prevalence: float
    mean_weight: float


@dataclass(frozen=True)
class Lift:
    """How far a curve was lifted beyond what the prior explains.

    Attributes
    ----------
    shift : float
        Change of the intercept since the reference, in logit.
    shift_error : float
        Its standard error.
    kappa : float
        The part of it that did not come with the prevalence, in logit.
    kappa_error : float
        Its standard error.
    lift : float
        How far the curve was lifted: kappa over what a lift of 1 leaves in it.
    """

    shift: float
    shift_error: float
    kappa: float
    kappa_error: float
    lift: float


def fit_level(curve: Floats, c: Coarse) -> Level:
    """Find intercept and prevalence of a period.

    Parameters
    ----------
    curve : ndarray of shape (1024,)
        Log-odds of the reference by coarse cell.
    c : Coarse
        The period's outcomes.

    Returns
    -------
    Level
        All nan but the prevalence if there is one class only.

    Notes
    -----
    The variance of ``delta - logit(mean y)`` is that of the sum of its influences,
    ``psi_1 = (1 - p) / w - 1 / pi`` of a positive and ``psi_0 = -p / w + 1 / (1 - pi)`` of a
    negative outcome, with ``w = mean p (1 - p)``.

    Examples
    --------
    >>> from monitor.metrics.coarse import CENTRES, coarsen
    >>> from monitor.metrics.tally import tally
    >>> found = fit_level(CENTRES, coarsen(tally([0.2, 0.2, 0.8, 0.8], [0, 0, 1, 0])))
    >>> round(found.delta, 3), found.prevalence
    (-1.585, 0.25)
    """
    hits, total = int(c.positives.sum()), int(c.counts.sum())
    if not 0 < hits < total:
        return Level(nan, nan, nan, nan, hits / total if total else nan, nan)
    seen = np.nonzero(c.counts)[0]
    delta, information, variance = _fit(curve[seen], c.counts[seen], c.positives[seen])
    odds, share = log(hits / (total - hits)), hits / total
    return Level(delta, odds, 1.0 / information, variance, share, information / total)


def compare_levels(now: Level, reference: Level) -> Lift:
    """Tell a lifted curve from a shifted prior.

    Parameters
    ----------
    now, reference : Level
        On the same curve.

    Returns
    -------
    Lift
        Under a prior shift kappa is 0, whatever the shift; under a change of the scores alone
        the shift is 0; when both move, neither tells which.

    Notes
    -----
    ``kappa = (delta_now - logit pi_now) - (delta_ref - logit pi_ref)``: if the scores given the
    outcome stay as they are, Bayes' theorem moves intercept and log-odds by the same amount. A
    lift by 1 with the scores as they were moves log-odds by ``1 - R2`` only, with Tjur's
    ``R2 = 1 - w / (pi (1 - pi))``, so ``kappa = R2 * lift``.

    Examples
    --------
    >>> before = Level(0.0, -2.0, 0.01, 0.02, 0.12, 0.1)
    >>> round(compare_levels(Level(0.7, -1.3, 0.01, 0.02, 0.21, 0.1), before).kappa, 6)
    0.0
    """
    kappa = (now.delta - now.log_odds) - (reference.delta - reference.log_odds)
    separation = 1.0 - now.mean_weight / (now.prevalence * (1.0 - now.prevalence))
    return Lift(
        now.delta - reference.delta,
        sqrt(now.delta_variance + reference.delta_variance),
        kappa,
        sqrt(now.difference_variance + reference.difference_variance),
        kappa / separation if separation > 0.0 else nan,
    )


@compiled
def _fit(curve: Floats, counts: Ints, positives: Ints) -> tuple[float, float, float]:
    """Return intercept, its information, and the variance of intercept minus log-odds."""
    top, hits, total = curve.max(), positives.sum(), counts.sum()
    odds = np.exp(curve - top)
    factor, information = solve_factor(odds, counts, hits)
    mean_weight, prevalence, variance = information / total, hits / total, 0.0
    for i in range(odds.size):
        p = factor * odds[i] / (1.0 + factor * odds[i])
        of_positive = (1.0 - p) / mean_weight - 1.0 / prevalence
        of_negative = -p / mean_weight + 1.0 / (1.0 - prevalence)
        variance += positives[i] * of_positive**2 + (counts[i] - positives[i]) * of_negative**2
    return log(factor) - top, information, variance / float(total) ** 2
