"""How much of a window's calibration error each cause explains. Pure.

The scores pass through maps that correct one cause after the other: the prior, the slope, the
shape. An increasing map keeps the discrimination of the scores, so by [RBS, Proposition 4.5] the
proper score that each map saves is exactly the calibration error that it removes.

Rule: causes are compared within one day and segment. If days with different priors were pooled,
the difference would look like a slope.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import nan, sqrt
from typing import TypeVar

import numpy as np

from monitor.evaluation.evaluation import Causes, InterceptCorrection, Shares
from monitor.metrics.core.buckets import NO_BUCKETS, BucketCounts
from monitor.metrics.core.dispersion import design_effect
from monitor.metrics.core.estimate import Estimate
from monitor.metrics.core.grid import Floats
from monitor.metrics.core.special import expit
from monitor.metrics.core.tally import Tally
from monitor.metrics.logistic.optimism import FittedScore, fitted_score
from monitor.metrics.logistic.recalibration_maps import NestedMaps, fit_nested_maps
from monitor.metrics.logistic.remaining_error import RemainingError, remaining_error
from monitor.metrics.scores.bounds import ScoringRule
from monitor.metrics.scores.brier import mean_loss

E = TypeVar("E")
LEAST_COVERED = 0.5  # of the predictions; with less, days are too small to be attributed apart
Stratum = tuple[Tally, BucketCounts]  # of one day and segment


Explain = Callable[[Tally, BucketCounts], Causes | None]
# Estimates what a later one of some scores saves over an earlier one.
Compare = Callable[[Sequence[FittedScore], int, int], Estimate]


def causes_of(t: Tally, held: BucketCounts = NO_BUCKETS) -> Causes | None:
    """Divide the calibration error of a tally among prior shift, slope, shape and the rest.

    Parameters
    ----------
    t : Tally
        Of one span of time: causes are compared within it, never between spans. Scores of
        exactly 0 or 1 cannot be moved and do not count.
    held : BucketCounts
        The same predictions by bucket of their entity, where those of one entity may hang together.

    Returns
    -------
    Causes or None
        None with fewer than ten outcomes of the rarer class. Slope needs 20 of them, shape 40,
        and each an increasing map with a finite maximum (`fit_nested_maps`).

    Notes
    -----
    With S the mean score and f0 to f3 the nested maps, ``prior_shift = S(f0) - S(f1)``,
    ``slope = S(f1) - S(f2)``, ``shape = S(f2) - S(f3)``, each S corrected for the optimism of
    having been fitted to the same predictions (`fitted_score`). Standard errors are the delta
    method's, with the movement of the maps from sample to sample in them, plus the
    second-order variance that alone is left where a cause is absent.

    The rest compares outcomes with f3 over at most 20 bins of equal information. For Brier it is
    the debiased mean squared gap; for the log score the Kullback-Leibler divergence of the
    observed rates from the mean of f3, less 1/(2N) for each bin. Both give back what the fit
    of f3 took from the gaps. What varies inside a bin stays unseen.

    With entities, sampling moves each map by the design effect of its terms, the mean of S by
    that of what each prediction adds, and the rest by the covariance of the gaps of its bins.

    Examples
    --------
    >>> from monitor.metrics.core.tally import tally
    >>> outcomes = [1] * 40 + [0] * 60 + [1] * 65 + [0] * 35
    >>> causes = causes_of(tally(outcomes, [0.2] * 100 + [0.4] * 100))
    >>> round(causes.log_loss.prior_shift, 3), round(causes.log_loss_errors.prior_shift, 3)
    (0.113, 0.035)
    """
    maps = fit_nested_maps(t)
    if maps is None:
        return None
    return explained(maps, comparer(maps, held), remaining_error(maps, held))


def intercept_correction(t: Tally, held: BucketCounts = NO_BUCKETS) -> InterceptCorrection | None:
    """Estimate the error that adding the fitted intercept to every logit would remove.

    Parameters
    ----------
    t : Tally
        As for `causes_of`.
    held : BucketCounts
        As for `causes_of`.

    Returns
    -------
    InterceptCorrection or None
        The share of the prior shift in `causes_of`; None where that is None.

    Examples
    --------
    >>> from monitor.metrics.core.tally import tally
    >>> shift = intercept_correction(tally([1] * 300 + [0] * 100, [0.5] * 400))
    >>> round(shift.delta.value, 4), round(shift.squared_error.value, 4)  # log 3; 1/16, nearly
    (1.0986, 0.062)
    """
    maps = fit_nested_maps(t, most_terms=1)
    if maps is None:
        return None
    phi, p = design_effects_of_maps(maps, held)[1], expit(maps.logits[1])
    information = float((maps.tally.counts * p * expit(-maps.logits[1])).sum())
    delta = Estimate.normal(maps.delta, sqrt(phi) / sqrt(information))
    before = scores_of_maps(maps, "log")[0].observed
    return corrected(maps, comparer(maps, held), delta, before)


def explained(maps: NestedMaps, compare: Compare, rest: RemainingError) -> Causes:
    """Say what each map saves after the one before it, and what none of them does."""
    shares = list[Shares]()
    for scores, of_rest in (
        (scores_of_maps(maps, "log"), rest.divergence),
        (scores_of_maps(maps, "brier"), rest.squared),
    ):
        parts = [*(compare(scores, i, i + 1) for i in range(3)), of_rest]
        shares += Shares(*(p.value for p in parts)), Shares(*(p.standard_error for p in parts))
    return Causes(*shares)


def corrected(
    maps: NestedMaps, compare: Compare, delta: Estimate, before: float
) -> InterceptCorrection:
    """Say what the first map saves; `before` is the log loss of the scores as they are."""
    log, brier = scores_of_maps(maps, "log"), scores_of_maps(maps, "brier")
    return InterceptCorrection(delta, compare(log, 0, 1), compare(brier, 0, 1), before)


def comparer(maps: NestedMaps, held: BucketCounts) -> Compare:
    """Return what compares the scores of two maps within each prediction."""
    t, phis = maps.tally, design_effects_of_maps(maps, held)

    def compare(scores: Sequence[FittedScore], i: int, j: int) -> Estimate:
        before, after = scores[i], scores[j]
        if_positive = before.if_positive - after.if_positive
        if_negative = before.if_negative - after.if_negative
        _, variance = difference_of_means(t, held, if_positive, if_negative)
        variance += phis[j] ** 2 * max(0.0, after.curvature - before.curvature)
        value = before.corrected(phis[i]) - after.corrected(phis[j])
        return Estimate.normal(value, sqrt(variance))

    return compare


def difference_of_means(
    t: Tally, held: BucketCounts, if_positive: Floats, if_negative: Floats
) -> tuple[float, float]:
    """Give the mean of what each outcome adds, and the variance of that mean."""
    mean = mean_loss(t, if_positive, if_negative)
    variance = mean_loss(t, (if_positive - mean) ** 2, (if_negative - mean) ** 2) / (t.total - 1)
    return mean, variance * design_effect(t, held, if_positive, if_negative)


def design_effects_of_maps(maps: NestedMaps, held: BucketCounts) -> list[float]:
    """Give the mean design effect of the terms of each map; 1 where none were fitted."""
    if not held.counts.size:
        return [1.0] * len(maps.terms)
    effects = []
    for logits, terms in zip(maps.logits, maps.terms, strict=True):
        p, design = np.asarray(expit(logits)), maps.design[:, :terms].T
        of_terms = [design_effect(maps.tally, held, x * (1.0 - p), -x * p) for x in design]
        effects.append(float(np.mean(of_terms)) if of_terms else 1.0)
    return effects


def scores_of_maps(maps: NestedMaps, rule: ScoringRule) -> list[FittedScore]:
    """Score all maps; a map that could not be fitted gets the score of the one before it."""
    scores = list[FittedScore]()
    for i, terms in enumerate(maps.terms):
        fitted = not i or terms > maps.terms[i - 1]
        design = maps.design[:, :terms]
        scores.append(
            fitted_score(maps.tally, maps.logits[i], design, rule) if fitted else scores[-1]
        )
    return scores


def apart_or_together(
    strata: Sequence[Stratum], merged: Stratum, explain: Callable[[Tally, BucketCounts], E | None]
) -> list[tuple[int, E]]:
    """Explain each stratum that can be, with its size; or their sum, where too few can be."""
    apart = [(t.total, explained) for t, held in strata if (explained := explain(t, held))]
    size = merged[0].total
    if sum(n for n, _ in apart) >= LEAST_COVERED * size:
        return apart
    together = explain(*merged)
    return [(size, together)] if together else []


def mean_causes(strata: Sequence[Stratum], merged: Stratum, explain: Explain) -> Causes | None:
    """Average over days and segments, each by its number of predictions.

    Parameters
    ----------
    strata : sequence of (Tally, BucketCounts)
        One for each day and segment.
    merged : (Tally, BucketCounts)
        Their sum, attributed as one where most strata are too small to be attributed apart.
    explain : callable
        `causes_of`.

    Returns
    -------
    Causes or None
        None if there are too few outcomes even together. A single stratum's are unchanged, to the
        last bit.

    Notes
    -----
    Errors are those of independent strata. Entities come again on other days, so with them an error
    is at least that of the sum attributed as one.
    """
    apart = apart_or_together(strata, merged, explain)
    mean = mean_of_parts(apart)
    together = explain(*merged) if len(apart) > 1 and merged[1].counts.size else None
    return _with_errors_of(mean, together) if mean and together else mean


def mean_of_parts(apart: Sequence[tuple[int, Causes]]) -> Causes | None:
    """Average the causes of independent parts, each by its size; None of none."""
    if len(apart) <= 1:
        return apart[0][1] if apart else None
    sizes, parts = [n for n, _ in apart], [causes for _, causes in apart]
    return Causes(
        *_mean(sizes, [c.log_loss for c in parts], [c.log_loss_errors for c in parts]),
        *_mean(sizes, [c.squared_error for c in parts], [c.squared_error_errors for c in parts]),
    )


def _with_errors_of(mean: Causes, together: Causes) -> Causes:
    """Take the larger of two errors of each share."""

    def larger(one: Shares, other: Shares) -> Shares:
        return Shares(*np.fmax([*vars(one).values()], [*vars(other).values()]).tolist())

    return replace(
        mean,
        log_loss_errors=larger(mean.log_loss_errors, together.log_loss_errors),
        squared_error_errors=larger(mean.squared_error_errors, together.squared_error_errors),
    )


def _mean(
    numbers: Sequence[int], shares: Sequence[Shares], their_errors: Sequence[Shares]
) -> tuple[Shares, Shares]:
    """Average shares and their errors; a share that no part has is nan."""
    values, errors = (
        np.array([[*vars(part).values()] for part in of]) for of in (shares, their_errors)
    )
    is_known = ~np.isnan(values)
    sizes = np.where(is_known, np.array([[n] for n in numbers]), 0.0)
    total = sizes.sum(axis=0)
    means = np.where(is_known, sizes * values, 0.0).sum(axis=0)
    reach = np.sqrt(np.where(is_known, (sizes * errors) ** 2, 0.0).sum(axis=0))
    for sums in (means, reach):
        np.divide(sums, total, out=sums, where=total > 0.0)
        sums[total == 0.0] = nan  # not 0/0, whose sign depends on the processor
    return Shares(*means.tolist()), Shares(*reach.tolist())
