"""Whether the days since a drift began fit the scores as they are: changed, but not worse. Pure.

Changed since the reference and wrong are two questions. A model that was off in its reference and
gets a release whose scores fit has changed, and is better.

Rule: the scores as they are have the curve log-odds = log-odds. A drift of the curve leaves each
part of a day a prior of its own; an error of the level does not, because it is one of the prior.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import date
from itertools import groupby
from math import isnan, log, sqrt
from typing import Any

import numpy as np
from scipy.special import log_expit

from monitor.drift.curve.label_noise import wrong_labels
from monitor.drift.curve.reference import Reference, judged_with
from monitor.drift.evidence.directions import SIZES, SLOPES_TRIED, day_profiles, rows_of_day
from monitor.drift.evidence.history import variances_before
from monitor.drift.fold.inputs import Day, parts_of_stream
from monitor.drift.fold.today import Today
from monitor.drift.incidents.detecting import best_slope, gain_of_best
from monitor.drift.incidents.level_watch import level_curve
from monitor.drift.records.day_evidence import DIRECTIONS, SLOPES
from monitor.drift.records.detector import LEVEL_KINDS, Detector, Incident, OwnFit
from monitor.drift.records.facts import NOT_CALIBRATED
from monitor.metrics.core.coarse import CENTRES, Coarse
from monitor.metrics.core.estimate import Estimate
from monitor.metrics.core.grid import Floats
from monitor.metrics.core.special import expit
from monitor.metrics.logistic.conditional import adjusted_profile, score_directions, score_slopes

LEFT = 0.25  # of what a distortion explains: so little is left where it is half as large
ALLOWED = 2.0  # nats that chance may leave
Parts = Mapping[Any, Coarse]


def with_own_fits(today: Today, name: str, detector: Detector, enough: float) -> Detector:
    """Say of the open incidents of a stream how well the scores fit as they are.

    Parameters
    ----------
    today : Today
        The day, and those that have been weighed with it.
    name : str
        The stream.
    detector : Detector
        After today.
    enough : float
        The evidence that opens an incident, log10.

    Returns
    -------
    Detector
        With the `own` of its incidents. That of a break at one place is None: rows that have got
        another score are no release that fits.
    """
    bent, level, of = detector.incident, detector.level.incident, today.own.get(name)
    if of is None or today.day.late or not today.span:
        return detector
    if bent and not bent.place:
        fit = _of_curve(today, name, bent, of, detector)
        own = _decided(fit, better=_is_better(fit, bent, of, enough))
        detector = replace(detector, incident=replace(bent, own=own))
    if level and level.kind in LEVEL_KINDS:
        fit = _of_level(today, name, level, of)
        better = fit.gain >= enough and abs(_moved(fit)) <= today.limits.level
        now = replace(level, own=_decided(fit, better=better))
        detector = replace(detector, level=replace(detector.level, incident=now))
    return detector


def _decided(fit: OwnFit, *, better: bool) -> OwnFit:
    """Say whether it is a change for the better; one that ended does not come back.

    Else an alert near the border would page, resolve and page again.
    """
    over = fit.over or (fit.improved and not better)
    return replace(fit, improved=better and not over, over=over)


def _is_better(fit: OwnFit, incident: Incident, reference: Reference, enough: float) -> bool:
    """Say whether the scores fit, at least better than the reference does.

    No single distortion of the scores as they are explains a quarter of what one of the reference
    does, and their slope is one that a reference may have.
    """
    slope, before = fit.slope, reference.own_slope
    if slope is None or fit.profiles is None or incident.profiles is None:
        return False
    surely = slope.low >= 1.0 - NOT_CALIBRATED and slope.high <= 1.0 + NOT_CALIBRATED
    within = before is not None and _is_off(before) and surely and fit.gain >= 1.0
    if _is_off(slope) or not (fit.gain >= enough or within):
        return False
    left = gain_of_best(fit.profiles.reshape(-1, SIZES.size))
    return left <= LEFT * gain_of_best(incident.profiles) + ALLOWED


def _is_off(slope: Estimate) -> bool:
    """Say whether a slope is a fault of a reference, as `faults_of` does."""
    if isnan(slope.low):  # beyond what is remembered
        return True
    return (slope.low > 1.0 or slope.high < 1.0) and abs(slope.value - 1.0) > NOT_CALIBRATED


def _moved(fit: OwnFit) -> float:
    """Give how far the outcomes are from the scores, in logit; by one step of Newton's method."""
    return fit.pull / fit.information if fit.information > 0.0 else np.inf


def _days(today: Today, since: date | None) -> Iterator[Day]:
    """Give the days that were weighed today, or all since one that have all their outcomes."""
    if since is None:
        yield from today.span
    else:
        yield from (day for day in today.since(since) if not day.late)


def _begun(incident: Incident) -> tuple[OwnFit, date | None]:
    """Go on with what is known of an incident, or begin at its start, if that is another."""
    if incident.own and incident.own.since == incident.started:
        return incident.own, None
    nothing = np.zeros(len(DIRECTIONS) * SIZES.size)
    begun = OwnFit(incident.started, 0.0, slopes=np.zeros(len(SLOPES)), profiles=nothing)
    return begun, incident.started


def _of_curve(
    today: Today, name: str, incident: Incident, own: Reference, detector: Detector
) -> OwnFit:
    fit, since = _begun(incident)
    plain = replace(own, curve=CENTRES)
    judged = judged_with(own, wrong_labels(own.noise, detector.noise))
    usual = variances_before(judged, detector, incident.started)
    for _, days in groupby(_days(today, since), today.end_of_span):
        parts = today.parts(name, [*days])
        gain, slopes = _day_of_curve(own, parts, detector.jitters)
        profiles = day_profiles(rows_of_day(plain, parts), usual)[: len(DIRECTIONS)].ravel()
        before = np.zeros_like(profiles) if fit.profiles is None else fit.profiles
        gained, slopes = fit.gain + gain / log(10.0), fit.slopes + slopes
        fit = replace(fit, gain=gained, slopes=slopes, profiles=before + profiles)
    slope = best_slope(fit.slopes, 0.0)
    return replace(fit, slope=slope and Estimate(slope.value, slope.low, slope.high))  # as stored


def _day_of_curve(own: Reference, parts: Parts, day_variances: Floats) -> tuple[float, Floats]:
    """Weigh the scores as they are against the curve of the reference, each part with its prior."""
    curve, gain, slopes = level_curve(own, parts), 0.0, np.zeros(len(SLOPES))
    informations = np.zeros(len(DIRECTIONS))
    for part in parts.values():
        cells = np.flatnonzero(part.counts)
        rows = part.counts[cells], part.positives[cells]
        if not 0 < rows[1].sum() < rows[0].sum():
            continue
        scores, before = CENTRES[cells], np.ascontiguousarray(curve[cells])
        gain += adjusted_profile(scores, *rows) - adjusted_profile(before, *rows)
        slopes += score_slopes(scores, *rows, scores[np.newaxis], SLOPES_TRIED)
        directions = np.ascontiguousarray(own.directions[:, cells])
        informations += score_directions(before, *rows, directions)[1]
    phi = float((1.0 + day_variances * informations).max())
    return gain / phi, slopes / phi


def _of_level(today: Today, name: str, incident: Incident, own: Reference) -> OwnFit:
    fit, since = _begun(incident)
    for day in _days(today, since):
        for key, part in parts_of_stream(day, name).items():
            level = own.levels.get(key)
            if level and np.isfinite(level.delta):
                fit = _with_level(fit, part, own.curve + level.delta)
    if fit.information > 0.0:
        error = 1.0 / sqrt(fit.information)
        fit = replace(fit, intercept=Estimate.normal(_moved(fit), error))
    return fit


def _with_level(fit: OwnFit, part: Coarse, curve: Floats) -> OwnFit:
    p, hits = expit(CENTRES), part.positives
    misses = part.counts - hits
    gain = hits * (log_expit(CENTRES) - log_expit(curve))
    gain = gain + misses * (log_expit(-CENTRES) - log_expit(-curve))
    return replace(
        fit,
        gain=fit.gain + float(gain.sum()) / log(10.0),
        pull=fit.pull + float((hits - part.counts * p).sum()),
        information=fit.information + float((part.counts * p * (1.0 - p)).sum()),
    )
