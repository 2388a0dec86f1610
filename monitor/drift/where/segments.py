"""Where a drift sits: which values of which columns left the reference curve. Pure.

Rule 1: a value is compared with itself in the reference, so one that was always off is not found.
Rule 2: every value has a prior of its own every day, so a prior that moves in one of them is no
change of its curve.
Rule 3: a change within the tolerance of the verdict is none. False discoveries are controlled over
the values of all columns together.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from math import nan

import numpy as np

from monitor.base.segment_names import OTHER
from monitor.drift.curve.reference import Reference
from monitor.drift.records.day_evidence import KINDS, LabelChange
from monitor.drift.records.places import Condition, Place, Where
from monitor.drift.where.column_sums import (
    Periods,
    Sums,
    change_of,
    evidence_of,
    exceeding,
    nothing,
    relative_slope,
    whole_of,
)
from monitor.drift.where.explaining import NOT_SHARED, explain
from monitor.drift.where.value_sets import AllSums

FALSE_DISCOVERIES = 0.05  # at most this share of the values that are flagged, on average
NEW_SHARE = 0.01  # of the predictions, from which on a value that is new is said


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


def where_of(
    reference: Reference,
    sums: Mapping[str, Periods],
    kind: str,
    held: Sequence[Condition] = (),
    shared: AllSums = NOT_SHARED,
) -> Where:
    """Compare every value of every column with itself in the reference.

    Parameters
    ----------
    reference : Reference
        Of the whole model.
    sums : mapping of str to Periods
        Of each column, over the days of the reference and over those since the drift began.
    kind : str
        The distortion of the drift; see `monitor.drift.records.day_evidence.KINDS`.
    held, shared
        As for `monitor.drift.where.explaining.explain`.

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
    explanation = explain(reference, sums, held, shared)
    kind = explanation.kind if explanation else kind
    direction = KINDS.index(kind) // 2
    places = [
        place
        for column, (old, now) in sums.items()
        for place in _places(reference, direction, column, old, now)
    ]
    flagged = _flag(reference, direction, places)
    places = sorted(flagged, key=lambda p: (not p.flagged, -p.evidence, p.column, p.value))
    whole = [whole_of(old, now) for old, now in sums.values()]
    return Where(
        kind=kind,
        change=change_of(reference, direction, *whole[0]) if whole else None,
        places=tuple(places),
        explanation=explanation,
    )


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
            evidence=evidence_of(changes[value]),
            share=weights[value] / everything if value in weights and everything else nan,
            new=value != OTHER and value not in old and sums.predicted >= NEW_SHARE * total,
        )
        for value, sums in now.items()
    ]


def _flag(reference: Reference, direction: int, places: Sequence[Place]) -> list[Place]:
    """Flag the values that are off: Benjamini and Hochberg's procedure over all that are tested."""
    tolerance = float(reference.tolerances[direction])
    tested = [(exceeding(place.change, tolerance), place) for place in places if place.change]
    tested.sort(key=lambda test: (test[0], test[1].column, test[1].value))
    limits = FALSE_DISCOVERIES * (np.arange(len(tested)) + 1.0) / max(1, len(tested))
    below = [i for i, (p, _) in enumerate(tested) if p <= limits[i]]
    last = below[-1] + 1 if below else 0
    chosen = {(place.column, place.value) for _, place in tested[:last]}
    return [replace(p, flagged=(p.column, p.value) in chosen) for p in places]
