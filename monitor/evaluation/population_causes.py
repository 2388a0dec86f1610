"""What explains the calibration error of all predictions, where labels were chosen. Pure.

Rule: as for the labelled predictions, causes are compared within one day and segment.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import sqrt

import numpy as np

from monitor.days.summary import Segment
from monitor.evaluation.attribution import LEAST_COVERED, corrected, explained, mean_of_parts
from monitor.evaluation.evaluation import Causes, InterceptCorrection
from monitor.evaluation.score_errors import LabelRates
from monitor.evaluation.weighing import COUNTED, FIXED, Weighed, mean_of_all, variances_of, weigh
from monitor.metrics.core.estimate import Estimate
from monitor.metrics.core.grid import Floats
from monitor.metrics.core.special import expit, logit
from monitor.metrics.core.tally import Tally
from monitor.metrics.logistic.optimism import FittedScore
from monitor.metrics.logistic.recalibration_maps import (
    OUTCOMES_PER_TERM,
    NestedMaps,
    fit_nested_maps,
    gram,
)
from monitor.metrics.logistic.remaining_error import remaining_error_of_weighted

TERMS = 4, 2, 1  # that nested maps may have
ExplainAll = Callable[[Segment], tuple[int, Causes] | None]


@dataclass(frozen=True)
class _WeighedMaps:
    """Nested maps that were fitted to weighed outcomes, of which one stands for `FIXED` rows."""

    of: Weighed
    maps: NestedMaps
    variances: Floats  # of the sum of the weighed outcomes of each group
    ratios: list[Floats]  # of each map: see `_ratios`

    def compare(self, scores: Sequence[FittedScore], i: int, j: int) -> Estimate:
        """Compare the scores of two maps within each prediction, as `attribution.comparer`."""
        of, before, after = self.of, scores[i], scores[j]
        at = np.asarray(logit(of.labelled.scores))
        by_outcome = (
            before.if_positive - after.if_positive,
            before.if_negative - after.if_negative,
        )

        def saved(scores: Floats) -> tuple[Floats, Floats]:
            # What a map saves is smooth in the score: between labelled ones it is on a line.
            hit, missed = (np.interp(logit(scores), at, losses) for losses in by_outcome)
            return hit, missed

        mean, first, last = mean_of_all(of, saved), self.ratios[i], self.ratios[j]
        value = mean.value
        value += _phi(first) * before.optimism - _phi(last) * after.optimism
        curvature = _phi(last @ last) * after.curvature - _phi(first @ first) * before.curvature
        return Estimate.normal(value, sqrt(mean.standard_error**2 + max(0.0, curvature)))


def population_causes(part: Segment, rates: LabelRates = COUNTED) -> tuple[int, Causes] | None:
    """Divide the calibration error of all predictions among prior shift, slope, shape and rest.

    Parameters
    ----------
    part : Segment
        Of one day, or one span of time, as for `causes_of`.
    rates : LabelRates
        How the labelled ones were chosen.

    Returns
    -------
    (int, Causes) or None
        With how many predictions they are of. None with fewer than ten labelled outcomes of the
        rarer class, or if the log does not say how its rows were chosen.

    Notes
    -----
    The nested maps of `causes_of`, fitted to the weights of `weigh`; what each saves is its mean
    over all predictions (`mean_of_all`), of the losses with the pull of each prediction on the fit.
    With x the terms of a map, w the weights, ``A = sum w p (1 - p) x x'`` and V the same with w
    squared, the optimism of its fit is multiplied by ``tr(A^-1 V) / p``, the mean by which its p
    terms vary more than those of as many independent rows, and the variance that is left where
    the map is right by ``tr((A^-1 V)**2) / p``. The rest has bins of equal information of the
    labelled predictions, and gaps with the covariance that V gives them.

    Examples
    --------
    >>> from monitor.metrics.core.tally import tally_on_grid
    >>> outcomes = [1] * 40 + [0] * 60 + [1] * 65 + [0] * 35
    >>> reviewed = tally_on_grid(outcomes, [0.2] * 100 + [0.4] * 100)
    >>> size, causes = population_causes(Segment(reviewed, 200))  # all are labelled
    >>> size, round(causes.log_loss.prior_shift, 3), round(causes.log_loss_errors.prior_shift, 3)
    (200, 0.113, 0.034)
    """
    fitted = _fit(part, rates)
    if fitted is None:
        return None
    rest = remaining_error_of_weighted(fitted.maps, _movable(fitted.of).labelled, fitted.variances)
    return int(fitted.of.counts.sum()), explained(fitted.maps, fitted.compare, rest)


def population_correction(part: Segment, rates: LabelRates = COUNTED) -> InterceptCorrection | None:
    """Estimate the error of all predictions that adding the fitted intercept would remove.

    Parameters
    ----------
    part, rates
        As for `population_causes`.

    Returns
    -------
    InterceptCorrection or None
        None where `population_causes` is None.

    Examples
    --------
    >>> from monitor.metrics.core.tally import tally_on_grid
    >>> part = Segment(tally_on_grid([1] * 300 + [0] * 100, [0.5] * 400), 400)
    >>> shift = population_correction(part)  # as `intercept_correction`: all are labelled
    >>> round(shift.delta.value, 4), round(shift.squared_error.value, 4)
    (1.0986, 0.062)
    """
    fitted = _fit(part, rates, most_terms=1)
    if fitted is None:
        return None
    maps = fitted.maps
    w = maps.tally.counts * expit(maps.logits[1]) * expit(-maps.logits[1])
    delta = Estimate.normal(maps.delta, sqrt(_phi(fitted.ratios[1]) / float(w.sum())))
    before = mean_of_all(fitted.of, lambda s: (-np.log(s), -np.log1p(-s))).value
    return corrected(maps, fitted.compare, delta, before)


def mean_population_causes(
    strata: Sequence[Segment], merged: Segment, explain: ExplainAll
) -> Causes | None:
    """Average over days and segments, each by its number of predictions, as `mean_causes` does.

    Parameters
    ----------
    strata : sequence of Segment
        One for each day and segment.
    merged : Segment
        Their sum.
    explain : callable
        `population_causes` with the rates of the model.

    Returns
    -------
    Causes or None
        None if there are too few outcomes even together.
    """
    apart = [fitted for part in strata if (fitted := explain(part))]
    if sum(size for size, _ in apart) < LEAST_COVERED * merged.predicted:
        together = explain(merged)
        apart = [together] if together else []
    return mean_of_parts(apart)


def _fit(part: Segment, rates: LabelRates, *, most_terms: int = 4) -> _WeighedMaps | None:
    if not part.tally.total or (rates.in_log and part.rated is None):
        return None
    of = _movable(weigh(part, rates))
    t = of.labelled
    rarer = min(t.total_positives, t.total - t.total_positives)
    terms = next((n for n in TERMS if n <= most_terms and rarer >= n * OUTCOMES_PER_TERM), 0)
    rows, positives = (np.rint(FIXED * w).astype(np.int64) for w in (of.rows, of.positives))
    maps = terms and fit_nested_maps(Tally(t.scores, rows, positives), most_terms=terms)
    if not maps:
        return None
    variances = FIXED**2 * variances_of(of, np.asarray(expit(maps.logits[-1])))
    return _WeighedMaps(of, maps, variances, _ratios(maps, variances))


def _movable(of: Weighed) -> Weighed:
    """Leave out scores of exactly 0 and 1, which no map moves, and cells of no weight."""
    t, o = of.labelled, of.outcomes
    inside = (t.scores > 0.0) & (t.scores < 1.0) & (of.rows > 0.0)
    every = (of.scores > 0.0) & (of.scores < 1.0)
    return replace(
        of,
        labelled=Tally(t.scores[inside], t.counts[inside], t.positives[inside]),
        outcomes=o.of_cells(inside),
        fit=of.fit[inside],
        scores=of.scores[every],
        counts=of.counts[every],
    )


def _ratios(maps: NestedMaps, variances: Floats) -> list[Floats]:
    """Give ``A^-1 V`` of each map: what its terms vary by, over what as many rows would."""
    ratios = []
    for logits, terms in zip(maps.logits, maps.terms, strict=True):
        x, p = np.ascontiguousarray(maps.design[:, :terms]), np.asarray(expit(logits))
        information = gram(x, maps.tally.counts * p * (1.0 - p))
        ratios.append(np.linalg.solve(information, gram(x, variances)))
    return ratios


def _phi(ratio: Floats) -> float:
    """Give the mean design effect of the terms of a map; 1 where none were fitted."""
    return float(np.trace(ratio)) / ratio.shape[0] if ratio.size else 1.0
