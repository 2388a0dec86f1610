"""What the outcomes of the values that explain a drift say of labels.

Labels that are lost on one device bend the curve of all rows otherwise than that of the device, so
the drift of the whole is named by the rows that it sits in.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import date

from monitor.days.summary import Columns
from monitor.drift.curve.reference import Reference, fit_reference, what_a_reference_lacks
from monitor.drift.evidence.directions import day_profiles, no_profiles
from monitor.drift.incidents.label_change import label_change
from monitor.drift.records.places import Condition
from monitor.drift.records.verdict import OF_LABELS, Verdict
from monitor.drift.where.part_counts import coarse_of_part
from monitor.metrics.core.coarse import Coarse

NAMED_BY_SHAPE = OF_LABELS | {"calibration_drift"}  # of an open drift, whether of labels or not
Outcomes = Mapping[str, Coarse]  # of a day, by value


def named_by_values(
    whole: Verdict,
    reference: Reference,
    days: tuple[Sequence[date], Sequence[date]],
    columns_of: Callable[[date], Columns | None],
) -> Verdict:
    """Name the drift of a whole by the outcomes of the values that explain it.

    Parameters
    ----------
    whole : Verdict
        With the values that explain its drift.
    reference : Reference
        Of the whole: the curve of values that are too few for one of their own.
    days : (sequence of date, sequence of date)
        Those of the reference, and those since the drift began.
    columns_of : function of a date
        What a day counts by column and value.

    Returns
    -------
    Verdict
        The same where no values explain it, where they are of several columns, where it is at one
        place, or where the scores spread otherwise than in the reference.
    """
    found, bent = whole.explanation, whole.distortion
    if found is None or bent is None or bent is not whole.incident or bent.place:
        return whole
    scores, conditions = whole.facts.scores, found.every
    if whole.state not in NAMED_BY_SHAPE or not (scores and scores.spreads_alike):
        return whole
    if len({condition.column for condition in conditions}) != 1:
        return whole
    before, since = ([_outcomes(columns_of(day), conditions) for day in of] for of in days)
    own = reference if what_a_reference_lacks(before) else fit_reference(before)
    profiles = sum((day_profiles(own, day, own.day_variances) for day in since), no_profiles())
    labels = label_change(replace(bent, profiles=profiles))
    state = labels.kind if labels and labels.told else "calibration_drift"
    return replace(whole, state=state, facts=replace(whole.facts, labels=labels))


def _outcomes(columns: Columns | None, conditions: Sequence[Condition]) -> Outcomes:
    """Give the outcomes of some values of a column on a day, each with a prior of its own."""
    values = (columns or {}).get(conditions[0].column, {})
    return {
        condition.value: coarse_of_part(part)
        for condition in conditions
        if (part := values.get(condition.value)) and part.cells.size
    }
