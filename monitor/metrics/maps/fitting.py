"""Fit a calibration map of one family: the shape with an intercept for each day, then its level."""

from dataclasses import dataclass, replace

import numpy as np

from monitor.metrics.core.grid import Floats
from monitor.metrics.maps.calibration_map import (
    MOST_SLOPE,
    CalibrationMap,
    Kind,
    functions_of,
    shape_of,
)
from monitor.metrics.maps.centred_isotonic import fit_centred_isotonic
from monitor.metrics.maps.daily_counts import DailyCounts, merge_spans, spans_of
from monitor.metrics.maps.likelihood import fit_slopes, pooled_level, solve_level
from monitor.metrics.maps.mean_over_days import FEWEST_DAYS, LEVEL_MEMORY, mean_over_days

OUTCOMES_PER_TERM = 10  # the usual rule for logistic regressions: events per variable
TERMS = {"identity": 0, "intercept": 1, "platt": 2, "beta": 3, "spline": 7, "isotonic": 10}
MOST_KNOTS, LEAST_KNOTS, INFORMATION_PER_KNOT = 6, 3, 100.0
ROUGHNESS = 0.5**-2  # neighbouring slopes of a spline, or of few rows, differ by 0.5 a priori
KNOWN_SHARE = 0.01  # of the information below the known scores, and above them


@dataclass(frozen=True)
class FittedMap:
    """A map, and how well its level is known.

    Attributes
    ----------
    map : CalibrationMap
        The map.
    level_standard_error : float
        In logit; it lets days differ.
    """

    map: CalibrationMap
    level_standard_error: float


def can_fit(data: DailyCounts, kind: Kind) -> bool:
    """Check that there are ten outcomes of the rarer kind for each term of a family.

    Examples
    --------
    >>> can_fit(DailyCounts(np.zeros(1), np.array([[40.0]]), np.array([[19.0]])), "platt")
    False
    """
    return data.rarer >= OUTCOMES_PER_TERM * TERMS[kind]


def fit_calibration_map(data: DailyCounts, kind: Kind, *, shrink_level: bool = False) -> FittedMap:
    """Fit a map from scores to calibrated probabilities.

    Parameters
    ----------
    data : DailyCounts
        With both outcomes. Of fewer than `can_fit` asks for, or if the scores separate them, each
        outcome is drawn to the other.
    kind : str
        "identity", "intercept", "platt", "beta", "spline" or "isotonic".
    shrink_level : bool
        Move the level by that share of what the outcomes ask for that is likely to stay. Needs
        four days; of fewer the level is that of the outcomes.

    Returns
    -------
    FittedMap
        Strictly increasing in the score.

    Notes
    -----
    The shape g maximises ``sum_t sum_j k log p + (n - k) log(1 - p)``, ``p = sigma(g(x_j) + a_t)``
    over itself and an intercept a_t for each day, so no prior enters it. Days with few outcomes
    share one (`spans_of`). The level is the maximum-likelihood intercept of all days together. To
    shrink it, let d be its distance from the level that keeps the mean of the scores, and v the
    variance of d, because the prior wanders from day to day (`mean_over_days`): the level moves by
    ``d**2 / (d**2 + v)`` of d, which is the share with the least squared error, d for the truth.
    With too few outcomes, or where scores separate them, those that were 1 count as
    ``(P + 1) / (P + 2)`` of P and those that were 0 as ``1 / (N + 2)`` of N (Platt 1999), so that
    the slope is finite; the two slopes of a beta map then differ by about 0.5, as a spline's do.
    Families: ``g = b x`` (Platt 1999); ``g = a ln s - b ln(1 - s)`` with both above 0 (Kull, Silva
    Filho and Flach 2017); a spline whose slope is linear between knots at quantiles of the
    information, penalised towards a line; centred isotonic regression (Oron and Flournoy 2017).

    Examples
    --------
    >>> from monitor.metrics.core.tally import tally
    >>> from monitor.metrics.maps.daily_counts import daily_counts
    >>> day = tally([0] * 35 + [1] * 15 + [1] * 35 + [0] * 15, [0.2] * 50 + [0.8] * 50)
    >>> fitted = fit_calibration_map(daily_counts([day]), "platt").map
    >>> round(fitted.parameters[0], 3), abs(round(fitted.level, 3))  # log(7/3) / log(4)
    (0.611, 0.0)
    """
    known = _known(data)
    if kind == "identity":
        return FittedMap(CalibrationMap("identity", known=known), 0.0)
    together = merge_spans(data, spans_of(data))
    fitted = _fit_shape(together, kind) if can_fit(data, kind) else None
    if fitted is None or _has_no_best_slope(fitted):
        data = _drawn_together(data)
        together = merge_spans(data, spans_of(data))
        fitted = _fit_shape(together, kind, roughness=ROUGHNESS)
    fitted = replace(fitted, known=known)
    level, error = pooled_level(shape_of(data.logits, fitted), together.counts, together.positives)
    if shrink_level and together.days >= FEWEST_DAYS:
        level = _shrunk(level, shape_of(data.logits, fitted), together)
    return FittedMap(replace(fitted, level=level), error)


def _has_no_best_slope(fitted: CalibrationMap) -> bool:
    """Say whether a slope ended at the largest that is tried, as where scores separate outcomes."""
    has_slopes = fitted.kind in ("platt", "beta", "spline")
    return has_slopes and max(fitted.parameters) >= MOST_SLOPE


def _drawn_together(data: DailyCounts) -> DailyCounts:
    hits = float(data.positives.sum())
    misses = float(data.counts.sum()) - hits
    positives = data.positives * (hits + 1.0) / (hits + 2.0)
    negatives = (data.counts - data.positives) / (misses + 2.0)
    return DailyCounts(data.logits, data.counts, positives + negatives)


def _shrunk(level: float, shape: Floats, data: DailyCounts) -> float:
    counts = data.counts.sum(axis=0)
    expected = float((counts / (1.0 + np.exp(-data.logits))).sum())
    kept, _ = solve_level(shape, counts, expected)
    p = 1.0 / (1.0 + np.exp(-(shape + level)))
    scores = (data.positives - data.counts * p).sum(axis=1)
    information = (data.counts * p * (1.0 - p)).sum(axis=1)
    error = mean_over_days(
        scores, information, least_memory=LEVEL_MEMORY, to_come=False
    ).standard_error
    asked = level - kept
    return kept + asked**3 / (asked**2 + error**2) if asked else level


def _fit_shape(data: DailyCounts, kind: Kind, *, roughness: float = 0.0) -> CalibrationMap:
    x, n, k = data.logits, data.counts, data.positives
    if kind == "intercept":
        return CalibrationMap("intercept")
    if kind == "isotonic":
        knots, values = fit_centred_isotonic(x, n, k)
        if knots.size == 1:  # a flat curve: the outermost scores give the line its slope
            knots = np.array([x[0] - 1.0, x[-1] + 1.0])
            values = values[0] + 1e-3 * (knots - knots.mean())
        return CalibrationMap("isotonic", 0.0, _plain(values), _plain(knots))
    places = _knots(data) if kind == "spline" else ()
    functions = functions_of(x, kind, places)
    if kind == "spline":
        roughness = ROUGHNESS
    slopes = fit_slopes(functions, n, k, np.ones(len(functions)), roughness)
    return CalibrationMap(kind, 0.0, _plain(slopes), places)


def _plain(values: Floats) -> tuple[float, ...]:
    return tuple(values.tolist())


def _information(data: DailyCounts) -> Floats:
    """Give the information ``n p (1 - p)`` of each group, p its rate of positives, smoothed."""
    counts, hits = data.counts.sum(axis=0), data.positives.sum(axis=0)
    p = (hits + 1.0 / (1.0 + np.exp(-data.logits))) / (counts + 1.0)
    return np.asarray(counts * p * (1.0 - p))


def _quantiles(data: DailyCounts, shares: Floats) -> Floats:
    reached = np.cumsum(_information(data))
    nearest = np.searchsorted(reached, shares * reached[-1])
    return np.asarray(data.logits[np.minimum(nearest, data.logits.size - 1)])


def _knots(data: DailyCounts) -> tuple[float, ...]:
    """Place knots at quantiles of the information, as many as it bears."""
    bears = int(_information(data).sum() / INFORMATION_PER_KNOT)
    number = min(MOST_KNOTS, max(LEAST_KNOTS, bears))
    knots = np.unique(_quantiles(data, (np.arange(number) + 0.5) / number))
    if knots.size == 1:
        knots = np.array([knots[0] - 1.0, knots[0] + 1.0])
    return _plain(knots)


def _known(data: DailyCounts) -> tuple[float, float]:
    """Give the scores between the 1 % and the 99 % quantile of the information."""
    ends = _quantiles(data, np.array([KNOWN_SHARE, 1.0 - KNOWN_SHARE]))
    low, high = (1.0 / (1.0 + np.exp(-ends))).tolist()
    return low, high
