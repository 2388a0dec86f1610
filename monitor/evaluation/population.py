"""What labels that were chosen by score say of all predictions. Pure.

Given the score, the labelled predictions are a sample of all, so the outcomes of neighbouring
scores stand for all predictions there. At which scores how many are labelled is counted.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt

import numpy as np
import numpy.typing as npt

from monitor.evaluation.chosen_labels import by_coarse_cell
from monitor.evaluation.score_errors import Errors
from monitor.metrics.binned.binning import monitor_sizes, paper_sizes, pava_bc
from monitor.metrics.core.coarse import CELLS_IN_ONE
from monitor.metrics.core.estimate import NORMAL_95, Estimate
from monitor.metrics.core.grid import Floats, Ints, locate
from monitor.metrics.core.special import expit, logit
from monitor.metrics.core.tally import Tally
from monitor.metrics.intervals.intervals import wilson
from monitor.metrics.logistic.cox import fit_cox
from monitor.metrics.test_based.tce import rejected_per_bin
from monitor.summary import Segment, all_scores

LEAST_IN_GROUP = 10  # outcomes that stand for the predictions with neighbouring scores
REACH = 16  # coarse cells, half a logit: beyond, no outcome says anything of a score
Loss = Callable[[Floats], tuple[Floats, Floats]]  # of a positive and a negative at some scores
SURELY_LABELLED = 7.0  # expected: that none is labelled then has a chance of one in a thousand
FIXED = 2**20  # to what part a weighted row is rounded, so that sums are those of integers


@dataclass(frozen=True)
class Population:
    """The measures of all predictions of a segment and window, with 95 % intervals.

    Attributes
    ----------
    prevalence, mean_score : Estimate
        Ratios in [0, 1].
    errors : Errors
        Of the raw scores; without TCE at size, and ECE without an interval.
    reached : float
        Share of the predictions at whose scores there are outcomes, a ratio in [0, 1]: all others
        are left out.
    """

    prevalence: Estimate
    mean_score: Estimate
    errors: Errors
    reached: float


@dataclass(frozen=True)
class _Weighed:
    """The labelled predictions, how many all of them each stands for, and all that are reached."""

    labelled: Tally
    weights: Floats  # of each coarse cell; 0 where nothing is labelled
    scores: Floats
    counts: Ints
    reached: float

    def of(self, scores: Floats) -> Floats:
        """Give the weights of the cells of some scores."""
        return np.asarray(self.weights[locate(scores)[0] // CELLS_IN_ONE])


def population_of(part: Segment, alpha: float) -> Population | None:
    """Estimate the measures of all predictions from those that are labelled.

    Parameters
    ----------
    part : Segment
        Of a day or a window.
    alpha : float
        Level of the tests inside TCE, in (0, 1).

    Returns
    -------
    Population or None
        None without an outcome.

    Notes
    -----
    Neighbouring coarse cells are joined until at least 10 of their predictions are labelled; n of N
    in a group give each the weight N/n, so exactly 1 where all are labelled. Means are difference
    estimators (Cassel, Sarndal and Wretman, Biometrika 63, 1976): with p the scores after a Cox
    line fitted to the labelled predictions, and f what a loss is to be expected with it,
    ``sum f / N`` over all predictions ``+ sum w (loss - f) / N`` over the labelled ones. So what
    the rate does within a group matters only as far as the line is wrong. The variance is
    ``Var f / N + sum w**2 p (1 - p) (a - b)**2 / N**2`` with the loss a of a positive and b of a
    negative. Prevalence has Wilson's interval with that variance, RBS that of the delta method.

    ECE and TCE as published take the bins of the labelled predictions, and the weights of what
    lies in them; the tests inside TCE count the outcomes as they are. Where few are labelled bins
    are wide, and gaps of both signs within one cancel, so ECE has no interval here.

    Measured at 95 % for prevalence, mean score and RBS: docs/chosen-labels.md.

    Examples
    --------
    >>> from monitor.metrics.core.tally import tally_on_grid
    >>> from monitor.summary import awaited
    >>> reviewed = tally_on_grid([0.2] * 10 + [0.8] * 10, [0] * 8 + [1] * 10 + [0] * 2)
    >>> part = Segment(reviewed, 110, awaited(locate(np.array([0.2]))[0], np.array([90])))
    >>> round(population_of(part, 0.05).prevalence.value, 3)  # 20 % of 100 and 80 % of 10
    0.255
    """
    if not part.tally.total:
        return None
    of = _weigh(part)
    return Population(_prevalence(of), _mean_score(of), _errors(of, alpha), of.reached)


def _weigh(part: Segment) -> _Weighed:
    labelled, late = by_coarse_cell(part)
    within = _within(labelled, labelled + late)
    weights = _weights(labelled, labelled + late, within)
    scores, counts = all_scores(part)
    inside = within[locate(scores)[0] // CELLS_IN_ONE]
    reached = int(counts[inside].sum()) / part.predicted
    return _Weighed(part.tally, weights, scores[inside], counts[inside], reached)


def _within(known: Ints, everything: Ints) -> npt.NDArray[np.bool_]:
    """Say of which cells the labelled ones tell something.

    All that are near, and gaps in which at the rate beside them hardly anything would be labelled.
    """
    cells, labelled = np.arange(known.size), np.flatnonzero(known)
    gap = np.searchsorted(labelled, cells)  # its number, from below the lowest to above the highest
    sides = labelled[np.clip([gap - 1, gap], 0, labelled.size - 1)]
    nearest = sides[np.abs(sides - cells).argmin(axis=0), cells]
    near = (everything > 0) & (np.abs(nearest - cells) <= REACH)
    weights = _weights(known, everything, near)
    far = np.where(near, 0, everything) / weights[nearest]
    expected = np.bincount(gap, far, labelled.size + 1)
    return np.asarray((everything > 0) & (near | (expected < SURELY_LABELLED)[gap]))


def _weights(known: Ints, everything: Ints, within: npt.NDArray[np.bool_]) -> Floats:
    """Give what a labelled prediction stands for, by cell; 0 outside."""
    groups = _groups(known[within])
    rows, sizes = (np.bincount(groups, of[within]) for of in (known, everything))
    weights = np.zeros(known.size)
    weights[within] = (sizes / rows)[groups]
    return weights


def _groups(labelled: Ints) -> Ints:
    """Join neighbouring cells, so that each group has enough that is labelled."""
    of_cell, number, size = [], 0, 0
    for count in labelled.tolist():
        if size >= LEAST_IN_GROUP:
            number, size = number + 1, 0
        size += count
        of_cell.append(number)
    groups = np.array(of_cell, np.int64)
    if size < LEAST_IN_GROUP and number:
        groups[groups == number] = number - 1
    return groups


def _mean(of: _Weighed, loss: Loss) -> Estimate:
    """Estimate the mean of a loss over all predictions."""
    t, total, line = of.labelled, int(of.counts.sum()), _line(of.labelled)
    every, all_p = np.stack(loss(of.scores)), line(of.scores)
    all_expected = all_p * every[0] + (1.0 - all_p) * every[1]
    (a, b), p, w = loss(t.scores), line(t.scores), of.of(t.scores)
    seen = t.positives * a + (t.counts - t.positives) * b
    expected = t.counts * (p * a + (1.0 - p) * b)
    value = float((of.counts * all_expected).sum() + (w * (seen - expected)).sum()) / total
    around = float((of.counts * (all_expected - value) ** 2).sum())
    own = float((w**2 * t.counts * p * (1.0 - p) * (a - b) ** 2).sum())
    return Estimate.normal(value, sqrt(around + own) / total)


def _line(t: Tally) -> Callable[[Floats], Floats]:
    """Fit a Cox line; the scores themselves where there is none."""
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
    t, weights, rbs = of.labelled, of.of(of.labelled.scores), _rbs(of)
    smallest, largest = paper_sizes(t.total)
    bins = pava_bc(t, min_size=smallest, max_size=largest)
    stand_for = np.rint(FIXED * weights * t.counts).astype(np.int64)
    rejected = rejected_per_bin(
        t.scores, stand_for, bins.starts, bins.counts, bins.positives, alpha
    )
    tce = int(rejected.sum()) / int(stand_for.sum())
    return Errors(tce, _ece(t, weights), rbs.value, rbs_interval=rbs)


def _ece(t: Tally, weights: Floats) -> float:
    smallest, largest = monitor_sizes(t.total)
    starts = pava_bc(t, min_size=smallest, max_size=largest).starts[:-1]
    gaps = np.add.reduceat(weights * (t.positives - t.counts * t.scores), starts)
    return float(np.abs(gaps).sum() / (weights * t.counts).sum())


def _rbs(of: _Weighed) -> Estimate:
    squared = _mean(of, _squared)
    root = sqrt(max(0.0, squared.value))
    error = squared.standard_error / (2.0 * root) if root else squared.standard_error
    reach = NORMAL_95 * error
    return Estimate(root, max(0.0, root - reach), min(1.0, root + reach))
