"""TCE at a fixed size: the headline number, comparable across volumes and prevalences.

Published TCE rises with the number of predictions, whatever the model. Averaged over
subsamples of one fixed size it does not, so a number means the same on a quiet Sunday
and on a busy Monday.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import nan, sqrt

import numpy as np

from monitor.metrics.binned.pooling import PAPER_TAIL, pool
from monitor.metrics.binomial.acceptance import check_alpha
from monitor.metrics.core.estimate import CONFIDENCE, Estimate
from monitor.metrics.core.grid import Floats
from monitor.metrics.core.reading import takes_rows
from monitor.metrics.core.resampling import drawn, index_rows, lay_out
from monitor.metrics.core.special import stdtrit
from monitor.metrics.core.tally import Tally, have_same_groups
from monitor.metrics.test_based.tce import count_rejected

SMALLEST_SIZE = 5_000
RARER_OUTCOMES = 500  # of the rarer of both outcomes, expected in a subsample
SMALLEST_BIN = 20  # sizes below this leave the paper's bins empty: N/20 < 1


@dataclass(frozen=True)
class TceAtSize:
    """Mean TCE over subsamples.

    Attributes
    ----------
    mean : Estimate
        A ratio in [0, 1]. Its interval is for the mean TCE over all samples of this size from
        where the tally came from; both ends nan if the tally is no larger than a subsample.
    standard_deviation : float
        Of TCE over the subsamples, same units; 0 if the tally is no larger than a subsample.
    size : int
        Predictions in a subsample.
    """

    mean: Estimate
    standard_deviation: float
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
        Predictions, at least 5,000.

    Raises
    ------
    ValueError
        If the prevalence is not in (0, 1).

    Notes
    -----
    ``max(5000, 500 / min(pi, 1 - pi))``, to the nearest row: ours. What the test of [TCE,
    Definition 2] can find depends on the number of rarer outcomes, so that number is held.
    Measured: calibrated models stay at 10 to 15 % over prevalences from 50 to 0.5 %.

    Examples
    --------
    >>> standard_size(0.5), standard_size(0.05), standard_size(0.995)
    (5000, 10000, 100000)
    """
    if not 0.0 < prevalence < 1.0:
        msg = f"the prevalence must be in (0, 1), got {prevalence}: take a longer reference."
        raise ValueError(msg)
    return max(SMALLEST_SIZE, round(RARER_OUTCOMES / min(prevalence, 1.0 - prevalence)))


@takes_rows
def tce_at_size(
    t: Tally,
    *,
    size: int,
    subsamples: int = 20,
    alpha: float = 0.05,
    level: float = CONFIDENCE,
    rng: np.random.Generator,
) -> TceAtSize:
    """Average TCE over random subsamples of one fixed size.

    Parameters
    ----------
    t : Tally or rows
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
    >>> from monitor.metrics.core.tally import tally
    >>> rng = np.random.default_rng(1)
    >>> scores = rng.random(4_000)
    >>> t = tally(rng.random(4_000) < scores, scores)
    >>> tce = tce_at_size(t, size=1_000, rng=rng)
    >>> tce.mean.low < tce.mean.value < 0.3
    True
    """
    return tces_at_size([t], size=size, subsamples=subsamples, alpha=alpha, level=level, rng=rng)[0]


def tces_at_size(
    tallies: Sequence[Tally],
    *,
    size: int,
    subsamples: int = 20,
    alpha: float = 0.05,
    level: float = CONFIDENCE,
    rng: np.random.Generator,
) -> list[TceAtSize]:
    """Average TCE of the same predictions with other scores, over the same subsamples.

    Parameters and errors are those of `tce_at_size`, but for tallies of the same groups in the same
    order, such as raw and prior-adjusted ones: they differ in scores only. To draw the subsamples
    once takes half the time.

    Raises
    ------
    ValueError
        Also if the tallies differ in their counts.

    Examples
    --------
    >>> from monitor.metrics.core.tally import shift, tally
    >>> t, rng = tally([0, 1] * 40, [0.2, 0.7] * 40), np.random.default_rng(1)
    >>> raw, prior = tces_at_size([t, shift(t, 0.1)], size=40, rng=rng)
    >>> raw.size, prior.size
    (40, 40)
    """
    t = tallies[0]
    check_alpha(alpha)
    _check(t, size, subsamples, level)
    if not all(have_same_groups(t, other) for other in tallies):
        msg = "tallies share subsamples only if they differ in nothing but their scores."
        raise ValueError(msg)
    scores = np.stack([other.scores for other in tallies])
    values = np.empty((subsamples if size < t.total else 1, len(tallies)))  # one of the whole
    rows = lay_out(t.counts, t.positives)
    ends = np.cumsum(rows)
    guide, shift = index_rows(ends)
    for i in range(len(values)):
        groups, some, hits = drawn(rng, rows, ends, guide, shift, size)
        starts = pool(some, hits, size // 20, size // 5, PAPER_TAIL)
        for j in range(len(tallies)):
            rejected = count_rejected(scores[j][groups], some, hits, starts, float(alpha))
            values[i, j] = rejected.sum() / size
    return [_summarised(column, size, t.total, level) for column in values.T]


def _summarised(values: Floats, size: int, total: int, level: float) -> TceAtSize:
    mean = float(values.mean())
    if values.size == 1:
        return TceAtSize(Estimate(mean, nan, nan), 0.0, size)
    deviation = float(values.std(ddof=1))
    reach = sqrt(size / (total - size) + 1.0 / values.size) * deviation
    reach *= float(stdtrit(values.size - 1, 0.5 + level / 2.0))
    interval = Estimate(mean, max(0.0, mean - reach), min(1.0, mean + reach))
    return TceAtSize(interval, deviation, size)


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
