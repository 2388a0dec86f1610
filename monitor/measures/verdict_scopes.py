"""What the measures of verdicts are of: verdicts, their incidents, and where a drift sits."""

from collections.abc import Callable, Iterator
from datetime import date, timedelta

from monitor.base.segment_names import WHOLE, in_short, printable
from monitor.days.summary import end_of_day
from monitor.drift.records.detector import (
    CLASS_PLACE,
    INCIDENT_KINDS,
    LEVEL_KINDS,
    OUTCOMES_MISSING,
    Ended,
    Incident,
    Worse,
)
from monitor.drift.records.facts import Detectable
from monitor.drift.records.places import Place, Where, explained_by, name_of
from monitor.drift.records.verdict import SLOPE_KINDS, STATES, Verdict
from monitor.measures.measure import Base, Parts, Scope, held
from monitor.measures.snapshot import Snapshot, seconds_of
from monitor.measures.window_scopes import NEVER_RUN
from monitor.metrics.core.estimate import Estimate

NO_REFERENCE = "without a reference"
WITHHELD = f"{NO_REFERENCE}, on its days, and while the evidence is withheld"
NO_DRIFT = "while no calibration drift is open"
NO_COLUMNS = f"{NO_DRIFT}, and of models without `segments`"

KEPT_FOR = timedelta(days=28)  # after the end of a drift; a Prometheus that was away sees it too
MOST_NAMED = 3  # streams that a label names
MISSING = "no value"  # of the column of the segments, as a label
MOST_ALONE = 20  # values of a model that have gauges because they drift by themselves
# Kinds of incidents of a segment too.
OF_SEGMENTS = tuple(k for k in INCIDENT_KINDS if k not in (CLASS_PLACE, OUTCOMES_MISSING))
URGENCIES = ("page", "ticket", "info", "none")

VERDICTS = Base(
    ("model", "segment"), lambda snapshot: (((v.model, v.segment), v) for v in snapshot.verdicts)
)


def _can_be_taken(snapshot: Snapshot) -> Iterator[tuple[tuple[str, str], str]]:
    """Give the labels of each open drift, and its name; of values as many as have gauges."""
    for v in snapshot.verdicts:
        if v.found_on:
            yield (v.model, v.segment), v.segment
        for value in v.values.ranked[:MOST_ALONE] if v.values else ():
            label = f"{printable(value.column)} = {printable(value.value)}"
            yield (v.model, label), name_of(value.name)


def _taken(snapshot: Snapshot) -> Parts[float]:
    """Give the end of the last day for which a drift is taken; 0 if nobody has taken it."""
    for labels, name in _can_be_taken(snapshot):
        taken = snapshot.taken.get((labels[0], name))
        zone = snapshot.models[labels[0]].time_zone
        yield labels, end_of_day(taken.until, zone).timestamp() if taken else 0.0


def _takers(snapshot: Snapshot) -> Parts[float]:
    """Name who has taken a drift, with the moment."""
    for labels, name in _can_be_taken(snapshot):
        if taken := snapshot.taken.get((labels[0], name)):
            yield (*labels, printable(taken.by)), taken.at.timestamp()


def _days(day: Callable[[Verdict], date | None]) -> Base:
    """Make the base of days of verdicts: of each the moment at which it ended."""

    def records(snapshot: Snapshot) -> Parts[float]:
        for labels, v in VERDICTS.records(snapshot):
            if dated := day(v):
                zone = snapshot.models[v.model].time_zone
                yield labels, end_of_day(dated, zone).timestamp()

    return Base(VERDICTS.labels, records)


def start(day: Callable[[Incident], date]) -> Scope[float]:
    """Make the scope of the moments at which a day of each open drift began."""

    def before(v: Verdict) -> date | None:
        incident = v.incident
        return day(incident) - timedelta(days=1) if incident else None

    return Scope(_days(before), NO_DRIFT)


def lately_open(v: Verdict) -> bool:
    """Return whether a drift is open or was, until not long ago."""
    return v.incident is not None or bool(v.ended and v.day - v.ended.closed <= KEPT_FOR)


def _kinds(v: Verdict) -> Parts[float]:
    """Give 1 for the kind of the open drift, and 0 for the others and for a while after its end.

    What looks back a day must not find that an ended drift is open, or a renamed one of two kinds.
    """
    if not lately_open(v):
        return []
    name = v.headline(v.incident).kind if v.incident else None
    kinds = INCIDENT_KINDS if v.segment == WHOLE else OF_SEGMENTS
    return [((kind,), kind == name) for kind in kinds]


def _incident(v: Verdict) -> Parts[Incident]:
    return [((), v.incident)] if v.incident else []


def _unexplained(v: Verdict) -> Parts[float]:
    """Give the part of an error of the level that did not come with the base rate of all rows."""
    values = v.explaining(v.incident) if v.incident else None
    of_values = values is not None and values.kind in LEVEL_KINDS
    size = v.incident.unexplained if v.incident and not of_values else None
    return [] if size is None else [((), abs(size))]


def _shape(v: Verdict) -> Parts[float]:
    """Give how far the log-odds are off, of a drift that no slope measures."""
    told = v.headline(v.incident) if v.incident else None
    bent = told and not told.labels and told.kind not in SLOPE_KINDS
    return [((), told.size)] if told and bent else []


def _labels(v: Verdict) -> Parts[Estimate]:
    """Give the share of the labels that changed, where the open drift is one of labels."""
    labels = v.headline(v.incident).labels if v.incident else None
    return [((), labels.share)] if labels else []


def _ended(v: Verdict) -> Parts[Ended]:
    return [((), v.ended)] if v.ended else []


def _off(v: Verdict) -> str:
    """Name the class that is off; empty if there is none."""
    return v.facts.of_classes.off or ""


def _explained(where: Where) -> Parts[float]:
    explanation = where.explanation
    return [((explained_by(explanation),), explanation.share)] if explanation else []


def _alone(snapshot: Snapshot) -> Parts[float]:
    """Give the first day of each open drift of a value, with how urgent it is."""
    for v in snapshot.verdicts:
        model = snapshot.models[v.model]
        urgency = max(model.severity, model.verdicts.value_severity, key=URGENCIES.index)
        for value in v.values.ranked[:MOST_ALONE] if v.values and urgency != "none" else ():
            how = urgency if value.urgent else max(urgency, "ticket", key=URGENCIES.index)
            labels = (v.model, printable(value.column), printable(value.value), value.kind, how)
            yield labels, seconds_of(value.started)


def _unlike(snapshot: Snapshot) -> Parts[float]:
    """Give the days of each change of what is read, with what it keeps from being compared."""
    for v in snapshot.verdicts:
        for unlike in v.facts.unlike if v.segment == WHOLE else ():
            settings = ", ".join(unlike.settings)
            said = v.model, in_short(unlike.streams, MOST_NAMED), settings
            days = {"since": unlike.since or v.day, "first": unlike.first, "last": unlike.last}
            yield from (((*said, end), seconds_of(day)) for end, day in days.items())


def _moved(snapshot: Snapshot) -> Parts[float]:
    """Give the share of each segment that is far outside of what the reference had."""
    for v in snapshot.verdicts:
        shares = v.facts.mix.shares[:MOST_ALONE] if v.segment == WHOLE and v.facts.mix else ()
        for share in shares:
            yield (v.model, printable(share.name or MISSING)), share.now


def _one_day(v: Verdict) -> Parts[float]:
    """Give the judged day, for each way in which it alone contradicts the reference."""
    if v.facts.today is not None:
        yield (LEVEL_KINDS[v.facts.today > 0.0],), seconds_of(v.day)
    if v.facts.one_day:
        yield (v.facts.one_day.kind,), seconds_of(v.day)


UNLIKE: Scope[float] = Scope(
    Base(("model", "streams", "settings", "end"), _unlike),
    "while the newest judged day is read as its reference was",
)
CHANGED: Scope[float] = Scope(
    Base(
        ("model",),
        lambda snapshot: [
            ((v.model,), seconds_of(v.facts.changed.since))
            for v in snapshot.verdicts
            if v.facts.changed and v.facts.obstacle is None
        ],
    ),
    "while the days of the reference are of one kind",
)
MOVED: Scope[float] = Scope(
    Base(("model", "segment"), _moved), "while the share of every segment is as in the reference"
)
TAKEN: Scope[float] = Scope(
    Base(VERDICTS.labels, _taken),
    "without an open calibration drift or level drift, of a stream or of a value",
)
TAKER: Scope[float] = Scope(
    Base((*VERDICTS.labels, "by"), _takers), "while nobody has taken the drift"
)
ALONE: Scope[float] = Scope(
    Base(("model", "column", "value", "kind", "severity"), _alone),
    "while no value of a column drifts by itself",
)
PLACES = Base(
    ("model",), lambda snapshot: [((v.model,), v.where) for v in snapshot.verdicts if v.where]
)
VERDICT: Scope[Verdict] = Scope(VERDICTS, NEVER_RUN)
COMPARED: Scope[Verdict] = Scope(VERDICTS, NO_REFERENCE)
STATE: Scope[float] = Scope(
    VERDICTS, NEVER_RUN, ("state",), lambda v: [((state,), state == v.state) for state in STATES]
)
JUDGED_DAY: Scope[float] = Scope(_days(lambda v: v.day), NEVER_RUN)
KIND: Scope[float] = Scope(
    VERDICTS,
    f"{NO_DRIFT}, from {KEPT_FOR.days} days after the last one closed",
    ("kind",),
    _kinds,
)
INCIDENT: Scope[Incident] = Scope(VERDICTS, NO_DRIFT, parts=_incident)
OPEN: Scope[Verdict] = Scope(VERDICTS, NO_DRIFT, parts=lambda v: [((), v)] if v.incident else [])
LABELS: Scope[Estimate] = Scope(VERDICTS, "unless the open drift is one of labels", parts=_labels)
UNEXPLAINED: Scope[float] = Scope(
    VERDICTS,
    "unless the open drift is an error of the level, and where few values explain it",
    parts=_unexplained,
)
OF_CLASS: Scope[float] = Scope(
    VERDICTS,
    "unless the scores of a class are off",
    ("class",),
    lambda v: [((printable(i.of_class),), 1.0) for _, i in _incident(v) if i.of_class],
)
SHAPE: Scope[float] = Scope(
    VERDICTS,
    f"{NO_DRIFT}, and of kinds `too_extreme`, `too_timid` and those of labels",
    parts=_shape,
)
OF_WHOLE: Scope[Verdict] = Scope(
    VERDICTS,
    f"{NO_DRIFT}, and of segments",
    parts=lambda v: [((), v)] if v.incident and v.segment == WHOLE else [],
)
ENDED: Scope[Ended] = Scope(
    VERDICTS, "before the first calibration drift closes, and while one is open", parts=_ended
)
ENDING: Scope[Ended] = Scope(
    VERDICTS, ENDED.absent, ("ending",), lambda v: [((e.reason,), e) for _, e in _ended(v)]
)
WORSE: Scope[Worse] = Scope(
    VERDICTS,
    f"{NO_DRIFT}, and while it has not become worse",
    parts=lambda v: [((), i.worse) for _, i in _incident(v) if i.worse],
)
ONE_DAY: Scope[float] = Scope(
    VERDICTS, "unless the newest judged day alone contradicts the reference", ("kind",), _one_day
)
OFF_CLASS: Scope[Estimate] = Scope(
    VERDICTS,
    "of models with two classes, and while no single class is off",
    ("class",),
    lambda v: [((name,), v.level_change)] if (name := _off(v)) and v.level_change else [],
)
SHIFT: Scope[date] = Scope(
    VERDICTS,
    "without a prior shift or a level drift",
    ("state",),
    lambda v: [((v.state,), v.shifted)] if v.shifted else [],
)
AWAITED: Scope[date] = Scope(VERDICTS, "while every reference can be used", parts=held("awaited"))
DETECTABLE: Scope[Detectable] = Scope(VERDICTS, NO_REFERENCE, parts=held("detectable"))
PLACE: Scope[Place] = Scope(
    PLACES,
    NO_COLUMNS,
    ("column", "value"),
    lambda where: [((place.column, place.value), place) for place in where.tested],
)
WHERE: Scope[Where] = Scope(PLACES, NO_COLUMNS)
EXPLAINED: Scope[float] = Scope(
    PLACES, f"{NO_DRIFT}, and where no few values explain it", ("values",), _explained
)
