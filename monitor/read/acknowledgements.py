"""Who has taken the drifts that are open."""

from collections.abc import Iterable
from datetime import date

from monitor.decisions import Acknowledgement, lasting, taken_by
from monitor.drift.verdict import Verdict
from monitor.measures.verdict_scopes import found_on
from monitor.read.results import Results
from monitor.words.acknowledging import acknowledged, how_to_acknowledge


def taken(results: Results, verdicts: Iterable[Verdict]) -> dict[str, Acknowledgement]:
    """Find the acknowledgement of each segment whose drift somebody has taken.

    Decisions are read only if a drift is open, so a quiet model costs no request.
    """
    open_since = {v.segment: day for v in verdicts if (day := found_on(v))}
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
    if not verdict or not found_on(verdict):
        return None
    acknowledgement = taken(results, [verdict]).get(verdict.segment)
    if acknowledgement and (today is None or today <= acknowledgement.until):
        return acknowledged(acknowledgement)
    return f"Nobody; to take it: {how_to_acknowledge(verdict.model, verdict.segment)}"
