"""The level of a calibration curve: whether its intercept moved with the prior, or on its own.

Under a prior shift the scores move with the prevalence. If the prevalence moved and the scores
did not, the curve itself was lifted. The two look alike until both are compared.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite, log, nan, sqrt

import numpy as np

from monitor.metrics.core.coarse import Coarse
from monitor.metrics.core.compiled import compiled
from monitor.metrics.core.extremes import highest
from monitor.metrics.core.grid import Floats, Ints
from monitor.metrics.logistic.intercept import solve_factor


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
    separation : float
        Tjur's R2 of the scores: what a lift of 1 leaves in kappa.
    """

    shift: float
    shift_error: float
    kappa: float
    kappa_error: float
    separation: float

    @property
    def lift(self) -> float:
        """How far the curve was lifted, in logit; nan if the scores tell nothing apart."""
        return self.kappa / self.separation if self.separation > 0.0 else nan


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
    >>> from monitor.metrics.core.coarse import CENTRES, coarsen
    >>> from monitor.metrics.core.tally import tally
    >>> fit = fit_level(CENTRES, coarsen(tally([0, 0, 1, 0], [0.2, 0.2, 0.8, 0.8])))
    >>> round(fit.delta, 3), fit.prevalence
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
        the shift is 0; when both move, neither tells which. All nan if either has one class only.

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
    if not (isfinite(now.delta) and isfinite(reference.delta)):
        return Lift(nan, nan, nan, nan, nan)
    kappa = (now.delta - now.log_odds) - (reference.delta - reference.log_odds)
    separation = 1.0 - now.mean_weight / (now.prevalence * (1.0 - now.prevalence))
    return Lift(
        now.delta - reference.delta,
        sqrt(now.delta_variance + reference.delta_variance),
        kappa,
        sqrt(now.difference_variance + reference.difference_variance),
        separation,
    )


def combine_lifts(lifts: Sequence[Lift]) -> Lift | None:
    """Average the lifts of parts with priors of their own, by the inverse of their variances.

    Parameters
    ----------
    lifts : sequence of Lift
        One for each part; those that are not finite say nothing.

    Returns
    -------
    Lift or None
        None if no part says anything.

    Notes
    -----
    A lift by ``lambda`` gives each part ``kappa = R2 lambda``, so the mean of kappa over that of
    R2, with the same weights, is lambda again.

    Examples
    --------
    >>> parts = [Lift(0.1, 0.1, 0.2, 0.1, 0.4), Lift(0.3, 0.1, 0.1, 0.1, 0.2)]
    >>> lift = combine_lifts(parts)
    >>> round(lift.shift, 6), round(lift.kappa, 6), round(lift.lift, 6)
    (0.2, 0.15, 0.5)
    """
    told = [lift for lift in lifts if isfinite(lift.shift) and isfinite(lift.kappa)]
    if not told:
        return None
    shift, shift_error = _weighed(told, "shift", "shift_error")
    kappa, kappa_error = _weighed(told, "kappa", "kappa_error")
    separation, _ = _weighed(told, "separation", "kappa_error")
    return Lift(shift, shift_error, kappa, kappa_error, separation)


def _weighed(lifts: Sequence[Lift], value: str, error: str) -> tuple[float, float]:
    """Average values by the inverse of their variances; also the error of the mean."""
    values, errors = np.array([(getattr(x, value), getattr(x, error)) for x in lifts]).T
    least = errors.min()  # 0 where a part has a single score: then it is alone to count
    weights = (least / errors) ** 2 if least > 0.0 else np.where(errors > 0.0, 0.0, 1.0)
    total = weights.sum()
    return float((weights * values).sum() / total), float(least / np.sqrt(total))


@compiled
def _fit(curve: Floats, counts: Ints, positives: Ints) -> tuple[float, float, float]:
    """Return intercept, its information, and the variance of intercept minus log-odds."""
    top, hits, total = highest(curve), positives.sum(), counts.sum()
    odds = np.exp(curve - top)
    factor, information = solve_factor(odds, counts, hits)
    mean_weight, prevalence, variance = information / total, hits / total, 0.0
    for i in range(odds.size):
        p = factor * odds[i] / (1.0 + factor * odds[i])
        of_positive = (1.0 - p) / mean_weight - 1.0 / prevalence
        of_negative = -p / mean_weight + 1.0 / (1.0 - prevalence)
        variance += positives[i] * of_positive**2 + (counts[i] - positives[i]) * of_negative**2
    return log(factor) - top, information, variance / float(total) ** 2
