"""Days that were read with other settings than their reference. Pure."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import date

from monitor.segment_names import shown


def segments_read_otherwise(unlike: Mapping[str, str]) -> list[str]:
    """Say of segments that are not compared why that is, those with one reason at once.

    Examples
    --------
    >>> segments_read_otherwise({"DE": "Not compared: x.", "other": "Not compared: x."})
    ['Segments DE, other: not compared: x.']
    """
    said = defaultdict[str, list[str]](list)
    for segment, why in unlike.items():
        said[why].append(shown(segment))
    return [
        f"Segments {', '.join(segments)}: {why[:1].lower()}{why[1:]}"
        for why, segments in said.items()
    ]


def read_otherwise(
    model: str, settings: Sequence[str], since: date | None, reference: tuple[date, date]
) -> str:
    """Say what changed on which day, and the command that makes the days alike again.

    Parameters
    ----------
    model : str
        Its name.
    settings : sequence of str
        The keys that differ.
    since : date or None
        The first day that was read so; None of days to come.
    reference : tuple of (date, date)
        First and last day of the reference.

    Examples
    --------
    >>> days = date(2026, 1, 1), date(2026, 1, 28)
    >>> print(read_otherwise("m", ["predictions.where"], date(2026, 2, 10), days)[:93])
    Not compared: since 2026-02-10 days are read with another predictions.where than the referenc
    """
    first, last = reference
    begin = f"since {since} days are" if since else "by the configuration days are now"
    return (
        f"Not compared: {begin} read with another {' and '.join(settings)} than the reference, "
        f"{first} to {last}; run calibration-monitor backfill --model {model} --from {first} "
        f"--to {last}, which reads the reference again, or name a new one in verdicts.references."
    )
