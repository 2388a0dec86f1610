"""Scores that are all too high or too low, in words. Pure."""

from collections.abc import Iterator
from math import exp, isfinite, isnan, log

from monitor.drift.records.detector import (
    LEVEL_KINDS,
    NOT_COMPARABLE,
    OUTCOMES_MISSING,
    SCORES_EQUAL,
    Incident,
)
from monitor.drift.records.facts import Scores
from monitor.drift.records.places import Explanation, explained_by, listed
from monitor.drift.records.region_state import Break
from monitor.drift.records.verdict import Verdict
from monitor.words.broken import score, share, which_scores
from monitor.words.classes import rests_on, worst_of_class
from monitor.words.label_change import missing_in_short, missing_sentence
from monitor.words.numbers import odds, percent, short_percent, times

MOSTLY, WORTH = 0.75, log(1.25)  # of an error of the level: what the base rate explains; logit
SAME = 0.1  # of the error: so little moved of the prevalence, or of the mean score
MOST_SCORES = 3  # of few: how many are told one by one
TINY = 1e-4  # a share that is written as less than that
SEEN = 0.05  # of the scores outside of those of the reference: so many are worth a sentence
LARGE = log(2.0)  # logit: a shift with which no mean score is right any more
CHANCE = (
    "Inputs and base rate that moved against each other by as much, by chance, would look the same."
)


def factor(size: float) -> str:
    """Say by how much odds are off, of a size in log-odds.

    Examples
    --------
    >>> factor(-2.2), factor(0.3), factor(3.9)
    ('9 times', '1.3 times', '49 times')
    """
    return f"{float(f'{exp(abs(size)):.2g}'):,g} times"


def side_of(kind: str) -> str:
    """Say on which side scores are off."""
    return "too high" if kind == LEVEL_KINDS[0] else "too low"


def level_in_short(v: Verdict, incident: Incident) -> str:
    """Say in a few words what is wrong with all scores, and since when."""
    since = f"since {incident.started}"
    if incident.kind == OUTCOMES_MISSING:
        return missing_in_short(v.facts.covered, incident)
    if incident.kind == SCORES_EQUAL:
        few = v.facts.scores.few if v.facts.scores else ()
        return f"all scores are {score(few[0].score) if len(few) == 1 else 'equal'} {since}"
    if incident.kind in NOT_COMPARABLE and v.facts.scores and v.facts.scores.few:
        left = listed([score(of.score) for of in v.facts.scores.few[:MOST_SCORES]])
        return f"{len(v.facts.scores.few)} different scores are left, such as {left}, {since}"
    if incident.kind in NOT_COMPARABLE:
        return f"{_most_outside(v)} {since}"
    if incident.place:
        there = of_class_in_short(incident, incident.place)
        return f"{there} {since}, found at {odds(incident.evidence)}"
    gradually = ", gradually, since about" if incident.gradual else " since"
    worse = ", worse than before" if incident.worse else ""
    values = v.explaining(incident)
    of_values = f"{explained_by(values)}: " if values else ""
    size = values.size if values else incident.size
    far = f"{factor(size)} {side_of(incident.kind)} (odds){gradually}"
    return (
        f"{of_values}{whose(incident)} {far} {incident.started}{worse}, "
        f"found at {odds(incident.evidence)}"
    )


def level_sentences(v: Verdict, incident: Incident) -> Iterator[str]:
    """Say what moved and what did not, by how much, since when, and how certain that is."""
    since = f"{incident.started} (90 % {incident.start_low} to {incident.start_high})"
    if incident.kind == OUTCOMES_MISSING:
        yield missing_sentence(v.facts.covered, incident)
    elif incident.kind in NOT_COMPARABLE:
        yield _not_comparable(v, incident)
    elif incident.place:
        yield f"Since {since} {_of_class(incident, incident.place)}."
    else:
        since = f"Gradually, since about {since}," if incident.gradual else f"Since {since}"
        yield f"{since} {_how_far(v, incident)}."
    if v.facts.scores:
        yield what_moved(v.facts.scores)
        yield "" if incident.kind == OUTCOMES_MISSING else looks_like(v.facts.scores)
        if incident.kind not in NOT_COMPARABLE:
            yield outside(v.facts.scores)
    if incident.kind in LEVEL_KINDS:
        yield f"The evidence for an error of the level reached {times(incident.evidence)} to 1."
    if incident.place:
        yield f"The evidence for a break reached {times(incident.evidence)} to 1."
    if incident.kind in LEVEL_KINDS or (
        incident.place and incident.place.family in ("region", "unlogged")
    ):
        yield CHANCE
    if incident.of_class and not v.distortion:
        yield worst_of_class(v.facts.of_classes)
        yield rests_on(v.facts.of_classes)


def _how_far(v: Verdict, incident: Incident) -> str:
    """Say by how much scores are off: those of the values that explain it, or all."""
    if values := v.explaining(incident):
        return (
            f"the scores of {explained_by(values)} are {factor(values.size)} "
            f"{side_of(values.kind)} in odds: the log-odds of their outcomes are "
            f"{values.size:+z.2f} away from their own curve in the reference, and those of all "
            f"outcomes {incident.size:+z.2f} (standard error {incident.size_error:.2f}), of which "
            f"the base rate explains {_explained(incident)}"
        )
    return (
        f"{whose(incident, of_all='all scores')} are {factor(incident.size)} "
        f"{side_of(incident.kind)} in odds: the log-odds of the outcomes are {incident.size:+z.2f} "
        f"away from the curve of the reference (standard error {incident.size_error:.2f}), of "
        f"which the base rate explains {_explained(incident)}"
    )


def level_of_values(values: Explanation, incident: Incident) -> str:
    """Say that the level of some values bends the curve of all rows; follows "since" and a date."""
    columns = listed([*dict.fromkeys(condition.column for condition in values.conditions)])
    return (
        f"the scores of {explained_by(values)} are {factor(values.size)} {side_of(values.kind)} in "
        f"odds. All rows together look {incident.kind.replace('_', ' ')}, but within the values of "
        f"{columns}, each with a level of its own, the curve is as before"
    )


def whose(incident: Incident, of_all: str = "scores") -> str:
    """Say which scores are off."""
    return f"the scores of {incident.of_class}" if incident.of_class else of_all


def of_class_in_short(incident: Incident, place: Break) -> str:
    """Say in a few words at which scores of a class its outcomes are others than before."""
    often = "more" if incident.size > 0.0 else "less"
    other = f", and {incident.other_class} is off too" if incident.other_class else ""
    return (
        f"{incident.of_class} comes true {often} often where its {_reading(place)} is "
        f"{which_scores(place)}{other}"
    )


def _reading(place: Break) -> str:
    """Name the scores of a class at which a break is."""
    if place.family == "adjusted":
        return "score, adjusted for the priors of each day,"
    return "score"


def _of_class(incident: Incident, place: Break) -> str:
    """Say how many rows have such scores of a class, and how often it comes true there."""
    before = "" if isnan(place.rate_before) else f" ({share(place.rate_before)} in the reference)"
    usual = share(place.share_before) if place.share_before else "none"
    other = incident.other_class
    confused = (
        ""
        if other is None
        else (
            f". The only other class that is off is {other}: as if outcomes of one were recorded "
            "as the other, or both had changed places"
        )
    )
    return (
        f"{incident.of_class} comes true in {share(place.rate)} of the rows where its "
        f"{_reading(place)} is {which_scores(place)}{before}: these are {share(place.share)} of "
        f"all rows ({usual} in the reference). No shift of the priors of classes puts outcomes "
        f"there, nor do inputs that moved{confused}"
    )


def today_in_short(size: float) -> str:
    """Say in a few words by how much the scores of a single day are off."""
    side = "too high" if size < 0.0 else "too low"
    return f"scores {factor(size)} {side} (odds) on this day alone"


def of_today(v: Verdict, size: float) -> Iterator[str]:
    """Say that a single day contradicts the reference, and what comes of it."""
    said = today_in_short(size)
    yield f"{said[0].upper()}{said[1:]}; it pages if the next day says so too."
    if v.facts.scores:
        yield what_moved(v.facts.scores)
        yield looks_like(v.facts.scores)


def _explained(incident: Incident) -> str:
    """Say how much of an error came with the base rate."""
    own = incident.size - (incident.unexplained or 0.0)
    against = own * incident.size <= 0.0 or abs(own) < SAME * abs(incident.size)
    return "nothing" if against else f"{own:+z.2f}"


def _not_comparable(v: Verdict, incident: Incident) -> str:
    few = few_scores(v.facts.scores) if v.facts.scores else ""
    if incident.kind == SCORES_EQUAL:
        return (
            f"Since {incident.started} all scores are equal; in the reference they were not. "
            f"The outcomes still vary, so the scores say nothing of them. {few}".rstrip()
        )
    if few:
        return f"Since {incident.started} scores have collapsed. {few}"
    return (
        f"Since {incident.started} {_most_outside(v)}, where the reference says nothing of the "
        "outcomes."
    )


def few_scores(scores: Scores) -> str:
    """Say which few scores are left, and how often each comes true; empty if they are many.

    Examples
    --------
    >>> from monitor.drift.records.facts import FewScore
    >>> few = FewScore(0.0, 0.66, 0.21, 0.001, False), FewScore(1.0, 0.34, 0.78, 1.0, False)
    >>> few_scores(Scores(0.4, 0.3, 0.4, 0.4, few=few, different_before=140))[:77]
    '2 different scores are left, of 140: 66 % of the rows have 0, and 21 % of the'
    """
    if not scores.few:
        return ""
    told = [
        f"{share(of.share)} of the rows have {score(of.score)}, and {share(of.rate)} of them come "
        f"true (by the curve of the reference {_at_least(of.expected)})"
        for of in scores.few[:MOST_SCORES]
    ]
    left = len(scores.few) - MOST_SCORES
    more = f"; and {left} more" if left > 0 else ""
    number = len(scores.few)
    begin = "1 score is left" if number == 1 else f"{number} different scores are left"
    return f"{begin}, of {scores.different_before}: {'; '.join(told)}{more}."


def _at_least(expected: float) -> str:
    return "less than 0.01 %" if expected < TINY else share(expected)


def collapsed(scores: Scores) -> str:
    """Say of few scores that can be compared whether outcomes fit them; empty if they are many."""
    if not scores.few:
        return ""
    if all(of.fits for of in scores.few):
        return (
            f"{len(scores.few)} different scores are left, of {scores.different_before}, and the "
            "outcomes fit each of them: the scores say less than before, but what they say holds."
        )
    return few_scores(scores)


def _most_outside(v: Verdict) -> str:
    scores = v.facts.scores
    if scores and max(scores.above, scores.below) >= SEEN:
        return outside_in_short(scores)
    share = v.evidence.unknown_share if v.evidence else 0.0
    return f"{percent(share, 0)} of the scores lie beyond those that the reference knows well"


def outside(scores: Scores) -> str:
    """Say how many scores lie where the reference had none; empty if hardly any."""
    return f"{outside_in_short(scores)}." if max(scores.above, scores.below) >= SEEN else ""


def outside_in_short(scores: Scores) -> str:
    """Say how many scores lie beyond one end of those of the reference."""
    share, side = max((scores.above, "above"), (scores.below, "below"))
    return f"{percent(share, 0)} of the scores are {side} all of the reference's"


def what_moved(scores: Scores) -> str:
    """Say what the mean score and the outcomes did, and which of the two moved."""
    mean, outcomes = _change(scores.mean_before, scores.mean), _outcomes(scores)
    moved, followed = _logit_change(scores.mean_before, scores.mean), base_rate(scores)
    larger = max(abs(moved), abs(followed))
    if abs(followed) <= SAME * larger:
        which = "the scores moved and the outcomes did not"
    elif abs(moved) <= SAME * larger:
        which = "the outcomes moved and the scores did not"
    elif moved * followed < 0.0:
        which = "scores and outcomes moved apart"
    else:
        which = "both moved"
    return f"The mean score went from {mean}, the outcomes from {outcomes}: {which}."


def duller_in_short(scores: Scores) -> str:
    """Say in a few words that scores discriminate less."""
    return (
        "the scores discriminate less than in the reference (standard deviation of their log-odds "
        f"{scores.spread_before:.2f} to {scores.spread:.2f})"
    )


def duller(scores: Scores) -> str:
    """Say it, and that the probabilities are right; empty if they tell as much."""
    if not scores.duller or scores.few:
        return ""
    said = duller_in_short(scores)
    return (
        f"{said[0].upper()}{said[1:]}, and outcomes fit them: the model became duller, or the "
        "cases more alike."
    )


def base_rate(scores: Scores) -> float:
    """Give the change of the base rate in log-odds; 0 if it is not known."""
    return _logit_change(scores.outcomes_before, scores.outcomes)


def is_of_base_rate(scores: Scores, shift: float) -> bool:
    """Say whether the base rate moved with the log-odds of the outcomes, and nearly as far.

    Under a shift of the prior alone both move by the same.

    Examples
    --------
    >>> is_of_base_rate(Scores(0.2, 0.22, 0.2, 0.33), 0.7)
    True
    >>> is_of_base_rate(Scores(0.2, 0.06, 0.2, 0.11), 0.7)  # scores too low, though outcomes fell
    False
    """
    explained = base_rate(scores) * (1.0 if shift > 0.0 else -1.0)
    return abs(shift) - explained <= max(WORTH, (1.0 - MOSTLY) * abs(shift)) and explained > 0.0


def of_both(scores: Scores, shift: float) -> str:
    """Say how much of an error the base rate explains; empty if none of it worth saying."""
    own = base_rate(scores)
    if own * shift <= 0.0 or abs(own) <= SAME * abs(shift):
        return ""
    return f" The base rate explains {own:+z.2f} of {shift:+z.2f} in log-odds."


def outcomes_of(scores: Scores) -> str:
    """Give the share of positive outcomes of the reference and of the week."""
    return f"outcomes {_outcomes(scores)}"


def _outcomes(scores: Scores) -> str:
    return _change(scores.outcomes_before, scores.outcomes)


def _change(before: float, now: float) -> str:
    return f"{short_percent(before, 2)} to {short_percent(now, 2)}"


def _logit_change(before: float, now: float) -> float:
    ends = [log(p / (1.0 - p)) for p in (before, now) if isfinite(p) and 0.0 < p < 1.0]
    return ends[1] - ends[0] if len(ends) == 2 else 0.0  # noqa: PLR2004 both are known


def looks_like(scores: Scores) -> str:
    """Name the map that seems to have been applied to every score; empty if none is simple."""
    if scores.like == "log odds":
        return f"It is as if {scores.by:+z.2f} had been added to the log-odds of every score."
    if scores.like == "percent":
        read = (
            "percent were read as probabilities"
            if scores.by > 1.0
            else "probabilities were read as percent"
        )
        return f"It is as if {read}: every score is {times_of(scores.by)} what it was."
    if scores.like == "other class":
        return "It is as if the scores were those of the other class, 1 - p."
    if scores.like == "rounded":
        return "It is as if the scores were rounded to 0 and 1."
    return ""


def mapped_since_reference(scores: Scores) -> str:
    """Say of a day what happened to every score since the reference; empty if no simple map did."""
    if not scores.like:
        return ""
    moved = what_moved(scores)
    return (
        f"compared with the reference, {moved[0].lower()}{moved[1:]} {looks_like(scores)} Ask what "
        "was released: a setting of this model would change how the days of the reference are "
        "read, too."
    )


def times_of(ratio: float) -> str:
    """Write a factor, or a fraction of one.

    Examples
    --------
    >>> times_of(100.0), times_of(0.01)
    ('100 times', '1/100 of')
    """
    return f"{ratio:,.0f} times" if ratio >= 1.0 else f"1/{1.0 / ratio:,.0f} of"
