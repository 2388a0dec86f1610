"""Where among the scores an open drift is: found, followed from day to day, and recovered. Pure.

Rule: a break is followed at the cells in which it was found, each part of a day with a prior of its
own.
"""

from collections.abc import Mapping
from dataclasses import replace
from math import log, nan, sqrt
from typing import Any, NamedTuple

import numpy as np

from monitor.drift.curve.reference import Reference
from monitor.drift.curve.regions import Regions
from monitor.drift.evidence.directions import SIZES, bounded, highest_of_each
from monitor.drift.evidence.region_evidence import new_values, tilts_of_cells
from monitor.drift.incidents.start import Start
from monitor.drift.records.day_evidence import WrongLabels
from monitor.drift.records.detector import Incident
from monitor.drift.records.region_state import (
    KIND,
    OF_REGION,
    OF_VALUE,
    OF_ZONES,
    Break,
    Family,
    RegionWatch,
)
from monitor.metrics.core.coarse import CENTRES, COARSE_COUNT, Coarse
from monitor.metrics.core.special import expit

TOLERATED, LEAST_SIZE = 0.15, 0.3  # logit: of a break that is over, and of one that lasts
MOST_ROWS = 0.5  # of some scores, at one value: then it is that one
LIKELY = 1.35  # nats: half of the 90 % quantile of a chi-squared, for the interval of a start
LEAST_ROWS = 20  # of the reference, before a share of them is said
TIMES_LESS = 2.0  # the share of a break in the rows is gone where it is as much smaller


class Found(NamedTuple):
    """The hypothesis with most of the evidence, and its family."""

    hypothesis: int
    family: Family


def leading(watch: RegionWatch) -> Found:
    """Give the hypothesis that has most of the evidence."""
    hypothesis = int((watch.weights * watch.sums).argmax())
    of_regions = watch.sums.size - OF_ZONES - OF_VALUE
    if hypothesis < of_regions:
        return Found(hypothesis, "region")
    return Found(hypothesis, "beyond" if hypothesis < of_regions + OF_ZONES else "value")


def break_at(reference: Reference, found: Found, parts: Mapping[Any, Coarse]) -> Break | None:
    """Say where a break is, with no day summed up yet.

    Parameters
    ----------
    reference : Reference
        Of the stream, with regions.
    found : Found
        What `leading` gives.
    parts : mapping to Coarse
        Of the day on which it was found.

    Returns
    -------
    Break or None
        Of several values the one with most rows. None if there is none.
    """
    regions = reference.regions
    cells = _narrowed(regions, _cells(regions, found), parts) if regions else None
    if cells is None:
        return None
    family = "value" if cells.stop == cells.start + 1 else found.family
    return begun_break(family, cells, reference.counts)


def begun_break(family: Family, cells: slice, before: Coarse) -> Break:
    """Begin a break at some cells with no day summed up yet, and with the rows of a reference."""
    rows, hits = int(before.counts[cells].sum()), int(before.positives[cells].sum())
    low, high = _scores_of(cells, one=family == "value")
    return Break(
        *(family, cells.start, cells.stop, low, high),
        share_before=rows / int(before.counts.sum()),
        rate_before=hits / rows if rows >= LEAST_ROWS else nan,
        rows=0,
        hits=0,
        total=0,
        profile=np.zeros(SIZES.size),
        information=0.0,
    )


def _cells(regions: Regions, found: Found) -> slice | None:
    """Give the cells of a hypothesis; None of one value, which may be anywhere."""
    if found.family == "region":
        at, borders = found.hypothesis // OF_REGION, [*regions.starts, regions.known.stop]
        return slice(int(borders[regions.firsts[at]]), int(borders[regions.ends[at]]))
    if found.family == "beyond":
        zone = (found.hypothesis - OF_REGION * regions.centres.size) // 2
        return regions.zones[zone]
    return None


def _narrowed(regions: Regions, cells: slice | None, parts: Mapping[Any, Coarse]) -> slice | None:
    """Give the one new value that holds most rows of some cells, or of all; else the cells."""
    rows = sum((part.counts for part in parts.values()), np.zeros(COARSE_COUNT))
    values = new_values(regions, parts)
    if cells:
        values = values[(values >= cells.start) & (values < cells.stop)]
    if not values.size:
        return cells
    value = int(values[rows[values].argmax()])
    most = cells is None or rows[value] >= MOST_ROWS * rows[cells].sum()
    return slice(value, value + 1) if most else cells


def _scores_of(cells: slice, *, one: bool) -> tuple[float, float]:
    """Give the scores from which and to which cells reach; of one value its own, twice."""
    half = 0.5 * (CENTRES[1] - CENTRES[0])
    if one:
        value = float(expit(CENTRES[cells.start]))
        value = 0.0 if not cells.start else value
        value = 1.0 if cells.stop == COARSE_COUNT else value
        return value, value
    low = 0.0 if not cells.start else float(expit(CENTRES[cells.start] - half))
    high = 1.0 if cells.stop == COARSE_COUNT else float(expit(CENTRES[cells.stop - 1] + half))
    return low, high


def with_day(
    place: Break, regions: Regions, parts: Mapping[Any, Coarse], wrong: WrongLabels | None = None
) -> Break:
    """Add a day to what is known of a break."""
    cells = slice(place.first_cell, place.end_cell)
    information, profile = tilts_of_cells(regions, parts, cells, SIZES, wrong)
    return replace(
        with_rows(place, parts),
        profile=place.profile + profile,
        information=place.information + information,
    )


def with_rows(place: Break, parts: Mapping[Any, Coarse]) -> Break:
    """Add the rows of a day to those of a break, and to all."""
    cells, (rows, total) = slice(place.first_cell, place.end_cell), rows_at(place, parts)
    hits = sum(int(part.positives[cells].sum()) for part in parts.values())
    return replace(place, rows=place.rows + rows, hits=place.hits + hits, total=place.total + total)


def rows_at(place: Break | None, parts: Mapping[Any, Coarse]) -> tuple[int, int]:
    """Count the rows of a day at a break, and all."""
    cells = slice(place.first_cell, place.end_cell) if place else slice(0)
    counts = [part.counts for part in parts.values()]
    return sum(int(of[cells].sum()) for of in counts), sum(int(of.sum()) for of in counts)


def size_of(place: Break) -> tuple[float, float, float]:
    """Give how far the log-odds of a break are off, its error, and what it explains, in nats."""
    [(gain, size)] = highest_of_each(place.profile[np.newaxis])
    error = 1.0 / sqrt(place.information) if place.information > 0.0 else 0.0
    return size, error, gain


def followed(
    incident: Incident,
    reference: Reference,
    parts: Mapping[Any, Coarse],
    *,
    wrong: WrongLabels | None = None,
    day_variance: float = 0.0,
) -> tuple[Incident, float]:
    """Follow an open break over a day.

    Parameters
    ----------
    incident : Incident
        Of the kind `place`.
    reference : Reference
        Of the stream, with regions.
    parts : mapping to Coarse
        Of the day.
    wrong : WrongLabels, optional
        The outcomes that are recorded as their opposite.
    day_variance : float
        The largest between-day variance of a region.

    Returns
    -------
    tuple of Incident and float
        With the day, and log10 of the likelihood that the break is gone over that it is still
        there. What rows there are decides where they are as few again as before; else their
        outcomes do.
    """
    before = incident.place
    if before is None or reference.regions is None:
        return incident, 0.0
    place = with_day(before, reference.regions, parts, wrong)
    size, error, _ = size_of(place)
    gone = _fewer(place, before, reference.regions)
    if gone <= 0.0:
        gone = _recovered(incident, reference.regions, parts, before, wrong, day_variance)
    recovery = float(bounded(np.array(gone / log(10.0))))
    if recovery > 0.0:  # while outcomes speak for recovery, they say nothing of the size
        return incident, recovery
    return replace(incident, place=place, size=size, size_error=error), recovery


def _recovered(
    incident: Incident,
    regions: Regions,
    parts: Mapping[Any, Coarse],
    place: Break,
    wrong: WrongLabels | None,
    day_variance: float,
) -> float:
    sign = 1.0 if incident.size > 0.0 else -1.0
    far = max(abs(incident.size) - 2.0 * incident.size_error, LEAST_SIZE)
    near = min(TOLERATED, 0.5 * far)
    sizes = sign * np.array([near, far])
    cells = slice(place.first_cell, place.end_cell)
    information, profile = tilts_of_cells(regions, parts, cells, sizes, wrong)
    return float(profile[0] - profile[1]) / (1.0 + day_variance * information)


def _fewer(now: Break, before: Break, regions: Regions) -> float:
    """Weigh the usual number of rows against that since the drift began; 0 of a region."""
    rows, total = now.rows - before.rows, now.total - before.total
    usual = before.share_before + 1.0 / regions.rows
    if before.family == "region" or not before.rows or before.share < TIMES_LESS * usual:
        return 0.0
    return rows * log(usual / before.share) + total * (before.share - usual)


def as_incident(place: Break, incident: Incident, start: Start) -> Incident:
    """Make the incident of a break from that of the directions, which it explains better."""
    size, error, _ = size_of(place)
    dated = incident.opened, start.day, start.low, start.high, KIND, incident.evidence
    return Incident(*dated, size=size, size_error=error, place=place)
