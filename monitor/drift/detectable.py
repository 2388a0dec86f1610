"""Which changes of the slope a reference allows to find, and how long that takes. Pure."""

from dataclasses import dataclass
from math import exp, inf, log, log1p

import numpy as np

from monitor.drift.detector import FULL_GAIN, WEIGHTS
from monitor.drift.evidence import MOST_OF_A_DAY
from monitor.drift.reference import Reference
from monitor.metrics.core.special import brentq

USUAL_CHANGE = 0.2  # a slope of 0.8
STRONG_CHANGE = 0.3  # a slope of 0.7
PATIENCE = 120  # days
FLATTEST = 0.95  # of a change: a curve that says nothing at all


@dataclass(frozen=True)
class Detectable:
    """What the detector can find with a reference and its usual volume.

    Attributes
    ----------
    tolerated, found : float
        Changes of the slope below the first are tolerated, changes above the second are looked
        for; per unit of log-odds.
    rarer : float
        Number of the rarer outcome on a usual day.
    days, days_strong : float
        Days that a slope of 0.8 takes to be found, and one of 0.7; infinite if it never is.
    within_patience : float
        The least change of the slope that is found within 120 days; nan if none is.
    """

    tolerated: float
    found: float
    rarer: float
    days: float
    days_strong: float
    within_patience: float


def what_is_detectable(reference: Reference, false_alert_days: float) -> Detectable:
    """Compute what the detector can find, from the days of the reference.

    Parameters
    ----------
    reference : Reference
        Of the stream.
    false_alert_days : float
        A: days between false alerts, on average.

    Returns
    -------
    Detectable
        For days like those of the reference.

    Examples
    --------
    >>> from scipy.special import expit
    >>> from monitor.drift.reference import fit_reference
    >>> from monitor.metrics.core.coarse import CENTRES, Coarse
    >>> n = np.where(abs(CENTRES) < 3, 50, 0)
    >>> day = {"all": Coarse(n, np.rint(n * expit(CENTRES)).astype(np.int64))}
    >>> found = what_is_detectable(fit_reference([day] * 28), 1000)
    >>> found.tolerated, found.found, round(found.days)
    (0.03, 0.1, 2)
    """
    days = len(reference.scores) * reference.judge_every
    positives, total = int(reference.counts.positives.sum()), int(reference.counts.counts.sum())

    def excess(change: float) -> float:
        return days_to_find(reference, change, false_alert_days) - PATIENCE

    least = float(reference.tolerances[0])
    if excess(FLATTEST) > 0.0:
        seen = float("nan")
    else:
        seen = least if excess(least) <= 0.0 else float(brentq(excess, least, FLATTEST, xtol=1e-3))
    return Detectable(
        tolerated=least,
        found=float(reference.effects[0]),
        rarer=min(positives, total - positives) / days,
        days=days_to_find(reference, USUAL_CHANGE, false_alert_days),
        days_strong=days_to_find(reference, STRONG_CHANGE, false_alert_days),
        within_patience=seen,
    )


def days_to_find(reference: Reference, change: float, false_alert_days: float) -> float:
    """Compute how long a change of the slope takes to be found.

    Parameters
    ----------
    reference : Reference
        Of the stream.
    change : float
        By how much the slope differs from 1, above 0.
    false_alert_days : float
        A.

    Returns
    -------
    float
        Days; infinite if the evidence does not grow.

    Notes
    -----
    A day with information I and dispersion phi adds
    ``g = [(effect - tolerance) change - (effect**2 - tolerance**2) / 2] I / phi`` nats on average.
    Added up over all starts, each with the weight w of `monitor.drift.detector.accumulate`, the
    evidence of the kind is ``w exp(g t) / (1 - exp(-g))`` after t days, and it counts with the
    weight of its kind: ``t = log(A (1 - exp(-g)) / (w weight)) / g``.

    Examples
    --------
    >>> from scipy.special import expit
    >>> from monitor.drift.reference import fit_reference
    >>> from monitor.metrics.core.coarse import CENTRES, Coarse
    >>> n = np.where(abs(CENTRES) < 3, 5, 0)
    >>> day = {"all": Coarse(n, np.rint(n * expit(CENTRES)).astype(np.int64))}
    >>> reference = fit_reference([day] * 28)
    >>> days_to_find(reference, 0.4, 1000) < days_to_find(reference, 0.2, 1000) < 30
    True
    """
    near, far = float(reference.tolerances[0]), float(reference.effects[0])
    known = reference.informations[:, 0]
    phi = 1.0 + reference.jitters[0] * known
    gains = known * ((far - near) * change - 0.5 * (far**2 - near**2)) / phi
    gain = float(np.minimum(gains, MOST_OF_A_DAY * log(10.0)).mean())
    if gain <= 0.0:
        return inf
    most = 0.5 * (far - near) ** 2 * known / phi
    begun = float(np.minimum(1.0, most / FULL_GAIN).mean())
    needed = log(false_alert_days / (WEIGHTS[0] * begun)) + log1p(-exp(-gain))
    return float(reference.judge_every * max(1.0, needed / gain))
