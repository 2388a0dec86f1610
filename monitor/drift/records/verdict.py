"""What is said of a model and segment on a day, and what the fold carries on. Pure data.

`monitor.drift.verdicts.judge` reaches it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from math import isfinite
from typing import Literal, get_args

from monitor.base.segment_names import THIRD
from monitor.days.decisions import Plan
from monitor.drift.records.day_evidence import KINDS, LABEL_KINDS, DayEvidence, LabelChange
from monitor.drift.records.detector import (
    IMPROVED,
    OUTCOMES_MISSING,
    Detector,
    Ended,
    Incident,
    is_level,
    is_withheld,
)
from monitor.drift.records.facts import Detectable, Facts, ThirdChoices
from monitor.drift.records.places import Condition, Explanation, Where, name_of
from monitor.drift.records.values import ValueWatch
from monitor.metrics.core.estimate import Estimate

State = Literal[  # the most severe last: where two exporters differ, dashboards show it
    "ok",
    "prior_shift",
    "reference_changed",
    "level_drift",
    "labels_lost",
    "labels_added",
    "acknowledged",
    "improved",
    "undecided",
    "calibration_drift",
    "insufficient_data",
    "not_comparable",
    "data_error",
]
STATES: tuple[State, ...] = get_args(State)
UNCHANGED = frozenset(["ok", "prior_shift"])  # the curve is as in the reference
SHIFTS = frozenset(["prior_shift", "level_drift"])
OF_LABELS = frozenset(LABEL_KINDS)  # states, and kinds, of an open drift that is one of labels
DRIFTING = OF_LABELS | {  # an incident is open
    *("calibration_drift", "undecided", "level_drift", "improved"),
}
UNJUDGED = frozenset(["insufficient_data", "not_comparable", "data_error"])
SLOPE_KINDS = frozenset(KINDS[:2])  # those that a slope measures
WEEK = 7  # days that the level and the prior are judged over


def is_shown(state: State, *, final: bool) -> bool:
    """Say whether a verdict replaces the one before: it is final, or the day's logs failed.

    Examples
    --------
    >>> is_shown("ok", final=False), is_shown("data_error", final=False)
    (False, True)
    """
    return final or state == "data_error"


@dataclass(frozen=True)
class Headline:
    """What an open drift is, in the rows that it sits in.

    Attributes
    ----------
    kind : str
        The distortion; see `monitor.drift.records.day_evidence.KINDS`.
    slope : Estimate or None
        Of the outcomes on the reference curve; None unless the kind is that of a slope.
    size : float
        How far the log-odds are off where the distortion is strongest.
    labels : LabelChange or None
        How labels changed, where that is what the drift is.
    """

    kind: str
    slope: Estimate | None
    size: float
    labels: LabelChange | None = None


@dataclass(frozen=True)
class Brief:
    """What a line over many days draws of a verdict; it takes a third of the time to read.

    Attributes
    ----------
    segment, state, reached, withheld : str, str, float or None, bool
        As of the `Verdict`.
    slope : Estimate or None
        Its `headline_slope`.
    """

    segment: str
    state: State
    reached: float | None
    withheld: bool
    slope: Estimate | None


@dataclass(frozen=True, eq=False)
class Verdict:
    """What is said of one model and segment on one day.

    Attributes
    ----------
    model, segment : str
        Whose predictions; segment "all" is the sum of the evidence of all segments.
    day : date
        The day judged.
    final : bool
        Whether no more outcomes are awaited.
    known_at : datetime
        The moment up to which outcomes were read.
    state : str
        One of `STATES`.
    reasons : tuple of str
        What `monitor.words` says of it to the person on call; empty until it is stored.
    evidence : DayEvidence or None
        What this day alone says; None without a reference or outcomes.
    detector : Detector
        What has accumulated.
    limit : float
        The evidence that opens an incident, log10; a segment's depends on how many others alert.
    shift, level_change : Estimate or None
        Intercept against the reference over the week, and the part the prior does not explain. Of a
        whole with classes the latter is that of the class that is off, if one is.
    slope : Estimate or None
        Of the outcomes on the reference curve, since the drift's start or over the week.
    reference_prevalence : float
        Share of positive outcomes in the reference; nan if there is none yet.
    reference_slope : Estimate or None
        Slope of the reference's own outcomes on its scores.
    reference_intercept : Estimate or None
        How far the log-odds of all its scores are off, on average.
    detectable : Detectable or None
        What the detector can find with this reference.
    where : Where or None
        Of the whole, where its open drift sits; None if no column is counted.
    reached : float or None
        log10 of the evidence up to this day, before an alarm set it back to 0; None if the day is
        not compared with a reference, or its evidence is withheld. Of a whole with classes and of
        its third choices it is the mean of both.
    awaited : date or None
        First day of the configured reference that has too few days or outcomes to be used yet.
    facts : Facts
        What the sentences say beyond all this.
    values : ValueWatch or None
        Of the whole, what has accumulated for each value of the watched columns; None if none is
        watched.
    plan : Plan or None
        The planned change that covers what was found; None as it is stored. Then the state is
        `acknowledged`, and nothing is open. See `monitor.read.plans`.
    """

    model: str
    segment: str
    day: date
    final: bool
    known_at: datetime
    state: State
    reasons: tuple[str, ...]
    evidence: DayEvidence | None
    detector: Detector
    limit: float
    shift: Estimate | None
    level_change: Estimate | None
    slope: Estimate | None
    reference_prevalence: float
    reference_slope: Estimate | None = None
    reference_intercept: Estimate | None = None
    detectable: Detectable | None = None
    where: Where | None = None
    reached: float | None = None
    awaited: date | None = None
    facts: Facts = field(default_factory=Facts)
    values: ValueWatch | None = None
    plan: Plan | None = None

    @property
    def incident(self) -> Incident | None:
        """What is open: a distortion, else an error of the level; that first if it began later.

        An error of the level that is urgent, and that began after the drift was found, is not
        covered by an acknowledgement of that drift. One that began with the drift comes from it, as
        that of a band of scores that a rule overwrites. A change for the better comes last.
        """
        bent, level = self.distortion, self.level_incident
        if bent and level and bent.improved and not level.improved:
            return level
        if bent and level and level.urgent and level.started > bent.opened:
            return level
        return bent or level

    @property
    def distortion(self) -> Incident | None:
        """The drift of the curve: of a whole with classes, of third choices if it has none."""
        return next((of.incident for of in self._families if of.incident), None)

    @property
    def level_incident(self) -> Incident | None:
        """The error of the level that is open, whether or not the curve drifts too."""
        return self.detector.level.incident

    @property
    def missing_outcomes(self) -> Incident | None:
        """The outcomes that went missing as the base rate moved, while that is open."""
        level = self.level_incident
        return level if level and level.kind == OUTCOMES_MISSING else None

    @property
    def _families(self) -> list[Detector | ThirdChoices]:
        """Its own detector, and of a whole with classes what its third choices say."""
        return [self.detector, *filter(None, [self.facts.third])]

    @property
    def has_reference(self) -> bool:
        """Whether there is a reference of its predictions."""
        return isfinite(self.reference_prevalence)

    @property
    def of_third_choices(self) -> bool:
        """Whether its open drift is that of third choices."""
        return self.distortion is not None and (
            self.segment == THIRD or self.detector.incident is None
        )

    @property
    def explanation(self) -> Explanation | None:
        """The few values that explain the open drift, if some do."""
        return self.where.explanation if self.where else None

    def explaining(self, incident: Incident) -> Explanation | None:
        """Give the few values that explain one of its open drifts, if some do.

        Where a distortion and an error of the level are open, values explain the one that is shown.
        """
        explanation = self.explanation if incident is self.incident else None
        if explanation and is_level(incident.kind) and explanation.kind in KINDS:
            return None  # of a program that looked for the values of a distortion only
        return explanation

    @property
    def headline_slope(self) -> Estimate | None:
        """The slope of the values that explain the open drift, where some do; else of all."""
        return self.explanation.slope if self.explanation else self.slope

    @property
    def labels(self) -> LabelChange | None:
        """How labels changed, where that explains the open drift and no distortion does."""
        found = self.facts.labels
        return found if found and found.told else None

    def headline(self, incident: Incident) -> Headline:
        """Say what its open drift is: in the values that explain it, where some do."""
        if incident.improved:
            return Headline(IMPROVED, None, abs(incident.size))
        if (labels := self.labels) and incident is self.distortion:
            return Headline(labels.kind, None, abs(incident.size), labels)
        explained = self.explaining(incident)
        kind = explained.kind if explained else incident.kind
        slope = self.headline_slope
        size = abs(explained.size if explained else incident.size)
        return Headline(kind, slope if kind in SLOPE_KINDS else None, size)

    @property
    def ended(self) -> Ended | None:
        """The last drift that is over, while none is open."""
        over = [of.ended for of in (*self._families, self.detector.level) if of.ended]
        return None if self.incident else max(over, key=lambda of: of.closed, default=None)

    @property
    def shown(self) -> bool:
        """Whether it replaces the verdict before: it is final, or the day's logs failed."""
        return is_shown(self.state, final=self.final)

    @property
    def shifted(self) -> date | None:
        """First of the days in a row with this prior shift or level drift, if the day has one."""
        shift = self.detector.moved
        return shift.since if shift and shift.state == self.state else None

    @property
    def found_on(self) -> date | None:
        """The day on which a drift was found that is open, or has become worse; None without one.

        That of the level is found on the first of its days in a row.
        """
        if incident := self.incident:
            return incident.worse.found if incident.worse else incident.opened
        return self.shifted if self.state == "level_drift" else None

    @property
    def drifts_found(self) -> dict[str, date]:
        """The day on which each open drift was found: of the stream, and of values by themselves.

        They go by the name of the segment, or of the value with its column.
        """
        own, values = self.found_on, self.values.ranked if self.values else ()
        return {
            **({self.segment: own} if own else {}),
            **{name_of(value.name): value.opened for value in values},
        }

    @property
    def compared(self) -> bool:
        """Whether there is evidence, shown or withheld: a reference that the day is no part of."""
        return self.reached is not None or self.withheld

    @property
    def withheld(self) -> bool:
        """Whether its evidence is no number, because late outcomes could explain it."""
        third = self.facts.third is not None and self.facts.third.withheld
        return is_withheld(self.detector) or third

    @property
    def brief(self) -> Brief:
        """What a line over many days draws of it."""
        return Brief(self.segment, self.state, self.reached, self.withheld, self.headline_slope)

    @property
    def incomplete(self) -> bool:
        """Whether it speaks of too many outcomes that arrive after the day has settled."""
        return self.facts.late is not None


@dataclass(frozen=True, eq=False)
class Carried:
    """All that the verdicts of later days need of those up to a day.

    Attributes
    ----------
    day : date
        The last day that was folded.
    detectors : mapping of str to Detector
        What each stream has accumulated.
    values : ValueWatch or None
        What has accumulated for the values of watched columns; None if none is watched.
    opened : date or None
        When the drift opened that the whole shows; None if none is open.
    explained : tuple of Condition
        The values that explain it; empty if no few ones do.
    """

    day: date
    detectors: Mapping[str, Detector]
    values: ValueWatch | None = None
    opened: date | None = None
    explained: tuple[Condition, ...] = ()
