"""Which few values explain a drift: without them the rest is as before. Pure."""

from collections.abc import Callable, Mapping, Sequence
from math import sqrt

import numpy as np

from monitor.drift.column_sums import (
    AS_BEFORE,
    Periods,
    Sums,
    change_of,
    evidence_of,
    exceeding,
    nothing,
    relative_slope,
    whole_of,
)
from monitor.drift.places import Condition, Explanation, Place
from monitor.drift.reference import Reference
from monitor.metrics.core.estimate import Estimate
from monitor.metrics.core.grid import Floats
from monitor.segment_names import CROSSED, OTHER

MOST_TOGETHER = 5  # values that are called few
MOST_TRIED = 50  # values, the clearest ones, of which a few are combined
LEAST_EXPLAINED = 0.5  # of the evidence, by the values that are said to explain it
LEAST_REST = 0.1  # of the information: from less, "as before" would only mean that it is small

AllSums = Mapping[str, Periods]  # by column


def explain(
    reference: Reference, direction: int, sums: AllSums, places: Sequence[Place]
) -> Explanation | None:
    """Find the fewest values, then the fewest rows, without which all is as before.

    Parameters
    ----------
    reference : Reference
        Of the whole model.
    direction : int
        Of the drift; a row of the reference's directions.
    sums : mapping of str to (mapping, mapping)
        The values of every column, in the reference and since the drift began.
    places : sequence of Place
        The values, the clearest first.

    Returns
    -------
    Explanation or None
        Values of one column, or of several that are no crossings.
    """
    flagged = dict[str, list[str]]()
    for place in places:
        if place.flagged and place.value != OTHER:
            flagged.setdefault(place.column, []).append(place.value)
    explanations = [
        explained
        for column, values in flagged.items()
        if (explained := _by_column(reference, direction, column, sums[column], values))
    ]
    tried = [
        Condition(p.column, p.value)
        for p in places
        if p.flagged and p.value != OTHER and CROSSED not in p.column
    ]
    if len({condition.column for condition in tried}) > 1:
        together = _together(reference, direction, sums, tried[:MOST_TRIED])
        explanations += [together] if together else []
    return min(explanations, key=lambda e: (len(e.conditions), e.rows), default=None)


def _by_column(
    reference: Reference,
    direction: int,
    column: str,
    sums: Periods,
    values: Sequence[str],
) -> Explanation | None:
    """Leave values out, the most telling first, until the rest is as before."""
    old, now = sums
    rest, whole = whole_of(old, now), whole_of(old, now)
    evidence = evidence_of(change_of(reference, direction, *whole))
    for number, value in enumerate(values[:MOST_TOGETHER], 1):
        rest = rest[0] - old[value], rest[1] - now[value]
        change = change_of(reference, direction, *rest)
        known = rest[1].informations[direction] / whole[1].informations[direction]
        if change is None or known < LEAST_REST:
            return None
        if not _is_as_before(reference, direction, change):
            continue
        taken = whole[0] - rest[0], whole[1] - rest[1]
        return _explanation(
            [Condition(column, one) for one in values[:number]],
            evidence=(evidence_of(change), evidence),
            slopes=(relative_slope(*taken), relative_slope(*rest)),
            rows=taken[1].rows / whole[1].rows,
        )
    return None


def _together(
    reference: Reference, direction: int, sums: AllSums, tried: Sequence[Condition]
) -> Explanation | None:
    """Take one value after the other, of any column, that leaves the least in the rest."""
    whole = whole_of(*sums[tried[0].column])
    evidence = evidence_of(change_of(reference, direction, *whole))
    chosen: list[Condition] = []
    while len(chosen) < MOST_TOGETHER:
        rests = {
            condition: rest
            for condition in tried
            if condition not in chosen
            and (rest := change_without(reference, direction, sums, [*chosen, condition]))
        }
        if not rests:
            return None
        best = min(rests, key=lambda condition: evidence_of(rests[condition]))
        chosen.append(best)
        if not _is_as_before(reference, direction, rests[best]):
            continue
        slope = Estimate.normal(1.0 + rests[best].value, rests[best].standard_error)
        return _explanation(
            chosen,
            evidence=(evidence_of(rests[best]), evidence),
            slopes=(None, slope if direction == 0 else None),
            rows=_share_of_rows(sums, chosen),
        )
    return None


def _is_as_before(reference: Reference, direction: int, change: Estimate) -> bool:
    return exceeding(change, float(reference.tolerances[direction])) >= AS_BEFORE


def _explanation(
    conditions: Sequence[Condition],
    *,
    evidence: tuple[float, float],
    slopes: tuple[Estimate | None, Estimate | None],
    rows: float,
) -> Explanation | None:
    """Explain by conditions; None if they leave more than half of the evidence."""
    rest, whole = evidence
    share = 1.0 - rest / whole if whole else 0.0
    if share < LEAST_EXPLAINED:
        return None
    return Explanation(tuple(conditions), share, *slopes, rows=rows)


def change_without(
    reference: Reference, direction: int, sums: AllSums, conditions: Sequence[Condition]
) -> Estimate | None:
    """Estimate the change of the rows that meet none of some conditions.

    Parameters
    ----------
    reference, direction, sums
        As for `explain`.
    conditions : sequence of Condition
        Values of one or several columns.

    Returns
    -------
    Estimate or None
        None if the rest says too little.

    Notes
    -----
    One step of a logistic regression with a change for the rest and a further one for each
    condition: in each period ``M b = u``, where u holds the score of all rows and of the rows of
    each condition, and M their information and that of the rows that they share. Values of one
    column share no rows, so b of the rest is ``(U - U_v) / (I - I_v)``. What two columns share is
    known where their crossing is counted; otherwise they count as independent.
    """
    value, variance = 0.0, 0.0
    for period, sign in ((1, 1.0), (0, -1.0)):
        parts = [
            sums[condition.column][period].get(condition.value, nothing())
            for condition in conditions
        ]
        whole = sum(sums[conditions[0].column][period].values(), nothing())
        shared = _shared(
            *(sums, period, conditions),
            [float(part.informations[direction]) for part in (whole, *parts)],
            lambda part: float(part.informations[direction]),
        )
        scores = np.array([part.scores[direction] for part in (whole, *parts)])
        try:
            inverse = np.linalg.inv(shared)
        except np.linalg.LinAlgError:
            return None
        information = 1.0 / inverse[0, 0] if inverse[0, 0] > 0.0 else 0.0
        if information < LEAST_REST * shared[0, 0]:
            return None
        value += sign * float(inverse[0] @ scores)
        wandering = (
            reference.day_variances[direction] * whole.squares[direction] / shared[0, 0] ** 2
        )
        variance += 1.0 / information + float(wandering)
    return Estimate.normal(value, sqrt(variance))


def _shared(
    sums: AllSums,
    period: int,
    conditions: Sequence[Condition],
    sizes: Sequence[float],
    size: Callable[[Sums], float],
) -> Floats:
    """Lay out what the whole and each condition have in common, given the size of each."""
    matrix = np.diag(np.array(sizes))
    matrix[0, 1:] = matrix[1:, 0] = sizes[1:]
    for i, one in enumerate(conditions, 1):
        for j, other in enumerate(conditions[: i - 1], 1):
            if one.column == other.column:
                continue
            crossed = _crossed(sums, period, one, other)
            common = size(crossed) if crossed else sizes[i] * sizes[j] / sizes[0]
            matrix[i, j] = matrix[j, i] = min(common, sizes[i], sizes[j])
    return matrix


def _crossed(sums: AllSums, period: int, one: Condition, other: Condition) -> Sums | None:
    """Find the rows that meet both conditions, if their columns are crossed."""
    for first, second in ((one, other), (other, one)):
        values = sums.get(f"{first.column}{CROSSED}{second.column}")
        if values:
            return values[period].get(f"{first.value}{CROSSED}{second.value}")
    return None


def _share_of_rows(sums: AllSums, conditions: Sequence[Condition]) -> float:
    """Estimate the share of the outcomes that meet any condition, up to shares of three."""
    parts = [sums[condition.column][1].get(condition.value, nothing()) for condition in conditions]
    whole = sum(sums[conditions[0].column][1].values(), nothing())
    sizes = [float(part.rows) for part in (whole, *parts)]
    shared = _shared(sums, 1, conditions, sizes, lambda part: float(part.rows))
    twice = np.triu(shared[1:, 1:], 1).sum()
    return float(min(1.0, (sum(sizes[1:]) - twice) / sizes[0]))
