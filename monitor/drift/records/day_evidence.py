"""What a day alone says of each kind of distortion. Pure data."""

from dataclasses import dataclass
from typing import Literal

from monitor.metrics.core.estimate import Estimate
from monitor.metrics.core.grid import Floats

DIRECTIONS = ("slope", "quadratic", "cubic", "top")  # the rows of every array of directions
KINDS = (  # down and up each direction of the reference, in their order
    "too_extreme",
    "too_timid",
    "ends_overpredicted",
    "ends_underpredicted",
    "tails_too_extreme",
    "tails_too_timid",
    "top_overpredicted",
    "top_underpredicted",
)
LABEL_KINDS = ("labels_lost", "labels_added")  # of an open drift, where labels explain it better
# Of the outcomes of one side: a curve that rose or fell at one end alone looks like fewer.
LEAST_SHARE = 0.1
TOLD = 2.0  # log10 of how many times likelier labels must be than a distortion, or the reverse
SLOPES = (0.25, 0.5, 0.75, 1.0, 1.35, 2.0)  # where the slope of the likelihood is remembered
Family = Literal["swapped", "lost", "added"]
Changed = Literal["lost", "added"]  # families of labels that may change by themselves


def kind_of(direction: int, size: float) -> str:
    """Name the distortion of some size, in logit, along a direction.

    Examples
    --------
    >>> kind_of(0, -0.2), direction_of("top_underpredicted"), sign_of("top_underpredicted")
    ('too_extreme', 3, 1)
    """
    return KINDS[2 * direction + (size > 0.0)]


def direction_of(kind: str) -> int:
    """Give the place of the direction of a kind among `DIRECTIONS`."""
    return KINDS.index(kind) // 2


def sign_of(kind: str) -> int:
    """Give the sign of the sizes of a kind: -1 of the first one of its direction, else 1."""
    return 2 * (KINDS.index(kind) % 2) - 1


@dataclass(frozen=True)
class WrongLabels:
    """Outcomes that seem to be recorded as their opposite, before the reference as after it.

    Attributes
    ----------
    family : str
        Which ones: the same share of both outcomes (swapped), positive ones only (lost), or
        negative ones only (added).
    share : float
        How many of them.
    """

    family: Family
    share: float

    @property
    def added_and_lost(self) -> tuple[float, float]:
        """The share of the negative outcomes that is wrong, and that of the positive ones."""
        added, lost = SIDES[self.family]
        return added * self.share, lost * self.share


@dataclass(frozen=True)
class LabelChange:
    """Labels that seem to have changed since a drift began.

    Attributes
    ----------
    family : str
        Positive outcomes that got lost, or negative ones that were added to them.
    share : Estimate
        How many of them, with the 95 % interval; ratios in [0, 1].
    evidence : float
        log10 of how many times likelier that is than the best distortion of the curve.
    """

    family: Changed
    share: Estimate
    evidence: float

    @property
    def told(self) -> bool:
        """Whether no distortion is nearly as likely, and the share too large for a bent end."""
        return self.evidence >= TOLD and self.share.low >= LEAST_SHARE

    @property
    def kind(self) -> Literal["labels_lost", "labels_added"]:
        """One of `LABEL_KINDS`."""
        return "labels_lost" if self.family == "lost" else "labels_added"


SIDES: dict[Family, tuple[float, float]] = {  # whether each outcome may be wrong
    "swapped": (1.0, 1.0),
    "lost": (0.0, 1.0),
    "added": (1.0, 0.0),
}


@dataclass(frozen=True, eq=False)
class DayEvidence:
    """What one day says, all segments of a stream together.

    Attributes
    ----------
    ratios : ndarray of shape (8,)
        For each kind, log10 of the likelihood of its effect over that of its tolerance; from -2
        to 2 if hedged.
    tolerances, effects : ndarray of shape (4,)
        The deviations that were compared, in logit; 0 along a direction that the day's scores do
        not move along.
    scores : ndarray of shape (4,)
        Slope of the conditional log-likelihood along each direction, at the reference curve.
    informations : ndarray of shape (4,)
        What the day knows of each direction.
    slopes : ndarray of shape (6,)
        Slope of the conditional log-likelihood along the first direction, where the outcomes have
        each of `SLOPES` on the reference curve, over the dispersion of the day. It adds over
        days, and is 0 at the best slope.
    levels : ndarray of shape (4,)
        Score and information of the shift of the intercept since the reference, then those of the
        part of it that the prior does not explain. They add over days.
    unknown_share : float
        Share of the day's predictions whose scores lie where the reference does not know its
        curve; they are no evidence.
    cross : ndarray of shape (4, 1 + b) or None
        Information of each direction with itself, then with the functions of the curve, of the
        day and of those just before it that had little. None once it has been stored: the
        detector holds it.
    noise : ndarray of shape (3, 43) or None
        What the day says of each share of wrong labels, by family, bounded; None once it has been
        stored, or if the reference asks for none.
    recovery : float
        log10 of the likelihood that the open incident's distortion is gone over that it is still
        there; from -2 to 2, and 0 without an incident.
    profiles : ndarray of shape (6, 16) or None
        `day_profiles` while an incident is open; None otherwise, and once it has been stored.
    """

    ratios: Floats
    tolerances: Floats
    effects: Floats
    scores: Floats
    informations: Floats
    slopes: Floats
    levels: Floats
    unknown_share: float = 0.0
    cross: Floats | None = None
    noise: Floats | None = None
    recovery: float = 0.0
    profiles: Floats | None = None
