"""Drifts that are acknowledged, and what would have been found without that. Pure.

Rule: what was found stays on record. From the first day of a span of known drifts on, the fold goes
on a second time, a fork, as if that span and later ones were not configured. What the fork finds is
recorded and ends as acknowledged; it raises no alert, and the verdict's own detector is as before.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date, timedelta

from monitor.drift.detector import Acknowledged, Detector, Ended, Fork, Incident
from monitor.drift.inputs import Limits

KEPT = timedelta(weeks=52)  # after its span a fork remembers no other days than the detector
Streams = Mapping[str, Detector]
Forks = Mapping[date, Streams]  # by the first day of the span that each does not know


def forks_of(detectors: Streams) -> dict[date, dict[str, Detector]]:
    """Collect the forks that detectors were stored with."""
    forks: dict[date, dict[str, Detector]] = {}
    for name, detector in detectors.items():
        for fork in detector.forks:
            forks.setdefault(fork.since, {})[name] = fork.detector
    return forks


def alone(detector: Detector) -> Detector:
    """Give a detector without its forks, its record and its shift, which resets leave alone."""
    return replace(detector, forks=(), acknowledged=(), moved=None)


def with_new_forks(forks: Forks, detectors: Streams, day: date, limits: Limits) -> Forks:
    """Begin a fork on the first day of a span, and forget it a year after the last."""
    lasting = dict(forks)
    for first, last in limits.known_drifts:
        if first <= day <= last:
            lasting.setdefault(first, {n: replace(d, second=None) for n, d in detectors.items()})
        elif day > last + KEPT:
            lasting.pop(first, None)
    return lasting


def limits_of_fork(limits: Limits, since: date) -> Limits:
    """Leave out the spans that a fork does not know."""
    return replace(limits, known_drifts=tuple(s for s in limits.known_drifts if s[0] < since))


def with_record(
    detector: Detector, day: date, earlier: Sequence[Acknowledged], forks: Mapping[date, Detector]
) -> Detector:
    """Put the forks beside a detector, and bring its record up to date.

    Parameters
    ----------
    detector : Detector
        Of the verdict, after the day.
    day : date
        The day.
    known : sequence of Acknowledged
        The record of the day before.
    forks : mapping of date to Detector
        Its forks, after the day.

    Returns
    -------
    Detector
        Where it has found a drift itself, what the forks had found is over and they go on from it.
    """
    own = detector.incident
    opens = own is not None and own.opened == day
    others = [f.incident for f in forks.values() if f.incident]
    beside = {drift.opened: drift for drift in others if not own or drift.opened != own.opened}
    record = _recorded(earlier, day, beside, set() if opens else set(beside))
    now = [drift for drift in record if drift.closed in (None, day)]
    ended = Ended(now[-1].started, day, "acknowledged") if now and not own else detector.ended
    same = replace(detector, second=None)
    kept = {since: same if opens else fork for since, fork in forks.items()}
    return replace(
        detector,
        ended=ended,
        forks=tuple(Fork(since, alone(fork)) for since, fork in sorted(kept.items())),
        acknowledged=record,
    )


def _recorded(
    earlier: Iterable[Acknowledged],
    day: date,
    incidents: Mapping[date, Incident],
    lasting: set[date],
) -> tuple[Acknowledged, ...]:
    """Add the incidents that were found, and close those that last no longer."""
    before = {drift.opened: drift for drift in earlier}
    record = {opened: _acknowledged(drift) for opened, drift in sorted(incidents.items())} | before
    return tuple(
        drift if drift.closed or drift.opened in lasting else replace(drift, closed=day)
        for _, drift in sorted(record.items())
    )


def _acknowledged(incident: Incident) -> Acknowledged:
    since = (incident.started, incident.start_low, incident.start_high)
    return Acknowledged(incident.opened, *since, incident.kind, incident.evidence)
