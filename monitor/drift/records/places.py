"""The places of a drift: values of columns, and which few of them explain it. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from math import nan

from monitor.base.segment_names import shown
from monitor.drift.records.day_evidence import LabelChange
from monitor.metrics.core.estimate import Estimate


@dataclass(frozen=True)
class Condition:
    """One value of a column.

    Attributes
    ----------
    column, value : str
        Its name.
    first : date or None
        Its first day, if the reference has no prediction of it and the drift is put down to it.
    """

    column: str
    value: str
    first: date | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Place:
    """One value of a column.

    Attributes
    ----------
    column, value : str
        Its name.
    rows : int
        Its predictions with an outcome since the drift began.
    change : Estimate or None
        How far its curve moved along the direction of the drift, since the reference, in logit;
        None if it has too few outcomes.
    slope : Estimate or None
        Of its outcomes on the curve that it had in the reference; 1 if that is unchanged.
    evidence : float
        log10 of how much better the change fits than none; 0 if it was not tested.
    share : float
        Of the squared change of all values of its column, each weighed by its information; a
        ratio in [0, 1], nan if it was not tested.
    flagged : bool
        Whether it is off beyond the tolerance, with false discoveries controlled.
    new : bool
        Whether the reference has no prediction of it.
    """

    column: str
    value: str
    rows: int
    change: Estimate | None = None
    slope: Estimate | None = None
    evidence: float = 0.0
    share: float = nan
    flagged: bool = False
    new: bool = False


@dataclass(frozen=True)
class Opposite:
    """A value that moved the other way than those named before it.

    Attributes
    ----------
    condition : Condition
        The value.
    kind : str
        Its distortion.
    slope : Estimate or None
        Of its outcomes, as for a `Place`.
    """

    condition: Condition
    kind: str
    slope: Estimate | None


@dataclass(frozen=True)
class Explanation:
    """Few values without which the rest is as before.

    Attributes
    ----------
    conditions : tuple of Condition
        The values, the one that explains most first; a row is meant that has any of them.
    share : float
        Of the evidence for the drift, that goes with them; a ratio in [0, 1].
    slope, rest : Estimate or None
        Slope of their outcomes, and of all others, as for a `Place`.
    rows : float
        Their share of the predictions with an outcome.
    kind : str
        Their distortion; see `monitor.drift.records.day_evidence.KINDS`.
    size : float
        How far they moved along it, in logit.
    instead : tuple of str
        Other values that explain the drift hardly less well, the clearest first.
    beside : tuple of str
        Values that are off beside these, or share rows with them.
    opposite : tuple of Opposite
        Values that belong to these and moved the other way; slope, kind and size are not theirs.
    counted : bool
        Whether it is known how many rows the values share: their columns are crossed, or one.
    in_segments : bool
        Whether each of the values is a segment with an alert of its own: its drift is open, or was
        since the whole drifts.
    """

    conditions: tuple[Condition, ...]
    share: float
    slope: Estimate | None
    rest: Estimate | None
    rows: float
    kind: str = "too_extreme"
    size: float = 0.0
    instead: tuple[str, ...] = ()
    counted: bool = True
    in_segments: bool = False
    beside: tuple[str, ...] = ()
    opposite: tuple[Opposite, ...] = ()

    @property
    def every(self) -> tuple[Condition, ...]:
        """All values without which the rest is as before."""
        return (*self.conditions, *(other.condition for other in self.opposite))


@dataclass(frozen=True)
class Where:
    """Where a drift sits.

    Attributes
    ----------
    kind : str
        The distortion that was looked for.
    change : Estimate or None
        How far the whole moved along it, in logit.
    places : tuple of Place
        All values: flagged ones first, then by evidence.
    explanation : Explanation or None
        None if no few values explain the drift, or there is none.
    left_out : int
        How many tested values `places` no longer has.
    flagged_left_out : int
        How many of those are flagged.
    """

    kind: str
    change: Estimate | None
    places: tuple[Place, ...]
    explanation: Explanation | None
    left_out: int = 0
    flagged_left_out: int = 0

    @property
    def flagged(self) -> tuple[Place, ...]:
        """The values that are off."""
        return tuple(place for place in self.places if place.flagged)

    @property
    def tested(self) -> tuple[Place, ...]:
        """The values that were compared with their reference, in the same order."""
        return tuple(place for place in self.places if place.change)

    def worst(self, most: int) -> "Where":
        """Keep the tested values that are most off, and count the others."""
        gone = self.tested[most:]
        return replace(
            self,
            places=self.tested[:most],
            left_out=self.left_out + len(gone),
            flagged_left_out=self.flagged_left_out + sum(place.flagged for place in gone),
        )


@dataclass(frozen=True)
class Answer:
    """Where a drift sits.

    Attributes
    ----------
    first, last : date
        The days that were compared with the reference.
    drifting : bool
        Whether a drift is open on the last of them.
    where : Where
        What was found.
    labels : LabelChange or None
        How labels changed, where that is what the drift is: in the values that explain it, if some
        do.
    has_map : bool
        Whether a map could repair it: none can where one value of the scores has too many rows.
    """

    first: date
    last: date
    drifting: bool
    where: Where
    labels: LabelChange | None = None
    has_map: bool = True


def explained_by(explanation: Explanation) -> str:
    """Name the values that explain a drift.

    Examples
    --------
    >>> values = Condition("device", "tv"), Condition("device", "car"), Condition("country", "FR")
    >>> explained_by(Explanation(values, 0.9, None, None, 0.3))
    'device = tv or car and country = FR'
    """
    named = name_all(explanation.conditions)
    if not explanation.opposite:
        return named
    return f"{named}, the other way {name_all([o.condition for o in explanation.opposite])}"


def name_all(conditions: Sequence[Condition]) -> str:
    """Name some values, each column once.

    Examples
    --------
    >>> name_all((Condition("device", "tv"), Condition("device", "car")))
    'device = tv or car'
    """
    values = dict[str, list[str]]()
    for condition in conditions:
        values.setdefault(condition.column, []).append(shown(condition.value))
    return listed([f"{column} = {' or '.join(of)}" for column, of in values.items()])


def name_of(place: Condition | Place) -> str:
    """Name a value with its column."""
    return f"{place.column} = {shown(place.value)}"


def listed(names: list[str]) -> str:
    """Write a list of names as English does."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
