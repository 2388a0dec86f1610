"""How the gauges of verdicts take their samples from a snapshot. Pure."""

from collections.abc import Callable, Iterable
from datetime import timedelta
from math import isnan

from monitor.drift.detector import Incident
from monitor.drift.evidence import KINDS
from monitor.drift.verdict import STATES, Verdict
from monitor.drift.wording import shape_size
from monitor.export.window_samples import SECONDS_A_DAY, Sample, Samples, Snapshot, T, seconds_of
from monitor.summary import end_of_day


def of_states(snapshot: Snapshot) -> Iterable[Sample[float]]:
    """Give 1 for the state of each verdict, and 0 for the other states."""
    return _of_verdicts(lambda v: [((s,), s == v.state) for s in STATES])(snapshot)


def of_evidence(snapshot: Snapshot) -> Iterable[Sample[float]]:
    """Take the accumulated evidence for every kind of distortion, if there is a reference."""

    def sums(v: Verdict) -> Iterable[Sample[float]]:
        if not isnan(v.reference_prevalence):
            yield from (((kind,), float(v.detector.sums[i])) for i, kind in enumerate(KINDS))

    return _of_verdicts(sums)(snapshot)


def of_kinds(snapshot: Snapshot) -> Iterable[Sample[float]]:
    """Give 1 for the kind of each open drift, and 0 for the other kinds."""

    def named(v: Verdict) -> Iterable[Sample[float]]:
        name = v.detector.incident.kind if v.detector.incident else None
        return [((kind,), kind == name) for kind in KINDS]

    return _of_verdicts(named)(snapshot)


def of_verdict(value: Callable[[Verdict], T | None]) -> Samples[T]:
    """Take one value of each verdict that has it."""

    def sample(v: Verdict) -> Iterable[Sample[T]]:
        found = value(v)
        return [] if found is None else [((), found)]

    return _of_verdicts(sample)


def of_incident(value: Callable[[Incident], float]) -> Samples[float]:
    """Take one number of each open drift."""
    return _of_verdicts(lambda v: [((), value(v.detector.incident))] if v.detector.incident else [])


def of_starts(snapshot: Snapshot) -> Iterable[Sample[float]]:
    """Find the moment at which the first day of each open drift began."""
    zones = {name: model.time_zone for name, model in snapshot.models.items()}

    def began(v: Verdict) -> Iterable[Sample[float]]:
        if v.detector.incident:
            before = v.detector.incident.started - timedelta(days=1)
            yield (), end_of_day(before, zones[v.model]).timestamp()

    return _of_verdicts(began)(snapshot)


def of_sizes(snapshot: Snapshot) -> Iterable[Sample[float]]:
    """Take the size of each open drift that no slope describes."""

    def size(v: Verdict) -> Iterable[Sample[float]]:
        found = shape_size(v.detector.incident) if v.detector.incident else None
        if found is not None:
            yield (), found

    return _of_verdicts(size)(snapshot)


def of_ends(snapshot: Snapshot) -> Iterable[Sample[float]]:
    """Find the date on which the last drift closed, and why."""

    def closed(v: Verdict) -> Iterable[Sample[float]]:
        if v.detector.ended:
            yield (v.detector.ended.reason,), seconds_of(v.detector.ended.closed)

    return _of_verdicts(closed)(snapshot)


def of_durations(snapshot: Snapshot) -> Iterable[Sample[float]]:
    """Find how long the last drift lasted that is over."""

    def lasted(v: Verdict) -> Iterable[Sample[float]]:
        if v.detector.ended:
            yield (), (v.detector.ended.closed - v.detector.ended.started).days * SECONDS_A_DAY

    return _of_verdicts(lasted)(snapshot)


def of_judged_days(snapshot: Snapshot) -> Iterable[Sample[float]]:
    """Find the moment at which the judged day ended."""
    zones = {name: model.time_zone for name, model in snapshot.models.items()}
    return of_verdict(lambda v: end_of_day(v.day, zones[v.model]).timestamp())(snapshot)


def _of_verdicts(samples: Callable[[Verdict], Iterable[Sample[T]]]) -> Samples[T]:
    """Put model and segment before the label values that are given."""

    def fill(snapshot: Snapshot) -> Iterable[Sample[T]]:
        for v in snapshot.verdicts:
            for further, value in samples(v):
                yield (v.model, v.segment, *further), value

    return fill
