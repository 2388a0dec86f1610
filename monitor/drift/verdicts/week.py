"""A stream on a day, and what the week up to it says: slope, level and classes. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import cached_property

from monitor.base.segment_names import THIRD, WHOLE
from monitor.drift.classes.class_levels import OffClass, class_levels, off_class
from monitor.drift.classes.pairs import ClassDay, sum_of_days
from monitor.drift.curve.reference import REFERENCE_DAYS, Reference, lift_since, merge_days
from monitor.drift.evidence.history import week_slopes
from monitor.drift.fold.fold_day import Folded
from monitor.drift.fold.inputs import (
    Day,
    Limits,
    ModelReference,
    class_span,
    parts_of_stream,
    prevalence_of,
)
from monitor.drift.incidents.detecting import best_slope, new_detector
from monitor.drift.incidents.levels import lasting_shift, what_moved
from monitor.drift.records.detector import Detector, Incident, is_withheld
from monitor.drift.records.facts import ClassFacts, Detectable, LastingShift, Level
from monitor.drift.records.lack import Lack
from monitor.drift.records.verdict import WEEK
from monitor.drift.verdicts.class_facts import about_frequencies, other_pairs, worst_pair
from monitor.metrics.core.estimate import Estimate
from monitor.metrics.logistic.level import Lift

NO_REFERENCE = Lack("first reference", 0, REFERENCE_DAYS)


@dataclass(frozen=True)
class Stream:
    """The predictions that a verdict is about: a whole, a segment, or a family or pair of classes.

    Attributes
    ----------
    model, name : str
        Whose predictions.
    reference : ModelReference or None
        What the day is compared with.
    folded : Folded
        All streams after the day.
    recent : sequence of Day
        The days up to this one, at least those of a week.
    limits : Limits
        When something is worth saying.
    """

    model: str
    name: str
    reference: ModelReference | None
    folded: Folded
    recent: Sequence[Day]
    limits: Limits

    @cached_property
    def detector(self) -> Detector:
        """What has accumulated."""
        return self.folded.detectors.get(self.name) or new_detector()

    @cached_property
    def beside(self) -> tuple[Detector, ...]:
        """That of the other family of pairs, of a model with classes that has it."""
        families = self.reference.families if self.reference else ()
        detectors = self.folded.detectors
        among = [n for n in families if n != self.name and n in detectors]
        return tuple(detectors[n] for n in among) if self.name in families else ()

    @property
    def day(self) -> Day:
        """The day."""
        return self.recent[-1]

    @cached_property
    def week(self) -> list[Day]:
        """The final days of the week up to the day that are not the reference's.

        A day of the reference is no part of what is compared with it, but for that day itself.
        """
        ended = self.reference.last if self.reference else date.min
        ended = min(ended, self.day.day - timedelta(days=1))
        first = max(ended, self.day.day - timedelta(days=WEEK))
        return [day for day in self.recent if day.final and day.day > first]

    @cached_property
    def prevalence(self) -> float:
        """The share of positive outcomes of the day; nan without any."""
        return prevalence_of([self.day], self.name)

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
    def own(self) -> Reference | None:
        """The reference of this stream, if it has one."""
        compared = self.own_reference
        return compared if isinstance(compared, Reference) else None

    @property
    def labelled(self) -> Reference | None:
        """The same where labels have a side: none of a model with classes."""
        return None if self.reference and self.reference.classes else self.own

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

    @property
    def is_compared(self) -> bool:
        """Whether the day has evidence that may be shown."""
        after = self.reference is not None and self.day.day > self.reference.last
        return after and self.own is not None and not self.withheld


@dataclass(frozen=True)
class Week:
    """What the days up to one say, compared with the reference; nothing without one."""

    lift: Lift | None = None
    off: OffClass | None = None
    slope: Estimate | None = None
    moved: Level = "as before"
    lasting: LastingShift | None = None

    @property
    def level_change(self) -> Estimate | None:
        """What the prior does not explain of the level; of the class that is off, if one is."""
        if self.off:
            return self.off.change
        return Estimate.normal(self.lift.kappa, self.lift.kappa_error) if self.lift else None


def week_of_stream(stream: Stream) -> Week:
    """Compare the week up to the day of a stream with its reference."""
    own, compared, detector = stream.own, stream.reference, stream.detector
    if not (compared and own):
        return Week()
    slope = _slope(*_drifting(stream, own, compared), stream.day.day)
    if stream.name == THIRD:
        return Week(slope=slope)
    if stream.name == WHOLE and compared.levels:
        off = _off_class(own, compared, stream)
        return Week(off=off, slope=slope, moved=_moved_classes(off))
    if not own.levels:  # pairs share none
        return Week(slope=slope, moved="not looked for")
    parts = merge_days([parts_of_stream(day, stream.name) for day in stream.week])
    lift, least = lift_since(own.curve, own.levels, parts), stream.limits.level
    return Week(
        lift,
        slope=slope,
        moved=what_moved(own, detector.history, lift, least),
        lasting=lasting_shift(own, detector.history, least),
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


def _slope(reference: Reference, detector: Detector, day: date) -> Estimate | None:
    """Estimate the slope since the drift began, else over the week."""
    incident = detector.incident
    of_drift = incident and not incident.place  # a break at one place has no slope
    slopes = incident.slopes if incident and of_drift else week_slopes(detector.history, day)
    return best_slope(slopes, float(reference.errors[0]))


def _moved_classes(off: OffClass | None) -> Level:
    """Say the same of classes as of a lifted curve."""
    if off is None:
        return "as before"
    return "lift" if off.name else "prior or inputs"


def _off_class(whole: Reference, reference: ModelReference, stream: Stream) -> OffClass | None:
    """Find the class that came true more or less often than frequencies explain this week."""
    days = _days_of_classes(stream.recent, reference)
    both = _classes_to_compare(WHOLE, reference, days)
    if not (reference.levels and both):
        return None
    now = class_levels(whole, reference.curves, class_span(days, both[1]))
    return off_class(whole, reference.levels, now, both[1], stream.limits.level)


def classes_of(stream: Stream) -> ClassFacts | None:
    """Compare the classes of the week with those of the reference; None if there are none."""
    reference, limits, detectors = stream.reference, stream.limits, stream.folded.detectors
    if reference is None or reference.classes is None:
        return None
    days = _days_of_classes(stream.recent, reference)
    both = _classes_to_compare(stream.name, reference, days)
    if both is None:
        return None
    found = about_frequencies(*both, limits.prior_shift)
    if stream.name != WHOLE:
        return found
    pairs = {
        pair: (detectors[pair], own)
        for pair in reference.pairs
        if isinstance(own := reference.streams[pair], Reference) and pair in detectors
    }
    drift, whole = stream.detector.incident, stream.own
    off = stream.level.of_class if stream.level and not stream.incident else ""
    names = both[1].names
    named = [pair for pair, of in both[1].pairs.items() if off not in [names[k] for k in of]]
    if whole and (drift or off):
        others = other_pairs(whole, reference.curves, days, named if off else pairs)
        found = replace(found, others=others)
    worst = worst_pair(drift, pairs, limits.sensitivity.tolerances[0]) if drift else None
    return replace(found, worst=worst)


def _days_of_classes(recent: Sequence[Day], reference: ModelReference) -> list[Day]:
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
