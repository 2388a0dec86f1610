"""A verdict in words, for someone who was just woken up. Pure."""

from dataclasses import dataclass
from datetime import date
from math import isnan

from monitor.drift.detector import RECOVERED, Incident
from monitor.drift.evidence import KINDS
from monitor.metrics.core.estimate import Estimate
from monitor.metrics.logistic.level import Lift

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
WORTH_TELLING = 0.5  # log10 of the odds of recovery
LONG = 6.0  # log10: a number too long to be read
UNSEEN = "its days hold none of these predictions"
NOTHING_KNOWN = "no outcome of this day is known"
ONE_CLASS = "all outcomes of this day are equal, which says nothing of the scores"


@dataclass(frozen=True)
class Facts:
    """All that the sentences are made of."""

    state: str
    day: date
    obstacle: str
    known_until: date | None
    incident: Incident | None
    limit: float | None
    false_alert_days: int
    slope: Estimate | None
    lift: Lift | None
    prevalence: float
    reference_prevalence: float


def sentences(facts: Facts) -> tuple[str, ...]:
    """Say what, since when, how strong, which scores, what the prior did, how often it is false."""
    if facts.state == "data_error":  # it begins with the name of the model
        return (_ended(facts.obstacle),)
    if facts.state == "insufficient_data":
        return (_ended(facts.obstacle[:1].upper() + facts.obstacle[1:]),)
    if facts.state == "calibration_drift" and facts.incident:
        return (*_drift(facts, facts.incident), _prior(facts), _rate(facts))
    if facts.state == "level_drift" and facts.lift:
        told = _level(facts.lift)
    elif facts.state == "acknowledged":
        told = (
            f"A drift is acknowledged until {facts.known_until}. After that day the evidence "
            "starts again from zero."
        )
    elif facts.state == "prior_shift":
        told = "Only the prior moved: the shape of the calibration curve is as in the reference."
    else:
        told = "Calibrated as in the reference, whatever the prior."
    return (told, _prior(facts))


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
    known = f"; the limit is {_times(facts.limit)}" if facts.limit else ""
    took = "It took the place of another drift. " if incident.started > incident.opened else ""
    certainty = (
        f"{took}On {incident.opened} the outcomes fitted a drift {_times(incident.evidence)} times "
        f"better than the reference within its tolerance{known}."
    )
    recovery = (
        f"Since then {_times(incident.recovery)} to 1 speaks for recovery; at "
        f"{_times(RECOVERED)} to 1 the incident closes."
    )
    what = f"Since {incident.started} {MEANINGS[incident.kind]} ({_size(facts, incident)})."
    told = (what, certainty)
    return (*told, recovery) if incident.recovery > WORTH_TELLING else told


def _size(facts: Facts, incident: Incident) -> str:
    """Say how strong the distortion is: the slope, or the shift where it is strongest."""
    if facts.slope and incident.kind in ("too_extreme", "too_timid"):
        figure = facts.slope
        return f"slope about {figure.value:.2f}, 95 % {figure.low:.2f} to {figure.high:.2f}"
    return f"by about {shape_size(incident):.2f} in log-odds"


def shape_size(incident: Incident) -> float | None:
    """Find how far the log-odds are off where a distortion is strongest; None of a slope."""
    direction = KINDS.index(incident.kind) // 2
    if not direction:
        return None
    return float(abs(incident.scores[direction] / incident.informations[direction]))


def _level(lift: Lift) -> str:
    often = "more" if lift.lift > 0 else "less"
    return (
        f"All scores come true {often} often than the prior explains: the curve was lifted by "
        f"about {lift.lift:+.2f} in logit (kappa {lift.kappa:+.3f}, standard error "
        f"{lift.kappa_error:.3f})."
    )


def _prior(facts: Facts) -> str:
    known = not isnan(facts.prevalence)
    today = f"{facts.prevalence:.2%} on {facts.day}" if known else f"not known for {facts.day}"
    if facts.lift is None:
        return f"Prevalence {today}."
    told = (
        f"Prevalence {today}, {facts.reference_prevalence:.2%} in the reference; over the week the "
        f"log-odds of all scores moved by {facts.lift.shift:+.2f} (standard error "
        f"{facts.lift.shift_error:.2f})."
    )
    # The other verdicts speak of the level; this one would be the same at any prevalence.
    drifting = facts.state == "calibration_drift"
    return f"{told} The drift was found apart from that." if drifting else told


def _rate(facts: Facts) -> str:
    return (
        f"On average at least {facts.false_alert_days:,} days pass between two such alerts that "
        "are false."
    )


def _times(log10: float) -> str:
    """Write a ratio of likelihoods with two digits, or as a power of ten if it is long."""
    if log10 >= LONG:
        return f"10^{log10:.0f}"
    return f"{float(f'{10**log10:.2g}'):,g}"


def _ended(text: str) -> str:
    return text if text.endswith(".") else f"{text}."
