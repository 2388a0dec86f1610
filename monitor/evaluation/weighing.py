"""How many of all predictions each labelled one stands for, and means over all of them. Pure.

Given the score, the labelled predictions are a sample of all, so the outcomes of neighbouring
scores stand for all predictions there. At which scores how many are labelled is counted. Where a
log says with which probability r a row was chosen, its outcome stands for 1/r rows among them.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import sqrt

import numpy as np
import numpy.typing as npt

from monitor.days.summary import RATED, SQUARE, UNIT, Segment, all_scores
from monitor.evaluation.chosen_labels import by_coarse_cell
from monitor.evaluation.score_errors import LabelRates
from monitor.metrics.core.coarse import CELLS_IN_ONE, COARSE_COUNT
from monitor.metrics.core.estimate import CONFIDENCE, NORMAL_95, Estimate
from monitor.metrics.core.grid import Floats, Ints, locate
from monitor.metrics.core.special import expit, logit, stdtrit
from monitor.metrics.core.tally import Tally
from monitor.metrics.logistic.cox import fit_cox

LEAST_IN_GROUP = 10  # outcomes that stand for the predictions with neighbouring scores
LEAST_OF_PROBABILITIES = 100  # the same of unequal weights, whose ratio is biased among few
REACH = 16  # coarse cells, half a logit: beyond, no outcome says anything of a score
SURELY_LABELLED = 7.0  # expected: that none is labelled then has a chance of one in a thousand
COUNTED = LabelRates()  # by the score, as both logs show
FIXED = 2**20  # to what part a weighted row is rounded, so that sums are those of integers
Loss = Callable[[Floats], tuple[Floats, Floats]]  # of a positive and a negative at some scores


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
