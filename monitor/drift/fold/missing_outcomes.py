"""Whether outcomes went missing on the days on which the base rate moved. Pure.

Outcomes of one kind that go missing move the log-odds of all scores as the base rate does. Where
the share of predictions with an outcome falls on the days on which they move, and by so much that
it could explain half of the move, either may be it.
"""

from dataclasses import replace
from datetime import date, timedelta
from math import isfinite, log, sqrt

import numpy as np

from monitor.base.segment_names import WHOLE
from monitor.drift.curve.reference import Reference, level_variances, merge_days
from monitor.drift.fold.inputs import Day, ModelReference, parts_of_stream
from monitor.drift.fold.today import Today
from monitor.drift.incidents.level_watch import Moves, measured, moves_of
from monitor.drift.records.detector import OUTCOMES_MISSING, LevelWatch
from monitor.drift.records.verdict import WEEK

LEAST_FALL = 0.002  # of the share of predictions with an outcome
BEFORE = 14  # days until outcomes went missing, with which the level is compared
CLEAR = 3.29  # standard errors
UNUSUAL = 2.5  # standard deviations by which days differ
HALF = 0.5  # of the move of the level: what the missing outcomes must be able to explain


def has_fewer_outcomes(day: Day, reference: ModelReference) -> bool:
    """Say whether fewer predictions of a day have an outcome than on the days of the reference.

    Notes
    -----
    The share must be below that of the second-worst day in 28 of the reference, by as much again
    as that one is below a usual day, and by 0.2 points.
    """
    if reference.coverage is None or reference.least_coverage is None:
        return False
    least = reference.least_coverage
    fall = max(LEAST_FALL, reference.coverage - least)
    return isfinite(day.coverage) and day.coverage < least - fall


def missing_since(today: Today, own: Reference, watch: LevelWatch) -> date | None:
    """Find since when outcomes are missing that could be what moved the level of the whole.

    Parameters
    ----------
    today : Today
        The day.
    own : Reference
        Of the whole.
    watch : LevelWatch
        Its level, after the day.

    Returns
    -------
    date or None
        The first day; None if outcomes are there as before, or the level did not move with them.
        What has begun lasts until they are.

    Notes
    -----
    D of the days since, less that of the 14 days before, must be the least prior shift that is
    reported, 3.29 standard errors, and 2.5 times what days vary by. With the share m of the
    outcomes missing, all of one kind, of which the share k of all known outcomes is left, the
    log-odds move by ``log((k (1 - m) + m) / (k (1 - m)))``: by half of what they did, at least.
    """
    if not has_fewer_outcomes(today.day, today.reference):
        return None
    if watch.incident and watch.incident.kind == OUTCOMES_MISSING:
        return watch.incident.started
    days = _days_of_fall(today)
    return days[-1].day if days and _moved_with(days, today, own, watch) else None


def _days_of_fall(today: Today) -> list[Day]:
    """List the days with fewer outcomes, the newest first; none if it began before this week."""
    fallen = list[Day]()
    for back in range(max(WEEK, 2 * today.limits.judge_every) + 1):
        day = today.recall(today.day.day - timedelta(days=back))
        if day is None or not (day.final and isfinite(day.coverage)):
            continue
        if not has_fewer_outcomes(day, today.reference):
            return fallen
        fallen.append(day)
    return []


def _moved_with(days: list[Day], today: Today, own: Reference, watch: LevelWatch) -> bool:
    """Say whether the level moved on the days of a fall, and the fall could explain it."""
    first = days[-1].day.toordinal()
    earlier = (watch.days < first) & (watch.days >= first - BEFORE)
    now, before = (watch.levels[of].astype(np.float64) for of in (watch.days >= first, earlier))
    then = moves_of(now.sum(axis=0))
    if then is None:
        return False
    # The level of the reference is 0 by definition.
    until = moves_of(before.sum(axis=0)) or Moves(0.0, 0.0, 0.0, 0.0)
    change = then.shift - until.shift
    error = sqrt(then.shift_error**2 + until.shift_error**2)
    varies = max(float(own.level_variances[0]), float(level_variances(before)[0]))
    usual = sqrt(error**2 + varies * (1.0 / len(now) + 1.0 / max(1, len(before))))
    least = max(today.limits.prior_shift, CLEAR * error, UNUSUAL * usual)
    return abs(change) > least and _explained(days, today.reference, change) > HALF * abs(change)


def _explained(days: list[Day], reference: ModelReference, change: float) -> float:
    """Give how far the log-odds move if all missing outcomes are of the kind that became rarer."""
    parts = merge_days([parts_of_stream(day, WHOLE) for day in days]).values()
    rows = sum(int(part.counts.sum()) for part in parts)
    hits = sum(int(part.positives.sum()) for part in parts)
    usual = reference.coverage or 1.0
    missing = 1.0 - sum(day.coverage for day in days) / len(days) / usual
    left = (1.0 - missing) * (hits if change < 0.0 else rows - hits) / rows
    return log((left + missing) / left) if left > 0.0 else 0.0


def dated(watch: LevelWatch, since: date) -> LevelWatch:
    """Let the incident of missing outcomes, if it is open, begin on the day on which they did."""
    incident = watch.incident
    if incident is None or incident.kind != OUTCOMES_MISSING or incident.started == since:
        return watch
    begun = replace(incident, started=since, start_low=since, start_high=since)
    return replace(watch, incident=measured(watch, begun))
