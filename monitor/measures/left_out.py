"""The measure of what has no gauges of its own."""

from collections import Counter
from collections.abc import Iterator

from monitor.base.segment_names import FAMILIES
from monitor.measures import units
from monitor.measures.measure import Base, Labels, Measure, Scope
from monitor.measures.snapshot import Snapshot
from monitor.measures.window_scopes import NEVER_RUN


def _left_out(snapshot: Snapshot) -> Iterator[tuple[Labels, float]]:
    """Count the segments, classes, pairs and values of each model without gauges."""
    for model, count in snapshot.left_out.items():
        yield (model, "segments"), count
    classes, pairs = Counter[str](), Counter[str]()
    for e in snapshot.evaluations:
        if e.classes:
            rest = e.classes.count - len(e.classes.by_class)
            classes[e.model] = max(rest, classes[e.model])
            pairs[e.model] = max(e.classes.pairs, pairs[e.model])
    yield from (((model, "classes"), rest) for model, rest in classes.items())
    segments = {(e.model, e.segment) for e in snapshot.evaluations}
    exported = Counter(
        v.model
        for v in snapshot.verdicts
        if v.segment not in FAMILIES and (v.model, v.segment) not in segments
    )
    yield from (((m, "pairs"), max(0, count - exported[m])) for m, count in pairs.items())
    yield from (((v.model, "values"), v.where.left_out) for v in snapshot.verdicts if v.where)


LEFT_OUT: Measure[float] = Measure(
    "left_out",
    Scope(
        Base(("model", "of"), _left_out),
        f"{NEVER_RUN}; classes and pairs of models with two classes; values while no drift is open",
    ),
    "What has no gauges of its own: segments (but for their open drifts) and values of columns "
    "that are more than the exporter's limit; classes and pairs of classes also where they are "
    "not watched.",
    units.COUNT,
)
