"""A change since the reference for the better, or where a change led, in words. Pure."""

from collections.abc import Iterator
from shlex import quote

from monitor.drift.records.detector import Incident, is_level
from monitor.drift.records.verdict import Verdict
from monitor.metrics.core.estimate import Estimate
from monitor.words.numbers import times

NEAR = 0.05  # of slopes: so little is no move towards the diagonal, nor away from it


def fits_in_short(v: Verdict, incident: Incident) -> str:
    """Say in a few words since when the scores fit, and what they were in the reference."""
    own = _now_and_before(v, incident)
    return f"the scores fit since {incident.started}{f' ({own})' if own else ''}"


def improved_sentences(v: Verdict, incident: Incident) -> Iterator[str]:
    """Say that the scores fit, how certain that is, and that a new reference is due."""
    fit = fits_in_short(v, incident)
    yield f"{fit[0].upper()}{fit[1:]}: take a new reference from that day on."
    if incident.own:
        yield (
            "Since then the outcomes fit the scores as they are better than the curve of the "
            f"reference by {times(incident.own.gain)} to 1. The model has changed, for the better."
        )


def rebased(v: Verdict, incident: Incident) -> str:
    """Give the command that takes a new reference."""
    return (
        f"calibration-monitor rebase {quote(v.model)} --from {incident.started} takes a new "
        "reference from the days since."
    )


def from_where_to_where(v: Verdict, incident: Incident) -> str:
    """Say how the slope of the scores moved; empty unless the reference was off."""
    now, before = incident.own.slope if incident.own else None, v.reference_slope
    if not now or not before or "slope" not in v.facts.faults or is_level(incident.kind):
        return ""
    moved = f"slope of the scores as they are from {before.value:.2f} to {now.value:.2f}"
    return f"{moved}, {_direction(before.value, now.value)}"


def moved_sentence(v: Verdict, incident: Incident) -> str:
    """Say the same as a sentence."""
    said = from_where_to_where(v, incident)
    return f"{said[0].upper()}{said[1:]}." if said else ""


def _direction(before: float, now: float) -> str:
    """Say which way a slope moved, seen from 1.

    Examples
    --------
    >>> _direction(0.7, 0.85), _direction(0.7, 0.4), _direction(0.7, 1.3)
    ('nearer to 1, but not there', 'further from 1', 'past 1')
    """
    if (before - 1.0) * (now - 1.0) < 0.0 and abs(now - 1.0) > NEAR:
        return "past 1"
    closer = abs(before - 1.0) - abs(now - 1.0)
    return "nearer to 1, but not there" if closer > 0.0 else "further from 1"


def _now_and_before(v: Verdict, incident: Incident) -> str:
    """Give the slope or the intercept of the outcomes on the scores, now and in the reference."""
    own = incident.own
    if own is None:
        return ""
    if is_level(incident.kind):
        return _pair("intercept", own.intercept, v.reference_intercept, "+z.2f")
    return _pair("slope", own.slope, v.reference_slope, ".2f")


def _pair(name: str, now: Estimate | None, before: Estimate | None, style: str) -> str:
    if now is None:
        return ""
    then = f"; {before.value:{style}} in the reference" if before else ""
    return f"{name} {now.value:{style}}{then}"
