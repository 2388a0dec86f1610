"""A verdict in words, for someone who was just woken up. Pure."""

from collections.abc import Iterator
from math import log10

from monitor.base.segment_names import FAMILIES, THIRD
from monitor.drift.records.detector import (
    LEVEL_KINDS,
    RECOVERED,
    WEEKS,
    Incident,
    Worse,
    is_level,
    shape_size,
)
from monitor.drift.records.facts import OneDay, ReferenceChange
from monitor.drift.records.life import life_state
from monitor.drift.records.places import explained_by
from monitor.drift.records.verdict import DRIFTING, SLOPE_KINDS, Verdict
from monitor.words import classes
from monitor.words.advice import (
    COUNTED_AGAIN,
    awaited_reference,
    ended,
    late_outcomes,
    wrong_labels,
)
from monitor.words.broken import broken_in_short, what_broke
from monitor.words.improved import fits_in_short, improved_sentences, moved_sentence
from monitor.words.label_change import (
    as_if,
    covered,
    labels_in_short,
    labels_or_scores,
    lost_or_prior,
)
from monitor.words.level import (
    collapsed,
    duller,
    factor,
    is_of_base_rate,
    level_in_short,
    level_of_values,
    level_sentences,
    of_today,
    outside,
    side_of,
    what_moved,
)
from monitor.words.mix import mix_sentences
from monitor.words.numbers import about, odds, percent, times
from monitor.words.obstacles import why_not_judged
from monitor.words.reading import segments_read_otherwise
from monitor.words.values import priors_of_their_own, value_sentences
from monitor.words.where import where_sentence

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
    "place": "at one place among the scores, such as one value, outcomes no longer fit, and "
    "elsewhere they are as before",
}
# What the outcomes say of the third choice, where that is clear from the kind.
THIRD_CHOICES = {
    "too_extreme": "more outcomes go to a third class than its score says",
    "tails_too_extreme": "more outcomes go to a third class than its score says",
    "too_timid": "fewer outcomes go to a third class than its score says",
    "tails_too_timid": "fewer outcomes go to a third class than its score says",
}
UNDECIDED = (
    f"Over the last {WEEKS} weeks the outcomes say neither that this lasts nor that it is over: "
    "what is left is smaller than this volume can tell."
)
MORE_THAN_LATE = "But no delay of so few outcomes could look like this drift."
OWN_FAULTS = "Unchanged since the reference, whose own scores are"
WORTH_SAYING = 0.5  # log10 of the odds of recovery
WITHHELD = "withheld"  # instead of a number: evidence that late outcomes could explain
UNDER_WAY = 1.5  # log10: evidence of a change that is worth saying before it is enough
MUCH_UNKNOWN = 0.05  # of the scores, where the reference does not know its curve


def sentences(verdict: Verdict) -> tuple[str, ...]:
    """Say what, since when, how strong, which scores, what the prior did, how often it is false.

    At the end which reference is awaited, where an open drift sits, and which values drift by
    themselves.

    Parameters
    ----------
    verdict : Verdict
        Its `reasons` are not read.
    """
    return tuple(filter(None, _sentences(verdict)))


def _sentences(v: Verdict) -> Iterator[str]:
    yield from _found(v)
    if v.facts.changed and (v.state in DRIFTING or v.facts.obstacle == "part of the reference"):
        yield reference_changed(v.facts.changed)
    if "counted again" in v.facts.faults and v.facts.obstacle in (None, "part of the reference"):
        yield COUNTED_AGAIN
    if v.facts.wrong and not v.facts.obstacle:
        yield wrong_labels(v.facts.wrong)
    if v.facts.strata and not v.facts.obstacle:
        yield priors_of_their_own(v.facts.strata)
    if v.facts.awaits:
        yield awaited_reference(v.facts.awaits)
    if v.where:
        yield where_sentence(v.where)
    yield from _of_parts(v)


def _found(v: Verdict) -> Iterator[str]:
    """Say why a day is not judged, what is open or planned, or that nothing was found."""
    if v.facts.obstacle:
        yield why_not_judged(v)
    elif v.state in DRIFTING and v.incident:
        yield from _open(v, v.incident)
    elif v.state == "acknowledged":
        yield from _planned(v)
    else:
        if v.facts.changed:  # which puts in doubt all that follows
            yield reference_changed(v.facts.changed)
        yield from _no_drift(v)


def _of_parts(v: Verdict) -> Iterator[str]:
    """Say which values drift by themselves, which segments are not compared, and how many rows."""
    if v.values:
        yield from value_sentences(v.values.ranked)
    if v.facts.obstacle != "read otherwise":
        yield from segments_read_otherwise(v.model, v.facts.unlike)
    if v.facts.mix:
        yield from mix_sentences(v.facts.mix)


def _planned(v: Verdict) -> Iterator[str]:
    """Say of a day that a plan covers what is planned, and what was found."""
    plan, over = v.plan, v.detector.ended
    said = plan.why if plan else ""
    what = f"A change ({said})" if said else "A change"
    found = over and over.reason == "acknowledged" and over.closed == v.day
    if plan is None:  # as a version of before stored it
        yield f"{what} is planned: what is found on these days alerts nobody."
    elif v.day <= plan.last:
        yield (
            f"{what} is planned until {plan.last}: what is found up to that day alerts nobody. "
            "What lasts is an alert on the first day that is judged after it."
        )
    else:
        yield (
            f"{what} was planned until {plan.last}, and outcomes are recovering since: nobody is "
            "alerted while they do."
        )
    if found and over:
        yield f"The outcomes do not follow the reference since {over.started}."
    yield _prior(v)


def _open(v: Verdict, incident: Incident) -> Iterator[str]:
    """Say what is open: a distortion, and an error of the level beside it, or that alone."""
    if incident.improved:
        yield from improved_sentences(v, incident)
        yield from _recovery(incident)
        yield _prior(v)
        return
    if is_level(incident.kind):
        yield from level_sentences(v, incident)
        yield from _recovery(incident)
        if v.distortion:
            yield f"Besides, {drift_in_short(v, v.distortion)}."
        yield _rate(v)
        return
    yield from _drift(v, incident)
    if v.level_incident:
        yield f"Besides, {level_in_short(v, v.level_incident)}."


def in_short(v: Verdict) -> str:
    """Say in a few words what is wrong, and since when; empty if nothing is."""
    if v.state in DRIFTING and v.incident:
        return drift_in_short(v, v.incident)
    if v.state == "data_error":  # what is wrong; after that comes what to do
        return ended(v.facts.complaint).removeprefix(f"{v.model} {v.day}: ").split(";")[0]
    return ""


def drift_in_short(v: Verdict, incident: Incident) -> str:
    """Say in a few words what a drift is, since when, and how strong."""
    if incident.improved:
        return fits_in_short(v, incident)
    if is_level(incident.kind):
        return level_in_short(v, incident)
    told = v.headline(incident)
    values = v.explaining(incident)
    of_values = f"{explained_by(values)}: " if values else ""
    if told.labels:
        found = f"since {incident.started}, found at {odds(incident.evidence)}"
        return f"{of_values}{labels_in_short(told.labels)} {found}"
    if incident.place:
        what = broken_in_short(incident, incident.place)
        return f"{of_values}{what} since {incident.started}, found at {odds(incident.evidence)}"
    if values and values.kind in LEVEL_KINDS:
        far = f"scores {factor(values.size)} {side_of(values.kind)} (odds)"
        return f"{of_values}{far} since {incident.started}, found at {odds(incident.evidence)}"
    by = "" if told.kind in SLOPE_KINDS else f" by {told.size:.2f} in log-odds"
    kind = ("third choices " if v.of_third_choices else "") + told.kind.replace("_", " ")
    since = ", gradually, since about" if incident.gradual else " since"
    worse = ", worse than before" if incident.worse else ""
    what = f"{of_values}{kind}{since} {incident.started}{by}{worse}"
    return f"{what}, found at {odds(incident.evidence)}"


def _drift(v: Verdict, incident: Incident) -> Iterator[str]:
    since = f"{incident.started} (90 % {incident.start_low} to {incident.start_high})"
    since = f"Gradually, since about {since}" if incident.gradual else f"Since {since}"
    sits = "," if incident.gradual else ""
    values = v.explaining(incident)
    sits = f", in {explained_by(values)}," if values else sits
    labels = v.labels if incident is v.distortion else None
    if labels:
        yield f"{since}{sits} the outcomes look {as_if(labels)}."
    elif incident.place:
        yield f"{since}{sits} {what_broke(incident, incident.place)}."
    elif values and values.kind in LEVEL_KINDS:
        yield f"{since} {level_of_values(values, incident)}."
    else:
        yield f"{since}{sits} {_meaning(v, incident)} ({_size(v, incident)})."
    if v.facts.labels and incident is v.distortion:
        yield labels_or_scores(v.facts.labels)
    if not labels:
        yield moved_sentence(v, incident)
    if incident.worse:
        yield _worse(v, incident, incident.worse)
    if life_state(incident) == "undecided":
        yield UNDECIDED
    yield classes.worst_pairs(v.facts.of_classes)
    # The limit of a segment depends on how many others alert that day.
    limit = f"; the limit is {times(v.limit)}" if v.segment in FAMILIES and v.limit else ""
    took = "It took the place of another drift. " if incident.started > incident.opened else ""
    took = "" if incident.worse else took
    yield (
        f"{took}On {incident.opened} the evidence for a drift, over all days on which it may have "
        f"begun, reached {times(incident.evidence)} to 1{limit}."
    )
    yield from _recovery(incident)
    yield from _silence(v)
    yield _prior(v)
    # How often an alert is false is known for complete outcomes that are counted once.
    if v.facts.late:
        yield f"{late_outcomes(v.facts.late)} {MORE_THAN_LATE}"
    elif "counted again" not in v.facts.faults:
        yield _rate(v)


def _recovery(incident: Incident) -> Iterator[str]:
    if incident.recovery > WORTH_SAYING:
        yield (
            f"Since then {times(incident.recovery)} to 1 speaks for recovery; at "
            f"{times(RECOVERED)} to 1 the incident closes."
        )


def _meaning(v: Verdict, incident: Incident) -> str:
    """Say what the outcomes now say of the scores."""
    if not v.of_third_choices:
        return MEANINGS[v.headline(incident).kind]
    seen = THIRD_CHOICES.get(incident.kind, "outcomes of third choices no longer fit their scores")
    return f"{seen}. Between the first and the third choice {MEANINGS[incident.kind]}"


def _worse(v: Verdict, incident: Incident, before: Worse) -> str:
    """Say since when it is worse, and what it was before."""
    if v.slope and before.slope and shape_size(incident) is None:
        beyond = about(v.slope).removesuffix(f" {v.slope.value:.2f}")
        of = f"{beyond} " if beyond in ("at most", "at least") else ""
        change = f"a slope of {of}{v.slope:.2g value}, it was {before.slope:.2g}"
    else:
        change = f"before, {MEANINGS[before.kind]} (by about {abs(before.size):.2f} in log-odds)"
    return (
        f"Worse since {incident.started}: {change}. On {before.found} the evidence for this change "
        f"reached {times(before.evidence)} to 1."
    )


def _size(v: Verdict, incident: Incident) -> str:
    """Say how strong the distortion is: the slope, or the shift where it is strongest."""
    told = v.headline(incident)
    if told.slope:
        return f"slope {about(told.slope)}"
    return f"by about {told.size:.2f} in log-odds"


def _rate(v: Verdict) -> str:
    if v.facts.on_average:
        return (
            f"Such an alert is false once in {v.facts.false_alert_days:,} days, on average over "
            "references, while the curve does not change."
        )
    return (
        f"On average at least {v.facts.false_alert_days:,} days pass between two such alerts that "
        "are false."
    )


def _no_drift(v: Verdict) -> Iterator[str]:
    """Say that no drift was found, what that is worth, and what moved all the same."""
    if v.facts.late:
        yield late_outcomes(v.facts.late)
    if v.facts.today:
        yield from of_today(v, v.facts.today)
    if v.facts.one_day:
        yield one_day_sentence(v.facts.one_day)
    level = v.state == "level_drift"
    if level:  # what the verdict is comes first
        yield _moved(v)
    if own := " and ".join(own_faults(v)):
        mixed = level or v.facts.changed
        begin = "In the reference scores were" if mixed else OWN_FAULTS
        yield f"{begin} {own}."
    detectable = v.detectable
    size = (
        f" of the slope larger than {detectable.found:.2f}"
        if detectable and detectable.found > 0.0
        else ""
    )
    if not v.facts.one_day:
        yield _evidence_so_far(v, size)
    yield _held_down(v)
    if v.facts.covered:
        yield (
            f"The share of known outcomes changed: {covered(v.facts.covered)}. If those of one "
            "kind went missing, that looks like a shift of the prior."
        )
    yield "" if level else _moved(v)
    if v.facts.lost:
        yield lost_or_prior(v.facts.lost)
    if v.facts.scores:
        told = v.state == "prior_shift" and not v.facts.today
        yield what_moved(v.facts.scores) if told else ""
        yield outside(v.facts.scores)
        yield collapsed(v.facts.scores)
        yield "" if v.facts.today or v.facts.one_day else duller(v.facts.scores)
    yield from _silence(v)
    yield _prior(v)
    yield _lasting(v)


def _evidence_so_far(v: Verdict, size: str) -> str:
    """Say that there is no evidence of a change, or that there is some and not enough."""
    if so_far := not_enough_yet(v):
        return f"Not enough evidence of a change since the reference yet: {so_far}."
    return f"No evidence of a change{size} since the reference, whatever the prior."


def not_enough_yet(v: Verdict) -> str:
    """Say how much evidence there is, if it is worth saying and opens nothing; empty if not.

    Of a whole with classes that of its single classes counts too, which has a limit of its own.
    """
    if v.reached is None:
        return ""
    of_each = [(v.reached, v.limit)]
    if v.facts.classes:
        of_each.append((v.detector.level.evidence, log10(v.facts.false_alert_days)))
    under_way = [pair for pair in of_each if UNDER_WAY <= pair[0] < pair[1]]
    if not under_way:
        return ""
    nearest = max(under_way, key=lambda pair: pair[0] - pair[1])
    reached, limit = map(times, nearest)
    nearly = "nearly " if reached == limit else ""
    return f"{nearly}{reached} to 1, and an incident opens at {limit} to 1"


def reference_changed_in_short(changed: ReferenceChange) -> str:
    """Say in a few words on which day a reference itself changed, and from which slope to which.

    Examples
    --------
    >>> from datetime import date
    >>> first, since = date(2026, 1, 1), date(2026, 1, 21)
    >>> reference_changed_in_short(ReferenceChange(first, since, "too_extreme", 1.02, 0.7))
    'the reference itself changed on 2026-01-21 (slope 1.02 before, 0.70 since)'
    """
    slopes = ""
    if changed.before is not None and changed.after is not None:
        slopes = f" (slope {changed.before:.2f} before, {changed.after:.2f} since)"
    return f"the reference itself changed on {changed.since}{slopes}"


def reference_changed(changed: ReferenceChange) -> str:
    """Say how the days of a reference differ from those before, and what that is worth."""
    said = reference_changed_in_short(changed)
    return (
        f"{said[0].upper()}{said[1:]}: from then on {MEANINGS[changed.kind]}. Days are compared "
        "with a mixture of both, so a change like this one is not found."
    )


def one_day_in_short(found: OneDay) -> str:
    """Say in a few words that a single day contradicts the reference."""
    return f"this day alone contradicts the reference, {times(found.evidence)} to 1"


def one_day_sentence(found: OneDay) -> str:
    """Say it, what it looks like, and what comes of it."""
    said = one_day_in_short(found)
    return (
        f"{said[0].upper()}{said[1:]}, as if {MEANINGS[found.kind]}; it pages if the next day does "
        "so too."
    )


def _held_down(v: Verdict) -> str:
    """Say that there is no alert because outcomes hang together."""
    if v.facts.alone is None or v.reached is None:
        return ""
    return (
        f"If outcomes were independent, the evidence for a drift would be {times(v.facts.alone)} "
        f"to 1, over the limit; as they hang together, it is {times(v.reached)} to 1."
    )


def own_faults(v: Verdict) -> Iterator[str]:
    """Say how the reference itself was not calibrated."""
    slope, intercept = v.reference_slope, v.reference_intercept
    if slope and "slope" in v.facts.faults:
        yield f"too {'extreme' if slope.value < 1.0 else 'timid'} (slope {slope:.2f plain})"
    if intercept and "intercept" in v.facts.faults:
        word = "low" if intercept.value > 0.0 else "high"
        yield f"too {word} on average (intercept {intercept:+z.2f plain})"


def _moved(v: Verdict) -> str:
    """Say what the intercept of the week moved with."""
    change = v.level_change
    if v.facts.of_classes.off is not None:
        return classes.moved(v.facts.of_classes, change)
    if v.facts.moved == "lift" and change and v.facts.lift is not None:
        often = "more" if v.facts.lift > 0 else "less"
        return (
            f"All scores come true {often} often than before, and the scores did not move along as "
            "they would under a shift of the prior alone: as if the curve had been lifted by "
            f"{v.facts.lift:+z.2f} in logit (level change {change:+z.3f plain error})."
        )
    if v.facts.moved == "prior or inputs" and change:
        more, lifted = ("more", "lifted") if change.value > 0.0 else ("less", "lowered")
        return (
            f"Outcomes are {more} frequent than a shift of the prior explains (level change "
            f"{change:+z.3f plain error}), but the inputs moved too: "
            "scores and outcomes alone do not separate a shift of prior and inputs together from "
            f"a {lifted} curve."
        )
    if v.state != "prior_shift":
        return ""
    if v.facts.classes:
        only = "" if v.facts.moved == "not looked for" else "; pairs of classes show nothing else"
        return f"The frequencies of classes moved{only}."
    scores, shift = v.facts.scores, v.shift
    alone = not scores or not shift or is_of_base_rate(scores, shift.value)
    alone = alone and not v.facts.one_day
    return "Once the base rate is known the scores fit: only the prior moved." if alone else ""


def _silence(v: Verdict) -> Iterator[str]:
    """Say which scores the verdict is not about."""
    yield classes.rests_on(v.facts.of_classes)
    told = v.incident and v.incident.place
    if v.evidence and v.evidence.unknown_share >= MUCH_UNKNOWN and not told:
        yield (
            f"{percent(v.evidence.unknown_share, 0)} of the scores lie where the reference has too "
            "few outcomes: of these only a break at one place is judged."
        )


def _prior(v: Verdict) -> str:
    if v.segment == THIRD:  # which class of a pair is the first one means nothing
        return ""
    if v.facts.classes:
        return classes.frequencies(v.facts.classes)
    prevalence = v.facts.prevalence
    today = "not known for" if prevalence is None else f"{percent(prevalence, 2)} on"
    if v.shift is None or not v.has_reference:
        return f"Prevalence {today} {v.day}."
    # The other verdicts speak of the level; this one would be the same at any prevalence.
    apart = " The drift was found apart from that." if v.state in DRIFTING else ""
    return (
        f"Prevalence {today} {v.day}, {percent(v.reference_prevalence, 2)} in the reference; over "
        f"the week the log-odds of all scores moved by {v.shift:+z.2f error}.{apart}"
    )


def _lasting(v: Verdict) -> str:
    """Say what a single week does not show of the prior."""
    lasting = v.facts.lasting
    if not lasting or v.state == "level_drift":
        return ""
    days = (v.day - lasting.since).days + 1
    shift = lasting.shift
    return (
        f"Over the {days} days since {lasting.since} the log-odds of all scores are "
        f"{shift:+z.2f value} away from the reference ({shift:+z.2f interval})."
    )
