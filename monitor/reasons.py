"""A verdict in words, for someone who was just woken up. Pure."""

from dataclasses import dataclass
from datetime import date
from math import isnan

from monitor.drift import RECOVERED, Incident
from monitor.figure import Figure
from monitor.metrics.level import Lift

# What the outcomes now say of the scores, compared with the reference.
MEANINGS = {
    "too_extreme": "scores are too extreme: high ones come true less often than before, low ones "
    "more often",
    "too_timid": "scores are too timid: high ones come true more often than before, low ones less "
    "often",
    "ends_overpredicted": "the lowest and the highest scores come true less often than before, "
    "those between more often",
    "ends_underpredicted": "the lowest and the highest scores come true more often than before, "
    "those between less often",
    "tails_too_extreme": "scores are too extreme at both far ends, and too timid between them",
    "tails_too_timid": "scores are too timid at both far ends, and too extreme between them",
    "top_overpredicted": "the top tenth of the scores comes true less often than before, compared "
    "with the rest",
    "top_underpredicted": "the top tenth of the scores comes true more often than before, compared "
    "with the rest",
}
UNSEEN = "its days hold none of these predictions"
ONE_CLASS = "all outcomes of this day are equal, which says nothing of the scores"


@dataclass(frozen=True)
class Facts:
    """All that the sentences are made of."""

    state: str
    day: date
    obstacle: str
    known_until: date | None
    incident: Incident | None
    limit: float
    false_alert_days: int
    slope: Figure | None
    lift: Lift | None
    prevalence: float
    reference_prevalence: float


def sentences(facts: Facts) -> tuple[str, ...]:
    """Say what, since when, how strong, which scores, what the prior did, how often it is false."""
    if facts.state in ("data_error", "insufficient_data"):
        return (_capital(facts.obstacle),)
    if facts.state == "calibration_drift" and facts.incident:
        return (*_drift(facts, facts.incident), _prior(facts), _rate(facts))
    if facts.state == "level_drift" and facts.lift:
        return (_level(facts.lift), _prior(facts))
    if facts.state == "prior_shift":
        return (
            "Only the prior moved: the shape of the calibration curve is as in the reference.",
            _prior(facts),
        )
    if facts.known_until:
        known = f"A drift is acknowledged until {facts.known_until}; evidence begins anew after it."
        return (known, _prior(facts))
    return ("Calibrated as in the reference, whatever the prior.", _prior(facts))


def awaited(coverage: float) -> str:
    """Say that outcomes are still coming."""
    share = "none" if isnan(coverage) or not coverage else f"{coverage:.0%}"
    return f"outcomes are still awaited: {share} of the predictions have one"


def inside_reference(day: date, first: date, last: date) -> str:
    """Say that a day is what others are compared with."""
    if day < first:
        return f"the day is before the reference, {first} to {last}"
    return f"the day is part of the reference, {first} to {last}"


def no_reference(lack: str) -> str:
    """Say what the reference lacks."""
    return f"there is no reference to compare with yet: {lack}"


def _drift(facts: Facts, incident: Incident) -> tuple[str, ...]:
    slope = ""
    if facts.slope and incident.kind in ("too_extreme", "too_timid"):
        figure = facts.slope
        slope = f" (slope about {figure.value:.2f}, 95 % {figure.low:.2f} to {figure.high:.2f})"
    certainty = (
        f"On {incident.opened} the outcomes fitted a drift 10^{incident.evidence:.1f} times better "
        f"than the reference within its tolerance; the limit is 10^{facts.limit:.1f}."
    )
    recovery = (
        f"Since then 10^{incident.recovery:.1f} to 1 speaks for recovery; at 10^{RECOVERED:.0f} "
        "the incident closes."
    )
    told = (f"Since {incident.started} {MEANINGS[incident.kind]}{slope}.", certainty)
    return (*told, recovery) if incident.recovery > 0 else told


def _level(lift: Lift) -> str:
    often = "more" if lift.lift > 0 else "less"
    return (
        f"All scores come true {often} often than the prior explains: the curve was lifted by "
        f"about {lift.lift:+.2f} in logit (kappa {lift.kappa:+.3f}, standard error "
        f"{lift.kappa_error:.3f})."
    )


def _prior(facts: Facts) -> str:
    if facts.lift is None:
        return f"Prevalence on {facts.day}: {facts.prevalence:.2%}."
    return (
        f"Prevalence {facts.prevalence:.2%} on {facts.day}, {facts.reference_prevalence:.2%} in "
        f"the reference; over the week an intercept of {facts.lift.shift:+.2f} in logit "
        f"(standard error {facts.lift.shift_error:.2f}) would make the scores right on average. "
        "The verdict does not depend on it."
    )


def _rate(facts: Facts) -> str:
    return (
        f"On average at least {facts.false_alert_days:,} days pass between two such alerts that "
        "are false."
    )


def _capital(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}" + ("" if text.endswith(".") else ".")
