"""The causes of a window's error: the mean of what explains its days and segments. Pure.

Rule: causes are compared inside one day and segment. Priors that differ between days would look
like a slope if the days were pooled.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from math import nan
from operator import attrgetter

import numpy as np

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
    values = np.array([_VALUES(part) for _, part in parts])
    errors = np.array([_ERRORS(part) for _, part in parts])
    known = ~np.isnan(values)
    sizes = np.where(known, np.array([[n] for n, _ in parts]), 0.0)
    total = sizes.sum(axis=0)
    means = np.where(known, sizes * values, 0.0).sum(axis=0)
    reach = np.sqrt(np.where(known, (sizes * errors) ** 2, 0.0).sum(axis=0))
    for sums in (means, reach):
        np.divide(sums, total, out=sums, where=total > 0.0)
        sums[total == 0.0] = nan  # not 0/0, whose sign depends on the processor
    return Shares(*means.tolist()), Shares(*reach.tolist())


_VALUES = attrgetter(*(field.name for field in fields(Shares)))
_ERRORS = attrgetter(*(f"{field.name}_error" for field in fields(Shares)))
