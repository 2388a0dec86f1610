"""Which scores to label so that a distortion is found soonest. Pure.

A verdict needs no weights, so labels may be drawn at any rates by score. What a label says of a
distortion depends on its score: the reference's own curve tells how much.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from monitor.base.segment_names import WHOLE
from monitor.drift.curve.reference import (
    REFERENCE_DAYS,
    Reference,
    fit_reference,
    what_a_reference_lacks,
)
from monitor.drift.incidents.detectable import days_to_find
from monitor.metrics.core.coarse import CENTRES, COARSE_COUNT, Coarse
from monitor.metrics.core.grid import Floats
from monitor.metrics.core.special import expit

UNIFORM = 0.25  # of the labels: for distortions that were not planned for
HALVINGS = 60


@dataclass(frozen=True, eq=False)
class LabelPlan:
    """At which rates by score to label.

    Attributes
    ----------
    rates : ndarray of shape (1024,)
        Ratio in [0, 1] of the predictions of each coarse cell: one of two values.
    labels : float
        Expected a day.
    predictions : float
        A day.
    worth : float
        How many labels that are drawn uniformly say as much of the distortion, a day.
    """

    rates: Floats
    labels: float
    predictions: float
    worth: float


def plan_labels(
    reference: Reference,
    predictions: Floats,
    budget: float,
    *,
    direction: int = 0,
    uniform: float = UNIFORM,
) -> LabelPlan:
    """Find the rates by score that say most of a distortion of the curve.

    Parameters
    ----------
    reference : Reference
        With the curve of the model.
    predictions : ndarray of shape (1024,)
        Predictions a day by coarse cell.
    budget : float
        Labels a day, above 0.
    direction : int
        Of the distortion, among the directions of the reference; 0 is the slope.
    uniform : float
        Share of the labels that is drawn at random from all predictions, a ratio in (0, 1].

    Returns
    -------
    LabelPlan
        Where the budget is at least the number of predictions, all of them.

    Notes
    -----
    With rates r, N predictions in a cell, v = p (1 - p) of the reference's curve there and its
    direction D, a day says ``I = sum r N v (D - m)**2`` of the distortion, where m is the mean of D
    weighted by r N v: the day's prior is a nuisance, and this is the Fisher information that
    remains of the conditional likelihood. I is the least over m, and concave in r, so the best
    rates are 1 where ``v (D - m)**2`` is above a limit that the budget sets, and as low as allowed
    below it (Silvey, Optimal Design, 1980, section 3). m is found by halving: the mean of D at the
    rates that are best for m moves against m.

    Examples
    --------
    >>> from monitor.drift.curve.reference import fit_reference
    >>> n = np.where(abs(CENTRES) < 3, 50, 0)
    >>> day = {"all": Coarse(n, np.rint(n * expit(CENTRES)).astype(np.int64))}
    >>> plan = plan_labels(fit_reference([day] * 28), 10.0 * n, 6_000)
    >>> round(plan.labels), 1.4 < plan.worth / plan.labels < 3.0
    (6000, True)
    """
    total = float(predictions.sum())
    if budget >= total:
        return LabelPlan(np.ones(COARSE_COUNT), total, total, total)
    weights, along = _weights(reference), reference.directions[direction]
    least = uniform * budget / total
    low, high = float(along.min()), float(along.max())
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        rates = _best(weights * (along - middle) ** 2, predictions, budget, least)
        above = _mean(rates * predictions * weights, along) > middle
        low, high = (middle, high) if above else (low, middle)
    planned = _information(rates * predictions * weights, along)
    evenly = _information(predictions * weights, along) / total
    return LabelPlan(rates, float((rates * predictions).sum()), total, planned / evenly)


def days_with(
    reference: Reference, plan: LabelPlan, predictions: Floats, change: float, limit: float
) -> float | None:
    """Find how long a change of the slope takes to be found at the rates of a plan.

    Parameters
    ----------
    reference : Reference
        With the curve of the model.
    plan : LabelPlan
        The rates.
    predictions : ndarray of shape (1024,)
        Predictions a day by coarse cell.
    change : float
        By how much the slope differs from 1, above 0.
    limit : float
        Evidence at which an incident opens, log10.

    Returns
    -------
    float or None
        Days, the median of 300 simulated streams, once as many days labelled so are the reference
        as it takes, at least 28; infinite if it takes more than 400.
        None if even ten times 28 days are too few for a reference.
    """
    rng, p = np.random.default_rng(0), expit(reference.curve)
    days = list[dict[str, Coarse]]()
    while len(days) < 10 * REFERENCE_DAYS:
        for _ in range(REFERENCE_DAYS if not days else 1):
            counts = rng.poisson(plan.rates * predictions)
            days.append({WHOLE: Coarse(counts, rng.binomial(counts, p))})
        if not what_a_reference_lacks(days):
            fitted = fit_reference(days, reference.sensitivity, judge_every=reference.judge_every)
            return days_to_find(fitted, change, limit)
    return None


def evenly_drawn(predictions: Floats, budget: float) -> LabelPlan:
    """Give the plan that labels all scores at one rate."""
    total = float(predictions.sum())
    rate = min(1.0, budget / total)
    return LabelPlan(np.full(COARSE_COUNT, rate), rate * total, total, rate * total)


def score_ranges(rates: Floats) -> Iterator[tuple[float, float, float]]:
    """Join cells with one rate, and give the lowest score, the highest and the rate of each range.

    Examples
    --------
    >>> [(round(low, 2), high, rate) for low, high, rate in score_ranges(
    ...     np.where(CENTRES > 1.0, 1.0, 0.01))]
    [(0.0, 0.731059, 0.01), (0.73, 1.0, 1.0)]
    """
    starts = np.flatnonzero(np.diff(rates, prepend=-1.0))
    half = 0.5 * (CENTRES[1] - CENTRES[0])
    edges = [0.0, *(round(float(expit(CENTRES[i] - half)), 6) for i in starts[1:]), 1.0]
    for i, start in enumerate(starts):
        yield edges[i], edges[i + 1], float(rates[start])


def _weights(reference: Reference) -> Floats:
    """Give the variance of an outcome by cell; 0 where the reference does not know its curve."""
    p = expit(reference.curve)
    weights = np.zeros(COARSE_COUNT)
    weights[reference.known] = (p * (1.0 - p))[reference.known]
    return weights


def _best(worth: Floats, predictions: Floats, budget: float, least: float) -> Floats:
    """Label all cells that are worth most as far as the budget goes, and others at a low rate."""
    order = np.argsort(-worth, kind="stable")
    cost = np.cumsum(predictions[order] * (1.0 - least))
    chosen = np.zeros(COARSE_COUNT, bool)
    chosen[order[cost <= budget - least * predictions.sum()]] = True
    inside = float(predictions[chosen].sum())
    # What no whole cell can use goes to all others.
    rest = min(1.0, (budget - inside) / max(1e-9, float(predictions.sum()) - inside))
    return np.where(chosen, 1.0, rest)


def _mean(weights: Floats, of: Floats) -> float:
    return float((weights * of).sum() / weights.sum())


def _information(weights: Floats, along: Floats) -> float:
    return float((weights * (along - _mean(weights, along)) ** 2).sum())
