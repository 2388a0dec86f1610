"""The measures of models with classes."""

from monitor.evaluation.errors import Errors
from monitor.evaluation.evaluation import ClassErrors, ClassMeasures, Evaluation, VectorErrors
from monitor.measures import units
from monitor.measures.measure import (
    Measure,
    Parts,
    Scope,
    Unit,
    held,
    unexported,
)
from monitor.measures.window_scopes import WINDOWS
from monitor.measures.windows import around

TWO_CLASSES = "of models with two classes"
ONLY_WHOLE = f"{TWO_CLASSES}; of segments"


def _vectors(e: Evaluation) -> Parts[VectorErrors]:
    if not e.classes:
        return []
    both = (("raw",), e.classes.raw), (("prior",), e.classes.prior)
    return [(name, errors) for name, errors in both if errors]


def _by_class(e: Evaluation) -> Parts[ClassErrors]:
    return [((of_class.name,), of_class) for of_class in e.classes.by_class] if e.classes else []


def _class_errors(e: Evaluation) -> Parts[Errors]:
    for (name,), of_class in _by_class(e):
        for adjusted, errors in (("raw", of_class.raw), ("prior", of_class.prior)):
            if errors:
                yield (name, adjusted), errors


MEASURED: Scope[ClassMeasures] = Scope(WINDOWS, ONLY_WHOLE, parts=held("classes"))
VECTORS: Scope[VectorErrors] = Scope(WINDOWS, ONLY_WHOLE, ("adjusted",), _vectors)
CLASS: Scope[ClassErrors] = Scope(WINDOWS, ONLY_WHOLE, ("class",), _by_class)
CLASS_ERRORS: Scope[Errors] = Scope(WINDOWS, ONLY_WHOLE, ("class", "adjusted"), _class_errors)


OF_CLASSES = (
    Measure(
        "vector_rbs",
        VECTORS,
        "Root Brier score of vectors of class probabilities: square root of the mean of the "
        "squared gaps summed over all classes.",
        Unit("0 to 1.42", 0.0, 1.42),
        lambda errors: errors.rbs,
        row="vector_rbs",
    ),
    Measure(
        "vector_log_loss_nats",
        VECTORS,
        "Mean log loss of vectors of class probabilities: minus the logarithm of the probability "
        "of the class that came true.",
        units.LOSS,
        lambda errors: errors.log_score,
        row="vector_log_loss",
        exported=False,
    ),
    Measure(
        "class_tce_ratio",
        CLASS_ERRORS,
        "TCE at a fixed number of predictions of one class against the rest.",
        units.RATIO,
        lambda errors: errors.tce,
        heading="TCE {adjusted}",
        row="tce[{class}]",
        exported=False,
    ),
    Measure(
        "class_ece_ratio",
        CLASS_ERRORS,
        "Expected calibration error of one class against the rest.",
        units.RATIO,
        lambda errors: around(errors.ece, errors.ece_interval),
        heading="ECE {adjusted}",
        row="ece[{class}]",
    ),
    Measure(
        "class_rbs",
        CLASS_ERRORS,
        "Root Brier score of one class against the rest.",
        units.SCORE,
        lambda errors: around(errors.rbs, errors.rbs_interval),
        row="rbs[{class}]",
        exported=False,
    ),
    Measure(
        "class_prevalence_ratio",
        CLASS,
        "Share of the known outcomes that are the class.",
        units.RATIO,
        lambda of_class: of_class.prevalence,
        heading="share",
        row="prevalence[{class}]",
    ),
    Measure(
        "class_mean_score_ratio",
        CLASS,
        "Mean score of the class.",
        units.RATIO,
        lambda of_class: of_class.mean_score,
        heading="mean score",
        row="mean_score[{class}]",
    ),
    Measure(
        "judged_outcomes_ratio",
        MEASURED,
        "Share of the known outcomes that the verdict of a model with classes rests on: one of the "
        "two classes with the highest scores came true.",
        units.RATIO,
        lambda measures: measures.judged,
        row="classes_judged",
    ),
    unexported("classes", MEASURED, "Classes of the model.", units.CLASSES, lambda of: of.count),
    unexported(
        "outcomes[{class}]",
        CLASS,
        "Outcomes that are the class.",
        units.PREDICTIONS,
        lambda of_class: of_class.outcomes,
        heading="outcomes",
    ),
    unexported(
        "tce_published[{class}]",
        CLASS_ERRORS,
        "TCE as published of one class against the rest.",
        units.RATIO,
        lambda errors: errors.tce_published,
    ),
)
