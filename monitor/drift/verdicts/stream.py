"""A stream on a day: what its verdict is about, and what is known of it. Pure data."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cached_property

from monitor.base.segment_names import WHOLE
from monitor.drift.curve.reference import REFERENCE_DAYS, Reference
from monitor.drift.fold.fold_day import Folded
from monitor.drift.fold.inputs import Day, Limits, ModelReference, prevalence_of
from monitor.drift.incidents.detecting import new_detector
from monitor.drift.records.detector import Detector, Incident, is_withheld
from monitor.drift.records.facts import Detectable
from monitor.drift.records.lack import Lack
from monitor.drift.records.verdict import WEEK

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
        families, detectors = (
            self.reference.families if self.reference else (),
            self.folded.detectors,
        )
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
