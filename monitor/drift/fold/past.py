"""What the days since a drift began say of it, read once more. Pure.

Rule: days are read again only on the day on which a drift opens, and all of them or none: what some
of them say would name another distortion in a store from which others were deleted.
"""

from datetime import date

from monitor.drift.curve.label_noise import wrong_labels
from monitor.drift.evidence.directions import day_profiles, no_profiles
from monitor.drift.fold.inputs import Day
from monitor.drift.fold.today import Today
from monitor.drift.records.detector import Detector
from monitor.metrics.core.grid import Floats


def profiles_since(today: Today, name: str, detector: Detector, first: date) -> Floats | None:
    """Sum up the profiles of the days from one on.

    Parameters
    ----------
    today : Today
        The last of them.
    name : str
        The stream.
    detector : Detector
        Of the stream, after today.
    first : date
        The first of them.

    Returns
    -------
    ndarray of shape (6, 16) or None
        `monitor.drift.records.detector.Incident.profiles`; None if other days are found than the
        history of the detector holds since then.
    """
    own, spans, history = today.own.get(name), dict[int, list[Day]](), detector.history
    rows = history.firsts >= first.toordinal()
    if own is None or not rows.any():
        return None
    for day in today.since(date.fromordinal(int(history.firsts[rows][0]))):
        spans.setdefault(today.end_of_span(day), []).append(day)
    wrong = wrong_labels(own.noise, detector.noise)
    of_spans = [
        profiles
        for days in spans.values()
        if (
            profiles := day_profiles(own, today.parts(name, days), detector.jitters, wrong=wrong)
        ).any()
    ]
    counted = int(history.days[rows].sum())
    return sum(of_spans, no_profiles()) if len(of_spans) == counted else None
