"""What every step of the fold is given of a day, and how earlier days are read once more. Pure.

Rule 1: of a drift all the days since it began are read, or none: what some of them say would name
another distortion in a store from which others were deleted.
Rule 2: what was summed up is kept from day to day while it is weighed alike, so an alarm that lasts
reads no day again. It is never stored, and a fold without it sums up the same.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from functools import cached_property
from itertools import groupby
from typing import Any

import numpy as np

from monitor.drift.classes.pairs import Parts
from monitor.drift.curve.label_noise import wrong_labels
from monitor.drift.curve.reference import Reference, judged_with, merge_days
from monitor.drift.evidence.directions import Said, nothing_said, said_of_day
from monitor.drift.evidence.history import variances_before
from monitor.drift.fold.inputs import (
    Day,
    Limits,
    ModelReference,
    Recall,
    SumsOf,
    end_of_span,
    is_evidence,
    limit_alone,
    weighed_parts,
)
from monitor.drift.records.day_evidence import WrongLabels
from monitor.drift.records.detector import Detector
from monitor.metrics.core.grid import Floats

LONGEST = 60  # days that are read once more at most, from the newest back
LONGEST_GAP = 7  # days without outcomes in a row, before which nothing is read
ONE_DAY = timedelta(days=1)
WEEK = timedelta(days=7)  # sums that were not asked for as long are forgotten


@dataclass(frozen=True, eq=False)
class Today:
    """A day, what it is compared with, and the days of before.

    Attributes
    ----------
    day : Day
        The newest day.
    span : sequence of Day
        The days that are judged together and end today, as far as they are evidence: usually one,
        none if today says nothing.
    reference : ModelReference
        What they are compared with.
    limits : Limits
        When something is worth saying.
    recall : function of a date
        Gives a day up to this one; None if it is not known.
    sums_of : function of a Reference, a stream and a date
        What the buckets of the entities of a day say.
    profiled : dict
        What `said_since` has summed up so far, by stream and first day; it adds to it.
    """

    day: Day
    span: Sequence[Day]
    reference: ModelReference
    limits: Limits
    recall: Recall
    sums_of: SumsOf
    profiled: dict[str, dict[date, Any]] = field(default_factory=dict)

    @cached_property
    def own(self) -> dict[str, Reference]:
        """The reference of each stream that has one."""
        streams = self.reference.streams
        return {name: own for name, own in streams.items() if isinstance(own, Reference)}

    @property
    def has_entities(self) -> bool:
        """Whether the rows of some of these days are counted by entity."""
        return any(day.entities for day in self.span)

    def parts(self, name: str, days: Sequence[Day] | None = None) -> Parts:
        """Add up the parts of a stream, with the scores that its curve is a function of.

        Parameters
        ----------
        name : str
            The stream.
        days : sequence of Day, optional
            Which days; by default those of the span.
        """
        among = self.span if days is None else days
        return merge_days([weighed_parts(day, name, self.reference) for day in among])

    def limit_alone(self, name: str) -> float:
        """Give the evidence at which a stream alerts if all segments share their limit, log10."""
        return limit_alone(self.limits, name, len(self.reference.segments))

    def since(self, first: date) -> Iterator[Day]:
        """Read the final days from one up to today that are evidence."""
        for ordinal in range(first.toordinal(), self.day.day.toordinal() + 1):
            day = self.recall(date.fromordinal(ordinal))
            if day and day.final and is_evidence(day, self.reference):
                yield day

    def back(self) -> Iterator[Day]:
        """Read the days with all their outcomes, the newest first, until too many are missing."""
        missing = 0
        for back in range(LONGEST):
            day = self.recall(self.day.day - timedelta(days=back))
            if day and day.final and not day.late and is_evidence(day, self.reference):
                missing = 0
                yield day
            else:
                missing += 1
            if missing > LONGEST_GAP:
                return

    def spans_back(self, name: str) -> Iterator[tuple[date, Parts]]:
        """Read the same days, those that are judged together at once, as parts of a stream."""
        for _, days in groupby(self.back(), self.end_of_span):
            span = [*days]
            yield span[-1].day, self.parts(name, span[::-1])

    def end_of_span(self, day: Day) -> int:
        """Give the ordinal of the last of the days that are judged together with a day."""
        return end_of_span(day.day, self.limits.judge_every)


@dataclass(frozen=True, eq=False)
class Summed:
    """What some days say, and with what they were weighed.

    Attributes
    ----------
    own, day_variances, wrong : Reference, ndarray, WrongLabels or None
        What they depend on, beside the days.
    last : date
        The last of the days.
    sums : Said
        Of these, added up in the order of the days.
    spans : int
        How many spans of days said something.
    """

    own: Reference
    day_variances: Floats
    wrong: WrongLabels | None
    last: date
    sums: Said
    spans: int

    def is_of(self, own: Reference, day_variances: Floats, wrong: WrongLabels | None) -> bool:
        """Say whether days that follow would be weighed alike."""
        alike = self.own is own and self.wrong == wrong
        return alike and np.array_equal(self.day_variances, day_variances)


def said_since(today: Today, name: str, detector: Detector, first: date) -> Said | None:
    """Sum up what the days from one on say of distortions and of labels.

    Parameters
    ----------
    today : Today
        The last of them.
    name : str
        The stream.
    detector : Detector
        Of the stream, after today.
    first : date
        The first of them.

    Returns
    -------
    Said or None
        None if other days are found than the history of the detector holds since then.
    """
    own, history = today.own.get(name), detector.history
    rows = history.firsts >= first.toordinal()
    if own is None or not rows.any():
        return None
    begin = date.fromordinal(int(history.firsts[rows][0]))
    wrong = wrong_labels(own.noise, detector.noise)
    kept = today.profiled.setdefault(name, {})
    summed = kept.get(begin)
    usual = variances_before(judged_with(own, wrong), detector, begin)
    if summed is None or not summed.is_of(own, usual, wrong):
        summed = Summed(own, usual, wrong, begin - ONE_DAY, nothing_said(), 0)
    for end, days in groupby(today.since(summed.last + ONE_DAY), today.end_of_span):
        summed = _with_span(today, name, summed, days)
        if end <= today.day.day.toordinal():  # the days of a span that goes on are read again
            kept[begin] = replace(summed, last=date.fromordinal(end))
    for old in [day for day, of in kept.items() if of.last < today.day.day - WEEK]:
        del kept[old]
    return summed.sums if summed.spans == int(history.days[rows].sum()) else None


def _with_span(today: Today, name: str, before: Summed, days: Iterable[Day]) -> Summed:
    """Add days that are judged together."""
    parts = today.parts(name, [*days])
    said = said_of_day(before.own, parts, before.day_variances, before.wrong)
    if not said.profiles.any():
        return before
    sums = Said(*(of_all + of_day for of_all, of_day in zip(before.sums, said, strict=True)))
    return replace(before, sums=sums, spans=before.spans + 1)
