"""By how much sums over rows that hang together vary more than those of independent rows.

Rule: what rows of an entity share stays in one bucket for ever, so the spread of the sums of the
buckets over any span of days is the variance of that span, however its rows hang together
(Liang and Zeger, Biometrika 73, 1986; buckets instead of entities, so that a day stays small).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import starmap
from math import sqrt
from statistics import fmean
from typing import NamedTuple

import numpy as np

from monitor.metrics.core.buckets import BIN_COUNT, BUCKETS, BucketCounts, bins_of, merge_buckets
from monitor.metrics.core.compiled import inner
from monitor.metrics.core.grid import Floats, Ints, locate
from monitor.metrics.core.ratio import ratio
from monitor.metrics.core.special import expit, logit
from monitor.metrics.core.tally import Tally, merge

KURTOSIS = 3.0  # of a normal distribution


def span_dispersions(scores: Floats, informations: Floats) -> Floats:
    """Compare the variance of the sum of all scores of a span with that of independent outcomes.

    Parameters
    ----------
    scores, informations : ndarray of shape (..., 64, j)
        Sums over the span, by bucket: of what each row adds, and of its variance if rows are
        independent.

    Returns
    -------
    ndarray of shape (..., j)
        About 1 for independent outcomes; infinite where one bucket holds everything, so that
        nothing is known.

    Notes
    -----
    With ``d = S_b - (I_b / I) S`` and ``h = sum (I_b / I)**2`` it is
    ``sum d**2 / (I (1 - h)) (1 + 2 / nu)``, with the degrees of freedom
    ``nu = min(1 / h - 1, 3 (sum d**2)**2 / sum d**4)``: few entities with most of the rows know
    little of how much they differ. With 64 equal buckets ``1 - h`` is 63/64.

    Examples
    --------
    >>> even = np.full((64, 1), 100.0)
    >>> signs = np.tile([[10.0], [-10.0]], (32, 1))
    >>> span_dispersions(signs, even).round(2), span_dispersions(3 * signs, even).round(2)
    (array([1.05]), array([9.43]))
    """
    total = informations.sum(axis=-2)
    shares = ratio(informations, np.broadcast_to(total[..., None, :], informations.shape))
    deviations = scores - shares * scores.sum(axis=-2, keepdims=True)
    squares, held = (deviations**2).sum(axis=-2), (shares**2).sum(axis=-2)
    fourths = (deviations**4).sum(axis=-2)
    with np.errstate(divide="ignore", invalid="ignore"):
        freedom = np.fmin(1.0 / held - 1.0, KURTOSIS * squares**2 / fourths)
        dispersion = squares / (total * (1.0 - held)) * (1.0 + 2.0 / freedom)
    return np.where(total > 0.0, np.where(held < 1.0, dispersion, np.inf), 1.0)


def bucket_sums(
    bins: Ints, counts: Ints, held: BucketCounts, if_positive: Floats, if_negative: Floats
) -> Floats:
    """Sum up over the rows of each bucket, and sum up squares, each row as its bin of scores.

    Parameters
    ----------
    bins, counts : ndarray of shape (m,)
        Bin of the score of each group, and its rows.
    held : BucketCounts
        The same rows by bucket of their entity.
    if_positive, if_negative : ndarray of shape (m,)
        What a row of each group adds, by its outcome.

    Returns
    -------
    ndarray of shape (2, 64, 1)
        Sums and sums of squares, which add over spans.

    Examples
    --------
    >>> held = BucketCounts(*np.array([[0, 3], [62, 62], [2, 1], [1, 1]]))
    >>> bucket_sums(np.array([62]), np.array([3]), held, np.ones(1), np.zeros(1))[0, :4, 0]
    array([1., 0., 0., 1.])
    """
    sizes = np.maximum(np.bincount(bins, counts, BIN_COUNT), 1.0)
    hit, missed = (
        (np.bincount(bins, counts * v, BIN_COUNT) / sizes)[held.bins]
        for v in (if_positive, if_negative)
    )
    misses = held.counts - held.positives
    values = held.positives * hit + misses * missed, held.positives * hit**2 + misses * missed**2
    return np.asarray([np.bincount(held.buckets, v, BUCKETS) for v in values], np.float64)[
        ..., None
    ]


def design_effect(
    t: Tally, held: BucketCounts, if_positive: Floats, if_negative: Floats, *, delta: float = 0.0
) -> float:
    """Tell by how much the variance of a mean over rows exceeds that of independent rows.

    Parameters
    ----------
    t : Tally
        m groups of equal score, at least one prediction.
    held : BucketCounts
        The same rows by bucket of their entity; none where entities are unknown.
    if_positive, if_negative : ndarray of shape (m,)
        What a prediction of each group adds to the mean, by its outcome: its influence, but for a
        constant.
    delta : float
        By how much the scores of the tally were moved in logit since the rows were counted.

    Returns
    -------
    float
        Kish's design effect, from 1 (also without entities) to the number of predictions, where a
        single bucket holds all of them. An interval is wider by its root.

    Notes
    -----
    `span_dispersions` of the influences less their mean, each row with the mean of its bin of
    scores, 1/4 wide in logit, and its outcome.

    Examples
    --------
    >>> from monitor.metrics.core.tally import tally
    >>> t = tally([1, 0] * 320, [0.4] * 640)
    >>> of = np.arange(64)
    >>> alike = BucketCounts(of, np.full(64, 62), np.full(64, 10), 10 * (of % 2))
    >>> round(design_effect(t, alike, np.ones(1), np.zeros(1)), 1)  # ten rows are one, 63 degrees
    10.5
    """
    if not held.counts.size:
        return 1.0
    hits = t.positives
    mean = float((hits * if_positive + (t.counts - hits) * if_negative).sum()) / t.total
    sums = bucket_sums(
        bins_of_tally(t, delta), t.counts, held, if_positive - mean, if_negative - mean
    )
    return float(np.clip(span_dispersions(*sums)[0], 1.0, t.total))


def shared_covariance(
    t: Tally, held: BucketCounts, if_positive: Floats, if_negative: Floats
) -> Floats:
    """Estimate the covariance of several sums over rows, where those of an entity hang together.

    Parameters
    ----------
    t, held : Tally, BucketCounts
        As for `design_effect`; there are entities.
    if_positive, if_negative : ndarray of shape (j, m)
        What a prediction of each group adds to each sum, by its outcome; 0 on average.

    Returns
    -------
    ndarray of shape (j, j)
        ``sum d d' / sqrt((1 - h) (1 - h'))`` over the buckets, with d and h of `span_dispersions`;
        0 for a sum that a single bucket holds.

    Examples
    --------
    >>> from monitor.metrics.core.tally import tally
    >>> t = tally([1, 0] * 320, [0.4] * 640)
    >>> of = np.arange(64)
    >>> alike = BucketCounts(of, np.full(64, 62), np.full(64, 10), 10 * (of % 2))
    >>> (shared_covariance(t, alike, np.ones((2, 1)), -np.ones((2, 1))) / t.total).round(1)
    array([[10.2, 10.2],
           [10.2, 10.2]])
    """
    bins = bins_of_tally(t)
    each = [
        bucket_sums(bins, t.counts, held, *both)
        for both in zip(if_positive, if_negative, strict=True)
    ]
    sums, squares = np.concatenate(each, axis=-1)
    shares = ratio(squares, np.broadcast_to(squares.sum(axis=0), squares.shape))
    left = 1.0 - (shares**2).sum(axis=0)
    deviations = (sums - shares * sums.sum(axis=0)) * np.sqrt(ratio(np.ones_like(left), left))
    return np.asarray(deviations.T @ deviations)


@dataclass(frozen=True)
class DesignEffects:
    """By how much means over the rows of days vary more than those of independent rows.

    Attributes
    ----------
    outcomes : float
        Of the outcomes of all days, given their scores; at least 1.
    scores : float
        Of the scores of all days; at least 1.
    scores_of_day : float
        Of the scores of one day; at least 1.
    """

    outcomes: float = 1.0
    scores: float = 1.0
    scores_of_day: float = 1.0


NO_DESIGN_EFFECTS = DesignEffects()


def design_effects(days: Sequence[tuple[Tally, BucketCounts]]) -> DesignEffects:
    """Tell by how much scores and outcomes of days vary more than those of independent rows.

    Parameters
    ----------
    days : sequence of (Tally, BucketCounts)
        Each day, and the same rows by bucket of their entity; none where entities are unknown.

    Notes
    -----
    `outcome_dispersion` of all days, and `design_effect` of the mean score: of all days, and its
    mean over single days.

    Examples
    --------
    >>> from monitor.metrics.core.tally import tally
    >>> of = np.arange(64)
    >>> alike = BucketCounts(of, np.where(of % 3, 62, 65), np.full(64, 10), 10 * (of % 2))
    >>> day = tally([1, 0] * 320, [0.4] * 420 + [0.6] * 220), alike
    >>> design = design_effects([day, day])  # ten rows of a day, twenty of both: little over one
    >>> round(design.scores_of_day, 1), round(design.scores, 1), round(design.outcomes, 1)
    (10.7, 21.4, 22.0)
    """
    counted = [(t, held) for t, held in days if held.counts.size]
    if not counted:
        return NO_DESIGN_EFFECTS
    everything, held = merge(t for t, _ in counted), merge_buckets(held for _, held in counted)
    return DesignEffects(
        outcomes=outcome_dispersion(held),
        scores=_of_mean_score(everything, held),
        scores_of_day=fmean(starmap(_of_mean_score, counted)),
    )


def _of_mean_score(t: Tally, held: BucketCounts) -> float:
    return design_effect(t, held, t.scores, t.scores)


class Hanging(NamedTuple):
    """What the outcomes of the rows of a tally share, for worlds drawn from its scores.

    Attributes
    ----------
    columns : ndarray of shape (m,)
        Of each group, the column of its bin of scores, or -1 if no bucket has rows there.
    shares : ndarray of shape (b, j)
        Share of the rows of each bin that each bucket has, times what they count.
    deviations : ndarray of shape (b, j)
        By how many positives each bucket with rows deviates from its bins, times what they count.
    own : ndarray of shape (j,)
        What independent outcomes of each bin count.
    """

    columns: Ints
    shares: Floats
    deviations: Floats
    own: Floats


INDEPENDENT = Hanging(np.zeros(0, np.int64), np.zeros((0, 0)), np.zeros((0, 0)), np.zeros(0))


def hanging(t: Tally, held: BucketCounts, *, delta: float = 0.0) -> Hanging:
    """Prepare what rows share for worlds drawn from a tally; arguments as of `design_effect`.

    Notes
    -----
    With k of n positives in bucket b and bin i, ``d_bi = k_bi - n_bi k_i / n_i``, over
    ``sqrt(1 - h_i)``, ``h_i = sum_b (n_bi / n_i)**2``, for what the rate of the bin takes from it,
    and with the degrees of freedom of `span_dispersions`. ``phi`` is the sum of all ``d**2`` over
    the variance of independent outcomes, at least 1. The positives of a bin deviate from what a
    world expects by ``sqrt(1 - phi**-3)`` times the sum of d over buckets drawn with replacement,
    and by what independent outcomes deviate by, times what makes the variance phi times theirs, at
    least ``1/phi``: a bin without positives says nothing of how they vary. Where rows are drawn
    too, those of a bin become as many as the same buckets have. So worlds vary phi
    times as much, are as skewed as the buckets, and move neighbouring bins together as far as
    buckets do; where rows do not hang together, nothing changes.

    Examples
    --------
    >>> from monitor.metrics.core.tally import tally
    >>> of = np.arange(64)
    >>> alike = BucketCounts(of, np.full(64, 62), np.full(64, 10), 10 * (of % 2))
    >>> design = hanging(tally([1, 0] * 320, [0.4] * 640), alike)
    >>> design.deviations.shape, bool((abs(design.deviations) > 4.0).all())  # 4 or 6 of ten
    ((64, 1), True)
    """
    if not held.counts.size:
        return INDEPENDENT
    bins, shares, deviations, phi = _deviations(held)
    place = np.full(BIN_COUNT, -1)
    place[bins] = np.arange(bins.size)
    count, of = sqrt(1.0 - phi**-3), bins_of_tally(t, delta)
    alone = np.bincount(of, t.counts * t.scores * (1.0 - t.scores), BIN_COUNT)[bins]
    own = phi - ratio(((count * deviations) ** 2).sum(axis=0), np.asarray(alone, np.float64))
    own = np.sqrt(np.maximum(own, phi**-2))
    return Hanging(place[of], count * shares, count * deviations, own)


@inner
def draw_buckets(rng: np.random.Generator, shared: Hanging) -> tuple[Floats, Floats]:
    """Draw buckets with replacement: by what the rows of each bin multiply, and what they share."""
    number = len(shared.shares)
    rows, moves = np.zeros(shared.own.size), np.zeros(shared.own.size)
    for bucket in range(number):  # numpy's sum of an axis takes half a second to compile
        for j in range(moves.size):
            rows[j] += shared.shares[bucket, j]
    for j in range(moves.size):
        rows[j] = 1.0 - rows[j]
    for _ in range(number):
        bucket = int(rng.random() * number)
        for j in range(moves.size):
            rows[j] += shared.shares[bucket, j]
            moves[j] += shared.deviations[bucket, j]
    return rows, moves


@inner
def hang_together(
    rng: np.random.Generator,
    counts: Ints,
    positives: Ints,
    rates: Floats,
    shared: Hanging,
    moves: Floats,
) -> None:
    """Change the positives of a world of independent outcomes to those of rows that share some.

    In place. Rows of a bin that change are spread over its groups.
    """
    columns = shared.columns
    first = 0
    while first < columns.size:
        column, end, hits, total, expected = columns[first], first, 0, 0, 0.0
        while end < columns.size and columns[end] == column:
            hits += positives[end]
            total += counts[end]
            expected += counts[end] * rates[end]
            end += 1
        if column >= 0:
            change = moves[column] + (shared.own[column] - 1.0) * (hits - expected)
            whole = min(max(int(np.floor(change + rng.random())), -hits), total - hits)
            _change(rng.random(), whole, hits, counts[first:end], positives[first:end])
        first = end


@inner
def _change(start: float, change: int, hits: int, counts: Ints, positives: Ints) -> None:
    """Change so many outcomes of neighbouring groups, each group in proportion to what it has."""
    able = counts.sum() - hits if change > 0 else hits
    passed, before = 0, 0
    for i in range(counts.size if change else 0):
        passed += counts[i] - positives[i] if change > 0 else positives[i]
        until = int(np.floor(passed / able * abs(change) + start))
        positives[i] += until - before if change > 0 else before - until
        before = until


def outcome_dispersion(held: BucketCounts) -> float:
    """Compare the variance of the positives of bins of score with that of independent outcomes.

    Returns
    -------
    float
        At least 1, also without entities.

    Examples
    --------
    >>> of = np.arange(64)
    >>> alike = BucketCounts(of, np.full(64, 62), np.full(64, 10), 10 * (of % 2))
    >>> round(outcome_dispersion(alike), 1)
    10.5
    """
    return _deviations(held)[-1] if held.counts.size else 1.0


def _deviations(held: BucketCounts) -> tuple[Ints, Floats, Floats, float]:
    """Give the bins, shares and deviations of buckets by bin, and the dispersion of all."""
    bins, column = np.unique(held.bins, return_inverse=True)
    buckets, line = np.unique(held.buckets, return_inverse=True)
    counts, positives = np.zeros((2, buckets.size, bins.size))
    counts[line, column], positives[line, column] = held.counts, held.positives
    sizes, hits = counts.sum(axis=0), positives.sum(axis=0)
    shares = counts / sizes
    deviations = positives - shares * hits
    left = 1.0 - (shares**2).sum(axis=0)
    several = left > 0.0  # a bin in a single bucket says nothing
    squares, fourths = (deviations**2).sum(axis=0), (deviations**4).sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        freedom = np.fmin(1.0 / (1.0 - left) - 1.0, KURTOSIS * squares**2 / fourths)
        deviations *= np.sqrt(np.where(several, (1.0 + 2.0 / freedom) / left, 0.0))
    alone = float((hits * (sizes - hits) / np.maximum(sizes - 1.0, 1.0))[several].sum())
    phi = float((deviations**2).sum()) / alone if alone > 0.0 else 1.0
    return bins, shares, deviations, max(phi, 1.0)


def bins_of_tally(t: Tally, delta: float = 0.0) -> Ints:
    """Find the bins of the scores of groups, before they were moved by delta in logit.

    Examples
    --------
    >>> from monitor.metrics.core.tally import tally
    >>> bins_of_tally(tally([0, 1], [0.4, 0.5]))
    array([62, 64])
    """
    if t.cells is not None:
        return bins_of(t.cells.numbers)
    return bins_of(locate(np.asarray(expit(logit(t.scores) - delta)))[0])
