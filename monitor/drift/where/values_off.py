"""Which values of which columns moved, and which few of them explain the whole. Pure.

Rule 1: a value is compared with itself in the reference, so one that was always off is not found.
Rule 2: every value has a prior of its own every day, so a prior that moves in one of them is no
change of its curve.
Rule 3: a change within the tolerance of the verdict is none. False discoveries are controlled over
the values of all columns together.
Rule 4: a distortion, an error of the level and a break at one place of the scores are looked for in
the same way. Few values explain the last two if without them the rest of the rows is as before; of
a distortion, which has several directions, see `monitor.drift.where.explaining`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import inf, isnan, log10, nan, sqrt
from typing import NamedTuple

import numpy as np

from monitor.base.segment_names import OTHER
from monitor.days.summary import ColumnPart, Columns
from monitor.drift.curve.reference import Reference
from monitor.drift.curve.regions import Regions
from monitor.drift.evidence.region_evidence import tilts_of_cells
from monitor.drift.incidents.level_watch import HALF
from monitor.drift.records.day_evidence import direction_of
from monitor.drift.records.detector import LEVEL_KINDS, Incident
from monitor.drift.records.places import Condition, Explanation, Place, Where
from monitor.drift.records.region_state import Break, Family
from monitor.drift.where.column_sums import (
    AS_BEFORE,
    LEAST_OF_EACH,
    Periods,
    change_of,
    evidence_of,
    exceeding,
    nothing,
    relative_slope,
    whole_of,
)
from monitor.drift.where.explaining import (
    CHANCE,
    LEAST_EXPLAINED,
    MOST_ROWS,
    MOST_TOGETHER,
    NOT_SHARED,
    AllSums,
    explain,
)
from monitor.drift.where.part_counts import coarse_of_parts
from monitor.drift.where.value_past import KAPPA, ROWS, SHIFT, value_levels
from monitor.metrics.core.estimate import Estimate
from monitor.metrics.core.grid import Floats

FALSE_DISCOVERIES = 0.05  # at most this share of the values that are flagged, on average
NEW_SHARE = 0.01  # of the predictions, from which on a value that is new is said
OF_LEVEL, OF_TILT, OF_ROWS = 0.1, 0.15, 0.7  # logit: what is tolerated of each measure
OF_EACH = 5  # sums, at most
CLEAR = 2.0  # standard errors by which a distortion must be smaller within values to be gone
STEP = 0.1  # logit: of a tilt, about none, whose likelihood gives score and information

Cells = tuple[Family, int, int]  # of a break, the end cell is the one after the last
ValueSums = Mapping[str, Mapping[str, Floats]]  # by column and value: outcomes, then what adds up
Tested = tuple[Place, float, float]  # with its p-value and its weight, nan of one without a change


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
    direction = direction_of(kind)
    tested = list[Tested]()
    for column, (old, now) in sums.items():
        total = sum(of.predicted for of in now.values())
        for value, of in now.items():
            before = old.get(value, nothing())
            change, chance, weight = change_of(reference, direction, before, of), nan, nan
            if change:
                chance = exceeding(change, float(reference.tolerances[direction]))
                beyond = max(0.0, change.value**2 - change.standard_error**2)
                weight = float(of.informations[direction]) * beyond
            place = Place(
                *(column, value, of.rows, change),
                slope=relative_slope(before, of),
                evidence=evidence_of(change),
                new=value != OTHER and value not in old and of.predicted >= NEW_SHARE * total,
            )
            tested.append((place, chance, weight))
    wholes = (whole_of(old, now) for old, now in sums.values())
    change = next((change_of(reference, direction, *whole) for whole in wholes), None)
    return Where(kind, change, _ranked(tested), explanation)


def _ranked(tested: Sequence[Tested]) -> tuple[Place, ...]:
    """Flag the values that are off, and put them first, then those with most evidence.

    Benjamini and Hochberg's procedure over all that are tested.
    """
    chances = np.sort([chance for _, chance, _ in tested if not isnan(chance)])
    limits = FALSE_DISCOVERIES * (np.arange(chances.size) + 1.0) / max(1, chances.size)
    least = max(chances[chances <= limits], default=-1.0)
    totals = dict[str, float]()
    for place, _, weight in tested:
        known = 0.0 if isnan(weight) else weight
        totals[place.column] = totals.get(place.column, 0.0) + known
    places = [
        replace(
            place,
            flagged=bool(chance <= least),
            share=weight / totals[place.column] if totals[place.column] else nan,
        )
        for place, chance, weight in tested
    ]
    return tuple(sorted(places, key=lambda p: (not p.flagged, -p.evidence, p.column, p.value)))


class Measure(NamedTuple):
    """How what moved in some rows is measured, from their sums in the reference and since.

    All estimates must be off for the rows to be; the first one is told.
    """

    kind: str
    tolerance: float
    estimates: Callable[[Floats, Floats], Sequence[Estimate] | None]

    def chance(self, moved: Sequence[Estimate]) -> float:
        """Give the p-value of what is within the tolerance: of the estimate that says least."""
        return max(exceeding(estimate, self.tolerance) for estimate in moved)


class _Value(NamedTuple):
    condition: Condition
    old: Floats
    now: Floats
    moved: Sequence[Estimate]

    @property
    def evidence(self) -> float:
        return _evidence(self.moved)


def _evidence(moved: Sequence[Estimate]) -> float:
    return min(evidence_of(estimate) for estimate in moved)


def level_sums(reference: Reference, columns: Columns) -> ValueSums:
    """Sum up what the values of a day say of their levels."""
    found = dict[str, dict[str, Floats]]()
    for column, values in columns.items():
        levels = value_levels(reference, [*values.values()])
        found[column] = dict(zip(values, levels[:, [ROWS, 0, 2, 1, 3]], strict=True))
    return found


def of_level(kind: str, variances: Floats, days: tuple[int, int]) -> Measure:
    """Measure an error of the level: D, and the part that the base rate leaves over.

    Parameters
    ----------
    kind : str
        One of `LEVEL_KINDS`.
    variances : ndarray of shape (2,)
        How far both move by themselves from day to day.
    days : tuple of int
        Number of days of the reference, and since.
    """
    sign = -1.0 if kind == LEVEL_KINDS[0] else 1.0

    def estimates(old: Floats, now: Floats) -> Sequence[Estimate] | None:
        moved = []
        for i in (SHIFT, KAPPA):
            before, after = old[1 + 2 * i : 3 + 2 * i], now[1 + 2 * i : 3 + 2 * i]
            if not (before[1] > 0.0 and after[1] > 0.0):
                return None
            variance = 1.0 / before[1] + 1.0 / after[1] + variances[i] * sum(1.0 / n for n in days)
            moved.append(
                Estimate.normal(after[0] / after[1] - before[0] / before[1], sqrt(variance))
            )
        shift, kappa = moved
        explained = sign * kappa.value <= HALF * sign * shift.value or sign * shift.value <= 0.0
        return [shift, Estimate.normal(0.0, kappa.error)] if explained else moved

    return Measure(kind, OF_LEVEL, estimates)


def place_sums(
    reference: Reference, columns: Columns, family: Family, first: int, end: int
) -> ValueSums:
    """Sum up what the values of a day say of a break: of a region its tilt, else its rows.

    Parameters
    ----------
    reference, columns : Reference, Columns
        Of the whole, and the day's.
    family, first, end : str, int, int
        The family, first cell and end cell of the `Break`.
    """
    regions = reference.regions if family == "region" else None
    return {
        column: {value: _at_place(regions, part, first, end) for value, part in values.items()}
        for column, values in columns.items()
    }


def _at_place(regions: Regions | None, part: ColumnPart, first: int, end: int) -> Floats:
    rows = float(part.counts.sum())
    if regions is None:
        there = (part.cells >= first) & (part.cells < end)
        return np.array([rows, part.counts[there].sum()], np.float64)
    parts, steps = {"": coarse_of_parts([part])}, np.array([-STEP, STEP])
    _, (below, above) = tilts_of_cells(regions, parts, slice(first, end), steps)
    information = -(below + above) / STEP**2
    return np.array([rows, (above - below) / (2.0 * STEP), max(0.0, information)])


def of_place(kind: str, place: Break) -> Measure:
    """Measure a break: the tilt of a region, else the log-odds of rows to have such scores."""

    def tilt(old: Floats, now: Floats) -> Sequence[Estimate] | None:
        if not min(old[2], now[2]) > 0.0:
            return None
        return [
            Estimate.normal(now[1] / now[2] - old[1] / old[2], sqrt(1.0 / now[2] + 1.0 / old[2]))
        ]

    def rows(old: Floats, now: Floats) -> Sequence[Estimate] | None:
        if min(old[0], now[0]) < LEAST_OF_EACH:
            return None
        counts = np.array([now[1], now[0] - now[1], old[1], old[0] - old[1]]) + 0.5
        logs = np.log(counts)
        change = logs[0] - logs[1] - logs[2] + logs[3]
        return [Estimate.normal(float(change), sqrt(float((1.0 / counts).sum())))]

    region = place.family == "region"
    return Measure(kind, OF_TILT if region else OF_ROWS, tilt if region else rows)


def as_before_within(reference: Reference, sums: AllSums, incident: Incident) -> list[str]:
    """List the columns within whose values, each with a level of its own, no distortion is left.

    Then it is no distortion: where the level of some values moved, all rows together look bent.
    """
    direction = direction_of(incident.kind)
    tolerance, found = float(reference.tolerances[direction]), list[str]()
    for column, both in sums.items():
        change = change_of(reference, direction, *whole_of(*both))
        size = abs(incident.size) - (abs(change.value) if change else inf)
        left = change is not None and exceeding(change, tolerance) < AS_BEFORE
        if change and not left and size > max(HALF * abs(incident.size), CLEAR * change.error):
            found.append(column)
    return found


def where_else(measure: Measure, old: ValueSums, now: ValueSums) -> Where:
    """Compare every value of every column with itself, and find few that explain the whole.

    Parameters
    ----------
    measure : Measure
        `of_level`, or `of_place`.
    old, now : mapping of str to mapping
        Sums over the days of the reference, and over those since the start.

    Returns
    -------
    Where
        Of all values; the change of each is what is measured, in logit.

    Notes
    -----
    A value is flagged if all its estimates exceed the tolerance at a share of 5 % false discoveries
    (Benjamini and Hochberg, JRSS B 57, 1995). The values of a column that are off beyond chance of
    all values explain the whole if they are five at most, have at most half of its rows, and what
    moved in the rest, measured on the sums of all other values, is within the tolerance
    (p >= 0.05) and at most half of the evidence. Of several columns the one with most evidence,
    less log10 of the number of values for each, is named.
    """
    values = [
        _Value(Condition(column, value), old[column][value], sums, moved)
        for column in old
        for value, sums in now.get(column, {}).items()
        if value in old[column] and (moved := measure.estimates(old[column][value], sums))
    ]
    tested = list[Tested]()
    for of in values:
        named = of.condition.column, of.condition.value
        place = Place(*named, int(of.now[0]), of.moved[0], evidence=of.evidence)
        # The squared change beyond chance, weighed by its information.
        weight = max(0.0, (of.moved[0].value / of.moved[0].error) ** 2 - 1.0)
        tested.append((place, measure.chance(of.moved), weight))
    tried = sum(len(of) for of in now.values())
    found = [
        explained
        for column in old
        if (explained := _explained(measure, column, values, tried, old, now))
    ]
    explanation = max(found, key=lambda each: each[0])[1] if found else None
    wholes = (measure.estimates(*_whole(old, now, column, ())) for column in old)
    whole = next((each[0] for each in wholes if each), None)
    return Where(measure.kind, whole, _ranked(tested), explanation)


def _whole(
    old: ValueSums, now: ValueSums, column: str, without: Sequence[Condition]
) -> tuple[Floats, Floats]:
    """Add up the values of a column, but for some."""
    gone = {condition.value for condition in without}
    both = (
        [sums for value, sums in of.get(column, {}).items() if value not in gone]
        for of in (old, now)
    )
    before, after = (np.sum(sums, axis=0) if sums else np.zeros(OF_EACH) for sums in both)
    return before, after


def _explained(
    measure: Measure,
    column: str,
    values: Sequence[_Value],
    tried: int,
    old: ValueSums,
    now: ValueSums,
) -> tuple[float, Explanation] | None:
    """Explain the whole by few values of a column, if the rest is as before; and how clearly."""
    every = _whole(old, now, column, ())
    whole = measure.estimates(*every)
    if not whole:
        return None
    chosen = [
        v
        for v in values
        if v.condition.column == column
        and v.condition.value != OTHER
        and v.moved[0].value * whole[0].value > 0.0
        and measure.chance(v.moved) <= CHANCE / tried
    ]
    chosen.sort(key=lambda v: -v.evidence)
    conditions, evidence = tuple(v.condition for v in chosen), _evidence(whole)
    rest = measure.estimates(*_whole(old, now, column, conditions))
    rows = sum(float(v.now[0]) for v in chosen) / float(every[1][0])
    few = 0 < len(chosen) <= MOST_TOGETHER and rows <= MOST_ROWS
    if not (few and rest and evidence) or measure.chance(rest) < AS_BEFORE:
        return None
    share = 1.0 - _evidence(rest) / evidence
    if share < LEAST_EXPLAINED:
        return None
    before, after = (np.sum([getattr(v, of) for v in chosen], axis=0) for of in ("old", "now"))
    size = (measure.estimates(before, after) or chosen[0].moved)[0].value
    found = Explanation(conditions, share, None, None, rows, kind=measure.kind, size=size)
    return sum(v.evidence - log10(tried) for v in chosen), found
