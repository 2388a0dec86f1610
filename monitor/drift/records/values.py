"""What is known of the values of columns, and which of them drift. Pure data."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import date

import numpy as np

from monitor.drift.records.detector import NOT_COMPARABLE, WEIGHTS, no_level_sums
from monitor.drift.records.places import Condition
from monitor.metrics.core.grid import Floats, Singles

OF_VALUE = ("offsets", "tolerances", "effects", "day_variances")  # what is known of each value
# The same of its level: see `ValuePast.levels`; and what is known of one without a past.
OF_LEVEL = ("shift", "kappa", "shift_tolerance", "kappa_tolerance", "tolerance", "distinct", "seen")
UNKNOWN_LEVEL = (0.0, 0.0, np.inf, np.inf, np.inf, 0.0, 0.0)
MOST_VALUES = 1_000  # of a model: later ones that the reference does not know are not watched


@dataclass(frozen=True, eq=False)
class ValuePast:
    """What m values were in the reference, and what each of their days is compared with.

    Attributes
    ----------
    names : tuple of Condition
        The values, those of a column one after the other.
    known : ndarray of shape (m, 4, 4)
        Of each value what `OF_VALUE` lists.
    columns : tuple of str
        The columns, in the order of their values.
    new : ndarray of shape (columns, 4, 4)
        The same of a value of each column that the reference does not know.
    levels : ndarray of shape (m, 7)
        Of each value what `OF_LEVEL` lists: the intercept on the curve of the whole, and that less
        the logit of the prevalence; what is tolerated of changes of both, and of the second against
        the other values; the fewest cells of a day that had scores, and the least share of its rows
        whose curve is known.
    """

    names: tuple[Condition, ...]
    known: Floats
    columns: tuple[str, ...]
    new: Floats
    levels: Floats

    @property
    def offsets(self) -> Floats:
        """How far their own curves are from that of the whole, in logit; shape (m, 4)."""
        return self.known[:, 0]

    @property
    def tolerances(self) -> Floats:
        """Deviations that are tolerated, in logit; shape (m, 4)."""
        return self.known[:, 1]

    @property
    def effects(self) -> Floats:
        """Deviations that are looked for, in logit; shape (m, 4)."""
        return self.known[:, 2]

    @property
    def day_variances(self) -> Floats:
        """How much days vary against the others of the column, in logit squared; shape (m, 4)."""
        return self.known[:, 3]

    def with_new(self, names: Sequence[Condition]) -> "ValuePast":
        """Add values that the reference does not know: they are compared with their column."""
        place, seen = {column: i for i, column in enumerate(self.columns)}, {*self.names}
        fresh = [name for name in names if name.column in place and name not in seen]
        fresh = fresh[: max(0, MOST_VALUES - len(self.names))]
        if not fresh:
            return self
        order = sorted([*self.names, *fresh], key=lambda name: place[name.column])
        held = dict(zip(self.names, self.known, strict=True))
        of_values = [held[name] if name in held else self.new[place[name.column]] for name in order]
        before = {name: i for i, name in enumerate(self.names)}
        levels = np.vstack([self.levels, UNKNOWN_LEVEL])[[before.get(name, -1) for name in order]]
        return replace(self, names=tuple(order), known=np.array(of_values), levels=levels)


@dataclass(frozen=True)
class ValueIncident:
    """An open drift of one value of a column.

    Attributes
    ----------
    column, value : str
        Whose.
    opened, started : date
        The day on which its evidence reached the limit, and the estimated first day of the drift.
    kind : str
        The distortion, or how its scores are off; one of
        `monitor.drift.records.detector.INCIDENT_KINDS`.
    size, size_error : float
        The distortion against the other values of the column, in logit, signed, and its standard
        error; as of the last day on which nothing spoke for recovery. Of an error of the level, how
        far the outcomes are from the curve of its own reference.
    evidence : float
        log10, on the day of the opening.
    recovery : float
        log10 of the evidence since the opening that the distortion is gone.
    score, information : float
        Sums since the start along the direction of the kind, each day's over its dispersion.
    beside : tuple of str
        Values of other columns that may be off because they share its rows.
    urgent : bool
        Whether it may page: a distortion always, an error of the level once it is large.
    share : float or None
        Its share of the outcomes, of an error of the level or scores that cannot be compared.
    mean, rate, expected : float or None
        Of these: the mean score of the newest day that says so, the share of its outcomes that are
        positive, and the one that the curve of the reference gives.
    """

    column: str
    value: str
    opened: date
    started: date
    kind: str
    size: float
    size_error: float
    evidence: float
    recovery: float
    score: float
    information: float
    beside: tuple[str, ...] = ()
    urgent: bool = True
    share: float | None = None
    mean: float | None = None
    rate: float | None = None
    expected: float | None = None

    @property
    def name(self) -> Condition:
        """The value."""
        return Condition(self.column, self.value)


def no_level_sums_of(values: int) -> Singles:
    """Begin with no evidence of an error of the level of so many values."""
    return np.zeros((values, no_level_sums().size), np.float32)


@dataclass(frozen=True, eq=False)
class ValueWatch:
    """Accumulated evidence of all values of a model.

    Attributes
    ----------
    reference : date
        First day of the reference that they are compared with.
    past : ValuePast
        What that says of them.
    sums, own : ndarray of shape (m, 8)
        M of each value and kind, against the others of its column and against its own past.
    incidents : tuple of ValueIncident
        The open drifts, in the order of their opening; of each value one at most.
    levels : ndarray of shape (m, 6)
        M of each value for an error of its level, as in `LevelWatch`.
    """

    reference: date
    past: ValuePast
    sums: Singles
    own: Singles
    incidents: tuple[ValueIncident, ...] = ()
    levels: Singles = field(default_factory=lambda: no_level_sums_of(0))

    @property
    def level_evidence(self) -> Floats:
        """log10 of what speaks for an error of the level of each value, at least 0; shape (m,)."""
        return np.asarray(np.log10(np.maximum(1.0, self.levels.astype(np.float64).mean(axis=1))))

    @property
    def evidence(self) -> Floats:
        """log10 of what speaks for a drift of each value, at least 0; shape (m,)."""
        both = np.minimum(self.sums, self.own).astype(np.float64)
        return np.asarray(np.log10(np.maximum(1.0, both @ WEIGHTS)))

    @property
    def ranked(self) -> tuple[ValueIncident, ...]:
        """The open drifts, the clearest first: what cannot be compared needs no evidence."""
        clearest = sorted(
            self.incidents,
            key=lambda i: (i.kind not in NOT_COMPARABLE, -i.evidence, i.column, i.value),
        )
        return tuple(clearest)


@dataclass(frozen=True)
class MovingPriors:
    """A column whose values should have priors of their own.

    Attributes
    ----------
    column : str
        Its name.
    spread : float
        Standard deviation of its values' priors against each other, from day to day, in logit.
    values : tuple of str
        Its values, the most frequent ones first.
    days : int
        The days that were compared.
    """

    column: str
    spread: float
    values: tuple[str, ...]
    days: int
