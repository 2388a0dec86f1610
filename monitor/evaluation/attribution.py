"""How much of a window's calibration error each cause explains. Pure.

The scores pass through maps that correct one cause after the other: the prior, the slope, the
shape. An increasing map keeps the discrimination of the scores, so by [RBS, Proposition 4.5] the
proper score that each map saves is exactly the calibration error that it removes.

Rule: causes are compared within one day and segment. If days with different priors were pooled,
the difference would look like a slope.

What an error cost is found in the same way, in the unit of who decides with the scores.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import nan, sqrt
from typing import TypeVar

import numpy as np

from monitor.evaluation.evaluation import Causes, InterceptCorrection, Lost, Shares
from monitor.metrics.core.buckets import NO_BUCKETS, BucketCounts
from monitor.metrics.core.dispersion import design_effect
from monitor.metrics.core.estimate import Estimate
from monitor.metrics.core.grid import Floats
from monitor.metrics.core.special import expit, logit
from monitor.metrics.core.tally import Tally
from monitor.metrics.logistic.optimism import FittedScore, fitted_score
from monitor.metrics.logistic.recalibration_maps import NestedMaps, fit_nested_maps, gram
from monitor.metrics.logistic.remaining_error import RemainingError, remaining_error
from monitor.metrics.scores.bounds import ScoringRule
from monitor.metrics.scores.brier import mean_loss
from monitor.metrics.scores.net_benefit import Decision, benefits

E = TypeVar("E")
LEAST_COVERED = 0.5  # of the predictions; with less, days are too small to be attributed apart
Stratum = tuple[Tally, BucketCounts]  # of one day and segment


Explain = Callable[[Tally, BucketCounts], Causes | None]
# Estimates what a later one of some scores saves over an earlier one.
Compare = Callable[[Sequence[FittedScore], int, int], Estimate]
FindLost = Callable[[Tally, BucketCounts], Lost | None]


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


@dataclass(frozen=True)
class Worth:
    """What an error of the scores is worth: one of the two.

    Attributes
    ----------
    currency : str
        The unit of all amounts; may be empty.
    per_nat : float or None
        What a nat of log loss costs, for each prediction.
    decision : Decision or None
        What is decided with the scores.
    """

    currency: str
    per_nat: float | None = None
    decision: Decision | None = None


def lost_of(worth: Worth, t: Tally, held: BucketCounts) -> Lost | None:
    """Find what the miscalibration of a tally cost.

    Parameters
    ----------
    worth : Worth
        What an error is worth.
    t, held : Tally, BucketCounts
        As for `causes_of`.

    Returns
    -------
    Lost or None
        None where `causes_of` gives None.

    Notes
    -----
    With f0 to f3 the nested maps of `fit_nested_maps`. Of log loss, `per_nat` times the shares of
    `causes_of`; all of it is ``S(f0) - S(f3)`` and the rest.

    Of decisions, with NB(f) the net benefit of acting where ``f(s) >= threshold``:
    ``prior_shift = NB(f1) - NB(f0)``, ``slope = NB(f2) - NB(f1)``, ``shape = NB(f3) - NB(f2)``, and
    all is ``NB(f3) - NB(f0)``, counted on the outcomes. With benefit b, cost c, threshold t, V the
    variance of the log-odds of a fitted map where it reaches the threshold, and q the share of
    predictions per unit of log-odds there, the map's own noise makes the observed NB too large by
    ``(b + c) q t (1 - t) V / 2``, the optimism less the regret, which is taken off; its variance
    adds ``((b + c) q t (1 - t) V)**2 / 2``. If t is not ``c / (b + c)``, NB also moves with the map
    in first order, by ``q ((b + c) r - c)`` with r the outcome rate that f3 has there, which the
    delta method adds to what each prediction counts. q is counted within one standard error.

    Examples
    --------
    >>> from monitor.metrics.core.buckets import NO_BUCKETS
    >>> from monitor.metrics.core.tally import tally
    >>> outcomes = [1] * 40 + [0] * 60 + [1] * 65 + [0] * 35
    >>> worth = Worth("EUR", decision=Decision(0.3, 7.0, 3.0))
    >>> lost = lost_of(worth, tally(outcomes, [0.2] * 100 + [0.4] * 100), NO_BUCKETS)
    >>> f"{lost.all:.2f}"  # the first hundred, not acted on: 0.4 times 7 less 0.6 times 3, halved
    '0.50 (95 % 0.01 to 0.99)'
    """
    maps = fit_nested_maps(t)
    if maps is None:
        return None
    if worth.decision is None:
        return _lost_log_loss(maps, held, worth.currency, worth.per_nat or 0.0)
    return _lost_by_deciding(maps, held, worth.currency, worth.decision)


def mean_lost(
    strata: Sequence[Stratum], merged: Stratum, worth: Worth, find: FindLost
) -> Lost | None:
    """Average over days and segments, each by its number of predictions, as `mean_causes` does."""
    apart = apart_or_together(strata, merged, find)
    if len(apart) <= 1:
        return apart[0][1] if apart else None
    together = find(*merged) if merged[1].counts.size else None

    def mean(name: str) -> Estimate:
        parts = [(n, part) for n, lost in apart if (part := getattr(lost, name))]
        return _mean_amount(parts, getattr(together, name) if together else None)

    has_rest = any(lost.rest for _, lost in apart)
    return Lost(
        worth.currency,
        worth.decision.threshold if worth.decision else None,
        mean("all"),
        *(mean("prior_shift"), mean("slope"), mean("shape")),
        rest=mean("rest") if has_rest else None,
    )


def _mean_amount(parts: Sequence[tuple[int, Estimate]], together: Estimate | None) -> Estimate:
    """Average estimates of independent parts; entities come again, so no error is below theirs."""
    size = sum(n for n, _ in parts)
    value = sum(n * part.value for n, part in parts) / size
    error = sqrt(sum((n * part.error) ** 2 for n, part in parts)) / size
    return Estimate.normal(value, max(error, together.error) if together else error)


def _lost_log_loss(maps: NestedMaps, held: BucketCounts, currency: str, per_nat: float) -> Lost:
    saved = partial(comparer(maps, held), scores_of_maps(maps, "log"))
    rest, fitted = remaining_error(maps, held).divergence, saved(0, 3)
    of_all = fitted.value, fitted.error
    if has_rest := rest.value == rest.value:
        of_all = fitted.value + rest.value, sqrt(fitted.error**2 + rest.error**2)

    def priced(value: float, error: float) -> Estimate:
        return Estimate.normal(per_nat * value, per_nat * error)

    parts = [*(saved(i, i + 1) for i in range(3)), rest]
    prior_shift, slope, shape, of_rest = (priced(part.value, part.error) for part in parts)
    known = of_rest if has_rest else None
    return Lost(currency, None, priced(*of_all), prior_shift, slope, shape, known)


@dataclass(frozen=True, eq=False)
class _Decided:
    """What deciding by a fitted map is worth: by outcome, and what its fit does to that."""

    if_positive: Floats
    if_negative: Floats
    flattery: float
    curvature: float


def _lost_by_deciding(
    maps: NestedMaps, held: BucketCounts, currency: str, decision: Decision
) -> Lost:
    phis = design_effects_of_maps(maps, held)
    decided = [_decided(maps, i, phis[i], decision) for i in range(4)]
    saved = partial(_saved, maps.tally, held, decided)
    by_map = [saved(i, i + 1) for i in range(3)]
    return Lost(currency, decision.threshold, saved(0, 3), *by_map)


def _saved(
    t: Tally, held: BucketCounts, decided: Sequence[_Decided], before: int, after: int
) -> Estimate:
    """Compare two ways of deciding within each prediction."""
    one, other = decided[before], decided[after]
    if_positive = other.if_positive - one.if_positive
    if_negative = other.if_negative - one.if_negative
    mean, variance = difference_of_means(t, held, if_positive, if_negative)
    variance += max(0.0, other.curvature - one.curvature)
    return Estimate.normal(mean - (other.flattery - one.flattery), sqrt(variance))


def _decided(maps: NestedMaps, i: int, phi: float, decision: Decision) -> _Decided:
    """Decide by one of the maps."""
    t, logits, terms = maps.tally, maps.logits[i], maps.terms[i]
    at = float(logit(np.array([decision.threshold]))[0])
    if not terms:
        return _Decided(*benefits(t.scores >= decision.threshold, decision), 0.0, 0.0)
    if_positive, if_negative = benefits(logits >= at, decision)
    p = np.asarray(expit(logits))
    design = np.ascontiguousarray(maps.design[:, :terms])
    inverse = np.linalg.inv(gram(design, t.counts * p * (1.0 - p)))
    edge = design[np.abs(logits - at).argmin()]
    pull = (design * (inverse * edge).sum(axis=1)).sum(axis=1)
    error = sqrt(phi * float(((inverse * edge).sum(axis=1) * edge).sum()))
    near = t.counts[np.abs(logits - at) <= error].sum()
    density = float(near) / (t.total * 2.0 * error)
    rate = float(expit(np.interp([at], logits, maps.logits[3]))[0])
    stake = decision.benefit + decision.cost
    tilt = density * (stake * rate - decision.cost) * t.total
    threshold = decision.threshold
    optimism = stake * density * threshold * (1.0 - threshold) * error**2
    return _Decided(
        if_positive + tilt * pull * (1.0 - p),
        if_negative - tilt * pull * p,
        0.5 * optimism,
        0.5 * optimism**2,
    )
