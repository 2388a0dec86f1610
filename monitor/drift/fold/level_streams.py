"""The levels of all streams after a day: of a curve, and of classes against the rest. Pure.

Late outcomes look like fewer ones, so a day with many of them says nothing of any level.

Outcomes of one kind that go missing move the log-odds of all scores as the base rate does. Where
the share of predictions with an outcome falls on the days on which they move, and by so much that
it could explain half of the move, either may be it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import partial
from math import isfinite, log, log10, sqrt

import numpy as np

from monitor.base.segment_names import FAMILIES, THIRD, WHOLE
from monitor.drift.classes.class_watch import Rest, advance_classes, decide_classes
from monitor.drift.curve.reference import Reference, level_variances, merge_days
from monitor.drift.fold.inputs import Day, ModelReference, parts_of_stream
from monitor.drift.fold.today import Today
from monitor.drift.incidents.detecting import new_detector, segment_limits
from monitor.drift.incidents.level_watch import (
    Moves,
    advance_level,
    are_few,
    collapsed,
    decide_level,
    measured,
    moves_of,
    not_comparable,
)
from monitor.drift.records.detector import OUTCOMES_MISSING, Detector, LevelWatch, over_on
from monitor.drift.records.verdict import WEEK

LEAST_FALL = 0.002  # of the share of predictions with an outcome
BEFORE = 14  # days until outcomes went missing, with which the level is compared
CLEAR = 3.29  # standard errors
UNUSUAL = 2.5  # standard deviations by which days differ
HALF = 0.5  # of the move of the level: what the missing outcomes must be able to explain


@dataclass(frozen=True)
class _Advanced:
    """The level of a stream after a day, before it is decided on.

    `silent` says why its scores cannot be compared, if so; `few` whether there are too few rows;
    `missing` since when outcomes are missing that could be what moved the level.
    """

    watch: LevelWatch
    own: Reference
    silent: str | None
    few: bool
    missing: date | None = None


def with_levels(before: Mapping[str, Detector], today: Today) -> dict[str, Detector]:
    """Weigh the level of every stream whose parts share one, and decide on its incident."""
    if today.day.late:
        return _with_outcomes_back(before, today)
    advanced = dict(_advanced(before, today)) if today.span else {}
    segments = {name: of.watch for name, of in advanced.items() if name not in FAMILIES}
    limits, of_all = today.limits, segment_limits(segments, today.limits.segment_false_alert_days)
    detectors = dict(before)
    for name, of in advanced.items():
        day, silent = today.span[-1].day, of.silent or (OUTCOMES_MISSING if of.missing else None)
        if of.few and silent:
            decided = collapsed(of.watch, day, silent)
        else:
            enough = of_all.get(name, log10(limits.false_alert_days))
            least = limits.level, limits.level_page
            decided = decide_level(
                *(of.watch, of.own, day), enough=enough, least=least, silent=silent
            )
        decided = dated(decided, of.missing) if of.missing else decided
        detectors[name] = replace(before.get(name, new_detector()), level=decided)
    return detectors


def _with_outcomes_back(before: Mapping[str, Detector], today: Today) -> dict[str, Detector]:
    """Close the incident of missing outcomes once they are there, however late others come."""
    whole = before.get(WHOLE)
    incident = whole.level.incident if whole else None
    known = isfinite(today.day.coverage) and not has_fewer_outcomes(today.day, today.reference)
    if whole is None or incident is None or incident.kind != OUTCOMES_MISSING or not known:
        return dict(before)
    level = replace(whole.level, incident=None, ended=over_on(whole.level, today.day.day))
    return {**before, WHOLE: replace(whole, level=level)}


def _advanced(before: Mapping[str, Detector], today: Today) -> Iterator[tuple[str, _Advanced]]:
    """Add the day to the level of each stream of which it says something."""
    for name, own in today.own.items():
        if not own.levels or name == THIRD:
            continue
        parts = merge_days([parts_of_stream(day, name) for day in today.span])
        detector = before.get(name, new_detector())
        silent = None if detector.incident else not_comparable(own, parts)
        few, watch = silent is not None and are_few(parts), detector.level
        now = watch if few else advance_level(watch, own, today.span[-1].day, parts)
        if few or now is not watch:
            missing = missing_since(today, own, now) if name == WHOLE else None
            yield name, _Advanced(now, own, silent, few, missing)


def with_class_levels(before: Mapping[str, Detector], today: Today) -> dict[str, Detector]:
    """Weigh the scores of each class against the rest, and decide on their incidents.

    Those of the whole, and of each segment.
    """
    scores = today.reference.scores
    if today.day.late or not (today.span and scores):
        return dict(before)
    rest = {
        name: merge_days([of for day in today.span if (of := _rest(day, name))]) for name in scores
    }
    day, limits, detectors = today.span[-1].day, today.limits, dict(before)
    advanced = {
        name: advance_classes(before.get(name, new_detector()).level, own, day, rest[name])
        for name, own in scores.items()
        if rest[name]
    }
    segments = {name: watch for name, watch in advanced.items() if name != WHOLE}
    of_all = segment_limits(segments, limits.segment_false_alert_days)
    for name, watch in advanced.items():
        decided = decide_classes(
            *(watch, scores[name], (day, rest[name])),
            enough=of_all.get(name, log10(limits.false_alert_days)),
            least=(limits.level, limits.level_page),
            back=partial(_rest_back, today, name),
        )
        detectors[name] = replace(before.get(name, new_detector()), level=decided)
    return detectors


def _rest(day: Day, name: str) -> Rest:
    """Give the classes of a stream against the rest; none if the day does not count them."""
    return {} if name in day.unlike else day.rest.get(name, {})


def _rest_back(today: Today, name: str) -> Iterator[tuple[date, Rest]]:
    """Read earlier days with their classes, the newest first."""
    return ((day.day, of) for day in today.back() if (of := _rest(day, name)))


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
