"""What labels that were chosen by score, or with known probabilities, say of all. Pure."""

from dataclasses import replace
from math import sqrt

import numpy as np

from monitor.days.summary import Segment
from monitor.evaluation.errors import Errors
from monitor.evaluation.evaluation import Population
from monitor.evaluation.population_causes import population_correction
from monitor.evaluation.score_errors import LabelRates
from monitor.evaluation.weighing import COUNTED, FIXED, Loss, Weighed, mean_of_all, weigh
from monitor.metrics.binned.binning import monitor_sizes, paper_sizes, pava_bc
from monitor.metrics.core.estimate import NORMAL_95, Estimate
from monitor.metrics.core.grid import Floats, Ints
from monitor.metrics.core.tally import Tally
from monitor.metrics.intervals.intervals import wilson
from monitor.metrics.test_based.tce import rejected_per_bin
from monitor.metrics.test_based.tce_at_size import tce_at_size


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
    return Population(
        *(_prevalence(of), _mean_score(of), errors, of.reached),
        correction=population_correction(part, rates),
    )


def _positive(scores: Floats) -> tuple[Floats, Floats]:
    """Count positives: 1 for each, 0 for each negative."""
    return np.ones(scores.size), np.zeros(scores.size)


def _squared(scores: Floats) -> tuple[Floats, Floats]:
    """Give the squared error of a positive, and of a negative."""
    return (1.0 - scores) ** 2, scores**2


def _prevalence(of: Weighed) -> Estimate:
    return _bounded(of, _positive)


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
    squared = _bounded(of, _squared)
    return Estimate(*map(sqrt, (squared.value, squared.low, squared.high)))
