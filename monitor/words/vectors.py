"""How good whole vectors of class probabilities are, and which classes are left out. Pure."""

from monitor.base.segment_names import WHOLE
from monitor.drift.records.facts import MOST_STREAMS
from monitor.evaluation.evaluation import ClassMeasures, VectorErrors

ONLY_HIGHEST = (
    "classes are not watched one by one, no class weights can be fitted, and vectors are measured "
    "only if predictions.classes.top has an outcome"
)


def vector_sentences(measures: ClassMeasures) -> list[str]:
    """Say how good whole vectors are, and how many classes and pairs are left out."""
    left_out = measures.count - len(measures.by_class)
    vectors = (
        f"Vectors of {measures.count:,} classes, as logged: {_vector(measures.raw)}. "
        f"Prior: {_vector(measures.prior)}."
    )
    notes = [f"{left_out:,} of the classes are not watched one by one."] if left_out else []
    if measures.prior is None:
        notes = [f"The log has the highest scores of each row only, so {ONLY_HIGHEST}."]
    if measures.pairs > MOST_STREAMS:
        notes.append(
            f"Of {measures.pairs:,} pairs of classes the {MOST_STREAMS} that the reference knows "
            f"best have verdicts of their own; all count in that of {WHOLE}."
        )
    return [vectors, *notes]


def _vector(errors: VectorErrors | None) -> str:
    if errors is None:
        return "-"
    log_loss = f"{errors.log_score:.3f value} nats ({errors.log_score:.3f interval})"
    return f"root Brier score {errors.rbs:.3f}, log loss {log_loss}"
