"""The catalogue of gauges, from the measures. Pure.

Rule 1: every gauge is in the catalogue, with the words that rules, panels and docs/gauges.md use.
Ratios, not percent; base units; no label holds a date or a run id.
Rule 2: a number that does not exist has no sample, because panels and rules treat nan as a value.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from monitor.base.segment_names import WHOLE
from monitor.measures.catalogue import MEASURES
from monitor.measures.measure import Labels, Measure
from monitor.measures.snapshot import Snapshot
from monitor.metrics.core.estimate import Estimate

SEGMENT = 1  # place of this label in all records that have it, after the model
Sample = tuple[Labels, float]  # label values, in the order of the gauge's labels, and a number
Samples = Callable[[Snapshot], Iterable[Sample]]


@dataclass(frozen=True)
class Gauge:
    """One gauge: its name, meaning and labels, how to take its samples, unit and absence."""

    name: str
    meaning: str
    labels: Labels
    samples: Samples
    unit: str
    absent: str


def _gauges(measure: Measure[Any]) -> Iterator[Gauge]:
    """Make the gauge of a measure, and those of the ends of its 95 % interval."""
    name, scope = f"calibration_{measure.name}", measure.scope
    labels, absent = (*scope.base.labels, *scope.labels), measure.absent or scope.absent
    absent += "" if measure.of_segments else "; of segments"
    yield Gauge(name, measure.meaning, labels, _samples(measure), measure.unit.text, absent)
    for end, word in (("low", "Lower"), ("high", "Upper")) if measure.interval else ():
        meaning = f"{word} end of the 95 % interval of {name}."
        samples = _samples(measure, end)
        yield Gauge(f"{name}_{end}", meaning, labels, samples, measure.unit.text, absent)


def _samples(measure: Measure[Any], end: str = "value") -> Samples:
    def samples(snapshot: Snapshot) -> Iterator[Sample]:
        for labels, part in measure.scope.of(snapshot):
            if not measure.of_segments and labels[SEGMENT] != WHOLE:
                continue
            value = measure.read(part)
            if value is not None:
                yield labels, getattr(value, end) if isinstance(value, Estimate) else value

    return samples


CATALOGUE = tuple(gauge for measure in MEASURES if measure.exported for gauge in _gauges(measure))
