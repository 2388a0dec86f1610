"""Who has taken a drift, and how to take it. Pure."""

from datetime import date
from shlex import quote

from monitor.base.segment_names import WHOLE, printable, shown
from monitor.days.decisions import USUAL, Acknowledgement


def acknowledged(taken: Acknowledgement) -> str:
    """Say who has taken a drift, until when and why.

    Examples
    --------
    >>> from datetime import datetime
    >>> day = date(2026, 3, 1)
    >>> acknowledged(Acknowledgement(1, datetime(2026, 3, 1), "Ana", "new feature", "DE", day, day))
    'Ana has taken it until 2026-03-01: new feature.'
    """
    ticket = f" ({printable(taken.ticket)})" if taken.ticket else ""
    return (
        f"{printable(taken.by)} has taken it until {taken.until}: {printable(taken.why)}{ticket}."
    )


def how_to_acknowledge(model: str, segment: str = WHOLE, *, part: bool = False) -> str:
    """Give the command that takes the drift of a segment, or of a value, ready to copy.

    Examples
    --------
    >>> print(how_to_acknowledge("fraud", "Île de France"))
    calibration-monitor ack fraud --segment 'Île de France' --by NAME --why TEXT
    >>> print(how_to_acknowledge("fraud", "device = tv", part=True))
    calibration-monitor ack fraud --part 'device = tv' --by NAME --why TEXT
    """
    option = "--part" if part else "--segment"
    of = "" if segment == WHOLE else f" {option} {quote(printable(segment))}"
    return f"calibration-monitor ack {quote(model)}{of} --by NAME --why TEXT"


def not_taken(model: str, segment: str, *, part: bool) -> str:
    """Say that nobody has taken a drift, and how to; the parameters are `how_to_acknowledge`'s.

    Examples
    --------
    >>> print(not_taken("fraud", WHOLE, part=False))
    Nobody; to take it: calibration-monitor ack fraud --by NAME --why TEXT
    """
    return f"Nobody; to take it: {how_to_acknowledge(model, segment, part=part)}"


def long_taken(taken: Acknowledgement, today: date) -> str | None:
    """Say that a drift is taken for longer than usual; None if it is not, or no longer.

    Examples
    --------
    >>> from datetime import datetime
    >>> first, last = date(2026, 3, 1), date(2026, 6, 1)
    >>> taken = Acknowledgement(1, datetime(2026, 3, 1), "Ana", "new feature", "all", first, last)
    >>> long_taken(taken, date(2026, 6, 2))
    """
    if today > taken.until or taken.until - taken.at.date() <= USUAL:
        return None
    part = "the model" if taken.segment == WHOLE else shown(taken.segment)
    return (
        f"{printable(taken.by)} has taken {part} until {taken.until}, for "
        f"{(taken.until - today).days:,} more days: until then the drift does not page. "
        f"Ask whether it is still worked on; calibration-monitor ack --end ends it."
    )
