"""What a stream has accumulated: evidence, the drift that is open, and what days said. Pure data.

`monitor.drift.incidents.detecting` adds a day to it.
"""

from dataclasses import dataclass, field
from datetime import date
from math import log10
from typing import Literal

import numpy as np

from monitor.drift.records.day_evidence import DIRECTIONS, KINDS, LABEL_KINDS, SIDES, SLOPES
from monitor.drift.records.region_state import KIND as PLACE
from monitor.drift.records.region_state import Break, RegionWatch
from monitor.metrics.core.estimate import Estimate
from monitor.metrics.core.grid import Floats, Ints, Singles

EndReason = Literal["recovered", "acknowledged", "rebased"]
SUMS = ("scores", "informations", "slopes", "levels")
WIDTHS = (len(DIRECTIONS), len(DIRECTIONS), len(SLOPES), 4)
WEIGHTS = np.array([3, 3, 1, 1, 1, 1, 1, 1]) / 12  # of the kinds: slopes change most often
RECOVERED = 3.0  # log10 of the odds that the curve is back within its tolerance
WEEKS = 13  # with outcomes that are looked back at, the present one included
SHARES = 13  # of wrong labels that are compared, of each family
ERRORS = 5  # of the curve: along the directions of a reference, and as labels bend it
OF_REGIONS = 0.3  # weight of breaks at one place, beside the directions
OF_LOST = 0.1  # weight of lost labels, beside both
# What is held against a stream while late outcomes could explain it: over every limit, but so low
# that some days that fit the reference bring it below again.
WITHHELD = 1e12
LEVEL_KINDS = ("scores_too_high", "scores_too_low")  # of all scores, by what the prior leaves over
SCORES_OUTSIDE, SCORES_EQUAL = "scores_outside", "scores_equal"
NOT_COMPARABLE = (SCORES_OUTSIDE, SCORES_EQUAL)  # scores of which the reference says nothing
OUTCOMES_MISSING = "outcomes_missing"  # on the days on which the base rate moved
IMPROVED = "improved"  # changed since the reference, and the scores fit
CLASS_PLACE = "class_place"  # at one place of the scores of a class
INCIDENT_KINDS = (
    *(*KINDS, PLACE, *LEVEL_KINDS, *NOT_COMPARABLE),
    *(IMPROVED, *LABEL_KINDS, CLASS_PLACE, OUTCOMES_MISSING),
)
LEVEL_SIZES = 3  # sizes of a level error that are looked for
PROFILED = 16  # sizes at which a distortion is profiled: `monitor.drift.evidence.directions.SIZES`
LEVEL_SUMS = 4  # of each day: see `LevelWatch`


@dataclass(frozen=True, eq=False)
class History:
    """Sums of what days said, a row for each of the last days and for each week before them.

    Attributes
    ----------
    firsts : ndarray of shape (r,)
        Ordinal of the first day of each row, rising.
    days : ndarray of shape (r,)
        Number of its days.
    scores, informations : ndarray of shape (r, 4)
        Sums of those of `DayEvidence`.
    slopes, levels : ndarray of shape (r, 6), (r, 4)
        The same.

    All sums have single precision: a history is stored with every day.
    """

    firsts: Ints
    days: Ints
    scores: Singles
    informations: Singles
    slopes: Singles
    levels: Singles


@dataclass(frozen=True)
class Span:
    """Days of a drift, from its start to the day on which the outcomes began to recover."""

    first: date
    last: date


def no_sums() -> Floats:
    """Begin with days that say nothing of any share, of no family."""
    return np.zeros((len(SIDES), SHARES + ERRORS + ERRORS**2))


@dataclass(frozen=True, eq=False)
class Quarter:
    """What the last weeks say of the recovery of an open drift.

    Attributes
    ----------
    since : date
        The first day counted: after the opening, or after evidence that the drift lasts.
    weeks : ndarray of shape (w,)
        Numbers of the weeks with outcomes, rising, at most 13.
    recoveries : ndarray of shape (w,)
        Sum over each week of log10 of the likelihood that the distortion is gone over that it is
        still there.
    undecided : bool
        Whether they say neither.
    """

    since: date
    weeks: Ints
    recoveries: Floats
    undecided: bool = False

    @property
    def lasts(self) -> float:
        """log10 of the odds that the drift has lasted over these weeks."""
        return -float(self.recoveries.sum())


@dataclass(frozen=True)
class Worse:
    """An open calibration drift before it became worse.

    Attributes
    ----------
    found : date
        Day on which the evidence for the change reached its limit.
    evidence : float
        log10 of that evidence.
    times : int
        How often the drift has become worse since it opened.
    kind : str
        The distortion that fitted best.
    size : float
        Its size, in logit, signed.
    slope : float or None
        The slope of the outcomes on the reference curve; None if they do not tell.
    """

    found: date
    evidence: float
    times: int
    kind: str
    size: float
    slope: float | None


@dataclass(frozen=True, eq=False)
class OwnFit:
    """How the outcomes since an open drift began fit the scores as they are.

    Attributes
    ----------
    since : date
        The first day counted, on which the drift began.
    gain : float
        log10 of the likelihood of the scores as they are over that of the reference's curve.
    slopes : ndarray of shape (6,)
        Of a drift of the curve, as those of an `Incident`, on the scores as they are.
    profiles : ndarray of shape (64,) or None
        Of a drift of the curve, the likelihood of distortions of the scores as they are.
    pull, information : float
        Of an error of the level, outcomes less scores, and the information of an intercept.
    slope, intercept : Estimate or None
        Of the outcomes on the scores, since the drift began.
    improved : bool
        Whether the scores fit, or fit better than the reference does.
    over : bool
        Whether they did on an earlier day and then no longer.
    """

    since: date
    gain: float
    slopes: Floats
    profiles: Floats | None = None
    pull: float = 0.0
    information: float = 0.0
    slope: Estimate | None = None
    intercept: Estimate | None = None
    improved: bool = False
    over: bool = False


@dataclass(frozen=True, eq=False)
class Incident:
    """An open calibration drift.

    Attributes
    ----------
    opened : date
        Day on which the evidence reached its limit.
    started, start_low, start_high : date
        Estimated first day of the drift, and the ends of its 90 % interval; of another that
        replaced it, if it changed.
    kind : str
        The distortion that fits best since then.
    evidence : float
        log10 of the evidence on the day of the opening.
    recovery : float
        log10 of the evidence since the opening that the distortion is gone.
    size : float
        The distortion along the direction of its kind, in logit, signed; estimated up to the last
        day on which nothing spoke for recovery.
    size_error : float
        Its standard error.
    scores, informations, slopes : ndarray of shape (4,), (4,), (6,)
        Sums since the start, each day's over its dispersion.
    gradual : bool
        Whether it came slowly, from its first day on, instead of at once.
    quarter : Quarter or None
        What the last weeks say of its recovery; None on the day of the opening, and of another
        alarm.
    worse : Worse or None
        What it was before it became worse; None if it has not.
    profiles : ndarray of shape (6, 16) or None
        Sum since the start of `monitor.drift.evidence.directions.day_profiles`; None if some of
        these days could not be read once more.
    recovering : date or None
        The first of the days that `recovery` counts; None while nothing speaks for recovery.
    place : Break or None
        Where among the scores it is, of the kind `place`; then `size` is the tilt there, and what
        is of directions is 0.
    urgent : bool
        Whether it may page: a distortion always, an error of the level once it is large.
    unexplained : float or None
        Of an error of the level, the part of `size` that did not come with the base rate; at one
        place of the scores of a class, the change of the log-odds of the share of its outcomes that
        is there.
    own : OwnFit or None
        How the outcomes since it began fit the scores as they are; None of a break at one place.
    of_class : str
        The class whose scores are off; empty if it is not one of them.
    other_class : str or None
        The only one that is off too, where two are and all others are as before.

    An error of the level has one of `LEVEL_KINDS`, scores that cannot be compared one of
    `NOT_COMPARABLE`, outcomes that went missing as the base rate moved `OUTCOMES_MISSING`, and a
    break of the scores of a class `CLASS_PLACE`, with its `place`; all have no scores,
    informations and slopes.
    """

    opened: date
    started: date
    start_low: date
    start_high: date
    kind: str
    evidence: float
    recovery: float = 0.0
    size: float = 0.0
    size_error: float = 0.0
    scores: Floats = field(default_factory=lambda: np.zeros(len(DIRECTIONS)))
    informations: Floats = field(default_factory=lambda: np.zeros(len(DIRECTIONS)))
    slopes: Floats = field(default_factory=lambda: np.zeros(len(SLOPES)))
    gradual: bool = False
    quarter: Quarter | None = None
    worse: Worse | None = None
    profiles: Floats | None = None
    recovering: date | None = None
    place: Break | None = None
    urgent: bool = True
    unexplained: float | None = None
    own: OwnFit | None = None
    of_class: str = ""
    other_class: str | None = None

    @property
    def improved(self) -> bool:
        """Whether it is a change for the better: the scores fit as they are."""
        return self.own is not None and self.own.improved

    @property
    def undecided(self) -> bool:
        """Whether the last weeks say neither that it lasts nor that it is over."""
        return self.quarter is not None and self.quarter.undecided


def is_level(kind: str) -> bool:
    """Return whether a kind of incident is of a `LevelWatch`: of the level, or of a class."""
    return kind in (*LEVEL_KINDS, *NOT_COMPARABLE, CLASS_PLACE, OUTCOMES_MISSING)


def shape_size(incident: Incident) -> float | None:
    """Find how far the log-odds are off where a distortion is strongest; None of a slope."""
    return None if incident.kind in KINDS[:2] else abs(incident.size)


@dataclass(frozen=True)
class Ended:
    """The last calibration drift of a stream, once it is over.

    Attributes
    ----------
    started : date
        Estimated first day of the drift.
    closed : date
        The day whose verdict no longer reports it.
    reason : str
        The outcomes recovered, a plan covers the drift, or people have named another reference.
    """

    started: date
    closed: date
    reason: EndReason


@dataclass(frozen=True)
class Shift:
    """A shift that lasts: the state that says so, and the first of the days in a row with it."""

    state: str
    since: date


@dataclass(frozen=True, eq=False)
class Second:
    """What looks for another change beside an open incident; see `monitor.drift.fold.second`.

    Attributes
    ----------
    since : date
        The first day of the incident that its reference may rest on.
    fitted : int
        Number of days that its reference is fitted to; 0 while they are too few.
    last : date or None
        The last of them.
    detector : Detector
        What has accumulated since, compared with that reference.
    """

    since: date
    fitted: int
    last: date | None
    detector: "Detector"


def no_level_sums() -> Floats:
    """Begin with no evidence of an error of the level."""
    return np.zeros(len(LEVEL_KINDS) * LEVEL_SIZES)


@dataclass(frozen=True, eq=False)
class LevelWatch:
    """What has accumulated for an error of the level; see `monitor.drift.incidents.level_watch`.

    Of a whole with classes it is what contradicts the scores of single classes; see
    `monitor.drift.classes.class_watch`.

    Attributes
    ----------
    sums : ndarray of shape (6,)
        M for each of `LEVEL_KINDS` and each size; of k classes 64 k, for either side, each class,
        place and size.
    counted : int
        Days with evidence since the sums were 0.
    days : ndarray of shape (n,)
        Ordinals of the days of the last nine weeks, rising; of classes of the first in each week.
    levels : ndarray of shape (n, 4)
        Of each day the change of the intercept since the reference over its variance, one over this
        variance, and the same of the part that did not come with the base rate; of k classes 14 k
        rows for each week, as `monitor.drift.classes.class_scores.levels_of_day` has them; half of
        them, and of the sums, where no adjusted scores are judged.
    incident : Incident or None
        The open error of the level.
    ended : Ended or None
        The last one that is over.
    """

    sums: Floats = field(default_factory=no_level_sums)
    counted: int = 0
    days: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    levels: Singles = field(default_factory=lambda: np.zeros((0, LEVEL_SUMS), np.float32))
    incident: Incident | None = None
    ended: Ended | None = None

    @property
    def evidence(self) -> float:
        """log10 of the mean of M over sides and sizes, at least 0."""
        return log10(max(1.0, float(self.sums.mean())))


@dataclass(frozen=True, eq=False)
class Detector:
    """Accumulated evidence of one stream.

    Attributes
    ----------
    sums : ndarray of shape (8,)
        M for each kind.
    counted : int
        Days with evidence since the sums were 0.
    last : date
        The last day with evidence.
    jitters : ndarray of shape (4,)
        Between-day variances of this week; 0 before the first day. Stores have this name for them.
    cross : ndarray of shape (4, 1 + b) or None
        Where the scores of the last days were; see `DayEvidence`. None before the first day.
    history : History
        What the days of the last year said.
    incident : Incident or None
        The open drift.
    ended : Ended or None
        The last drift that is over; None once another one opens.
    moved : Shift or None
        The prior shift or level drift of the newest judged day.
    noise : ndarray of shape (3, 43)
        What the days without an incident say of each share of wrong labels, by family; what the
        reference says comes on top.
    second : Second or None
        What looks for another change while an incident is open.
    regions : RegionWatch or None
        What has accumulated of breaks at one place of the scores; None where none are looked for.
    level : LevelWatch
        What has accumulated for an error of the level, which no prior shift explains.
    drifted : tuple of Span
        The days of drifts that are over, of a year: they say nothing of how much days usually
        differ.
    labels : ndarray of shape (3,) or None
        M for each share of lost positives of `monitor.drift.evidence.lost_labels`; None where none
        are looked for.
    """

    sums: Floats
    counted: int
    last: date
    jitters: Floats
    cross: Floats | None
    history: History
    incident: Incident | None = None
    ended: Ended | None = None
    moved: Shift | None = None
    noise: Floats = field(default_factory=no_sums)
    second: Second | None = None
    regions: RegionWatch | None = None
    level: LevelWatch = field(default_factory=LevelWatch)
    drifted: tuple[Span, ...] = ()
    labels: Floats | None = None

    @property
    def evidence(self) -> float:
        """log10 of the weighted mean of M over the kinds, all places and labels, at least 0."""
        along = float((WEIGHTS * self.sums).sum())
        if self.regions is not None:
            along = (1.0 - OF_REGIONS) * along + OF_REGIONS * self.regions.evidence
        if self.labels is not None:
            along = (1.0 - OF_LOST) * along + OF_LOST * float(self.labels.mean())
        return log10(max(1.0, along))


def over_on(of: Detector | LevelWatch, day: date, reason: EndReason = "recovered") -> Ended | None:
    """Give the end of an open incident, or of the last one where none is open."""
    return Ended(of.incident.started, day, reason) if of.incident else of.ended


def is_withheld(detector: Detector) -> bool:
    """Return whether the evidence of the last day was withheld."""
    return detector.incident is None and bool((detector.sums == WITHHELD).all())
