"""Net benefit: what acting on scores at a threshold is worth, as in a decision curve."""

from dataclasses import dataclass
from math import isfinite, sqrt

import numpy as np

from monitor.metrics.core.estimate import Estimate
from monitor.metrics.core.grid import Floats
from monitor.metrics.core.reading import takes_rows
from monitor.metrics.core.tally import Tally
from monitor.metrics.scores.brier import mean_loss


@dataclass(frozen=True)
class Decision:
    """What is done with a score: act from a threshold on.

    Attributes
    ----------
    threshold : float
        Of a probability, strictly between 0 and 1: who has it is acted on too.
    benefit, cost : float
        Of acting on a prediction whose outcome is 1, above 0, and on one whose outcome is 0, at
        least 0, in one unit. Calibrated scores make the most of the threshold
        ``cost / (benefit + cost)``.
    """

    threshold: float
    benefit: float
    cost: float


@takes_rows
def net_benefit(
    t: Tally, threshold: float, *, benefit: float = 1.0, cost: float | None = None
) -> Estimate:
    """Measure what acting on all predictions from a threshold on is worth, per prediction.

    For analysis, not used by the daily job.

    Parameters
    ----------
    t : Tally or rows
        At least one prediction. On a grid all predictions of a cell are decided alike, by their
        mean logit; cells are 1/512 wide in logit.
    threshold : float
        Strictly between 0 and 1; a score that equals it is acted on.
    benefit : float
        Of acting where the outcome is 1, above 0.
    cost : float, optional
        Of acting where the outcome is 0, at least 0, in the same unit; by default that of the
        decision curve, ``benefit threshold / (1 - threshold)``.

    Returns
    -------
    Estimate
        At least -cost and at most benefit, in the unit of both, with its normal 95 % interval.

    Raises
    ------
    ValueError
        If there is no prediction, or a number is out of its range.

    Notes
    -----
    ``(benefit TP - cost FP) / N``, with TP and FP the predictions acted on whose outcome is 1 and
    0. With benefit 1 and the default cost it is the net benefit of the decision curve (Vickers and
    Elkin, Medical Decision Making 26, 2006, p. 567), and agrees with the package dcurves to 1e-9.
    What a prediction adds is bounded, so the interval is the
    normal one of a mean.

    Examples
    --------
    >>> from monitor.metrics.core.tally import tally
    >>> t = tally([0] * 54 + [1] * 6 + [0] * 24 + [1] * 16, [0.1] * 60 + [0.4] * 40)
    >>> f"{net_benefit(t, 0.2):.3f}"  # 16 in 100 right, 24 in 100 wrong at a quarter each
    '0.100 (95 % 0.020 to 0.180)'
    """
    _check(t, threshold, benefit, cost)
    worth = benefit * threshold / (1.0 - threshold) if cost is None else cost
    acts = t.scores >= threshold
    return _mean_of_rows(t, *benefits(acts, Decision(threshold, benefit, worth)))


def benefits(
    acts: np.ndarray[tuple[int, ...], np.dtype[np.bool_]], decision: Decision
) -> tuple[Floats, Floats]:
    """Give what a prediction of each group adds to the net benefit, by its outcome; shape (m,).

    Examples
    --------
    >>> benefits(np.array([False, True]), Decision(0.2, 1.0, 0.25))
    (array([0., 1.]), array([ 0.  , -0.25]))
    """
    return np.where(acts, decision.benefit, 0.0), np.where(acts, -decision.cost, 0.0)


def _mean_of_rows(t: Tally, if_positive: Floats, if_negative: Floats) -> Estimate:
    """Average what predictions add by their outcome, with a normal interval."""
    mean = mean_loss(t, if_positive, if_negative)
    if t.total == 1:
        return Estimate.normal(mean, float("nan"))
    square = mean_loss(t, (if_positive - mean) ** 2, (if_negative - mean) ** 2)
    return Estimate.normal(mean, sqrt(square / (t.total - 1)))


def _check(t: Tally, threshold: float, benefit: float, cost: float | None) -> None:
    if not t.total:
        msg = "the net benefit of an empty sample is undefined: give at least one prediction."
        raise ValueError(msg)
    if not 0.0 < threshold < 1.0:
        msg = f"threshold must lie strictly between 0 and 1, got {threshold}."
        raise ValueError(msg)
    if not (benefit > 0.0 and isfinite(benefit)):
        msg = f"benefit must be above 0 and finite, got {benefit}."
        raise ValueError(msg)
    if cost is not None and not (cost >= 0.0 and isfinite(cost)):
        msg = f"cost must be at least 0 and finite, got {cost}."
        raise ValueError(msg)
