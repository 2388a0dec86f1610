"""Which drift an alarm reports: a break at one place of the scores, or a distortion of all. Pure.

Rule: the simpler one is named. A break is, where it explains the outcomes since it began better
than every single distortion of the whole curve does, and than scores that all moved alike.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from typing import Any, NamedTuple

import numpy as np

from monitor.drift.curve.label_noise import wrong_labels
from monitor.drift.curve.reference import Reference
from monitor.drift.evidence.directions import day_profiles, no_profiles, rows_of_day
from monitor.drift.evidence.region_evidence import maps_of_cells, region_evidence
from monitor.drift.incidents.broken import (
    LIKELY,
    as_incident,
    break_at,
    leading,
    rows_at,
    size_of,
    with_day,
)
from monitor.drift.incidents.detecting import gain_of_best
from monitor.drift.incidents.label_change import best_shares
from monitor.drift.incidents.start import Start
from monitor.drift.records.detector import OF_REGIONS, WEIGHTS, Detector, Incident
from monitor.drift.records.region_state import Break, RegionWatch
from monitor.metrics.core.coarse import Coarse

SIMPLER = 3.0  # nats by which a break has to explain more than a distortion
MOVES = np.array([-4.0, -3.0, -2.0, -1.5, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0])  # logit
STRETCHES = np.array([0.4, 0.5, 0.6, 0.7, 0.85, 1.2, 1.4, 1.6, 2.0, 2.5])  # of log-odds
MOST_OF_ROWS = 10.0  # nats that the number of rows may add on a day
Spans = Iterable[tuple[date, Mapping[Any, Coarse]]]  # the newest first


class _DaySaid(NamedTuple):
    """What a day said of a break: nats, and its rows there and in all."""

    day: date
    parts: Mapping[Any, Coarse]
    gain: float
    rows: int
    total: int


def broken_instead(
    incident: Incident, detector: Detector, reference: Reference, spans: Callable[[], Spans]
) -> Incident | None:
    """Give the incident that an alarm opens: of a break, if that explains more.

    Parameters
    ----------
    incident : Incident
        That of the directions.
    detector : Detector
        With the evidence that has raised the alarm.
    reference : Reference
        Of the stream.
    spans : function
        What `Today.spans_back` gives.

    Returns
    -------
    Incident or None
        The same one where a distortion explains as much; None where breaks have raised the alarm,
        and scores that all moved alike explain as much, which is a matter of the level.

    Notes
    -----
    With the ratios of the leading hypothesis, and beyond the known scores and at one value those of
    the number of rows there, the start is the day from which on their product is largest, and its
    90 % interval reaches as far as it is at least a quarter of that. Break, distortions and labels
    that changed are compared by the likelihood of all days since then at the best size of each.
    """
    watch = detector.regions
    if watch is None or reference.regions is None or not watch.sums.any():
        return incident
    found, wrong = leading(watch), wrong_labels(reference.noise, detector.noise)
    place, kept = None, list[_DaySaid]()
    for day, parts in spans():
        place = place or break_at(reference, found, parts)
        said = region_evidence(reference.regions, parts, watch.day_variances, wrong=wrong)
        gain = float(said.gains[found.hypothesis])
        kept.append(_DaySaid(day, parts, gain, *rows_at(place, parts)))
    if place is None:
        return incident
    start, length = _start(place, kept, reference)
    profiles = no_profiles()
    moved, stretched = np.zeros(MOVES.size), np.zeros(STRETCHES.size)
    cells = slice(place.first_cell, place.end_cell)
    for _, parts, *_ in kept[:length]:
        place = with_day(place, reference.regions, parts, wrong)
        rows = rows_of_day(reference, parts, wrong)
        profiles += day_profiles(rows, detector.jitters, cautious=True)
        by_map = maps_of_cells(reference.regions, parts, cells, MOVES, STRETCHES)
        moved, stretched = moved + by_map[0], stretched + by_map[1]
    level = float(moved.max())
    labels = (share.gain for share in best_shares(profiles))
    bent = max(gain_of_best(profiles), float(stretched.max()), *labels)
    if size_of(place)[2] <= max(bent, level) + SIMPLER:
        return None if level > bent and _leads(detector, watch) else incident
    return as_incident(place, incident, start)


def _leads(detector: Detector, watch: RegionWatch) -> bool:
    """Say whether breaks have more of the evidence than directions."""
    along = (1.0 - OF_REGIONS) * float((WEIGHTS * detector.sums).sum())
    return OF_REGIONS * watch.evidence > along


def _start(place: Break, kept: Sequence[_DaySaid], reference: Reference) -> tuple[Start, int]:
    """Find the first day of a break, by its outcomes and by how many rows have its scores.

    Also how many of the newest days it has.
    """
    said = np.array([of_day.gain for of_day in kept])
    rows = np.array([of_day.rows for of_day in kept], np.float64)
    totals = np.array([of_day.total for of_day in kept], np.float64)
    usual = place.share_before + 1.0 / reference.counts.counts.sum()
    share = rows[0] / totals[0] if totals[0] else 0.0
    if place.family != "region" and share > usual:
        counted = rows * np.log(share / usual) - totals * (share - usual)
        said = said + np.clip(counted, -MOST_OF_ROWS, MOST_OF_ROWS)
    sums = np.cumsum(said)
    first = int(sums.argmax())
    likely = np.flatnonzero(sums >= sums[first] - LIKELY)
    earliest, latest = (kept[int(likely[end])].day for end in (-1, 0))
    return Start(kept[first].day, earliest, latest), first + 1
