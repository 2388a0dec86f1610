"""One day of the fold: what every stream has accumulated after it. Pure.

The steps, for the whole, its segments and families of pairs alike:

1. *weigh* each stream by itself: what the day says of its level and of its curve;
2. *budget*: at which evidence each stream alerts, which depends on that of all others;
3. *gates*: evidence over its limit is held down by what else could make it, one gate after another;
4. *budget* again, with what the gates have left;
5. *life*: incidents open, go on or close; and beside an open one, a second look for another change.
"""

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from monitor.base.segment_names import FAMILIES
from monitor.drift.evidence.entities import hanging_since, overlapping_since
from monitor.drift.fold.as_they_are import with_own_fits
from monitor.drift.fold.gate import Look, gated, may_be_late, released, withheld
from monitor.drift.fold.inputs import Day, limit_alone
from monitor.drift.fold.level_streams import with_class_levels, with_levels
from monitor.drift.fold.region_incident import broken_instead
from monitor.drift.fold.second import Own, look_again
from monitor.drift.fold.today import Today, said_since
from monitor.drift.incidents.detecting import (
    HangingSince,
    advance,
    family_limit,
    independent,
    mean_evidence,
    new_detector,
    rebased,
    segment_limits,
    update_incident,
)
from monitor.drift.records.day_evidence import DayEvidence
from monitor.drift.records.detector import Detector, is_withheld

Streams = Mapping[str, Detector]


@dataclass(frozen=True)
class Folded:
    """What all streams have after a day.

    Attributes
    ----------
    detectors : mapping of str to Detector
        What has accumulated.
    weighed : mapping of str to DayEvidence
        What the day said, of the streams for which it is evidence.
    limits : mapping of str to float
        The evidence at which each of them alerts, log10; families of pairs have that of the whole.
    reached : mapping of str to float
        The evidence before an alarm set it back, log10; of families of pairs their mean.
    alone : mapping of str to float
        What would have been reached if rows did not hang together, where that is more.
    own : mapping of str to Own
        What the second looks beside open incidents rest on.
    """

    detectors: Streams
    weighed: Mapping[str, DayEvidence] = field(default_factory=dict)
    limits: Mapping[str, float] = field(default_factory=dict)
    reached: Mapping[str, float] = field(default_factory=dict)
    alone: Mapping[str, float] = field(default_factory=dict)
    own: Mapping[str, Own] = field(default_factory=dict)


def fold_day(
    before: Streams, own: Mapping[str, Own], today: Today, names: Container[str]
) -> Folded:
    """Add a day, and the days that are judged together with it, to what was before.

    Parameters
    ----------
    before : mapping of str to Detector
        Of every stream.
    own : mapping of str to Own
        What the second looks rest on.
    today : Today
        The day.
    names : container of str
        The streams that have a verdict today. The others are forgotten, as by a fold that goes on
        from the store.
    """
    if today.day.day <= today.reference.last:
        detectors = {name: rebased(d, today.day.day) for name, d in before.items()}
        weighed = dict[str, DayEvidence]()
    else:
        detectors, weighed = weigh(let_go(before, today.day), today)
    waiting = {name for name, d in before.items() if today.day.late and is_withheld(d)}
    budget = partial(limits_of, weighed=weighed, today=today, waiting=waiting)
    gated = pass_gates(detectors, weighed, budget(detectors), waiting, today)
    limits, families = budget(gated), today.reference.families
    reached, ungated = reached_by(gated, families), reached_by(detectors, families)
    lived = live(gated, weighed, limits, reached, today)
    kept = {name: detector for name, detector in lived.items() if name in names}
    seen, own = look_beside(kept, own, weighed, today)
    fitted = with_fits(seen, weighed, today) if weighed else seen
    together = dict.fromkeys(families, today.reference.limit)
    alone = {name: most for name, most in ungated.items() if most > reached[name]}
    return Folded(fitted, weighed, limits | together, reached, alone, own)


def let_go(before: Streams, day: Day) -> dict[str, Detector]:
    """Begin the evidence again that was withheld while outcomes were late, once they are not."""
    return dict(before) if day.late else {name: released(d) for name, d in before.items()}


def weigh(before: Streams, today: Today) -> tuple[dict[str, Detector], dict[str, DayEvidence]]:
    """Add what a day says of levels and curves to every stream that has a reference."""
    detectors = with_class_levels(with_levels(before, today), today)
    evidences, days = dict[str, DayEvidence](), [day.day for day in today.span]
    late = any(day.late for day in today.span)
    for name, own in today.own.items() if days else ():
        detectors[name], evidences[name] = advance(
            detectors.get(name, new_detector()), own, days, today.parts(name), late=late
        )
    return detectors, evidences


def limits_of(
    detectors: Streams, weighed: Iterable[str], today: Today, waiting: Container[str]
) -> dict[str, float]:
    """Give the evidence at which the streams that have been weighed alert today, log10.

    Segments share their false alerts (e-d-BH); families of pairs alert where their mean does. What
    late outcomes could explain in one family does not count for the other.
    """
    segments = {name: detectors[name] for name in weighed if name not in FAMILIES}
    limits = segment_limits(segments, today.limits.segment_false_alert_days)
    families = today.reference.families
    counted = {
        n: 0.0 if n in waiting else detectors[n].evidence for n in families if n in detectors
    }
    for name in families:
        others = [counted[n] for n in counted if n != name]
        limits[name] = family_limit(today.reference.limit, others)
    return limits


def reached_by(detectors: Streams, families: Sequence[str]) -> dict[str, float]:
    """Give the evidence of each stream, log10: of families of pairs the mean."""
    evidences = {name: detector.evidence for name, detector in detectors.items()}
    among = [name for name in families if name in evidences]
    mean = mean_evidence([evidences[name] for name in among]) if among else 0.0
    return evidences | dict.fromkeys(among, float(mean))


def pass_gates(
    detectors: Streams,
    weighed: Mapping[str, DayEvidence],
    limits: Mapping[str, float],
    waiting: Container[str],
    today: Today,
) -> dict[str, Detector]:
    """Hold every evidence down that would raise an alert and that something else could make.

    What stays withheld, because outcomes are still late, is a mark that cannot be held down.
    """
    passed = dict(detectors)
    for name, evidence in weighed.items():
        look = _look(name, detectors[name], evidence, today)
        if not (name in waiting and may_be_late(today, look)):
            passed[name] = gated(today, look, limits[name])
    return passed


def _look(name: str, detector: Detector, evidence: DayEvidence, today: Today) -> Look:
    """Give a stream as gates see it, with what its days since a start say."""
    since = partial(said_since, today, name, detector)
    return Look(name, today.own[name], detector, evidence, today.span, since)


def live(
    detectors: Streams,
    weighed: Mapping[str, DayEvidence],
    limits: Mapping[str, float],
    reached: Mapping[str, float],
    today: Today,
) -> dict[str, Detector]:
    """Open, carry on or close the incidents of the streams that have been weighed."""
    lived = dict(detectors)
    for name, evidence in weighed.items():
        detector = detectors[name]
        look = _look(name, detector, evidence, today)
        alarm = detector.evidence >= limits[name]
        opens = alarm and not detector.incident
        if opens and may_be_late(today, look):
            lived[name] = withheld(detector)
            continue
        lived[name] = update_incident(
            *(detector, today.day.day, evidence),
            alarm=alarm,
            said_since=look.since,
            hanging_since=_hanging(name, detector, today),
        )
        if opens and (opened := lived[name].incident):
            spans_back = partial(today.spans_back, name)
            named = broken_instead(opened, detector, today.own[name], spans_back)
            dated = named and replace(named, evidence=reached[name])
            lived[name] = replace(lived[name], incident=dated)
    return lived


def _hanging(name: str, detector: Detector, today: Today) -> HangingSince:
    """Give what finds how far the rows of a stream have hung together since a day."""
    own = today.own[name]
    if today.has_entities:
        variances, sums_of = detector.jitters, partial(today.sums_of, own, name)
        return partial(hanging_since, day=today.day.day, day_variances=variances, sums_of=sums_of)
    if own.overlap > 1.0:
        return partial(overlapping_since, detector=detector, reference=own)
    return independent


def look_beside(
    detectors: Streams, own: Mapping[str, Own], weighed: Container[str], today: Today
) -> tuple[dict[str, Detector], dict[str, Own]]:
    """Look beside every open incident for another change."""
    seen, kept = dict(detectors), dict[str, Own]()
    for name, detector in detectors.items():
        seen[name], remains = look_again(
            today, name, detector, own.get(name), weighed=name in weighed
        )
        if remains:
            kept[name] = remains
    return seen, kept


def with_fits(detectors: Streams, weighed: Container[str], today: Today) -> dict[str, Detector]:
    """Say of every open incident whether the scores fit as they are."""
    segments = len([name for name in detectors if name not in FAMILIES])
    return {
        name: with_own_fits(today, name, detector, limit_alone(today.limits, name, segments))
        if name in weighed
        else detector
        for name, detector in detectors.items()
    }
