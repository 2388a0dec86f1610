"""The name of a drift by the outcomes of the values that explain it. Pure.

Labels that are lost on one device bend the curve of all rows otherwise than that of the device, so
the drift of a whole is named by the rows that it sits in.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from monitor.days.summary import Columns
from monitor.drift.curve.reference import Reference, fit_reference, what_a_reference_lacks
from monitor.drift.evidence.directions import day_profiles, no_profiles, rows_of_day
from monitor.drift.incidents.label_change import label_change
from monitor.drift.records.places import Condition
from monitor.drift.records.verdict import OF_LABELS, Verdict
from monitor.drift.where.part_counts import coarse_of_parts
from monitor.metrics.core.coarse import Coarse

NAMED_BY_SHAPE = OF_LABELS | {"calibration_drift"}  # of an open drift, whether of labels or not
Outcomes = Mapping[str, Coarse]  # of a day, by value


def values_that_name(whole: Verdict) -> tuple[Condition, ...]:
    """Give the values by whose outcomes the drift of a whole is named.

    None where no values explain it, where they are of several columns, where it is at one place,
    or where the scores spread otherwise than in the reference.
    """
    found, bent, scores = whole.explanation, whole.distortion, whole.facts.scores
    if not (found and bent and bent is whole.incident and not bent.place):
        return ()
    alike = scores is not None and scores.spreads_alike
    of_one_column = len({condition.column for condition in found.every}) == 1
    return found.every if whole.state in NAMED_BY_SHAPE and alike and of_one_column else ()


def outcomes_of_values(columns: Columns, conditions: Sequence[Condition]) -> Outcomes:
    """Give the outcomes of some values of a column on a day, each with a prior of its own."""
    values = columns.get(conditions[0].column, {})
    return {
        condition.value: coarse_of_parts([part])
        for condition in conditions
        if (part := values.get(condition.value)) and part.cells.size
    }


def named_by_outcomes(
    whole: Verdict, reference: Reference, before: Sequence[Outcomes], since: Sequence[Outcomes]
) -> Verdict:
    """Name the drift of a whole by the outcomes of the values that explain it.

    Parameters
    ----------
    whole : Verdict
        With an open distortion that `values_that_name` explain.
    reference : Reference
        Of the whole; it stands in where these values are too few for a curve of their own.
    before, since : sequence of mapping of str to Coarse
        What `outcomes_of_values` gives of the days of the reference, and since the drift began.
    """
    own = reference if what_a_reference_lacks(before) else fit_reference(before)
    rows = [rows_of_day(own, day) for day in since]
    profiles = sum((day_profiles(of, own.day_variances) for of in rows), no_profiles())
    labels = label_change(whole.distortion and replace(whole.distortion, profiles=profiles))
    state = labels.kind if labels and labels.told else "calibration_drift"
    return replace(whole, state=state, facts=replace(whole.facts, labels=labels))
