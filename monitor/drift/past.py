"""What the days since a drift began say of it, read once more. Pure.

Rule: days are read again only on the day on which a drift opens, and all of them or none: what some
of them say would name another distortion in a store from which others were deleted.
"""

from collections.abc import Callable
from datetime import date

from monitor.drift.day_evidence import WrongLabels
from monitor.drift.detector import Detector
from monitor.drift.evidence import day_profiles, no_profiles
from monitor.drift.inputs import (
    Day,
    Limits,
    ModelReference,
    Recall,
    end_of_span,
    is_evidence,
    weighed_parts,
)
from monitor.drift.label_noise import wrong_labels
from monitor.drift.lack import Lack
from monitor.drift.reference import Reference, merge_days
from monitor.metrics.core.grid import Floats

# Of a stream, its detector and a day: the profiles of an incident that began on that day.
Profiles = Callable[[str, Detector, date], Floats | None]


def profiles_since(
    name: str,
    detector: Detector,
    first: date,
    *,
    today: date,
    reference: ModelReference,
    limits: Limits,
    recall: Recall,
) -> Floats | None:
    """Sum up the profiles of the days from one on.

    Parameters
    ----------
    name : str
        The stream.
    detector : Detector
        Of the stream, after today.
    first, today : date
        The days.
    reference : ModelReference
        What they are compared with.
    limits : Limits
        Which days are judged together, and which are known drifts.
    recall : function of a date
        Gives a day; None if it is not known.

    Returns
    -------
    ndarray of shape (6, 16) or None
        `monitor.drift.detector.Incident.profiles`; None if other days are found than the history
        of the detector holds since then.
    """
    own, spans, history = reference.streams[name], dict[int, list[Day]](), detector.history
    rows = history.firsts >= first.toordinal()
    if isinstance(own, Lack) or not rows.any():
        return None
    for ordinal in range(int(history.firsts[rows][0]), today.toordinal() + 1):
        day = recall(date.fromordinal(ordinal))
        if day and day.final and is_evidence(day, reference, limits):
            spans.setdefault(end_of_span(day.day, limits.judge_every), []).append(day)
    wrong = wrong_labels(own.noise, detector.noise)
    of_spans = [
        profiles
        for days in spans.values()
        if (profiles := _of_span(name, own, days, reference, detector.jitters, wrong)).any()
    ]
    counted = int(history.days[rows].sum())
    return sum(of_spans, no_profiles()) if len(of_spans) == counted else None


def _of_span(
    name: str,
    own: Reference,
    days: list[Day],
    reference: ModelReference,
    jitters: Floats,
    wrong: WrongLabels | None,
) -> Floats:
    parts = merge_days([weighed_parts(day, name, reference) for day in days])
    return day_profiles(own, parts, jitters, wrong=wrong)
