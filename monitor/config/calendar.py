"""Spans of days, and the calendar of a log that does not have every day."""

from datetime import date
from itertools import pairwise
from typing import Annotated, Literal, Self, get_args

from pydantic import AfterValidator, BeforeValidator, model_validator

from monitor.config.sections import Date, Listed, Section, as_date

Weekday = Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
WEEKDAYS: tuple[Weekday, ...] = get_args(Weekday)


class Span(Section):
    """A span of days that includes both the first and the last."""

    first: Date
    last: Date

    @model_validator(mode="after")
    def _does_not_end_before_it_begins(self) -> Self:
        if self.last < self.first:
            msg = "last must not be before first"
            raise ValueError(msg)
        return self


class PlannedSpan(Span):
    """Days of data on which a change is planned, of the model or of one segment."""

    segment: str = "all"
    why: str = ""


def _rise_apart(spans: tuple[Span, ...]) -> tuple[Span, ...]:
    for before, after in pairwise(spans):
        if after.first <= before.last:
            msg = "must be in order and must not overlap"
            raise ValueError(msg)
    return spans


def _as_span(value: object) -> object:
    """Read a date, or the first and the last of several days with a slash between them."""
    ends = value.split("/") if isinstance(value, str) else (value,)
    days = [as_date(end) for end in ends]
    if isinstance(value, tuple):  # as it was read
        return value
    if all(isinstance(day, date) for day in days) and len(days) <= len(("first", "last")):
        return days[0], days[-1]
    msg = "must be a date, such as 2026-12-25, or a span, such as 2027-07-01/2027-08-31"
    raise ValueError(msg)


def _close_apart(spans: tuple[tuple[date, date], ...]) -> tuple[tuple[date, date], ...]:
    if any(first > last for first, last in spans):
        msg = "the last day of a span must not be before its first"
        raise ValueError(msg)
    if any(first <= last for (_, last), (first, _) in pairwise(spans)):
        msg = "must be in order and must not overlap"
        raise ValueError(msg)
    return spans


def _differ(weekdays: tuple[Weekday, ...]) -> tuple[Weekday, ...]:
    if not weekdays or len(set(weekdays)) < len(weekdays):
        msg = f"must name at least one of {', '.join(WEEKDAYS)}, and none twice"
        raise ValueError(msg)
    return weekdays


Spans = Annotated[Listed[Span], AfterValidator(_rise_apart)]
Plans = Listed[PlannedSpan]
Closed = Annotated[
    Listed[Annotated[tuple[date, date], BeforeValidator(_as_span)]], AfterValidator(_close_apart)
]
Weekdays = Annotated[Listed[Weekday], AfterValidator(_differ)]


class Calendar(Section):
    """The days on which a model scores, or on which its outcomes come.

    Attributes
    ----------
    weekdays : tuple of str
        The days of the week.
    closed : tuple of (date, date)
        The first and the last of days without logs, such as holidays and an off-season, in order.
    """

    weekdays: Weekdays = WEEKDAYS
    closed: Closed = ()

    @model_validator(mode="after")
    def _closes_some_day(self) -> Self:
        if set(self.weekdays) == set(WEEKDAYS) and not self.closed:
            msg = "must name weekdays or closed days; without either, leave out the calendar"
            raise ValueError(msg)
        return self

    def has(self, day: date) -> bool:
        """Return whether there are logs of a day."""
        closed = any(first <= day <= last for first, last in self.closed)
        return WEEKDAYS[day.weekday()] in self.weekdays and not closed
