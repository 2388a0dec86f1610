"""What a verdict says beyond the other columns of its row, as facts. Pure.

Rule: what is decided is decided here, never from a sentence. `monitor.words` makes the sentences.
"""

from dataclasses import dataclass
from datetime import date
from typing import Literal

from monitor.arrivals import Late
from monitor.drift.class_facts import NO_CLASSES, ClassFacts
from monitor.drift.detector import Ended, Incident
from monitor.drift.lack import Lack
from monitor.drift.levels import LastingShift, Level
from monitor.drift.reference import Reference

Obstacle = Literal[
    "logs failed",
    "outcomes awaited",
    "part of the reference",
    "no reference",
    "other classes",
    "drift may be late outcomes",
    "level may be late outcomes",
    "first span not over",
    "span without contrast",
    "no outcomes",
    "equal outcomes",
    "equal scores",
    "no contrast within parts",
]
# Of a reference whose own outcomes do not fit its scores, or whose days bring the same outcomes.
Fault = Literal["slope", "intercept", "counted again"]
NOT_CALIBRATED = 0.10  # the least difference of the reference's own slope from 1 that is reported
MAY_BE_LATE = frozenset(["drift may be late outcomes", "level may be late outcomes"])


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
    known_until : date or None
        End of the acknowledged drift that the day is part of.
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
        down because rows of an entity hang together, or the stream wanders; None if it was not.
    wrong : float or None
        The share of the outcomes that seem to be recorded as their opposite; None if none do.
    third : ThirdChoices or None
        Of a whole with classes, what its third choices say beyond a calm stream.
    strata : str
        The column whose values have priors of their own because these moved apart in the
        reference; empty if the monitor has not looked for one, or found none.
    """

    obstacle: Obstacle | None = None
    complaint: str = ""
    lack: Lack | None = None
    coverage: float | None = None
    reference: tuple[date, ...] = ()
    known_until: date | None = None
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
    wrong: float | None = None
    third: ThirdChoices | None = None
    strata: str = ""

    @property
    def of_classes(self) -> ClassFacts:
        """What the classes of the week say; nothing of a model with two outcomes."""
        return self.classes or NO_CLASSES


def faults_of(reference: Reference, least_shift: float) -> tuple[Fault, ...]:
    """Find how the reference itself was not calibrated, or not made of days that are apart.

    Parameters
    ----------
    reference : Reference
        Of the stream.
    least_shift : float
        The least intercept that is reported, in logit.
    """
    slope, intercept = reference.own_slope, reference.own_intercept
    faults = list[Fault]()
    if slope and (slope.low > 1.0 or slope.high < 1.0) and abs(slope.value - 1) > NOT_CALIBRATED:
        faults.append("slope")
    beyond_chance = intercept and (intercept.low > 0.0 or intercept.high < 0.0)
    if intercept and beyond_chance and abs(intercept.value) > least_shift:
        faults.append("intercept")
    if reference.overlap > 1.0:
        faults.append("counted again")
    return tuple(faults)
