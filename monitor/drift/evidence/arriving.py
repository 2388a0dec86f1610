"""Could the delay of outcomes look like this drift? Pure.

If an outcome of 1 has arrived with probability F1(s) when its day is judged, and one of 0 with
F0(s), then the outcomes that are known follow the log-odds ``eta(s) + log F1(s) / F0(s)``. A delay
that depends on the outcome only moves the intercept. One that depends on the score bends the curve,
as far as the shares that arrive late allow.
"""

from dataclasses import replace

import numpy as np

from monitor.days.arrivals import Late
from monitor.drift.curve.reference import Reference
from monitor.drift.evidence.lost_labels import no_lost
from monitor.drift.records.day_evidence import KINDS
from monitor.drift.records.detector import WITHHELD, Detector, Incident, is_withheld


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
    direction, side = divmod(KINDS.index(incident.kind), 2)
    size = abs(incident.size) - 2.0 * incident.size_error - reference.tolerances[direction]
    bent = (2 * side - 1) * max(0.0, size) / 2.0 * reference.directions[direction, reference.known]
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
