"""A search for the conditions under which a drift sits, one after the other. Pure.

Rule: what is found on one half of the days is confirmed on the other, which took no part in the
search. So it does not matter how many conditions were tried.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log, nan

from monitor.base.segment_names import OTHER
from monitor.drift.curve.reference import Reference
from monitor.drift.records.day_evidence import KINDS
from monitor.drift.records.places import Condition
from monitor.drift.where.column_sums import (
    AS_BEFORE,
    Periods,
    Sums,
    change_of,
    exceeding,
    nothing,
    relative_slope,
    whole_of,
)
from monitor.metrics.core.estimate import Estimate

DEEPEST = 3  # conditions


@dataclass(frozen=True)
class Found:
    """What a search found.

    Attributes
    ----------
    conditions : tuple of Condition
        All of them together describe the rows; empty if no condition tells more than the whole.
    searched, confirmed_on : int
        Days of each half, with those of the reference.
    slope, rest : Estimate or None
        On the other half: slope of these rows against their own reference, and of all others.
    p_value : float
        On the other half: of a change that is within the tolerance; nan if there is none.
    rows : float
        Share of the outcomes that these rows have, on the other half.
    kind : str
        The distortion that was found; empty if no condition was.
    """

    conditions: tuple[Condition, ...]
    searched: int
    confirmed_on: int
    slope: Estimate | None = None
    rest: Estimate | None = None
    p_value: float = nan
    rows: float = nan
    kind: str = ""

    @property
    def confirmed(self) -> bool:
        """Whether the other half says so too."""
        return self.p_value < AS_BEFORE


def best_condition(
    reference: Reference,
    kinds: Sequence[str],
    sums: Mapping[str, Periods],
) -> tuple[Condition, str] | None:
    """Find the value whose rows moved more clearly than all rows together, and how.

    Parameters
    ----------
    reference : Reference
        As for `monitor.drift.where.segments.where_of`.
    kinds : sequence of str
        The distortions that are looked for, in either direction.
    sums : mapping of str to (mapping, mapping)
        The values of every column, over the days of the reference and over later days; of the rows
        that meet the conditions so far.

    Returns
    -------
    (Condition, str) or None
        The value and its kind. None if along no direction a value has ``z**2`` larger than that of
        all rows by ``2 log m``, with m the number of comparisons over all directions.
    """
    directions = sorted({KINDS.index(kind) // 2 for kind in kinds})
    changes = {
        (Condition(column, value), direction): change
        for column, (old, now) in sums.items()
        for value in now
        if value != OTHER and value in old
        for direction in directions
        if (change := change_of(reference, direction, old[value], now[value]))
    }
    if not changes:
        return None
    together = whole_of(*next(iter(sums.values())))
    wholes = {j: change_of(reference, j, *together) for j in directions}
    clear = {
        place: _clarity(change)
        for place, change in changes.items()
        if _clarity(change) > _clarity(wholes[place[1]]) + 2.0 * log(len(changes))
    }
    if not clear:
        return None
    best = max(clear, key=lambda place: (clear[place], place[0].column, place[0].value))
    return best[0], KINDS[2 * best[1] + (changes[best].value > 0.0)]


def confirm(
    reference: Reference,
    kind: str,
    conditions: Sequence[Condition],
    inside: tuple[Sequence[Sums], Sequence[Sums]],
    outside: tuple[Sequence[Sums], Sequence[Sums]],
    *,
    searched: int,
) -> Found:
    """Test what was found on days that took no part in the search.

    Parameters
    ----------
    reference : Reference
        As for `best_condition`.
    kind : str
        The distortion that was found.
    conditions : sequence of Condition
        What was found.
    inside, outside : tuple of sequences of Sums
        The rows that meet them and all others: days of the reference, and later days.
    searched : int
        Number of days of the search.
    """
    direction = KINDS.index(kind) // 2
    kept, rest = ([sum(days, nothing()) for days in parts] for parts in (inside, outside))
    change = change_of(reference, direction, *kept)
    tolerance = float(reference.tolerances[direction])
    total = kept[1].rows + rest[1].rows
    return Found(
        tuple(conditions),
        searched,
        len(inside[0]) + len(inside[1]),
        slope=relative_slope(*kept),
        rest=relative_slope(*rest),
        p_value=exceeding(change, tolerance) if change else nan,
        rows=kept[1].rows / total if total else nan,
        kind=kind,
    )


def _clarity(change: Estimate | None) -> float:
    return (change.value / change.standard_error) ** 2 if change else 0.0
