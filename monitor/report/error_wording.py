"""What explains a calibration error, and what an intercept would remove of it, in words. Pure."""

from math import isnan

from monitor.evaluation.attribution import NAMES, Causes, InterceptCorrection
from monitor.metrics.core.estimate import NORMAL_95, Estimate


def explanation(causes: Causes, span: str) -> str:
    """Say what explains the calibration error of a span of days."""

    def share(name: str) -> str:
        value, error = getattr(causes.log_loss, name), getattr(causes.log_loss_errors, name)
        word = name.replace("_", " ")
        if isnan(value):
            return f"{word} unknown"
        sure = isnan(error) or abs(value) > NORMAL_95 * error
        return f"{word} {value:.4f}" + ("" if sure else " (n.s.)")

    shares = ", ".join(map(share, NAMES))
    return f"The calibration error of the {span}, in nats of log loss, by cause: {shares}."


def offer(correction: InterceptCorrection, span: str, *, drifting: bool) -> str:
    """Say what one intercept for all scores of a span of days would remove of their error."""
    removed = Estimate.normal(correction.log_loss.value, correction.log_loss.standard_error)
    figures = (
        f"{removed.value:.4f} of the {correction.log_loss_before:.4f} nats of log loss of the "
        f"{span} (95 % {removed.low:.4f} to {removed.high:.4f})"
    )
    delta = f"{correction.delta.value:+.2f}"
    if removed.low <= 0.0:
        return f"No intercept is worth adding: the best, {delta}, would remove {figures}."
    also = f" and {correction.squared_error.value:.4f} of the squared error"
    limits = " It mends the level, not the drift." if drifting else ""
    return f"Adding {delta} to the log-odds of every score would remove {figures},{also}.{limits}"
