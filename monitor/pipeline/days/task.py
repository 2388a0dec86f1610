"""What is asked of a run, whoever asks: a command, a scheduler or a test."""

from dataclasses import dataclass
from datetime import date

from monitor.days.summary import days_between


@dataclass(frozen=True)
class Task:
    """What a run does with a model.

    Attributes
    ----------
    model : str
        Its name.
    first, last : date
        The days of predictions, both included.
    as_of : date
        Outcome partitions of this day and later are not read, because they are not complete.
    catch_up : tuple of date
        Earlier days to process too, unless they are unchanged.
    skip_unchanged : bool
        Leave out days whose files, settings and program version have not changed.
    must_settle : bool
        Fail a day without the last of its outcomes, which would stay provisional.
    recompute : bool
        Replace a final day even if it becomes provisional, because `as_of` is earlier.
    """

    model: str
    first: date
    last: date
    as_of: date
    catch_up: tuple[date, ...] = ()
    skip_unchanged: bool = False
    must_settle: bool = False
    recompute: bool = False

    @property
    def days(self) -> list[date]:
        """The days of the range."""
        return days_between(self.first, self.last)

    @property
    def may_skip(self) -> set[date]:
        """The days that stay as they are if nothing has changed."""
        return {*self.catch_up, *(self.days if self.skip_unchanged else ())}
