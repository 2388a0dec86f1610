"""What bins of predictions still show after the scores were mapped: the unnamed rest."""

from dataclasses import dataclass
from math import nan, sqrt

import numpy as np

from monitor.metrics.binned.binning import Bins, bins_of
from monitor.metrics.binned.ece import debiased_mean_squared_gap
from monitor.metrics.core.estimate import Estimate
from monitor.metrics.core.grid import Floats
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


def remaining_error(maps: NestedMaps, phi: float = 1.0) -> RemainingError:
    """Compare the outcomes with the last fitted map over bins of equal information.

    Parameters
    ----------
    maps : NestedMaps
        The last of them is judged, on the predictions that it was fitted on.
    phi : float
        By how much the outcomes of a bin vary more than independent ones, at least 1.

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
    Statistics 3, 1975: the distribution lies between B - terms and B). Outcomes that vary phi
    times as much bring phi times the corrections, and Pearson's statistic is divided by phi.

    Examples
    --------
    >>> from monitor.metrics.logistic.recalibration_maps import fit_nested_maps
    >>> from monitor.metrics.core.tally import tally
    >>> t = tally([0.2] * 100 + [0.4] * 100, [1] * 20 + [0] * 80 + [1] * 40 + [0] * 60)
    >>> remaining_error(fit_nested_maps(t)).p_value  # two bins, two terms: nothing is left
    nan
    """
    logits, t = maps.logits[-1], maps.tally
    p = np.asarray(expit(logits))
    w = p * expit(-logits)
    bins, x = information_bins(maps), maps.design[:, : maps.terms[-1]]
    if bins.counts.size <= x.shape[1]:
        unknown = Estimate.normal(nan, nan)
        return RemainingError(unknown, unknown, nan)
    inverse = np.linalg.inv(gram(x, t.counts * w) / t.total)
    means = np.add.reduceat((t.counts * w)[:, None] * x, bins.starts[:-1]) / bins.counts[:, None]
    taken = (means * (means @ inverse)).sum(axis=1)  # of each bin
    return _judge(bins, taken, t.total, phi)


def _judge(bins: Bins, taken: Floats, total: int, phi: float) -> RemainingError:
    r, p, share = bins.rates, bins.mean_scores, bins.counts / total
    squares, noise, variance = (r - p) ** 2, phi * r * (1.0 - r) / bins.counts, p * (1.0 - p)
    divergences = xlogy(r, r / p) + xlogy(1.0 - r, (1.0 - r) / (1.0 - p))
    freedom = r.size - float((share * taken / variance).sum())
    divergence = float((share * divergences).sum()) - phi * freedom / (2.0 * total)
    unbiased, raw = debiased_mean_squared_gap(bins), float((share * squares).sum())
    squared = unbiased - (phi - 1.0) * (raw - unbiased) + phi * float((share * taken).sum()) / total
    return RemainingError(
        Estimate.normal(squared, _error(share, squares, noise)),
        Estimate.normal(divergence, _error(share / (2.0 * variance), squares, noise)),
        float(chdtrc(freedom, (bins.counts * squares / variance).sum() / phi)),
    )


def _error(weights: Floats, squares: Floats, noise: Floats) -> float:
    """Give the standard error of a weighted sum of squared gaps, normal with the given noise."""
    linear = float((4.0 * weights**2 * (squares - noise) * noise).sum())
    return sqrt(max(0.0, linear) + float((2.0 * weights**2 * noise**2).sum()))


def information_bins(maps: NestedMaps) -> Bins:
    """Cut into at most 20 bins of about equal information; groups stay whole.

    Examples
    --------
    >>> from monitor.metrics.logistic.recalibration_maps import fit_nested_maps
    >>> from monitor.metrics.core.tally import tally
    >>> maps = fit_nested_maps(tally([0.4] * 50 + [0.6] * 100, [0, 1] * 75))
    >>> information_bins(maps).counts  # 37.5 uncertain outcomes, but only two scores
    array([ 50, 100])
    """
    t, p = maps.tally, np.asarray(expit(maps.logits[-1]))
    sums = np.cumsum(t.counts * p * expit(-maps.logits[-1]))
    n = int(min(MOST_BINS, max(1.0, sums[-1] / INFORMATION_PER_BIN)))
    starts = [0]
    for cut in range(1, n):
        end = int(np.abs(sums - cut / n * sums[-1]).argmin()) + 1
        before = sums[starts[-1] - 1] if starts[-1] else 0.0
        # A large group leaves little to its neighbours; they go to the next bin, or the last.
        if min(sums[end - 1] - before, sums[-1] - sums[end - 1]) >= LEAST_INFORMATION:
            starts.append(end)
    return bins_of(Tally(p, t.counts, t.positives), np.array([*starts, p.size]))
