"""What bins of predictions still show after the scores were mapped: the unnamed rest."""

from dataclasses import dataclass, replace
from math import nan, sqrt

import numpy as np

from monitor.metrics.binned.binning import Bins, bins_of
from monitor.metrics.binned.ece import debiased_mean_squared_gap
from monitor.metrics.core.buckets import NO_BUCKETS, BucketCounts
from monitor.metrics.core.dispersion import bins_of_tally, shared_covariance
from monitor.metrics.core.estimate import Estimate
from monitor.metrics.core.grid import Floats, Ints
from monitor.metrics.core.special import chdtrc, expit, xlogy
from monitor.metrics.core.tally import Tally
from monitor.metrics.logistic.recalibration_maps import NestedMaps, gram

MOST_BINS = 20
INFORMATION_PER_BIN = 10.0  # uncertain outcomes, sum p(1-p): then a bin's error is nearly normal
LEAST_INFORMATION = 5.0  # of a bin next to a large group of equal scores


@dataclass(frozen=True)
class RemainingError:
    """The calibration error of the last map over bins; nan where there are too few outcomes.

    Attributes
    ----------
    squared : Estimate
        Debiased mean squared gap, signed, in squared probability.
    divergence : Estimate
        Debiased Kullback-Leibler divergence, signed, in nats.
    p_value : float
        Of Pearson's chi-square, in [0, 1]: chance of as much if the map were right.
    """

    squared: Estimate
    divergence: Estimate
    p_value: float


def remaining_error(maps: NestedMaps, held: BucketCounts = NO_BUCKETS) -> RemainingError:
    """Compare the outcomes with the last fitted map over bins of equal information.

    Parameters
    ----------
    maps : NestedMaps
        The last of them is judged, on the predictions that it was fitted on.
    held : BucketCounts
        The same predictions by bucket of their entity, where those of one entity may hang together.

    Returns
    -------
    RemainingError
        nan unless there are more bins than fitted terms. At most 20 bins, each with ten
        uncertain outcomes ``sum p (1-p)``.

    Notes
    -----
    With p_b the mean of the map in bin b, r_b the observed rate and pi_b its share of the
    predictions: ``sum pi_b [(r_b - p_b)**2 - r_b (1-r_b)/(n_b-1)] + tr(A^-1 K)/N`` and
    ``sum pi_b KL(r_b, p_b) - B/(2N) + tr(A^-1 L)/(2N)``. The last terms give back what
    fitting the map took from the gaps: ``A = mean w x x'`` is its information,
    ``K = sum pi_b x_b x_b'`` with x_b the mean of ``w x`` in the bin, and
    ``L = sum pi_b x_b x_b' / (p_b (1-p_b))``. Pearson's statistic is compared with chi-square
    of ``B - tr(A^-1 L)`` degrees of freedom, its mean (Moore and Spruill, Annals of
    Statistics 3, 1975: the distribution lies between B - terms and B).

    With entities C is the covariance of the gaps ``r_b - p_b``, from what every prediction adds to
    them: ``1{in b} (y - p) / n_b - x_b' A^-1 x (y - p) / N``. Then the corrections are
    ``sum pi_b C_bb`` and ``sum pi_b C_bb / (2 p_b (1-p_b))``, and Pearson's statistic is compared
    by its first two moments (Satterthwaite).

    Examples
    --------
    >>> from monitor.metrics.logistic.recalibration_maps import fit_nested_maps
    >>> from monitor.metrics.core.tally import tally
    >>> t = tally([1] * 20 + [0] * 80 + [1] * 40 + [0] * 60, [0.2] * 100 + [0.4] * 100)
    >>> remaining_error(fit_nested_maps(t)).p_value  # two bins, two terms: nothing is left
    nan
    """
    t = maps.tally
    # Buckets know the score of a row by its bin, 1/4 wide in logit, so that one stays whole.
    blocks = bins_of_tally(t) if held.counts.size else None
    bins = information_bins(maps, blocks)
    if bins.counts.size <= maps.terms[-1]:
        unknown = Estimate.normal(nan, nan)
        return RemainingError(unknown, unknown, nan)
    means, pulls = _pulls(maps, bins)
    if held.counts.size:
        return _judge_shared(bins, _gap_covariance(maps, held, bins, pulls), t.total)
    taken = (means * pulls).sum(axis=1)  # of each bin
    return _judge(bins, taken, t.total)


def _pulls(maps: NestedMaps, bins: Bins) -> tuple[Floats, Floats]:
    """Give the mean of ``w x`` in each bin, and how far it follows the fitted terms."""
    t, x = maps.tally, maps.design[:, : maps.terms[-1]]
    w = np.asarray(expit(maps.logits[-1])) * expit(-maps.logits[-1])
    inverse = np.linalg.inv(gram(np.ascontiguousarray(x), t.counts * w) / t.total)
    means = np.add.reduceat((t.counts * w)[:, None] * x, bins.starts[:-1]) / bins.counts[:, None]
    return means, means @ inverse


def remaining_error_of_weighted(maps: NestedMaps, rows: Tally, variances: Floats) -> RemainingError:
    """Compare weighted outcomes with the last map that was fitted to them.

    Parameters
    ----------
    maps : NestedMaps
        Fitted to a tally whose counts are weights, in whole numbers.
    rows : Tally
        The rows behind them, of the same scores, whose information makes the bins.
    variances : ndarray of shape (m,)
        Of the sum of the weighted outcomes of each group, in squares of the weights.

    Returns
    -------
    RemainingError
        As `remaining_error`, whose covariance of the gaps is here ``A V A'`` with V the variances
        and A what each outcome adds to the gaps.

    Examples
    --------
    >>> from monitor.metrics.logistic.recalibration_maps import fit_nested_maps
    >>> from monitor.metrics.core.tally import tally
    >>> t = tally([1] * 20 + [0] * 80 + [1] * 40 + [0] * 60, [0.2] * 100 + [0.4] * 100)
    >>> remaining_error_of_weighted(fit_nested_maps(t), t, t.counts * 0.2).p_value
    nan
    """
    p, t = np.asarray(expit(maps.logits[-1])), maps.tally
    starts = information_bins(replace(maps, tally=rows)).starts
    bins = bins_of(Tally(p, t.counts, t.positives), starts)
    if bins.counts.size <= maps.terms[-1]:
        unknown = Estimate.normal(nan, nan)
        return RemainingError(unknown, unknown, nan)
    adds = _adds(maps, bins, _pulls(maps, bins)[1])
    return _judge_shared(bins, (adds * variances) @ adds.T, t.total)


def _adds(maps: NestedMaps, bins: Bins, pulls: Floats) -> Floats:
    """Give by how much an outcome above its expectation moves the gap of each bin."""
    inside = np.repeat(np.diag(1.0 / bins.counts), np.diff(bins.starts), axis=1)
    return np.asarray(inside - pulls @ maps.design[:, : maps.terms[-1]].T / maps.tally.total)


def _gap_covariance(maps: NestedMaps, held: BucketCounts, bins: Bins, pulls: Floats) -> Floats:
    """Estimate the covariance of the gaps of bins, shape (b, b), from buckets of entities."""
    t, p = maps.tally, np.asarray(expit(maps.logits[-1]))
    adds = _adds(maps, bins, pulls)
    return shared_covariance(t, held, adds * (1.0 - p), -adds * p)


def _judge_shared(bins: Bins, covariance: Floats, total: int) -> RemainingError:
    r, p, share = bins.rates, bins.mean_scores, bins.counts / total
    variance = p * (1.0 - p)
    gaps = r - p
    divergences = xlogy(r, r / p) + xlogy(1.0 - r, (1.0 - r) / (1.0 - p))

    def estimate(raw: Floats, weights: Floats) -> Estimate:
        shared = weights[:, None] * covariance
        square, signal = float((shared * shared.T).sum()), weights * gaps
        linear = max(0.0, 4.0 * float(signal @ covariance @ signal) - 4.0 * square)
        value = float((share * raw).sum()) - float(np.trace(shared))
        return Estimate.normal(value, sqrt(linear + 2.0 * square))

    scaled = (bins.counts / variance)[:, None] * covariance
    first, second = float(np.trace(scaled)), float((scaled * scaled.T).sum())
    statistic = float((bins.counts * gaps**2 / variance).sum())
    return RemainingError(
        estimate(gaps**2, share),
        estimate(np.asarray(divergences), np.asarray(share / (2.0 * variance))),
        float(chdtrc(first**2 / second, statistic * first / second)) if second else nan,
    )


def _judge(bins: Bins, taken: Floats, total: int) -> RemainingError:
    r, p, share = bins.rates, bins.mean_scores, bins.counts / total
    squares, noise, variance = (r - p) ** 2, r * (1.0 - r) / bins.counts, p * (1.0 - p)
    divergences = xlogy(r, r / p) + xlogy(1.0 - r, (1.0 - r) / (1.0 - p))
    freedom = r.size - float((share * taken / variance).sum())
    divergence = float((share * divergences).sum()) - freedom / (2.0 * total)
    squared = debiased_mean_squared_gap(bins) + float((share * taken).sum()) / total
    return RemainingError(
        Estimate.normal(squared, _error(share, squares, noise)),
        Estimate.normal(divergence, _error(share / (2.0 * variance), squares, noise)),
        float(chdtrc(freedom, (bins.counts * squares / variance).sum())),
    )


def _error(weights: Floats, squares: Floats, noise: Floats) -> float:
    """Give the standard error of a weighted sum of squared gaps, normal with the given noise."""
    linear = float((4.0 * weights**2 * (squares - noise) * noise).sum())
    return sqrt(max(0.0, linear) + float((2.0 * weights**2 * noise**2).sum()))


def information_bins(maps: NestedMaps, blocks: Ints | None = None) -> Bins:
    """Cut into at most 20 bins of about equal information; groups stay whole.

    Parameters
    ----------
    maps : NestedMaps
        The last of them gives the information.
    blocks : ndarray of shape (m,), optional
        Number of the block of each group, rising; blocks stay whole too.

    Examples
    --------
    >>> from monitor.metrics.logistic.recalibration_maps import fit_nested_maps
    >>> from monitor.metrics.core.tally import tally
    >>> maps = fit_nested_maps(tally([0, 1] * 75, [0.4] * 50 + [0.6] * 100))
    >>> information_bins(maps).counts  # 37.5 uncertain outcomes, but only two scores
    array([ 50, 100])
    """
    t, p = maps.tally, np.asarray(expit(maps.logits[-1]))
    sums = np.cumsum(t.counts * p * expit(-maps.logits[-1]))
    ends = np.arange(1, p.size + 1)
    if blocks is not None:
        ends = ends[np.append(np.diff(blocks) > 0, True)]
    n = int(min(MOST_BINS, max(1.0, sums[-1] / INFORMATION_PER_BIN)))
    starts = [0]
    for cut in range(1, n):
        end = int(ends[np.abs(sums[ends - 1] - cut / n * sums[-1]).argmin()])
        before = sums[starts[-1] - 1] if starts[-1] else 0.0
        # A large group leaves little to its neighbours; they go to the next bin, or the last.
        if min(sums[end - 1] - before, sums[-1] - sums[end - 1]) >= LEAST_INFORMATION:
            starts.append(end)
    return bins_of(Tally(p, t.counts, t.positives), np.array([*starts, p.size]))
