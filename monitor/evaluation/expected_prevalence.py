"""The prevalence to expect from a day's scores alone, before its outcomes arrive. Pure.

There are two expectations, one for each thing that may have changed. Under a prior shift, the
scores of each outcome are distributed as in the reference, and the day is a mixture of the two.
Under a covariate shift, the rate at each score is as in the reference. Without outcomes it is
unknown which of the two holds, so neither is a verdict: the goodness of fit only shows whether
the first one is possible at all.
"""

from collections.abc import Callable
from dataclasses import replace
from math import lgamma, log, log1p, nan, sqrt

import numpy as np

from monitor.evaluation.evaluation import Expectation
from monitor.metrics.core.dispersion import NO_DESIGN_EFFECTS, DesignEffects
from monitor.metrics.core.estimate import NORMAL_95, Estimate
from monitor.metrics.core.grid import Floats, Ints
from monitor.metrics.core.special import brentq, chdtrc, expit, logit
from monitor.metrics.core.tally import Tally
from monitor.metrics.logistic.recalibration_maps import NestedMaps, fit_nested_maps, gram, project
from monitor.metrics.scores.brier import mean_loss

FURTHEST = 40.0  # in logit; a prevalence beyond is 0 or 1
MOST_LIFT = 30.0  # so that a likelihood ratio less 1 stays above -1
LEAST_ODDS = 1e-9  # where all scores are alike, any prevalence fits
MOST_BINS = 30
LEAST_EXPECTED = 5.0  # predictions of the day in a bin: the usual rule for a chi-square
LEAST_SHARE = 0.5  # of an equal bin
LEAST_FIT = -3.0  # log10 of a probability: scores so unlike a mixture say nothing about the prior
Variance = Callable[[Floats, float], float]


def expect_prevalence(
    reference: Tally,
    scores: Floats,
    counts: Ints,
    *,
    effects: DesignEffects = NO_DESIGN_EFFECTS,
) -> Expectation | None:
    """Estimate the prevalence of predictions without outcomes.

    Parameters
    ----------
    reference : Tally
        Predictions with outcomes, all of the same classes as the day's.
    scores : ndarray of shape (m,)
        Distinct scores of the day's predictions, with or without an outcome.
    counts : ndarray of shape (m,)
        Their numbers; integers.
    effects : DesignEffects
        By how much the rows of the reference, and those of one of its days, vary more than
        independent ones, because those of an entity hang together.

    Returns
    -------
    Expectation or None
        None if the day has no score strictly between 0 and 1, or the reference fewer than ten
        outcomes of the rarer class.

    Notes
    -----
    With r the reference's calibrated probability (the last of `fit_nested_maps`) and R its
    prevalence, the day's rate at a score is ``rho = sigma(logit r + logit pi - logit R)``. The
    most likely pi solves ``mean rho = pi``, the fixed point of the EM algorithm of Saerens,
    Latinne and Decaestecker (Neural Computation 14, 2002); the likelihood is concave in pi.
    ``mean rho - pi`` has variance ``var rho / N + V``, V by the reference's sample. The interval
    holds every pi at which it is within 1.96 standard errors of 0, a score test: valid at 0
    and 1 too, and where the scores hold little information.

    The fit compares the day with both classes of the reference over at most 30 bins that hold
    equal shares of the two, each with five expected predictions: the generalised
    chi-square of the differences, with the sampling of all three histograms in its covariance
    and the direction of pi projected out, has B - 2 degrees of freedom.

    Where rows hang together, each variance is multiplied by its design effect: that of a day of
    the reference for the day, those of scores and outcomes of the whole reference for V.

    Examples
    --------
    >>> from monitor.metrics.core.tally import tally
    >>> reference = tally([0] * 400 + [1] * 100 + [1] * 400 + [0] * 100, [0.2] * 500 + [0.8] * 500)
    >>> expected = expect_prevalence(reference, np.array([0.2, 0.8]), np.array([740, 260]))
    >>> round(expected.prevalence, 6), round(expected.unshifted, 6)  # 0.1 * 0.8 + 0.9 * 0.2 is 0.26
    (0.1, 0.356)
    """
    maps = fit_nested_maps(reference)
    inside = (scores > 0.0) & (scores < 1.0)
    if maps is None or not counts[inside].sum():
        return None
    x, n = np.asarray(logit(scores[inside])), counts[inside]
    eta, terms = _carried(maps, x)
    variance = _reference_variance(maps, effects)
    low, prevalence, high = _mixture(maps, eta, terms, n, effects, variance)
    unshifted = _calibrated_mean(eta, terms, n, effects, variance)
    return Expectation(
        prevalence=prevalence,
        low=low,
        high=high,
        fit_log10_p=_fit_log10_p(maps.tally, x, n, prevalence, effects),
        unshifted=unshifted.value,
        unshifted_error=unshifted.standard_error,
    )


def says_prevalence(expected: Expectation) -> bool:
    """Say whether scores alone tell the prevalence: its interval is open, and they fit a mixture.

    Examples
    --------
    >>> told = Expectation(0.2, 0.1, 0.3, -1.0, 0.2, 0.01)
    >>> says_prevalence(told), says_prevalence(replace(told, fit_log10_p=-3.1))
    (True, False)
    """
    return expected.low > 0.0 and expected.high < 1.0 and not expected.fit_log10_p < LEAST_FIT


def expected_of_population(
    expected: Expectation, class_weights: tuple[float, float]
) -> Expectation:
    """Give the expectation for the population that the day's log is a sample of.

    Parameters
    ----------
    expected : Expectation
        For the rows of the log.
    class_weights : tuple of float
        How many rows of the population a row of outcome 0, and one of outcome 1, stands for.

    Examples
    --------
    >>> expected = Expectation(0.5, 0.4, 0.6, -1.0, 0.5, 0.01)
    >>> expected_of_population(expected, (9.0, 1.0)).prevalence
    0.1
    """
    negative, positive = class_weights
    if negative == positive:
        return expected

    def share(ratio: float) -> float:
        return positive * ratio / (positive * ratio + negative * (1.0 - ratio))

    slope = (
        positive
        * negative
        / (positive * expected.unshifted + negative * (1.0 - expected.unshifted)) ** 2
    )
    return replace(
        expected,
        prevalence=share(expected.prevalence),
        low=share(expected.low),
        high=share(expected.high),
        unshifted=share(expected.unshifted),
        unshifted_error=slope * expected.unshifted_error,
    )


def _carried(maps: NestedMaps, x: Floats) -> tuple[Floats, Floats]:
    """Give the last map's log-odds and terms at other logits; beyond the ends it is a line."""
    logits, design = maps.logits[0], maps.design[:, : maps.terms[-1]]
    held = np.clip(x, logits[0], logits[-1])
    beyond = x - held
    slope = 1.0 if np.isnan(maps.slope) else maps.slope
    eta = np.interp(held, logits, maps.logits[-1]) + slope * beyond
    terms = np.column_stack([np.interp(held, logits, term) for term in design.T])
    if terms.shape[1] > 1:
        terms[:, 1] += beyond * (design[-1, 1] - design[0, 1]) / (logits[-1] - logits[0])
    return eta, terms


def _mixture(
    maps: NestedMaps,
    eta: Floats,
    terms: Floats,
    n: Ints,
    effects: DesignEffects,
    reference_variance: Variance,
) -> tuple[float, float, float]:
    """Solve for the prevalence between the ends of its interval; 0 or 1 where it has no end."""
    share, prior = n / n.sum(), maps.tally.prevalence
    lift = eta - float(logit(prior))
    odds = np.expm1(np.clip(lift, -MOST_LIFT, MOST_LIFT))  # likelihood ratio less 1
    if np.abs(odds).max() < LEAST_ODDS:
        return nan, nan, nan

    # All divided by pi (1 - pi), so that nothing cancels at either end.
    def gain(level: float) -> float:
        """Give the slope of the log-likelihood in pi: falling, and exact at both ends."""
        return float((share * odds / (1.0 + odds * float(expit(level)))).sum())

    def standardised(level: float) -> float:
        base = 1.0 + odds * float(expit(level))
        uncertain = share * (1.0 + odds) / base**2
        spread = float((share * (odds / base) ** 2).sum())
        # The prevalence of the reference is uncertain too, together with the map.
        pull, flat = (uncertain[:, None] * terms).sum(axis=0), float(uncertain.sum())
        variance = reference_variance(pull, flat / (prior * (1.0 - prior)))
        return gain(level) / sqrt(effects.scores_of_day * spread / n.sum() + variance)

    ends = (
        _falls_to_zero(of)
        for of in (
            lambda x: standardised(x) - NORMAL_95,
            gain,
            lambda x: standardised(x) + NORMAL_95,
        )
    )
    low, prevalence, high = ends
    return low, prevalence, high


def _falls_to_zero(function: Callable[[float], float]) -> float:
    """Find the prevalence at whose logit a function crosses 0; 0 or 1 if it does so nowhere."""
    if function(-FURTHEST) <= 0.0:
        return 0.0
    if function(FURTHEST) >= 0.0:
        return 1.0
    return float(expit(brentq(function, -FURTHEST, FURTHEST, xtol=1e-12)))


def _calibrated_mean(
    eta: Floats, terms: Floats, n: Ints, effects: DesignEffects, reference_variance: Variance
) -> Estimate:
    share, rates = n / n.sum(), np.asarray(expit(eta))
    mean = min(1.0, float((share * rates).sum()))  # of shares that may sum to a trifle more
    pull = ((share * rates * expit(-eta))[:, None] * terms).sum(axis=0)
    variance = effects.scores_of_day * float((share * (rates - mean) ** 2).sum()) / n.sum()
    return Estimate.normal(mean, sqrt(variance + reference_variance(pull, 0.0)))


def _reference_variance(maps: NestedMaps, effects: DesignEffects) -> Variance:
    """Give the variance of ``pull'coefficients - level prevalence`` from sample to sample."""
    t, p, q = maps.tally, np.asarray(expit(maps.logits[-1])), np.asarray(expit(-maps.logits[-1]))
    total, prevalence = t.total, t.prevalence
    design = np.ascontiguousarray(maps.design[:, : maps.terms[-1]])
    information = gram(design, t.counts * p * q) / total

    def variance(pull: Floats, level: float) -> float:
        along = project(design, np.asarray(np.linalg.solve(information, pull), np.float64))
        hit = along * q - level * (1.0 - prevalence)
        independent = mean_loss(t, hit**2, (level * prevalence - along * p) ** 2) / total
        # What outcomes add to it, and what scores do.
        outcomes = float((t.counts * (along - level) ** 2 * p * (1.0 - p)).sum())
        scores = float((t.counts * (level * (p - prevalence)) ** 2).sum())
        both = effects.outcomes * outcomes + effects.scores * scores
        return independent * both / (outcomes + scores) if outcomes + scores else independent

    return variance


def _fit_log10_p(t: Tally, x: Floats, n: Ints, prevalence: float, effects: DesignEffects) -> float:
    """Test whether the day's histogram is a mixture of the reference's two."""
    if np.isnan(prevalence):
        return nan
    logits, misses = np.asarray(logit(t.scores)), t.counts - t.positives
    positive, negative = t.positives / t.positives.sum(), misses / misses.sum()
    total = n.sum() / effects.scores_of_day
    starts = _bin_starts(positive, negative, total * prevalence, total * (1.0 - prevalence))
    if starts.size < 3:  # noqa: PLR2004 (two bins fit any mixture)
        return nan
    bins = np.searchsorted(logits[starts[1:]], x, side="right")
    day = np.bincount(bins, weights=n, minlength=starts.size) / n.sum()
    a, c = np.add.reduceat(positive, starts), np.add.reduceat(negative, starts)
    mixed = prevalence * a + (1.0 - prevalence) * c
    covariance = (
        _multinomial(mixed) / total
        + prevalence**2 * _multinomial(a) * effects.scores / t.positives.sum()
        + (1.0 - prevalence) ** 2 * _multinomial(c) * effects.scores / misses.sum()
    )[:-1, :-1]
    off, direction = (day - mixed)[:-1], (a - c)[:-1]
    weighed = np.linalg.solve(covariance, np.column_stack([off, direction]))
    along = (direction * weighed[:, 0]).sum() ** 2 / (direction * weighed[:, 1]).sum()
    return log10_chi_square_tail(float((off * weighed[:, 0]).sum() - along), starts.size - 2)


def _bin_starts(positive: Floats, negative: Floats, hits: float, misses: float) -> Ints:
    """Cut where both classes together have equal shares, as long as the day fills the bins."""
    both, day = (
        np.cumsum(0.5 * (positive + negative)),
        np.cumsum(hits * positive + misses * negative),
    )
    starts = [0]
    for cut in range(1, MOST_BINS):
        end = int(np.abs(both - cut / MOST_BINS * both[-1]).argmin())
        if end < starts[-1]:
            continue
        last = starts[-1] - 1
        shares = both[end] - (both[last] if last >= 0 else 0.0), both[-1] - both[end]
        filled = day[end] - (day[last] if last >= 0 else 0.0), day[-1] - day[end]
        if min(shares) >= LEAST_SHARE / MOST_BINS and min(filled) >= LEAST_EXPECTED:
            starts.append(end + 1)
    return np.array(starts)


def _multinomial(shares: Floats) -> Floats:
    return np.diag(shares) - np.outer(shares, shares)


def log10_chi_square_tail(statistic: float, freedom: int) -> float:
    """Give the decimal logarithm of the upper tail, also where the tail itself is below 1e-308.

    Examples
    --------
    >>> round(log10_chi_square_tail(3.841459, 1), 4), round(log10_chi_square_tail(1e4, 20), 1)
    (-1.301, -2143.7)
    """
    tail = float(chdtrc(freedom, max(statistic, 0.0)))
    if tail > 1e-300:  # noqa: PLR2004 (above the subnormal numbers)
        return log(tail) / log(10.0)
    half, place = 0.5 * statistic, 0.5 * freedom
    # The leading terms of the asymptotic series; the next is (freedom / statistic)**2.
    natural = (place - 1.0) * log(half) - half - lgamma(place) + log1p((place - 1.0) / half)
    return natural / log(10.0)
