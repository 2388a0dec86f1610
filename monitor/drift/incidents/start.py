"""When a drift began: at once, or gradually. Pure.

A step and ramps of several lengths are compared by how likely they make what the days said. The
interval is that of all of them, because a ramp that is found early looks like a step. Only where a
ramp fits clearly better is a drift called gradual: then its start is that of the ramps too.
"""

from dataclasses import dataclass
from datetime import date

import numpy as np

from monitor.drift.records.detector import History
from monitor.metrics.core.grid import Floats
from monitor.metrics.core.special import logsumexp

CERTAINTY = 0.9  # of the interval of a start
STEP, RAMPS = 1, (15, 30, 60, 120, 240)  # days until a distortion is whole
CLEARLY = 2.0  # times as likely as a step: then a drift is gradual


@dataclass(frozen=True)
class Start:
    """The estimated first day of a drift, and an interval that holds it nine times out of ten.

    A gradual one came slowly: a ramp that begins on that day explains it better than a step.
    """

    day: date
    low: date
    high: date
    gradual: bool = False


def start_of(
    history: History,
    *,
    direction: int,
    sign: int,
    day_variance: float,
    effect: float,
    error: float,
) -> Start:
    """Estimate when a distortion began.

    Parameters
    ----------
    history : History
        Since the detector began, up to today; at least one day.
    direction : int
        Row of the reference's directions.
    sign : int
        -1 for the first kind of the direction, 1 for the second.
    day_variance : float
        Between-day variance along it.
    effect : float
        The standard deviation of the size of a distortion, a priori, in logit.
    error : float
        Standard error of the reference curve along the direction, in logit: what looks like a
        distortion of all days.

    Returns
    -------
    Start
        The posterior median, and the 5 % and 95 % quantiles over steps and ramps; each day is as
        likely a priori.

    Notes
    -----
    A distortion that begins on day s and takes l days has the share ``g_t = min(1, (t - s + 1) /
    l)`` on day t, 0 before s. With the sums ``U = sum g u``, ``I = sum g**2 i``, ``J = sum g i``
    of the days' scores u and informations i, each divided by its dispersion, the likelihood of s
    and l is that of a normal size of mean 0 and variance ``e**2``, beside an error of the
    reference, of variance ``v``, on all days: ``exp(U**2 / (2 (I + 1/e**2))) / sqrt(1 + e**2 I)``
    where U has the right sign, with U less ``J U_all / (I_all + 1/v)`` and I less
    ``J**2 / (I_all + 1/v)``. A step has l = 1; ramps take 15 to 240 days, each as likely, and are
    together as likely as a step a priori. If they are more than twice as likely as a step
    afterwards, the median is that of step and ramps together, else that of a step alone. It lies
    within the quantiles, because the other then has at least a third of the weight.
    """
    phi = 1.0 + day_variance * history.informations[:, direction] / history.days
    pulls, informations = (
        of[:, direction] / phi for of in (sign * history.scores, history.informations)
    )
    step, *ramps = (
        _weights(_share_by_start(history, length), pulls, informations, effect, error)
        + np.log(history.days)
        for length in (STEP, *RAMPS)
    )
    gradually = logsumexp(ramps, axis=0) - np.log(len(RAMPS))
    gradual = bool(logsumexp(gradually) > logsumexp(step) + np.log(CLEARLY))
    either, ends = np.logaddexp(step, gradually), (0.5 - CERTAINTY / 2, 0.5 + CERTAINTY / 2)
    low, high = (_quantile(either, end) for end in ends)
    middle = _quantile(either if gradual else step, 0.5)
    last_day = np.append(history.firsts[1:] - 1, history.firsts[-1])[high]
    days = (history.firsts[middle], history.firsts[low], last_day)
    day, earliest, latest = (date.fromordinal(int(ordinal)) for ordinal in days)
    return Start(day, earliest, latest, gradual)


def _quantile(weight: Floats, share: float) -> int:
    """Find the row up to which a share of the weight lies, given its logarithm."""
    shares = np.cumsum(np.exp(weight - weight.max()))
    return min(int(np.searchsorted(shares / shares[-1], share)), shares.size - 1)


def _share_by_start(history: History, length: int) -> Floats:
    """Give how whole a distortion is in each row, by the row it begins in; shape (r, r).

    Of a row of several days it is the share in their middle.
    """
    middles = history.firsts + 0.5 * (history.days - 1)
    begun = history.firsts >= history.firsts[:, None]
    return np.asarray(begun * np.minimum(1.0, (middles - history.firsts[:, None] + 1.0) / length))


def _weights(
    shares: Floats, pulls: Floats, informations: Floats, effect: float, error: float
) -> Floats:
    """Give the logarithm of the likelihood of each row as the first, up to a constant."""
    pull, shared, information = shares @ pulls, shares @ informations, shares**2 @ informations
    if error > 0.0:
        of_error = shared / (informations.sum() + error**-2)
        pull, information = pull - of_error * pulls.sum(), information - of_error * shared
    fit = np.maximum(pull, 0.0) ** 2 / (2.0 * (information + effect**-2))
    return np.asarray(fit - 0.5 * np.log1p(effect**2 * information))
