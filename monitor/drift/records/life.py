"""The life of an open drift as one table: its states, and what each event makes of them. Pure data.

Rule: what may happen to an incident is a row of `LIFE`, and nothing else happens. The fold chooses
the event of a day; the table says whether the drift gets a new name, whether evidence is collected
from nothing again, and whether it is over. The documentation writes the table out.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date
from typing import Literal

from monitor.drift.records.detector import (
    NOT_COMPARABLE,
    OUTCOMES_MISSING,
    RECOVERED,
    EndReason,
    Incident,
)
from monitor.drift.records.values import ValueIncident

LEAST_AGE = 7  # days before an incident may close: weak drifts waver around the middle
LifeState = Literal["none", "open", "recovering", "undecided", "unclear"]
DRIFTS: tuple[LifeState, ...] = ("open", "recovering", "undecided")
STATES_MEAN: Mapping[LifeState, str] = {
    "none": "no drift is open",
    "open": "a drift is open",
    "recovering": "it is open, and the last outcomes speak for its end",
    "undecided": "the last 13 weeks say neither that the open calibration drift lasts nor that it "
    "is over",
    "unclear": "something is open that may be no drift: scores outside of those of the reference, "
    "equal scores, or outcomes that are missing",
}
LifeEvent = Literal[
    "found",
    "found again",
    "lasts",
    "recovers",
    "replaced",
    "over",
    "worse",
    "moved",
    "cannot be compared",
    "other reference",
]


@dataclass(frozen=True)
class Step:
    """What an event does.

    Attributes
    ----------
    meaning : str
        What happened.
    before, after : tuple of str
        The states in which it may happen, and those that it may lead to.
    named : bool
        Whether the drift gets the name that fits best since its start, and its size.
    restarts : bool
        Whether evidence is collected from nothing again.
    ends : str or None
        Why the drift is over.
    """

    meaning: str
    before: tuple[LifeState, ...]
    after: tuple[LifeState, ...]
    named: bool = False
    restarts: bool = False
    ends: EndReason | None = None


LIFE: Mapping[LifeEvent, Step] = {
    "found": Step(
        "the evidence reached its limit", ("none", "unclear"), ("open",), named=True, restarts=True
    ),
    "found again": Step(
        "it reached the limit once more: what spoke for recovery counts no longer",
        DRIFTS,
        ("open",),
        named=True,
        restarts=True,
    ),
    "lasts": Step(
        "a day that says nothing for recovery", DRIFTS, ("open", "undecided"), named=True
    ),
    "recovers": Step(
        "outcomes speak for recovery, but not a thousand to one, or not yet for a week, or they "
        "hang together",
        DRIFTS,
        ("recovering", "undecided"),
    ),
    "replaced": Step(
        "it is gone, and another one is as certain: that takes its place, from the same opening on",
        DRIFTS,
        ("open",),
    ),
    "over": Step(
        "outcomes say a thousand to one that it is gone, or what could not be compared can be",
        (*DRIFTS, "unclear"),
        ("none",),
        ends="recovered",
    ),
    "worse": Step(
        "the second detector found a change further away from the reference: it pages again",
        DRIFTS,
        ("open",),
        named=True,
    ),
    "moved": Step(
        "the second detector found a change that leads no further: start and size move",
        DRIFTS,
        ("open", "undecided"),
        named=True,
    ),
    "cannot be compared": Step(
        "scores of which the reference says nothing, or outcomes that are missing as the base rate "
        "moves",
        ("none", "unclear"),
        ("unclear",),
    ),
    "other reference": Step(
        "the days are compared with another reference from here on",
        (*DRIFTS, "unclear"),
        ("none",),
        restarts=True,
        ends="rebased",
    ),
}


def weighed(incident: Incident | ValueIncident, day: date, said: float) -> tuple[LifeEvent, float]:
    """Choose what a day makes of an open drift, and give all that speaks for recovery, log10.

    Parameters
    ----------
    incident : Incident or ValueIncident
        Of the curve, the level, a class or a value.
    day : date
        The day.
    said : float
        log10 of the likelihood on this day that the drift is gone over that it is still there.

    Examples
    --------
    >>> found = date(2026, 3, 1)
    >>> drift = Incident(found, found, found, found, "too_extreme", 3.0, recovery=2.0)
    >>> weighed(drift, date(2026, 3, 4), 1.5), weighed(drift, date(2026, 3, 8), 1.5)
    (('recovers', 3.5), ('over', 3.5))
    """
    gained = max(0.0, incident.recovery + said)
    if gained >= RECOVERED and (day - incident.opened).days >= LEAST_AGE:
        return "over", gained
    return ("recovers" if gained else "lasts"), gained


def weighed_incident(
    incident: Incident, day: date, said: float, begun: date
) -> tuple[LifeEvent, Incident]:
    """Choose what a day makes of an open incident, and add it to what speaks for its recovery.

    Parameters
    ----------
    incident, day, said
        As for `weighed`.
    begun : date
        Since when it recovers, if nothing has spoken for that before.
    """
    event, gained = weighed(incident, day, said)
    since = (incident.recovering or begun) if gained else None
    return event, replace(incident, recovery=gained, recovering=since)


def life_state(incident: Incident | ValueIncident | None) -> LifeState:
    """Say in which state of its life a drift is.

    Examples
    --------
    >>> life_state(None)
    'none'
    """
    if incident is None:
        return "none"
    if incident.kind in (*NOT_COMPARABLE, OUTCOMES_MISSING):
        return "unclear"
    if isinstance(incident, Incident) and incident.undecided:
        return "undecided"
    return "recovering" if incident.recovery > 0.0 else "open"
