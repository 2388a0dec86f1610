"""What every step of the fold is given of a day, and how earlier days are read once more. Pure.

Rule 1: of a drift all the days since it began are read, or none: what some of them say would name
another distortion in a store from which others were deleted.
Rule 2: what a day says is kept while it is weighed alike, so an alarm that lasts reads no day once
more. It is never stored, and a fold without it sums up the same.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from functools import cached_property
from itertools import groupby
from typing import Any

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
from monitor.drift.records.detector import Detector

LONGEST = 60  # days that are read once more at most, from the newest back
LONGEST_GAP = 7  # days without outcomes in a row, before which nothing is read
MOST_PROFILED = 2_000  # spans of days of all streams that are kept: 2 MB


@dataclass(frozen=True, eq=False)
class Today:
    """A day, what it is compared with, and the days before it.

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
        What `said_since` has read once more of spans of days, by what it was weighed with.
    """

    day: Day
    span: Sequence[Day]
    reference: ModelReference
    limits: Limits
    recall: Recall
    sums_of: SumsOf
    profiled: dict[Any, Said] = field(default_factory=dict)

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
        return self.between(first.toordinal(), self.day.day.toordinal())

    def between(self, first: int, last: int) -> Iterator[Day]:
        """Read the same from one day to another, given by their ordinals."""
        for ordinal in range(first, last + 1):
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
    begin, newest = int(history.firsts[rows][0]), today.day.day.toordinal()
    wrong, length = wrong_labels(own.noise, detector.noise), today.limits.judge_every
    usual = variances_before(judged_with(own, wrong), detector, date.fromordinal(begin))
    if len(today.profiled) > MOST_PROFILED:
        today.profiled.clear()
    said = list[Said]()
    for end in range(end_of_span(date.fromordinal(begin), length), newest + length, length):
        span = max(begin, end - length + 1), min(end, newest)
        key = own, *span, usual.tobytes(), wrong
        if key not in today.profiled:
            parts = today.parts(name, [*today.between(*span)])
            today.profiled[key] = said_of_day(own, parts, usual, wrong)
        said += [of for of in [today.profiled[key]] if of.profiles.any()]
    if len(said) != int(history.days[rows].sum()):
        return None
    return Said(*(sum(each, none) for *each, none in zip(*said, nothing_said(), strict=True)))
