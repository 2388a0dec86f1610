"""TCE at a fixed size: the headline figure, comparable across volumes and prevalences.

Published TCE rises with the number of predictions, whatever the model. Averaged over
subsamples of one fixed size it does not, so a number means the same on a quiet Sunday
and on a busy Monday.
"""

from dataclasses import dataclass
from math import nan, sqrt

import numpy as np
from scipy.special import stdtrit

from monitor.metrics.acceptance import check_alpha
from monitor.metrics.binning import pool
from monitor.metrics.bootstrap import Interval, draw_row, find_group, index_rows
from monitor.metrics.compiled import compiled
from monitor.metrics.grid import Floats, Ints
from monitor.metrics.tally import Tally
from monitor.metrics.tce import count_rejected

SMALLEST_SIZE = 5_000
RARER_OUTCOMES = 500  # of the rarer of both outcomes, expected in a subsample
ROWS_PER_KIND = 4  # beyond, a binomial draw for each kind is faster than one by one
SMALLEST_BIN = 20  # sizes below this leave the paper's bins empty: N/20 < 1


@dataclass(frozen=True)
class TceAtSize:
    """Mean TCE over subsamples.

    Attributes
    ----------
    value : float
        The mean, a ratio in [0, 1].
    standard_deviation : float
        Of TCE over the subsamples, same units; 0 if the tally is no larger than a subsample.
    interval : Interval
        For the mean TCE over all samples of this size from where the tally came from; both
        ends nan if the tally is no larger than a subsample.
    size : int
        Predictions in a subsample.
    """

    value: float
    standard_deviation: float
    interval: Interval
    size: int


def standard_size(prevalence: float) -> int:
    """Give the size of subsamples that suits a model: 500 of the rarer outcome, or 5,000 rows.

    Parameters
    ----------
    prevalence : float
        Share of positive outcomes in the reference period, in (0, 1): one size per model, not
        per day.

    Returns
    -------
    int
        ``max(5000, 500 / min(pi, 1 - pi))``, to the nearest row.

    Raises
    ------
    ValueError
        If the prevalence is not in (0, 1).

    Examples
    --------
    >>> standard_size(0.5), standard_size(0.05), standard_size(0.995)
    (5000, 10000, 100000)
    """
    if not 0.0 < prevalence < 1.0:
        msg = f"the prevalence must be in (0, 1), got {prevalence}: take a longer reference."
        raise ValueError(msg)
    return max(SMALLEST_SIZE, round(RARER_OUTCOMES / min(prevalence, 1.0 - prevalence)))


def tce_at_size(
    t: Tally,
    *,
    size: int,
    subsamples: int = 20,
    alpha: float = 0.05,
    level: float = 0.95,
    rng: np.random.Generator,
) -> TceAtSize:
    """Average TCE over random subsamples of one fixed size.

    Parameters
    ----------
    t : Tally
        m groups of equal score, at least `size` predictions. Give prior-adjusted scores,
        ``shift(t, fit_intercept(t).delta)``, to forgive the prior.
    size : int
        Predictions in a subsample, at least 20; see `standard_size`.
    subsamples : int
        Their number, at least 2.
    alpha : float
        Level of the test inside TCE, in (0, 1).
    level : float
        Confidence level of the interval, in (0, 1).
    rng : numpy Generator
        Source of chance; the same seed gives the same result.

    Returns
    -------
    TceAtSize
        Mean, standard deviation and interval. About 0.12 on calibrated data.

    Raises
    ------
    ValueError
        If the tally has fewer predictions than `size`, or another argument is out of range.

    Notes
    -----
    A subsample is drawn without replacement, so (group, outcome) counts are multivariate
    hypergeometric. Its bins are `pava_bc` of N*/20 to N*/5 predictions with the paper's tail,
    and its value is [TCE, Definition 2]. The time does not grow
    with N.

    Interval: the average over *all* subsamples is a U-statistic of order N*, whose variance
    is at most ``f sigma**2``, ``f = N*/N``, with the variance ``sigma**2`` of one fresh
    sample's TCE (Hoeffding, Annals of Mathematical Statistics 19, 1948, theorem 5.2); subsamples
    of one tally vary by at least ``(1 - f) sigma**2``. So with their variance ``v`` and number
    ``B``, ``SE**2 = v (f / (1 - f) + 1/B)`` is on the safe side, and the interval is the mean
    plus or minus Student's t with B - 1 degrees, cut to [0, 1]. With f near 1 it is wide.
    Measured coverage at 95 %: 96-98 % for a slope of 0.8, but 98-100 % for calibrated scores,
    whose TCE hardly depends on any single row, so that the bound is far from reached: too wide
    on calm days (docs/coverage.md).
    The scores are taken as given: an intercept fitted to the same tally is not counted in.

    Examples
    --------
    >>> from monitor.metrics.tally import tally
    >>> rng = np.random.default_rng(1)
    >>> scores = rng.random(4_000)
    >>> t = tally(scores, rng.random(4_000) < scores)
    >>> found = tce_at_size(t, size=1_000, rng=rng)
    >>> found.interval.low < found.value < 0.3
    True
    """
    check_alpha(alpha)
    _check(t, size, subsamples, level)
    values = np.empty(subsamples if size < t.total else 1)  # of the whole there is but one
    _fill_values(rng, t.scores, t.counts, t.positives, size, float(alpha), values)
    mean = float(values.mean())
    if values.size == 1:
        return TceAtSize(mean, 0.0, Interval(nan, nan), size)
    deviation = float(values.std(ddof=1))
    reach = sqrt(size / (t.total - size) + 1.0 / subsamples) * deviation
    reach *= float(stdtrit(subsamples - 1, 0.5 + level / 2.0))
    interval = Interval(max(0.0, mean - reach), min(1.0, mean + reach))
    return TceAtSize(mean, deviation, interval, size)


def _check(t: Tally, size: int, subsamples: int, level: float) -> None:
    if size < SMALLEST_BIN:
        msg = f"the size of a subsample must be at least {SMALLEST_BIN}, got {size}."
    elif t.total < size:
        msg = (
            f"subsamples of {size} predictions need at least as many, got {t.total}: take a "
            "longer window."
        )
    elif subsamples < 2:  # noqa: PLR2004 - a deviation needs two
        msg = f"the number of subsamples must be at least 2, got {subsamples}."
    elif not 0.0 < level < 1.0:
        msg = f"the confidence level must be in (0, 1), got {level}."
    else:
        return
    raise ValueError(msg)


def subsample(t: Tally, size: int, *, rng: np.random.Generator) -> Tally:
    """Draw rows of a tally without replacement.

    Parameters
    ----------
    t : Tally
        m groups of equal score.
    size : int
        Number of rows, between 0 and the tally's total.
    rng : numpy Generator
        Source of chance; the same seed gives the same result.

    Returns
    -------
    Tally
        Of exactly that size; groups that were not drawn are left out.

    Raises
    ------
    ValueError
        If the size is out of range.

    Examples
    --------
    >>> from monitor.metrics.tally import tally
    >>> subsample(tally([0.2, 0.7], [0, 1]), 2, rng=np.random.default_rng(1)).counts
    array([1, 1])
    """
    if not 0 <= size <= t.total:
        msg = f"a subsample of {t.total} predictions has 0 to {t.total}, got {size}."
        raise ValueError(msg)
    if not size:
        return Tally(t.scores[:0], t.counts[:0], t.positives[:0])
    rows = _rows(t.counts, t.positives)
    ends = np.cumsum(rows)
    return Tally(*_drawn(rng, t.scores, rows, ends, *index_rows(ends), size))


@compiled
def _fill_values(
    rng: np.random.Generator,
    scores: Floats,
    counts: Ints,
    positives: Ints,
    size: int,
    alpha: float,
    values: Floats,
) -> None:
    """Fill `values` with the TCE of so many subsamples."""
    rows = _rows(counts, positives)
    ends = np.cumsum(rows)
    guide, shift = index_rows(ends)
    for i in range(values.size):
        some_scores, some, hits = _drawn(rng, scores, rows, ends, guide, shift, size)
        starts = pool(some, hits, size // 20, size // 5, 0)
        values[i] = count_rejected(some_scores, some, hits, starts, alpha).sum() / size


@compiled
def _rows(counts: Ints, positives: Ints) -> Ints:
    """Lay out rows by group and outcome: shape (2m,), the negatives of a group come first."""
    rows = np.empty(2 * counts.size, np.int64)
    rows[0::2] = counts - positives
    rows[1::2] = positives
    return rows


@compiled
def _drawn(
    rng: np.random.Generator,
    scores: Floats,
    rows: Ints,
    ends: Ints,
    guide: Ints,
    shift: int,
    size: int,
) -> tuple[Floats, Ints, Ints]:
    """Draw `size` rows and give scores, counts and positives of the groups among them."""
    rest = ends[-1] - size
    if min(size, rest) > ROWS_PER_KIND * rows.size:
        taken = _thinned(rng, rows, size)
    elif size <= rest:
        taken = _taken(rng, rows, ends, guide, shift, size)
    else:  # the rows left behind are such a draw too, and fewer
        taken = rows - _taken(rng, rows, ends, guide, shift, rest)
    some_scores = np.empty(scores.size, np.float64)
    counts = np.empty(scores.size, np.int64)
    positives = np.empty(scores.size, np.int64)
    group = 0
    for i in range(scores.size):
        count = taken[2 * i] + taken[2 * i + 1]
        if count > 0:
            some_scores[group], counts[group], positives[group] = scores[i], count, taken[2 * i + 1]
            group += 1
    return some_scores[:group], counts[:group], positives[:group]


@compiled
def _taken(
    rng: np.random.Generator, rows: Ints, ends: Ints, guide: Ints, shift: int, size: int
) -> Ints:
    """Draw so many different rows; return how many of each kind.

    Rows of one kind are alike, so let those with the lowest numbers be the ones already
    taken: then a row drawn from all is new iff its number within its kind is not among these.
    No memory of rows is needed, and of kind c the next row is with probability proportional
    to the number of its rows that are left, which is what drawing without replacement means.
    """
    taken = np.zeros(rows.size, np.int64)
    total, left = ends[-1], size
    while left > 0:
        row = draw_row(rng, total)
        kind = find_group(row, ends, guide, shift)
        if row - (ends[kind] - rows[kind]) >= taken[kind]:
            taken[kind] += 1
            left -= 1
    return taken


@compiled
def _thinned(rng: np.random.Generator, rows: Ints, size: int) -> Ints:
    """Draw as `_taken` does, at a cost that depends on the kinds and hardly on the rows.

    Every row stays with the same probability, independently: then all draws of one size are
    equally likely, whatever size it is. The few rows too many or too few are drawn one by one.
    """
    taken, share = np.empty(rows.size, np.int64), size / rows.sum()
    for kind in range(rows.size):
        taken[kind] = rng.binomial(rows[kind], share)
    excess = taken.sum() - size
    if excess > 0:
        return taken - _some_of(rng, taken, excess)
    return taken + _some_of(rng, rows - taken, -excess)


@compiled
def _some_of(rng: np.random.Generator, rows: Ints, size: int) -> Ints:
    if size == 0:
        return np.zeros_like(rows)
    ends = np.cumsum(rows)
    guide, shift = index_rows(ends)
    return _taken(rng, rows, ends, guide, shift, size)
