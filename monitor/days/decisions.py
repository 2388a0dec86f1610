"""What people have decided about a model: who has taken a drift, what is planned. Pure.

Rule 1: a decision is never changed or removed. What ends one is a further one, so their list says
at any time who knew of what.
Rule 2: only a new reference enters the verdicts. What else people decide changes what is shown and
who is alerted, not what is found.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from monitor.base.segment_names import WHOLE

USUAL = timedelta(days=31)  # after which an acknowledgement expires if no day is named


@dataclass(frozen=True)
class Acknowledgement:
    """A person has taken a drift: until a day it raises no alert.

    Attributes
    ----------
    number : int
        Its place among the decisions about a model, from 1 on.
    at : datetime
        When it was made.
    by, why, ticket : str
        Who has taken it, why no alert is needed, and where the work is tracked; the last may be
        empty.
    segment : str
        Of which segment; `all` for the model with every segment.
    found_by : date
        The newest day that was judged then: what is found on a later day is another drift.
    until : date
        The last day for which it holds.
    """

    number: int
    at: datetime
    by: str
    why: str
    segment: str
    found_by: date
    until: date
    ticket: str = ""


@dataclass(frozen=True)
class End:
    """An acknowledgement ends before its last day, or a new reference no longer counts.

    Attributes
    ----------
    number, at, by, why : int, datetime, str, str
        As in `Acknowledgement`.
    of : int
        The number of what it ends.
    """

    number: int
    at: datetime
    by: str
    why: str
    of: int


@dataclass(frozen=True)
class Rebase:
    """A new reference begins: from a day on, other curves count as right.

    Attributes
    ----------
    number, at, by, why : int, datetime, str, str
        As in `Acknowledgement`.
    first : date
        The first day of the new reference, which ends when its days make one.
    """

    number: int
    at: datetime
    by: str
    why: str
    first: date


Decision = Acknowledgement | End | Rebase


@dataclass(frozen=True)
class Plan:
    """A planned change: what is found on some days of data raises no alert.

    It stands in the configuration. An `Acknowledgement` is of what has been found by a day, and
    holds until a day of the clock; a plan covers days of data, so it holds until the first day
    after them is judged.

    Attributes
    ----------
    first, last : date
        The days of data, both included.
    segment : str
        Which segment; `all` for the model with every segment.
    why : str
        What changes; may be empty.
    """

    first: date
    last: date
    segment: str = WHOLE
    why: str = ""

    def is_of(self, segment: str) -> bool:
        """Say whether it is about a segment."""
        return self.segment in (WHOLE, segment)


def lasting(decisions: Iterable[Decision]) -> dict[str, Acknowledgement]:
    """Find the acknowledgement of each segment that was neither ended nor replaced.

    Whether its last day is over depends on the clock, so that is not asked here.

    Examples
    --------
    >>> moment, day = datetime(2026, 3, 1), date(2026, 3, 1)
    >>> taken = Acknowledgement(1, moment, "Ana", "new feature", "DE", day, day)
    >>> lasting([taken]) == {"DE": taken}
    True
    >>> lasting([taken, End(2, moment, "Ana", "rolled back", 1)])
    {}
    """
    taken = dict[str, Acknowledgement]()
    for decision in sorted(decisions, key=lambda each: each.number):
        if isinstance(decision, Acknowledgement):
            taken[decision.segment] = decision
        elif isinstance(decision, End):
            taken = {name: each for name, each in taken.items() if each.number != decision.of}
    return taken


def rebased(decisions: Iterable[Decision]) -> list[Rebase]:
    """Find the references that people have begun and that still count, by their first days.

    Examples
    --------
    >>> moment, day = datetime(2026, 3, 1), date(2026, 3, 1)
    >>> begun = Rebase(1, moment, "Ana", "trained on new data", day)
    >>> rebased([begun]) == [begun]
    True
    >>> rebased([begun, End(2, moment, "Ana", "rolled back", 1)])
    []
    """
    decisions = [*decisions]
    ended = {decision.of for decision in decisions if isinstance(decision, End)}
    begun = [d for d in decisions if isinstance(d, Rebase) and d.number not in ended]
    return sorted(begun, key=lambda rebase: (rebase.first, rebase.number))


def taken_by(
    acknowledgements: Mapping[str, Acknowledgement], segment: str, found: date
) -> Acknowledgement | None:
    """Find who has taken what was found in a segment on a day; None if it is not taken.

    Parameters
    ----------
    acknowledgements : mapping of str to Acknowledgement
        Those that last, by segment.
    segment : str
        Its name.
    found : date
        The day on which it was found, or has become worse.
    """
    both: Sequence[Acknowledgement | None]
    both = acknowledgements.get(segment), acknowledgements.get(WHOLE)
    return max(
        (each for each in both if each and found <= each.found_by),
        key=lambda each: each.number,
        default=None,
    )
