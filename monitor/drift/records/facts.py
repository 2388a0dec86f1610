"""What a verdict says beyond the other columns of its row, as facts. Pure.

Rule: what is decided is decided here, never from a sentence. `monitor.words` makes the sentences.
"""

from dataclasses import dataclass
from datetime import date
from math import nan
from typing import Literal

from monitor.days.arrivals import Late
from monitor.drift.records.day_evidence import LabelChange, WrongLabels
from monitor.drift.records.detector import Ended, Incident
from monitor.drift.records.lack import Lack
from monitor.drift.records.mix import MovedMix
from monitor.metrics.core.estimate import Estimate

Obstacle = Literal[
    "logs failed",
    "outcomes awaited",
    "part of the reference",
    "no reference",
    "read otherwise",
    "other classes",
    "drift may be late outcomes",
    "level may be late outcomes",
    "first span not over",
    "span without contrast",
    "no predictions",
    "no outcomes",
    "equal outcomes",
    "equal scores",
    "no contrast within parts",
]
# Of a reference whose own outcomes do not fit its scores, or whose days bring the same outcomes.
Fault = Literal["slope", "intercept", "counted again"]
LESS_COVERED = 0.05  # the least change of the share of outcomes that are known which is told
NOT_CALIBRATED = 0.10  # the least difference of the reference's own slope from 1 that is reported
MAY_BE_LATE = frozenset(["drift may be late outcomes", "level may be late outcomes"])
# The day comes before all that is compared.
NOT_YET_COMPARED = frozenset(
    ["logs failed", "outcomes awaited", "part of the reference", "no reference"]
)
NOT_ALIKE = frozenset(["read otherwise", "other classes"])  # what is counted differs
Level = Literal["as before", "prior", "lift", "prior or inputs", "not looked for"]
OTHER_SPREAD = 1.1  # times that of the reference, or its inverse: of the log-odds of another model
DULLER = 0.75  # of the spread of scores: less is worth a sentence
USUAL_CHANGE = 0.2  # a slope of 0.8
STRONG_CHANGE = 0.3  # a slope of 0.7
PATIENCE = 120  # days
LONGEST = 400  # days: what takes longer is called never
FEW_A_DAY = 20  # of the rarer outcome
LONGER = 91  # days of a reference that would find more
LONG_AHEAD = 31  # days: a known drift that lasts longer may be forgotten
MOST_STREAMS = 20  # pairs with a verdict of their own: those that the reference knows best


@dataclass(frozen=True)
class ClassShift:
    """A class whose share of the outcomes changed since the reference."""

    name: str
    before: float
    now: float


@dataclass(frozen=True)
class WorstPair:
    """The pair with a verdict of its own whose curve changed most since an open drift began.

    Attributes
    ----------
    name, kind : str
        The pair, and the distortion that fits best.
    slope : Estimate or None
        Of its outcomes, if the distortion is one of the slope.
    rest : Estimate or None
        Slope of all other pairs together; None if there are none, or it cannot be told.
    rest_as_before : bool
        Whether that is within what is tolerated.
    """

    name: str
    kind: str
    slope: Estimate | None
    rest: Estimate | None
    rest_as_before: bool


@dataclass(frozen=True)
class Others:
    """The pairs without a verdict of their own: how many, and the worst of them, if any stands out.

    Attributes
    ----------
    count : int
        How many had outcomes this week.
    worst : str
        Empty if none stands out.
    slope : Estimate or None
        Of the outcomes of the worst.
    """

    count: int
    worst: str
    slope: Estimate | None


@dataclass(frozen=True)
class ClassFacts:
    """What the classes of a week say, compared with the reference.

    Attributes
    ----------
    shifts : tuple of ClassShift
        The classes that became more or less frequent, the clearest first.
    right, right_before : float
        How often the first choice was right, in the week and in the reference; ratios in [0, 1].
    judged : float
        The share of the outcomes that the verdict rests on; a ratio in [0, 1].
    worst : WorstPair or None
        Of the pairs with a verdict of their own, while a drift is open.
    others : Others or None
        All other pairs, while a drift is open; while only the scores of a class are off, its pairs.
    off : str or None
        The class whose level moved otherwise than with the frequencies; empty if no single one
        explains what moved, None if they explain all.
    among, promised : float or None
        The share of the outcomes that are one of the two classes with the highest scores, and the
        mean sum of these scores, which promise it; None where they were not counted.
    """

    shifts: tuple[ClassShift, ...]
    right: float
    right_before: float
    judged: float
    worst: WorstPair | None = None
    others: Others | None = None
    off: str | None = None
    among: float | None = None
    promised: float | None = None


NO_CLASSES = ClassFacts((), nan, nan, judged=1.0)


ScoreMap = Literal["log odds", "percent", "other class", "rounded"]


@dataclass(frozen=True)
class FewScore:
    """One of few different scores that are left.

    Attributes
    ----------
    score, share : float
        The score, and the share of the rows that have it, in [0, 1].
    rate, expected : float
        The share of these that come true, and the one by the curve of the reference, in [0, 1].
    fits : bool
        Whether both agree within 3.5 standard errors, at the prior of these days.
    """

    score: float
    share: float
    rate: float
    expected: float
    fits: bool


@dataclass(frozen=True)
class Scores:
    """The scores of a week, and their outcomes, beside those of the reference.

    Attributes
    ----------
    mean_before, mean : float
        Mean score of the reference and of the week, in [0, 1].
    outcomes_before, outcomes : float
        Share of positive outcomes, in [0, 1].
    below, above : float
        Share of the week's scores that are lower, and higher, than all of the reference, in [0, 1].
    like : str or None
        The map that seems to have been applied to every score; None if no simple one was.
    by : float
        What was added to the log-odds, or the factor of the probabilities.
    few : tuple of FewScore
        The scores that are left, the most frequent first, where the reference had at least five
        times as many different ones; else empty.
    different_before : int
        Number of different scores of the reference, as far as the grid tells them apart.
    spread_before, spread : float or None
        Standard deviation of the log-odds of the scores, of the reference and of the week; None of
        few rows.
    """

    mean_before: float
    mean: float
    outcomes_before: float
    outcomes: float
    below: float = 0.0
    above: float = 0.0
    like: ScoreMap | None = None
    by: float = 0.0
    few: tuple[FewScore, ...] = ()
    different_before: int = 0
    spread_before: float | None = None
    spread: float | None = None

    @property
    def spreads_alike(self) -> bool:
        """Whether the scores may be those of the same model: they spread as in the reference."""
        if not (self.spread and self.spread_before):
            return False
        spread = self.spread / self.spread_before
        return max(spread, 1.0 / spread) <= OTHER_SPREAD

    @property
    def duller(self) -> bool:
        """Whether the scores discriminate clearly less than those of the reference."""
        if self.spread is None or self.spread_before is None:
            return False
        return self.spread < DULLER * self.spread_before


@dataclass(frozen=True)
class OneDay:
    """A single day that contradicts the reference by itself.

    Attributes
    ----------
    evidence : float
        log10 of the odds.
    kind : str
        The distortion, or the place, that has most of them.
    """

    evidence: float
    kind: str


@dataclass(frozen=True)
class Coverage:
    """The share of the predictions that have an outcome, where it changed.

    Attributes
    ----------
    before, now : float
        On a usual day of the reference, and of the week; ratios in [0, 1].
    """

    before: float
    now: float


@dataclass(frozen=True)
class LastingShift:
    """A shift of the log-odds of all scores that one week does not show.

    Attributes
    ----------
    shift : Estimate
        Since the reference, in logit.
    since : date
        First of the days that show it most clearly.
    """

    shift: Estimate
    since: date


@dataclass(frozen=True)
class Together:
    """What a reference is worth whose rows hang together.

    Attributes
    ----------
    days : int
        Those of the reference.
    independent : float
        Days of independent rows that would say as much of the slope.
    least : float
        The least change of the slope that is found within 120 days in half of all cases; nan if
        none is.
    longer : float or None
        Days that a slope of 0.8 would take with a reference of 91 days, as that of `Detectable`;
        None if the reference is as long.
    """

    days: int
    independent: float
    least: float
    longer: float | None


@dataclass(frozen=True)
class Detectable:
    """What the detector can find with a reference and its usual volume.

    Attributes
    ----------
    tolerated, found : float
        Changes of the slope below the first are hardly ever reported, changes above the second
        are looked for; per unit of log-odds.
    rarer : float
        Number of the rarer outcome on a usual day.
    days, days_strong : float
        Days that a slope of 0.8 takes to be found in half of all cases, and one of 0.7; infinite
        if it takes more than 400.
    within_patience : float or None
        The least change of the slope that is found within 120 days in half of all cases; nan if
        none is. None with 20 of the rarer outcome a day or more: they find any that matters.
    together : Together or None
        What the reference is worth, if the rows of an entity hang together.
    """

    tolerated: float
    found: float
    rarer: float
    days: float
    days_strong: float
    within_patience: float | None
    together: Together | None = None


@dataclass(frozen=True, eq=False)
class ThirdChoices:
    """What the pairs of the first and the third choice bring to the verdict of the whole.

    Attributes
    ----------
    incident : Incident or None
        Their open drift, without its profiles; the whole shows it where it has none of its own.
    ended : Ended or None
        Their last drift that is over.
    withheld : bool
        Whether their evidence is withheld.
    """

    incident: Incident | None
    ended: Ended | None
    withheld: bool


@dataclass(frozen=True)
class ReferenceChange:
    """A change among the days of a reference itself.

    Attributes
    ----------
    first, since : date
        The first day of the reference, and the first of those that differ from the days before.
    kind : str
        How, as a distortion of the days before.
    before, after : float or None
        The slope of the outcomes on the scores until then and from then on; None if they do not
        tell.
    """

    first: date
    since: date
    kind: str
    before: float | None
    after: float | None


@dataclass(frozen=True)
class Unlike:
    """How days were read otherwise than the reference that they would be compared with.

    Attributes
    ----------
    streams : tuple of str
        What is not compared: segments, or the whole for all streams.
    settings : tuple of str
        The keys of the configuration that differ.
    since : date or None
        The first of the days in a row that were read so; None of days to come.
    first, last : date
        Of the reference.
    """

    streams: tuple[str, ...]
    settings: tuple[str, ...]
    since: date | None
    first: date
    last: date


@dataclass(frozen=True)
class Facts:
    """What sentences need and no other column of a verdict holds.

    Attributes
    ----------
    obstacle : str or None
        What kept the day from being judged; one of `Obstacle`.
    complaint : str
        What the check of the logs found, of a day whose logs failed it.
    lack : Lack or None
        What the reference lacks; None if it has a curve, if its days hold none of these
        predictions, and while there is none.
    coverage : float or None
        The share of the predictions that have an outcome, while outcomes are awaited.
    reference : tuple of date
        First and last day of the reference that the day is part of, or before.
    false_alert_days : int
        Days between two false alerts, at least and on average.
    on_average : bool
        Whether they are an average over references, because the limit is calibrated.
    faults : tuple of str
        What was not calibrated in the reference itself, beyond chance; and whether its days seem
        to count the same entities again.
    moved : str
        What the intercept of the week moved with.
    lift : float or None
        How far the curve was lifted over the week, in logit.
    lasting : LastingShift or None
        A shift of the prior that a single week does not show.
    prevalence : float or None
        Of the day; None if no outcome is known.
    late : Late or None
        The outcomes that arrive too late, where the verdict speaks of them.
    classes : ClassFacts or None
        What the classes of the week say, of a whole with classes.
    awaits : Lack or None
        What the configured reference lacks that is not used yet; None if there is none.
    alone : float or None
        The evidence if outcomes were independent, log10, where it is over the limit and was held
        down because rows of an entity hang together; None if it was not.
    wrong : WrongLabels or None
        The outcomes that seem to be recorded as their opposite; None if none do.
    third : ThirdChoices or None
        Of a whole with classes, what its third choices say beyond a calm stream.
    scores : Scores or None
        The scores of the week beside those of the reference; None with classes, of samples by
        class, and without outcomes.
    today : float or None
        The error of the level of this day alone, in logit, where it would be urgent if the next day
        were like it; None while an incident of the level is open.
    one_day : OneDay or None
        How far this day alone contradicts the curve of the reference, where it would be reported
        twice over if it were not a single one; None while a drift is open.
    strata : str
        The column whose values have priors of their own because these moved apart in the
        reference; empty if the monitor has not looked for one, or found none.
    labels : LabelChange or None
        How labels seem to have changed since an open drift of the curve began, if they explain it
        as well as any distortion, or nearly.
    covered : Coverage or None
        How many predictions have an outcome, of a whole whose base rate moved while that changed.
    unlike : tuple of Unlike
        How the day was read otherwise than its reference; of the whole also what is so of segments.
    mix : MovedMix or None
        Of the whole, the segments whose share is far outside of what the reference had.
    lost : float or None
        The share of the positives that may as well have got lost, in [0, 1], where the prior fell
        and the outcomes do not distinguish both.
    changed : ReferenceChange or None
        Of the whole, a change among the days of the reference; None if they are of one kind.
    """

    obstacle: Obstacle | None = None
    complaint: str = ""
    lack: Lack | None = None
    coverage: float | None = None
    reference: tuple[date, ...] = ()
    false_alert_days: int = 0
    on_average: bool = False
    faults: tuple[Fault, ...] = ()
    moved: Level = "as before"
    lift: float | None = None
    lasting: LastingShift | None = None
    prevalence: float | None = None
    late: Late | None = None
    classes: ClassFacts | None = None
    awaits: Lack | None = None
    alone: float | None = None
    wrong: WrongLabels | None = None
    third: ThirdChoices | None = None
    strata: str = ""
    scores: Scores | None = None
    today: float | None = None
    one_day: OneDay | None = None
    labels: LabelChange | None = None
    covered: Coverage | None = None
    unlike: tuple[Unlike, ...] = ()
    mix: MovedMix | None = None
    lost: float | None = None
    changed: ReferenceChange | None = None

    @property
    def of_classes(self) -> ClassFacts:
        """What the classes of the week say; nothing of a model with two outcomes."""
        return self.classes or NO_CLASSES
