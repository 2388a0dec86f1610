"""Why the evidence of a day starts again from zero. Pure."""

from collections.abc import Sequence

from monitor.drift.records.verdict import Verdict
from monitor.report.page.content import DayOnPage


def restarts(days: Sequence[DayOnPage]) -> list[str]:
    """Say of each day why its evidence starts from zero; empty where it goes on.

    Examples
    --------
    >>> from datetime import date
    >>> restarts([DayOnPage(date(2026, 3, 1))])
    ['']
    """
    reasons, before, between = list[str](), None, ""
    for day in days:
        verdict = day.whole.verdict
        counts = verdict is not None and verdict.compared
        reasons.append(_reason(before, between) if counts else "")
        if counts:
            # A day that awaits outcomes goes on from the last one that did not.
            before, between = (verdict if verdict and verdict.final else before), ""
        elif verdict:
            between = _between(verdict) or between
    return reasons


def _reason(before: Verdict | None, between: str) -> str:
    """Say what came before a day with evidence."""
    if between:
        return f"starts again from zero after {between}"
    if before and before.reached is not None and before.reached >= before.limit:
        return f"starts again from zero, because it reached the limit on {before.day}"
    return ""


def _between(verdict: Verdict) -> str:
    """Name the days without evidence that discard what was there before."""
    return "the days of its reference" if verdict.facts.obstacle == "part of the reference" else ""
