"""What a measure would say of a calibrated model: worlds resampled from the scores themselves."""

from dataclasses import dataclass
from math import exp, isinf, isnan, sqrt
from typing import NamedTuple

import numpy as np

from monitor.metrics.binned.binning import check_sizes
from monitor.metrics.binned.pooling import PAPER_TAIL, pool
from monitor.metrics.binomial.acceptance import (
    Significance,
    certainly_accepted,
    check_alpha,
    significance,
)
from monitor.metrics.core.compiled import compiled, inner
from monitor.metrics.core.dispersion import INDEPENDENT, Hanging, draw_buckets, hang_together
from monitor.metrics.core.grid import Floats, Ints
from monitor.metrics.core.reading import takes_rows
from monitor.metrics.core.sorted_scores import count_below
from monitor.metrics.core.tally import Tally
from monitor.metrics.intervals.ece_interval import join_neighbours
from monitor.metrics.logistic.intercept import expect_positives, solve_intercept, solve_nearby
from monitor.metrics.test_based.tce import RELATIVE_DOUBT, rejects
from monitor.metrics.test_based.worlds import draw_worlds

QUANTILES = (0.05, 0.5, 0.95, 0.99)
TOGETHER = 100  # worlds whose outcomes are held at a time


@dataclass(frozen=True)
class NullReference:
    """TCE of a calibrated model with the same predictions.

    Attributes
    ----------
    mean : float
        Mean over the resampled worlds, a ratio in [0, 1].
    quantiles : tuple of float
        Its 5, 50, 95 and 99 % quantiles, ratios in [0, 1].
    """

    mean: float
    quantiles: tuple[float, float, float, float]


@takes_rows
def tce_null_reference(
    t: Tally,
    *,
    min_size: int,
    max_size: int,
    alpha: float = 0.05,
    replicates: int = 100,
    shared: Hanging = INDEPENDENT,
    rng: np.random.Generator,
) -> NullReference:
    """Find what TCE over PAVA-BC bins says of a perfectly calibrated model.

    Parameters
    ----------
    t : Tally or rows
        At least one prediction; only its scores and counts are used. Give the scores that
        are taken for true, usually the prior-adjusted ones.
    min_size, max_size : int
        Bin sizes, as for `pava_bc`.
    alpha : float
        Level of the test inside TCE, in (0, 1).
    replicates : int
        Number of resampled worlds, at least 1.
    shared : Hanging
        What rows of one entity share, from `monitor.metrics.core.dispersion.hanging`; by default
        outcomes are independent.
    rng : numpy Generator
        Source of chance; the same seed gives the same result.

    Returns
    -------
    NullReference
        Ratios in [0, 1].

    Raises
    ------
    ValueError
        If the tally is empty, the sizes are out of order, or alpha or the number of worlds is
        out of range.

    Notes
    -----
    In each world ``y* ~ Bernoulli(s)`` (consistency resampling: Broecker and Smith, Weather and
    Forecasting 22, 2007); the intercept is fitted again and forgiven, bins are
    cut again, and TCE is computed. TCE of a calibrated model has no fixed level: it depends on
    how many predictions there are and how their scores spread, so it is only read against
    this reference.

    The scores that a bin accepts are taken for one interval, which they almost always are. With 400
    to 5.6 million predictions of three kinds, this changed no mean of 200 worlds by more than 3e-4.

    A calibrated model exceeds the 95 % quantile of 100 worlds in 5.9 % of all cases and the 99 %
    quantile in 2.0 %, because the quantiles are themselves estimated: `numpy.quantile` takes
    them next to the 6th and the 2nd largest of 100 values, and a 101st like them lies beyond
    with probability 6/101 and 2/101. Nothing else was found: of 2,000 calibrated models with a
    forgiven prior shift in each of nine settings (1,000, 10,000 and 100,000 predictions,
    prevalence 0.02, 0.2 and 0.5, the paper's bin sizes), 4.6 to 6.8 % exceeded the first, 5.9 %
    of all 18,000, and 1.5 to 2.3 % the second, 2.0 % of all. The quantiles are chance itself and
    have no interval; more worlds make them sharper.

    Examples
    --------
    >>> from monitor.metrics.core.tally import tally
    >>> t = tally(np.zeros(400), np.linspace(0.1, 0.9, 400))
    >>> null = tce_null_reference(t, min_size=20, max_size=80, rng=np.random.default_rng(1))
    >>> 0 <= null.quantiles[0] <= null.mean <= null.quantiles[3] <= 1
    True
    """
    if not t.total:
        msg = "an empty tally has no null reference: give at least one prediction."
        raise ValueError(msg)
    check_alpha(alpha)
    check_sizes(min_size, max_size)
    if replicates < 1:
        msg = f"the null reference needs at least 1 replicate, got {replicates}."
        raise ValueError(msg)
    alike = join_neighbours(t)
    values = _null_values(
        *(rng, t.scores, t.counts, shared, alike.scores, alike.counts),
        *(min_size, max_size, alpha, np.empty(replicates)),
    )
    low, middle, high, highest = np.quantile(values, QUANTILES).tolist()
    return NullReference(float(values.mean()), (low, middle, high, highest))


@compiled
def _null_values(
    rng: np.random.Generator,
    scores: Floats,
    counts: Ints,
    shared: Hanging,
    some_scores: Floats,
    some_counts: Ints,
    min_size: int,
    max_size: int,
    alpha: float,
    values: Floats,
) -> Floats:
    """Fill `values` with the TCE of one resampled world each.

    The intercept is solved for the second scores and counts, which are fewer: neighbours together
    at their mean score expect the same number of positives.
    """
    groups = groups_of(scores, counts)
    some_inverse_odds = (1.0 - some_scores) / some_scores
    at_zero = expect_positives(some_inverse_odds, some_counts, 0.0)
    against = significance(alpha, RELATIVE_DOUBT)
    for first in range(0, values.size, TOGETHER):
        worlds = draw_worlds(rng, scores, counts, min(TOGETHER, values.size - first))
        for world in range(len(worlds)):
            positives = worlds[world]
            if shared.columns.size:
                _, moves = draw_buckets(rng, shared)
                hang_together(rng, counts, positives, scores, shared, moves)
            delta = solve_nearby(some_inverse_odds, some_counts, positives.sum(), at_zero)
            if isnan(delta):
                delta, _ = solve_intercept(-np.log(groups.inverse_odds), counts, positives)
            if isinf(delta):  # one class only: the refitted scores are all 0 or all 1, and right
                values[first + world] = 0.0
                continue
            starts = pool(counts, positives, min_size, max_size, PAPER_TAIL)
            rejected = count_rejected_nearly(groups, positives, starts, exp(delta), against)
            values[first + world] = rejected / groups.below[-1]
    return values


class Groups(NamedTuple):
    """Groups of predictions with one score each, before a shift.

    Attributes
    ----------
    scores, inverse_odds : ndarray of shape (m,)
        Scores s, rising, and ``(1 - s) / s``: a shift of all logits is one product of these.
    below : ndarray of shape (m + 1,)
        Number of predictions before each group, and of all.
    """

    scores: Floats
    inverse_odds: Floats
    below: Ints


@inner
def groups_of(scores: Floats, counts: Ints) -> Groups:
    """Prepare the groups of a tally for many worlds."""
    below = np.zeros(counts.size + 1, np.int64)
    for i in range(counts.size):  # an assignment to a slice takes seconds to compile
        below[i + 1] = below[i] + counts[i]
    return Groups(scores, (1.0 - scores) / scores, below)


@inner
def count_rejected_nearly(
    groups: Groups, positives: Ints, starts: Ints, factor: float, against: Significance
) -> int:
    """Count the predictions that bins reject, as if each accepted one interval of scores.

    Almost every bin does (see `monitor.metrics.binomial.acceptance`). Then a few groups next to
    each end decide about all others. The odds of all scores are multiplied by the factor first.
    """
    total = 0
    for b in range(starts.size - 1):
        first, last = starts[b], starts[b + 1]
        n, k = groups.below[last] - groups.below[first], positives[first:last].sum()
        guess = guess_accepted(k, n, against.two_sided)
        begin, end = first, last
        lowest, highest = _moved(groups, first, factor), _moved(groups, last - 1, factor)
        if lowest * n < k and not certainly_accepted(n - k, n, against, 1.0 - lowest, lowest):
            begin += count_below(groups.scores[first:last], _moved_back(guess.low, factor))
            while begin > first and not _rejects(_moved(groups, begin - 1, factor), guess, against):
                begin -= 1
            while begin < last and _rejects_below(_moved(groups, begin, factor), guess, against):
                begin += 1
        if highest * n > k and not certainly_accepted(k, n, against, highest, 1.0 - highest):
            within = groups.scores[begin:last]
            end = begin + count_below(within, _moved_back(guess.high, factor))
            while end < last and not _rejects(_moved(groups, end, factor), guess, against):
                end += 1
            while end > begin and _rejects(_moved(groups, end - 1, factor), guess, against):
                end -= 1
        total += n - (groups.below[end] - groups.below[begin])
    return total


class Guess(NamedTuple):
    """The interval of scores that a bin of n predictions with k positives seems to accept.

    Its true ends are within the margin of these; see `test_a_guess_is_within_its_margin`.
    """

    k: int
    n: int
    low: float
    high: float
    margin: float


@inner
def guess_accepted(k: int, n: int, z: float) -> Guess:
    """Guess by Wilson's formula, at which a p-value is exceeded whose normal deviate is z.

    A quarter of a count is added on either side, with which the guess is off by least.
    """
    low, high = _wilson(max(k - 0.25, 0.0), n, -z), _wilson(min(k + 0.25, n), n, z)
    return Guess(k, n, low, high, (1.0 + 0.5 * z * z) / n)


@inner
def _wilson(k: float, n: int, z: float) -> float:
    return (k + 0.5 * z * z + z * sqrt(k * (n - k) / n + 0.25 * z * z)) / (n + z * z)


@inner
def _rejects(score: float, guess: Guess, against: Significance) -> bool:
    """Test a score that is near an end; elsewhere the guess is right."""
    if not guess.low - guess.margin < score < guess.high + guess.margin:
        return True
    if guess.low + guess.margin < score < guess.high - guess.margin:
        return False
    return rejects(score, guess.k, guess.n, against)


@inner
def _rejects_below(score: float, guess: Guess, against: Significance) -> bool:
    return score * guess.n < guess.k and _rejects(score, guess, against)


@inner
def _moved(groups: Groups, i: int, factor: float) -> float:
    inverse_odds: float = groups.inverse_odds[i]
    return 1.0 / (1.0 + inverse_odds / factor)


@inner
def _moved_back(score: float, factor: float) -> float:
    """Find the score that becomes this one when its odds are multiplied by the factor."""
    return score / (score + (1.0 - score) * factor)
