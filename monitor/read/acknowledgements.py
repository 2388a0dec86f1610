"""Who has taken the drifts that are open."""

from collections.abc import Iterable
from datetime import date

from monitor.days.decisions import Acknowledgement, lasting, taken_by
from monitor.drift.records.places import name_of
from monitor.drift.records.verdict import Verdict
from monitor.read.results import Results
from monitor.words.acknowledging import acknowledged, not_taken


def taken(results: Results, verdicts: Iterable[Verdict]) -> dict[str, Acknowledgement]:
    """Find the acknowledgement of each segment, or value, whose drift somebody has taken.

    Decisions are read only if a drift is open, so a quiet model costs no request.
    """
    open_since = {name: day for v in verdicts for name, day in v.drifts_found.items()}
    if not open_since:
        return {}
    acknowledgements = lasting(results.store.decisions(results.model))
    by_segment = {name: taken_by(acknowledgements, name, day) for name, day in open_since.items()}
    return {
        name: acknowledgement for name, acknowledgement in by_segment.items() if acknowledgement
    }


def who_has_taken(
    results: Results, verdict: Verdict | None, today: date | None = None
) -> str | None:
    """Say who has taken the drift of a verdict, or how to take it; None if there is none.

    Without `today`, an acknowledgement that has expired is given like any other, with its last day.
    """
    if not verdict or not verdict.found_on:
        return None
    return _who(verdict, taken(results, [verdict]).get(verdict.segment), verdict.segment, today)


def who_has_taken_values(
    results: Results, verdict: Verdict | None, today: date | None = None
) -> dict[str, str]:
    """Say the same of each value that drifts by itself, by its name."""
    values = verdict.values.ranked if verdict and verdict.values else ()
    if not verdict or not values:
        return {}
    holders, names = taken(results, [verdict]), [name_of(value.name) for value in values]
    return {name: _who(verdict, holders.get(name), name, today) for name in names}


def _who(
    verdict: Verdict, acknowledgement: Acknowledgement | None, name: str, today: date | None
) -> str:
    if acknowledgement and (today is None or today <= acknowledgement.until):
        return acknowledged(acknowledgement)
    return not_taken(verdict.model, name, part=name != verdict.segment)
