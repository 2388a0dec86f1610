"""How the gauges of verdicts take their samples from a snapshot. Pure."""

from collections.abc import Callable, Iterable
from datetime import date, timedelta
from math import isfinite, log10

from monitor.drift.detectable import Detectable
from monitor.drift.detector import Incident
from monitor.drift.evidence import KINDS
from monitor.drift.places import Place
from monitor.drift.verdict import STATES, Verdict
from monitor.drift.where_wording import explained_by
from monitor.drift.wording import shape_size
from monitor.export.window_samples import SECONDS_A_DAY, Sample, Samples, Snapshot, T, seconds_of
from monitor.summary import end_of_day


def of_states(snapshot: Snapshot) -> Iterable[Sample[float]]:
    """Give 1 for the state of each verdict, and 0 for the other states."""
    return _of_verdicts(lambda v: [((s,), s == v.state) for s in STATES])(snapshot)


def of_evidence(snapshot: Snapshot) -> Iterable[Sample[float]]:
    """Take what each day reached over all kinds of distortion; what is withheld has no sample."""
    return of_verdict(lambda v: v.reached)(snapshot)


def of_kind_evidence(snapshot: Snapshot) -> Iterable[Sample[float]]:
    """Take what has accumulated for each kind of distortion, unless it is withheld."""

    def sums(v: Verdict) -> Iterable[Sample[float]]:
        if v.reached is not None:
            yield from (
                ((kind,), log10(max(1.0, found)))
                for kind, found in zip(KINDS, v.detector.sums, strict=True)
            )

    return _of_verdicts(sums)(snapshot)


def of_detectable(value: Callable[[Detectable], float]) -> Samples[float]:
    """Take one number of what each detector can find; a change that it never finds has none."""

    def found(v: Verdict) -> float | None:
        number = value(v.detectable) if v.detectable else None
        return number if number is not None and isfinite(number) else None

    return of_verdict(found)


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


def of_starts(day: Callable[[Incident], date]) -> Samples[float]:
    """Find the moment at which a day of each open drift began."""

    def fill(snapshot: Snapshot) -> Iterable[Sample[float]]:
        zones = {name: model.time_zone for name, model in snapshot.models.items()}

        def began(v: Verdict) -> Iterable[Sample[float]]:
            if v.detector.incident:
                before = day(v.detector.incident) - timedelta(days=1)
                yield (), end_of_day(before, zones[v.model]).timestamp()

        return _of_verdicts(began)(snapshot)

    return fill


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


def of_places(value: Callable[[Place], T | None]) -> Samples[T]:
    """Take one value of each place of an open drift that has it."""

    def fill(snapshot: Snapshot) -> Iterable[Sample[T]]:
        for v in snapshot.verdicts:
            for place in v.where.tested if v.where else ():
                found = value(place)
                if found is not None:
                    yield (v.model, place.column, place.value), found

    return fill


def of_explanations(snapshot: Snapshot) -> Iterable[Sample[float]]:
    """Take the share of the evidence that few values explain, with their names."""
    for v in snapshot.verdicts:
        if v.where and v.where.explanation:
            yield (v.model, explained_by(v.where.explanation)), v.where.explanation.share


def of_flagged_places(snapshot: Snapshot) -> Iterable[Sample[float]]:
    """Count the places of each open drift that are off."""
    for v in snapshot.verdicts:
        if v.where:
            yield (v.model,), len(v.where.flagged) + v.where.flagged_left_out


def of_places_left_out(snapshot: Snapshot) -> Iterable[Sample[float]]:
    """Count the places of each open drift that have no gauges of their own."""
    return [((v.model,), v.where.left_out) for v in snapshot.verdicts if v.where]


def _of_verdicts(samples: Callable[[Verdict], Iterable[Sample[T]]]) -> Samples[T]:
    """Put model and segment before the label values that are given."""

    def fill(snapshot: Snapshot) -> Iterable[Sample[T]]:
        for v in snapshot.verdicts:
            for further, value in samples(v):
                yield (v.model, v.segment, *further), value

    return fill
