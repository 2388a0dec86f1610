"""Labels that changed since a drift began, in words. Pure."""

from datetime import date
from functools import partial

from monitor.drift.records.day_evidence import TOLD, Changed, LabelChange
from monitor.drift.records.detector import Incident
from monitor.drift.records.facts import LESS_COVERED, Coverage
from monitor.words.advice import LOOK_ALIKE
from monitor.words.numbers import percent, short_percent, times

AS_IF: dict[Changed, str] = {
    "lost": "of the positives were missing",
    "added": "of the negatives were recorded as positive",
}
CAUSES: dict[Changed, str] = {
    "lost": "positive outcomes that no longer arrive",
    "added": "outcomes that are recorded as positive and are not",
}
ASKED: dict[Changed, str] = {
    "lost": "Ask whether the join is complete and which source of outcomes stopped; once they "
    "come, run these days again.",
    "added": "Ask which source of outcomes was added or counts twice; once it is corrected, run "
    "these days again.",
}
NO_MAP = "A map would bend right scores to wrong labels, so none is fitted."
SECTION = "See CalibrationDrift in the runbook, labels."


def as_if(labels: LabelChange) -> str:
    """Say what the outcomes look like.

    Examples
    --------
    >>> from monitor.metrics.core.estimate import Estimate
    >>> as_if(LabelChange("lost", Estimate(0.2, 0.17, 0.23), 5.0))
    'as if 20 % (95 % 17 % to 23 %) of the positives were missing'
    """
    share = labels.share.written(partial(short_percent, digits=2))
    return f"as if {share} {AS_IF[labels.family]}"


def labels_in_short(labels: LabelChange) -> str:
    """Say it in a few words.

    Examples
    --------
    >>> from monitor.metrics.core.estimate import Estimate
    >>> labels_in_short(LabelChange("lost", Estimate(0.2, 0.17, 0.23), 5.0))
    'labels lost, as if 20 % of the positives were missing'
    """
    share = f"{short_percent(labels.share.value, 2)} {AS_IF[labels.family]}"
    return f"labels {labels.family}, as if {share}"


def labels_or_scores(labels: LabelChange) -> str:
    """Say how much likelier labels are than scores, and what else looks like them."""
    if not labels.told and labels.evidence >= TOLD:
        return (
            f"The outcomes also look {as_if(labels)} since then, but a curve that moved at one end "
            "alone looks the same: check the outcomes before you change the model."
        )
    if not labels.told:
        return (
            f"It is not clear yet whether the scores or the labels are wrong: since then the "
            f"outcomes fit about as well {as_if(labels)}. Check the outcomes first."
        )
    return (
        f"That is {times(labels.evidence)} times likelier than any distortion of the scores. Two "
        f"causes look the same: {CAUSES[labels.family]}, or rows that {LOOK_ALIKE[labels.family]}. "
        "If it is such rows, the number of rows grew by about as much; wrong outcomes leave it as "
        "it was."
    )


def covered(coverage: Coverage) -> str:
    """Say how many predictions have an outcome, and had one.

    Examples
    --------
    >>> covered(Coverage(1.0, 0.62))
    '62 % of the predictions have an outcome, 100 % in the reference'
    >>> covered(Coverage(1.0, 0.994))
    '99.4 % of the predictions have an outcome, 100.0 % in the reference'
    """
    digits = 0 if abs(coverage.now - coverage.before) > LESS_COVERED else 1
    now, before = (percent(share, digits) for share in (coverage.now, coverage.before))
    return f"{now} of the predictions have an outcome, {before} in the reference"


def few_outcomes(day: date, known: float, usual: float) -> str:
    """Say in a few words how few predictions of a day have an outcome, beside the days before.

    Examples
    --------
    >>> few_outcomes(date(2026, 2, 12), 0.333, 0.905)
    'only 33 % of the predictions of 2026-02-12 have an outcome, 90 % over the week'
    """
    now, before = percent(known, 0), percent(usual, 0)
    return f"only {now} of the predictions of {day} have an outcome, {before} over the week"


def lost_or_prior(share: float) -> str:
    """Say that lost positives look like a base rate that fell.

    Examples
    --------
    >>> lost_or_prior(0.21)
    'These outcomes do not say whether the base rate fell or 21 % of the positives are missing.'
    """
    missing = f"{percent(share, 0)} of the positives are missing"
    return f"These outcomes do not say whether the base rate fell or {missing}."


def missing_in_short(coverage: Coverage | None, incident: Incident) -> str:
    """Say in a few words that outcomes went missing on the days on which the base rate moved."""
    of = f" ({covered(coverage)})" if coverage else ""
    return f"outcomes went missing as the base rate moved, since {incident.started}{of}"


def missing_sentence(coverage: Coverage | None, incident: Incident) -> str:
    """Say what cannot be decided until the outcomes come."""
    kind, rate = ("positive", "lower") if incident.size < 0.0 else ("negative", "higher")
    fewer = f": {covered(coverage)}" if coverage else ""
    return (
        f"Since {incident.started} fewer predictions have an outcome{fewer}. On the same days the "
        f"log-odds of all scores moved, and are now {incident.size:+z.2f} away from the reference. "
        f"Missing {kind} outcomes look the same as a {rate} base rate, and these are enough to "
        "explain half of the move or more: which it is will be known once they come."
    )


def step(labels: LabelChange) -> str:
    """Say what to do."""
    return f"{ASKED[labels.family]} {NO_MAP}"
