"""What the fold carries from a day to the next. Pure data."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

from monitor.drift.records.detector import Detector
from monitor.drift.records.places import Condition
from monitor.drift.records.values import ValueWatch


@dataclass(frozen=True, eq=False)
class Carried:
    """All that the verdicts of later days need of those up to a day.

    Attributes
    ----------
    day : date
        The last day that was folded.
    detectors : mapping of str to Detector
        What each stream has accumulated.
    values : ValueWatch or None
        What has accumulated for the values of watched columns; None if none is watched.
    opened : date or None
        When the drift opened that the whole shows; None if none is open.
    explained : tuple of Condition
        The values that explain it; empty if no few ones do.
    """

    day: date
    detectors: Mapping[str, Detector]
    values: ValueWatch | None = None
    opened: date | None = None
    explained: tuple[Condition, ...] = ()
