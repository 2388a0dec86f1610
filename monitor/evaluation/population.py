"""What labels that were chosen by score, or with known probabilities, say of all. Pure.

Given the score, the labelled predictions are a sample of all, so the outcomes of neighbouring
scores stand for all predictions there. At which scores how many are labelled is counted. Where a
log says with which probability r a row was chosen, its outcome stands for 1/r rows among them.
Causes of an error are compared within one day and segment, as for the labelled predictions.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import sqrt

import numpy as np
import numpy.typing as npt

from monitor.days.summary import RATED, SQUARE, UNIT, Segment, all_scores
from monitor.evaluation.attribution import LEAST_COVERED, corrected, explained, mean_of_parts
from monitor.evaluation.chosen_labels import by_coarse_cell
from monitor.evaluation.errors import Errors
from monitor.evaluation.evaluation import Causes, InterceptCorrection, Population
from monitor.evaluation.score_errors import LabelRates
from monitor.metrics.binned.binning import monitor_sizes, paper_sizes, pava_bc
from monitor.metrics.core.coarse import CELLS_IN_ONE, COARSE_COUNT
from monitor.metrics.core.estimate import CONFIDENCE, NORMAL_95, Estimate
from monitor.metrics.core.grid import Floats, Ints, locate
from monitor.metrics.core.special import expit, logit, stdtrit
from monitor.metrics.core.tally import Tally
from monitor.metrics.intervals.intervals import wilson
from monitor.metrics.logistic.cox import fit_cox
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

LEAST_IN_GROUP = 10  # outcomes that stand for the predictions with neighbouring scores
LEAST_OF_PROBABILITIES = 100  # the same of unequal weights, whose ratio is biased among few
REACH = 16  # coarse cells, half a logit: beyond, no outcome says anything of a score
SURELY_LABELLED = 7.0  # expected: that none is labelled then has a chance of one in a thousand
COUNTED = LabelRates()  # by the score, as both logs show
FIXED = 2**20  # to what part a weighted row is rounded, so that sums are those of integers
Loss = Callable[[Floats], tuple[Floats, Floats]]  # of a positive and a negative at some scores
TERMS = 4, 2, 1  # that nested maps may have
ExplainAll = Callable[[Segment], tuple[int, Causes] | None]


@dataclass(frozen=True)
class Outcomes:
    """What the outcomes of each cell stand for before they are made to fit all predictions.

    Attributes
    ----------
    rows, positives : ndarray of shape (m,)
        Sums of 1/r, by cell of the tally.
    row_squares, positive_squares : ndarray of shape (m,)
        Sums of 1/r squared.
    alone : bool
        Whether r depends on the score alone.
    """

    rows: Floats
    positives: Floats
    row_squares: Floats
    positive_squares: Floats
    alone: bool

    def of_cells(self, kept: npt.NDArray[np.bool_]) -> "Outcomes":
        """Keep some of the cells."""
        return replace(self, **{name: getattr(self, name)[kept] for name in RATED})


@dataclass(frozen=True)
class Weighed:
    """The labelled predictions, how many all of them each stands for, and all that are reached."""

    labelled: Tally
    outcomes: Outcomes
    fit: Floats  # by which what the outcomes of a cell stand for is multiplied; 0 if left out
    scores: Floats
    counts: Ints
    reached: float

    @property
    def rows(self) -> Floats:
        """How many predictions the outcomes of each cell stand for."""
        return self.fit * self.outcomes.rows

    @property
    def positives(self) -> Floats:
        """How many positives those of each cell stand for."""
        return self.fit * self.outcomes.positives


def weigh(part: Segment, rates: LabelRates = COUNTED) -> Weighed:
    """Say how many of all predictions the labelled ones of a part stand for, cell by cell.

    Parameters
    ----------
    part : Segment
        Of a day or a window, with outcomes.
    rates : LabelRates
        How they were chosen; with probabilities in the log, the part must have them.

    Notes
    -----
    Neighbouring coarse cells are joined until at least 10 of their predictions are labelled; n of N
    in a group give each the weight N/n, so exactly 1 where all are labelled. With rates r by score,
    or by row, the weights are in proportion to 1/r and add up to N in each group (Hajek's ratio).

    Examples
    --------
    >>> from monitor.metrics.core.tally import tally_on_grid
    >>> from monitor.days.summary import awaited
    >>> reviewed = tally_on_grid([0] * 8 + [1] * 10 + [0] * 2, [0.2] * 10 + [0.8] * 10)
    >>> late = awaited(locate(np.array([0.2]))[0], np.array([90]))
    >>> weigh(Segment(reviewed, 110, late)).rows
    array([100.,  10.])
    """
    labelled, late = by_coarse_cell(part)
    within = _within(labelled, labelled + late)
    outcomes, coarse = _outcomes(part, rates), locate(part.tally.scores)[0] // CELLS_IN_ONE
    least = LEAST_IN_GROUP if outcomes.alone else LEAST_OF_PROBABILITIES
    by_cell = _by_coarse_cell(outcomes, coarse)
    fit = _weights(by_cell, labelled + late, within, least)[coarse]
    scores, counts = all_scores(part)
    inside = within[locate(scores)[0] // CELLS_IN_ONE]
    reached = int(counts[inside].sum()) / part.predicted
    return Weighed(part.tally, outcomes, fit, scores[inside], counts[inside], reached)


def _by_coarse_cell(of: Outcomes, coarse: Ints) -> Outcomes:
    rows, positives, row_squares, positive_squares = (
        np.bincount(coarse, getattr(of, name), COARSE_COUNT).astype(np.float64) for name in RATED
    )
    return Outcomes(rows, positives, row_squares, positive_squares, of.alone)


def _outcomes(part: Segment, rates: LabelRates) -> Outcomes:
    """Say what the outcomes of each cell stand for by the rates that are known."""
    t = part.tally
    if rates.in_log and part.rated:
        by_row = part.rated
        rows, positives = by_row.rows / UNIT, by_row.positives / UNIT
        squares = by_row.row_squares / SQUARE, by_row.positive_squares / SQUARE
        return Outcomes(rows, positives, *squares, alone=False)
    each = np.ones(t.scores.size)
    if rates.by_score:
        highest, rate = np.array(rates.by_score).T
        each = 1.0 / rate[np.searchsorted(highest[:-1], t.scores, side="right")]
    return Outcomes(
        *(each * t.counts, each * t.positives, each**2 * t.counts, each**2 * t.positives),
        alone=True,
    )


def _within(counts: Ints, everything: Ints) -> npt.NDArray[np.bool_]:
    """Say of which cells the labelled ones tell something.

    All that are near, and gaps in which at the rate beside them hardly anything would be labelled.
    """
    cells, labelled = np.arange(counts.size), np.flatnonzero(counts)
    gap = np.searchsorted(labelled, cells)  # its number, from below the lowest to above the highest
    sides = labelled[np.clip([gap - 1, gap], 0, labelled.size - 1)]
    nearest = sides[np.abs(sides - cells).argmin(axis=0), cells]
    near = (everything > 0) & (np.abs(nearest - cells) <= REACH)
    plain = counts.astype(float)
    weights = _weights(Outcomes(plain, plain, plain, plain, alone=True), everything, near)
    far = np.where(near, 0, everything) / weights[nearest]
    expected = np.bincount(gap, far, labelled.size + 1)
    return np.asarray((everything > 0) & (near | (expected < SURELY_LABELLED)[gap]))


def _weights(
    labelled: Outcomes,
    everything: Ints,
    within: npt.NDArray[np.bool_],
    least: int = LEAST_IN_GROUP,
) -> Floats:
    """Give by what the weights of labelled predictions are multiplied, by cell; 0 outside."""
    groups = _groups(labelled.rows[within], labelled.row_squares[within], least)
    rows, sizes = (np.bincount(groups, of[within]) for of in (labelled.rows, everything))
    weights = np.zeros(everything.size)
    weights[within] = (sizes / rows)[groups]
    return weights


def _groups(rows: Floats, squares: Floats, least: int) -> Ints:
    """Join neighbouring cells, so that each group is worth enough outcomes of equal weight.

    Outcomes of weights w are worth (sum w)**2 / sum w**2 (Kish, Survey Sampling, 1965).
    """
    of_cell, number, sums = [], 0, (0.0, 0.0)
    for row, square in zip(rows.tolist(), squares.tolist(), strict=True):
        if sums[0] ** 2 >= least * sums[1] > 0.0:
            number, sums = number + 1, (0.0, 0.0)
        sums = sums[0] + row, sums[1] + square
        of_cell.append(number)
    groups = np.array(of_cell, np.int64)
    if sums[0] ** 2 < least * max(sums[1], 1.0) and number:
        groups[groups == number] = number - 1
    return groups


def mean_of_all(of: Weighed, loss: Loss) -> Estimate:
    """Estimate the mean of a loss over all predictions.

    Notes
    -----
    A difference estimator (Cassel, Sarndal and Wretman, Biometrika 63, 1976): with p the scores
    after a Cox line fitted to the labelled predictions, and f what a loss is to be expected with
    it, ``sum f / N`` over all predictions ``+ sum w (loss - f) / N`` over the labelled ones. So
    what the rate does within a group matters only as far as the line is wrong. The variance is
    ``Var f / N + sum w**2 p (1 - p) (a - b)**2 / N**2`` with the loss a of a positive and b of a
    negative; with rates by row, which may know more than the score, it is
    ``Var f / N + sum w**2 (loss - f)**2 / N**2``. Of the latter a few rows can be most, so the
    standard error is that of a normal law as wide at 95 % as Student's, with Satterthwaite's
    degrees of freedom (Biometrics Bulletin 2, 1946) by cell.

    Examples
    --------
    >>> from monitor.metrics.core.tally import tally_on_grid
    >>> of = weigh(Segment(tally_on_grid([0, 1, 1, 0], [0.2, 0.2, 0.7, 0.7]), 4))
    >>> float(mean_of_all(of, lambda s: (1.0 - s, s)).value)
    0.5
    """
    t, total, line = of.labelled, int(of.counts.sum()), _line(of)
    every, all_p = np.stack(loss(of.scores)), line(of.scores)
    all_expected = all_p * every[0] + (1.0 - all_p) * every[1]
    (a, b), p, o = loss(t.scores), line(t.scores), of.outcomes
    seen = o.positives * a + (o.rows - o.positives) * b
    expected = o.rows * (p * a + (1.0 - p) * b)
    value = float((of.counts * all_expected).sum() + (of.fit * (seen - expected)).sum()) / total
    around = float((of.counts * (all_expected - value) ** 2).sum())
    each = variances_of(of, p) * (a - b) ** 2
    variance = around + float(each.sum())
    error = sqrt(variance) / total
    if not o.alone and error:
        degrees = variance**2 / float((each**2).sum())
        error *= -float(stdtrit(max(1.0, degrees), 0.5 - CONFIDENCE / 2.0)) / NORMAL_95
    return Estimate.normal(value, error)


def variances_of(of: Weighed, p: Floats) -> Floats:
    """Add up weights squared times the variance of an outcome, of those in each cell.

    `p` is the probability of a positive outcome in each cell.

    Examples
    --------
    >>> from monitor.metrics.core.tally import tally_on_grid
    >>> of = weigh(Segment(tally_on_grid([0, 1, 1, 0], [0.2, 0.2, 0.7, 0.7]), 4))
    >>> variances_of(of, np.array([0.5, 0.5]))
    array([0.5, 0.5])
    """
    o = of.outcomes
    if o.alone:
        return of.fit**2 * o.row_squares * p * (1.0 - p)
    negative = o.row_squares - o.positive_squares
    return of.fit**2 * (o.positive_squares * (1.0 - p) ** 2 + negative * p**2)


def _line(of: Weighed) -> Callable[[Floats], Floats]:
    """Fit a Cox line; the scores themselves where there is none."""
    t = of.labelled
    if not of.outcomes.alone:  # the rows of a score are not all alike
        rows, positives = (np.rint(FIXED * w).astype(np.int64) for w in (of.rows, of.positives))
        t = replace(t, counts=rows, positives=positives)
    try:
        line = fit_cox(t)
    except ValueError:  # one outcome, one score, or scores that separate the outcomes
        return lambda scores: scores
    return lambda scores: np.asarray(expit(line.intercept + line.slope * logit(scores)))


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
