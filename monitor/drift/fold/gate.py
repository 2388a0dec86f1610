"""What stands between evidence over its limit and an alert, of every stream alike. Pure.

Rule: a gate is asked only of evidence that would raise an alert, of a first look and of the second
one beside an open incident alike. So nothing is asked of the past on the days on which there is
nothing to say.

Late outcomes withhold an alert. If an outcome of 1 has arrived with probability F1(s) when its day
is judged, and one of 0 with F0(s), then the outcomes that are known follow the log-odds ``eta(s) +
log F1(s) / F0(s)``. A delay that depends on the outcome only moves the intercept. One that depends
on the score bends the curve, as far as the shares that arrive late allow.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from monitor.days.arrivals import Late
from monitor.drift.curve.reference import Reference
from monitor.drift.evidence.entities import held_down_by_entities, held_down_by_overlap
from monitor.drift.evidence.lost_labels import no_lost
from monitor.drift.fold.inputs import Day
from monitor.drift.fold.today import Today
from monitor.drift.incidents.detecting import SaidSince, opened_incident, unknown
from monitor.drift.incidents.label_change import only_if_told, unless_always_so
from monitor.drift.records.day_evidence import KINDS, DayEvidence, direction_of, sign_of
from monitor.drift.records.detector import WITHHELD, Detector, Incident, is_withheld


@dataclass(frozen=True, eq=False)
class Look:
    """A stream that has been weighed, or the second look beside its open incident.

    Attributes
    ----------
    name : str
        The stream.
    reference : Reference
        What it is weighed against: its own, or that of the second look.
    detector : Detector
        What has accumulated, today included.
    evidence : DayEvidence
        Of today.
    days : sequence of Day
        Those that were judged together.
    since : function of a date
        What the days since say; a second look does not know it.
    """

    name: str
    reference: Reference
    detector: Detector
    evidence: DayEvidence
    days: Sequence[Day]
    since: SaidSince = unknown


def rows_hang_together(today: Today, look: Look, enough: float) -> Detector:
    """Let rows of the same entities, or of neighbouring days, count as the fewer that they are."""
    if look.detector.evidence < enough:
        return look.detector
    if any(day.entities for day in look.days):
        sums_of = partial(today.sums_of, look.reference, look.name)
        return held_down_by_entities(look.detector, look.evidence, look.days[-1].day, sums_of)
    if look.reference.overlap > 1.0:
        return held_down_by_overlap(look.detector, look.reference, look.evidence)
    return look.detector


def labels_are_told(today: Today, look: Look, enough: float) -> Detector:
    """Let lost labels raise an alert only where nothing else looks like them."""
    return only_if_told(look.detector, today.day.day, look.evidence, enough, look.since)


def labels_were_right(today: Today, look: Look, enough: float) -> Detector:
    """Let evidence wait that labels explain which were wrong before the reference too."""
    of_look = look.detector, look.reference, today.day.day, look.evidence
    return unless_always_so(*of_look, enough, look.since)


GATES = (rows_hang_together, labels_are_told, labels_were_right)  # none of them adds evidence


def gated(today: Today, look: Look, enough: float) -> Detector:
    """Hold evidence down that would raise an alert and that something else could make.

    Parameters
    ----------
    today : Today
        The day.
    look : Look
        What has been weighed.
    enough : float
        The evidence that raises an alert, log10.
    """
    for gate in GATES:
        look = replace(look, detector=gate(today, look, enough))
    return look.detector


def may_be_late(today: Today, look: Look) -> bool:
    """Return whether late outcomes could look like the drift that an alarm would report."""
    if not today.day.late:
        return False
    opened = opened_incident(look.detector, today.day.day, look.evidence, look.since)
    return could_explain(today.day.late, look.reference, opened)


def could_explain(late: Late, reference: Reference, incident: Incident) -> bool:
    """Return whether outcomes that arrive late could bend the curve as this drift does.

    Notes
    -----
    With the distortion h, the delay has to make ``F1 / F0 = exp(h - t)`` for some t. The least
    shares of late outcomes that do so are those of ``F1 = min(1, exp(h - t))`` and
    ``F0 = min(1, exp(t - h))``, averaged over the scores of each kind. The reference saw late
    outcomes too, so the delay may have changed by twice as much: its half has to be explained,
    and only what is beyond the tolerance and two standard errors.
    """
    direction, sign = direction_of(incident.kind), sign_of(incident.kind)
    size = abs(incident.size) - 2.0 * incident.size_error - reference.tolerances[direction]
    bent = sign * max(0.0, size) / 2.0 * reference.directions[direction, reference.known]
    counts = reference.counts.counts[reference.known]
    positives = reference.counts.positives[reference.known]
    steps = np.linspace(bent.min(), bent.max(), 65)[:, None]
    least_late = [
        1.0 - np.average(np.exp(np.minimum(0.0, gap)), axis=1, weights=weights)
        for gap, weights in ((bent - steps, positives), (steps - bent, counts - positives))
    ]
    return bool(np.any((least_late[0] <= late.positives) & (least_late[1] <= late.negatives)))


def withheld(detector: Detector) -> Detector:
    """Hold the evidence of a drift that late outcomes could explain at a fixed level."""
    return replace(_without_labels(detector), sums=np.full(len(KINDS), WITHHELD), counted=0)


def released(detector: Detector) -> Detector:
    """Begin again with no evidence, if it was withheld: it rests on incomplete outcomes."""
    if not is_withheld(detector):
        return detector
    return replace(_without_labels(detector), sums=np.zeros(len(KINDS)), counted=0)


def _without_labels(detector: Detector) -> Detector:
    return detector if detector.labels is None else replace(detector, labels=no_lost())
