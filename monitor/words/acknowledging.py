"""Who has taken a drift, and how to take it. Pure."""

from datetime import date
from shlex import quote

from monitor.decisions import USUAL, Acknowledgement
from monitor.segment_names import WHOLE, printable, shown


def acknowledged(one: Acknowledgement) -> str:
    """Say who has taken a drift, until when and why.

    Examples
    --------
    >>> from datetime import datetime
    >>> day = date(2026, 3, 1)
    >>> acknowledged(Acknowledgement(1, datetime(2026, 3, 1), "Ana", "new feature", "DE", day, day))
    'Ana has taken it until 2026-03-01: new feature.'
    """
    ticket = f" ({printable(one.ticket)})" if one.ticket else ""
    return f"{printable(one.by)} has taken it until {one.until}: {printable(one.why)}{ticket}."


def how_to_acknowledge(model: str, segment: str = WHOLE) -> str:
    """Give the command that takes a drift, ready to copy.

    Examples
    --------
    >>> print(how_to_acknowledge("fraud", "Île de France"))
    calibration-monitor ack fraud --segment 'Île de France' --by NAME --why TEXT
    """
    part = "" if segment == WHOLE else f" --segment {quote(printable(segment))}"
    return f"calibration-monitor ack {quote(model)}{part} --by NAME --why TEXT"


def long_taken(one: Acknowledgement, today: date) -> str | None:
    """Say that a drift is taken for longer than usual; None if it is not, or no longer.

    Examples
    --------
    >>> from datetime import datetime
    >>> first, last = date(2026, 3, 1), date(2026, 6, 1)
    >>> one = Acknowledgement(1, datetime(2026, 3, 1), "Ana", "new feature", "all", first, last)
    >>> long_taken(one, date(2026, 6, 2))
    """
    if today > one.until or one.until - one.at.date() <= USUAL:
        return None
    part = "the model" if one.segment == WHOLE else f"segment {shown(one.segment)}"
    return (
        f"{printable(one.by)} has taken {part} until {one.until}, for {(one.until - today).days:,} "
        f"more days: until then the drift does not page. Ask whether it is still worked on; "
        f"calibration-monitor ack --end ends it."
    )
