"""Whether the last weeks say if an open drift lasts or is over. Pure.

Rule: an incident that neither lasts nor recovers beyond doubt is not reported as certain. It stays
open, because it is not over either, and becomes certain again by the evidence alone.
"""

from dataclasses import replace
from datetime import date

import numpy as np

from monitor.drift.evidence.history import week_of, with_week
from monitor.drift.records.detector import WEEKS, Quarter

QUARTER = 90  # days that must have been counted
LASTS = 1.0  # log10 of the odds at which an undecided drift is a certain one again


def with_recovery(quarter: Quarter | None, day: date, recovery: float) -> Quarter:
    """Count a day, and say whether the weeks up to it decide.

    Parameters
    ----------
    quarter : Quarter or None
        Of the days before; None where counting begins.
    day : date
        The day.
    recovery : float
        log10 of the likelihood on this day that the distortion is gone; see `DayEvidence`.

    Notes
    -----
    A drift is undecided once it has been counted for 90 days and the last 13 weeks with outcomes
    speak rather for its end, not enough to close it: ``lasts < 0``. It is certain again at ten to
    one, ``lasts >= 1``, so it does not change with every day around the middle. Weeks without
    outcomes are not among the 13, because they say nothing.

    Examples
    --------
    >>> from datetime import timedelta
    >>> recovery = None
    >>> for n in range(92):
    ...     recovery = with_recovery(recovery, date(2026, 1, 1) + timedelta(days=n), 0.01)
    >>> recovery.undecided, with_recovery(recovery, date(2026, 4, 3), -2.0).undecided
    (True, False)
    """
    begun = quarter or Quarter(day, np.zeros(0, np.int64), np.zeros(0))
    week, now = week_of(day), np.array(recovery)
    weeks, recoveries = with_week(begun.weeks, begun.recoveries, week, now)
    counted = replace(begun, weeks=weeks[-WEEKS:], recoveries=recoveries[-WEEKS:])
    full = len(counted.weeks) == WEEKS and (day - counted.since).days >= QUARTER
    enough = LASTS if counted.undecided else 0.0
    return replace(counted, undecided=full and counted.lasts < enough)
