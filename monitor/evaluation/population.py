"""What labels that were chosen by score, or with known probabilities, say of all. Pure."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import sqrt

import numpy as np

from monitor.days.summary import Segment
from monitor.evaluation.attribution import LEAST_COVERED, corrected, explained, mean_of_parts
from monitor.evaluation.errors import Errors
from monitor.evaluation.evaluation import Causes, InterceptCorrection, Population
from monitor.evaluation.score_errors import LabelRates
from monitor.evaluation.weighing import (
    COUNTED,
    FIXED,
    Loss,
    Weighed,
    mean_of_all,
    variances_of,
    weigh,
)
from monitor.metrics.binned.binning import monitor_sizes, paper_sizes, pava_bc
from monitor.metrics.core.estimate import NORMAL_95, Estimate
from monitor.metrics.core.grid import Floats, Ints
from monitor.metrics.core.special import expit, logit
from monitor.metrics.core.tally import Tally
from monitor.metrics.intervals.intervals import wilson
from monitor.metrics.logistic.optimism import FittedScore
from monitor.metrics.logistic.recalibration_maps import (
    OUTCOMES_PER_TERM,
    NestedMaps,
    fit_nested_maps,
    gram,
)
from monitor.metrics.logistic.remaining_error import remaining_error_of_weighted
from monitor.metrics.test_based.tce import rejected_per_bin
from monitor.metrics.test_based.tce_at_size import tce_at_size

TERMS = 4, 2, 1  # that nested maps may have
ExplainAll = Callable[[Segment], tuple[int, Causes] | None]


def population_of(
    part: Segment,
    alpha: float,
    rates: LabelRates = COUNTED,
    *,
    tce_size: int | None = None,
    rng: np.random.Generator | None = None,
) -> Population | None:
    """Estimate the measures of all predictions from those that are labelled.

    Parameters
    ----------
    part : Segment
        Of a day or a window.
    alpha : float
        Level of the tests inside TCE, in (0, 1).
    rates : LabelRates
        How the labelled ones were chosen.
    tce_size : int, optional
        N* of TCE.
    rng : numpy Generator, optional
        Source of chance of TCE at that size.

    Returns
    -------
    Population or None
        Without causes, which are those of its days. None without an outcome, or if the log of a
        day does not say how its rows were chosen.

    Notes
    -----
    Weights are those of `weigh`, means and their variances those of `mean_of_all`. Of
    prevalence and of what the mean squared error is above the least that the scores allow,
    intervals are Wilson's with that variance; RBS has the roots.

    ECE and TCE as published take the bins of the labelled predictions, and the weights of what
    lies in them; the tests inside TCE count the outcomes as they are, and with weights by row as
    many of equal weight as they are worth, ``(sum w)**2 / sum w**2`` (Kish, Survey Sampling, 1965),
    to the nearest whole number. Where few are labelled bins are wide, and gaps of both signs within
    one cancel, so ECE has no interval here.

    TCE at size N* is that of a sample in which each outcome stands for as many predictions as any
    other: of the labelled ones each stays with a probability in proportion to its weight. It is
    absent if fewer than N* stay.

    Measured at 95 % for prevalence, mean score and RBS: docs/chosen-labels.md.

    Examples
    --------
    >>> from monitor.metrics.core.grid import locate
    >>> from monitor.metrics.core.tally import tally_on_grid
    >>> from monitor.days.summary import awaited
    >>> reviewed = tally_on_grid([0] * 8 + [1] * 10 + [0] * 2, [0.2] * 10 + [0.8] * 10)
    >>> part = Segment(reviewed, 110, awaited(locate(np.array([0.2]))[0], np.array([90])))
    >>> round(population_of(part, 0.05).prevalence.value, 3)  # 20 % of 100 and 80 % of 10
    0.255
    """
    if not part.tally.total or (rates.in_log and part.rated is None):
        return None
    of = weigh(part, rates)
    tce = _tce(of, alpha, tce_size, rng) if tce_size and rng else None
    errors = replace(_errors(of, alpha), tce=tce)
    prevalence = _bounded(of, lambda s: (np.ones(s.size), np.zeros(s.size)))
    return Population(
        *(prevalence, _mean_score(of), errors, of.reached),
        correction=population_correction(part, rates),
    )


def _bounded(of: Weighed, loss: Loss) -> Estimate:
    """Estimate the mean of a loss from 0 to 1; few outcomes that cost much make it lopsided.

    What is above the least that the scores allow is a sum of the dearer outcomes. Where these are
    few, its variance is too small with it, or too large, which Wilson's interval allows for.
    """
    mean = mean_of_all(of, loss)
    least = float((of.counts * np.minimum(*loss(of.scores))).sum()) / int(of.counts.sum())
    value, above = min(1.0, max(0.0, mean.value)), mean.value - least
    if not 0.0 < above < 1.0:
        return Estimate(value, max(0.0, mean.low), min(1.0, mean.high))
    ends = wilson(above, NORMAL_95**2 * mean.standard_error**2 / (above * (1.0 - above)))
    return Estimate(value, least + ends.low, min(1.0, least + ends.high))


def _mean_score(of: Weighed) -> Estimate:
    """Average the scores of all predictions, which are known."""
    total = int(of.counts.sum())
    value = float((of.counts * of.scores).sum()) / total
    around = float((of.counts * (of.scores - value) ** 2).sum())
    return Estimate.normal(value, sqrt(around / max(1, total - 1) / total))


def _errors(of: Weighed, alpha: float) -> Errors:
    t, rbs = of.labelled, _rbs(of)
    smallest, largest = paper_sizes(t.total)
    bins = pava_bc(t, min_size=smallest, max_size=largest)
    counts, positives = bins.counts, bins.positives
    if not of.outcomes.alone:
        counts, positives = _worth_of_bins(of, bins.starts[:-1])
    stand_for = np.rint(FIXED * of.rows).astype(np.int64)
    rejected = rejected_per_bin(t.scores, stand_for, bins.starts, counts, positives, alpha)
    tce = int(rejected.sum()) / int(stand_for.sum())
    return Errors(tce, _ece(of), rbs.value, rbs_interval=rbs)


def _worth_of_bins(of: Weighed, starts: Ints) -> tuple[Ints, Ints]:
    """Give the outcomes of equal weight that those of each bin are worth, and their positives."""
    sums = of.rows, of.positives, of.fit**2 * of.outcomes.row_squares
    rows, positives, squares = (np.add.reduceat(each, starts) for each in sums)
    counts = np.rint(np.divide(rows**2, squares, out=np.zeros(rows.size), where=squares > 0.0))
    rates = np.divide(positives, rows, out=np.zeros(rows.size), where=rows > 0.0)
    return counts.astype(np.int64), np.rint(counts * rates).astype(np.int64)


def _tce(of: Weighed, alpha: float, size: int, rng: np.random.Generator) -> Estimate | None:
    """Thin the outcomes until all have the same weight, and measure TCE of what stays."""
    t, o = of.labelled, of.outcomes
    if o.alone:
        each = heaviest = of.rows / t.counts
        shares = each, each
    else:
        shares, heaviest = _weights_by_outcome(of)
    # A mean can be above the heaviest by the rounding of stored sums.
    negatives, positives = (np.minimum(1.0, share / heaviest.max()) for share in shares)
    hits = rng.binomial(t.positives, positives)
    counts = hits + rng.binomial(t.counts - t.positives, negatives)
    if counts.sum() < size:
        return None
    some = counts > 0
    thinned = Tally(t.scores[some], counts[some], hits[some])
    return tce_at_size(thinned, size=size, alpha=alpha, rng=rng).mean


def _weights_by_outcome(of: Weighed) -> tuple[tuple[Floats, Floats], Floats]:
    """Give the mean weight of a negative and of a positive of each cell, and of their rows.

    The latter counts each row by its weight, so that it is near the heaviest.
    """
    o, t = of.outcomes, of.labelled
    rows = o.rows - o.positives, o.positives
    counts = t.counts - t.positives, t.positives
    squares = o.row_squares - o.positive_squares, o.positive_squares
    means = (of.fit * w / np.maximum(1, n) for w, n in zip(rows, counts, strict=True))
    by_weight = [
        np.divide(of.fit * square, w, out=np.zeros(w.size), where=n > 0)
        for square, w, n in zip(squares, rows, counts, strict=True)
    ]
    negative, positive = means
    return (negative, positive), np.maximum(*by_weight)


def _ece(of: Weighed) -> float:
    t = of.labelled
    smallest, largest = monitor_sizes(t.total)
    starts = pava_bc(t, min_size=smallest, max_size=largest).starts[:-1]
    o = of.outcomes
    gaps = np.add.reduceat(of.fit * (o.positives - o.rows * t.scores), starts)
    return float(np.abs(gaps).sum() / of.rows.sum())


def _rbs(of: Weighed) -> Estimate:
    """Take the root of the mean squared error, and of the ends of its interval."""
    squared = _bounded(of, lambda scores: ((1.0 - scores) ** 2, scores**2))
    return Estimate(*map(sqrt, (squared.value, squared.low, squared.high)))


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
