"""The verdict of a day: calibration drift, or only a prior shift? A pure fold over days.

Rule 1: the verdict of a day rests on the days up to it and on nothing else. Running day by day,
a backfill and a second look after a limit was changed give the same verdicts.
Rule 2: a verdict is said of settled days only. Half-arrived outcomes look like a prior shift.
"""

from collections import deque
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import lru_cache, partial
from math import isfinite, log10, nan

import numpy as np

from monitor.drift.acknowledging import (
    Forks,
    alone,
    forks_of,
    limits_of_fork,
    with_new_forks,
    with_record,
)
from monitor.drift.arriving import could_explain, released, withheld
from monitor.drift.as_they_are import Compared, with_own_fits
from monitor.drift.class_facts import about_classes, about_frequencies
from monitor.drift.class_levels import OffClass, class_levels, off_class
from monitor.drift.class_watch import advance_classes, decide_classes
from monitor.drift.day_evidence import DayEvidence, LabelChange
from monitor.drift.detecting import (
    HangingSince,
    ProfilesSince,
    advance,
    best_slope,
    family_limit,
    independent,
    mean_evidence,
    new_detector,
    opened_incident,
    reset,
    segment_limits,
    unknown_profiles,
    update_incident,
)
from monitor.drift.detector import (
    NOT_COMPARABLE,
    Detector,
    EndReason,
    Incident,
    LevelWatch,
    Shift,
    is_withheld,
)
from monitor.drift.entities import hanging_since
from monitor.drift.facts import (
    LESS_COVERED,
    MAY_BE_LATE,
    NOT_ALIKE,
    NOT_YET_COMPARED,
    ClassFacts,
    Coverage,
    Detectable,
    Facts,
    LastingShift,
    Level,
    Obstacle,
    OneDay,
    Scores,
    ThirdChoices,
    Unlike,
    faults_of,
)
from monitor.drift.gate import held_down
from monitor.drift.history import week_slopes
from monitor.drift.inputs import (
    Day,
    Limits,
    ModelReference,
    Recall,
    SumsOf,
    acknowledged_until,
    class_span,
    coverage_of,
    end_of_span,
    false_alert_days,
    is_evidence,
    limit_alone,
    parts_of_stream,
    prevalence_of,
    recalled_sums,
    reference_of_day,
    same_classes,
    segments_of,
    weighed_parts,
)
from monitor.drift.label_change import label_change
from monitor.drift.label_noise import wrong_labels
from monitor.drift.lack import Lack
from monitor.drift.level_watch import (
    advance_level,
    are_few,
    decide_level,
    not_comparable,
    off_today,
)
from monitor.drift.levels import lasting_shift, what_moved
from monitor.drift.mix import MovedMix, moved_mix
from monitor.drift.one_day import contradicts
from monitor.drift.other_pairs import other_pairs
from monitor.drift.overlap import overlapping_since
from monitor.drift.pairs import ClassDay, sum_of_days
from monitor.drift.past import Profiles, profiles_since
from monitor.drift.reference import REFERENCE_DAYS, Reference, lift_since, merge_days
from monitor.drift.region_incident import Spans, broken_instead, days_back, spans_back
from monitor.drift.score_moves import scores_since
from monitor.drift.second import Own, Watched, look_again, own_span, recalled
from monitor.drift.verdict import SHIFTS, UNJUDGED, WEEK, State, Verdict
from monitor.metrics.core.estimate import Estimate
from monitor.metrics.logistic.level import Lift
from monitor.segment_names import FAMILIES, THIRD, WHOLE
from monitor.summary import NO_SAMPLE

NO_REFERENCE = Lack("first reference", 0, REFERENCE_DAYS)
KEPT = 31  # days that are read once more for several streams
OTHER_SPREAD = 1.1  # times that of the reference, or its inverse: of the log-odds of another model


def judge(
    model: str,
    days: Iterable[Day],
    *,
    references: Sequence[ModelReference],
    limits: Limits,
    recent: Sequence[Day] = (),
    detectors: Mapping[str, Detector] | None = None,
    recall: Recall = lambda _: None,
) -> Iterator[list[Verdict]]:
    """Fold days into verdicts.

    Parameters
    ----------
    model : str
        Its name.
    days : iterable of Day
        In their order.
    references : sequence of ModelReference
        In their order; each rules from its first day to the first of the next.
    limits : Limits
        When something is worth saying.
    recent : sequence of Day
        The days before the first that `days_needed` chooses.
    detectors : mapping of str to Detector, optional
        Of every stream before the first day; without it the fold begins here.
    recall : function of a date
        Gives a day up to the one that is judged once more, None if it is not known; asked of
        models with entities whose evidence is over its limit, and when a drift opens.

    Yields
    ------
    list of Verdict
        Of each day: the whole first, then its segments.
    """
    before, stored, read_again = deque(recent), detectors or {}, lru_cache(KEPT)(recall)

    def at_hand(day: date) -> Day | None:
        return next((of for of in before if of.day == day), None) or read_again(day)

    sums_of = recalled_sums(at_hand)
    record = {name: detector.acknowledged for name, detector in stored.items()}
    shifts = {name: detector.moved for name, detector in stored.items()}
    forks: Forks = forks_of(stored)
    detectors = {name: alone(detector) for name, detector in stored.items()}
    own = _own_days(detectors, recent, references, limits, sums_of)
    for day in days:
        reference = reference_of_day(day.day, references)
        if reference and reference.deployed:
            if not before or before[-1].day < reference.deployed:
                detectors = {n: reset(d, day.day, "rebased") for n, d in detectors.items()}
                forks = {}
            # Scores of before the map was deployed are others.
            before = deque(d for d in before if d.day >= reference.deployed)
        span = _span_that_ends(day, before, limits.judge_every)
        before.append(day)
        while day.day - before[0].day >= days_to_recall(limits):
            before.popleft()
        forks = (
            {}
            if reference and day.day <= reference.last
            else with_new_forks(forks, detectors, day.day, limits)
        )
        names = dict.fromkeys([WHOLE, *(reference.streams if reference else ()), *segments_of(day)])
        segments = len([name for name in names if name not in FAMILIES])
        past = Past(at_hand, sums_of)
        fold = partial(_fold, day=day, span=span, reference=reference, names=names, past=past)
        now = fold(detectors, limits=limits)
        if reference:
            watched = partial(
                Watched,
                reference=reference,
                limits=limits,
                sums_of=sums_of,
                profiles=past.profiles(day.day, reference, limits),
            )
            seconds, own = _look_again(now, own, day, watched)
            now = replace(now, detectors=seconds)
            now = replace(now, detectors=_with_own_fits(now, day, reference, limits, at_hand))
        beside = {
            since: fold(fork, limits=limits_of_fork(limits, since)).detectors
            for since, fork in forks.items()
        }
        recorded = {
            name: with_record(
                *(detector, day.day, record.get(name, ())),
                {since: fork[name] for since, fork in beside.items() if name in fork},
            )
            for name, detector in now.detectors.items()
        }
        record = {name: detector.acknowledged for name, detector in recorded.items()}
        forks = forks_of(recorded)
        detectors = {name: alone(detector) for name, detector in recorded.items()}
        verdicts = [
            _verdict(
                Stream(
                    *(model, name, reference, recorded.get(name, new_detector())),
                    beside=_beside(name, reference, recorded),
                ),
                list(before),
                now.weighed.get(name),
                limits,
                enough=now.limits.get(name, limit_alone(limits, name, segments)),
                reached=now.reached.get(name, 0.0),
                alone=now.alone.get(name),
                classes=_classes(name, reference, detectors, before, limits),
            )
            for name in names
        ]
        verdicts = [_with_shift(v, shifts.get(v.segment)) for v in verdicts]
        shifts = {v.segment: v.detector.moved for v in verdicts}
        yield verdicts


def _with_shift(verdict: Verdict, before: Shift | None) -> Verdict:
    """Note since when the level has moved; a day that could not be judged changes nothing."""
    now = before
    if verdict.state in SHIFTS:
        same = before and before.state == verdict.state
        now = before if same else Shift(verdict.state, verdict.day)
    elif verdict.state not in UNJUDGED:
        now = None
    return replace(verdict, detector=replace(verdict.detector, moved=now))


@dataclass(frozen=True)
class Folded:
    """The detectors after a day, what was weighed, what was reached, and the limits, by stream.

    Families of pairs reach the mean of their evidence, and have the limit of the whole. `alone` is
    what would have been reached if rows did not hang together, where that is more; `counted` are
    the days that were weighed.
    """

    detectors: dict[str, Detector]
    weighed: Mapping[str, DayEvidence]
    reached: Mapping[str, float]
    limits: Mapping[str, float]
    alone: Mapping[str, float]
    counted: Sequence[Day]


@dataclass(frozen=True)
class Past:
    """The days of before: how they are read once more, and the sums of their buckets."""

    recall: Recall
    sums_of: SumsOf

    def profiles(self, today: date, reference: ModelReference, limits: Limits) -> Profiles:
        """Give what reads the profiles of the days since one up to today."""
        return partial(
            profiles_since, today=today, reference=reference, limits=limits, recall=self.recall
        )


def _fold(
    before: Mapping[str, Detector],
    day: Day,
    span: Sequence[Day],
    reference: ModelReference | None,
    limits: Limits,
    names: Container[str],
    past: Past,
) -> Folded:
    """Add a day, and the days that are judged together with it, to the detectors of before."""
    detectors, weighed = dict(before), dict[str, DayEvidence]()
    counted = list[Day]()
    if not day.late:
        detectors = {name: released(detector) for name, detector in detectors.items()}
    if reason := _reason_to_reset(day.day, reference, limits):
        detectors = {n: reset(detector, day.day, reason) for n, detector in detectors.items()}
    elif reference:
        counted = [earlier for earlier in span if is_evidence(earlier, reference, limits)]
        detectors = _with_levels(detectors, day, counted, reference, limits)
        detectors = _with_classes(detectors, day, counted, reference, limits, past.recall)
        detectors, weighed = _weigh(detectors, counted, reference)
    waiting = {name for name, detector in before.items() if day.late and is_withheld(detector)}
    limits_of = partial(_limits, weighed=weighed, reference=reference, limits=limits)
    independent, enough = detectors, limits_of(detectors, waiting=waiting)
    if reference and weighed:
        profiles = past.profiles(day.day, reference, limits)
        stay = _withheld(waiting, detectors, day, weighed, reference, profiles)
        fresh = {name: evidence for name, evidence in weighed.items() if name not in stay}
        detectors = _held_down(detectors, counted, fresh, reference, enough, past.sums_of)
        enough = limits_of(detectors, waiting=waiting)
    families = reference.families if reference else ()
    reached = _reached(detectors, families)
    alone = {n: e for n, e in _reached(independent, families).items() if e > reached[n]}
    if reference and weighed:
        sums_of = past.sums_of if any(day.entities for day in counted) else None
        back = partial(
            spans_back, today=day.day, reference=reference, limits=limits, recall=past.recall
        )
        detectors = _decide(
            detectors, day, weighed, reference, enough, reached, profiles, sums_of, back
        )
    # What no verdict of the day holds is forgotten, as by a fold that goes on from the store.
    kept = {name: detector for name, detector in detectors.items() if name in names}
    together = dict.fromkeys(families, _limit_of_whole(reference, limits))
    return Folded(kept, weighed, reached, enough | together, alone, counted)


def _reached(detectors: Mapping[str, Detector], families: Sequence[str]) -> dict[str, float]:
    """Give the evidence of each stream, log10: of families of pairs the mean."""
    evidences = {name: detector.evidence for name, detector in detectors.items()}
    among = [name for name in families if name in evidences]
    mean = mean_evidence([evidences[name] for name in among]) if among else 0.0
    return evidences | dict.fromkeys(among, float(mean))


def days_to_recall(limits: Limits) -> timedelta:
    """Give how long a day is part of what is said of later ones."""
    return timedelta(days=max(WEEK, 2 * limits.judge_every))


def days_needed(
    days: Sequence[date], detectors: Mapping[str, Detector], limits: Limits
) -> list[date]:
    """Choose the days that a fold needs, which goes on from detectors after the last of them.

    The last ones, and those of open incidents that their second references rest on.
    """
    spans = [span for detector in detectors.values() if (span := own_span(detector))]
    if days:
        spans.append((days[-1] - days_to_recall(limits) + timedelta(days=1), days[-1]))
    return [day for day in days if any(first <= day <= last for first, last in spans)]


def _own_days(
    detectors: Mapping[str, Detector],
    recent: Sequence[Day],
    references: Sequence[ModelReference],
    limits: Limits,
    sums_of: SumsOf,
) -> dict[str, Own]:
    """Fit the second references of open incidents again."""
    reference = reference_of_day(recent[-1].day, references) if recent else None
    if not reference:
        return {}
    ended = end_of_span(recent[-1].day + timedelta(days=1), limits.judge_every)
    weighed = [
        day
        for day in recent
        if day.final and day.parts and is_evidence(day, reference, limits)
        if end_of_span(day.day, limits.judge_every) < ended
    ]
    owns = {
        name: recalled(
            Watched(name, reference, limits, sums_of, unknown_profiles), detector, weighed
        )
        for name, detector in detectors.items()
    }
    return {name: own for name, own in owns.items() if own}


def _look_again(
    now: Folded, own: Mapping[str, Own], day: Day, watched: Callable[[str], Watched]
) -> tuple[dict[str, Detector], dict[str, Own]]:
    """Look beside every open incident for another change."""
    detectors, kept = dict(now.detectors), dict[str, Own]()
    for name, detector in now.detectors.items():
        counted = now.counted if name in now.weighed else ()
        detectors[name], remains = look_again(watched(name), detector, own.get(name), counted, day)
        if remains:
            kept[name] = remains
    return detectors, kept


def _with_own_fits(
    now: Folded, day: Day, reference: ModelReference, limits: Limits, recall: Recall
) -> dict[str, Detector]:
    """Say of every open incident whether the scores fit as they are."""
    counted = [] if day.late else [*now.counted]
    segments = len([name for name in now.detectors if name not in FAMILIES])
    return {
        name: with_own_fits(
            detector,
            Compared(name, reference, limits, recall),
            counted if name in now.weighed else [],
            day.day,
            limit_alone(limits, name, segments),
        )
        for name, detector in now.detectors.items()
    }


def _span_that_ends(day: Day, before: Sequence[Day], length: int) -> list[Day]:
    """Give the final days of every span that ends after the day before and up to this one."""
    last = before[-1].day.toordinal() if before else 0
    ending = [d for d in (*before, day) if last < end_of_span(d.day, length) <= day.day.toordinal()]
    return [d for d in ending if d.final and d.parts]


def _weigh(
    before: Mapping[str, Detector], span: Sequence[Day], reference: ModelReference
) -> tuple[dict[str, Detector], dict[str, DayEvidence]]:
    """Add the days of a span to the detector of every stream that has a reference."""
    detectors, evidences = dict(before), {}
    for name, of_stream in reference.streams.items() if span else ():
        if isinstance(of_stream, Reference):
            parts = merge_days([weighed_parts(day, name, reference) for day in span])
            days = [day.day for day in span]
            late = any(day.late for day in span)
            detectors[name], evidences[name] = advance(
                before.get(name, new_detector()), of_stream, days, parts, late=late
            )
    return detectors, evidences


def _with_levels(
    before: Mapping[str, Detector],
    day: Day,
    span: Sequence[Day],
    reference: ModelReference,
    limits: Limits,
) -> dict[str, Detector]:
    """Weigh the level of every stream whose parts share one, and decide on its incident.

    Late outcomes look like fewer ones, so a day with many of them says nothing of the level.
    """
    watched = dict[str, tuple[LevelWatch, Reference, str | None, bool]]()
    for name, own in reference.streams.items() if span and not day.late else ():
        if isinstance(own, Reference) and own.levels and name != THIRD:
            parts = merge_days([parts_of_stream(day, name) for day in span])
            detector = before.get(name, new_detector())
            silent = None if detector.incident else not_comparable(own, parts)
            few, watch = silent is not None and are_few(parts), detector.level
            advanced = watch if few else advance_level(watch, own, span[-1].day, parts)
            if few or advanced is not watch:
                watched[name] = advanced, own, silent, few
    segments = {name: watch for name, (watch, *_) in watched.items() if name not in FAMILIES}
    enough = segment_limits(segments, limits.segment_false_alert_days)
    detectors = dict(before)
    for name, (watch, own, silent, few) in watched.items():
        watching = before.get(name, new_detector())
        decided = decide_level(
            *(watch, own, span[-1].day),
            enough=enough.get(name, log10(limits.false_alert_days)),
            least=limits.level,
            least_to_page=limits.level_page,
            silent=silent,
            few=few,
        )
        detectors[name] = replace(watching, level=decided)
    return detectors


def _with_classes(
    before: Mapping[str, Detector],
    day: Day,
    span: Sequence[Day],
    reference: ModelReference,
    limits: Limits,
    recall: Recall,
) -> dict[str, Detector]:
    """Weigh the scores of each class against the rest, and decide on their incident."""
    scores, rest = reference.scores, [earlier.rest for earlier in span if earlier.rest]
    if not (scores and rest) or day.late:
        return dict(before)
    whole, today = before.get(WHOLE, new_detector()), merge_days(rest)
    back = partial(days_back, day.day, reference, limits, recall)
    decided = decide_classes(
        advance_classes(whole.level, scores, span[-1].day, today),
        scores,
        (span[-1].day, today),
        enough=log10(limits.false_alert_days),
        least=(limits.level, limits.level_page),
        back=lambda: ((earlier.day, earlier.rest) for earlier in back() if earlier.rest),
    )
    return {**before, WHOLE: replace(whole, level=decided)}


def _held_down(
    before: Mapping[str, Detector],
    days: Sequence[Day],
    weighed: Mapping[str, DayEvidence],
    reference: ModelReference,
    enough: Mapping[str, float],
    sums_of: SumsOf,
) -> dict[str, Detector]:
    """Hold down every evidence that has been weighed and would raise an alert."""
    detectors = dict(before)
    for name, evidence in weighed.items():
        own = reference.streams[name]
        if isinstance(own, Reference):
            detectors[name] = held_down(
                *(detectors[name], evidence, own, days),
                enough=enough[name],
                sums_of=partial(sums_of, own, name),
            )
    return detectors


def _reason_to_reset(
    day: date, reference: ModelReference | None, limits: Limits
) -> EndReason | None:
    """Say why a day is no evidence, if so: it is the reference's, or its drift is known."""
    if reference and day <= reference.last:
        return "rebased"
    return "acknowledged" if acknowledged_until(day, limits) else None


def _limits(
    detectors: Mapping[str, Detector],
    weighed: Iterable[str],
    reference: ModelReference | None,
    limits: Limits,
    waiting: Container[str],
) -> dict[str, float]:
    """Give the evidence at which the streams that have been weighed alert today, log10.

    What late outcomes could explain in one family of pairs does not count for the other.
    """
    segments = {name: detectors[name] for name in weighed if name not in FAMILIES}
    enough = segment_limits(segments, limits.segment_false_alert_days)
    families = reference.families if reference else ()
    counted = {
        n: 0.0 if n in waiting else detectors[n].evidence for n in families if n in detectors
    }
    of_whole = _limit_of_whole(reference, limits)
    for name in families:
        enough[name] = family_limit(of_whole, [counted[n] for n in counted if n != name])
    return enough


def _limit_of_whole(reference: ModelReference | None, limits: Limits) -> float:
    """Give the evidence at which the whole alerts, log10."""
    of_whole = reference.limit if reference else None
    return limit_alone(limits, WHOLE) if of_whole is None else of_whole


def _decide(
    detectors: Mapping[str, Detector],
    day: Day,
    weighed: Mapping[str, DayEvidence],
    reference: ModelReference,
    enough: Mapping[str, float],
    reached: Mapping[str, float],
    profiles: Profiles,
    sums_of: SumsOf | None,
    back: Callable[[str], Spans],
) -> dict[str, Detector]:
    """Open or close the incidents of the streams that have been weighed."""
    decided = dict(detectors)
    for name, evidence in weighed.items():
        detector, own = detectors[name], reference.streams[name]
        since = partial(profiles, name, detector)
        alarm = detector.evidence >= enough[name]
        if alarm and not detector.incident and _may_be_late(day, own, detector, evidence, since):
            decided[name] = withheld(detector)
        else:
            decided[name] = update_incident(
                *(detector, day.day, evidence),
                alarm=alarm,
                profiles_since=since,
                hanging_since=_hanging(name, own, detector, day.day, sums_of),
            )
        opened = decided[name].incident
        if alarm and opened and not detector.incident:
            if isinstance(own, Reference):
                opened = broken_instead(opened, detector, own, partial(back, name))
            now = opened and replace(opened, evidence=reached[name])
            decided[name] = replace(decided[name], incident=now)
    return decided


def _hanging(
    name: str, own: Reference | Lack, detector: Detector, day: date, sums_of: SumsOf | None
) -> HangingSince:
    """Give what finds how far the rows of a stream have hung together since a day."""
    if isinstance(own, Lack):
        return independent
    if sums_of is None and own.overlap > 1.0:
        return partial(overlapping_since, detector=detector, reference=own)
    if sums_of is None:
        return independent
    variances, of_stream = detector.jitters, partial(sums_of, own, name)
    return partial(hanging_since, day=day, day_variances=variances, sums_of=of_stream)


def _withheld(
    waiting: Container[str],
    detectors: Mapping[str, Detector],
    day: Day,
    weighed: Mapping[str, DayEvidence],
    reference: ModelReference,
    profiles: Profiles,
) -> set[str]:
    """Name the streams whose evidence stays withheld: it is a mark, which cannot be held down."""
    return {
        name
        for name, evidence in weighed.items()
        if name in waiting
        if _may_be_late(
            *(day, reference.streams[name], detectors[name], evidence),
            partial(profiles, name, detectors[name]),
        )
    }


def _may_be_late(
    day: Day,
    reference: Reference | Lack,
    detector: Detector,
    evidence: DayEvidence,
    since: ProfilesSince,
) -> bool:
    """Return whether late outcomes could look like the drift that an alarm would report."""
    if not day.late or isinstance(reference, Lack):
        return False
    return could_explain(day.late, reference, opened_incident(detector, day.day, evidence, since))


@dataclass(frozen=True)
class Stream:
    """The predictions that a verdict is about, and what is known of them.

    `beside` is the detector of the other family of pairs, of models with classes that have it.
    """

    model: str
    name: str
    reference: ModelReference | None
    detector: Detector
    beside: tuple[Detector, ...] = ()

    @property
    def third(self) -> tuple[Detector, ...]:
        """The detector of third choices, if this is a whole that has them."""
        return self.beside if self.name == WHOLE else ()

    @property
    def incident(self) -> Incident | None:
        """The drift that is open: of the whole, that of third choices if it has none."""
        return next((of.incident for of in (self.detector, *self.third) if of.incident), None)

    @property
    def level(self) -> Incident | None:
        """The error of the level that is open."""
        return self.detector.level.incident

    @property
    def withheld(self) -> bool:
        """Whether the evidence of this stream, or of what it is averaged with, is withheld."""
        return any(map(is_withheld, (self.detector, *self.beside)))

    @property
    def own_reference(self) -> Reference | Lack | None:
        """The reference of this stream, or what it lacks; None if its days hold none of it."""
        compared = self.reference
        return compared.streams.get(self.name, compared.lack) if compared else NO_REFERENCE

    @property
    def strata(self) -> str:
        """The column whose values the monitor has given priors of their own."""
        of_whole = self.reference.strata if self.reference and self.name == WHOLE else None
        return of_whole.column if of_whole else ""

    @property
    def compared_with(self) -> tuple[date, ...]:
        """First and last day of the reference of all streams, if there is one."""
        return (self.reference.first, self.reference.last) if self.reference else ()

    @property
    def detectable(self) -> Detectable | None:
        """What the detector can find."""
        return self.reference.detectable.get(self.name) if self.reference else None


@dataclass(frozen=True)
class Week:
    """What the days up to one say, compared with the reference; nothing without one."""

    lift: Lift | None = None
    off: OffClass | None = None
    slope: Estimate | None = None
    moved: Level = "as before"
    lasting: LastingShift | None = None


def _week(stream: Stream, recent: Sequence[Day], limits: Limits) -> Week:
    reference, compared, detector = stream.own_reference, stream.reference, stream.detector
    if not (compared and isinstance(reference, Reference)):
        return Week()
    slope = _slope(*_drifting(stream, reference, compared), recent[-1].day)
    if stream.name == THIRD:
        return Week(slope=slope)
    if stream.name == WHOLE and compared.levels:
        off = _off_class(reference, compared, recent, limits)
        return Week(off=off, slope=slope, moved=_moved_classes(off))
    if not reference.levels:  # pairs share none
        return Week(slope=slope, moved="not looked for")
    lift = _lift(reference, stream, recent)
    return Week(
        lift,
        slope=slope,
        moved=what_moved(reference, detector.history, lift, limits.level),
        lasting=lasting_shift(reference, detector.history, limits.level),
    )


def _drifting(
    stream: Stream, own: Reference, compared: ModelReference
) -> tuple[Reference, Detector]:
    """Give what the slope of a whole with classes is of: third choices, if only they drift."""
    third, only = compared.streams.get(THIRD), not stream.detector.incident
    drifting = [detector for detector in stream.third if only and detector.incident]
    if drifting and isinstance(third, Reference):
        return third, drifting[0]
    return own, stream.detector


def _moved_classes(off: OffClass | None) -> Level:
    """Say the same of classes as of a lifted curve."""
    if off is None:
        return "as before"
    return "lift" if off.name else "prior or inputs"


def _verdict(
    stream: Stream,
    recent: Sequence[Day],
    evidence: DayEvidence | None,
    limits: Limits,
    *,
    enough: float,
    reached: float,
    alone: float | None,
    classes: ClassFacts | None,
) -> Verdict:
    day, reference, week = recent[-1], stream.own_reference, _week(stream, recent, limits)
    own = reference if isinstance(reference, Reference) else None
    awaited, lift = _awaited(stream.reference, day.day), week.lift
    state, facts = _state_and_facts(stream, recent, week, classes, limits, enough)
    return Verdict(
        model=stream.model,
        segment=stream.name,
        day=day.day,
        final=day.final,
        known_at=day.known_at,
        state=state,
        reasons=(),
        evidence=evidence,
        detector=stream.detector,
        limit=enough,
        shift=Estimate.normal(lift.shift, lift.shift_error) if lift else None,
        level_change=_level_change(week),
        slope=week.slope,
        reference_prevalence=own.prevalence if own else nan,
        reference_slope=own.own_slope if own else None,
        reference_intercept=own.own_intercept if own else None,
        detectable=stream.detectable,
        reached=reached if _is_compared(stream, day.day) else None,
        awaited=awaited[0] if awaited else None,
        facts=replace(facts, awaits=awaited[1] if awaited else None, alone=alone),
    )


def _level_change(week: Week) -> Estimate | None:
    if week.off:
        return week.off.change
    return Estimate.normal(week.lift.kappa, week.lift.kappa_error) if week.lift else None


def _state_and_facts(
    stream: Stream,
    recent: Sequence[Day],
    week: Week,
    classes: ClassFacts | None,
    limits: Limits,
    enough: float,
) -> tuple[State, Facts]:
    """Choose the state, and collect what is said of it."""
    day = recent[-1]
    prevalence, known_until = prevalence_of([day], stream.name), acknowledged_until(day.day, limits)
    obstacle = _obstacle(stream, day, prevalence, limits.judge_every, known_until)
    labels = None if known_until else _labels(stream, recent)
    state = _state(stream, week, classes, limits, known_until, labels)
    if state == "level_drift" and day.late:  # fewer positives arrived: it looks the same
        obstacle = obstacle or "level may be late outcomes"
    if obstacle:
        state = _state_without_verdict(obstacle)
    compared = stream.own_reference
    own = compared if isinstance(compared, Reference) else None
    today = None
    if own and own.levels and not obstacle:  # a whole with classes watches theirs
        today = off_today(stream.detector.level, own, day.day, limits.level_page)
    return state, Facts(
        obstacle=obstacle,
        complaint=day.complaint or "",
        lack=compared if isinstance(compared, Lack) else None,
        coverage=day.coverage if obstacle == "outcomes awaited" else None,
        reference=stream.compared_with if obstacle == "part of the reference" else (),
        known_until=known_until,
        false_alert_days=false_alert_days(limits, stream.name),
        on_average=limits.calibrated and stream.name in FAMILIES,
        faults=faults_of(own, limits.prior_shift) if own else (),
        moved=week.moved,
        lift=week.lift.lift if week.lift and week.moved == "lift" else None,
        lasting=week.lasting,
        prevalence=prevalence if isfinite(prevalence) else None,
        late=day.late if _speaks_of_outcomes(state, obstacle) else None,
        classes=classes and replace(classes, off=week.off.name if week.off else None),
        wrong=wrong_labels(own.noise, stream.detector.noise) if own else None,
        third=next(filter(None, map(_third, stream.third)), None),
        strata=stream.strata,
        scores=_scores(own, stream, recent, today) if own and own.levels and not obstacle else None,
        today=today,
        one_day=_one_day(stream, own, day, enough) if own and not obstacle else None,
        labels=labels,
        covered=_covered(stream, recent) if state == "prior_shift" else None,
        unlike=_unlike(stream.name, day) if obstacle not in NOT_YET_COMPARED else (),
        mix=_mix(stream, day) if obstacle not in NOT_YET_COMPARED else None,
    )


def _one_day(stream: Stream, own: Reference, day: Day, enough: float) -> OneDay | None:
    """Say whether the day alone contradicts the reference; late outcomes may look like that."""
    reference, detector = stream.reference, stream.detector
    known = stream.incident or day.late or detector.last != day.day
    if reference is None or known or stream.name == THIRD:
        return None
    return contradicts(detector, own, weighed_parts(day, stream.name, reference), enough)


def _covered(stream: Stream, recent: Sequence[Day]) -> Coverage | None:
    """Compare how many predictions of the week have an outcome with the reference, if they differ.

    Outcomes that went missing of one kind look like a shift of the prior.
    """
    before = stream.reference.coverage if stream.reference else None
    now = coverage_of(_days_of_week(stream, recent))
    if stream.name != WHOLE or before is None or now is None:
        return None
    return Coverage(before, now) if abs(now - before) > LESS_COVERED else None


def _labels(stream: Stream, recent: Sequence[Day]) -> LabelChange | None:
    """Say how labels changed since a drift began; of pairs of classes no label has a side.

    Labels that change leave the scores as they are: where these spread otherwise than in the
    reference, it is another model, and where their spread is not known it may be one.
    """
    reference, own = stream.reference, stream.own_reference
    if reference is None or reference.classes or not isinstance(own, Reference):
        return None
    found = label_change(stream.incident)
    scores = _scores(own, stream, recent, None) if found and own.levels else None
    if scores is None or not (scores.spread and scores.spread_before):
        return None
    spread = scores.spread / scores.spread_before
    return found if max(spread, 1.0 / spread) <= OTHER_SPREAD else None


def _scores(
    reference: Reference, stream: Stream, recent: Sequence[Day], today: float | None
) -> Scores | None:
    """Compare the scores of the week with those of the reference; those of today if that is off."""
    begun = stream.level.started if stream.level else date.min
    begun = begun if today is None else recent[-1].day
    days = [day for day in _days_of_week(stream, recent) if day.day >= begun]
    parts = merge_days([parts_of_stream(day, stream.name) for day in days])
    sampled = any(day.class_weights != NO_SAMPLE for day in days)
    if stream.name == THIRD or sampled or not any(part.counts.any() for part in parts.values()):
        return None
    return scores_since(reference, parts, prevalence_of(days, stream.name))


def _beside(
    name: str, reference: ModelReference | None, detectors: Mapping[str, Detector]
) -> tuple[Detector, ...]:
    """Give the detector of the other family of pairs, if there is one."""
    families = reference.families if reference else ()
    among = families if name in families else ()
    return tuple(detectors[other] for other in among if other != name and other in detectors)


def _third(detector: Detector) -> ThirdChoices | None:
    """Give what third choices bring to the verdict of the whole; None if they are calm."""
    drift, doubtful = detector.incident, is_withheld(detector)
    if not (drift or detector.ended or doubtful):
        return None
    return ThirdChoices(drift and replace(drift, profiles=None), detector.ended, doubtful)


def _speaks_of_outcomes(state: State, obstacle: Obstacle | None) -> bool:
    """Say whether a verdict rests on the outcomes that have arrived."""
    return obstacle in MAY_BE_LATE if obstacle else state != "acknowledged"


def _awaited(reference: ModelReference | None, day: date) -> tuple[date, Lack] | None:
    """Find the reference that a day would be compared with if it had enough days or outcomes."""
    awaited = reference.awaited if reference else None
    return awaited if awaited and day >= awaited[0] else None


def _is_compared(stream: Stream, day: date) -> bool:
    """Say whether a day has evidence that may be shown."""
    reference = stream.reference
    after = reference is not None and day > reference.last
    whole = isinstance(stream.own_reference, Reference)
    return after and whole and not stream.withheld


def _classes(
    name: str,
    reference: ModelReference | None,
    detectors: Mapping[str, Detector],
    recent: Sequence[Day],
    limits: Limits,
) -> ClassFacts | None:
    """Compare the classes of the week with those of the reference; None if there are none."""
    if reference is None:
        return None
    days = _week_of_classes(recent, reference)
    both = _classes_to_compare(name, reference, days)
    if both is None:
        return None
    if name != WHOLE:
        return about_frequencies(*both, limits.prior_shift)
    pairs = {
        pair: (detectors[pair], own)
        for pair in reference.pairs
        if isinstance(own := reference.streams[pair], Reference) and pair in detectors
    }
    drift, whole = detectors.get(WHOLE, new_detector()).incident, reference.streams[WHOLE]
    return about_classes(
        *both,
        least=limits.prior_shift,
        drift=drift,
        pairs=pairs,
        others=other_pairs(whole, reference.curves, days, pairs)
        if drift and isinstance(whole, Reference)
        else None,
        tolerated=limits.sensitivity.tolerances[0],
    )


def _week_of_classes(recent: Sequence[Day], reference: ModelReference) -> list[Day]:
    """Choose the days whose classes are compared with those of the reference."""
    begin = max(reference.last, recent[-1].day - timedelta(days=WEEK))
    return [day for day in recent if day.final and day.day > begin]


def _classes_to_compare(
    name: str, reference: ModelReference, days: Iterable[Day]
) -> tuple[ClassDay, ClassDay] | None:
    """Give the classes of a stream in the reference and over days, where both can be compared."""
    before = reference.classes and reference.classes.of(name)
    now = before and sum_of_days((day.classes for day in days), name)
    return (before, now) if before and now and now.is_like(before) else None


def _off_class(
    whole: Reference, reference: ModelReference, recent: Sequence[Day], limits: Limits
) -> OffClass | None:
    """Find the class that came true more or less often than frequencies explain this week."""
    days = _week_of_classes(recent, reference)
    both = _classes_to_compare(WHOLE, reference, days)
    if not (reference.levels and both):
        return None
    now = class_levels(whole, reference.curves, class_span(days, both[1]))
    return off_class(whole, reference.levels, now, both[1], limits.level)


def _obstacle(
    stream: Stream, day: Day, prevalence: float, judge_every: int, known_until: date | None
) -> Obstacle | None:
    """Find what keeps a day from being judged; a drift that is open or known outlasts a gap."""
    if not day.final:
        return "logs failed" if day.complaint else "outcomes awaited"
    reference, outlasts = stream.reference, stream.incident or stream.level or known_until
    if reference and day.day <= reference.last:
        return "part of the reference"
    if not (reference and isinstance(stream.own_reference, Reference)):
        return "no reference"
    if (unlike := day.unlike_of(stream.name)) or not same_classes(day, reference):
        return "read otherwise" if unlike else "other classes"
    if day.late and stream.withheld and not outlasts:
        return "drift may be late outcomes"
    return None if outlasts else _silent(stream, day, prevalence, judge_every)


def _silent(stream: Stream, day: Day, prevalence: float, judge_every: int) -> Obstacle | None:
    """Say why nothing that is known by this day is evidence."""
    detector = stream.detector
    if detector.history.firsts.size:
        age = day.day - detector.last
        if age < timedelta(days=judge_every):
            return None
        if judge_every > 1:
            return None if age < timedelta(days=2 * judge_every) else "span without contrast"
    elif judge_every > 1:
        return "first span not over"
    if day.predicted.get(stream.name) == 0:
        return "no predictions"
    return _no_contrast(day, stream.name) if isfinite(prevalence) else "no outcomes"


def _no_contrast(day: Day, name: str) -> Obstacle:
    """Say what is equal on a day that tells high scores from low ones nowhere."""
    parts = parts_of_stream(day, name).values()
    counts = np.sum([part.counts for part in parts], axis=0)
    positives = np.sum([part.positives for part in parts], axis=0)
    if day.classes and (classes := day.classes.of(name)):
        equal = np.count_nonzero(classes.outcomes) == 1
    else:
        equal = positives.sum() in (0, counts.sum())
    if equal:
        return "equal outcomes"
    return "equal scores" if np.count_nonzero(counts) == 1 else "no contrast within parts"


def _state(
    stream: Stream,
    week: Week,
    classes: ClassFacts | None,
    limits: Limits,
    known_until: date | None,
    labels: LabelChange | None,
) -> State:
    """Choose the most severe state that holds; a known drift says nothing else about the day."""
    if known_until:
        return "acknowledged"
    if stream.incident or stream.level:
        return _state_of_incident(stream.incident, stream.level, labels)
    if week.off and week.off.name:
        return "level_drift"
    shift = week.lift.shift if week.lift and week.moved in ("prior", "lift") else 0.0
    shifted = week.moved == "prior or inputs" or abs(shift) > limits.prior_shift
    return "prior_shift" if shifted or (classes and classes.shifts) else "ok"


def _state_of_incident(
    bent: Incident | None, level: Incident | None, labels: LabelChange | None
) -> State:
    """Choose the state while a distortion or an error of the level is open."""
    incidents = [incident for incident in (bent, level) if incident]
    if all(incident.improved for incident in incidents):
        return "improved"
    incident = next(incident for incident in incidents if not incident.improved)
    if incident is bent:
        if incident.undecided:
            return "undecided"
        return labels.kind if labels and labels.told else "calibration_drift"
    unclear = incident.kind in NOT_COMPARABLE and not incident.urgent
    return "undecided" if unclear else "level_drift"


def _unlike(name: str, day: Day) -> tuple[Unlike, ...]:
    """Say how a stream was read otherwise than its reference; of the whole also its segments."""
    if name == WHOLE:
        return tuple(dict.fromkeys(day.unlike.values()))
    unlike = day.unlike_of(name)
    return (unlike,) if unlike else ()


def _mix(stream: Stream, day: Day) -> MovedMix | None:
    """Compare the shares of the segments of a day with those of the reference; of the whole."""
    mix = stream.reference.mix if stream.reference and stream.name == WHOLE else None
    if mix is None or not day.predicted or WHOLE in day.unlike:
        return None
    return moved_mix(day.predicted, day.unlisted, mix, but=day.unlike)


def _state_without_verdict(obstacle: Obstacle) -> State:
    """Choose the state of a day that is not judged."""
    if obstacle == "logs failed":
        return "data_error"
    return "not_comparable" if obstacle in NOT_ALIKE else "insufficient_data"


def _lift(reference: Reference, stream: Stream, recent: Sequence[Day]) -> Lift | None:
    """Compare the level of the week up to the last day with the reference's."""
    days = [parts_of_stream(d, stream.name) for d in _days_of_week(stream, recent)]
    return lift_since(reference.curve, reference.levels, merge_days(days))


def _days_of_week(stream: Stream, recent: Sequence[Day]) -> list[Day]:
    """Choose the final days of the week up to the last day that are not the reference's.

    A day of the reference is no part of what is compared with it, but for that day itself.
    """
    ended = stream.reference.last if stream.reference else date.min
    ended = min(ended, recent[-1].day - timedelta(days=1))
    first = max(ended, recent[-1].day - timedelta(days=WEEK))
    return [day for day in recent if day.final and day.day > first]


def _slope(reference: Reference, detector: Detector, day: date) -> Estimate | None:
    """Estimate the slope since the drift began, else over the week."""
    incident = detector.incident
    of_drift = incident and not incident.place  # a break at one place has no slope
    slopes = incident.slopes if incident and of_drift else week_slopes(detector.history, day)
    return best_slope(slopes, float(reference.errors[0]))
