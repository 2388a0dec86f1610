"""Which changes of the slope a reference allows to find, how soon, and at which limit. Pure.

Rule: what is said of it is what the detector does on simulated days, so it holds for few rows too.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from math import ceil, inf, log10, nan

import numpy as np

from monitor.drift.curve.reference import Reference
from monitor.drift.incidents.detecting import mean_evidence
from monitor.drift.incidents.paths import Drawn, drawn_days, evidence_paths
from monitor.drift.records.facts import (
    FEW_A_DAY,
    LONGER,
    LONGEST,
    PATIENCE,
    STRONG_CHANGE,
    USUAL_CHANGE,
    Detectable,
    Together,
)

FLATTEST = 0.95  # of a change: a curve that says nothing at all
PATHS = 300
NEAR = 0.01  # of a change of the slope: no more digits are said
REFERENCE_ERROR = 0.5  # share of the tolerance that the reference's own error may take
SHARE, SPAN = 1 / 4, 1 / 3  # of the paths that reach the limit within this part of A
MOST_SIMULATED = 1_000  # days between false alerts; the limit of more days grows with them
NOTICED = 1.5  # times the variance of independent rows: what hangs together beyond chance
LEAST_LIMIT = 2.0  # log10: a lower one is reached too often in rougher worlds


def what_is_detectable(reference: Reference, limit: float) -> Detectable:
    """Find out what the detector can find, by simulated days like those of the reference.

    Parameters
    ----------
    reference : Reference
        Of the stream.
    limit : float
        Evidence at which an incident opens, log10.

    Returns
    -------
    Detectable
        For days like those of the reference.

    Examples
    --------
    >>> from scipy.special import expit
    >>> from monitor.drift.curve.reference import fit_reference
    >>> from monitor.metrics.core.coarse import CENTRES, Coarse
    >>> n = np.where(abs(CENTRES) < 3, 50, 0)
    >>> day = {"all": Coarse(n, np.rint(n * expit(CENTRES)).astype(np.int64))}
    >>> detectable = what_is_detectable(fit_reference([day] * 28), 3.0)
    >>> detectable.tolerated, detectable.found, round(detectable.days)
    (0.015, 0.1, 2)
    """
    days = len(reference.scores) * reference.judge_every
    positives, total = int(reference.counts.positives.sum()), int(reference.counts.counts.sum())
    rarer, drawn = min(positives, total - positives) / days, drawn_days(reference, PATHS)
    return Detectable(
        tolerated=REFERENCE_ERROR * float(reference.tolerances[0]),
        found=float(reference.effects[0]),
        rarer=rarer,
        days=_days_to_find(reference, drawn, USUAL_CHANGE, limit),
        days_strong=_days_to_find(reference, drawn, STRONG_CHANGE, limit),
        within_patience=_found_in_time(reference, drawn, limit) if rarer < FEW_A_DAY else None,
        together=_together(reference, drawn, limit) if reference.hanging[0] > NOTICED else None,
    )


def _together(reference: Reference, drawn: Iterator[Drawn], limit: float) -> Together:
    """Say what a reference is worth whose rows hang together."""
    days = len(reference.scores) * reference.judge_every
    times, longer = LONGER / days, None
    if times > 1.0:
        more = replace(
            reference, covariance=reference.covariance / times, cross=reference.cross * times
        )
        longer = days_to_find(more, USUAL_CHANGE, limit)
    independent = days / float(reference.dispersions[0])
    return Together(days, independent, _found_in_time(reference, drawn, limit), longer)


def days_to_find(reference: Reference, change: float, limit: float, most: int = LONGEST) -> float:
    """Find how long a change of the slope takes to be found in half of all cases.

    Parameters
    ----------
    reference : Reference
        Of the stream.
    change : float
        By how much the slope differs from 1, above 0.
    limit : float
        Evidence at which an incident opens, log10.
    most : int
        Days that are simulated.

    Returns
    -------
    float
        The median over 300 simulated streams; infinite if it is more than the most days.

    Examples
    --------
    >>> from scipy.special import expit
    >>> from monitor.drift.curve.reference import fit_reference
    >>> from monitor.metrics.core.coarse import CENTRES, Coarse
    >>> n = np.where(abs(CENTRES) < 3, 5, 0)
    >>> day = {"all": Coarse(n, np.rint(n * expit(CENTRES)).astype(np.int64))}
    >>> reference = fit_reference([day] * 28)
    >>> days_to_find(reference, 0.4, 3.0) < days_to_find(reference, 0.2, 3.0) < 30
    True
    """
    return _days_to_find(reference, drawn_days(reference, PATHS), change, limit, most)


def _days_to_find(
    reference: Reference,
    drawn: Iterator[Drawn],
    change: float,
    limit: float,
    most: int = LONGEST,
) -> float:
    has_alerted, spans = np.zeros(PATHS, bool), most // reference.judge_every
    paths = evidence_paths(reference, drawn, change, limit)
    for span, evidence in enumerate(islice(paths, spans), 1):
        has_alerted |= evidence >= limit
        if 2 * has_alerted.sum() >= PATHS:
            return float(span * reference.judge_every)
    return inf


def calibrated_limit(
    reference: Reference, false_alert_days: float, third: Reference | None = None
) -> float:
    """Find the evidence that chance alone reaches as often as promised, log10.

    Parameters
    ----------
    reference : Reference
        Of the stream.
    false_alert_days : float
        A: days between false alerts, on average over references and days.
    third : Reference, optional
        Of a second family of pairs; then the limit is that of the mean of both evidences, of days
        that are drawn independently.

    Returns
    -------
    float
        At least 2, and at most log10 A, which chance reaches at most as often whatever the
        reference.

    Notes
    -----
    A quarter of the simulated streams without a change reach the limit within A / 3 days: a third
    would be due, but some streams open more than one incident. The limit of more than 1,000 days
    grows in proportion to them, as Ville's inequality has it.

    Examples
    --------
    >>> from scipy.special import expit
    >>> from monitor.drift.curve.reference import fit_reference
    >>> from monitor.metrics.core.coarse import CENTRES, Coarse
    >>> n = np.where(abs(CENTRES) < 3, 5, 0)
    >>> day = {"all": Coarse(n, np.rint(n * expit(CENTRES)).astype(np.int64))}
    >>> 2.0 <= calibrated_limit(fit_reference([day] * 28), 1000) < 2.5
    True
    """
    simulated = min(false_alert_days, MOST_SIMULATED)
    spans = ceil(simulated * SPAN / reference.judge_every)
    families = [family for family in (reference, third) if family]
    paths = [
        evidence_paths(family, drawn_days(family, PATHS, seed))
        for seed, family in enumerate(families)
    ]
    highest = np.zeros(PATHS)
    for evidences in islice(zip(*paths, strict=True), spans):
        highest = np.maximum(highest, mean_evidence(evidences))
    reached = float(np.quantile(highest, 1.0 - SHARE))
    most, beyond = log10(false_alert_days), log10(false_alert_days / simulated)
    return min(most, max(LEAST_LIMIT, reached + beyond))


def _found_in_time(reference: Reference, drawn: Iterator[Drawn], limit: float) -> float:
    """Find the least change that is found within the patience, to two digits, by halving."""
    low, high = 0.0, FLATTEST
    if _days_to_find(reference, drawn, high, limit, PATIENCE) == inf:
        return nan
    while high - low > NEAR:
        middle = 0.5 * (low + high)
        in_time = _days_to_find(reference, drawn, middle, limit, PATIENCE) < inf
        low, high = (low, middle) if in_time else (middle, high)
    return high
