"""What labels that were chosen by score, or with known probabilities, say of all. Pure.

Given the score, the labelled predictions are a sample of all, so the outcomes of neighbouring
scores stand for all predictions there. At which scores how many are labelled is counted. Where a
log says with which probability r a row was chosen, its outcome stands for 1/r rows among them.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import nan, sqrt

import numpy as np
import numpy.typing as npt

from monitor.evaluation.chosen_labels import by_coarse_cell
from monitor.evaluation.score_errors import Errors, LabelRates
from monitor.metrics.binned.binning import monitor_sizes, paper_sizes, pava_bc
from monitor.metrics.core.coarse import CELLS_IN_ONE, COARSE_COUNT
from monitor.metrics.core.estimate import NORMAL_95, Estimate
from monitor.metrics.core.grid import Floats, Ints, locate
from monitor.metrics.core.special import expit, logit
from monitor.metrics.core.tally import Tally
from monitor.metrics.intervals.intervals import wilson
from monitor.metrics.logistic.cox import fit_cox
from monitor.metrics.test_based.tce import rejected_per_bin
from monitor.metrics.test_based.tce_at_size import tce_at_size
from monitor.summary import RATED, SQUARE, UNIT, Segment, all_scores

LEAST_IN_GROUP = 10  # outcomes that stand for the predictions with neighbouring scores
LEAST_OF_PROBABILITIES = 100  # the same of unequal weights, whose ratio is biased among few
REACH = 16  # coarse cells, half a logit: beyond, no outcome says anything of a score
Loss = Callable[[Floats], tuple[Floats, Floats]]  # of a positive and a negative at some scores
SURELY_LABELLED = 7.0  # expected: that none is labelled then has a chance of one in a thousand
COUNTED = LabelRates()  # by the score, as both logs show
FIXED = 2**20  # to what part a weighted row is rounded, so that sums are those of integers


@dataclass(frozen=True)
class Population:
    """The measures of all predictions of a segment and window, with 95 % intervals.

    Attributes
    ----------
    prevalence, mean_score : Estimate
        Ratios in [0, 1].
    errors : Errors
        Of the raw scores; ECE without an interval. TCE at size needs so many outcomes after those
        of low weight are thinned out. With probabilities from the log neither TCE is known, because
        its tests count outcomes of equal weight: the published one is nan.
    reached : float
        Share of the predictions at whose scores there are outcomes, a ratio in [0, 1]: all others
        are left out.
    """

    prevalence: Estimate
    mean_score: Estimate
    errors: Errors
    reached: float


@dataclass(frozen=True)
class _Outcomes:
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


@dataclass(frozen=True)
class _Weighed:
    """The labelled predictions, how many all of them each stands for, and all that are reached."""

    labelled: Tally
    outcomes: _Outcomes
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
        None without an outcome, or if the log of a day does not say how its rows were chosen.

    Notes
    -----
    Neighbouring coarse cells are joined until at least 10 of their predictions are labelled; n of N
    in a group give each the weight N/n, so exactly 1 where all are labelled. With rates r by score,
    or by row, the weights are in proportion to 1/r and add up to N in each group (Hajek's ratio).
    Means are difference
    estimators (Cassel, Sarndal and Wretman, Biometrika 63, 1976): with p the scores after a Cox
    line fitted to the labelled predictions, and f what a loss is to be expected with it,
    ``sum f / N`` over all predictions ``+ sum w (loss - f) / N`` over the labelled ones. So what
    the rate does within a group matters only as far as the line is wrong. The variance is
    ``Var f / N + sum w**2 p (1 - p) (a - b)**2 / N**2`` with the loss a of a positive and b of a
    negative; with rates by row, which may know more than the score, it is
    ``Var f / N + sum w**2 (loss - f)**2 / N**2``. Prevalence has Wilson's interval with that
    variance, RBS that of the delta method.

    ECE and TCE as published take the bins of the labelled predictions, and the weights of what
    lies in them; the tests inside TCE count the outcomes as they are. Where few are labelled bins
    are wide, and gaps of both signs within one cancel, so ECE has no interval here.

    TCE at size N* is that of a sample in which each outcome stands for as many predictions as any
    other: of the labelled ones each stays with a probability in proportion to its weight. It is
    absent if fewer than N* stay.

    Measured at 95 % for prevalence, mean score and RBS: docs/chosen-labels.md.

    Examples
    --------
    >>> from monitor.metrics.core.tally import tally_on_grid
    >>> from monitor.summary import awaited
    >>> reviewed = tally_on_grid([0] * 8 + [1] * 10 + [0] * 2, [0.2] * 10 + [0.8] * 10)
    >>> part = Segment(reviewed, 110, awaited(locate(np.array([0.2]))[0], np.array([90])))
    >>> round(population_of(part, 0.05).prevalence.value, 3)  # 20 % of 100 and 80 % of 10
    0.255
    """
    if not part.tally.total or (rates.in_log and part.rated is None):
        return None
    of = _weigh(part, rates)
    tce = _tce(of, alpha, tce_size, rng) if tce_size and rng and of.outcomes.alone else None
    errors = replace(_errors(of, alpha), tce=tce)
    return Population(_prevalence(of), _mean_score(of), errors, of.reached)


def _weigh(part: Segment, rates: LabelRates) -> _Weighed:
    labelled, late = by_coarse_cell(part)
    within = _within(labelled, labelled + late)
    outcomes, coarse = _outcomes(part, rates), locate(part.tally.scores)[0] // CELLS_IN_ONE
    least = LEAST_IN_GROUP if outcomes.alone else LEAST_OF_PROBABILITIES
    by_cell = _by_coarse_cell(outcomes, coarse)
    fit = _weights(by_cell, labelled + late, within, least)[coarse]
    scores, counts = all_scores(part)
    inside = within[locate(scores)[0] // CELLS_IN_ONE]
    reached = int(counts[inside].sum()) / part.predicted
    return _Weighed(part.tally, outcomes, fit, scores[inside], counts[inside], reached)


def _by_coarse_cell(of: _Outcomes, coarse: Ints) -> _Outcomes:
    rows, positives, row_squares, positive_squares = (
        np.bincount(coarse, getattr(of, name), COARSE_COUNT).astype(np.float64) for name in RATED
    )
    return _Outcomes(rows, positives, row_squares, positive_squares, of.alone)


def _outcomes(part: Segment, rates: LabelRates) -> _Outcomes:
    """Say what the outcomes of each cell stand for by the rates that are known."""
    t = part.tally
    if rates.in_log and part.rated:
        by_row = part.rated
        rows, positives = by_row.rows / UNIT, by_row.positives / UNIT
        squares = by_row.row_squares / SQUARE, by_row.positive_squares / SQUARE
        return _Outcomes(rows, positives, *squares, alone=False)
    each = np.ones(t.scores.size)
    if rates.by_score:
        highest, rate = np.array(rates.by_score).T
        each = 1.0 / rate[np.searchsorted(highest[:-1], t.scores, side="right")]
    return _Outcomes(
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
    weights = _weights(_Outcomes(plain, plain, plain, plain, alone=True), everything, near)
    far = np.where(near, 0, everything) / weights[nearest]
    expected = np.bincount(gap, far, labelled.size + 1)
    return np.asarray((everything > 0) & (near | (expected < SURELY_LABELLED)[gap]))


def _weights(
    labelled: _Outcomes,
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


def _mean(of: _Weighed, loss: Loss) -> Estimate:
    """Estimate the mean of a loss over all predictions."""
    t, total, line = of.labelled, int(of.counts.sum()), _line(of)
    every, all_p = np.stack(loss(of.scores)), line(of.scores)
    all_expected = all_p * every[0] + (1.0 - all_p) * every[1]
    (a, b), p, o = loss(t.scores), line(t.scores), of.outcomes
    seen = o.positives * a + (o.rows - o.positives) * b
    expected = o.rows * (p * a + (1.0 - p) * b)
    value = float((of.counts * all_expected).sum() + (of.fit * (seen - expected)).sum()) / total
    around = float((of.counts * (all_expected - value) ** 2).sum())
    own = float((_variances(of, p) * (a - b) ** 2).sum())
    return Estimate.normal(value, sqrt(around + own) / total)


def _variances(of: _Weighed, p: Floats) -> Floats:
    """Add up weights squared times the variance of an outcome, of those in each cell."""
    o = of.outcomes
    if o.alone:
        return of.fit**2 * o.row_squares * p * (1.0 - p)
    negative = o.row_squares - o.positive_squares
    return of.fit**2 * (o.positive_squares * (1.0 - p) ** 2 + negative * p**2)


def _line(of: _Weighed) -> Callable[[Floats], Floats]:
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


def _positive(scores: Floats) -> tuple[Floats, Floats]:
    """Count positives: 1 for each, 0 for each negative."""
    return np.ones(scores.size), np.zeros(scores.size)


def _squared(scores: Floats) -> tuple[Floats, Floats]:
    """Give the squared error of a positive, and of a negative."""
    return (1.0 - scores) ** 2, scores**2


def _prevalence(of: _Weighed) -> Estimate:
    mean = _mean(of, _positive)
    rate = min(1.0, max(0.0, mean.value))
    if not 0.0 < rate < 1.0:
        return Estimate(rate, max(0.0, mean.low), min(1.0, mean.high))
    return wilson(rate, NORMAL_95**2 * mean.standard_error**2 / (rate * (1.0 - rate)))


def _mean_score(of: _Weighed) -> Estimate:
    """Average the scores of all predictions, which are known."""
    total = int(of.counts.sum())
    value = float((of.counts * of.scores).sum()) / total
    around = float((of.counts * (of.scores - value) ** 2).sum())
    return Estimate.normal(value, sqrt(around / max(1, total - 1) / total))


def _errors(of: _Weighed, alpha: float) -> Errors:
    t, rbs = of.labelled, _rbs(of)
    if not of.outcomes.alone:
        return Errors(nan, _ece(of), rbs.value, rbs_interval=rbs)
    smallest, largest = paper_sizes(t.total)
    bins = pava_bc(t, min_size=smallest, max_size=largest)
    stand_for = np.rint(FIXED * of.rows).astype(np.int64)
    rejected = rejected_per_bin(
        t.scores, stand_for, bins.starts, bins.counts, bins.positives, alpha
    )
    tce = int(rejected.sum()) / int(stand_for.sum())
    return Errors(tce, _ece(of), rbs.value, rbs_interval=rbs)


def _tce(of: _Weighed, alpha: float, size: int, rng: np.random.Generator) -> Estimate | None:
    """Thin the outcomes until all have the same weight, and measure TCE of what stays."""
    t, each = of.labelled, of.rows / of.labelled.counts
    stays = each / each.max()
    positives = rng.binomial(t.positives, stays)
    counts = positives + rng.binomial(t.counts - t.positives, stays)
    if counts.sum() < size:
        return None
    some = counts > 0
    thinned = Tally(t.scores[some], counts[some], positives[some])
    return tce_at_size(thinned, size=size, alpha=alpha, rng=rng).mean


def _ece(of: _Weighed) -> float:
    t = of.labelled
    smallest, largest = monitor_sizes(t.total)
    starts = pava_bc(t, min_size=smallest, max_size=largest).starts[:-1]
    o = of.outcomes
    gaps = np.add.reduceat(of.fit * (o.positives - o.rows * t.scores), starts)
    return float(np.abs(gaps).sum() / of.rows.sum())


def _rbs(of: _Weighed) -> Estimate:
    squared = _mean(of, _squared)
    root = sqrt(max(0.0, squared.value))
    error = squared.standard_error / (2.0 * root) if root else squared.standard_error
    reach = NORMAL_95 * error
    return Estimate(root, max(0.0, root - reach), min(1.0, root + reach))
