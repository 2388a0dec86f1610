"""A schedule as cron writes it: checked where it is written, and not only where Airflow runs."""

import re

PRESETS = {"@hourly", "@daily", "@weekly", "@monthly", "@quarterly", "@yearly"}
MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
WEEKDAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
# What each field counts, and its least and greatest number; 0 and 7 are both Sunday.
FIELDS = (
    ("minute", 0, 59),
    ("hour", 0, 23),
    ("day of the month", 1, 31),
    ("month", 1, 12),
    ("weekday", 0, 7),
)
PART = re.compile(r"(?:\*|(\w+)(?:-(\w+))?)(?:/(\d{1,3}))?", re.ASCII)


def check_schedule(text: str) -> str:
    """Return a schedule, or raise ValueError for what is none.

    Examples
    --------
    >>> check_schedule("30 6 * * mon-fri")
    '30 6 * * mon-fri'
    """
    if text in PRESETS:
        return text
    fields = text.split()
    if len(fields) != len(FIELDS):
        msg = (
            f"must have five fields (minute, hour, day, month, weekday), such as '0 6 * * *', and "
            f"has {len(fields)}"
        )
        raise ValueError(msg)
    for field, (what, least, most) in zip(fields, FIELDS, strict=True):
        if not all(_fits(part, what, least, most) for part in field.split(",")):
            msg = f"has a {what} that is not *, a number from {least} to {most}, a range or a list"
            raise ValueError(msg)
    return text


def _fits(part: str, what: str, least: int, most: int) -> bool:
    match = PART.fullmatch(part)
    if not match:
        return False
    first, last, step = match.groups()
    ends = [_number(end, what) for end in (first, last) if end is not None]
    return all(end is not None and least <= end <= most for end in ends) and step not in ("0", "00")


def _number(text: str, what: str) -> int | None:
    """Read a number, or the name of a month or weekday."""
    names = {"month": MONTHS, "weekday": WEEKDAYS}.get(what, [])
    if text.isdigit():
        return int(text[:4])
    begins_with_1 = what == "month"
    return names.index(text.lower()) + begins_with_1 if text.lower() in names else None
