"""Can the probabilities be trusted, and what is to be done: a line each. Pure."""

from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from math import ceil
from shlex import quote
from typing import NamedTuple

from monitor.base.segment_names import shown
from monitor.drift.records.detector import (
    NOT_COMPARABLE,
    OUTCOMES_MISSING,
    SCORES_EQUAL,
    Incident,
    is_level,
)
from monitor.drift.records.facts import Obstacle, OneDay, ReferenceChange, Scores
from monitor.drift.records.verdict import DRIFTING, OF_LABELS, State, Verdict
from monitor.words import label_change
from monitor.words.advice import waiting_longer
from monitor.words.broken import STEP
from monitor.words.improved import fits_in_short, from_where_to_where, rebased
from monitor.words.level import (
    LARGE,
    duller_in_short,
    is_of_base_rate,
    of_both,
    outcomes_of,
    outside_in_short,
    today_in_short,
    what_moved,
)
from monitor.words.numbers import times
from monitor.words.reading import read_again
from monitor.words.values import step_for, values_in_short
from monitor.words.verdict import (
    MUCH_UNKNOWN,
    drift_in_short,
    in_short,
    not_enough_yet,
    one_day_in_short,
    own_faults,
    reference_changed_in_short,
)
from monitor.words.where import Maps, repair_commands, where_command

NAMED = 3  # segments that a line names
LOOK_AGAIN = "Look again in some weeks; it pages again if the outcomes say that it lasts."


class Trust(NamedTuple):
    """The answer, and the next step."""

    answer: str
    step: str


COUNTED_AGAIN = Trust(
    "Not surely: the same entities seem to be counted again.",
    "Set predictions.entity to the columns that name customers, devices or campaigns.",
)
MIX = "Ask how the column of the segments is written since: their shares are far from usual."
ANSWERS: Mapping[State, Trust] = {
    "ok": Trust("Yes: no evidence of a change since the reference.", "Nothing."),
    "prior_shift": Trust(
        "Yes, but for the level: the base rate moved, the curve did not.",
        "Usually nothing. If absolute probabilities are used and the shift stays, correct the "
        "intercept: see CalibrationPriorShift in the runbook.",
    ),
    "level_drift": Trust(
        "Not the level: outcomes moved more than the prior explains.",
        "Ask whether outcomes are counted as before. If so, correct the intercept: see "
        "CalibrationLevelDrift in the runbook.",
    ),
}


OF_CLASS = (
    "Look at how the scores and the labels of this class are written: a class left out, changed "
    "places, default vectors, or a rule that relabels outcomes."
)
WAITING: Mapping[Obstacle, Trust] = {
    "outcomes awaited": Trust(
        "Not known yet: outcomes are still awaited.", "Wait until the day has settled."
    ),
    "part of the reference": Trust(
        "The day is part of the reference, or before it.", "Wait for later days."
    ),
}
NO_MAP = (
    "Repair the model: no map can be fitted to a log with the highest scores only, or to a sample "
    "by class."
)


class Need(NamedTuple):
    """Something that a first reference needs: how many there are, and how many it takes."""

    of: str
    there: int
    least: int


def trust(
    verdict: Verdict,
    elsewhere: Sequence[str] = (),
    until_first: str = "",
    maps: Maps = "parts",
    *,
    counted: bool = True,
    few_known: str = "",
) -> Trust:
    """Answer for someone who reads nothing else.

    Parameters
    ----------
    verdict : Verdict
        Its `reasons` are not read.
    elsewhere : sequence of str
        Other segments with an open drift.
    until_first : str
        What `first_verdict` says, of a model without a reference.
    maps : str
        What `recalibrate` can fit a map of.
    counted : bool
        Whether values of columns are counted every day, as for `where_command`.
    few_known : str
        What `few_outcomes` says of the day.
    """
    says_where = where_command(verdict.model, counted=counted)
    command = f"calibration-monitor show --model {verdict.model} --segment"
    if elsewhere and verdict.state not in DRIFTING:
        names = ", ".join(shown(name) for name in elsewhere[:NAMED])
        more = f" and {len(elsewhere) - NAMED} more" if len(elsewhere) > NAMED else ""
        return Trust(
            f"Not everywhere: scores of {names}{more} have drifted.",
            f"{command} '{shown(elsewhere[0])}' says how.",
        )
    if verdict.facts.obstacle:
        return _not_judged(verdict, until_first, _repair(verdict, maps, says_where))
    values = verdict.values.ranked if verdict.values else ()
    if values and verdict.state not in DRIFTING:
        return Trust(
            f"Not everywhere: {values_in_short(values, NAMED)}.",
            step_for(verdict.model, values[0]),
        )
    return _judged(verdict, maps, _repair(verdict, maps, says_where), few_known)


def after_one_day(said: Trust, day: date, found: OneDay) -> Trust:
    """Answer where a day of the week before contradicted the reference, and the newest does not.

    Examples
    --------
    >>> said = Trust("Yes: no evidence of a change.", "Nothing.")
    >>> after_one_day(said, date(2026, 2, 10), OneDay(55.1, "too_extreme")).answer[30:84]
    'But 2026-02-10 alone contradicts the reference, 10^55 '
    """
    if not said.answer.startswith("Yes"):
        return said
    more = f"But {day} alone contradicts the reference, {times(found.evidence)} to 1"
    return Trust(
        f"{said.answer} {more}, and counts in the numbers of the week.",
        f"Ask what happened on {day}; if its scores or outcomes are corrected, run that day again.",
    )


def none_since(model: str, day: date) -> str:
    """Say that no day was judged after one, though later days must have settled.

    Examples
    --------
    >>> none_since("ads", date(2026, 3, 7)).partition(":")[0]
    'No day after 2026-03-07 was judged, though later ones must have settled'
    """
    return (
        f"No day after {day} was judged, though later ones must have settled: ask why; "
        f"calibration-monitor run --model {quote(model)} judges the newest settled day."
    )


def _not_judged(v: Verdict, until_first: str, repair: str) -> Trust:
    if v.facts.obstacle == "logs failed":
        run = f"calibration-monitor run --model {v.model} --day {v.day}"
        return Trust(
            f"Unknown: the logs of {v.day} failed a check.",
            f"Correct the logs, then {run}. The check says below what is wrong.",
        )
    if v.incident:
        return Trust(f"No: {drift_in_short(v, v.incident)}.", repair)
    if v.facts.obstacle == "read otherwise":
        return Trust(
            "Unknown: the day was read otherwise than its reference.",
            f"{read_again(v.model, v.facts.unlike[0])}, or name a new reference.",
        )
    if v.facts.obstacle and (waiting := WAITING.get(v.facts.obstacle)):
        return waiting
    if v.facts.obstacle == "no reference":
        return Trust("Not known yet: there is no reference.", until_first or "See why below.")
    return Trust("Unknown: the day could not be judged.", "See why below.")


def _judged(v: Verdict, maps: Maps, repair: str, few_known: str) -> Trust:
    if v.state in DRIFTING and v.incident:
        return _drifting(v, v.incident, maps, repair)
    if v.state == "acknowledged":
        return _of_plan(v, v.plan.last if v.plan else v.day)
    if v.facts.changed:
        return _of_two_kinds(v, v.facts.changed)
    if "counted again" in v.facts.faults:
        return COUNTED_AGAIN
    if v.state == "ok" and (faults := " and ".join(own_faults(v))):
        step = f"calibration-monitor recalibrate --model {v.model} fits a map."
        step = NO_MAP if maps == "none" else step
        return Trust(f"As far as before: even in the reference scores are {faults}.", step)
    answer = _so_far(v, _of_level_today(v, few_known) or ANSWERS[v.state])
    return answer._replace(step=MIX) if v.facts.mix and answer.step == "Nothing." else answer


def _of_plan(v: Verdict, until: date) -> Trust:
    """Answer while a plan covers the day, and while outcomes recover after it."""
    if v.day > until:
        said = f"Not asked: a change was planned until {until}, and outcomes are recovering."
        return Trust(said, "Nothing while they do; what lasts alerts again.")
    return Trust(f"Not asked: a change is planned until {until}.", "Nothing until then.")


def _of_two_kinds(v: Verdict, changed: ReferenceChange) -> Trust:
    """Answer where what all days are compared with changed itself."""
    rebase = f"calibration-monitor rebase {quote(v.model)} --from {changed.since}"
    return Trust(
        f"Not surely: {reference_changed_in_short(changed)}.",
        f"If the scores were right before, name those days: verdicts.references: [{{first: "
        f"{changed.first}, last: {changed.since - timedelta(1)}}}]. If since, {rebase} takes a new "
        "reference.",
    )


def _so_far(v: Verdict, answer: Trust) -> Trust:
    """Say that there is evidence of a change, if there is some and not enough."""
    said = "" if v.facts.today or v.facts.one_day else not_enough_yet(v)
    if said and v.state == "ok":
        return Trust(f"Yes so far: a change is not ruled out, {said}.", "Look again tomorrow.")
    if said and v.state == "prior_shift":
        more = f"{answer.answer} A change of the curve is not ruled out: {said}."
        return answer._replace(answer=more)
    return answer


def _of_level_today(v: Verdict, few_known: str) -> Trust | None:
    """Answer where the level of the day, or of the week, is off without an incident."""
    ask = f"Ask what was released on {v.day}, or changed in the service. Look again tomorrow."
    if v.facts.today:
        return Trust(f"Not today: {today_in_short(v.facts.today)}.", ask)
    if answer := _of_coverage(v, few_known):
        return answer
    if v.facts.one_day:
        return Trust(f"Not today: {one_day_in_short(v.facts.one_day)}.", ask)
    if v.state == "ok" and v.facts.scores:
        return _of_scores(v.facts.scores)
    if v.state == "prior_shift" and v.facts.scores and v.shift:
        return _of_prior(v.facts.scores, v.shift.value)
    return None


def _of_scores(scores: Scores) -> Trust | None:
    """Answer where outcomes fit and the scores changed all the same; None if they did not."""
    if max(scores.below, scores.above) > MUCH_UNKNOWN:
        return Trust(
            f"Yes, but of some nothing is known: {outside_in_short(scores)}.",
            "Ask what gives these rows their score: a default, a limit, rounding, or new cases.",
        )
    if scores.duller:
        return Trust(
            f"Yes, and {duller_in_short(scores)}.",
            "Ask whether a feature was lost, or the mix of cases changed. Nothing repairs it but "
            "the model.",
        )
    return None


def _of_coverage(v: Verdict, few_known: str) -> Trust | None:
    """Answer where fewer outcomes are known than usual; None where there are not."""
    coverage, step = v.facts.covered, label_change.ASKED["lost"]
    of = few_known or (label_change.covered(coverage) if coverage else "")
    if v.facts.late:
        step = f"{waiting_longer(v.facts.late).capitalize()}."
    if of and v.state == "prior_shift":
        step = f"{step} If none is missing, see CalibrationPriorShift in the runbook."
        return Trust(f"Not surely: the base rate moved, and {of}.", step)
    if v.state == "ok" and (few_known or (coverage and coverage.now < coverage.before)):
        return Trust(f"Yes, as far as outcomes are known: {of}.", step)
    return None


def _drifting(v: Verdict, incident: Incident, maps: Maps, repair: str) -> Trust:
    """Answer while an incident is open."""
    if incident.improved:
        return Trust(
            f"Yes, better than before: {fits_in_short(v, incident)}.", rebased(v, incident)
        )
    if incident.kind == OUTCOMES_MISSING:
        step = f"{label_change.ASKED['lost']} A map would repair what may not be broken."
        return Trust(f"Perhaps: {in_short(v)}.", f"{step} {label_change.SECTION}")
    if is_level(incident.kind):
        return _of_level(v, incident, maps)
    if v.labels and v.state in OF_LABELS:
        step = f"{label_change.step(v.labels)} {label_change.SECTION}"
        return Trust(f"Not the outcomes: {in_short(v)}.", step)
    if v.state == "undecided":
        return Trust(f"Perhaps: {in_short(v)}, but it may be over.", LOOK_AGAIN)
    said = from_where_to_where(v, incident)
    return Trust(f"No: {in_short(v)}{f', {said}' if said else ''}.", repair)


def _of_prior(scores: Scores, shift: float) -> Trust:
    """Answer where the level moved and the curve did not: with the base rate, or without it."""
    step = ANSWERS["prior_shift"].step
    if not is_of_base_rate(scores, shift):
        step = (
            "Ask whether inputs or the model changed. If the difference stays, correct the "
            "intercept: see CalibrationPriorShift in the runbook."
        )
        moved = what_moved(scores)
        said = f"{moved[0].lower()}{moved[1:]}{of_both(scores, shift)}"
        return Trust(f"Not the level: {said}", step)
    moved = f"the base rate moved ({outcomes_of(scores)})"
    if abs(shift) >= LARGE:
        return Trust(f"Once the base rate is known: {moved}, and then the scores fit.", step)
    return Trust(f"Yes, but for the level: {moved}, and the scores fit once it is known.", step)


def _of_level(v: Verdict, incident: Incident, maps: Maps) -> Trust:
    """Answer where all scores are off, or nothing is known of them."""
    ask = f"Ask what was released on {incident.started}, or changed in the service."
    if incident.kind == SCORES_EQUAL:
        return Trust(f"No: {in_short(v)}.", f"{ask} No map can repair a constant.")
    if incident.kind in NOT_COMPARABLE and v.facts.scores and v.facts.scores.few:
        return Trust(f"No: {in_short(v)}.", f"{ask} No map can repair scores that are so few.")
    if incident.kind in NOT_COMPARABLE:
        rebase = f"calibration-monitor rebase {quote(v.model)} --from {incident.started}"
        return Trust(
            f"Unknown: {in_short(v)}.",
            f"{ask} If the new scores are meant, {rebase} compares with them.",
        )
    if (values := v.explaining(incident)) and maps == "parts":
        fitted = " ".join(repair_commands(v.model, values))
        return Trust(f"No: {in_short(v)}.", f"{ask} {fitted} fits a map of that part alone.")
    if incident.place:
        return Trust(f"No: {in_short(v)}.", f"{ask} {OF_CLASS}")
    fit = (
        NO_MAP
        if maps == "none"
        else (
            f"calibration-monitor recalibrate --model {quote(v.model)} fits the intercept that "
            "repairs it, with what it gains."
        )
    )
    return Trust(f"No: {in_short(v)}.", f"{ask} {fit}")


def _repair(v: Verdict, maps: Maps, says_where: str) -> str:
    if v.incident and v.incident.place and v.incident.place.family != "region":
        return STEP
    if maps == "none":
        return f"{says_where} says where it sits. {NO_MAP}"
    if v.explanation and maps == "parts":
        return " ".join(
            f"{command} fits a map of that part alone."
            for command in repair_commands(v.model, v.explanation)
        )
    return (
        f"{says_where} says where it sits, and recalibrate --model {quote(v.model)} what a map "
        "would repair."
    )


def first_verdict(needs: Sequence[Need], first: date, last: date, wait: int) -> str:
    """Say what is missing for the first reference, and when the first verdict is to be expected.

    Parameters
    ----------
    needs : sequence of Need
        What was counted from the first to the last day.
    first, last : date
        The days that were counted, final ones and those between them.
    wait : int
        Days until a day is judged.

    Examples
    --------
    >>> needs = [Need("final days", 30, 28), Need("positive outcomes", 268, 300)]
    >>> first_verdict(needs, date(2026, 4, 1), date(2026, 4, 30), 7)
    'Wait: 268 of 300 positive outcomes are there; the first verdict comes about 2026-05-12.'
    """
    missing = [need for need in needs if need.there < need.least]
    *more, last_one = [f"{n.there:,} of {n.least:,} {n.of}" for n in missing] or [
        "all days and outcomes that it takes"
    ]
    listed = f"{', '.join(more)} and {last_one}" if more else last_one
    if any(not need.there for need in missing):
        return f"Wait: {listed} are there, too few to say when the first verdict comes."
    length = (last - first).days + 1
    days = max((ceil((n.least - n.there) * length / n.there) for n in missing), default=0)
    about = last + timedelta(days=days + 1 + wait)
    return f"Wait: {listed} are there; the first verdict comes about {about}."
