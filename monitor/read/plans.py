"""What stands of a verdict where a change is planned: verdict and plan together. Pure.

Rule 1: what is stored knows of no plan, so adding, moving or removing one changes what is shown at
once, and nothing is judged again.
Rule 2: a plan covers what is found on its days. After its last day it goes on to cover that while
the outcomes recover; what lasts is an alert on the first day that is judged after the plan.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date

from monitor.base.segment_names import WHOLE
from monitor.config import Model
from monitor.days.decisions import Plan
from monitor.drift.records.detector import Ended, Incident
from monitor.drift.records.verdict import UNJUDGED, Verdict
from monitor.words.verdict import sentences


def plans_of(model: Model) -> tuple[Plan, ...]:
    """Give the changes that the configuration of a model plans."""
    return tuple(
        Plan(span.first, span.last, span.segment, span.why) for span in model.verdicts.known_drifts
    )


def with_plans(verdicts: Sequence[Verdict], plans: Sequence[Plan]) -> list[Verdict]:
    """Say of the verdicts of a day what stands, given what is planned.

    Parameters
    ----------
    verdicts : sequence of Verdict
        Of all segments on a day, as stored.
    plans : sequence of Plan
        Of the model.

    Returns
    -------
    list of Verdict
        Those that a plan covers are `acknowledged`, and report no drift and no shift.
    """
    return [_with_plan(v, plan) if (plan := plan_of(v, plans)) else v for v in verdicts]


def plan_of(verdict: Verdict, plans: Sequence[Plan]) -> Plan | None:
    """Find the plan that covers a verdict: its day, or the recovery after it."""
    if not verdict.final or verdict.state in UNJUDGED:
        return None
    among = [plan for plan in plans if plan.first <= verdict.day and _is_about(plan, verdict)]
    return next((plan for plan in among if _covers(plan, verdict)), None)


def may_cover(day: date, plans: Sequence[Plan]) -> bool:
    """Say whether a plan could cover a verdict of a day."""
    return any(plan.first <= day for plan in plans)


def _is_about(plan: Plan, verdict: Verdict) -> bool:
    """Say whether a plan is of the segment, or of the one that explains the drift of the whole."""
    if plan.is_of(verdict.segment):
        return True
    explained = verdict.explanation if verdict.segment == WHOLE else None
    if explained is None or not explained.in_segments:
        return False
    return {condition.value for condition in explained.every} == {plan.segment}


def _covers(plan: Plan, verdict: Verdict) -> bool:
    if verdict.day <= plan.last:
        return True
    found = [i for i in (verdict.distortion, verdict.level_incident) if i]
    return bool(found) and all(_recovers(incident, plan) for incident in found)


def _recovers(incident: Incident, plan: Plan) -> bool:
    """Say whether what was found on the days of a plan is on its way back."""
    worse = incident.worse.found if incident.worse else incident.opened
    return max(worse, incident.opened) <= plan.last and incident.recovering is not None


def _with_plan(verdict: Verdict, plan: Plan) -> Verdict:
    detector, found = verdict.detector, verdict.incident
    ended = Ended(found.started, verdict.day, "acknowledged") if found else detector.ended
    quiet = replace(
        detector,
        incident=None,
        ended=ended,
        second=None,
        moved=None,
        level=replace(detector.level, incident=None),
    )
    values = verdict.values
    covered = replace(
        verdict,
        state="acknowledged",
        plan=plan,
        detector=quiet,
        facts=replace(verdict.facts, third=None, today=None, one_day=None, labels=None),
        where=None,
        values=values and replace(values, incidents=()),
    )
    return replace(covered, reasons=sentences(covered))
