"""What was lost because scores are miscalibrated, in the unit of who decides with them. Pure.

Rule: as for the causes of an error, what is lost is found within one day and segment, where there
is one prior, and averaged after that.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from math import sqrt

import numpy as np

from monitor.evaluation.attribution import (
    Stratum,
    apart_or_together,
    comparer,
    design_effects_of_maps,
    difference_of_means,
    scores_of_maps,
)
from monitor.evaluation.evaluation import Lost
from monitor.metrics.core.buckets import BucketCounts
from monitor.metrics.core.estimate import Estimate
from monitor.metrics.core.grid import Floats
from monitor.metrics.core.special import expit, logit
from monitor.metrics.core.tally import Tally
from monitor.metrics.logistic.recalibration_maps import NestedMaps, fit_nested_maps, gram
from monitor.metrics.logistic.remaining_error import remaining_error
from monitor.metrics.scores.net_benefit import Decision, benefits


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


FindLost = Callable[[Tally, BucketCounts], Lost | None]


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
        return _mean(parts, getattr(together, name) if together else None)

    has_rest = any(lost.rest for _, lost in apart)
    return Lost(
        worth.currency,
        worth.decision.threshold if worth.decision else None,
        mean("all"),
        *(mean("prior_shift"), mean("slope"), mean("shape")),
        rest=mean("rest") if has_rest else None,
    )


def _mean(parts: Sequence[tuple[int, Estimate]], together: Estimate | None) -> Estimate:
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
