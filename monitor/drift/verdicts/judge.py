"""The verdict of a day: calibration drift, or only a prior shift? A pure fold over days.

Rule 1: the verdict of a day rests on the days up to it and on nothing else. Running day by day,
a backfill and a second look after a limit was changed give the same verdicts.
Rule 2: a verdict is said of settled days only. Half-arrived outcomes look like a prior shift.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date, timedelta
from functools import lru_cache
from typing import Any

from monitor.base.segment_names import FAMILIES, WHOLE
from monitor.drift.evidence.directions import Said
from monitor.drift.fold.fold_day import Folded, fold_day, let_go
from monitor.drift.fold.inputs import (
    Day,
    Limits,
    ModelReference,
    Recall,
    end_of_span,
    is_evidence,
    recalled_sums,
    reference_of_day,
    segments_of,
)
from monitor.drift.fold.second import Own, own_span, recalled
from monitor.drift.fold.today import Today
from monitor.drift.incidents.detecting import rebased
from monitor.drift.records.detector import Detector, Shift
from monitor.drift.records.verdict import SHIFTS, UNJUDGED, WEEK, Verdict
from monitor.drift.verdicts.verdict_of_day import verdict_of
from monitor.drift.verdicts.week import Stream

KEPT = 31  # days that are read once more for several streams


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
        Gives a day up to the one that is judged once more, None if it is not known; asked where
        evidence is over its limit, where outcomes are missing, and while a drift is open.

    Yields
    ------
    list of Verdict
        Of each day: the whole first, then its segments.
    """
    before, read_again = deque(recent), lru_cache(KEPT)(recall)

    def at_hand(day: date) -> Day | None:
        return next((of for of in before if of.day == day), None) or read_again(day)

    sums_of, profiled = recalled_sums(at_hand), dict[Any, Said]()

    def today_of(day: Day, span: Sequence[Day], reference: ModelReference) -> Today:
        counted = [earlier for earlier in span if is_evidence(earlier, reference)]
        return Today(day, counted, reference, limits, at_hand, sums_of, profiled)

    shifts, folded = _taken_up(detectors or {})
    if recent and (last := reference_of_day(recent[-1].day, references)):
        newest = today_of(recent[-1], (), last)
        folded = replace(folded, own=_own_days(folded.detectors, recent, newest))
    for day in days:
        reference = reference_of_day(day.day, references)
        if reference and reference.deployed:
            if not before or before[-1].day < reference.deployed:
                folded = _reset(folded, day.day)
            # Scores from before the map was deployed cannot be compared with those since.
            before = deque(d for d in before if d.day >= reference.deployed)
        span = _span_that_ends(day, before, limits.judge_every)
        _go_on(before, day, limits)
        names = dict.fromkeys([WHOLE, *(reference.streams if reference else ()), *segments_of(day)])
        if reference:
            folded = fold_day(folded.detectors, folded.own, today_of(day, span, reference), names)
        else:
            folded = _not_compared(folded, day, names)
        segments = len([name for name in names if name not in FAMILIES])
        streams = [Stream(model, name, reference, folded, [*before], limits) for name in names]
        verdicts = [_with_shift(verdict_of(of, segments), shifts.get(of.name)) for of in streams]
        shifts = {v.segment: v.detector.moved for v in verdicts}
        yield verdicts


def _taken_up(detectors: Mapping[str, Detector]) -> tuple[dict[str, Shift | None], Folded]:
    """Give the shifts that last, and what has accumulated, before the first day."""
    shifts = {name: detector.moved for name, detector in detectors.items()}
    return shifts, Folded({name: replace(of, moved=None) for name, of in detectors.items()})


def _go_on(before: deque[Day], day: Day, limits: Limits) -> None:
    """Add a day to those before, and forget what no later day needs."""
    before.append(day)
    while day.day - before[0].day >= days_to_recall(limits):
        before.popleft()


def _reset(folded: Folded, day: date) -> Folded:
    """Discard all evidence: the scores are those of another map from a day on."""
    detectors = {name: rebased(d, day) for name, d in folded.detectors.items()}
    return replace(folded, detectors=detectors)


def _not_compared(folded: Folded, day: Day, names: Mapping[str, None]) -> Folded:
    """Carry the streams on over a day without a reference."""
    detectors = let_go(folded.detectors, day)
    reached = {name: detector.evidence for name, detector in detectors.items()}
    kept = {name: detector for name, detector in detectors.items() if name in names}
    return Folded(kept, reached=reached, own=folded.own)


def _with_shift(verdict: Verdict, before: Shift | None) -> Verdict:
    """Note since when the level has moved; a day that could not be judged changes nothing."""
    now = before
    if verdict.state in SHIFTS:
        same = before and before.state == verdict.state
        now = before if same else Shift(verdict.state, verdict.day)
    elif verdict.state not in UNJUDGED:
        now = None
    return replace(verdict, detector=replace(verdict.detector, moved=now))


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
    detectors: Mapping[str, Detector], recent: Sequence[Day], newest: Today
) -> dict[str, Own]:
    """Fit the second references of open incidents again."""
    ended = end_of_span(newest.day.day + timedelta(days=1), newest.limits.judge_every)
    weighed = [
        day
        for day in recent
        if day.final and day.parts and is_evidence(day, newest.reference)
        if newest.end_of_span(day) < ended
    ]
    owns = {name: recalled(newest, name, d, weighed) for name, d in detectors.items()}
    return {name: own for name, own in owns.items() if own}


def _span_that_ends(day: Day, before: Sequence[Day], length: int) -> list[Day]:
    """Give the final days of every span that ends after the day before and up to this one."""
    last = before[-1].day.toordinal() if before else 0
    ending = [d for d in (*before, day) if last < end_of_span(d.day, length) <= day.day.toordinal()]
    return [d for d in ending if d.final and d.parts]
