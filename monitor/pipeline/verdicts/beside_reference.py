"""A day that is not stored, beside its reference: what `check` says of its scores."""

from monitor.base.segment_names import WHOLE
from monitor.config import Config
from monitor.days.summary import NO_SAMPLE, Summary
from monitor.drift.curve.reference import Reference
from monitor.drift.fold.inputs import inputs_of, parts_of_stream, prevalence_of, reference_of_day
from monitor.drift.incidents.score_moves import scores_since
from monitor.drift.records.facts import Scores
from monitor.pipeline.verdicts.reading import next_days_are_unlike
from monitor.pipeline.verdicts.references import read_references


def scores_beside_reference(config: Config, name: str, summary: Summary) -> Scores | None:
    """Compare the scores of a day with those of its reference, without writing anything.

    None of a day without a reference before it, of classes, of a sample by class, and of a day
    that is read otherwise than its reference.
    """
    day = inputs_of(summary)
    if day.classes or day.class_weights != NO_SAMPLE or next_days_are_unlike(config, name):
        return None
    reference = reference_of_day(day.day, read_references(config, name, keep=False).fitted)
    own = reference.streams.get(WHOLE) if reference else None
    parts = parts_of_stream(day, WHOLE)
    if reference is None or reference.last >= day.day or not isinstance(own, Reference):
        return None
    if not any(part.counts.any() for part in parts.values()):
        return None
    return scores_since(own, parts, prevalence_of([day], WHOLE))
