"""What the week up to a day says, compared with the reference: slope, level and classes. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta

from monitor.base.segment_names import THIRD, WHOLE
from monitor.drift.classes.class_levels import OffClass, class_levels, off_class
from monitor.drift.classes.pairs import ClassDay, sum_of_days
from monitor.drift.curve.reference import Reference, lift_since, merge_days
from monitor.drift.evidence.history import week_slopes
from monitor.drift.fold.inputs import Day, ModelReference, class_span, parts_of_stream
from monitor.drift.incidents.detecting import best_slope
from monitor.drift.incidents.levels import lasting_shift, what_moved
from monitor.drift.records.detector import Detector
from monitor.drift.records.facts import ClassFacts, LastingShift, Level
from monitor.drift.records.verdict import WEEK
from monitor.drift.verdicts.class_facts import about_frequencies, worst_pair
from monitor.drift.verdicts.other_pairs import other_pairs
from monitor.drift.verdicts.stream import Stream
from monitor.metrics.core.estimate import Estimate
from monitor.metrics.logistic.level import Lift


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
    named = [pair for pair, of in both[1].pairs.items() if off not in _names(both[1], of)]
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


def _names(classes: ClassDay, ends: tuple[int, int]) -> list[str]:
    return [classes.names[k] for k in ends]
