"""Days that were read with other settings than their reference. Pure."""

from collections.abc import Sequence
from shlex import quote

from monitor.base.segment_names import shown
from monitor.drift.records.facts import Unlike


def segments_read_otherwise(model: str, unlike: Sequence[Unlike]) -> list[str]:
    """Say of segments that are not compared why that is, those with one reason at once.

    Examples
    --------
    >>> from datetime import date
    >>> days = date(2026, 1, 1), date(2026, 1, 28)
    >>> changed = Unlike(("DE", "other"), ("segments.values",), date(2026, 2, 10), *days)
    >>> print(segments_read_otherwise("m", [changed])[0][:50])
    Segments DE, other: not compared: since 2026-02-10
    """
    return [
        f"Segments {', '.join(map(shown, each.streams))}: {said[:1].lower()}{said[1:]}"
        for each in unlike
        for said in [read_otherwise(model, each)]
    ]


def read_otherwise(model: str, unlike: Unlike) -> str:
    """Say what changed on which day, and the command that makes the days alike again.

    Examples
    --------
    >>> from datetime import date
    >>> days = date(2026, 1, 1), date(2026, 1, 28)
    >>> print(read_otherwise("m", Unlike(("all",), ("predictions.where",), None, *days))[:79])
    Not compared: by the configuration days are now read with another predictions.w
    """
    begin = (
        f"since {unlike.since} days are" if unlike.since else "by the configuration days are now"
    )
    return (
        f"Not compared: {begin} read with another {' and '.join(unlike.settings)} than the "
        f"reference, {unlike.first} to {unlike.last}; run {read_again(model, unlike)}, which reads "
        "the reference again, or name a new one in verdicts.references."
    )


def read_again(model: str, unlike: Unlike) -> str:
    """Write the command that reads the days of the reference as those after it are read."""
    return (
        f"calibration-monitor backfill --model {quote(model)} --from {unlike.first} "
        f"--to {unlike.last}"
    )
