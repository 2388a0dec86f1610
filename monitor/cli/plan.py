"""What a backfill would do, in words."""

from collections.abc import Sequence
from datetime import date

from monitor.pipeline.runs.grouping import grouped
from monitor.pipeline.runs.planning import Plan
from monitor.store.months import spans_of

SPANS_SHOWN = 5


def plan_text(plan: Plan) -> str:
    """Say what would become of each day of a plan, in a few lines."""
    lines = [
        f"{plan.model}: would summarise {_days(plan.summarise)}",
        f"leave unchanged: {_days(plan.unchanged)}",
        f"evaluate {_days(plan.evaluate)}, and judge them",
    ]
    if plan.perhaps:
        lines.append(f"evaluate again if what they rest on changes: {_days(plan.perhaps)}")
    if plan.quiet:
        lines.append(f"skip, because there is no log: {_days(plan.quiet)}")
    if plan.kept:
        lines.append(f"keep, because they are final (see --recompute): {_days(plan.kept)}")
    failing = [f"fail: {message}" for message in grouped(plan.model, plan.failures)]
    failing += [f"still missing: {message}" for message in grouped(plan.model, plan.still_missing)]
    return "\n  ".join([*lines, *failing])


def _days(days: Sequence[date]) -> str:
    """Count days and give their spans: "3 days (2026-03-01, 2026-03-04 to 2026-03-05)".

    Examples
    --------
    >>> _days([date(2026, 3, 1), date(2026, 3, 4), date(2026, 3, 5)])
    '3 days (2026-03-01, 2026-03-04 to 2026-03-05)'
    """
    if not days:
        return "no day"
    spans = [
        f"{first}" if first == last else f"{first} to {last}" for first, last in spans_of(days)
    ]
    more = f", and {len(spans) - SPANS_SHOWN} more spans" if len(spans) > SPANS_SHOWN else ""
    count = "1 day" if len(days) == 1 else f"{len(days)} days"
    return f"{count} ({', '.join(spans[:SPANS_SHOWN])}{more})"
