"""When evidence is held down, because outcomes hang together. Pure.

Rule: only evidence that would raise an alert is held down, of a first detector and of a second one
alike. So nothing is asked of the past on the days on which there is nothing to say.
"""

from collections.abc import Callable, Sequence
from datetime import date

from monitor.drift.curve.reference import Reference
from monitor.drift.evidence.entities import BucketSums, held_down_by_entities
from monitor.drift.evidence.overlap import held_down_by_overlap
from monitor.drift.fold.inputs import Day
from monitor.drift.records.day_evidence import DayEvidence
from monitor.drift.records.detector import Detector


def held_down(
    detector: Detector,
    evidence: DayEvidence,
    reference: Reference,
    days: Sequence[Day],
    *,
    enough: float,
    sums_of: Callable[[date], BucketSums],
) -> Detector:
    """Let evidence over its limit be no stronger than rows that hang together allow.

    Parameters
    ----------
    detector : Detector
        After `monitor.drift.incidents.detecting.accumulate`.
    evidence : DayEvidence
        What it has accumulated last.
    reference : Reference
        What it was compared with.
    days : sequence of Day
        Of this evidence: one, or those of a span; at least one.
    enough : float
        The evidence at which the stream alerts, log10.
    sums_of : function of a date
        What the buckets of a day say; of all 0 for a day without.

    Returns
    -------
    Detector
        The same below the limit; no kind has more evidence than before.
    """
    if detector.evidence < enough:
        return detector
    if any(day.entities for day in days):
        return held_down_by_entities(detector, evidence, days[-1].day, sums_of)
    if reference.overlap > 1.0:
        return held_down_by_overlap(detector, reference, evidence)
    return detector
