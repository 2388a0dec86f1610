"""What a proper score says of calibration: it bounds the error, and its change is the error's.

The calibration error of a score is the mean divergence between the scores and the true
probabilities given them: the squared L2 calibration error ``CE_2**2 = E (s - P(y=1|s))**2``
for the Brier score, Kullback and Leibler's divergence for the log score [RBS, Definition 4.2].
No estimate of it is unbiased. But the score itself is never below it, and under an injective
map of the scores both change by the same amount, which a mean estimates without bias.
"""

from dataclasses import dataclass
from math import isfinite, isnan, nan, sqrt
from typing import Literal

import numpy as np

from monitor.metrics.core.estimate import Estimate
from monitor.metrics.core.grid import Floats
from monitor.metrics.core.option_check import check_option
from monitor.metrics.core.reading import takes_rows
from monitor.metrics.core.tally import Tally
from monitor.metrics.scores.brier import mean_loss, rbs
from monitor.metrics.scores.log_score import surprises

ScoringRule = Literal["brier", "log"]


@dataclass(frozen=True)
class CalibrationBounds:
    """Upper bounds of calibration errors, all in the one-vector convention.

    Attributes
    ----------
    root : Estimate
        Root Brier score, in [0, 1], units of probability: bounds CE_2 and with it CE_1, the
        expected absolute calibration error.
    squared : Estimate
        Brier score, in [0, 1], squared units: bounds CE_2 squared.
    divergence : Estimate
        Log score, in [0, inf], nats: bounds the mean Kullback-Leibler divergence of the
        scores from the true probabilities.
    """

    root: Estimate
    squared: Estimate
    divergence: Estimate


@takes_rows
def calibration_bounds(t: Tally) -> CalibrationBounds:
    """Bound the calibration errors from above by the proper scores behind them.

    Parameters
    ----------
    t : Tally or rows
        At least one prediction.

    Returns
    -------
    CalibrationBounds
        Loose for a model that cannot predict better: on calibrated data the errors are 0 and
        the bounds are not. They are tight only when the outcomes are almost certain.

    Raises
    ------
    ValueError
        If the tally is empty.

    Notes
    -----
    ``E[S(f, Y)] - inf g >= CE_S(f)`` [RBS, Theorem 4.3]; the entropies g of both scores have
    the infimum 0, so the scores are the bounds. [RBS, Theorem 3.1] adds the other norms:
    for one vector it reads ``RBS >= CE_2 >= CE_1``. In its own two-class convention CE_p is
    ``2**(1/p)`` times ours and the chain is ``sqrt(2) RBS >= sqrt(2) CE_2 >= CE_1``.

    By Pinsker's inequality ``sqrt(divergence / 2)`` bounds CE_2 too, but never more tightly
    than `root`. The standard error of `root` is the delta method's. Intervals:
    `rbs_interval`, `brier_interval` and `log_score_interval`; with few positives they hold more
    often than plus or minus 1.96 of these errors.

    Examples
    --------
    >>> from monitor.metrics.core.tally import tally
    >>> bounds = calibration_bounds(tally([0, 0, 1, 1], [0.2, 0.2, 0.9, 0.9]))
    >>> round(bounds.squared.value, 6), round(bounds.root.value, 6)
    (0.025, 0.158114)
    """
    root = rbs(t)
    squared = _estimate(t, (1.0 - t.scores) ** 2, t.scores**2)
    # Without a single miss the root has no slope, but then nothing varies either.
    error = squared.standard_error / (2.0 * root) if root else squared.standard_error
    return CalibrationBounds(
        Estimate.normal(root, error), squared, _estimate(t, *surprises(t, t.scores))
    )


def improvement(t: Tally, recalibrated: Floats, *, rule: ScoringRule = "brier") -> Estimate:
    """Tell by how much an injective map of the scores lowers the calibration error.

    For analysis, not used by the daily job.

    Parameters
    ----------
    t : Tally
        m groups of equal score, at least one prediction.
    recalibrated : ndarray of shape (m,)
        What the map makes of ``t.scores``: probabilities in [0, 1], no two of them equal.
    rule : {"brier", "log"}
        Whose calibration error: squared L2 (one-vector, in [-1, 1]) or Kullback-Leibler's
        (nats).

    Returns
    -------
    Estimate
        ``CE(s) - CE(h(s))`` in [-1, 1] or in nats, positive when the map h helps. Unbiased if the
        map was fixed beforehand; fitted on the same predictions, it flatters. The standard error
        takes the map as fixed and pairs every prediction with itself.

    Raises
    ------
    ValueError
        If the map is not injective on the scores, leaves [0, 1], differs from them in shape,
        if the tally is empty or the rule unknown, or if a log score is infinite before and after.

    Notes
    -----
    ``U(h o f) - U(f) = CE(h o f) - CE(f)`` for injective h [RBS, Proposition 4.5]: such a map
    keeps P(y=1|s), so the sharpness cancels. Here the difference is taken within each
    prediction, for Brier as ``(s - h)(s + h - 2 y)``. It speaks of *squared* error: the
    difference of two root Brier scores is not one of CE_2.

    Interval: `normal_interval` with the standard error. Measured at 95 %, for a slope of 0.8 put
    right, or made worse: 91-97 % with 50 expected positives or more (docs/coverage.md). With 5 of
    1,000 rows put right 72 % for Brier, and 87-90 % for log: a sum of a few large changes is far
    from normal.

    Examples
    --------
    >>> from monitor.metrics.core.tally import tally
    >>> t = tally([0, 1, 1, 1], [0.2, 0.2, 0.9, 0.9])
    >>> round(improvement(t, np.array([0.5, 0.9])).value, 6)  # of 0.3**2 in half of them
    0.045
    """
    if not t.total:
        msg = "an empty tally has no calibration to improve: give at least one prediction."
        raise ValueError(msg)
    check_option("rule", rule, ScoringRule)
    _check_injective(t, recalibrated)
    if rule == "brier":
        s, h = t.scores, recalibrated
        return _estimate(t, (s - h) * (s + h - 2.0), (s - h) * (s + h))
    before, after = surprises(t, t.scores), surprises(t, recalibrated)
    with np.errstate(invalid="ignore"):  # inf - inf raises below
        change = _estimate(t, before[0] - after[0], before[1] - after[1])
    if isnan(change.value):
        msg = (
            "the log score is infinite before and after the map, so its change is undefined: "
            'move the wrong scores of 0 and 1 inside, or take rule="brier".'
        )
        raise ValueError(msg)
    return change


def _estimate(t: Tally, if_positive: Floats, if_negative: Floats) -> Estimate:
    mean = mean_loss(t, if_positive, if_negative)
    if t.total == 1 or not isfinite(mean):
        return Estimate.normal(mean, nan)
    variance = mean_loss(t, (if_positive - mean) ** 2, (if_negative - mean) ** 2)
    return Estimate.normal(mean, sqrt(variance / (t.total - 1)))


def _check_injective(t: Tally, recalibrated: Floats) -> None:
    if recalibrated.shape != t.scores.shape:
        msg = (
            f"the map must give one probability for each of the {t.scores.size} scores, "
            f"got shape {recalibrated.shape}."
        )
        raise ValueError(msg)
    outside = ~((recalibrated >= 0.0) & (recalibrated <= 1.0))  # written so that nan is outside
    if outside.any():
        first = int(np.flatnonzero(outside)[0])
        msg = (
            f"the map must stay in [0, 1], but sends {t.scores[first]} to {recalibrated[first]}: "
            "map in logit, or clip the scores first."
        )
        raise ValueError(msg)
    order = np.argsort(recalibrated, kind="stable")
    same = np.flatnonzero(np.diff(recalibrated[order]) == 0.0)
    if same.size:
        one, other = sorted(order[same[0] : same[0] + 2])
        msg = (
            f"the map sends the scores {t.scores[one]} and {t.scores[other]} both to "
            f"{recalibrated[one]}, so sharpness changes with calibration: use an injective map."
        )
        raise ValueError(msg)
