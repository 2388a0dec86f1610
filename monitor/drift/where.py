"""Where a drift sits: which values of which columns left the reference curve. Pure.

Rule 1: a value is compared with itself in the reference, so one that was always off is not found.
Rule 2: every value has a prior of its own every day, so a prior that moves in one of them is no
change of its curve.
Rule 3: a change within the tolerance of the verdict is none. False discoveries are controlled over
the values of all columns together.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from math import hypot, log, nan, sqrt

import numpy as np
from scipy.stats import norm

from monitor.drift.detector import best_slope
from monitor.drift.evidence import KINDS, SLOPES
from monitor.drift.reference import DIRECTIONS, Reference
from monitor.metrics.core.estimate import Estimate
from monitor.metrics.core.grid import Floats
from monitor.metrics.logistic.conditional import score_directions, score_slopes
from monitor.segment_names import OTHER
from monitor.summary import ColumnPart, Columns

FALSE_DISCOVERIES = 0.05  # at most this share of the values that are flagged, on average
LEAST_OF_EACH = 10  # positive and negative outcomes, in each period, before a value is tested
MOST_TOGETHER = 5  # values that are called few
AS_BEFORE = 0.05  # a rest that is at least as likely without a change is as before
LEAST_EXPLAINED = 0.5  # of the evidence, by the values that are said to explain it
NEW_SHARE = 0.01  # of the predictions, from which on a value that is new is said


@dataclass(frozen=True, eq=False)
class Sums:
    """What some rows say of the distortions of a curve; it adds over days and values.

    Attributes
    ----------
    scores, informations, squares : ndarray of shape (4,)
        Along each direction, as in `DayEvidence`; and the squares of each part's information.
    slopes : ndarray of shape (6,)
        As in `DayEvidence`, for independent outcomes.
    rows, hits : int
        Predictions with an outcome in the cells that the reference knows, and positive ones.
    predicted : int
        All predictions.
    """

    scores: Floats
    informations: Floats
    squares: Floats
    slopes: Floats
    rows: int = 0
    hits: int = 0
    predicted: int = 0

    def __add__(self, other: "Sums") -> "Sums":
        """Add up."""
        return _combined(self, other, 1)

    def __sub__(self, other: "Sums") -> "Sums":
        """Take a part away again."""
        return _combined(self, other, -1)


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
class Explanation:
    """Few values of one column without which the rest is as before.

    Attributes
    ----------
    column : str
        The column.
    values : tuple of str
        The values, the one that explains most first.
    share : float
        Of the evidence for the drift, that goes with them; a ratio in [0, 1].
    slope, rest : Estimate or None
        Slope of their outcomes, and of all others, as for a `Place`.
    rows : float
        Their share of the predictions with an outcome.
    """

    column: str
    values: tuple[str, ...]
    share: float
    slope: Estimate | None
    rest: Estimate | None
    rows: float


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
        None if no few values of a column explain the drift, or there is none.
    """

    kind: str
    change: Estimate | None
    places: tuple[Place, ...]
    explanation: Explanation | None

    @property
    def flagged(self) -> tuple[Place, ...]:
        """The values that are off."""
        return tuple(place for place in self.places if place.flagged)


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
    """

    first: date
    last: date
    drifting: bool
    where: Where


def find_where(
    reference: Reference, before: Sequence[Columns], after: Sequence[Columns], kind: str
) -> Where:
    """Compare every value of every column with itself in the reference.

    Parameters
    ----------
    reference : Reference
        Of the whole model.
    before, after : sequence of mapping of str to mapping of str to ColumnPart
        The days of the reference, and those since the drift began.
    kind : str
        The distortion of the drift; see `monitor.drift.evidence.KINDS`.

    Returns
    -------
    Where
        Of these columns.

    Notes
    -----
    Along the direction of the kind, with score U and information I of a value over its days, the
    change is ``d = U1 / I1 - U0 / I0``, its variance ``1 / I1 + 1 / I0`` and what days vary by
    themselves. A value is flagged if ``|d|`` exceeds the tolerance (one test), at a share of 5 %
    false discoveries over all values (Benjamini and Hochberg, JRSS B 57, 1995). The evidence is
    ``(d**2 / variance - 1) / (2 ln 10)``.
    """
    direction = KINDS.index(kind) // 2
    sums = sum_columns(reference, before, after)
    places = [
        place
        for column, (old, now) in sums.items()
        for place in _places(reference, direction, column, old, now)
    ]
    flagged = _flag(reference, direction, places)
    places = sorted(flagged, key=lambda p: (not p.flagged, -p.evidence, p.column, p.value))
    whole = [_whole(old, now) for old, now in sums.values()]
    return Where(
        kind=kind,
        change=change_of(reference, direction, *whole[0]) if whole else None,
        places=tuple(places),
        explanation=_explain(reference, direction, sums, places),
    )


def _combined(one: Sums, other: Sums, sign: int) -> Sums:
    return Sums(
        *(
            getattr(one, name) + sign * getattr(other, name)
            for name in (
                *("scores", "informations", "squares", "slopes"),
                *("rows", "hits", "predicted"),
            )
        )
    )


def sum_columns(
    reference: Reference, before: Sequence[Columns], after: Sequence[Columns]
) -> dict[str, tuple[dict[str, Sums], dict[str, Sums]]]:
    """Add up both periods by column and value."""
    return {
        column: (_sum_days(reference, before, column), _sum_days(reference, after, column))
        for column in dict.fromkeys(name for day in (*before, *after) for name in day)
    }


def nothing() -> Sums:
    """Give the sums of no rows."""
    width = len(DIRECTIONS)
    return Sums(np.zeros(width), np.zeros(width), np.zeros(width), np.zeros(len(SLOPES)))


def _sum_days(reference: Reference, days: Sequence[Columns], column: str) -> dict[str, Sums]:
    found: dict[str, Sums] = {}
    for day in days:
        for value, part in day.get(column, {}).items():
            found[value] = found.get(value, nothing()) + sum_part(reference, part)
    return found


def sum_part(reference: Reference, part: ColumnPart) -> Sums:
    """Say what a part of a day, with one intercept, says of each distortion."""
    inside = (part.cells >= reference.known.start) & (part.cells < reference.known.stop)
    cells, counts, positives = part.cells[inside], part.counts[inside], part.positives[inside]
    rows, hits = int(counts.sum()), int(positives.sum())
    if not 0 < hits < rows:
        none = nothing()
        return Sums(*(none.scores, none.informations, none.squares, none.slopes), rows, hits,
                    part.predicted)  # fmt: skip
    curve = np.ascontiguousarray(reference.curve[cells])
    directions = np.ascontiguousarray(reference.directions[:, cells])
    scores, known = score_directions(curve, counts, positives, directions)
    slopes = score_slopes(curve, counts, positives, directions, np.array(SLOPES))
    return Sums(scores, known, known**2, slopes, rows, hits, part.predicted)


def _whole(old: Mapping[str, Sums], now: Mapping[str, Sums]) -> tuple[Sums, Sums]:
    return sum(old.values(), nothing()), sum(now.values(), nothing())


def _is_enough(sums: Sums) -> bool:
    return min(sums.hits, sums.rows - sums.hits) >= LEAST_OF_EACH


def change_of(reference: Reference, direction: int, old: Sums, now: Sums) -> Estimate | None:
    """Estimate how far the curve moved along a direction, from before to after."""
    if not (_is_enough(old) and _is_enough(now)):
        return None
    value, variance = 0.0, 0.0
    for sums, sign in ((now, 1.0), (old, -1.0)):
        known = float(sums.informations[direction])
        if not known > 0.0:
            return None
        value += sign * float(sums.scores[direction]) / known
        wandering = float(reference.jitters[direction] * sums.squares[direction]) / known**2
        variance += 1.0 / known + wandering
    return Estimate.normal(value, sqrt(variance))


def _evidence(change: Estimate | None) -> float:
    if change is None:
        return 0.0
    return max(0.0, (change.value / change.standard_error) ** 2 - 1.0) / (2.0 * log(10.0))


def exceeding(change: Estimate, tolerance: float) -> float:
    """Return the p-value of a change that is no larger than the tolerance."""
    size, error = abs(change.value), change.standard_error
    return float(norm.sf((size - tolerance) / error) + norm.sf((size + tolerance) / error))


def _places(
    reference: Reference,
    direction: int,
    column: str,
    old: Mapping[str, Sums],
    now: Mapping[str, Sums],
) -> list[Place]:
    total = sum(sums.predicted for sums in now.values())
    changes = {v: change_of(reference, direction, old.get(v, nothing()), now[v]) for v in now}
    weights = {
        v: float(now[v].informations[direction])
        * max(0.0, change.value**2 - change.standard_error**2)
        for v, change in changes.items()
        if change
    }
    everything = sum(weights.values())
    return [
        Place(
            *(column, value, sums.rows, changes[value]),
            slope=relative_slope(old.get(value, nothing()), sums),
            evidence=_evidence(changes[value]),
            share=weights[value] / everything if value in weights and everything else nan,
            new=value != OTHER and value not in old and sums.predicted >= NEW_SHARE * total,
        )
        for value, sums in now.items()
    ]


def relative_slope(old: Sums, now: Sums) -> Estimate | None:
    """Divide the slope on the reference curve by what it was there.

    Rows of one value whose priors differ make it flatter, before and after alike.
    """
    if not (_is_enough(old) and _is_enough(now)):
        return None
    first, last = best_slope(old.slopes, 0.0), best_slope(now.slopes, 0.0)
    if first is None or last is None:
        return None
    ratio = last.value / first.value
    error = hypot(last.standard_error / last.value, first.standard_error / first.value)
    return Estimate.normal(ratio, ratio * error)


def _flag(reference: Reference, direction: int, places: Sequence[Place]) -> list[Place]:
    """Flag the values that are off: Benjamini and Hochberg's procedure over all that are tested."""
    tolerance = float(reference.tolerances[direction])
    tested = [(exceeding(place.change, tolerance), place) for place in places if place.change]
    tested.sort(key=lambda found: (found[0], found[1].column, found[1].value))
    limits = FALSE_DISCOVERIES * (np.arange(len(tested)) + 1.0) / max(1, len(tested))
    below = [i for i, (p, _) in enumerate(tested) if p <= limits[i]]
    last = below[-1] + 1 if below else 0
    chosen = {(place.column, place.value) for _, place in tested[:last]}
    return [
        Place(**{**place.__dict__, "flagged": (place.column, place.value) in chosen})
        for place in places
    ]


def _explain(
    reference: Reference,
    direction: int,
    sums: Mapping[str, tuple[Mapping[str, Sums], Mapping[str, Sums]]],
    places: Sequence[Place],
) -> Explanation | None:
    """Find the fewest values of a column, then the fewest rows, without which all is as before."""
    flagged = dict[str, list[str]]()
    for place in places:
        if place.flagged and place.value != OTHER:
            flagged.setdefault(place.column, []).append(place.value)
    found = [
        explained
        for column, values in flagged.items()
        if (explained := _explain_by(reference, direction, column, sums[column], values))
    ]
    return min(found, key=lambda one: (len(one.values), one.rows), default=None)


def _explain_by(
    reference: Reference,
    direction: int,
    column: str,
    sums: tuple[Mapping[str, Sums], Mapping[str, Sums]],
    values: Sequence[str],
) -> Explanation | None:
    """Leave values out, the most telling first, until the rest is as before."""
    old, now = sums
    rest, whole = _whole(old, now), _whole(old, now)
    evidence = _evidence(change_of(reference, direction, *whole))
    tolerance = float(reference.tolerances[direction])
    for number, value in enumerate(values[:MOST_TOGETHER], 1):
        rest = rest[0] - old[value], rest[1] - now[value]
        change = change_of(reference, direction, *rest)
        if change is None:
            return None
        if exceeding(change, tolerance) < AS_BEFORE:
            continue
        share = 1.0 - _evidence(change) / evidence if evidence else 0.0
        if share < LEAST_EXPLAINED:
            return None
        taken = whole[0] - rest[0], whole[1] - rest[1]
        return Explanation(
            *(column, tuple(values[:number]), share, relative_slope(*taken), relative_slope(*rest)),
            rows=taken[1].rows / whole[1].rows,
        )
    return None
