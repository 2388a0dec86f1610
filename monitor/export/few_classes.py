"""Which classes of a model have gauges of their own. Pure.

Rule: a snapshot has at most as many classes one by one as the exporter's limit, the worst always
among them; the vector scores are of all classes.
"""

from collections.abc import Sequence
from dataclasses import replace

from monitor.evaluation.evaluation import ClassErrors, Evaluation


def with_few_classes(evaluations: Sequence[Evaluation], most: int) -> list[Evaluation]:
    """Keep the classes with most outcomes in each evaluation, and the worst by ECE."""
    return [
        replace(e, classes=replace(e.classes, by_class=_few(e.classes.by_class, most)))
        if e.classes and len(e.classes.by_class) > most
        else e
        for e in evaluations
    ]


def _few(classes: Sequence[ClassErrors], most: int) -> tuple[ClassErrors, ...]:
    worst = max(classes, key=lambda each: each.prior.ece if each.prior else 0.0)
    ranked = sorted(classes, key=lambda each: (each is not worst, -each.outcomes, each.name))
    kept = {each.name for each in ranked[:most]}
    return tuple(each for each in classes if each.name in kept)
