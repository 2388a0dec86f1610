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
from monitor.drift.evidence.history import week_of, with_week, with_weeks
from monitor.drift.evidence.region_evidence import region_evidence
from monitor.drift.records.day_evidence import WrongLabels
from monitor.drift.records.region_state import OF_REGION, OF_VALUE, OF_ZONES, RegionDay, RegionWatch
from monitor.metrics.core.coarse import Coarse

MOST_OF_A_DAY = 1e4  # of one hypothesis: a bound keeps back as little as it takes
GROWTH = 100.0  # of the weighted mean on one day: no day alone raises an alert
MOST_WEEKS, WEEKS_LEFT_OUT = 26, 2  # that say how weeks differ, and the last ones, which do not yet


def watch_regions(
    watch: RegionWatch | None,
    regions: Regions,
    day: date,
    parts: Mapping[Any, Coarse],
    *,
    wrong: WrongLabels | None = None,
    hanging: float = 1.0,
) -> RegionWatch:
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

    Returns
    -------
    RegionWatch
        The same if the day says nothing.
    """
    size, week = regions.centres.size, week_of(day)
    if watch is None or watch.day_variances.size != size:
        none, weeks = np.zeros((0, size), np.float32), np.zeros(0, np.int64)
        sums = np.zeros(OF_REGION * size + OF_ZONES + OF_VALUE)
        watch = RegionWatch(sums, date.min, weeks, none, none, regions.day_variances)
    if not watch.weeks.size or watch.weeks[-1] != week:
        # The last two weeks say nothing yet: a break must not teach that breaks are usual.
        past = slice(int(np.searchsorted(watch.weeks, week - WEEKS_LEFT_OUT)))
        since = watch.weeks[past], watch.scores[past], watch.informations[past]
        watch = replace(watch, day_variances=with_weeks(regions, since))
    said = region_evidence(regions, parts, watch.day_variances, wrong=wrong, hanging=hanging)
    if not said.begun.any():
        return watch
    kept = 1.0 / MOST_OF_A_DAY
    ratios = (1.0 - kept) * np.exp(np.minimum(said.gains, 99.0)) + kept
    ratios = np.where(said.gains == 0.0, 1.0, np.minimum(ratios, MOST_OF_A_DAY))
    now = replace(watch, sums=(watch.sums + said.begun) * ratios, last=day)
    most = min(1.0, GROWTH * (watch.evidence + 1.0) / now.evidence)
    return _remembering(replace(now, sums=now.sums * most), week, said)


def _remembering(watch: RegionWatch, week: int, said: RegionDay) -> RegionWatch:
    """Add a day to its week."""
    weeks, scores = with_week(watch.weeks, watch.scores, week, said.scores.astype(np.float32))
    now = said.informations.astype(np.float32)
    _, informations = with_week(watch.weeks, watch.informations, week, now)
    first = int(np.searchsorted(weeks, week - MOST_WEEKS + 1))
    return replace(
        watch, weeks=weeks[first:], scores=scores[first:], informations=informations[first:]
    )
