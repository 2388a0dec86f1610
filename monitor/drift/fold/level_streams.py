"""The levels of all streams after a day: of a curve, and of classes against the rest. Pure.

Late outcomes look like fewer ones, so a day with many of them says nothing of any level.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date
from functools import partial
from math import isfinite, log10

from monitor.base.segment_names import FAMILIES, THIRD, WHOLE
from monitor.drift.classes.class_watch import Rest, advance_classes, decide_classes
from monitor.drift.curve.reference import Reference, merge_days
from monitor.drift.fold.inputs import Day, parts_of_stream
from monitor.drift.fold.missing_outcomes import dated, has_fewer_outcomes, missing_since
from monitor.drift.fold.today import Today
from monitor.drift.incidents.detecting import new_detector, segment_limits
from monitor.drift.incidents.level_watch import advance_level, are_few, decide_level, not_comparable
from monitor.drift.records.detector import OUTCOMES_MISSING, Detector, Ended, LevelWatch


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
        decided = decide_level(
            *(of.watch, of.own, today.span[-1].day),
            enough=of_all.get(name, log10(limits.false_alert_days)),
            least=limits.level,
            least_to_page=limits.level_page,
            silent=of.silent or (OUTCOMES_MISSING if of.missing else None),
            few=of.few,
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
    ended = Ended(incident.started, today.day.day, "recovered")
    return {**before, WHOLE: replace(whole, level=replace(whole.level, incident=None, ended=ended))}


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
    if today.day.late or not (today.span and today.reference.scores):
        return dict(before)
    scores = {WHOLE: today.reference.scores, **today.reference.scores_of}
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
    if name in day.unlike:
        return {}
    return day.rest if name == WHOLE else day.rest_of.get(name, {})


def _rest_back(today: Today, name: str) -> Iterator[tuple[date, Rest]]:
    """Read the days of before with their classes, the newest first."""
    return ((day.day, of) for day in today.back() if (of := _rest(day, name)))
