"""Whether the reference itself was calibrated: a verdict only says whether something changed. Pure.

Rule: the days of the reference are taken as they are. Its intercept is that of these days, and
its interval says nothing of the priors of others.
"""

from collections.abc import Sequence
from math import isfinite, sqrt

from monitor.metrics.core.coarse import CENTRES, Coarse, sum_of
from monitor.metrics.core.estimate import Estimate
from monitor.metrics.logistic.conditional import fit_slope
from monitor.metrics.logistic.level import fit_level


def own_slope(strata: Sequence[Coarse], dispersion: float) -> Estimate | None:
    """Estimate the slope of the reference's outcomes on its scores, apart from every prior.

    Parameters
    ----------
    strata : sequence of Coarse
        The parts of each day, each with an intercept of its own.
    dispersion : float
        By how much the variance is larger than that of independent outcomes.

    Returns
    -------
    Estimate or None
        1 if the scores are calibrated; None if the outcomes do not tell.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.special import expit
    >>> n = np.where(abs(CENTRES) < 3, 10_000, 0)
    >>> extreme = Coarse(n, np.rint(n * expit(0.5 * CENTRES)).astype(np.int64))
    >>> round(own_slope([extreme], 1.0).value, 2)
    0.5
    """
    fitted = fit_slope(CENTRES, strata)
    return Estimate.normal(fitted[0], fitted[1] * sqrt(dispersion)) if fitted else None


def own_intercept(strata: Sequence[Coarse]) -> Estimate | None:
    """Estimate how far the log-odds of all scores of the reference are off, on average.

    Parameters
    ----------
    strata : sequence of Coarse
        The parts of each day.

    Returns
    -------
    Estimate or None
        0 if as many predictions came true as expected, above 0 if more did; None if all outcomes
        are equal.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.special import expit
    >>> n = np.where(abs(CENTRES) < 3, 10_000, 0)
    >>> low = Coarse(n, np.rint(n * expit(0.4 + CENTRES)).astype(np.int64))
    >>> round(own_intercept([low]).value, 2)
    0.4
    """
    level = fit_level(CENTRES, sum_of(strata))
    if not isfinite(level.delta):
        return None
    return Estimate.normal(level.delta, sqrt(level.delta_variance))
