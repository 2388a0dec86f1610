"""When the outcomes of a day have arrived: which days a day reads, and when it is settled. Pure."""

from dataclasses import dataclass
from datetime import date, timedelta

from monitor.config import Model
from monitor.days.arrivals import LATEST
from monitor.days.summary import days_between

ONE = timedelta(days=1)


@dataclass(frozen=True)
class Settling:
    """How long the days of a model wait for their outcomes.

    An outcome of a day counts for it up to `settled_after` days later. One that comes up to
    `LATEST` days after that is late: it is counted, and it does not change the day.

    Attributes
    ----------
    model : Model
        The model, whose `settled_after` and `outcomes.absent_means` decide.

    Examples
    --------
    >>> logs = {"predictions": {"path": "p/{day}"}, "outcomes": {"path": "o/{day}"}}
    >>> settling = Settling(Model.model_validate({**logs, "settled_after": 2}))
    >>> [f"{day:%d}" for day in settling.due(date(2026, 3, 1))]
    ['01', '02', '03']
    >>> f"{settling.settles(date(2026, 3, 1)):%d}"
    '04'
    """

    model: Model

    @property
    def wait(self) -> timedelta:
        """The time between a day and the last day whose outcomes it reads."""
        return timedelta(days=self.model.settled_after)

    @property
    def longest(self) -> int:
        """The greatest age of outcomes that are counted, in days."""
        return self.model.settled_after + LATEST

    def last(self, day: date) -> date:
        """Give the last day whose outcomes a day reads."""
        return day + self.wait

    def due(self, day: date) -> list[date]:
        """List the days whose outcomes a day reads."""
        return days_between(day, self.last(day))

    def is_due(self, day: date, seen_on: date) -> bool:
        """Return whether a day reads the outcomes of another."""
        return day <= seen_on <= self.last(day)

    def settles(self, day: date) -> date:
        """Give the first morning on which all outcomes of a day are there."""
        return self.last(day) + ONE

    def is_over(self, day: date, as_of: date) -> bool:
        """Return whether a day waits for no more outcomes on a morning."""
        return self.settles(day) <= as_of

    def newest(self, as_of: date) -> date:
        """Give the newest day that waits for no more outcomes on a morning."""
        return as_of - ONE - self.wait

    def read_by(self, first: date, last: date | None = None) -> list[date]:
        """List the days that read outcomes of a day, or of any from the first to the last."""
        return days_between(first - self.wait, last or first)

    def counted(self, day: date) -> list[date]:
        """List the days on which outcomes of a day are counted, in time or late."""
        return days_between(day, day + timedelta(days=self.longest))

    def are_counted(self, day: date, as_of: date) -> bool:
        """Return whether no more outcomes of a day are counted on a morning."""
        return day + timedelta(days=self.longest) < as_of

    def counting(self, seen_on: date) -> list[date]:
        """List the days whose outcomes are counted on a day."""
        return days_between(seen_on - timedelta(days=self.longest), seen_on)

    def concluded(self, day: date) -> list[date] | None:
        """List the days after whose outcomes the absent ones are negative; None if they are not."""
        absent = self.model.outcomes.absent_means
        return None if absent is None else days_between(day, day + timedelta(days=absent))
