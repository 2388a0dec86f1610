"""What the errors of a model are worth, as the evaluation takes it."""

from monitor.config import Model
from monitor.evaluation.lost import Worth
from monitor.metrics.scores.net_benefit import Decision


def worth_of(model: Model) -> Worth | None:
    """Say what an error of a model is worth, if that is configured."""
    if model.value:
        return Worth(model.value.currency, per_nat=model.value.per_nat)
    if made := model.decision:
        decision = Decision(made.threshold, made.benefit, made.cost_of_acting)
        return Worth(made.currency or "", decision=decision)
    return None
