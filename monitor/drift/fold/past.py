"""What the days since a drift began say of it, read once more. Pure.

Rule 1: all of these days or none: what some of them say would name another distortion in a store
from which others were deleted.
Rule 2: what was summed up is kept from day to day while it is weighed alike, so an alarm that lasts
reads no day again. It is never stored, and a fold without it sums up the same.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import date, timedelta
from itertools import groupby

import numpy as np

from monitor.drift.curve.label_noise import wrong_labels
from monitor.drift.curve.reference import Reference, judged_with
from monitor.drift.evidence.directions import Said, nothing_said, said_of_day
from monitor.drift.evidence.history import variances_before
from monitor.drift.fold.inputs import Day
from monitor.drift.fold.today import Today
from monitor.drift.records.day_evidence import WrongLabels
from monitor.drift.records.detector import Detector
from monitor.metrics.core.grid import Floats

ONE_DAY = timedelta(days=1)
WEEK = timedelta(days=7)  # sums that were not asked for as long are forgotten


@dataclass(frozen=True, eq=False)
class Summed:
    """What some days say, and with what they were weighed.

    Attributes
    ----------
    own, day_variances, wrong : Reference, ndarray, WrongLabels or None
        What they depend on, beside the days.
    last : date
        The last of the days.
    sums : Said
        Of these, added up in the order of the days.
    spans : int
        How many spans of days said something.
    """

    own: Reference
    day_variances: Floats
    wrong: WrongLabels | None
    last: date
    sums: Said
    spans: int

    def is_of(self, own: Reference, day_variances: Floats, wrong: WrongLabels | None) -> bool:
        """Say whether days that follow would be weighed alike."""
        alike = self.own is own and self.wrong == wrong
        return alike and np.array_equal(self.day_variances, day_variances)


def said_since(today: Today, name: str, detector: Detector, first: date) -> Said | None:
    """Sum up what the days from one on say of distortions and of labels.

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
    Said or None
        None if other days are found than the history of the detector holds since then.
    """
    own, history = today.own.get(name), detector.history
    rows = history.firsts >= first.toordinal()
    if own is None or not rows.any():
        return None
    begin = date.fromordinal(int(history.firsts[rows][0]))
    wrong = wrong_labels(own.noise, detector.noise)
    kept = today.profiled.setdefault(name, {})
    summed = kept.get(begin)
    usual = variances_before(judged_with(own, wrong), detector, begin)
    if summed is None or not summed.is_of(own, usual, wrong):
        summed = Summed(own, usual, wrong, begin - ONE_DAY, nothing_said(), 0)
    for end, days in groupby(today.since(summed.last + ONE_DAY), today.end_of_span):
        summed = _with_span(today, name, summed, days)
        if end <= today.day.day.toordinal():  # the days of a span that goes on are read again
            kept[begin] = replace(summed, last=date.fromordinal(end))
    for old in [day for day, of in kept.items() if of.last < today.day.day - WEEK]:
        del kept[old]
    return summed.sums if summed.spans == int(history.days[rows].sum()) else None


def _with_span(today: Today, name: str, before: Summed, days: Iterable[Day]) -> Summed:
    """Add days that are judged together."""
    parts = today.parts(name, [*days])
    said = said_of_day(before.own, parts, before.day_variances, before.wrong)
    if not said.profiles.any():
        return before
    sums = Said(*(of_all + of_day for of_all, of_day in zip(before.sums, said, strict=True)))
    return replace(before, sums=sums, spans=before.spans + 1)
