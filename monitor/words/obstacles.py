"""Why a day was not judged. Pure."""

from collections.abc import Mapping
from math import isfinite

from monitor.days.arrivals import Late
from monitor.drift.records.facts import MAY_BE_LATE, Obstacle
from monitor.drift.records.verdict import Verdict
from monitor.words.advice import ended, late_outcomes, missing
from monitor.words.numbers import percent
from monitor.words.reading import read_otherwise

FIXED: Mapping[Obstacle, str] = {
    "other classes": "The classes are not those of the reference; name days with the new classes "
    "in verdicts.references.",
    "first span not over": "The first days that are judged together are not over.",
    "span without contrast": "The days that are judged together hold no outcomes of both kinds.",
    "no predictions": "The day has no prediction of this segment.",
    "no outcomes": "No outcome of this day is known.",
    "equal outcomes": "All outcomes of this day are equal, which says nothing of the scores.",
    "equal scores": "All scores of this day are equal, so its outcomes cannot tell high scores "
    "from low ones.",
    "no contrast within parts": "Within each part of this day all scores or all outcomes are "
    "equal, so none is compared.",
}
UNSEEN = "its days hold none of these predictions"


def why_not_judged(verdict: Verdict) -> str:
    """Say what kept a day from being judged; the complaint about a log begins with its model."""
    facts = verdict.facts
    if facts.obstacle == "logs failed":
        return ended(facts.complaint)
    if facts.obstacle == "read otherwise":
        return read_otherwise(verdict.model, facts.unlike[0])
    if facts.obstacle == "outcomes awaited":
        is_known = facts.coverage is not None and isfinite(facts.coverage) and facts.coverage > 0
        share = percent(facts.coverage or 0.0, 0) if is_known else "none"
        return f"Outcomes are still awaited: {share} of the predictions have one."
    if facts.obstacle in ("part of the reference", "no reference"):
        return _without_reference(verdict)
    if facts.late and facts.obstacle in MAY_BE_LATE:
        return _late(facts.late, facts.obstacle)
    return FIXED[facts.obstacle] if facts.obstacle else ""


def _without_reference(verdict: Verdict) -> str:
    """Say that the day has no reference before it."""
    facts = verdict.facts
    if facts.obstacle == "part of the reference":
        first, last = facts.reference
        place = "before" if verdict.day < first else "part of"
        return f"The day is {place} the reference, {first} to {last}."
    why = missing(facts.lack) if facts.lack else UNSEEN
    return f"There is no reference to compare with yet: {why}."


def _late(late: Late, obstacle: Obstacle) -> str:
    """Say that the outcomes fit the reference no more, which their delay could explain."""
    what = (
        "do not fit the curve of the reference, but a delay that depends on the score would look "
        "the same, so this is no evidence of a drift."
        if obstacle == "drift may be late outcomes"
        else "moved, but a change of their delay would look the same."
    )
    of = "The" if obstacle == "drift may be late outcomes" else "The level of the"
    return f"{late_outcomes(late)} {of} outcomes that have arrived {what}"
