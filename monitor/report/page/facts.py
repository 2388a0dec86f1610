"""How a report page was computed: reference, limits, windows, versions. Pure."""

from collections.abc import Sequence
from datetime import date

from monitor.base import program
from monitor.config import Model, Verdicts
from monitor.drift.fold.inputs import ModelReference, reference_of_day
from monitor.drift.incidents.detectable import REFERENCE_ERROR
from monitor.drift.records.verdict import Verdict
from monitor.report.page.words import interval, share
from monitor.words.advice import missing, sensitivity

Fact = tuple[str, str]


def facts(
    model: Model, references: Sequence[ModelReference], verdict: Verdict | None, day: date
) -> list[Fact]:
    """List what the results of a day rest on."""
    listed = [
        ("Reference", _reference(references, verdict, day)),
        *_detectable(verdict),
        *_limits(model.verdicts),
        ("Tests", _tests(model)),
        ("Windows", f"{', '.join(map(str, model.windows))} day{'s' * (model.windows != (1,))}"),
        ("Outcomes", _outcomes(model)),
    ]
    if verdict:
        until = f"{verdict.known_at:%Y-%m-%d %H:%M} UTC"
        listed.append(("Outcomes known until", until))
    return [*listed, ("Program", f"calibration-monitor {program.version()}")]


def _limits(v: Verdicts) -> list[Fact]:
    least = "" if v.limit == "calibrated" else "at least "
    false = (
        f"On average {least}{v.false_alert_days:,} days pass between two false alerts of the "
        f"model, and at least {v.segment_false_alert_days:,} days between two of its segments."
    )
    also = (
        f"A prior shift or a level drift from an odds ratio of {v.level_odds:g}, a level drift "
        f"urgent from {v.level_page_odds:g}. Changes of the slope below "
        f"{REFERENCE_ERROR * v.slope_tolerance:g} are hardly ever reported."
    )
    together = f"{v.judge_every} days together" if v.judge_every > 1 else "Each day by itself"
    return [("False alerts", false), ("Also reported", also), ("Judged", f"{together}.")]


def _tests(model: Model) -> str:
    return (
        f"Exact binomial tests at level {model.alpha:g}, in bins of PAVA-BC. TCE by chance: 5 to "
        f"95 % of {model.null_replicates:,} simulations of a calibrated model."
    )


def _outcomes(model: Model) -> str:
    days = "1 more day" if model.settled_after == 1 else f"{model.settled_after} more days"
    return (
        f"A day is final once the outcomes of {days} have arrived. A day ends at midnight in "
        f"{model.time_zone}."
    )


def _reference(references: Sequence[ModelReference], verdict: Verdict | None, day: date) -> str:
    compared = reference_of_day(day, references)
    if not compared:
        return "There is none yet."
    if compared.lack:
        why = missing(compared.lack)
        return f"{why[:1].upper()}{why[1:]}."
    span = f"{compared.first} to {compared.last}"
    if not verdict:
        return f"{span}."
    own = verdict.reference_slope
    slope = f"; slope of its own outcomes {own:.2f value} ({interval(own)})" if own else ""
    return f"{span}; prevalence {share(verdict.reference_prevalence)}{slope}."


def _detectable(verdict: Verdict | None) -> list[Fact]:
    """Say what can be found at this volume, and what would help."""
    if not verdict or not verdict.detectable:
        return []
    return [("What can be found", sensitivity(verdict.detectable))]
