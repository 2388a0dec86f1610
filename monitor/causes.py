"""The causes of a window's error: the mean of what explains its days and segments. Pure.

Rule: causes are compared inside one day and segment. Priors that differ between days would look
like a slope if the days were pooled.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from math import nan, sqrt

from monitor.attribution import Attribution, Explained
from monitor.metrics.tally import Tally

LEAST_COVERED = 0.5  # of the predictions; below, days are too small to be explained one by one
NAMES = ("prior_shift", "slope", "shape", "rest")


@dataclass(frozen=True)
class Shares:
    """Calibration error by cause, per prediction; around 0, on both sides, where it is absent."""

    prior_shift: float
    slope: float
    shape: float
    rest: float


@dataclass(frozen=True)
class Causes:
    """What explains the calibration error of raw scores.

    Attributes
    ----------
    log_loss, squared_error : Shares
        In nats, and in squared probability.
    log_loss_errors, squared_error_errors : Shares
        Their standard errors.
    """

    log_loss: Shares
    log_loss_errors: Shares
    squared_error: Shares
    squared_error_errors: Shares


def mean_causes(
    strata: Sequence[Tally], merged: Tally, explain: Callable[[Tally], Attribution | None]
) -> Causes | None:
    """Average over days and segments, each by its number of predictions.

    Parameters
    ----------
    strata : sequence of Tally
        One for each day and segment.
    merged : Tally
        Their sum, explained at once where most strata are too small to be explained apart.
    explain : callable
        `monitor.attribution.attribute`.

    Returns
    -------
    Causes or None
        None if there are too few outcomes even together.
    """
    apart = [(t.total, found) for t in strata if (found := explain(t))]
    if sum(n for n, _ in apart) < LEAST_COVERED * merged.total:
        together = explain(merged)
        apart = [(merged.total, together)] if together else []
    if not apart:
        return None
    log_loss = [(n, found.log_loss) for n, found in apart]
    squared_error = [(n, found.squared_error) for n, found in apart]
    return Causes(*_mean(log_loss), *_mean(squared_error))


def _mean(parts: Sequence[tuple[int, Explained]]) -> tuple[Shares, Shares]:
    """Average shares and their errors; a share that no part knows is nan."""
    means, errors = [], []
    for field in fields(Shares):
        known = [
            (n, getattr(part, field.name), getattr(part, f"{field.name}_error"))
            for n, part in parts
            if getattr(part, field.name) == getattr(part, field.name)
        ]
        total = sum(n for n, _, _ in known)
        means.append(sum(n * value for n, value, _ in known) / total if total else nan)
        errors.append(
            sqrt(sum((n * error) ** 2 for n, _, error in known)) / total if total else nan
        )
    return Shares(*means), Shares(*errors)
