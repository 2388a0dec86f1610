"""How the gauges of models with classes take their samples from a snapshot. Pure.

Rule: a snapshot has at most as many classes one by one as the exporter's limit, the worst always
among them; the vector scores are of all classes.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from math import isnan, nan

from monitor.evaluation.class_measures import ClassErrors, ClassMeasures, VectorErrors
from monitor.evaluation.evaluate import Evaluation
from monitor.evaluation.score_errors import Errors
from monitor.export.window_samples import Sample, Samples, Snapshot, T, of_windows
from monitor.segment_names import WHOLE

Measure = Callable[[Errors], float]


def tce_of(errors: Errors) -> float:
    """Give TCE at the fixed size; nan with too few rows."""
    return errors.tce.value if errors.tce else nan


def of_measures(value: Callable[[ClassMeasures], float]) -> Samples[float]:
    """Take one number of each window with classes."""

    def sample(e: Evaluation) -> Iterable[Sample[float]]:
        return [((), value(e.classes))] if e.classes else []

    return of_windows(sample)


def of_vectors(value: Callable[[VectorErrors], T]) -> Samples[T]:
    """Take one score of whole vectors, as logged and adjusted."""

    def both(e: Evaluation) -> Iterable[Sample[T]]:
        if e.classes:
            yield ("raw",), value(e.classes.raw)
            yield ("prior",), value(e.classes.prior)

    return of_windows(both)


def of_class(value: Callable[[ClassErrors], float]) -> Samples[float]:
    """Take one number of each class."""

    def by_class(e: Evaluation) -> Iterable[Sample[float]]:
        for one in e.classes.by_class if e.classes else ():
            yield (one.name,), value(one)

    return of_windows(by_class)


def of_class_errors(measure: Measure) -> Samples[float]:
    """Take one measure of each class against the rest, as logged and adjusted."""

    def by_class(e: Evaluation) -> Iterable[Sample[float]]:
        for one in e.classes.by_class if e.classes else ():
            for adjusted, errors in (("raw", one.raw), ("prior", one.prior)):
                if errors and not isnan(found := measure(errors)):
                    yield (one.name, adjusted), found

    return of_windows(by_class)


def of_all_classes(measure: Measure) -> Samples[float]:
    """Take the mean and the largest value of a measure over the watched classes."""

    def over(e: Evaluation) -> Iterable[Sample[float]]:
        for adjusted in ("raw", "prior"):
            errors = [getattr(one, adjusted) for one in e.classes.by_class] if e.classes else []
            known = [measure(found) for found in errors if found]
            if known := [value for value in known if not isnan(value)]:
                yield (adjusted, "mean"), sum(known) / len(known)
                yield (adjusted, "worst"), max(known)

    return of_windows(over)


def of_classes_left_out(snapshot: Snapshot) -> Iterable[Sample[float]]:
    """Count the classes of each model that have no gauges of their own."""
    left_out: dict[str, int] = {}
    for e in snapshot.evaluations:
        if e.classes:
            rest = e.classes.count - len(e.classes.by_class)
            left_out[e.model] = max(rest, left_out.get(e.model, 0))
    return [((model,), rest) for model, rest in left_out.items()]


def of_pairs_left_out(snapshot: Snapshot) -> Iterable[Sample[float]]:
    """Count the pairs of classes of each model that have no gauges of their own."""
    seen: dict[str, int] = {}
    for e in snapshot.evaluations:
        if e.classes:
            seen[e.model] = max(e.classes.pairs, seen.get(e.model, 0))
    exported = Counter(v.model for v in snapshot.verdicts if v.segment != WHOLE)
    return [((model,), max(0, pairs - exported[model])) for model, pairs in seen.items()]


def with_few_classes(evaluations: Sequence[Evaluation], most: int) -> list[Evaluation]:
    """Keep the classes with most outcomes in each evaluation, and the worst by ECE."""
    return [
        replace(e, classes=replace(e.classes, by_class=_few(e.classes.by_class, most)))
        if e.classes and len(e.classes.by_class) > most
        else e
        for e in evaluations
    ]


def _few(classes: Sequence[ClassErrors], most: int) -> tuple[ClassErrors, ...]:
    worst = max(classes, key=lambda one: one.prior.ece if one.prior else 0.0)
    ranked = sorted(classes, key=lambda one: (one is not worst, -one.outcomes, one.name))
    kept = {one.name for one in ranked[:most]}
    return tuple(one for one in classes if one.name in kept)
