"""How late outcomes arrive: the share that has arrived by each age. Pure.

Rule: only complete days count. A day is complete once its outcomes of `LATEST` more days than it
takes to settle have been read; what comes later still is taken as never coming.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import accumulate
from math import isnan, nan, sqrt

LATEST = 28  # days after a day has settled for which its late outcomes are counted
EVERY = 4  # of so many days one is counted; all days of the week take part, because 7 is odd
LOOK_BACK = 35  # days: complete days before these are no longer what delays are like
ENOUGH = 0.95  # of the outcomes of each kind
COMPLETE = 0.99  # of them; a wait beyond that only makes verdicts later
LEAST = 20  # outcomes of a kind, below which nothing is said of their delay
SURE = 1.645  # standard errors: 95 %, one-sided


@dataclass(frozen=True)
class Arrivals:
    """How many outcomes of the predictions of one day arrived at each age.

    Attributes
    ----------
    day : date
        Day of the predictions.
    positives, negatives : tuple of int
        Outcomes of 1 and of 0 by age: the i-th is the number that came i days later.
    """

    day: date
    positives: tuple[int, ...]
    negatives: tuple[int, ...]


@dataclass(frozen=True)
class Delay:
    """What complete days say of the delay of outcomes.

    Attributes
    ----------
    days : tuple of date
        The complete days.
    positives, negatives : tuple of int
        Their outcomes by age.
    """

    days: tuple[date, ...]
    positives: tuple[int, ...]
    negatives: tuple[int, ...]

    def arrived(self, outcome: int, age: int) -> float:
        """Give the share of an outcome that has arrived by an age, in days; nan if none ever does.

        Examples
        --------
        >>> Delay((date(2026, 3, 1),), (6, 3, 1), (5, 0, 0)).arrived(1, 1)
        0.9
        """
        counts = self.positives if outcome else self.negatives
        return sum(counts[: age + 1]) / sum(counts) if sum(counts) else nan


@dataclass(frozen=True)
class Late:
    """The shares of the outcomes that arrive after a day has settled, where they are too many.

    Attributes
    ----------
    settled_after : int
        Days that a day takes to settle.
    positives, negatives : float
        Share of the outcomes of 1 and of 0 that arrive later, ratios in [0, 1].
    enough_after : int or None
        After so many days `ENOUGH` of both have arrived; None if that takes too long to be known.
    """

    settled_after: int
    positives: float
    negatives: float
    enough_after: int | None


def is_counted(day: date) -> bool:
    """Return whether the arrivals of a day are counted: a fourth of all days are."""
    return day.toordinal() % EVERY == 0


def delay_of(counted: Sequence[Arrivals]) -> Delay | None:
    """Add up the arrivals of complete days; None if there is none.

    Examples
    --------
    >>> arrived = Arrivals(date(2026, 3, 1), (1, 2), (3, 0))
    >>> delay_of([arrived, Arrivals(date(2026, 3, 5), (1,), (4,))]).positives
    (2, 2)
    """
    if not counted:
        return None
    length = max(len(day.positives) for day in counted)
    padding = (0,) * length

    def total(of_days: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
        return tuple(map(sum, zip(*((day + padding)[:length] for day in of_days), strict=True)))

    return Delay(
        days=tuple(day.day for day in counted),
        positives=total([day.positives for day in counted]),
        negatives=total([day.negatives for day in counted]),
    )


def days_to_count(day: date) -> tuple[date, date]:
    """Give the first and the last complete day that the verdict of a day looks at."""
    last = day - timedelta(days=LATEST)
    return last - timedelta(days=LOOK_BACK), last


def late(delay: Delay | None, settled_after: int) -> Late | None:
    """Find out whether too many outcomes arrive after a day has settled.

    Returns
    -------
    Late or None
        None if enough have arrived, or complete days do not tell with 95 % confidence.

    Examples
    --------
    >>> never = (0,) * 7
    >>> delay = Delay((date(2026, 3, 1),), (250, 500, 250, *never), (1000, 0, 0, *never))
    >>> late(delay, 0)
    Late(settled_after=0, positives=0.75, negatives=0.0, enough_after=2)
    >>> late(delay, 2)
    """
    if delay is None:
        return None
    shares = [1.0 - delay.arrived(outcome, settled_after) for outcome in (1, 0)]
    totals = [sum(delay.positives), sum(delay.negatives)]
    if not any(_too_late(*share_and_total) for share_and_total in zip(shares, totals, strict=True)):
        return None
    positives, negatives = (0.0 if isnan(share) else share for share in shares)
    return Late(settled_after, positives, negatives, enough_after(delay))


def enough_after(delay: Delay, share: float = ENOUGH) -> int | None:
    """Find the first age at which a share of the outcomes of each kind has arrived, in days.

    Returns
    -------
    int or None
        None if there are fewer than `LEAST` outcomes, or if as many as that come in the last week
        that was counted: then still more may come later.

    Examples
    --------
    >>> enough_after(Delay((date(2026, 3, 1),), (90, 5, 5, *[0] * 8), (100, *[0] * 10)))
    1
    """
    kinds = [counts for counts in (delay.positives, delay.negatives) if sum(counts)]
    if sum(map(sum, kinds)) < LEAST:
        return None
    ages = [
        next(
            age for age, arrived in enumerate(accumulate(counts)) if arrived >= share * sum(counts)
        )
        for counts in kinds
    ]
    last_week = len(delay.positives) - 7
    return max(ages) if max(ages) < last_week else None


def _too_late(share: float, total: int) -> bool:
    """Return whether the share that comes later is above its limit beyond doubt."""
    if total < LEAST:
        return False
    doubt = SURE * sqrt(ENOUGH * (1.0 - ENOUGH) / total)
    return share > 1.0 - ENOUGH + doubt
