"""Evidence of a break among the scores, accumulated over days. Pure.

Rule: a watch is a fold over days, as a detector is.

The same e-detector as `monitor.drift.incidents.detecting`: ``M = (M + w) E`` for each hypothesis,
and the families of hypotheses have fixed weights. While nothing breaks, the weighted mean grows by
at most 1 a day on average.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from typing import Any

import numpy as np

from monitor.drift.curve.regions import Regions
from monitor.drift.curve.variance import WEEK, between_week_variances
from monitor.drift.evidence.history import FAR_APART, week_of
from monitor.drift.evidence.region_evidence import LONG_RUN, region_evidence
from monitor.drift.records.day_evidence import WrongLabels
from monitor.drift.records.region_state import OF_REGION, OF_VALUE, OF_ZONES, RegionDay, RegionWatch
from monitor.metrics.core.coarse import Coarse
from monitor.metrics.core.grid import Floats

MOST_OF_A_DAY = 1e4  # of one hypothesis: a bound keeps back as little as it takes
GROWTH = 100.0  # of the weighted mean on one day: no day alone raises an alert
MOST_WEEKS, WEEKS_LEFT_OUT = 26, 2  # that say how weeks differ, and the last ones, which do not yet


def new_watch(regions: Regions) -> RegionWatch:
    """Begin with no evidence of anything."""
    size = regions.centres.size
    none = np.zeros((0, size), np.float32)
    hypotheses = OF_REGION * size + OF_ZONES + OF_VALUE
    return RegionWatch(
        sums=np.zeros(hypotheses),
        last=date.min,
        weeks=np.zeros(0, np.int64),
        scores=none,
        informations=none,
        day_variances=regions.day_variances,
    )


def watch_regions(
    watch: RegionWatch | None,
    regions: Regions,
    day: date,
    parts: Mapping[Any, Coarse],
    *,
    wrong: WrongLabels | None = None,
    hanging: float = 1.0,
) -> tuple[RegionWatch, RegionDay]:
    """Weigh the outcomes of a day, or of a span of days judged together, and accumulate them.

    Parameters
    ----------
    watch : RegionWatch or None
        Of the days before; None begins.
    regions : Regions
        Of the reference.
    day : date
        The first day of the span.
    parts, wrong, hanging
        As for `monitor.drift.evidence.region_evidence.region_evidence`.
    """
    if watch is None or watch.day_variances.size != regions.centres.size:
        watch = new_watch(regions)
    if not watch.weeks.size or watch.weeks[-1] != week_of(day):
        watch = replace(watch, day_variances=learned_variances(regions, watch, day))
    said = region_evidence(regions, parts, watch.day_variances, wrong=wrong, hanging=hanging)
    return accumulated(watch, day, said), said


def accumulated(watch: RegionWatch, day: date, said: RegionDay) -> RegionWatch:
    """Add a day to the evidence of every hypothesis; the same watch if the day says nothing."""
    if not said.begun.any():
        return watch
    kept = 1.0 / MOST_OF_A_DAY
    ratios = (1.0 - kept) * np.exp(np.minimum(said.gains, 99.0)) + kept
    ratios = np.where(said.gains == 0.0, 1.0, np.minimum(ratios, MOST_OF_A_DAY))
    now = replace(watch, sums=(watch.sums + said.begun) * ratios, last=day)
    most = min(1.0, GROWTH * (watch.evidence + 1.0) / now.evidence)
    return _remembering(replace(now, sums=now.sums * most), day, said)


def _remembering(watch: RegionWatch, day: date, said: RegionDay) -> RegionWatch:
    """Add a day to its week."""
    week = week_of(day)
    weeks, rows = watch.weeks, [watch.scores, watch.informations]
    if not weeks.size or weeks[-1] != week:
        weeks = np.append(weeks, week)
        rows = [np.vstack([values, np.zeros((1, values.shape[1]), np.float32)]) for values in rows]
    else:
        rows = [values.copy() for values in rows]
    for values, now in zip(rows, (said.scores, said.informations), strict=True):
        values[-1] += now.astype(np.float32)
    first = int(np.searchsorted(weeks, week - MOST_WEEKS + 1))
    return replace(watch, weeks=weeks[first:], scores=rows[0][first:], informations=rows[1][first:])


def learned_variances(regions: Regions, watch: RegionWatch, day: date) -> Floats:
    """Find the between-day variance of each region from the reference and from the weeks so far.

    Notes
    -----
    As `monitor.drift.evidence.history.learned_day_variances` does along the directions, but the two
    weeks before that of the day say nothing yet: a break must not teach that breaks are usual
    before it is found.
    """
    past = int(np.searchsorted(watch.weeks, week_of(day) - WEEKS_LEFT_OUT))
    own = np.arange(len(regions.scores)) // WEEK - FAR_APART
    numbers = np.concatenate([own, watch.weeks[:past]])
    starts = np.nonzero(np.append(True, numbers[1:] != numbers[:-1]))[0]
    scores, informations = (
        np.add.reduceat(np.vstack([before, since[:past]]), starts)
        for before, since in (
            (regions.scores, watch.scores),
            (regions.informations, watch.informations),
        )
    )
    between = between_week_variances(numbers[starts], scores, informations, regions.day_variances)
    return np.asarray(regions.day_variances + LONG_RUN * WEEK * between)
