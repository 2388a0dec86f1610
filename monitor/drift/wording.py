"""A verdict in words, for someone who was just woken up. Pure."""

from dataclasses import dataclass
from datetime import date
from math import isfinite, isnan

from monitor.arrivals import ENOUGH, Late
from monitor.drift.class_wording import ClassFacts
from monitor.drift.detectable import PATIENCE, STRONG_CHANGE, USUAL_CHANGE, Detectable
from monitor.drift.detector import RECOVERED, Incident
from monitor.drift.evidence import KINDS
from monitor.drift.levels import LastingShift, Level
from monitor.drift.reference import Reference
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
INCOMPLETE = "so the outcomes are incomplete"
MORE_THAN_LATE = "But no delay of so few outcomes could look like this drift."
WORTH_SAYING = 0.5  # log10 of the odds of recovery
LONG = 6.0  # log10: a number too long to be read
WITHHELD = "withheld"  # instead of a number: evidence that late outcomes could explain
UNSEEN = "its days hold none of these predictions"
NOTHING_KNOWN = "no outcome of this day is known"
ONE_CLASS = "all outcomes of this day are equal, which says nothing of the scores"
ONE_SCORE = (
    "all scores of this day are equal, so its outcomes cannot tell high scores from low ones"
)
NO_CONTRAST = (
    "within each part of this day all scores or all outcomes are equal, so none is compared"
)
NEVER_CONTRAST = "within each part of its days all scores or all outcomes are equal"
OTHER_CLASSES = (
    "the classes are not those of the reference; name days with the new classes in "
    "verdicts.references"
)
NOTHING_IN_SPAN = "the days that are judged together hold no outcomes of both kinds"
FIRST_SPAN = "the first days that are judged together are not over"
NOT_CALIBRATED = 0.10  # the least difference of the reference's own slope from 1 that is reported
MUCH_UNKNOWN = 0.05  # of the scores, where the reference does not know its curve
TOO_LONG = 60  # days until a slope of 0.7 is found
LONG_AHEAD = 31  # days: a known drift of which nobody thinks any more
FEW_A_DAY = 20  # of the rarer outcome


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
    least_shift: float
    slope: Estimate | None
    lift: Lift | None
    moved: Level
    lasting: LastingShift | None
    prevalence: float
    reference: Reference | None
    detectable: Detectable | None
    unknown_share: float
    late: Late | None = None
    classes: ClassFacts | None = None
    awaited: tuple[date, str] | None = None


def sentences(facts: Facts) -> tuple[str, ...]:
    """Say what the day is, and which reference is awaited."""
    said = _sentences(facts)
    return (*said, awaited_reference(facts.awaited[1])) if facts.awaited else said


def _sentences(facts: Facts) -> tuple[str, ...]:
    """Say what, since when, how strong, which scores, what the prior did, how often it is false."""
    if facts.state == "data_error":  # it begins with the name of the model
        return (_ended(facts.obstacle),)
    if facts.state == "insufficient_data":
        return (_ended(facts.obstacle[:1].upper() + facts.obstacle[1:]),)
    if facts.state == "calibration_drift" and facts.incident:
        told = (*_drift(facts, facts.incident), *_silence(facts), *_prior(facts))
        # How often an alert is false is known for complete outcomes only.
        return (
            *told,
            f"{late_outcomes(facts.late)} {MORE_THAN_LATE}" if facts.late else _rate(facts),
        )
    if facts.state == "acknowledged":
        first = (
            f"A drift is acknowledged until {facts.known_until}. After that day the evidence "
            "starts again from zero."
        )
        return (first, *_prior(facts))
    incomplete = (late_outcomes(facts.late),) if facts.late else ()
    told = (*_unchanged(facts), *_moved(facts), *_silence(facts), *_prior(facts), *_lasting(facts))
    return (*incomplete, *told)


def _unchanged(facts: Facts) -> tuple[str, ...]:
    """Say that no drift was found, and what that is worth."""
    known = facts.detectable
    size = f" of the slope larger than {known.found:.2f}" if known and known.found > 0.0 else ""
    none = f"No evidence of a change{size} since the reference, whatever the prior."
    own = _own_faults(facts.reference, facts.least_shift) if facts.reference else ""
    return (f"Unchanged since the reference, whose own scores are {own}.", none) if own else (none,)


def _own_faults(reference: Reference, least_shift: float) -> str:
    """Say how the reference itself was not calibrated, beyond chance; empty if it was."""
    slope, intercept = reference.own_slope, reference.own_intercept
    faults = []
    if slope and (slope.low > 1.0 or slope.high < 1.0) and abs(slope.value - 1) > NOT_CALIBRATED:
        word = "extreme" if slope.value < 1.0 else "timid"
        faults.append(
            f"too {word} (slope {slope.value:.2f}, 95 % {slope.low:.2f} to {slope.high:.2f})"
        )
    if (
        intercept
        and (intercept.low > 0.0 or intercept.high < 0.0)
        and abs(intercept.value) > least_shift
    ):
        word = "low" if intercept.value > 0.0 else "high"
        faults.append(
            f"too {word} on average (intercept {intercept.value:+z.2f}, 95 % "
            f"{intercept.low:+z.2f} to {intercept.high:+z.2f})"
        )
    return " and ".join(faults)


def _moved(facts: Facts) -> tuple[str, ...]:
    """Say what the intercept of the week moved with."""
    if facts.state == "level_drift" and facts.lift:
        return (_level(facts.lift),)
    if facts.moved == "prior or inputs" and facts.lift:
        more, lifted = ("more", "lifted") if facts.lift.kappa > 0.0 else ("less", "lowered")
        undecided = (
            f"Outcomes are {more} frequent than a shift of the prior explains (level change "
            f"{facts.lift.kappa:+z.3f}, standard error {facts.lift.kappa_error:.3f}), but the "
            "inputs moved too: scores and outcomes alone do not separate a shift of prior and "
            f"inputs together from a {lifted} curve."
        )
        return (undecided,)
    if facts.classes and facts.state == "prior_shift":
        return ("Only the frequencies of classes moved.",)
    return ("Only the prior moved.",) if facts.state == "prior_shift" else ()


def _silence(facts: Facts) -> tuple[str, ...]:
    """Say which scores the verdict is not about."""
    rests_on = (facts.classes.rests_on,) if facts.classes and facts.classes.rests_on else ()
    if facts.unknown_share < MUCH_UNKNOWN:
        return rests_on
    return (
        *rests_on,
        (
            f"{facts.unknown_share:.0%} of the scores lie where the reference has too few "
            "outcomes: this verdict says nothing about them."
        ),
    )


def _lasting(facts: Facts) -> tuple[str, ...]:
    """Say what a single week does not show of the prior."""
    if not facts.lasting or facts.state == "level_drift":
        return ()
    shift, days = facts.lasting.shift, (facts.day - facts.lasting.since).days + 1
    return (
        (
            f"Over the {days} days since {facts.lasting.since} the log-odds of all scores are "
            f"{shift.value:+z.2f} away from the reference (95 % {shift.low:+z.2f} to "
            f"{shift.high:+z.2f})."
        ),
    )


def what_can_be_found(found: Detectable) -> str:
    """Say which changes the detector finds, and how long a slope of 0.8 takes."""
    if not found.found:  # the information is 0
        return f"With this reference no change of the slope can be found, because {NEVER_CONTRAST}."
    slope = 1.0 - USUAL_CHANGE
    takes = (
        f"would take about {found.days:,.0f} days" if isfinite(found.days) else "would not be found"
    )
    first = (
        f"With this reference, changes of the slope below {found.tolerated:.2f} are tolerated and "
        f"changes above {found.found:.2f} are found; a slope of {slope:.1f} {takes}."
    )
    if found.rarer >= FEW_A_DAY:
        return first
    never = (
        f"changes smaller than {found.within_patience:.2f} are not"
        if isfinite(found.within_patience)
        else "no change of the slope is"
    )
    few = f"With {found.rarer:.3g} of the rarer outcome a day, {never}"
    return f"{first} {few} found within {PATIENCE} days."


def awaited(coverage: float) -> str:
    """Say that outcomes are still coming."""
    share = "none" if isnan(coverage) or not coverage else f"{coverage:.0%}"
    return f"outcomes are still awaited: {share} of the predictions have one"


def late_outcomes(late: Late) -> str:
    """Say how many outcomes the verdicts do not know, and what to do."""
    shares = {"positives": late.positives, "negatives": late.negatives}
    kinds = [f"{share:.0%} of the {kind}" for kind, share in shares.items() if share > 1.0 - ENOUGH]
    wait = (
        f"set settled_after to {late.enough_after}, by when {ENOUGH:.0%} have arrived"
        if late.enough_after is not None
        else "raise settled_after; so far the delays are too long to say how far"
    )
    return (
        f"On average {' and '.join(kinds)} of a day arrive later than settled_after "
        f"({late.settled_after} days), {INCOMPLETE}; {wait}."
    )


def late_drift(late: Late) -> str:
    """Say that the outcomes fit the reference no more, which their delay could explain."""
    return (
        f"{late_outcomes(late)} The outcomes that have arrived do not fit the curve of the "
        "reference, but a delay that depends on the score would look the same, so this is no "
        "evidence of a drift"
    )


def late_level(late: Late) -> str:
    """Say that the level moved, which the delay of outcomes could explain."""
    return (
        f"{late_outcomes(late)} The level of the outcomes that have arrived moved, but a change of "
        "their delay would look the same"
    )


def inside_reference(day: date, first: date, last: date) -> str:
    """Say that a day is what others are compared with."""
    if day < first:
        return f"the day is before the reference, {first} to {last}"
    return f"the day is part of the reference, {first} to {last}"


def awaited_reference(lack: str) -> str:
    """Say that a new reference is not used yet, and which it is and what it lacks."""
    return (
        f"A configured reference is not used yet: {_ended(lack)} Until then the one before it "
        "stays in force."
    )


def no_reference(lack: str) -> str:
    """Say what the reference lacks."""
    return f"there is no reference to compare with yet: {lack}"


def long_acknowledgement(last: date, today: date) -> str | None:
    """Say that drifts are acknowledged for long; None if they are not.

    Examples
    --------
    >>> long_acknowledgement(date(2026, 12, 31), date(2026, 12, 1))
    """
    if (days := (last - today).days) <= LONG_AHEAD:
        return None
    return (
        f"known_drifts acknowledges every drift until {last}, for {days:,} more days: until then "
        f"none raises an alert. Name a day within {LONG_AHEAD} days, and move it if needed."
    )


def what_would_help(found: Detectable) -> str | None:
    """Say what to change where even a slope of 0.7 takes too long; None if it does not."""
    if not found.found:
        return "Fewer segments or strata, or days judged together (verdicts.judge_every), may help."
    if found.days_strong <= TOO_LONG:
        return None
    takes = (
        f"take about {found.days_strong:,.0f} days to be found"
        if isfinite(found.days_strong)
        else "never be found"
    )
    return (
        f"A slope of {1.0 - STRONG_CHANGE:.1f} would {takes}. A longer reference "
        "(verdicts.references), coarser segments, or days that are judged together "
        "(verdicts.judge_every) would help."
    )


def _drift(facts: Facts, incident: Incident) -> tuple[str, ...]:
    known = f"; the limit is {times(facts.limit)}" if facts.limit else ""
    took = "It took the place of another drift. " if incident.started > incident.opened else ""
    certainty = (
        f"{took}On {incident.opened} the evidence for a drift, over all days on which it may have "
        f"begun, reached {times(incident.evidence)} to 1{known}."
    )
    recovery = (
        f"Since then {times(incident.recovery)} to 1 speaks for recovery; at "
        f"{times(RECOVERED)} to 1 the incident closes."
    )
    what = (
        f"Since {incident.started} (90 % {incident.start_low} to {incident.start_high}) "
        f"{MEANINGS[incident.kind]} ({_size(facts, incident)})."
    )
    worst = (facts.classes.worst,) if facts.classes and facts.classes.worst else ()
    drift = (what, *worst, certainty)
    return (*drift, recovery) if incident.recovery > WORTH_SAYING else drift


def _size(facts: Facts, incident: Incident) -> str:
    """Say how strong the distortion is: the slope, or the shift where it is strongest."""
    if facts.slope and incident.kind in ("too_extreme", "too_timid"):
        figure = facts.slope
        return f"slope about {figure.value:.2f}, 95 % {figure.low:.2f} to {figure.high:.2f}"
    return f"by about {abs(incident.size):.2f} in log-odds"


def shape_size(incident: Incident) -> float | None:
    """Find how far the log-odds are off where a distortion is strongest; None of a slope."""
    return abs(incident.size) if KINDS.index(incident.kind) // 2 else None


def _level(lift: Lift) -> str:
    often = "more" if lift.lift > 0 else "less"
    return (
        f"All scores come true {often} often than the prior explains: the curve was lifted by "
        f"about {lift.lift:+z.2f} in logit (level change {lift.kappa:+z.3f}, standard error "
        f"{lift.kappa_error:.3f})."
    )


def _prior(facts: Facts) -> tuple[str, ...]:
    if facts.classes:
        return (facts.classes.frequencies,)
    known = not isnan(facts.prevalence)
    today = f"{facts.prevalence:.2%} on {facts.day}" if known else f"not known for {facts.day}"
    if facts.lift is None or facts.reference is None:
        return (f"Prevalence {today}.",)
    sentence = (
        f"Prevalence {today}, {facts.reference.prevalence:.2%} in the reference; over the week the "
        f"log-odds of all scores moved by {facts.lift.shift:+z.2f} (standard error "
        f"{facts.lift.shift_error:.2f})."
    )
    # The other verdicts speak of the level; this one would be the same at any prevalence.
    drifting = facts.state == "calibration_drift"
    return (f"{sentence} The drift was found apart from that." if drifting else sentence,)


def _rate(facts: Facts) -> str:
    return (
        f"On average at least {facts.false_alert_days:,} days pass between two such alerts that "
        "are false."
    )


def times(log10: float) -> str:
    """Write a ratio of likelihoods with two digits, or as a power of ten if it is long."""
    if log10 >= LONG:
        return f"10^{log10:.0f}"
    return f"{float(f'{10**log10:.2g}'):,g}"


def _ended(text: str) -> str:
    return text if text.endswith(".") else f"{text}."
