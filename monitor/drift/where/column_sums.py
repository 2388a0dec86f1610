"""What the values of columns say of a distortion, as sums over days. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import hypot, log, sqrt
from typing import Any

import numpy as np

from monitor.days.summary import ColumnPart
from monitor.drift.curve.reference import Reference
from monitor.drift.incidents.detecting import best_slope
from monitor.drift.records.day_evidence import DIRECTIONS, SLOPES
from monitor.metrics.core.estimate import Estimate
from monitor.metrics.core.grid import Floats, Ints
from monitor.metrics.core.special import ndtr
from monitor.metrics.logistic.conditional import score_directions, score_slopes

LEAST_OF_EACH = 10  # positive and negative outcomes, in each period, before a value is tested
AS_BEFORE = 0.05  # a rest that is at least as likely without a change is as before

Periods = tuple[Mapping[str, "Sums"], Mapping[str, "Sums"]]  # the values before, and since
DaySums = Mapping[str, Mapping[str, "Sums"]]  # by column and value


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


def _combined(first: Sums, other: Sums, sign: int) -> Sums:
    theirs = vars(other)
    return Sums(**{name: value + sign * theirs[name] for name, value in vars(first).items()})


def in_both(before: DaySums, after: DaySums) -> dict[str, Periods]:
    """Lay the sums of both periods side by side."""
    columns = dict.fromkeys((*before, *after))
    return {column: (before.get(column, {}), after.get(column, {})) for column in columns}


def over_days(days: Sequence[Mapping[str, Mapping[str, Any]]]) -> dict[str, dict[str, Any]]:
    """Add up days by column and value."""
    together = dict[str, dict[str, Any]]()
    for day in days:
        for column, values in day.items():
            held = together.setdefault(column, {})
            for value, sums in values.items():
                held[value] = held[value] + sums if value in held else sums
    return together


def nothing() -> Sums:
    """Give the sums of no rows."""
    width = len(DIRECTIONS)
    return Sums(np.zeros(width), np.zeros(width), np.zeros(width), np.zeros(len(SLOPES)))


def known_rows(reference: Reference, part: ColumnPart) -> tuple[Floats, Ints, Ints, Floats]:
    """Give curve, counts, positives and directions of the rows whose curve is known."""
    inside = (part.cells >= reference.known.start) & (part.cells < reference.known.stop)
    cells, directions = part.cells[inside], reference.directions
    rows = part.counts[inside], part.positives[inside]
    return reference.curve[cells], *rows, np.ascontiguousarray(directions[:, cells])


def sum_part(reference: Reference, part: ColumnPart) -> Sums:
    """Say what a part of a day, with one intercept, says of each distortion."""
    _, counts, positives, _ = known = known_rows(reference, part)
    rows, hits = int(counts.sum()), int(positives.sum())
    if not 0 < hits < rows:
        return replace(nothing(), rows=rows, hits=hits, predicted=part.predicted)
    scores, informations = score_directions(*known)
    slopes = score_slopes(*known, np.array(SLOPES))
    return Sums(scores, informations, informations**2, slopes, rows, hits, part.predicted)


def whole_of(old: Mapping[str, Sums], now: Mapping[str, Sums]) -> tuple[Sums, Sums]:
    """Add up all values of a column, in both periods."""
    return sum(old.values(), nothing()), sum(now.values(), nothing())


def is_enough(sums: Sums) -> bool:
    """Say whether there are enough outcomes of each class for a test."""
    return min(sums.hits, sums.rows - sums.hits) >= LEAST_OF_EACH


def change_of(
    reference: Reference, direction: int, old: Sums, now: Sums, *, new: bool = False
) -> Estimate | None:
    """Estimate how far the curve moved along a direction, from before to after.

    If they may be `new`, rows that the reference lacks are compared with its curve.
    """
    past = is_enough(old)
    if not (is_enough(now) and (past or new)):
        return None
    value, variance = 0.0, 0.0
    for sums, sign in ((now, 1.0), (old, -1.0)) if past else ((now, 1.0),):
        information = float(sums.informations[direction])
        if not information > 0.0:
            return None
        value += sign * float(sums.scores[direction]) / information
        wandering = (
            float(reference.day_variances[direction] * sums.squares[direction]) / information**2
        )
        variance += 1.0 / information + wandering
    return Estimate.normal(value, sqrt(variance))


def evidence_of(change: Estimate | None) -> float:
    """Return log10 of how much better a change fits than none."""
    if change is None:
        return 0.0
    return max(0.0, (change.value / change.standard_error) ** 2 - 1.0) / (2.0 * log(10.0))


def exceeding(change: Estimate, tolerance: float) -> float:
    """Return the p-value of a change that is no larger than the tolerance."""
    return float(all_exceeding(np.array(change.value), change.standard_error, tolerance))


def all_exceeding(changes: Floats, errors: Floats | float, tolerances: Floats | float) -> Floats:
    """Return the same of arrays of changes, with their standard errors, in logit."""
    sizes = np.abs(changes)
    return np.asarray(ndtr((tolerances - sizes) / errors) + ndtr(-(sizes + tolerances) / errors))


def relative_slope(old: Sums, now: Sums) -> Estimate | None:
    """Divide the slope on the reference curve by what it was there.

    Rows of one value whose priors differ make it flatter, before and after alike.
    """
    if not (is_enough(old) and is_enough(now)):
        return None
    first, last = best_slope(old.slopes, 0.0), best_slope(now.slopes, 0.0)
    if first is None or last is None:
        return None
    ratio = last.value / first.value
    error = hypot(last.standard_error / last.value, first.standard_error / first.value)
    return Estimate.normal(ratio, ratio * error)
