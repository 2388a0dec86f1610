"""Platt scaling of predicted variances: the line through them that scores best."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from monitor.metrics.beyond_binary.regression import check_positive, checked_moments
from monitor.metrics.core.grid import Floats
from monitor.metrics.core.special import fmin_l_bfgs_b

LOG_LIMIT = 300.0  # of a variance in units of the mean squared error; its square must not overflow


@dataclass(frozen=True)
class VarianceScaling:
    """A line through predicted variances: ``v -> slope v + intercept``.

    Attributes
    ----------
    slope : float
        A ratio; [RBS]'s w. 1 when the variances are right; negative when larger predicted
        variances go with smaller errors, which no rescaling should hide.
    intercept : float
        In squared units of the outcome; [RBS]'s b. 0 when the variances are right.
    """

    slope: float
    intercept: float


def fit_variance_scaling(
    outcomes: npt.ArrayLike, *, means: npt.ArrayLike, variances: npt.ArrayLike
) -> VarianceScaling:
    """Fit Platt scaling of the variance: the line that makes the Dawid-Sebastiani score least.

    For analysis, not used by the daily job.

    Parameters
    ----------
    outcomes, means, variances : array-like of shape (n,)
        As for `dawid_sebastiani`, of a *validation* set: neither the one that the model was
        trained on nor the one on which the improvement is measured. Not all variances equal.

    Returns
    -------
    VarianceScaling
        Variances stay above 0 everywhere between the smallest and the largest given.

    Raises
    ------
    ValueError
        As `dawid_sebastiani` does; if all variances are equal, so that every line through
        one point does the same; or if all errors at the smallest or at the largest variance
        are exactly 0: then the variance there can shrink for ever and no line is the best.

    Notes
    -----
    Minimises ``mean[(mu - y)**2 / (w v + b) + log(w v + b)]`` over w and b [RBS, section 5 and
    appendix G.5] with L-BFGS, as in the paper: *the variance itself* is mapped linearly, not
    its log. The line is described by the logs of its values at the smallest and the largest
    variance, which keeps it positive between them without a constraint. The score is not
    convex: one very small error at an end makes a minimum of its own there. So the descent
    starts from six lines (multiples of the variance, rising and falling, and each end at
    the mean of all squared errors or of its own) and the best result counts.

    Slope and intercept come without intervals, because none that was tried holds 95 % with a
    hundred rows (docs/coverage.md): neither sandwich standard errors nor refits of resampled rows,
    by their deviation. With 1,000 rows sandwich errors do. Judge a line by `dawid_sebastiani` and
    `squared_error_ratio` on other rows, before and after: those have intervals.

    Examples
    --------
    >>> line = fit_variance_scaling(
    ...     [2.0, -2.0, 4.0, -4.0], means=[0.0] * 4, variances=[1.0, 1.0, 3.0, 3.0]
    ... )
    >>> round(line.slope, 6), round(line.intercept, 6)  # 4 at 1 and 16 at 3
    (6.0, -2.0)
    """
    errors, v = checked_moments(outcomes, means, variances)
    squares = errors**2
    _check_fit(squares, v)
    low, high = v.min(), v.max()
    positions = (v - low) / (high - low)
    # In units of the mean squared error the solver's tolerances mean the same for any data.
    unit = squares.mean()
    ends = [_descend(start, squares / unit, positions) for start in _starts(squares, v, unit)]
    _, best = min(ends, key=lambda end: end[0])
    at_low, at_high = unit * np.exp(best)
    slope = (at_high - at_low) / (high - low)
    return VarianceScaling(float(slope), float(at_low - slope * low))


def scale_variances(variances: npt.ArrayLike, scaling: VarianceScaling) -> Floats:
    """Recalibrate variances.

    For analysis, not used by the daily job.

    Parameters
    ----------
    variances : array-like of shape (n,)
        Predicted variances v > 0.
    scaling : VarianceScaling
        A fitted line.

    Returns
    -------
    ndarray of shape (n,)
        Variances above 0, in the same units.

    Raises
    ------
    ValueError
        If a variance is not above 0 before or after: a line may leave the positive numbers
        outside the variances that it was fitted to.

    Notes
    -----
    ``w v + b`` [RBS, section 5], injective whenever w is not 0.

    Examples
    --------
    >>> scale_variances([1.0, 2.0], VarianceScaling(slope=6.0, intercept=-2.0))
    array([ 4., 10.])
    """
    v = np.asarray(variances, np.float64)
    check_positive(v, "predicted variances")
    scaled = scaling.slope * v + scaling.intercept
    check_positive(
        scaled, "scaled variances", remedy=": refit on a sample with variances like these"
    )
    return np.asarray(scaled)


def _starts(squares: Floats, variances: Floats, unit: float) -> list[Floats]:
    """Give the logs of some lines' values at both ends, shape (2,) each, in the given unit."""
    ends = np.array([variances.min(), variances.max()])
    multiple = np.log((squares / variances).mean() * ends / unit)
    own = np.log(np.array([squares[variances == end].mean() for end in ends]) / unit)
    corners = [np.array([low, high]) for low in (0.0, own[0]) for high in (0.0, own[1])]
    return [multiple, multiple[::-1].copy(), *corners]


def _descend(start: Floats, squares: Floats, positions: Floats) -> tuple[float, Floats]:
    """Return the least mean score found from one line, and the logs of its values at both ends."""
    weights = np.stack([1.0 - positions, positions])

    def score(logs: Floats) -> tuple[float, Floats]:
        at_ends = np.exp(logs)
        v = at_ends @ weights
        slopes = (1.0 - squares / v) / v
        return float((squares / v + np.log(v)).mean()), at_ends * (weights @ slopes) / v.size

    # Far below any standard error; the defaults stop where the score still moves by 1e-9.
    limits = [(-LOG_LIMIT, LOG_LIMIT)] * 2
    end, least, _ = fmin_l_bfgs_b(score, start, bounds=limits, factr=10.0, pgtol=1e-10)
    return float(least), np.asarray(end)


def _check_fit(squares: Floats, variances: Floats) -> None:
    if not variances.size or variances.min() == variances.max():
        shown = f", got {variances[0]:.6g} for all {variances.size}" if variances.size else ""
        msg = (
            f"a line through variances needs two different ones{shown}: rescale by "
            "squared_error_ratio instead."
        )
        raise ValueError(msg)
    for name, end in (("smallest", variances.min()), ("largest", variances.max())):
        if not squares[variances == end].any():
            msg = (
                f"every error at the {name} variance {end:.6g} is exactly 0, so no positive "
                "variance is the best there: take a larger sample."
            )
            raise ValueError(msg)
